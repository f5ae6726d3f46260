from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from deadheat import from_json
from deadheat.results.score import Scores
from tests.cli.running import Commands

OFFICIAL = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


def test_all_thirteen_metrics_are_shown_by_default(commands: Commands, gold: Path, guess: Path) -> None:
    outcome = commands("score", gold, guess, "--json")
    result = json.loads(outcome.out)
    assert [row["metric"] for row in result["rows"]] == OFFICIAL
    assert set(result) == {"kind", "schema", "version", "rows", "settings", "notes", "evaluations"}
    assert result["kind"] == "score"
    assert isinstance(from_json(outcome.out), Scores)


def test_values_counts_and_intervals_are_right(commands: Commands, gold: Path, guess: Path) -> None:
    rows = json.loads(commands("score", gold, guess, "--json").out)["rows"]
    by_metric = {row["metric"]: row for row in rows}
    las = by_metric["LAS"]
    assert by_metric["UPOS"]["value"] == las["value"] == 7 / 8
    assert (las["correct"], las["gold"], las["predicted"]) == (7, 8, 8)
    # Five documents with 2 of 3, 2 of 2, 1 of 1, 1 of 1 and 1 of 1 words right, worked out by hand. Without one of them
    # the scores are 1, 5/6 and three times 6/7: the jackknife's variance is 4/5 · 0.0181406 = 0.0145125, as of
    # n = 0.875 · 0.125 / 0.0145125 = 7.53661 words. They weigh as much as 8² / (9 + 4 + 3) = 4 of equal size, so that
    # t = 3.182446 with 3 degrees of freedom: (0.875 + t²/2n ± t √(0.109375/n + t²/4n²)) / (1 + t²/n).
    assert las["interval"]["low"] == pytest.approx(0.329938, abs=1e-5)
    assert las["interval"]["high"] == pytest.approx(0.990050, abs=1e-5)
    rows = json.loads(commands("score", gold, guess, "--json", "--interval", "wilson").out)["rows"]
    by_metric = {row["metric"]: row for row in rows}
    # Wilson for 7 of 8, worked out by hand: (0.875 + z²/16 ± z √(0.875·0.125/8 + z²/256)) / (1 + z²/8), z = 1.959964
    assert by_metric["LAS"]["interval"]["low"] == pytest.approx(0.529112, abs=1e-5)
    assert by_metric["LAS"]["interval"]["high"] == pytest.approx(0.977584, abs=1e-5)


def test_the_table_has_one_row_per_file_and_metric(commands: Commands, gold: Path, guess: Path) -> None:
    lines = commands("score", gold, guess, gold, "-m", "las").out.splitlines()
    # Of five documents without an error: 1 / (1 + t²/5), t = 3.182446.
    assert lines[0] == f"{gold} has the highest LAS: 100.00 (95% CI [33.05, 100.00])."
    assert lines[2].split() == ["system", "metric", "score", "95%", "CI", "correct", "gold", "predicted"]
    assert lines[3].split() == [str(guess), "LAS", "87.50", "[32.99,", "99.01]", "7", "8", "8"]
    assert "100.00" in lines[4]
    assert lines[-1].startswith("deadheat 0.1.0 | las.v1 | sentences 5 | words 8 | ")


def test_standard_input_can_be_a_prediction(
    commands: Commands, gold: Path, guess: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(guess.read_bytes())))
    rows = json.loads(commands("score", gold, "-", "-m", "las", "--json").out)["rows"]
    assert [(row["system"], row["value"]) for row in rows] == [("-", 0.875)]


def test_scores_by_genre_add_up(commands: Commands, gold: Path, guess: Path) -> None:
    rows = json.loads(commands("score", gold, guess, "-m", "las", "--by", "genre", "--json").out)["rows"]
    assert [(row["group"], row["correct"], row["gold"]) for row in rows] == [("email", 4, 4), ("weblog", 3, 4)]


def test_scores_by_relation_have_precision_and_recall(commands: Commands, gold: Path, guess: Path) -> None:
    lines = commands("score", gold, guess, "-m", "las", "--by", "relation").out.splitlines()
    assert lines[2].split()[-5:] == ["precision", "recall", "correct", "gold", "predicted"]
    assert [line.split()[2] for line in lines[3:6]] == ["root", "nsubj", "punct"]


