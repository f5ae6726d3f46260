"""Which runs of a store are those of a search: its own, and not all that are called the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.questions.run import StudyRun, run_plan
from deadheat.questions.store_report import StoredStudy, read_study
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store
from tests.study.search_cases import FOUR, search_file
from tests.study.study_cases import corpus_text, serial

SEARCHED = "perceptron, searched"
NOTE = "the store has {}, of another study or run since the end of this one; they are not part of this report"


def searched(path: Path) -> StudyRun:
    """A search whose networks are trained in this process."""

    def executor(plan: Plan, position: Path):  # type: ignore[no-untyped-def]
        with Store.read(position) as store:
            return serial(plan, store)

    return run_plan(Plan.of(path), executor=executor)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> StudyRun:
    """A search that was run, and run again with another text of the corpus: other keys under the same names."""
    path = search_file(tmp_path_factory.mktemp("changed"))
    searched(path)
    (path.parent / "small.conllu").write_text(corpus_text(60, seed=1))
    return searched(path)


def stored(path: Path) -> StoredStudy:
    with Store.read(path) as store:
        return read_study(store)


def test_only_runs_of_the_search_itself_are_counted(changed: StudyRun) -> None:
    result = stored(changed.store)
    (search,) = searches_of(changed.plan)
    (winner,) = changed.result.searches[0].datasets[0].winners
    own = [*search.first_cells(), *search.final_cells(search.plan.corpus_splits[0], "tune", winner.system)]
    assert result.runs["system"].to_list() == [SEARCHED] * 5
    assert set(result.runs["key"].to_list()) == {cell.key for cell in own}
    assert result.notes == (NOTE.format("5 more cells"),)  # four settings and a winner, of the text as it was


def test_keys_are_kept_in_the_store(changed: StudyRun) -> None:
    (search,) = stored(changed.store).result.searches
    assert search.keys == changed.result.searches[0].keys
    assert len(set(search.keys)) == len(search.keys) == 5


def test_a_final_network_of_an_earlier_winner_is_not_of_the_search(tmp_path: Path) -> None:
    """The winner of two settings is another than that of all four."""
    path = search_file(tmp_path, FOUR.replace("epochs = [1, 2]", "epochs = 2"))
    (first,) = searched(path).result.searches
    search_file(tmp_path)
    done = searched(path)
    assert done.result.searches[0].datasets[0].winners[0].system != first.datasets[0].winners[0].system
    result = stored(done.store)
    assert result.runs["system"].to_list() == [SEARCHED] * 5
    assert result.notes == (NOTE.format("1 more cell"),)


def test_a_run_of_two_searches_counts_for_the_first(tmp_path: Path) -> None:
    both = f"label = 'one'\n{FOUR}[[search]]\nlabel = 'other'\n{FOUR}"
    path = search_file(tmp_path, both)
    path.write_text(path.read_text().replace("[search]\n", "[[search]]\n", 1))
    result = stored(searched(path).store)
    assert result.runs["system"].to_list() == ["one, searched"] * 5
    assert result.notes == ()
