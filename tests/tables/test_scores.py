from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.tables.matrix import score_table
from deadheat.tables.scores import read_attributes, read_score_table, read_score_tables, read_subsets

LONG = "metric,treebank,system,score\nlas,en,A,1\nlas,en,B,2\nlas,de,A,3\nlas,de,B,4\nuas,en,A,5\nuas,en,B,6\n"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "scores.csv"


def refusal(path: Path, text: str, **options: str) -> str:
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_score_table(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))


def test_a_long_table_gives_one_table_a_metric(written: Path) -> None:
    written.write_text(LONG)
    tables = read_score_tables(written)
    assert list(tables) == ["las", "uas"]
    assert tables["las"].systems == ("A", "B")
    assert tables["las"].datasets == ("en", "de")
    assert tables["las"].scores_SD.tolist() == [[1, 3], [2, 4]]
    assert tables["uas"].datasets == ("en",)
    assert list(read_score_tables(written, metrics=["UAS"])) == ["uas"]
    assert read_score_table(written, metric="LaS").metric == "las"


@pytest.mark.parametrize(
    "text",
    [
        "data,A,B\nen,1,2\nde,3,4\n",
        "treebank\tA\tB\nen\t1\t2\nde\t3\t4\n",
        "Model,Task,Value\nA,en,1\nB,en,2\nA,de,3\nB,de,4\n",
        "note,parser,corpus,score\nx,A,en,1\n,B,en,2\nz,A,de,3\nz,B,de,4\n",
        "\n".join(
            json.dumps({"system": s, "dataset": d, "score": v})
            for s, d, v in [("A", "en", 1), ("B", "en", 2), ("A", "de", 3.0), ("B", "de", "4")]
        ),
    ],
)
def test_columns_are_guessed_and_wide_tables_are_the_same_as_long_ones(text: str, written: Path) -> None:
    written.write_text(text)
    result = read_score_table(written)
    assert (result.metric, result.systems, result.datasets) == ("", ("A", "B"), ("en", "de"))
    assert result.scores_SD.tolist() == [[1, 3], [2, 4]]


def test_columns_can_be_named(written: Path) -> None:
    written.write_text("who,where,system,f1\nA,en,x,1\nB,en,x,2\n")
    result = read_score_table(written, system="WHO", dataset="where", score="f1")
    assert result.systems == ("A", "B")
    assert refusal(written, written.read_text(), system="whom") == ": column 'whom' is unknown; did you mean 'who'?"
    problem = refusal(written, written.read_text(), system="who", score="f1")
    assert problem == ": no column of datasets recognised; expected it to be named by --dataset"


def test_columns_of_a_wide_table_may_be_named_like_those_of_a_long_one(written: Path) -> None:
    written.write_text("treebank,parser,tagger\nen,1,2\n")
    assert read_score_table(written).systems == ("parser", "tagger")


def test_a_wide_table_may_have_a_column_of_metrics(written: Path) -> None:
    written.write_text("metric,data,A,B\nlas,en,1,2\nuas,en,3,4\n")
    assert read_score_tables(written)["uas"].scores_SD.tolist() == [[3], [4]]


def test_a_metric_given_for_a_table_that_names_none_is_its_label(written: Path) -> None:
    written.write_text("data,A,B\nen,1,2\n")
    assert read_score_table(written, metric="LAS").metric == "LAS"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("d,A,B\nen,1\n", ":2: 2 columns; expected 3 as in the header"),
        ("d,A,B\nen,1,x\n", ":2: score 'x'; expected a number"),
        ("d,A,B\nen,1,nan\n", ":2: score 'nan'; expected a number"),
        ("d,A,B\nen,1,-inf\n", ":2: score '-inf'; expected a number"),
        ("d,A,B\n\nen,1,2\nde,1,1.2.3\n", ":4: score '1.2.3'; expected a number"),
        (
            "dataset,system,score\nen,A,1\nen,A,2\n",
            ":3: a second score of A on en (the first is in line 2); expected one",
        ),
        ("d,A,B\nen,1,2\nen,3,4\n", ":3: a second row of en (the first is in line 2); expected one"),
        ("d,A,A\nen,1,2\n", ":1: two columns are named A; expected a name for each"),
        (
            "system,rank,mean\nx,1,2\n",
            ":1: systems in rows (the first column is 'system');"
            " expected data sets in rows and systems in columns, or a long table",
        ),
        ("dataset,system,score\n,A,1\n", ":2: no data set; expected a name in column dataset"),
        (
            "dataset,system,parser,score\nen,A,B,1\n",
            ": columns system and parser could both be systems; expected one to be named by --system",
        ),
        (
            "metric,measure,d,A\nx,y,en,1\n",
            ": columns metric and measure could both be metrics; expected one of them only",
        ),
        ("d\nen\n", ": only one column, d; expected data sets and scores of systems"),
        (LONG, ": several metrics (las, uas); expected one to be named by --metric"),
        (
            "d,A,B\nen,1,\nde,2,3\nfi,,4\n",
            ": A has no score on fi, the first of 2 missing scores;"
            " expected one, or --missing drop to leave out such data sets",
        ),
        ("d,A,B\nen,1,\n", ": B has no score on en; expected one, or --missing drop to leave out such data sets"),
    ],
)
def test_faults_of_a_table_are_reported_with_their_line(text: str, problem: str, written: Path) -> None:
    assert refusal(written, text) == problem


