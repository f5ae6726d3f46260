"""Tables of scores of whatever shape: what is read is what stands there, and what is said is what commands say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from deadheat.questions.sources import Tabled
from deadheat.questions.tabled import tabled

from deadheat.documents import plain
from deadheat.errors import InputError
from deadheat.questions.compare import compare_scores
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds

TREEBANKS = ("en", "de", "fi", "ta", "kk", "mt")
VALUES = {"A": (90.5, 85.0, 80.0, 60.0, 55.0, 49.0), "B": (89.0, 86.0, 78.0, 61.0, 50.5, 40.0)}
ROWS = [(name, treebank, value) for name, own in VALUES.items() for treebank, value in zip(TREEBANKS, own, strict=True)]
LONG = pl.DataFrame(ROWS, schema=("parser", "treebank", "score"), orient="row")


def written(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def values(found: Tabled) -> dict[tuple[str, str], float]:
    """Every mean by system and data set."""
    return {
        (system, dataset): float(value)
        for system, row in zip(found.systems, found.means_SD, strict=True)
        for dataset, value in zip(found.datasets, row, strict=True)
        if np.isfinite(value)
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
    found = tabled(save(tmp_path, kind))
    assert values(found) == {(system, dataset): value for system, dataset, value in ROWS}
    assert (found.systems, found.datasets) == (("A", "B"), TREEBANKS)
    assert (found.metric, found.column, found.notes) == ("score", "treebank", ())
    assert str(found) == "score: 2 systems on 6 data sets, 12 scores"


def test_the_ranking_and_the_tests_are_those_of_the_commands(tmp_path: Path) -> None:
    found = tabled(save(tmp_path, "csv"))
    table = {name: {d: v for s, d, v in sorted(ROWS) if s == name} for name in "AB"}
    ranked = rank(table, metric="score", samples=100_000).to_dict() | {"part": "test"}
    compared = compare_scores(table, metric="score").to_dict() | {"part": "test"}
    assert found.documents == (plain(ranked), plain(compared))


def test_rows_that_agree_are_runs(tmp_path: Path) -> None:
    runs = [("A", "en", 90.0), ("A", "en", 91.0), ("B", "en", 88.0), ("B", "en", 87.5), ("B", "en", 88.9)]
    path = tmp_path / "runs.csv"
    frame = pl.DataFrame(runs, schema=("system", "task", "score"), orient="row")
    frame.with_columns(seed=pl.Series([0, 1, 0, 1, 2])).write_csv(path)
    found = tabled(path)
    assert found.runs_SD.tolist() == [[2], [3]]
    assert values(found) == {("A", "en"): 90.5, ("B", "en"): pytest.approx((88 + 87.5 + 88.9) / 3)}
    expected = seeds(path, score="score", by="task", ignore=["seed"]).to_dict()
    assert found.documents == (plain(expected | {"part": "test", "metric": "score"}),)


def test_rows_of_a_wide_table_that_agree_are_runs_too(tmp_path: Path) -> None:
    found = tabled(written(tmp_path, "corpus,A,B\nen,90,80\nen,92,81\nde,70,\n"))
    assert values(found) == {("A", "en"): 91.0, ("A", "de"): 70.0, ("B", "en"): 80.5}
    assert found.runs_SD.tolist() == [[2, 1], [2, 0]]


def test_a_table_without_data_sets_is_of_seeds_alone(tmp_path: Path) -> None:
    found = tabled(written(tmp_path, "model,seed,value\nA,1,0.9\nA,2,0.91\nB,1,0.8\nB,2,0.85\n"))
    assert (found.column, found.datasets) == ("", ("all",))
    (document,) = found.documents
    assert (document["kind"], document["by"]) == ("seeds", "")
    assert [(each["system"], each["values"]) for each in document["blocks"][0]["systems"]] == [
        ("A", [0.9, 0.91]), ("B", [0.8, 0.85])
    ]  # fmt: skip


def test_missing_scores_are_left_out_and_the_rest_is_ranked(tmp_path: Path) -> None:
    found = tabled(written(tmp_path, "treebank,A,B,C\nen,90,80,70\nde,85,86,\nfi,80,78,77\nta,60,61,50\nkk,,50,40\n"))
    assert np.isnan(found.means_SD).sum() == 2
    (ranked,) = found.documents
    assert found.notes == ("no test over data sets: 3 are too few for any of 3 differences to be significant at 0.05",)
    assert ranked["data_sets"] == 3
    assert ranked["notes"] == ["2 data sets without a score of every system left out"]
    assert found.systems == ("A", "B", "C")


def test_scores_that_cannot_be_tested_are_still_ranked(tmp_path: Path) -> None:
    rows = "".join(f"d{row},{row}e14,{row + 0.5}e14\n" for row in range(1, 8))
    found = tabled(written(tmp_path, f"treebank,A,B\n{rows}"))
    assert [each["kind"] for each in found.documents] == ["rank"]
    assert found.notes[0].startswith("no test over data sets: scores up to 7.5e+14 that differ by ")


def test_systems_are_in_the_order_of_their_means_on_common_data_sets(tmp_path: Path) -> None:
    found = tabled(written(tmp_path, "treebank,easy,hard\nen,90,91\nde,80,81\nfi,99,\n"))
    assert found.systems == ("hard", "easy")  # by the mean of all its scores, easy would be first


TWO = "system,dataset,metric,score\nA,en,UAS,92\nA,en,LAS,90\nB,en,UAS,88\nB,en,LAS,89\n"


def test_the_first_of_several_metrics_is_taken_and_the_others_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, TWO)
    first = tabled(path)
    assert (first.metric, values(first)) == ("UAS", {("A", "en"): 92.0, ("B", "en"): 88.0})
    assert first.notes == ("scores are by UAS; the table also has LAS",)
    named = tabled(path, metric="las")
    assert (named.metric, values(named)) == ("LAS", {("A", "en"): 90.0, ("B", "en"): 89.0})
    with pytest.raises(InputError, match="metric 'LSA' is unknown; did you mean 'LAS'"):
        tabled(path, metric="LSA")


def test_a_column_can_be_named_as_the_metric(tmp_path: Path) -> None:
    path = written(tmp_path, "system,dataset,UAS,LAS\nA,en,92,90\nB,en,88,89\n")
    assert values(tabled(path, metric="LAS")) == {("A", "en"): 90.0, ("B", "en"): 89.0}
    assert tabled(path, metric="LAS").metric == "LAS"
    with pytest.raises(InputError, match=r"systems in rows .* or the one that --metric names"):
        tabled(path)


def test_what_is_exported_of_a_store_is_read_as_the_store_is(tmp_path: Path) -> None:
    rows = ["key,corpus,split,number,system,seed,part,metric,value,sentences,words"]
    scores = (("A", "dev", 0.5), ("A", "test", 0.75), ("B", "dev", 0.9), ("B", "test", 0.5))
    rows += [f"k1,en,standard.v1,0,{system},0,{part},acc,{value},9,99" for system, part, value in scores]
    rows += ["k2,en,random.v1,0,A,0,test,acc,0.25,9,99"]
    found = tabled(written(tmp_path, "\n".join(rows)))
    assert values(found) == {("A", "en"): 0.75, ("B", "en"): 0.5}
    assert found.notes == ("scores are on test; the table also has dev",)


def test_columns_that_are_not_looked_at_are_told(tmp_path: Path) -> None:
    found = tabled(written(tmp_path, "system,dataset,seed,epochs,score\nA,en,0,5,90\nA,en,1,10,91\n"))
    told = (
        "column epochs not looked at: rows that agree in system, data set and metric are taken for runs of one system"
    )
    assert found.notes == (told,)


def test_a_column_called_number_is_no_split_by_itself(tmp_path: Path) -> None:
    found = tabled(written(tmp_path, "system,number,score\nA,0,90\nA,1,91\n"))
    assert [each["n"] for each in found.documents[0]["blocks"][0]["systems"]] == [2]


@pytest.mark.parametrize(
    ("text", "told"),
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
        ("system,en,de\nA,90,80\n", ": systems in rows (the first column is 'system'), and no column of scores;"),
        ("", ": an empty table; expected a header and rows"),
        ("a,b\n1\n", ":2: 1 columns; expected 2 as in the header"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        tabled(path)
    assert str(refused.value).startswith(f"{path}{told}")
    assert "\n" not in str(refused.value)


def test_a_bad_cell_of_parquet_is_told_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    pl.DataFrame({"system": ["A", "B"], "score": [1.0, float("nan")]}).write_parquet(path)
    with pytest.raises(InputError, match="row 2: score 'nan'; expected a number"):
        tabled(path)


def test_a_score_that_is_missing_in_json_lines_is_left_out(tmp_path: Path) -> None:
    rows = [{"system": "A", "dataset": "en", "score": 1}, {"system": "A", "dataset": "de", "score": None}]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)), "scores.jsonl")
    assert values(tabled(path)) == {("A", "en"): 1.0}
