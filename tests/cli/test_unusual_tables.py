"""Tables, streams and result files that are broken or extreme: one line and exit code 2, or an answer."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.running import Commands

LONG = "system,treebank,score\n" + "".join(
    f"{name},{treebank},{80 + 3 * i - j / 7:.3f}\n"
    for i, name in enumerate("ABC")
    for j, treebank in enumerate(("en", "de", "fi", "ta"))
)
RUNS = "system,seed,score\n" + "".join(
    f"{name},{seed},{90 + seed / 7 + (name == 'B'):.3f}\n" for name in "AB" for seed in range(4)
)
QUESTIONS = {
    "rank": ["rank"],
    "compare": ["compare", "--scores"],
    "seeds": ["seeds", "--score", "score"],
    "contrast": ["contrast", "--score", "score", "--factor", "system"],
    "report": ["report"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(
    commands: Commands, content: bytes | str, problem: str, *, name: str = "t.csv", questions: str = ""
) -> None:
    """Every question about tables refuses the content in one short line, and writes nothing."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for question in questions.split() or QUESTIONS:
        message = commands.refused(*QUESTIONS[question], name)
        assert problem in message, message
    assert os.listdir() == [name]


def test_lines_of_json_with_a_column_each_do_not_fill_the_memory(commands: Commands) -> None:
    lines = "".join(f'{{"a{number}": 1}}\n' for number in range(5000))
    refused(commands, lines, "5,000 rows by 5,000 columns, most of them empty", name="t.jsonl")


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\n\r"])
def test_line_ends_of_any_system_are_read(ends: str, commands: Commands) -> None:
    Path("t.csv").write_text(LONG, newline="\n")
    expected = commands("rank", "t.csv").out
    Path("t.csv").write_text(LONG.replace("\n", ends), newline="")
    assert commands("rank", "t.csv").out == expected


def test_headers_that_the_csv_reader_refuses_are_reported_with_their_line(commands: Commands) -> None:
    refused(commands, "\nsys\rtem,score\nA,1\n", "t.csv:2: no header (new-line character seen in unquoted field)")
    refused(commands, f"{'x' * 140_000},score\nA,1\n", "t.csv:1: no header (field larger than field limit (131072))")


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nested_json_is_reported_with_its_line(opening: str, commands: Commands) -> None:
    refused(
        commands,
        '{"system": "A", "score": 1}\n{"system": ' + opening * 100_000,
        "t.csv:2: not JSON (nested too deeply)",
    )


def test_surrogates_in_json_are_reported_with_their_line(commands: Commands) -> None:
    refused(commands, '{"system": "A", "score": 1}\n{"system": "\\ud800", "score": 1}\n', "t.csv:2: not text (\\ud800)")
    refused(commands, '{"system": "A", "score\\udfff": 1}\n', "t.csv:1: not text (\\udfff)")
    refused(commands, '{"system": "A", "": 1}\n', "t.csv: column 2 has no name")


def test_damaged_parquet_files_are_refused_without_a_word_of_the_library(capfd: pytest.CaptureFixture[str]) -> None:
    content, rng = io.BytesIO(), np.random.default_rng(0)
    pl.read_csv(LONG.encode()).write_parquet(content)
    from deadheat.cli.main import main

    for _ in range(150):
        raw = bytearray(content.getvalue())
        for at in rng.integers(4, len(raw) - 8, size=4):
            raw[at] ^= 1 << int(rng.integers(8))
        Path("t.parquet").write_bytes(raw)
        code, printed = main(["rank", "t.parquet", "--samples", "10"]), capfd.readouterr()
        assert code in (0, 2), printed.err
        assert printed.err.count("\n") <= 1, printed.err


@pytest.mark.parametrize("name", ["metric\nlas", "a\tb", "\x1b[31mred", "x" * 5000])
def test_names_with_control_characters_are_shown_without_them(name: str, commands: Commands) -> None:
    rows = [line.split(",") for line in LONG.splitlines()[1:]]
    keys = ("system", "treebank", "score")
    for header in (keys, (*keys[:2], name)):
        Path("t.jsonl").write_text(
            "".join(
                json.dumps(
                    {
                        key: name + cell if i < 2 else float(cell)
                        for i, (key, cell) in enumerate(zip(header, row, strict=True))
                    }
                )
                + "\n"
                for row in rows
            )
        )
        for question in ("rank", "report", "compare"):
            outcome = commands(
                *QUESTIONS[question],
                "t.jsonl",
                *(["--metric", name] if question == "report" and header != keys else []),
            )
            assert outcome.code in (0, 2), outcome
            assert outcome.err.count("\n") <= 1 + (outcome.code == 0), outcome.err
            assert not set(outcome.out + outcome.err) & {"\t", "\x1b", "\r"}


EXTREME = "9" + "0" * 307


@pytest.mark.parametrize("value", ["1e308", "-1e308", EXTREME, "1e16", "1e-200", "5e-324"])
def test_scores_beyond_all_sense_are_refused_with_their_line(value: str, commands: Commands) -> None:
    refused(commands, LONG.replace("83.000", value), "t.csv:6: score", questions="rank compare report")
    refused(commands, RUNS.replace("91.000", value), "t.csv:6: ", questions="seeds contrast report")