def test_an_unknown_metric_is_reported_with_the_nearest(written: Path) -> None:
    assert refusal(written, LONG, metric="lass") == ": metric 'lass' is unknown; did you mean 'las'?"
    assert refusal(written, LONG, metric="las", missing="dropp").endswith("did you mean 'drop'?")


def test_data_sets_without_every_score_are_dropped_on_request(written: Path) -> None:
    written.write_text("dataset,system,score\nen,A,1\nen,B,2\nde,A,3\nfi,B,\nfi,A,5\n")
    result = read_score_table(written, missing="drop")
    assert (result.datasets, result.dropped) == (("en",), ("de", "fi"))
    assert result.scores_SD.tolist() == [[1], [2]]
    assert refusal(written, "d,A,B\nen,1,\n", missing="drop") == (
        ": no data set has scores of all systems; expected at least one"
    )


def test_the_same_pair_with_an_empty_score_is_not_a_second_one(written: Path) -> None:
    written.write_text("dataset,system,score\nen,A,\nen,A,2\n")
    assert read_score_table(written).scores_SD.tolist() == [[2]]


def test_scores_by_name_are_the_same_table() -> None:
    result = score_table({"A": {"en": 1, "de": 3}, "B": {"de": 4, "en": 2}}, metric="LAS")
    assert (result.metric, result.datasets, result.scores_SD.tolist()) == ("LAS", ("en", "de"), [[1, 3], [2, 4]])


def test_attributes_come_in_the_order_of_the_data_sets(tmp_path: Path) -> None:
    path = tmp_path / "about.csv"
    path.write_text("name,treebank,size,family\nx,de,7,Indo\ny,en,,\nz,fi,9,Uralic\n")
    result = read_attributes(path, ["en", "de"])
    assert list(result) == ["name", "size", "family"]
    assert result["name"] == ("y", "x")
    assert result["family"] == ("", "Indo")
    np.testing.assert_array_equal(result["size"], [np.nan, 7])
    with pytest.raises(InputError, match=r"no row of sv, the first of 2 such data sets; expected one for every"):
        read_attributes(path, ["en", "sv", "no"])
    path.write_text("treebank,size\nen,1\nen,2\n")
    with pytest.raises(InputError, match=r"about\.csv:3: a second row of en .the first is in line 2.; expected one"):
        read_attributes(path, ["en"])


def test_subsets_come_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "subsets.csv"
    path.write_text("subset,treebank\nX,en\nY,de\nX,fi\n")
    assert read_subsets(path) == {"X": ("en", "fi"), "Y": ("de",)}
    path.write_text("subset,treebank\nX,en\nX,en\n")
    with pytest.raises(InputError, match=r"csv:3: a second row of en in X .the first is in line 2.; expected one"):
        read_subsets(path)
    path.write_text("which,treebank\nX,en\nX,en\n")
    with pytest.raises(InputError, match="no column of subsets among which, treebank"):
        read_subsets(path)


def test_the_shared_task_is_read_whole(shared_data: Path) -> None:
    tables = read_score_tables(shared_data / "scores" / "conll18_scores.csv.gz")
    assert len(tables) == 13
    assert {result.scores_SD.shape for result in tables.values()} == {(26, 82)}
    about = read_attributes(shared_data / "scores" / "conll18_treebanks.csv", tables["las"].datasets)
    assert isinstance(about["size_k_tokens"], np.ndarray)
    assert isinstance(about["family"], tuple)
    subsets = read_subsets(shared_data / "published" / "fragility_table10_subsets.csv")
    assert len(subsets["Ma18"]) == 12