def test_known_and_unknown_words_need_the_training_file(commands: Commands, gold: Path, guess: Path) -> None:
    assert "unknown.v1: no training file" in commands.refused("score", gold, guess, "-m", "unknown")
    rows = json.loads(commands("score", gold, guess, "-m", "unknown", "--train", gold, "--json").out)["rows"]
    assert rows[0]["value"] == "NaN"
    assert rows[0]["gold"] == 0


def test_words_that_were_altered_can_be_aligned_by_position(commands: Commands, gold: Path, guess: Path) -> None:
    guess.write_text(guess.read_text().replace("Cats", "<_UNK>"), encoding="utf-8")
    line = commands.refused("score", gold, guess)
    assert line.startswith(f"{guess}:9: the text differs from {gold}:9: ")
    outcome = commands("score", gold, guess, "--align", "position", "-m", "las", "--json")
    assert json.loads(outcome.out)["rows"][0]["correct"] == 7
    assert "aligned by position" in outcome.err


def test_all_errors_of_a_file_are_reported_with_their_lines(commands: Commands, gold: Path, guess: Path) -> None:
    text = (
        guess.read_text()
        .replace("2\tbark", "3\tbark")
        .replace("\t0\troot\t_\t_\n\n# newdoc id = weblog", "\t9\troot\t_\t_\n\n# newdoc id = weblog")
    )
    guess.write_text(text, encoding="utf-8")
    outcome = commands("score", gold, guess)
    assert outcome.code == 2
    lines = outcome.err.splitlines()
    assert lines[0] == f"{guess}:4: word id '3' out of order; expected 2"
    assert lines[-1] == f"{guess}:10: word 2 has head 9; the sentence has 2 words"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "lass"], "metric 'lass' is unknown; did you mean 'las'?"),
        (["--metric", "las(subtype=True)"], "setting of las.v1 'subtype' is unknown; did you mean 'subtypes'?"),
        (["--metric", "las(subtypes=3)"], "las.v1: subtypes=3; expected a value like False"),
        (["--metric", "las.v9"], "metric 'las.v9' is unknown; did you mean 'las.v1'?"),
        (["--metric", "las("], "metric 'las('; expected a name such as las, las.v1 or las.v1(subtypes=True)"),
        (["--level", "95"], "level 95.0; expected between 0 and 1, such as 0.95"),
        (["--resamples", "0"], "0 resamples; expected at least 1"),
    ],
)
def test_wrong_options_are_refused(
    arguments: list[str], message: str, commands: Commands, gold: Path, guess: Path
) -> None:
    assert commands.refused("score", gold, guess, *arguments) == message


def test_a_missing_file_a_folder_and_a_binary_file_are_one_line_each(
    commands: Commands, gold: Path, tmp_path: Path
) -> None:
    missing, folder, binary = tmp_path / "missing.conllu", tmp_path / "empty", tmp_path / "picture.png"
    folder.mkdir()
    binary.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert commands.refused("score", gold, missing) == f"{missing}: cannot be read (no such file or directory)"
    assert commands.refused("score", gold, folder).startswith(f"{folder}: no corpus files in this folder")
    assert commands.refused("score", gold, binary) == f"{binary}: a binary file; expected text"


def test_chunks_in_column_files_are_scored_by_default(commands: Commands, tmp_path: Path) -> None:
    gold, guess = tmp_path / "gold.txt", tmp_path / "guess.txt"
    gold.write_text("a X B-NP\nb X I-NP\nc X O\n\n")
    guess.write_text("a X B-NP\nb X B-NP\nc X O\n\n")
    rows = json.loads(commands("score", gold, guess, "--json").out)["rows"]
    assert [(row["metric"], row["correct"], row["gold"], row["predicted"]) for row in rows] == [
        ("Chunk F1 (chunk)", 0, 1, 2),
        ("Accuracy (chunk)", 2, 3, 3),
        ("Sentence accuracy (chunk)", 0, 1, 1),
    ]


def test_nothing_is_written_to_the_folder(
    commands: Commands, gold: Path, guess: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(gold.parent)
    before = sorted(os.listdir())
    commands("score", gold, guess)
    assert sorted(os.listdir()) == before
