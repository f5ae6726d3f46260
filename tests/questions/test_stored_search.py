"""Which runs of a store are those of a search: its own, and not all that are called the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadheat.questions.run import KEYS, StudyRun, run_plan
from deadheat.questions.stored import stored
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store
from tests.study.search_cases import FOUR, search_file
from tests.study.study_cases import corpus_text, serial

SEARCHED = "perceptron, searched"
NOTE = "the store has {} cells more: of another study, or run since this one's end; nothing here is about them"


def searched(path: Path) -> StudyRun:
    """A search whose networks are trained in this process."""

    def executor(plan: Plan, place: Path):  # type: ignore[no-untyped-def]
        with Store.read(place) as store:
            return serial(plan, store)

    return run_plan(Plan.of(path), executor=executor)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> StudyRun:
    """A search that was run, and run again with another text of the corpus: other keys under the same names."""
    path = search_file(tmp_path_factory.mktemp("changed"))
    searched(path)
    (path.parent / "small.conllu").write_text(corpus_text(60, seed=1))
    return searched(path)


def kept(store: Path) -> dict[str, object]:
    """What a store keeps of its only search."""
    with Store.read(store) as found:
        (search,) = (found.result() or {})["searches"]
    return dict(search)


def test_only_runs_of_the_search_itself_are_counted(changed: StudyRun) -> None:
    found = stored(changed.store)
    (search,) = searches_of(changed.plan)
    (winner,) = changed.searches[0].datasets[0].winners
    own = [*search.first_cells(), *search.final_cells(search.corpus_splits[0], "tune", winner.system)]
    assert found.runs["system"].to_list() == [SEARCHED] * 5
    assert set(found.runs["key"].to_list()) == {cell.key for cell in own}
    assert found.notes == (NOTE.format(5),)  # four settings and a winner, of the text as it was


def test_keys_are_kept_in_the_store_and_shown_nowhere(changed: StudyRun) -> None:
    keys = kept(changed.store)[KEYS]
    assert keys == list(changed.searches[0].keys)
    assert isinstance(keys, list)
    assert len(set(keys)) == len(keys) == 5
    shown = json.dumps([changed.to_dict(), stored(changed.store).study])
    assert not [key for key in keys if key in shown]


def test_results_without_keys_are_known_by_what_runs_are_called(changed: StudyRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(changed.store.read_bytes())
    with Store.open(copy) as store:
        document = store.result() or {}
        del document["searches"][0][KEYS]
        store.set_result(document)
    found = stored(copy)
    assert found.runs["system"].to_list() == [SEARCHED] * 10
    assert found.notes == ()


def test_a_final_network_of_an_earlier_winner_is_not_of_the_search(tmp_path: Path) -> None:
    """The winner of two settings is another than that of all four."""
    path = search_file(tmp_path, FOUR.replace("epochs = [1, 2]", "epochs = 1"))
    (first,) = searched(path).searches
    search_file(tmp_path)
    done = searched(path)
    assert done.searches[0].datasets[0].winners[0].system != first.datasets[0].winners[0].system
    found = stored(done.store)
    assert found.runs["system"].to_list() == [SEARCHED] * 5
    assert found.notes == (NOTE.replace("{} cells", "1 cell"),)


def test_a_run_of_two_searches_counts_for_the_first(tmp_path: Path) -> None:
    both = f"label = 'one'\n{FOUR}[[search]]\nlabel = 'other'\n{FOUR}"
    path = search_file(tmp_path, both)
    path.write_text(path.read_text().replace("[search]\n", "[[search]]\n", 1))
    found = stored(searched(path).store)
    assert found.runs["system"].to_list() == ["one, searched"] * 5
    assert found.notes == ()
