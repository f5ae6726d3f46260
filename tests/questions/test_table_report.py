"""Tables of scores in any format: what is read is what is in the file, and results are those of the commands."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.questions.compare_scores import compare_scores
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.questions.table_report import SourceReport, table_report
from deadheat.results.compare import Comparison
from deadheat.results.rank import Ranking
from deadheat.results.runs import Seeds
from deadheat.results.score import ScoreTable

TREEBANKS = ("en", "de", "fi", "ta", "kk", "mt")
VALUES = {"A": (90.5, 85.0, 80.0, 60.0, 55.0, 49.0), "B": (89.0, 86.0, 78.0, 61.0, 50.5, 40.0)}
ROWS = [(name, treebank, value) for name, row in VALUES.items() for treebank, value in zip(TREEBANKS, row, strict=True)]
LONG = pl.DataFrame(ROWS, schema=("parser", "treebank", "score"), orient="row")


def written(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def summary(report: SourceReport) -> ScoreTable:
    table = report.results[0]
    assert isinstance(table, ScoreTable)
    return table


def names(report: SourceReport) -> list[str]:
    """The systems of the summary, in its order."""
    return [row.system for row in summary(report).systems]


def values(report: SourceReport) -> dict[tuple[str, str], float]:
    """Every mean by system and data set."""
    table = summary(report)
    return {
        (row.system, dataset): mean
        for row in table.systems
        for dataset, mean in zip(table.datasets, row.means, strict=True)
        if not math.isnan(mean)
    }


def save(folder: Path, kind: str) -> Path:
    """The same table in every format."""
    path = folder / f"scores.{kind}"
    if kind == "csv":
        LONG.write_csv(path)
    elif kind == "tsv":
        LONG.write_csv(path, separator="\t")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(LONG.write_csv().encode()))
    elif kind == "jsonl":
        LONG.write_ndjson(path)
    elif kind == "parquet":
        LONG.write_parquet(path)
    else:
        LONG.pivot("parser", index="treebank", values="score").write_csv(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "jsonl", "parquet", "wide.csv"])
def test_the_format_changes_nothing(kind: str, tmp_path: Path) -> None:
    report = table_report(save(tmp_path, kind))
    assert values(report) == {(system, dataset): value for system, dataset, value in ROWS}
    assert (names(report), summary(report).datasets) == (["A", "B"], TREEBANKS)
    assert (summary(report).metric, summary(report).column, report.notes) == ("score", "treebank", ())


def test_the_ranking_and_the_tests_are_those_of_the_commands(tmp_path: Path) -> None:
    report = table_report(save(tmp_path, "csv"))
    table = {name: {d: v for s, d, v in sorted(ROWS) if s == name} for name in "AB"}
    assert report.results[1:] == (rank(table, metric="score", samples=100_000), compare_scores(table, metric="score"))


def test_rows_that_agree_are_runs(tmp_path: Path) -> None:
    runs = [("A", "en", 90.0), ("A", "en", 91.0), ("B", "en", 88.0), ("B", "en", 87.5), ("B", "en", 88.9)]
    path = tmp_path / "runs.csv"
    frame = pl.DataFrame(runs, schema=("system", "task", "score"), orient="row")
    frame.with_columns(seed=pl.Series([0, 1, 0, 1, 2])).write_csv(path)
    report = table_report(path)
    assert [row.runs for row in summary(report).systems] == [(2,), (3,)]
    assert values(report) == {("A", "en"): 90.5, ("B", "en"): pytest.approx((88 + 87.5 + 88.9) / 3)}
    expected = seeds(path, score="score", by="task", ignore=["seed"])
    assert report.results[1:] == (replace(expected, part="test"),)


def test_rows_of_a_wide_table_that_agree_are_runs_too(tmp_path: Path) -> None:
    report = table_report(written(tmp_path, "corpus,A,B\nen,90,80\nen,92,81\nde,70,\n"))
    assert values(report) == {("A", "en"): 91.0, ("A", "de"): 70.0, ("B", "en"): 80.5}
    assert [row.runs for row in summary(report).systems] == [(2, 1), (2, 0)]


def test_a_table_without_data_sets_shows_seeds_alone(tmp_path: Path) -> None:
    report = table_report(written(tmp_path, "model,seed,value\nA,1,0.9\nA,2,0.91\nB,1,0.8\nB,2,0.85\n"))
    assert (summary(report).column, summary(report).datasets) == ("", ("all",))
    (result,) = report.results[1:]
    assert isinstance(result, Seeds)
    assert result.by == ""
    assert [(row.system, row.scores) for row in result.blocks[0].systems] == [("A", (0.9, 0.91)), ("B", (0.8, 0.85))]


def test_missing_scores_are_left_out_and_the_rest_is_ranked(tmp_path: Path) -> None:
    text = "treebank,A,B,C\nen,90,80,70\nde,85,86,\nfi,80,78,77\nta,60,61,50\nkk,,50,40\n"
    report = table_report(written(tmp_path, text))
    assert summary(report).missing == 2
    ranking, comparison = report.results[1:]
    assert isinstance(ranking, Ranking)
    assert isinstance(comparison, Comparison)
    assert report.notes == ()
    assert ranking.datasets == comparison.units == 3
    assert ranking.notes == ("2 data sets left out because some system has no score on them",)
    assert names(report) == ["A", "B", "C"]


def test_scores_that_cannot_be_tested_are_still_ranked(tmp_path: Path) -> None:
    rows = "".join(f"d{row},{row}e14,{row + 0.5}e14\n" for row in range(1, 8))
    report = table_report(written(tmp_path, f"treebank,A,B\n{rows}"))
    assert [result.kind for result in report.results] == ["table", "rank"]
    assert report.notes[0].startswith("no test over data sets: scores up to 7.5e+14 that differ by ")


def test_systems_are_in_the_order_of_their_means_on_common_data_sets(tmp_path: Path) -> None:
    report = table_report(written(tmp_path, "treebank,easy,hard\nen,90,91\nde,80,81\nfi,99,\n"))
    assert names(report) == ["hard", "easy"]  # by the mean of all its scores, easy would be first


TWO = "system,dataset,metric,score\nA,en,UAS,92\nA,en,LAS,90\nB,en,UAS,88\nB,en,LAS,89\n"


def test_the_first_of_several_metrics_is_used_and_a_note_names_the_others(tmp_path: Path) -> None:
    path = written(tmp_path, TWO)
    first = table_report(path)
    assert (summary(first).metric, values(first)) == ("UAS", {("A", "en"): 92.0, ("B", "en"): 88.0})
    assert first.notes == ("scores are by UAS; the table also has LAS",)
    named = table_report(path, metric="las")
    assert (summary(named).metric, values(named)) == ("LAS", {("A", "en"): 90.0, ("B", "en"): 89.0})
    with pytest.raises(InputError, match="metric 'LSA' is unknown; did you mean 'LAS'"):
        table_report(path, metric="LSA")


def test_a_column_can_be_named_as_the_metric(tmp_path: Path) -> None:
    path = written(tmp_path, "system,dataset,UAS,LAS\nA,en,92,90\nB,en,88,89\n")
    assert values(table_report(path, metric="LAS")) == {("A", "en"): 90.0, ("B", "en"): 89.0}
    assert summary(table_report(path, metric="LAS")).metric == "LAS"
    with pytest.raises(InputError, match=r"systems in rows .* or the one that --metric names"):
        table_report(path)


def test_the_export_of_a_store_is_read_as_the_store_is(tmp_path: Path) -> None:
    rows = ["key,corpus,split,number,system,seed,part,metric,value,sentences,words"]
    scores = (("A", "dev", 0.5), ("A", "test", 0.75), ("B", "dev", 0.9), ("B", "test", 0.5))
    rows += [f"k1,en,standard.v1,0,{system},0,{part},acc,{value},9,99" for system, part, value in scores]
    rows += ["k2,en,random.v1,0,A,0,test,acc,0.25,9,99"]
    report = table_report(written(tmp_path, "\n".join(rows)))
    assert values(report) == {("A", "en"): 0.75, ("B", "en"): 0.5}
    assert report.notes == ("scores are on test; the table also has dev",)


def test_a_note_names_the_columns_that_are_ignored(tmp_path: Path) -> None:
    report = table_report(written(tmp_path, "system,dataset,seed,epochs,score\nA,en,0,5,90\nA,en,1,10,91\n"))
    note = "column epochs ignored: rows that agree in system, data set and metric count as runs of one system"
    assert report.notes == (note,)


def test_a_column_called_number_alone_does_not_number_splits(tmp_path: Path) -> None:
    report = table_report(written(tmp_path, "system,number,score\nA,0,90\nA,1,91\n"))
    (result,) = report.results[1:]
    assert isinstance(result, Seeds)
    assert [row.summary.n for row in result.blocks[0].systems] == [2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("system,dataset,score\nA,en,90\nA,de,good\n", ":3: score 'good'; expected a number"),
        ("system,dataset,score\nA,en,inf\n", ":2: score 'inf'; expected a number"),
        ("system,dataset,score\n,en,90\n", ":2: no system; expected a name in column system"),
        ("system,dataset,score\nA,,90\n", ":2: no data set; expected a name in column dataset"),
        ("system,model,score\nA,B,90\n", ": columns system and model could both be systems; expected one of them only"),
        ("treebank,A,B\nen,90,x\nde,80,70\n", ":2: score of B 'x'; expected a number"),
        ("treebank,A\n,90\n", ":2: no data set; expected a name in column treebank"),
        ("treebank,A,B\nen,x,y\n", ": no column of scores; expected columns of systems"),
        ("words\nhello\n", ": one column, words; expected columns of systems"),
        ("system,dataset,score\nA,en,\n", ": no score in any row; expected some"),
        ("system,en,de\nA,90,80\n", ": systems in rows (first column 'system'), no column of scores;"),
        ("", ": an empty table; expected a header and rows"),
        ("a,b\n1\n", ":2: 1 columns; expected 2 as in the header"),
    ],
)
def test_a_mistake_is_reported_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refusal:
        table_report(path)
    assert str(refusal.value).startswith(f"{path}{problem}")
    assert "\n" not in str(refusal.value)


def test_a_bad_cell_of_parquet_is_reported_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    pl.DataFrame({"system": ["A", "B"], "score": [1.0, float("nan")]}).write_parquet(path)
    with pytest.raises(InputError, match="row 2: score 'nan'; expected a number"):
        table_report(path)


def test_a_score_that_is_missing_in_json_lines_is_left_out(tmp_path: Path) -> None:
    rows = [{"system": "A", "dataset": "en", "score": 1}, {"system": "A", "dataset": "de", "score": None}]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)), "scores.jsonl")
    assert values(table_report(path)) == {("A", "en"): 1.0}
