"""What a reader sees of splits: the sizes of their parts, and what leaks between them."""

from pathlib import Path

import numpy as np
import pytest

from deadheat.reporting.model import Note
from deadheat.reporting.views import headline, view
from deadheat.results.data import SplitReport
from deadheat.splits import split
from deadheat.splits.folder import check_folder, write_splits
from deadheat.splits.splitting import Splits
from deadheat.testbed import write_testbed
from tests.reporting.blocks import column, data, drawn, rows, tables, texts


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bed")
    write_testbed(folder, sentences=300, languages=["velani"], seeds=[])
    return folder / "velani"


@pytest.fixture(scope="module")
def splits(treebank: Path) -> Splits:
    return split(treebank, "random", times=4, nested=["test=100,200 words"])


def sentence(*forms: str) -> str:
    lines = (
        f"{i}\t{form}\t_\tX\t_\t_\t{i - 1}\t{'root' if i == 1 else 'dep'}\t_\t_" for i, form in enumerate(forms, 1)
    )
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """Of four sentences of test, a long and a short one are in train word for word, and one is there nearly."""
    long, short = "one two three four five six seven eight".split(), ["thanks", "!"]
    similar, other = [*long[:7], "nine"], ["nothing", "of", "this", "is", "there"]
    (tmp_path / "x-train.conllu").write_text(sentence(*long) + sentence(*short) + sentence("a", "b", "c"))
    (tmp_path / "x-test.conllu").write_text(sentence(*long) + sentence(*short) + sentence(*similar) + sentence(*other))
    return tmp_path


def test_a_few_splits_are_listed_part_by_part(splits: Splits) -> None:
    result = SplitReport.of(splits)
    (table,) = tables(view(result))
    by_part = {(row[0], row[1]): row for row in rows(table)}
    (drawing,) = drawn(view(result)).values()
    for part in ("train", "dev", "test"):
        words = [splits.words_of(item.parts[part]) for item in splits]
        shares = [100 * number / splits.corpus.words for number in words]
        for number, item in enumerate(splits):
            assert by_part[item.name, part][3:5] == [f"{words[number]:,}", f"{shares[number]:.2f}"]
        (row,) = [row for row in data(drawing) if row["name"] == part]
        assert [row[name] for name in ("value", "low", "high")] == pytest.approx(
            [np.mean(shares), min(shares), max(shares)]
        )
        assert f"{np.mean(shares):.1f}% of the words in {part}" in texts(view(result))[0]
    assert ("0", "test-100-words") in by_part
    assert headline(result).startswith(f"4 splits of {splits.corpus.name} by random.v1, seed 0: documents are in two ")
    shared = np.mean([splits.shared_documents(item)["train/test"] for item in splits])
    assert f"train and test share {shared:.1f}" in headline(result)


def test_many_splits_are_shown_by_their_means(treebank: Path) -> None:
    splits = split(treebank, "random", times=13)
    (table,) = tables(view(SplitReport.of(splits)))
    words = [splits.words_of(item.parts["test"]) for item in splits]
    assert column(table, "words")["test"] == f"{np.mean(words):.1f} ({min(words):,}-{max(words):,})"
    assert str(table.caption) == "13 splits: mean (min-max)."


def test_documents_in_one_part_only_are_said_to_be(treebank: Path) -> None:
    whole = SplitReport.of(split(treebank, "random(unit='document')"))
    assert headline(whole).endswith("no document is in two parts of a split.")
    assert drawn(view(whole)) == {}  # one split has no spread
    unknown = SplitReport.of(split(treebank, "random", documents="none"))
    assert headline(unknown).endswith("documents are not known, so parts may share some.")
    assert Note("No documents.", detail=False) in view(unknown)


def test_words_in_no_part_are_counted(treebank: Path) -> None:
    splits = split(treebank, "rand", settings={"train": 1000, "words": 500})
    used = sum(splits.words_of(part) for part in splits[0].parts.values())
    assert f"{100 * (1 - used / splits.corpus.words):.1f}% in no part" in texts(view(SplitReport.of(splits)))[0]


def test_leaks_are_counted_and_drawn(leaking: Path) -> None:
    result = SplitReport.of_check(check_folder(leaking))
    assert headline(result).endswith(": 75.0% of the sentences of test are also in train or are near-duplicates.")
    shares = {row["name"]: row["value"] for row in data(drawn(view(result))["split-leaks"])}
    assert shares == {"test in train, identical": 50.0, "test in train, near": 25.0}
    (table,) = tables(view(result))
    assert rows(table)[0][:7] == ["test", "train", "4", "2", "1", "1", "-"]
    assert any("no manifest.json" in text for text in texts(view(result)))


def test_leaks_of_several_splits_are_means(splits: Splits, tmp_path: Path) -> None:
    write_splits(splits, tmp_path / "out")
    check = check_folder(tmp_path / "out")
    result = SplitReport.of_check(check)
    assert f"{check.verified} files of {tmp_path / 'out'} match the manifest." in texts(view(result))
    leaks = [leak for pairs in check.leaks.values() for leak in pairs if (leak.of, leak.within) == ("test", "train")]
    (table,) = tables(view(result))
    (cells,) = [cells for cells in rows(table) if cells[:2] == ["test", "train"]]
    row = dict(zip((item.heading for item in table.columns), cells, strict=True))
    unknown, apart = [100 * leak.unknown_words for leak in leaks], [leak.divergence["upos"] for leak in leaks]
    assert row["unknown words %"] == f"{np.mean(unknown):.2f} ({min(unknown):.2f}-{max(unknown):.2f})"
    assert row["upos divergence"] == f"{np.mean(apart):.4f} ({min(apart):.4f}-{max(apart):.4f})"
    values = {row["name"]: row["value"] for row in data(drawn(view(result))["split-divergence"])}
    assert values["test and train: upos"] == pytest.approx(np.mean(apart))


def test_a_split_without_leaks_is_said_to_have_none(treebank: Path) -> None:
    result = SplitReport.of_check(check_folder(treebank))
    assert headline(result).endswith("no sentence of one part is in another, nor a near-duplicate of one.")
    assert "split-leaks" not in drawn(view(result))
