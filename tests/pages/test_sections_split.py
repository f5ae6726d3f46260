from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deadheat.pages.split import sections

from deadheat.splits import split
from deadheat.splits.folder import FolderCheck, check_folder, write_splits
from deadheat.splits.splitting import Splits
from deadheat.testbed import write_testbed
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, texts


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bed")
    write_testbed(folder, sentences=300, languages=["velani"], seeds=[])
    return folder / "velani"


@pytest.fixture(scope="module")
def made(treebank: Path) -> Splits:
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
    like = [*long[:7], "nine"]
    other = ["nothing", "of", "this", "is", "there"]
    (tmp_path / "x-train.conllu").write_text(sentence(*long) + sentence(*short) + sentence("a", "b", "c"))
    (tmp_path / "x-test.conllu").write_text(sentence(*long) + sentence(*short) + sentence(*like) + sentence(*other))
    return tmp_path


def test_sizes_are_means_over_splits_with_the_least_and_the_most(made: Splits) -> None:
    (found,) = check(sections, made.to_dict())
    words = {part: [made.words_of(each.parts[part]) for each in made] for part in ("train", "dev", "test")}
    for part, own in words.items():
        shares = [100 * each / made.corpus.words for each in own]
        told = f"{part} {np.mean(shares):.2f} % ({min(shares):.2f} to {max(shares):.2f})"
        assert told in found.said[1]
        assert column(found.tables[0], "words")[part] == f"{np.mean(own):,.1f} ({min(own):,} to {max(own):,})"
        (drawn_row,) = [each for each in rows(drawn([found])["split-sizes"]) if each["name"] == part]
        assert [drawn_row[name] for name in ("value", "low", "high")] == pytest.approx(
            [np.mean(shares), min(shares), max(shares)]
        )
    assert "random.v1, seed 0" in found.said[0]
    assert ("0", "test-100-words") in [row[:2] for row in found.tables[1].rows]


def test_shared_documents_are_told(made: Splits) -> None:
    (found,) = sections(made.to_dict())
    shared = [made.shared_documents(each)["train/test"] for each in made]
    mean = f"{np.mean(shared):.1f}".removesuffix(".0")
    assert f"train and test share {mean}" in section([found], "Sizes").said[2]


def test_whole_documents_are_in_one_part(treebank: Path) -> None:
    (found,) = check(sections, split(treebank, "random(unit='document')").to_dict())
    assert "No document is in two parts of a split." in found.said
    assert found.figures == ()  # one split has no spread
    (bare,) = check(sections, split(treebank, "random", documents="none").to_dict())
    assert "Documents are not known, so that parts may share some." in bare.said


def test_what_is_in_no_part_is_told(treebank: Path) -> None:
    found = split(treebank, "rand", settings={"train": 1000, "words": 500})
    (shown,) = check(sections, found.to_dict())
    used = sum(found.words_of(each) for each in found[0].parts.values())
    share = 100 * (1 - used / found.corpus.words)
    assert f"{share:.2f} % of the words are in no part, on average over the splits." in shown.said


def test_a_manifest_is_shown_as_its_splits(made: Splits, tmp_path: Path) -> None:
    manifest = write_splits(made, tmp_path / "out")
    assert texts(sections(manifest)) == texts(sections(made.to_dict()))


def test_what_leaks_is_said_in_words(leaking: Path) -> None:
    checked = check_folder(leaking)
    made = check(sections, checked.to_dict())
    told = section(made, "What leaks").said[0]
    assert told == (
        "Of the 4 sentences of test, 2 stand in train word for word (50.00 %), 1 of them with five words or more; "
        "near-duplicates besides: 1; whether they share documents is not known."
    )
    shares = {each["name"]: each["value"] for each in rows(drawn(made)["split-leaks"])}
    assert shares == {"test in train, identical": 50.0, "test in train, nearly": 25.0}
    table = section(made, "What leaks").tables[0]
    assert table.rows[0][:7] == ("test", "train", "4", "2", "1", "1", "-")
    assert any("no manifest.json" in note for note in section(made, "What leaks").notes)


def test_splits_that_were_checked_have_means_and_divergences(made: Splits, tmp_path: Path) -> None:
    write_splits(made, tmp_path / "out")
    checked: FolderCheck = check_folder(tmp_path / "out")
    found = check(sections, checked.to_dict())
    assert found[0].said[0] == f"{checked.verified} files of {tmp_path / 'out'} are as the manifest says."
    leaks = [leak for each in checked.leaks.values() for leak in each if (leak.of, leak.within) == ("test", "train")]
    unknown = [100 * leak.unknown_words for leak in leaks]
    (row,) = [row for row in found[0].tables[0].rows if row[:2] == ("test", "train")]
    assert row[-2] == f"{np.mean(unknown):.2f} ({min(unknown):.2f} to {max(unknown):.2f})"
    apart = [leak.divergence["upos"] for leak in leaks]
    assert column(found[1].tables[0], "upos")["test and train"] == (
        f"{np.mean(apart):.4f} ({min(apart):.4f} to {max(apart):.4f})"
    )
    drawn_rows = {each["name"]: each["value"] for each in rows(drawn(found)["split-divergence"])}
    assert drawn_rows["test and train: upos"] == pytest.approx(np.mean(apart))


def test_nothing_that_leaks_is_said_to_be_nothing(treebank: Path) -> None:
    found = check(sections, check_folder(treebank).to_dict())
    clean = "No sentence of test is in train, nor is a near-duplicate of one; they share no document."
    assert clean in found[0].said
    assert found[0].figures == ()


def test_names_of_any_kind_are_shown_as_they_are(made: Splits) -> None:
    document: dict[str, Any] = {**made.to_dict(), "corpus": HOSTILE[0], "notes": list(HOSTILE)}
    (found,) = check(sections, document)
    assert HOSTILE[0] in found.said[0]
    assert set(HOSTILE) <= set(found.notes)
    leak = check_folder_like(HOSTILE)
    assert len(check(sections, leak)[0].tables[0].rows) == len(HOSTILE)


def check_folder_like(names: tuple[str, ...]) -> dict[str, Any]:
    """A document with parts of these names, as a check would give it."""
    numbers = {"sentences": 4, "identical": 1, "identical_long": 0, "near_duplicates": 1, "shared_documents": 2}
    shares = {"unknown_words": 0.1, "shared_types": 0.5, "divergence": {"length": 0.1}}
    leaks = [{"within": "train", "of": name, **numbers, **shares} for name in names]
    return {"kind": "split", "folder": "x", "verified": 0, "splits": [{"split": "0", "leaks": leaks}], "notes": []}
