from __future__ import annotations

import json
import os
import sys
import time
import webbrowser
from pathlib import Path

import pytest

from deadheat.questions.rank import rank
from tests.cli.running import Commands
from tests.questions.report_cases import FinishedStudy, fake_store, grid
from tests.questions.report_cases import finished_study as finished_study

SCORES = "treebank,A,B\nen,90,80\nde,80,70\nfi,70,60\nta,60,50\nkk,50,40\nmt,45,41\n"
TABLE = {"A": {"en": 90, "de": 80, "fi": 70}, "B": {"en": 80, "de": 81, "fi": 69}}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with a table and a result."""
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "rank.json").write_text(rank(TABLE).to_json())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


BEFORE = {"scores.csv", "rank.json"}


def test_a_page_is_made_and_the_verdict_printed(commands: Commands, here: Path) -> None:
    done = commands("report", "scores.csv")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("A is better than B by 9.00 in score (95% CI ")
    assert lines[-2:] == ["", "The page: scores.html"]
    assert files(here) == BEFORE | {"scores.html"}
    assert (here / "scores.html").read_text().startswith("<!doctype html>")


def test_a_page_is_replaced_by_the_next_and_by_nothing_half_made(commands: Commands, here: Path) -> None:
    assert commands("report", "rank.json", "--out", "page.html").code == 0
    first = (here / "page.html").read_bytes()
    commands.refused("report", "missing.json", "--out", "page.html")
    assert (here / "page.html").read_bytes() == first
    assert commands("report", "scores.csv", "--out", "page.html").code == 0
    assert (here / "page.html").read_bytes() != first
    assert files(here) == BEFORE | {"page.html"}


def test_a_store_a_study_file_and_several_sources_become_pages(
    commands: Commands, here: Path, finished_study: FinishedStudy
) -> None:
    of_store = commands(
        "report", finished_study.store, "--ledger", finished_study.ledger.path, "--out", "a.html", "--json"
    )
    of_study = commands(
        "report", finished_study.path, "--ledger", finished_study.ledger.path, "--out", "b.html", "--json"
    )
    found = json.loads(of_store.out)
    assert found["verdicts"] == json.loads(of_study.out)["verdicts"]
    assert found["files"] == ["a.html"]
    assert "| ledger | 7 test sets" in (here / "a.html").read_text()
    assert (here / "a.html").read_bytes() == (here / "b.html").read_bytes()
    several = json.loads(commands("report", "rank.json", "scores.csv", "--json").out)
    assert several["files"] == ["rank.html"]
    assert [verdict.partition(":")[0] for verdict in several["verdicts"]] == ["rank", "scores"]


def test_figures_are_written_with_their_data(commands: Commands, here: Path) -> None:
    done = commands("report", "rank.json", "--figures", "drawn", "--formats", "svg", "--width", "page")
    assert done.out.splitlines()[-2:] == ["The page: rank.html", "4 files in drawn"]
    assert files(here / "drawn") == {"rank-boxes.csv", "rank-boxes.svg", "rank-shares.csv", "rank-shares.svg"}
    assert 'width="6.3in"' in (here / "drawn" / "rank-boxes.svg").read_text()


def test_the_kit_has_tables_a_paragraph_and_a_checklist(commands: Commands, here: Path) -> None:
    fake_store(here / "made.sqlite", grid(2, 3))
    done = commands("report", "made.sqlite", "--paper", "kit", "--formats", "svg", "--json")
    written = json.loads(done.out)["files"]
    assert written[0] == "made.html"
    assert {f"kit/{name}" for name in ("paragraph.txt", "paragraph.tex", "checklist.md", "refs.bib")} < set(written)
    assert files(here / "kit") - {".deadheat-kit.json"} == {name.removeprefix("kit/") for name in written[1:]}
    assert "6 runs: 9.0 s of CPU time" in (here / "kit" / "checklist.md").read_text()
    again = commands("report", "made.sqlite", "--paper", "kit", "--formats", "svg", "--json")
    assert json.loads(again.out)["files"] == written


def test_a_kit_that_cannot_be_written_leaves_no_page_behind(commands: Commands, here: Path) -> None:
    (here / "kit").mkdir()
    (here / "kit" / "paragraph.txt").write_text("my own words")
    message = commands.refused("report", "scores.csv", "--paper", "kit", "--formats", "svg")
    assert message.startswith("kit: 1 file would be overwritten (paragraph.txt: ")
    assert files(here) == BEFORE | {"kit/paragraph.txt"}


def test_sentences_can_be_left_out(commands: Commands, here: Path, finished_study: FinishedStudy) -> None:
    study = finished_study.run.result
    (here / "study.json").write_text(study.to_json())
    block = next(block for block in study.blocks if block.part == "test")
    location = block.agreement[0].sentences[0].location
    figures = ["--figures", "drawn", "--formats", "svg"]
    assert commands("report", "study.json", "--out", "with.html").code == 0
    assert commands("report", "study.json", "--out", "without.html", "--no-sentences", *figures).code == 0
    with_them, without = ((here / f"{name}.html").read_text() for name in ("with", "without"))
    assert (location in with_them, location in without) == (True, False)
    assert ("study-disagreement-1" in with_them, "disagreement" in without) == (True, False)
    assert "Where the systems agree" in without
    assert not [name for name in files(here / "drawn") if "disagreement" in name]


def test_a_metric_of_a_table_can_be_named(commands: Commands, here: Path) -> None:
    (here / "two.csv").write_text("system,metric,score\nA,UAS,90\nB,UAS,80\nA,LAS,70\nB,LAS,75\n")
    assert commands("report", "two.csv", "--metric", "las").code == 0
    page = (here / "two.html").read_text()
    assert "B has the highest mean LAS, 75.00; A is 5.00 behind." in page
    assert "UAS" in page[page.index("What was left out") :]
    assert "metric 'ELAS' is unknown; did you mean 'LAS'" in commands.refused("report", "two.csv", "-m", "ELAS")


def test_a_title_is_text_whatever_is_in_it(commands: Commands, here: Path) -> None:
    title = '</title><script>alert(1)</script> & "quotes" \u202e\x00\nnext'
    assert commands("report", "rank.json", "--title", title).code == 0
    page = (here / "rank.html").read_text()
    assert "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;" in page
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "\x00" not in page


def test_the_name_of_a_page_has_no_effect_on_a_terminal(commands: Commands, here: Path) -> None:
    done = commands("report", "rank.json", "--out", "a\x1b[31mb.html")
    assert done.out.splitlines()[-1] == "The page: a\\x1b[31mb.html"
    assert (here / "a\x1b[31mb.html").exists()


def test_the_page_is_opened_when_asked_for(commands: Commands, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert commands("report", "rank.json", "--out", "a page #1.html").code == 0
    assert opened == []
    assert commands("report", "rank.json", "--out", "a page #1.html", "--open").code == 0
    assert opened == [(here / "a page #1.html").as_uri()]
    assert "%23" in opened[0]


def write_inputs(folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "empty.json").write_text("")
    (folder / "package.json").write_text('{"name": "mine", "version": "1.0.0"}')
    (folder / "lacking.json").write_text('{"kind": "compare", "systems": []}')
    (folder / "text.txt").write_text("Once upon a time there was a parser.\nIt parsed.\n")
    (folder / "empty.csv").write_text("")
    (folder / "bytes.bin").write_bytes(bytes(range(256)))
    (folder / "broken.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(500))
    (folder / "study.toml").write_text("name = 'never run'\n")
    (folder / "mine.html").write_text("<p>written by hand</p>")
    (folder / "mine.csv").write_text(SCORES)


REFUSED = {
    "missing file": (["nowhere.json"], "nowhere.json: cannot be read (no such file or directory)"),
    "folder": (["folder"], "folder: no log that is known"),
    "empty JSON": (["empty.json"], "empty.json: not JSON (expecting value); expected what a command printed"),
    "other JSON": (
        ["package.json"],
        "package.json: not a result of Deadheat (no field 'kind'); expected what a command printed with --json",
    ),
    "keys missing": (
        ["lacking.json"],
        "lacking.json: field 'schema' is missing: written by Deadheat 0.1; expected",
    ),
    "text": (["text.txt"], "text.txt: one column, Once upon a time there was a parser.; expected columns of systems"),
    "empty table": (["empty.csv"], "empty.csv: an empty table; expected a header and rows"),
    "bytes": (["bytes.bin"], "bytes.bin: not a table of text; expected CSV, TSV, JSONL or Parquet"),
    "broken store": (["broken.sqlite"], "broken.sqlite: "),
    "study not run": (["study.toml"], "study.toml: no store study.sqlite; expected deadheat run study.toml first"),
    "second of two": (["rank.json", "nowhere.csv"], "nowhere.csv: cannot be read (no such file or directory)"),
    "page is a folder": (["rank.json", "--out", "folder"], "folder: is a folder; expected the name of a file"),
    "below a file": (["rank.json", "--out", "text.txt/page.html"], "text.txt/page.html: "),
    "page is the source": (["rank.json", "--out", "rank.json"], "rank.json: the page would replace its source"),
    "source by another way": (
        ["rank.json", "scores.csv", "--out", "folder/../scores.csv"],
        "folder/../scores.csv: the page would replace its source; expected another --out",
    ),
    "somebody's page": (["mine.csv"], "mine.html: exists and is not a page of Deadheat; expected another name"),
    "unknown format": (["rank.json", "--figures", "f", "--formats", "jpg"], "format of figures 'jpg' is unknown"),
    "no format": (["rank.json", "--figures", "f", "--formats", ","], "deadheat report: no format of figures"),
    "unknown width": (["rank.json", "--width", "huge"], "deadheat report: argument --width: invalid choice: 'huge'"),
    "figures in a file": (["rank.json", "--figures", "text.txt"], "text.txt: a file; expected a folder, or nothing"),
    "kit in a file": (["rank.json", "--paper", "text.txt"], "text.txt: a file; expected a folder, or nothing"),
    "kit below a file": (["rank.json", "--paper", "text.txt/kit"], "text.txt/kit/.deadheat: "),
    "no source": ([], "deadheat report: the following arguments are required: SOURCE"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_one_line_and_nothing_is_written(
    commands: Commands, here: Path, arguments: list[str], message: str
) -> None:
    write_inputs(here)
    before = files(here)
    assert commands.refused("report", *arguments).startswith(message)
    assert files(here) == before
    assert (here / "mine.html").read_text() == "<p>written by hand</p>"


def test_a_folder_that_may_not_be_written_to_is_refused(
    commands: Commands, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # the administrator may write everywhere
    assert "permission denied in" in commands.refused("report", "rank.json", "--out", "page.html")
    assert files(here) == BEFORE


def test_a_disk_that_fails_is_one_line(commands: Commands, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    message = commands.refused("report", "rank.json")
    assert message.endswith("rank.html: cannot be written (no space left on device)")
    assert files(here) == BEFORE


@pytest.mark.parametrize("missing", ["vl_convert", "fontTools.subset"])
def test_figures_without_the_extra_are_refused_before_anything_is_read(
    commands: Commands, here: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    message = commands.refused("report", "nowhere.json", "--figures", "drawn", "--formats", "svg,pdf")
    assert message.startswith("figures as PDF: ")
    assert message.endswith("not installed; expected pip install 'deadheat[figures]' (SVG needs neither)")
    assert commands("report", "rank.json", "--figures", "drawn", "--formats", "svg").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["runs.parquet", "runs.csv"])
def test_two_million_scores_make_a_page_that_can_be_read(commands: Commands, here: Path, kind: str) -> None:
    from benchmarks.bench_report import CORPORA, SYSTEMS, make_tables

    make_tables(here, 1000)
    start = time.process_time()
    done = commands("report", kind)
    took = time.process_time() - start
    assert done.code == 0
    page = (here / "runs.html").read_text()
    assert f"The table has {1000 * CORPORA * SYSTEMS:,} scores by score" in page
    assert len(page) < 5_000_000
    assert took < 30  # it takes 4 to 6 seconds


@pytest.mark.slow
def test_a_store_of_many_runs_makes_a_page_that_can_be_read(commands: Commands, here: Path) -> None:
    from benchmarks.bench_report import make_store

    make_store(here, 10)
    start = time.process_time()
    assert commands("report", "study.sqlite").code == 0
    assert time.process_time() - start < 30  # it takes 7 seconds
    assert (here / "study.html").stat().st_size < 5_000_000


def test_a_table_with_a_column_kind_is_no_result(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    path.write_text('{"kind": [], "schema": 1}\n{"kind": []}\n')
    assert commands("report", path, "--out", tmp_path / "page.html").code == 0


@pytest.mark.parametrize(
    ("table", "note"),
    [
        ("treebank,A,B\nen,0.91,90.5\nde,0.85,84.1\n", "all scores of A are between 0 and 1, and others reach 90.5"),
        (
            "treebank,A,B\nen,0.91,90.5\nde,0.85,84.1\nfi,0.8,79.9\nta,0.7,71.1\n",
            "all scores of A are between 0 and 1, and others reach 90.5",
        ),
        (
            "system,seed,score\nA,1,0.91\nA,2,0.92\nB,1,90.2\nB,2,90.6\n",
            "all scores of A are between 0 and 1, and others reach 90.6",
        ),
        (
            "system,treebank,score\nA,en,91\nB,en,90\nA,de,0.81\nB,de,0.83\n",
            "all scores on de are between 0 and 1, and others reach 91",
        ),
        ("system,score\nA,91\nA,91\nA,92\nB,90\nB,90.5\n", "1 row is the same as another (line 3 as line 2)"),
    ],
)
def test_what_may_be_wrong_with_a_table_is_said_on_the_terminal_and_the_page(
    table: str, note: str, commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text(table)
    done = commands("report", "scores.csv")
    assert done.code == 0
    assert done.err.startswith(f"note: {note}")
    assert done.err.count("\n") == 1
    assert note[1:] in Path("scores.html").read_text()  # which begins with a capital
