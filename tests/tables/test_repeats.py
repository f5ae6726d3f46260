"""Copies of rows would count as more runs than there are: what is refused, what is a note, and what is neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.questions.compare_scores import compare_scores
from deadheat.questions.contrast import contrast
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.questions.table_report import table_report
from deadheat.tables.table import read_runs
from tests.cli.running import Commands

UNNAMED = [("A", 90.1), ("A", 90.9), ("A", 90.4), ("B", 89.9), ("B", 90.3), ("B", 90.2)]
NAMED = [(system, seed % 3, score) for seed, (system, score) in enumerate(UNNAMED)]
EXPECTED = "expected every run once, or a column seed or run that tells runs apart"


def write(folder: Path, header: str, rows: Sequence[tuple[object, ...]]) -> Path:
    path = folder / "runs.csv"
    path.write_text(f"{header}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def refusals(path: Path) -> set[str]:
    """What every question about runs says; fails unless all refuse the table."""
    problems = set()
    for question in (
        lambda: seeds(path, score="score", system="system"),
        lambda: contrast(path, score="score", factor="system"),
        lambda: table_report(path),
    ):
        with pytest.raises(InputError) as caught:
            question()
        problems.add(str(caught.value).removeprefix(str(path)).partition(", or --ignore")[0])
    return problems


@pytest.mark.parametrize("times", [2, 8])
def test_a_table_that_is_pasted_several_times_is_refused(times: int, tmp_path: Path) -> None:
    path = write(tmp_path, "system,score", UNNAMED * times)
    assert refusals(path) == {f":8: the same row as in line 2, and all rows are there {times} times; {EXPECTED}"}


def test_all_runs_of_a_system_that_are_there_twice_are_refused(tmp_path: Path) -> None:
    runs = [("A", 90 + i / 7) for i in range(5)]
    path = write(tmp_path, "system,score", [*runs, *reversed(runs), *UNNAMED[3:]])
    assert refusals(path) == {f": all rows of system A are there 2 times; {EXPECTED}"}


def test_a_seed_that_is_there_twice_is_refused_whatever_its_score(tmp_path: Path) -> None:
    for score in (90.4, 91.3):
        path = write(tmp_path, "system,seed,score", [*NAMED, ("A", 2, score)])
        assert refusals(path) == {
            ":8: a second run with system A, seed 2 (the first is in line 4); expected every run once"
        }


def test_results_and_times_do_not_tell_runs_apart_but_settings_do(tmp_path: Path) -> None:
    rows = [(system, 1, score, 0.001, 60 + i) for i, (system, score) in enumerate(UNNAMED)]
    path = write(tmp_path, "system,seed,score,dev_loss,train_seconds", rows)
    assert refusals(path) == {
        ":3: a second run with system A, seed 1 (the first is in line 2); expected every run once"
    }
    rows = [(system, 1, score, 0.001, 10**-i) for i, (system, score) in enumerate(UNNAMED)]
    path = write(tmp_path, "system,seed,score,dev_loss,rate", rows)
    assert seeds(path, score="score").blocks[0]["A"].summary.n == 3
    assert table_report(path).results


def test_one_seed_for_all_runs_can_be_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, "system,seed,score", [(system, 42, score) for system, score in UNNAMED])
    with pytest.raises(InputError, match="or --ignore seed if it is not the name of a run"):
        seeds(path, score="score")
    assert seeds(path, score="score", ignore=["seed"]).blocks[0]["A"].summary.n == 3


def test_runs_without_a_seed_or_with_an_empty_one_are_told_apart_by_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "system,seed,score", [*NAMED, ("A", "", 90.0), ("A", "", 90.6)])
    assert seeds(path, score="score").blocks[0]["A"].summary.n == 5


def test_a_unique_identity_makes_any_copy_an_error(tmp_path: Path) -> None:
    rows = [(i, *row) for i, row in enumerate(UNNAMED)]
    path = write(tmp_path, "id,system,score", [*rows, rows[2]])
    assert refusals(path) == {f":8: the same row as in line 4, id 2; {EXPECTED}"}
    path = write(tmp_path, "id,system,score", [(f"model-{system}", system, score) for system, score in UNNAMED * 2][:7])
    assert seeds(path, score="score").blocks[0]["A"].summary.n == 4  # this id is of a configuration


def test_equal_scores_of_runs_without_names_are_a_note(tmp_path: Path) -> None:
    path = write(tmp_path, "system,score", [*UNNAMED, UNNAMED[0], UNNAMED[4]])
    note = (
        "2 rows are the same as others (line 8 as line 2) and count as runs of their own; a column seed or run would "
        "tell runs apart"
    )
    for result in (
        seeds(path, score="score"),
        contrast(path, score="score", factor="system"),
        table_report(path),
    ):
        assert [text for text in result.notes if "same as others" in text] == [note]
    assert seeds(path, score="score").blocks[0]["A"].summary.n == 4


def test_one_row_that_is_there_twice_is_no_pasted_table(tmp_path: Path) -> None:
    result = seeds(write(tmp_path, "system,score", [("A", 90.0), ("A", 90.0)]), score="score")
    assert any("same as another" in note for note in result.notes)


def test_equal_scores_of_runs_with_names_are_nothing_to_speak_of(tmp_path: Path) -> None:
    rows = [(system, seed, 90.0 + (system == "A")) for system in "AB" for seed in range(3)]
    path = write(tmp_path, "system,seed,score", rows)
    assert not any("same" in note for note in seeds(path, score="score").notes)
    assert table_report(path).notes == ()


def test_runs_of_tables_with_metrics_and_parts_are_not_repeated(tmp_path: Path) -> None:
    rows = [
        (system, seed, metric, part, 90.0)
        for system in "AB"
        for seed in (1, 2)
        for metric in ("las", "uas")
        for part in ("dev", "test")
    ]
    assert table_report(write(tmp_path, "system,seed,metric,part,score", rows)).results
    failed = [*rows, *[("B", 3, "las", "test", ""), ("B", 3, "las", "test", 90.0)]]
    assert table_report(write(tmp_path, "system,seed,metric,part,score", failed)).results


def test_wide_tables_that_are_pasted_are_refused_and_seeds_are_no_systems(tmp_path: Path) -> None:
    rows = [("en", 90.1, 89.1), ("de", 80.1, 83.1), ("fi", 70.1, 72.1)]
    with pytest.raises(InputError, match=":5: the same row as in line 2, and all rows are there 2 times"):
        table_report(write(tmp_path, "treebank,A,B", rows * 2))
    path = write(tmp_path, "treebank,seed,A,B", [(name, 1, *scores) for name, *scores in rows])
    with pytest.raises(InputError, match=r"runs\.csv: column seed among those of systems; expected scores alone, or"):
        table_report(path)


def test_real_runs_have_no_repeats(shared_data: Path) -> None:
    runs = read_runs(shared_data / "scores" / "reimers2017_runs.tsv.gz")
    result = contrast(runs, factor="Decoder", options=["CRF", "Softmax"], score="Test_F1", by="Dataset")
    assert not any("same as others" in note for note in result.notes)


@pytest.mark.parametrize("column", ["id", "row", "index", "Unnamed: 0", "nr"])
@pytest.mark.parametrize("start", [0, 1, 1000])
def test_a_pasted_table_is_refused_although_its_rows_are_numbered(column: str, start: int, tmp_path: Path) -> None:
    rows = [(start + i, *row) for i, row in enumerate(UNNAMED * 8)]
    path = write(tmp_path, f"{column},system,score", rows)
    problem = f":8: the same row as in line 2 but for {column}, and all rows are there 8 times; {EXPECTED}"
    assert refusals(path) == {problem}
    path = write(tmp_path, f"{column},system,seed,score", [(start + i, *row) for i, row in enumerate(NAMED * 8)])
    assert refusals(path) == {problem}


def test_numbers_in_any_order_number_rows_too_and_so_do_several_columns(tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(48)
    rows = [(i, int(order[i]), *row) for i, row in enumerate(UNNAMED * 8)]
    problem = f":8: the same row as in line 2 but for row and key, and all rows are there 8 times; {EXPECTED}"
    assert refusals(write(tmp_path, "row,key,system,score", rows)) == {problem}


def test_a_system_that_is_pasted_is_refused_although_its_rows_are_numbered(tmp_path: Path) -> None:
    rows = [("A", 90 + i / 7) for i in range(6)] * 8 + [("B", 89 + i / 9) for i in range(7)]
    path = write(tmp_path, "id,system,score", [(i, *row) for i, row in enumerate(rows)])
    assert refusals(path) == {f": all rows of system A are there 8 times but for id; {EXPECTED}"}


def test_scores_that_repeat_under_other_seeds_are_a_note(tmp_path: Path) -> None:
    rows = [(system, 3 * (i // 6) + i % 3, score) for i, (system, score) in enumerate(UNNAMED * 8)]
    path = write(tmp_path, "system,seed,score", rows)
    note = (
        "all scores are there 8 times, under other values of seed; copies of runs would count as runs of their own, "
        "so expected every run once"
    )
    for result in (seeds(path, score="score"), contrast(path, score="score", factor="system"), table_report(path)):
        assert note in result.notes


def test_numbered_runs_with_equal_scores_are_no_copies(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(i, "AB"[i % 2], int(rng.integers(0, 2))) for i in range(200)]  # items rather than runs
    assert seeds(write(tmp_path, "id,system,score", rows), score="score").blocks[0]["A"].summary.n == 100
    runs = [(i, "AB"[i % 2], round(90 + rng.normal(), 1)) for i in range(60)]
    result = seeds(write(tmp_path, "id,system,score", runs), score="score")
    assert not any("same as" in note or "times" in note for note in result.notes)
    steady = [(name, seed, 90 - i) for i, name in enumerate("ABCDEFGHIJKLM") for seed in range(3)]
    result = seeds(write(tmp_path, "system,seed,score", steady), score="score", correction="none")
    assert not any("times" in note for note in result.notes)  # a seed may have no effect


def test_half_a_table_that_is_pasted_under_other_numbers_is_a_note(tmp_path: Path) -> None:
    rows = UNNAMED * 2 + [("A", 91.7)]
    path = write(tmp_path, "id,system,score", [(i, *row) for i, row in enumerate(rows)])
    assert not seeds(path, score="score").notes
    rows = UNNAMED * 3 + [("A", 91.7)]
    path = write(tmp_path, "id,system,score", [(i, *row) for i, row in enumerate(rows)])
    assert any("12 rows are the same as others but for id" in note for note in seeds(path, score="score").notes)


def test_data_sets_that_are_pasted_under_other_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = [(f"{a:.2f}", f"{a - 1:.2f}") for a in rng.normal(80, 5, 10)]
    numbered = write(tmp_path, "nr,A,B", [(i, *row) for i, row in enumerate(scores * 4)])
    problem = "the scores on all data sets are there 4 times, under other names (10 as 0); expected every data set once"
    for question in (rank, compare_scores, table_report):
        with pytest.raises(InputError, match=re.escape(problem)):
            question(numbered)
    named = write(tmp_path, "set,A,B", [(f"{name}{i}", *row) for name in "wxyz" for i, row in enumerate(scores)])
    note = (
        "the scores on all data sets are there 4 times, under other names (x0 as w0); if they are copies, they count "
    )
    assert any(text.startswith(note) for text in rank(named, samples=10).notes)
    assert any(text.startswith(note) for text in compare_scores(named).notes)
    items = [(i, *rng.integers(0, 2, 3).tolist()) for i in range(400)]
    assert rank(write(tmp_path, "nr,A,B,C", items), samples=10).datasets == 400


def test_commands_refuse_pasted_tables_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    commands = Commands(capsys)
    rng = np.random.default_rng(0)
    rows = [(name, f"{score:.4f}") for name in "AB" for score in rng.normal(90, 1, 5)]
    path = write(tmp_path, "system,score", rows * 8)
    for arguments in (["seeds", path, "--score", "score"], ["report", path, "--out", tmp_path / "page.html"]):
        assert ":12: the same row as in line 2, and all rows are there 8 times" in commands.refused(*arguments)
    assert not (tmp_path / "page.html").exists()
