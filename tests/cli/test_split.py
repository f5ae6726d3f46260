"""`deadheat split`, as a person uses it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from deadheat.splits import STRATEGIES
from tests.cli.running import Commands
from tests.splits.corpora import documents_text, tagged_text


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """Three files of 24, 8 and 8 sentences in documents of two, 5 words on average."""
    folder = tmp_path / "treebank"
    folder.mkdir()
    for i, (part, documents) in enumerate({"train": 12, "dev": 4, "test": 4}.items()):
        text = documents_text([[3, 7]] * documents, seed=i, first=20 * i)
        (folder / f"xx_yy-ud-{part}.conllu").write_text(text, encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_splits_are_written_and_their_sizes_shown(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    outcome = commands(
        "split", treebank, "--strategy", "random", "--unit", "document", "--times", 2, "--out", tmp_path / "o"
    )
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("2 splits of ")
    assert lines[0].endswith(" by random.v1(unit='document'), seed 0: no document is in two parts of a split.")
    assert lines[2].split() == ["split", "part", "sentences", "words", "%", "of", "words", "documents"]
    assert lines[3].split() == ["0", "train", "32", "160", "80.00", "16"]
    assert lines[5].split() == ["0", "test", "4", "20", "10.00", "2"]
    assert "note: Documents: marked by # newdoc (20 documents)." in lines
    assert sorted(contents(tmp_path / "o")) == [
        *(f"{i}/{part}.conllu" for i in range(2) for part in ("dev", "test", "train")),
        "manifest.json",
    ]


def test_the_same_command_gives_the_same_bytes_and_more_splits_keep_the_old(
    commands: Commands, treebank: Path, tmp_path: Path
) -> None:
    given = ["split", treebank, "--strategy", "random", "--stratify", "genre", "--seed", 4]
    for name, times in (("a", 3), ("b", 3), ("c", 5)):
        assert commands(*given, "--times", times, "--out", tmp_path / name).code == 0
    first, again, more = (contents(tmp_path / name) for name in "abc")
    assert first == again
    assert {name: more[name] for name in first if name != "manifest.json"} == {
        name: data for name, data in first.items() if name != "manifest.json"
    }


def test_json_has_the_sizes_whether_splits_are_written_or_not(
    commands: Commands, treebank: Path, tmp_path: Path
) -> None:
    outcome = commands("split", treebank, "--strategy", "ud-tune", "--json")
    shown = json.loads(outcome.out)
    assert outcome.err == "note: nothing was written; --out DIR writes the splits\n"
    assert (shown["kind"], shown["strategy"], shown["sentences"]) == ("split", "ud-tune.v1", 40)
    parts = shown["splits"][0]["parts"]
    assert shown["words"] == sum(part["words"] for part in parts)
    assert {part["name"]: part["sentences"] for part in parts} == {"train": 24, "tune": 2, "dev": 6, "test": 8}
    written = commands("split", treebank, "--strategy", "ud-tune", "--json", "--out", tmp_path / "o")
    assert (json.loads(written.out), written.err) == (shown, "")
    manifest = json.loads((tmp_path / "o/manifest.json").read_text("utf-8"))
    assert (manifest["strategy"], manifest["words"]) == (shown["strategy"], shown["words"])


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_can_be_asked_for_and_checked(
    commands: Commands, treebank: Path, tmp_path: Path, name: str
) -> None:
    base = name.partition(".")[0]
    sizes = {"seq": "--words 20 --train 50", "rand": "--words 20 --train 50", "rand-seq": "--words 20 --train 50",
             "tune": "--tune 3 --dev 3 --test 3", "kfold": "--folds 4 --no-dev-fold"}.get(base, "")  # fmt: skip
    outcome = commands("split", treebank, "--strategy", base, *sizes.split(), "--out", tmp_path / "o")
    assert outcome.code == 0, outcome
    manifest = json.loads((tmp_path / "o/manifest.json").read_text("utf-8"))
    assert manifest["strategy"].startswith(name)
    checked = commands("split", "--check", tmp_path / "o")
    assert checked.code == 0
    assert "match the manifest" in checked.out or "matches the manifest" in checked.out


def test_settings_are_options_or_stand_in_the_name(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    by_name = ["--strategy", "kfold(folds=4, unit='document', dev_fold=False)"]
    by_option = ["--strategy", "kfold", "--folds", 4, "--unit", "document", "--no-dev-fold"]
    for name, given in (("a", by_name), ("b", by_option)):
        assert commands("split", treebank, *given, "--times", 4, "--out", tmp_path / name).code == 0
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_files_in_any_order_are_put_in_that_of_their_parts(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    files = sorted(treebank.iterdir())  # dev, test, train
    for name, given in (("a", [treebank]), ("b", files)):
        assert (
            commands("split", *given, "--strategy", "tune(tune=3, dev=3, test=3)", "--out", tmp_path / name).code == 0
        )
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_text_from_standard_input_can_be_split(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(tagged_text([2] * 10).encode())))
    assert commands("split", "-", "--strategy", "random", "--out", tmp_path / "o").code == 0
    assert commands("split", "--check", tmp_path / "o").code == 0


def test_many_splits_are_shown_as_means_with_ranges(commands: Commands, treebank: Path) -> None:
    out = commands("split", treebank, "--strategy", "random", "--times", 13).out
    (train,) = (line for line in out.splitlines() if line.startswith("train"))
    assert train.split()[1] == "32"


def test_sentences_in_no_part_are_shown(commands: Commands, treebank: Path) -> None:
    lines = commands("split", treebank, "--strategy", "seq", "--train", 50, "--words", 20).out.splitlines()
    assert lines[3].split()[:4] == ["0", "train", "10", "50"]
    assert lines[4].split()[:4] == ["0", "dev", "4", "20"]
    assert lines[5].split()[:5] == ["0", "(left", "out)", "26", "130"]


def test_nested_sets_are_written_and_shown(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    nested = ["--nested", "test=1,2 sentences", "--nested", "train=50%"]
    outcome = commands("split", treebank, "--strategy", "random", *nested, "--out", tmp_path / "o")
    assert outcome.code == 0
    assert [line.split()[1] for line in outcome.out.splitlines()[3:9]] == [
        "train", "dev", "test", "test-1-sentences", "test-2-sentences", "train-50-percent",
    ]  # fmt: skip
    one, two, test = (
        (tmp_path / f"o/0/{name}.conllu").read_text() for name in ("test-1-sentences", "test-2-sentences", "test")
    )
    assert one in two
    assert all(sentence in test for sentence in two.split("\n\n"))


def test_leaks_of_splits_and_of_a_treebank_are_shown(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    commands("split", treebank, "--strategy", "random", "--times", 3, "--out", tmp_path / "o")
    outcome = commands("split", "--check", tmp_path / "o")
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].startswith(f"{tmp_path / 'o'}: ")
    assert lines[2] == f"9 files of {tmp_path / 'o'} match the manifest."
    assert lines[4] == "3 splits: mean (min-max)."
    assert [line.split()[:2] for line in lines[6:9]] == [["dev", "train"], ["test", "train"], ["test", "dev"]]
    shown = json.loads(commands("split", "--check", tmp_path / "o", "--json").out)
    assert (shown["kind"], [split["name"] for split in shown["leaks"]]) == ("split", ["0", "1", "2"])
    assert set(shown["leaks"][0]["leaks"][0]) == {
        "within", "of", "sentences", "identical", "identical_long", "near_duplicates", "shared_documents",
        "unknown_words", "shared_types", "divergence",
    }  # fmt: skip
    outcome = commands("split", "--check", treebank)
    assert outcome.err == f"note: {treebank}: no manifest.json; checked for leaks only\n"


def test_help_names_every_strategy_and_setting(commands: Commands) -> None:
    shown = commands("split", "--help").out
    for name in STRATEGIES:
        assert f"\n  {name.partition('.')[0]} " in shown
        for setting in STRATEGIES.make(name).settings:
            assert f"--{setting.replace('_', '-')}" in shown


WRONG = [
    (["--strategy", "randmo"], "strategy 'randmo' is unknown; did you mean 'random'?"),
    (["--strategy", "random("], "strategy 'random('; expected a name such as random"),
    (["--strategy", "standard", "--unit", "document"], "setting of standard.v1 'unit' is unknown; there are none"),
    (["--strategy", "kfold", "--sizes", "50/50"], "setting of kfold.v1 'sizes' is unknown; expected one of folds,"),
    (["--strategy", "random(untt='block')"], "setting of random.v1 'untt' is unknown; did you mean 'unit'?"),
    (["--strategy", "random", "--sizes", "80/10/20"], "sizes '80/10/20': the shares sum to 110 %; expected 100 %"),
    (
        ["--strategy", "random", "--sizes", "train=rest,test=99999 words"],
        "test 99,999 words requested; there are 200 words",
    ),
    (["--strategy", "random", "--sizes", "99/1/0"], "sizes '99/1/0': size 0 of test; expected more than 0"),
    (["--strategy", "random", "--sizes", "98/1/1"], "split 0: part test is empty; expected at least one sentence"),
    (["--strategy", "random", "--unit", "documnt"], "unit 'documnt' is unknown; did you mean 'document'?"),
    (["--strategy", "random", "--stratify", "genr"], "cannot stratify by 'genr'; expected genre, file, "),
    (["--strategy", "random", "--unit", "document", "--documents", "none"], "no documents; expected '# newdoc' marks"),
    (["--strategy", "random", "--documents", "sent_id:["], "documents 'sent_id:[': unterminated character set"),
    (["--strategy", "random", "--documents", "newdcs"], "documents 'newdcs'; expected newdoc, sent_id, "),
    (["--strategy", "standard", "--times", 2], "2 splits by standard.v1, which has only one; expected 1"),
    (["--strategy", "random", "--times", 0], "0 splits; expected at least 1"),
    (["--strategy", "random", "--times", "x"], "argument --times: 'x'; expected a whole number"),
    (["--strategy", "random", "--seed", "-1"], "argument --seed: '-1'; expected a whole number"),
    (
        ["--strategy", "random", "--nested", "test=5 words", "--nested", "test=9 words"],
        "the same part twice; expected all sizes",
    ),
    (
        ["--strategy", "rand", "--train", 50, "--words", 500],
        "dev of 500 words after 50 words of train; there are 110 left",
    ),
    (["--strategy", "tune"], "tune, dev and test of 3,000 sentences; there are 32, and train needs some"),
    ([], "deadheat split: no --strategy; expected CORPUS... --strategy NAME, or --check DIR"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_input_is_one_line_and_writes_nothing(
    commands: Commands, treebank: Path, tmp_path: Path, arguments: list[object], message: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert message in commands.refused("split", treebank, *arguments, "--out", tmp_path / "o")
    assert sorted(tmp_path.rglob("*")) == before


def test_folders_that_cannot_be_written_to_are_refused(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    given = ["split", treebank, "--strategy", "random", "--out"]
    before = contents(tmp_path)
    assert "treebank: the folder is not empty; expected a new or an empty one" in commands.refused(*given, treebank)
    file = treebank / "xx_yy-ud-dev.conllu"
    assert "dev.conllu: a file; expected a new or an empty folder" in commands.refused(*given, file)
    assert "cannot be written (not a directory)" in commands.refused(*given, file / "o")
    assert contents(tmp_path) == before


def test_a_folder_whose_files_were_changed_is_refused(commands: Commands, treebank: Path, tmp_path: Path) -> None:
    commands("split", treebank, "--strategy", "random", "--out", tmp_path / "o")
    part = tmp_path / "o/0/test.conllu"
    part.write_bytes(part.read_bytes() + b"\n")
    assert "test.conllu: was changed after it was written" in commands.refused("split", "--check", tmp_path / "o")
    part.unlink()
    assert "test.conllu: cannot be read (no such file" in commands.refused("split", "--check", tmp_path / "o")
    (tmp_path / "o/manifest.json").write_text("{}")
    assert "manifest.json: not a manifest of splits" in commands.refused("split", "--check", tmp_path / "o")


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        (["x.conllu"], "CORPUS"),
        (["--strategy", "random"], "--strategy"),
        (["--out", "x"], "--out"),
        (["--times", 3], "--times"),
        (["--seed", 3], "--seed"),
        (["--nested", "test=1 word"], "--nested"),
        (["--documents", "none"], "--documents"),
        (["--unit", "document"], "--unit"),
        (["--no-dev-fold"], "--dev-fold"),
    ],
)
def test_checking_takes_a_folder_alone(commands: Commands, treebank: Path, more: list[object], shown: str) -> None:
    line = commands.refused("split", "--check", treebank, *more)
    assert line == f"deadheat split: --check and {shown}; expected --check with its folder alone"


def test_a_corpus_is_needed(commands: Commands, tmp_path: Path) -> None:
    assert commands.refused("split", "--strategy", "random").startswith("deadheat split: no CORPUS; expected")
    assert "nowhere: not a folder" in commands.refused("split", "--check", tmp_path / "nowhere")
    assert "cannot be read" in commands.refused("split", tmp_path / "x.conllu", "--strategy", "random")


def test_a_folder_with_one_part_has_nothing_to_compare(commands: Commands, tmp_path: Path) -> None:
    word = "1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "en-train.conllu").write_text(word)
    assert "only train; expected another part" in commands.refused("split", "--check", tmp_path)
    (tmp_path / "en-test.conllu").write_text("")
    assert "part test is empty" in commands.refused("split", "--check", tmp_path)