@pytest.mark.parametrize("factor", [1e-55, 1e-12, 1e12])
def test_scores_of_any_size_that_is_accepted_are_compared_ranked_and_drawn(factor: float, commands: Commands) -> None:
    long, runs = (
        header + "".join(f"{line.rpartition(',')[0]},{float(line.rpartition(',')[2]) * factor!r}\n" for line in lines)
        for header, lines in (
            ("system,treebank,score\n", LONG.splitlines()[1:]),
            ("system,seed,score\n", RUNS.splitlines()[1:]),
        )
    )
    Path("long.csv").write_text(long)
    Path("runs.csv").write_text(runs)
    for question in ("rank", "report"):
        assert commands(*QUESTIONS[question], "long.csv").code == 0
    for question in ("seeds", "contrast", "report"):
        assert commands(*QUESTIONS[question], "runs.csv").code == 0
    for page in Path().glob("*.html"):
        text = page.read_text()
        drawings = "".join(part.partition("</svg>")[0] for part in text.split("<svg")[1:])
        assert "nan" not in drawings.lower().replace("finance", "")
        assert "Infinity" not in drawings


def test_numbers_of_attributes_and_options_may_be_extreme(commands: Commands) -> None:
    Path("t.csv").write_text(LONG)
    Path("runs.csv").write_text(RUNS)
    Path("a.csv").write_text("treebank,size,family\nen,1e308,x\nde,-1e308,x\nfi,1e-320,y\nta,2,y\n")
    for options in (
        ["--attributes", "a.csv", "--anomalies", "A"],
        ["--attributes", "a.csv", "--one-per", "size"],
        ["--margin", "1e308"],
        ["--subsets", "a.csv", "--perfect", "1e308"],
        ["--alpha", "1e-320"],
        ["--seed", "9" * 60],
        ["--subset-size", "9" * 60],
        ["--samples", "0"],
    ):
        assert commands("rank", "t.csv", *options).code in (0, 2), options
    for options in (
        ["--difference", "1e308"],
        ["--difference", "1e-320"],
        ["--margin", "1e308"],
        ["--target", "1e-320"],
        ["--alpha", "1e-320"],
    ):
        assert commands("seeds", "runs.csv", "--score", "score", *options).code in (0, 2), options


def test_links_in_a_circle_are_refused(commands: Commands) -> None:
    os.symlink("a", "b")
    os.symlink("b", "a")
    for arguments in QUESTIONS.values():
        assert commands.refused(*arguments, "a") == "a: cannot be read (too many levels of symbolic links)"


def _stream(content: bytes, name: str) -> threading.Thread:
    os.mkfifo(name)
    writer = threading.Thread(target=lambda: Path(name).write_bytes(content), daemon=True)
    writer.start()
    return writer


def test_reports_read_pipes_once(commands: Commands) -> None:
    Path("t.csv").write_text(LONG)
    result = commands("rank", "t.csv", "--json").out
    for name, content in (("t.pipe", LONG), ("r.pipe", result), ("r.json", result)):
        writer = _stream(content.encode(), name)
        assert commands("report", name).code == 0
        writer.join(10)
    for name, content in (("s.pipe", "SQLite format 3\0"), ("s.toml", "")):
        writer = _stream(content.encode(), name)
        assert "a pipe; expected a file" in commands.refused("report", name)
        writer.join(10)


def test_reports_read_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deadheat.cli.main", "report", "-"]
    done = subprocess.run(command, input=LONG, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "report.html").exists()
    closed = subprocess.run(["bash", "-c", 'exec "$@" <&-', "-", *command], text=True, capture_output=True, check=False)
    assert (closed.returncode, closed.stderr) == (2, "-: cannot be read (standard input is closed)\n")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--units", 10**20], "100000000000000000000 items; expected between 1 and 1,000,000,000,000"),
        (
            ["--design-effect", "1e308"],
            "design effect 1e+308; expected a number above 0, 1 for independent items, from",
        ),
        (["--design-effect", "1e-320"], "design effect 9.99989e-321; expected a number above 0"),
        (["--runs", "5", "--run-sd", "1e308"], "expected at least two runs, and between 0 and 100 points"),
        (["--alpha", "1e-320"], "alpha 1e-320; expected at least 1e-12, such as 0.05"),
    ],
)
def test_assumptions_of_a_power_analysis_beyond_all_sense_are_refused(
    options: list[object], problem: str, commands: Commands
) -> None:
    assumed = ["power", "--accuracies", "0.97", "0.968", "--agreement", "0.98"]
    units = [] if "--units" in options else ["--units", "25000"]
    assert problem in commands.refused(*assumed, *units, *options)


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "report"])
def test_a_result_given_as_a_table_is_said_to_be_one(
    question: str, indent: int | None, folder: Path, commands: Commands
) -> None:
    (folder / "scores.csv").write_text(LONG)
    result = json.loads(commands("compare", "--scores", "scores.csv", "--json").out)
    (folder / "result.json").write_text(json.dumps(result, indent=indent))
    expected = "a result of compare; expected a table of scores; deadheat report reads results"
    assert commands.refused(*QUESTIONS[question], "result.json") == f"result.json: {expected}"


def test_a_table_may_have_columns_that_are_named_like_those_of_results(folder: Path, commands: Commands) -> None:
    rows = [dict(zip(LONG.split()[0].split(","), line.split(","), strict=True)) for line in LONG.split()[1:]]
    lines = [json.dumps({"kind": "x", "schema": 2, **row, "score": float(row["score"])}) for row in rows]
    (folder / "scores.jsonl").write_text("\n".join(lines))
    assert commands("compare", "--scores", "scores.jsonl").code == 0
