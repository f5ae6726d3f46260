"""Designs: predictions of systems and runs on data sets, from tables, file names and arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.questions.designs import (
    Prediction,
    by_dataset,
    is_pattern,
    match_pattern,
    missing_combinations,
    named_runs,
    read_sets_table,
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("", encoding="utf-8")


def cells(predictions: Iterable[Prediction]) -> list[tuple[str, str, str]]:
    return [(item.dataset, item.system, item.run) for item in predictions]


def files(predictions: Iterable[Prediction]) -> list[tuple[object, object]]:
    return [(item.gold, item.predicted) for item in predictions]


def table(rows: str, name: str = "sets.csv") -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(rows, encoding="utf-8")
    return name


@pytest.mark.usefixtures("here")
class TestTables:
    def test_files_are_relative_to_the_table_and_repeated_systems_are_runs(self) -> None:
        path = table(
            "set,gold,system,prediction\nen,g.txt,A,a1\nen,g.txt,A,a2\nen,g.txt,B,b\nde,h.txt,A,../a\n", "t/x.csv"
        )
        predictions = read_sets_table(path)
        assert cells(predictions) == [("en", "A", "1"), ("en", "A", "2"), ("en", "B", "1"), ("de", "A", "1")]
        assert files(predictions)[2:] == [("t/g.txt", "t/b"), ("t/h.txt", "t/../a")]

    @pytest.mark.parametrize("name", ["set", "dataset", "Dataset"])
    def test_the_data_set_has_either_name_and_runs_may_be_named(self, name: str) -> None:
        path = table(f"run,{name},gold,system,prediction\nseed7,en,g,A,a\nseed3,en,g,A,b\n")
        assert cells(read_sets_table(path)) == [("en", "A", "seed7"), ("en", "A", "seed3")]

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (
                "set,gold,system\nen,g,A\n",
                "sets.csv: column 'prediction' is unknown; expected one of set, gold, system",
            ),
            ("gold,system,prediction\ng,A,a\n", "sets.csv: column 'set' is unknown"),
            ("set,dataset,gold,system,prediction\na,b,g,A,a\n", "columns set and dataset could both be the set"),
            ("set,gold,system,prediction\nen,g,A,a\nen,g,,b\n", "sets.csv:3: no system; expected set, gold, system"),
            (
                "set,gold,system,prediction,run\nen,g,A,a,\n",
                "sets.csv:2: no run; expected set, gold, system, prediction",
            ),
            (
                "set,gold,system,prediction\nen,g,A,a\nen,g,A,a\n",
                "sets.csv:3: a: the same file for two runs of A on en",
            ),
            (
                "set,gold,system,prediction,run\nen,g,A,a,1\nen,g,A,b,1\n",
                "sets.csv:3: b: run 1 of A on en is also in a; expected every run once",
            ),
        ],
    )
    def test_mistakes_are_one_line(self, rows: str, message: str) -> None:
        with pytest.raises(InputError) as caught:
            read_sets_table(table(rows))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("here")
class TestPatterns:
    def test_fields_are_read_from_file_names_and_runs_are_sorted_by_number(self) -> None:
        touch("gold/en.conllu", "gold/de.conllu")
        touch(*(f"pred/{name}/{run}.conllu.gz" for name in ("en", "de") for run in ("A.10", "A.2", "B.2", "B.10")))
        predictions = match_pattern("gold/{dataset}.conllu", ["pred/{dataset}/{system}.{run}.conllu.gz"])
        expected = [(name, system, run) for name in ("de", "en") for system in "AB" for run in ("2", "10")]
        assert cells(predictions) == expected
        assert files(predictions)[0] == ("gold/de.conllu", "pred/de/A.2.conllu.gz")
        assert list(by_dataset(predictions)) == ["de", "en"]

    def test_parsers_may_have_their_own_gold_files_beside_the_predictions(self) -> None:
        touch(*(f"he/{name}.conll.gz" for name in ("gold.p", "gold.q", "p.run1", "p.run2", "q.run1")))
        predictions = match_pattern("{dataset}/gold.{system}.conll.gz", ["{dataset}/{system}.{run}.conll.gz"])
        assert cells(predictions) == [("he", "p", "run1"), ("he", "p", "run2"), ("he", "q", "run1")]
        assert files(predictions)[-1] == ("he/gold.q.conll.gz", "he/q.run1.conll.gz")

    def test_fields_may_stand_in_any_order_and_a_repeated_one_matches_the_same_text(self) -> None:
        touch("en/en-gold.txt", "1/A/en/en.txt", "1/A/en/de.txt", "2/A/en/en.txt")
        predictions = match_pattern("{dataset}/{dataset}-gold.txt", ["{run}/{system}/{dataset}/{dataset}.txt"])
        assert cells(predictions) == [("en", "A", "1"), ("en", "A", "2")]

    def test_a_field_takes_as_little_as_possible_of_one_name_in_the_path(self) -> None:
        touch("g/en.x", "p/en/A.b.c.x", "p/en/deep/A.1.x", "p/en/.hidden.1.x", "p/en/.1.x")
        assert cells(match_pattern("g/{dataset}.x", ["p/{dataset}/{system}.{run}.x"])) == [("en", "A", "b.c")]

    def test_wildcards_match_between_fields_and_files_without_runs_are_numbered(self) -> None:
        touch("g/en.x", "p/en/A-s10-2024.x", "p/en/A-s9-2023.x", "p/en/B-s1-2024.x")
        predictions = match_pattern("g/{dataset}.x", ["p/{dataset}/{system}-s*-202?.x"])
        assert cells(predictions) == [("en", "A", "1"), ("en", "A", "2"), ("en", "B", "1")]
        assert [item.predicted for item in predictions][:2] == ["p/en/A-s9-2023.x", "p/en/A-s10-2024.x"]

    def test_a_pattern_without_systems_has_a_name_before_it_and_systems_keep_that_order(self) -> None:
        touch("g/en.x", "lr=1/en.x", "b/en.1.x", "b/en.2.x")
        predictions = match_pattern("g/{dataset}.x", ["ours=lr=1/{dataset}.x", "base=b/{dataset}.{run}.x"])
        assert cells(predictions) == [("en", "ours", "1"), ("en", "base", "1"), ("en", "base", "2")]

    def test_special_characters_of_globs_and_expressions_are_literal(self) -> None:
        touch("g[1]/en+.x", "p (a)//en+/A^1.x", "g1/en+.x")
        predictions = match_pattern("./g[1]/{dataset}.x", ["p (a)//{dataset}/{system}^{run}.x"])
        assert cells(predictions) == [("en+", "A", "1")]
        assert files(predictions) == [("./g[1]/en+.x", "p (a)/en+/A^1.x")]

    def test_folders_are_no_files_and_gold_files_are_excluded_by_their_real_path(self) -> None:
        touch("d/en.gold.x", "d/en.A.x")
        os.mkdir("d/en.B.x")
        assert cells(match_pattern("d/{dataset}.gold.x", ["./d/../d/{dataset}.{system}.x"])) == [("en", "A", "1")]

    @pytest.mark.parametrize(
        ("gold", "predicted", "message"),
        [
            ("g/{data}.x", "p/{dataset}.{system}.x", "g/{data}.x: field 'data' is unknown; did you mean 'dataset'?"),
            ("g/{dataset}.x", "p/{dataset}.{seed}.x", "field 'seed' is unknown; expected one of dataset, system, run"),
            (
                "g/*.x",
                "p/{dataset}.{system}.x",
                "g/*.x: no {dataset} in the pattern; expected it where file names have",
            ),
            ("g/{dataset}.x", "p/{system}.x", "p/{system}.x: no {dataset} in the pattern"),
            (
                "g/{dataset}.x",
                "p/{dataset}.x",
                "p/{dataset}.x: no {system} in the pattern; expected it, or a name: NAME=",
            ),
            ("g/{dataset}.y", "p/{dataset}.{system}.x", "g/{dataset}.y: no file matches; folder g has de.x and en.x"),
            ("g/{dataset}.x", "p/{dataset}/{system}", "no file matches; folder p has en.A.x, en.B.x and fr.A.x"),
            ("g/{dataset}.x", "q/r/{dataset}.{system}", "no file matches; folder . has g/, gold/ and p/"),
            (
                "g/{dataset}.x",
                "p/{dataset}.{system}.x",
                "p/fr.A.x: no gold file of fr; g/{dataset}.x matches those of de",
            ),
            ("gold/{dataset}.{system}.x", "p/{dataset}.{system}.x", "p/en.B.x: no gold file of en B; gold/{dataset}"),
            ("g/{dataset}.x", "A=g/{dataset}.x", "g/{dataset}.x: only gold files match; expected predictions"),
            ("p/{dataset}.*.x", "A=p/{dataset}.x", "p/en.A.x and p/en.B.x: both are the gold file of en; expected one"),
            ("gold/{dataset}.{run}.x", "p/{dataset}.{system}.x", "{run} in the gold pattern only; expected it in the"),
        ],
    )
    def test_mistakes_are_one_line_that_says_what_was_found(self, gold: str, predicted: str, message: str) -> None:
        touch("g/en.x", "g/de.x", "p/en.A.x", "p/en.B.x", "p/fr.A.x", "gold/en.A.x", "gold/fr.A.x")
        with pytest.raises(InputError) as caught:
            match_pattern(gold, [predicted])
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_run_or_a_file_that_two_patterns_match_is_refused(self) -> None:
        touch("g/en.x", "p/en.A.1.x", "q/en.A.1.x")
        both = ["p/{dataset}.{system}.{run}.x", "q/{dataset}.{system}.{run}.x"]
        with pytest.raises(InputError, match=r"^q/en.A.1.x: run 1 of A on en is also in p/en.A.1.x; expected every"):
            match_pattern("g/{dataset}.x", both)
        with pytest.raises(InputError, match=r"^p/en.A.1.x: the same file for two runs of A on en"):
            match_pattern("g/{dataset}.x", [both[0], "A=p/{dataset}.A.1.x"])
        with pytest.raises(InputError, match=r"no patterns of predictions"):
            match_pattern("g/{dataset}.x", [])

    def test_only_names_with_fields_in_braces_are_patterns(self) -> None:
        assert is_pattern("g/{dataset}.x")
        assert is_pattern("{anything}")
        assert not any(map(is_pattern, ("g/en.x", "g/*.x", "{en.x", "A=b")))


def test_the_predictions_of_three_real_parsers(shared_data: Path) -> None:
    """Six treebanks by three parsers by three runs, each parser with a gold file of its own."""
    folder = shared_data / "predictions" / "gold-pos"
    pattern = f"{folder}/{{dataset}}/{{system}}.{{run}}.conll.gz"
    predictions = match_pattern(f"{folder}/{{dataset}}/gold.{{system}}.conll.gz", [pattern])
    assert len(predictions) == 54
    assert missing_combinations(predictions) == []
    for item in predictions:
        bank = folder / item.dataset
        assert files([item]) == [
            (str(bank / f"gold.{item.system}.conll.gz"), str(bank / f"{item.system}.{item.run}.conll.gz"))
        ]


@pytest.mark.usefixtures("here")
class TestNamedRuns:
    def test_repeated_names_are_runs_and_globs_and_folders_stand_for_their_files(self) -> None:
        touch("gold.x", "b10.x", "b9.x", "folder/z.x", "folder/y.x", "folder/.hidden", "folder/deep/no.x")
        predictions = named_runs("gold.x", ["ours=a1", "base=b*.x", "ours=a2", "x=folder/"], dataset="en")
        systems = [("ours", "1"), ("base", "1"), ("base", "2"), ("ours", "2"), ("x", "1"), ("x", "2")]
        assert cells(predictions) == [("en", *system) for system in systems]
        paths = [item.predicted for item in predictions]
        assert paths == ["a1", "b9.x", "b10.x", "a2", "folder/y.x", "folder/z.x"]
        assert {item.gold for item in predictions} == {"gold.x"}

    def test_the_gold_file_is_no_prediction_of_a_glob_or_folder(self) -> None:
        touch("d/gold.x", "d/a.x")
        for argument in ("A=d/*.x", "A=d"):
            assert [item.predicted for item in named_runs(Path("d/../d/gold.x"), [argument])] == ["d/a.x"]

    def test_a_folder_beside_a_folder_of_gold_files_is_one_prediction(self) -> None:
        touch("gold/1.x", "gold/2.x", "pred/1.x", "pred/2.x")
        assert [item.predicted for item in named_runs("gold", ["A=pred"])] == ["pred"]

    def test_a_file_whose_name_has_special_characters_is_that_file(self) -> None:
        touch("a[1].x", "a1.x", "d[2]/b.x")
        assert [item.predicted for item in named_runs("gold", ["A=a[1].x", "B=d[2]"])] == ["a[1].x", "d[2]/b.x"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["file"], "'file'; expected NAME=FILE, such as A=file"),
            (["=file"], "expected NAME=FILE"),
            (["A="], "expected NAME=FILE"),
            (["A=none*.x"], "A=none*.x: no file matches; expected at least one"),
            (["A=empty"], "A=empty: no prediction in the folder; expected at least one"),
            (["A=a", "A=a"], "A=a: the same file for two runs of A; expected a file for each"),
        ],
    )
    def test_mistakes_are_one_line(self, arguments: list[str], message: str) -> None:
        os.mkdir("empty")
        with pytest.raises(InputError) as caught:
            named_runs("gold", arguments)
        assert message in str(caught.value)


def design(*rows: tuple[str, str, int]) -> list[Prediction]:
    return [Prediction(data, "g", name, str(run), "p") for data, name, runs in rows for run in range(runs)]


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        ([], []),
        ([("en", "A", 3), ("en", "B", 3), ("de", "A", 3), ("de", "B", 3)], []),
        ([("en", "A", 3), ("en", "B", 2)], ["A has 3 runs and B has 2 runs"]),
        ([("en", "A", 1), ("de", "B", 1)], ["A has no predictions on de", "B has no predictions on en"]),
        ([("en", "A", 3), ("de", "A", 1), ("fr", "A", 3)], ["A has 3 runs on en and fr, but 1 run on de"]),
        (
            [("en", "A", 2), ("de", "A", 2), ("en", "B", 1)],
            ["B has no predictions on de", "A has 2 runs and B has 1 run"],
        ),
    ],
)
def test_what_a_design_lacks_is_said_in_words(rows: list[tuple[str, str, int]], messages: list[str]) -> None:
    assert missing_combinations(design(*rows)) == messages


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("AB"), st.integers(1, 3)), unique_by=lambda row: row[:2])
)
def test_a_design_lacks_nothing_if_every_combination_has_equally_many_runs(rows: list[tuple[str, str, int]]) -> None:
    systems, datasets = {name for _, name, _ in rows}, {data for data, _, _ in rows}
    balanced = len(rows) == len(systems) * len(datasets) and len({runs for *_, runs in rows}) < 2
    assert (missing_combinations(design(*rows)) == []) == balanced
