"""Gold and predicted labels in columns of one file, as conlleval reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import deadheat
from deadheat.errors import InputError
from tests.cli.running import Commands

# Word, part of speech, gold, predicted. Gold has 4 chunks (two NP, VP, PP), the prediction 3, of which 2 are right
# (NP `the cat`, VP). 5 of 7 tags are right.
CONLLEVAL = """\
the DT B-NP B-NP
cat NN I-NP I-NP
sat VBD B-VP B-VP

on IN B-PP B-NP
the DT B-NP I-NP
mat NN I-NP I-NP
. . O O
"""
OTHER = CONLLEVAL.replace("on IN B-PP B-NP", "on IN B-PP B-PP").replace("the DT B-NP I-NP", "the DT B-NP B-NP")


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(CONLLEVAL)
    Path("b.txt").write_text(OTHER)
    gold = [" ".join(line.split()[:3]) for line in CONLLEVAL.split("\n")]
    Path("gold.txt").write_text("\n".join(gold) + "\n")


@pytest.mark.parametrize("column", ["-1", "4", "ner"])
def test_the_predicted_column_is_scored_against_the_gold_column(column: str) -> None:
    scores = deadheat.score("a.txt", predicted=[column])
    chunks, accuracy = scores["Chunk F1 (tag)"], scores["Accuracy (tag)"]
    assert (chunks.correct, chunks.gold, chunks.predicted) == (2, 4, 3)
    assert (accuracy.correct, accuracy.gold) == (5, 7)
    assert chunks.system == "a.txt"


def test_the_command_takes_negative_numbers_and_several_files(commands: Commands) -> None:
    assert commands("score", "a.txt", "--predicted", "-1", "-m", "chunks(column='tag')").out.startswith("a.txt has")
    outcome = commands("score", "--predicted", "-1", "a.txt", "--json")
    assert '"correct": 2' in outcome.out
    with_gold = commands("score", "gold.txt", "a.txt", "b.txt", "--predicted", "-1")
    assert "b.txt has the highest Chunk F1 (chunk): 100.00" in with_gold.out.replace("\n", " ")


def test_columns_may_be_named(commands: Commands) -> None:
    named = ["--columns", "form,pos,truth,guess", "--predicted", "guess"]
    assert "Chunk F1 (truth)" in commands("score", "a.txt", *named).out
    swapped = deadheat.score(
        "a.txt", predicted=["truth"], gold_column="guess", columns=["form", "pos", "truth", "guess"]
    )
    assert (swapped["Chunk F1 (guess)"].correct, swapped["Chunk F1 (guess)"].gold) == (2, 3)


def test_several_predicted_columns_are_several_systems() -> None:
    rows = [f"{a} {b.split()[-1]}" if a else "" for a, b in zip(CONLLEVAL.split("\n"), OTHER.split("\n"), strict=True)]
    Path("both.txt").write_text("\n".join(rows))
    scores = deadheat.score("both.txt", predicted=["4", "5"])
    assert [(row.system, row.correct) for row in scores.rows if row.metric == "Chunk F1 (tag)"] == [
        ("column 4", 2),
        ("column 5", 4),
    ]


def test_systems_with_a_file_each_are_compared(commands: Commands) -> None:
    outcome = commands("compare", "A=a.txt", "B=b.txt", "--predicted", "-1")
    assert outcome.code == 0
    assert "Chunk F1 (tag)" in outcome.out
    result = deadheat.compare("", {"A": "a.txt", "B": "b.txt"}, predicted=["-1"])
    by_files = deadheat.compare("gold.txt", {"A": "a.txt", "B": "b.txt"}, predicted=["-1"])
    assert [row.value for row in result.systems] == [row.value for row in by_files.systems]
    assert {row.system: row.correct for row in result.systems} == {"A": 2, "B": 4}


def test_gold_columns_that_differ_are_refused_with_the_line(commands: Commands) -> None:
    Path("b.txt").write_text(OTHER.replace("mat NN I-NP", "mat NN B-NP"))
    message = commands.refused("compare", "A=a.txt", "B=b.txt", "--predicted", "-1")
    assert message == "b.txt:7: gold label B-NP; expected I-NP as in a.txt:7"
    Path("b.txt").write_text(OTHER.replace("mat NN", "dog NN"))
    assert commands.refused("compare", "A=a.txt", "B=b.txt", "--predicted", "-1") == (
        "b.txt:7: word 'dog'; expected 'mat' as in a.txt:7"
    )
    Path("b.txt").write_text(OTHER + "\none CD O O\n")
    assert "other sentences than a.txt" in commands.refused("compare", "A=a.txt", "B=b.txt", "--predicted", "-1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "a.txt", "--predicted", "7"], "a.txt: column 7; expected 1 to 4, or -1 to -4 from the end"),
        (["score", "a.txt", "--predicted", "1"], "a.txt: column 1 has the words; expected a column of labels"),
        (["score", "a.txt", "--predicted", "2"], "a.txt: no column of gold labels before column 2; expected --gold"),
        (["score", "a.txt", "--predicted", "nr"], "a.txt: column 'nr' is unknown; did you mean 'ner'?"),
        (["score", "a.txt", "--predicted", "4", "--gold", "-1"], "a.txt: column 4 as gold and as prediction"),
        (["score", "a.txt"], "deadheat score: a.txt alone; expected a file of predictions"),
        (["score", "gold.txt", "a.txt", "--gold", "3"], "--gold without --predicted"),
        (["compare", "A=a.txt", "B=b.txt", "--predicted", "4", "--predicted", "4"], "column 4 twice"),
        (["score", "a.conllu", "--predicted", "-1"], "expected a column file"),
    ],
)
def test_mistakes_are_one_line(commands: Commands, arguments: list[str], message: str) -> None:
    Path("a.conllu").write_text("1\tHi\thi\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    assert message in commands.refused(*arguments)


def test_files_may_follow_options_that_follow_files(commands: Commands) -> None:
    split = commands("score", "gold.txt", "-m", "chunks(column='chunk')", "a.txt", "--predicted", "4", "b.txt")
    assert (
        split.out
        == commands("score", "gold.txt", "a.txt", "b.txt", "--predicted", "4", "-m", "chunks(column='chunk')").out
    )
    assert split.code == 0
    assert commands("compare", "A=a.txt", "--predicted", "-1", "B=b.txt").code == 0


# Files in which a column could be a prediction.
def test_a_column_that_could_be_a_prediction_is_asked_about(commands: Commands) -> None:
    for gold in ("gold.txt", "b.txt"):
        message = commands.refused("score", gold, "a.txt")
        assert "columns 3 and 4" in message
        assert "--predicted" in message
        assert "--columns" in message
    assert "columns 3 and 4" in commands.refused("compare", "gold.txt", "A=a.txt", "B=b.txt")
    three = "EU B-ORG B-ORG\nsaid O O\nBonn B-LOC B-ORG\n"
    Path("three.txt").write_text(three)
    Path("five.txt").write_text("EU NNP B-NP B-ORG B-ORG\nsaid VBD B-VP O O\nBonn NNP B-NP B-LOC O\n")
    assert "columns 2 and 3" in commands.refused("score", "three.txt", "three.txt")
    assert "columns 4 and 5" in commands.refused("score", "five.txt", "five.txt")
    assert commands("score", "five.txt", "--predicted", "-1").code == 0


def test_a_prediction_without_any_entity_is_asked_about(commands: Commands) -> None:
    rows = [line.split() for line in CONLLEVAL.split("\n")]
    Path("nothing.txt").write_text("\n".join(" ".join([*row[:3], *["O"] * bool(row)]) for row in rows))
    message = commands.refused("score", "gold.txt", "nothing.txt")
    assert "nothing.txt: 4 columns, of which 3 are those of gold.txt" in message
    assert "--predicted" in message


def test_columns_of_different_kinds_are_read_as_before() -> None:
    conll2003 = "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\ncall NN I-NP O\n"
    Path("ner.txt").write_text(conll2003)
    Path("guess.txt").write_text(conll2003.replace("B-MISC", "B-LOC"))
    scores = deadheat.score("ner.txt", "guess.txt")
    assert scores["Chunk F1 (ner)"].correct == 1
    universal = "the DET DT\ncat NOUN NN\n. PUNCT .\n"
    Path("tags.txt").write_text(universal)
    assert deadheat.score("tags.txt", "tags.txt")["Accuracy (chunk)"].value == 1
    nested = "EU B-ORG B-LOC\nof O O\nBonn B-LOC B-ORG\n"
    Path("nested.txt").write_text(nested)
    with pytest.raises(InputError, match="columns 2 and 3"):
        deadheat.score("nested.txt", "nested.txt")
    named = deadheat.score("nested.txt", "nested.txt", columns=["form", "outer", "inner"])
    assert named["Chunk F1 (inner)"].value == 1
