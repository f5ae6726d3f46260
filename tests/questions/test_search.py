"""What a search found: numbers from the store by hand, tests against those of other functions, and published tables."""

from __future__ import annotations

import csv
import operator
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy import stats

from deadheat.corpus import read, take
from deadheat.questions.compare import compare
from deadheat.questions.compare_scores import compare_scores
from deadheat.questions.run import StudyRun, run_plan
from deadheat.questions.search import _differences, _over_datasets
from deadheat.questions.study import scores_of
from deadheat.results.base import from_json
from deadheat.results.search import SearchDataset, SearchResult, SettingScores, Winner
from deadheat.stats.corrections import correct
from deadheat.study.cluster.engine import MakeExecutor
from deadheat.study.engine.training import train_cell
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.study.plan.cells import Cell, CorpusSplit
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import Search, searches_of
from deadheat.study.store.recording import predictions_folder, write_prediction
from deadheat.study.store.store import Store
from tests.study.search_cases import FOUR, METRIC, search_file
from tests.study.study_cases import SerialExecutor, odd_systems

EVERYTHING = f"{FOUR}epoch = ['tune', 'dev']\ntested = 'all'\nseeds = 2\nfinal = 'train'\n"
Published = dict[str, dict[str, float]]


def here(plan: Plan, store: Path) -> SerialExecutor[Cell, object]:
    """Cells one by one in this process, which knows the systems of the tests."""

    def run(cell: Cell) -> object:
        return train_cell(
            plan, cell, lambda part, data: write_prediction(predictions_folder(store), cell.key, part, data)
        )

    return SerialExecutor(run)


def searched(path: Path, entry: LedgerEntry | None = None) -> StudyRun:
    executor: MakeExecutor = here  # type: ignore[assignment]
    return run_plan(Plan.of(path), ledger_entry=entry, executor=executor)


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> StudyRun:
    """Four settings with two seeds on six splits, in both setups, all of them tested."""
    return searched(search_file(tmp_path_factory.mktemp("six"), EVERYTHING, times=6, sentences=100))


def place_of(dataset: SearchDataset) -> CorpusSplit:
    return CorpusSplit(dataset.corpus, dataset.split, dataset.split_seed, dataset.number)


def found_of(done: StudyRun) -> tuple[Search, SearchResult]:
    (search,), (result,) = searches_of(done.plan), done.result.searches
    return search, result


def test_winners_have_the_means_of_their_seeds_in_the_store(six: StudyRun) -> None:
    search, result = found_of(six)
    with Store.read(six.store) as store:
        values = scores_of(store)
    assert (len(result.datasets), len(result.candidates), result.trained, result.failed) == (6, 4, 96, 0)
    assert (
        result.tested_networks == 96
    )  # with final = "train" every winner is a network of the search, which was looked at
    for item in result.datasets:
        for winner in item.winners:
            scores = {
                system: np.mean(
                    [values[cell.key, "dev", METRIC] for cell in search.cells(place_of(item), winner.setup, system)]
                )
                for system in search.candidates
            }
            best = max(scores.values())
            assert winner.system == next(name for name, score in scores.items() if score == best)
            assert winner.search_dev == winner.dev == pytest.approx(best)
            cells = search.cells(place_of(item), winner.setup, winner.system)
            assert winner.test == pytest.approx(np.mean([values[cell.key, "test", METRIC] for cell in cells]))
            assert winner.gap == pytest.approx(winner.test - best)
            assert winner.optimism == pytest.approx(best - winner.test)


def test_settings_that_differ_are_counted_one_by_one(six: StudyRun) -> None:
    _, result = found_of(six)
    for item in result.datasets:
        first, second = (winner.settings for winner in item.winners)
        by_hand = int(first["epochs"] != second["epochs"]) + int(first["order"] != second["order"])
        assert item.differing == by_hand
    assert len({item.differing for item in result.datasets}) > 1


def test_many_data_sets_with_fine_differences_are_permuted_at_random() -> None:
    """Differences of 40 data sets to eight digits: sums of swaps are too many to list, and nearly normal."""
    values_D2 = np.random.default_rng(0).normal([0.81, 0.80], 0.02, (40, 2))
    permuted, bootstrapped = _over_datasets(values_D2)
    expected = stats.ttest_rel(values_D2[:, 0], values_D2[:, 1]).pvalue
    assert (permuted, bootstrapped) == pytest.approx((expected, expected), abs=0.02)


def test_p_values_are_those_of_comparing_the_predictions(six: StudyRun) -> None:
    search, result = found_of(six)
    with Store.read(six.store) as store:
        for item in result.datasets[:3]:
            cells = [search.final_cells(place_of(item), winner.setup, winner.system)[0] for winner in item.winners]
            corpus = search.plan.materials[item.corpus].corpus
            gold = take(corpus, search.plan.partition(cells[0]).parts["test"])
            guesses = {cell.tune: read(text=store.prediction(cell.key, "test").decode()) for cell in cells}
            compared = compare(gold, guesses, metric="accuracy", test="bootstrap")
            assert item.p == compared.pairs[0].p


def test_p_values_are_corrected_for_the_data_sets_that_have_one(six: StudyRun) -> None:
    _, result = found_of(six)
    assert [item.p_corrected for item in result.datasets] == [min(1.0, 6 * item.p) for item in result.datasets]


def test_setups_are_compared_over_data_sets_as_compare_scores_does(six: StudyRun) -> None:
    _, result = found_of(six)
    assert [item.quantity for item in result.differences] == ["test", "gap", "optimism"]
    for item in result.differences:
        columns = {
            setup: {str(at): 100 * own.value(setup, item.quantity) for at, own in enumerate(result.datasets)}
            for setup in ("tune", "dev")
        }
        tune, dev = (np.array(list(columns[setup].values())) for setup in ("tune", "dev"))
        assert (item.first, item.second) == pytest.approx((tune.mean() / 100, dev.mean() / 100))
        assert item.difference == pytest.approx((tune - dev).mean() / 100)
        rounded = {setup: {key: round(value, 8) for key, value in own.items()} for setup, own in columns.items()}
        assert item.p_bootstrap == compare_scores(rounded, test="bootstrap").pairs[0].p
        gaps = np.round(1e8 * (tune - dev)).astype(int).tolist()
        sums = [abs(sum(map(operator.mul, signs, gaps))) for signs in product((1, -1), repeat=len(gaps))]
        assert item.p == np.mean([own >= abs(sum(gaps)) for own in sums])


def slow_chances(
    dev: list[list[list[list[int]]]], test: list[list[list[list[int]]]], winner: int, *, times: int
) -> tuple[float, float]:
    """How often the same settings win again, and how often none does better on test than those that win.

    In plain Python: `dev[setting][seed]` has what is correct and what there is for every sentence.
    """
    chance = random.Random(0)
    again = kept = 0

    def scores(part: list[list[list[list[int]]]]) -> list[float]:
        drawn = [chance.randrange(len(part[0][0])) for _ in part[0][0]]
        result = []
        for seeds in part:
            shares = [sum(own[i][0] for i in drawn) / sum(own[i][1] for i in drawn) for own in seeds]
            result.append(sum(shares) / len(shares))
        return result

    for _ in range(times):
        on_dev, on_test = scores(dev), scores(test)
        wins = on_dev.index(max(on_dev))
        again += wins == winner
        kept += on_test[wins] == max(on_test)
    return again / times, kept / times


def counts_of(store: Store, search: Search, place: CorpusSplit, setup: str, part: str) -> list[list[list[list[int]]]]:
    names = list(search.candidates)
    keys = [[cell.key for cell in search.cells(place, setup, name)] for name in names]
    return [store.counts(own, part=part, metric=METRIC).tolist() for own in keys]


def systems_of(search: Search, scores: SettingScores) -> list[str]:
    return [list(search.candidates)[number] for number in scores.candidates]


def check_spread(search: Search, store: Store, each: SearchDataset, spread: SettingScores, picking: str) -> None:
    """Against resampling in plain Python, within what chance makes of two times two thousand draws."""
    dev, test = (counts_of(store, search, place_of(each), spread.setup, part) for part in (picking, "test"))
    winner = each.winner(spread.setup)
    assert winner is not None
    wins = list(search.candidates).index(winner.system)
    again, kept = slow_chances(dev, test, wins, times=2000)
    assert spread.wins_again == pytest.approx(again, abs=0.06)
    assert spread.wins_test == pytest.approx(kept, abs=0.06)
    by_test = dict(zip(systems_of(search, spread), spread.test, strict=True))
    assert spread.best_on_test == (by_test[winner.system] == max(spread.test))


def test_how_sure_the_winner_is_is_what_plain_resampling_says(six: StudyRun) -> None:
    search, result = found_of(six)
    with Store.read(six.store) as store:
        for item in result.datasets[:2]:
            for spread in item.scores:
                check_spread(search, store, item, spread, "dev")
        values = scores_of(store)
    item = result.datasets[0]
    for spread in item.scores:
        for part in ("dev", "test"):
            expected = search.scores(values, place_of(item), spread.setup, part)
            assert dict(zip(systems_of(search, spread), getattr(spread, part), strict=True)) == expected
        assert -1 <= spread.rho <= 1
    assert {spread.best_on_test for own in result.datasets for spread in own.scores} == {True, False}


def test_where_tune_picks_the_winner_tune_is_what_is_sampled_anew(tmp_path: Path) -> None:
    text = f"{FOUR}setting = 'tune'\ntested = 'all'\nfinal = 'train'\n"
    done = searched(search_file(tmp_path, text, times=2, sentences=100))
    search, result = found_of(done)
    picked = [item.winners[0].system for item in result.datasets]
    best = [systems_of(search, item.scores[0])[int(np.argmax(item.scores[0].dev))] for item in result.datasets]
    assert picked != best, "the test says nothing where tune and dev agree"
    with Store.read(done.store) as store:
        for item in result.datasets:
            check_spread(search, store, item, item.scores[0], "tune")


def test_a_winner_that_is_one_network_has_p_1_and_is_looked_at_once(tmp_path: Path, ledger_path: Path) -> None:
    text = "system = 'hmm'\nbeam = [2, 1000]\nepoch = ['tune', 'dev']\n"
    done = searched(search_file(tmp_path, text, times=2), LedgerEntry(Ledger(ledger_path)))
    search, result = found_of(done)
    same = [item for item in result.datasets if item.differing == 0]
    assert same, "beams that differ nowhere were expected to win"
    assert all((item.p, item.p_corrected) == (1.0, 1.0) for item in same)
    winners = {
        cell.key
        for item in result.datasets
        for winner in item.winners
        for cell in search.final_cells(place_of(item), winner.setup, winner.system)
    }
    looks = [event for event in Ledger(ledger_path).events() if event["event"] == "look"]
    assert result.tested_networks == len(looks) == len(winners)
    with Store.read(done.store) as store:
        assert set(store.scores().filter(part="test")["key"].to_list()) == winners


def test_few_data_sets_are_not_tested_over(tmp_path: Path) -> None:
    done = searched(search_file(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\n", times=2))
    _, result = found_of(done)
    assert all(np.isnan(item.p) for item in result.differences)
    assert "2 data sets; expected 6 or more for a test over data sets" in result.notes
    assert any(note.startswith("dev picked epochs and settings in setup dev") for note in result.notes)
    assert any(note.startswith("final networks of setup tune also learned from tune") for note in result.notes)
    assert from_json(result.to_json()) == result


def test_networks_that_fail_are_counted_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd_systems(monkeypatch)
    text = "system = 'odd'\ndoes = ['raises', 'nothing']\nseeds = 2\n"
    done = searched(search_file(tmp_path, text))
    _, result = found_of(done)
    assert (len(result.candidates), result.trained, result.failed, result.tested_networks) == (2, 2, 2, 2)
    assert result.notes[0] == "2 networks of the search failed; their settings are left out on those data sets"
    assert result.datasets[0].winners[0].settings == {"does": "nothing"}
    assert result.datasets[0].winners[0].candidates == 1
    assert result.datasets[0].scores[0].candidates == (1,)  # the second of those that were tried
    failed = [(cell.system, cell.status) for cell in done.result.failed]
    assert failed == [("odd.v1(does='raises')", "failed")] * 2


def test_where_all_fail_there_is_no_winner_and_a_note_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd_systems(monkeypatch)
    done = searched(search_file(tmp_path, "system = 'odd'\ndoes = ['raises']\nmarker = ['', 'none']\n"))
    _, result = found_of(done)
    assert (result.tested_networks, result.datasets[0].winners, result.datasets[0].scores[0].dev) == (0, (), ())
    assert "1 data set without a winner in every setup: none of their networks has a score" in result.notes


def failing(path: Path, fails: Callable[[Cell], bool]) -> SearchResult:
    """A search of which some networks fail."""

    def executor(plan: Plan, store: Path) -> SerialExecutor[Cell, object]:
        def run(cell: Cell) -> object:
            if fails(cell):
                raise MemoryError("too large")
            return train_cell(plan, cell, partial(write_prediction, predictions_folder(store), cell.key))

        return SerialExecutor(run)

    (result,) = run_plan(Plan.of(path), executor=cast("MakeExecutor", executor)).result.searches
    return result


def test_a_final_network_that_fails_is_counted_and_reported(tmp_path: Path) -> None:
    path = search_file(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\nfinal = 'train'\nseeds = 2\n", times=2)
    result = failing(path, lambda cell: cell.final and (cell.number, cell.tune, cell.seed) == (1, "dev", 1))
    assert (result.trained, result.failed, result.failed_finals, result.tested_networks) == (32, 0, 1, 7)
    assert result.notes[:2] == (
        "1 final network failed: 1 data set lacks a score on test",
        "1 data set with scores of both setups on test; expected 6 or more for a test over data sets",
    )
    first, second = result.datasets
    assert not np.isnan(first.p)
    assert first.p_corrected == first.p, "there is nothing to correct for"
    assert np.isnan([second.p, second.p_corrected]).all()
    assert [np.isnan(winner.test) for winner in second.winners] == [False, True]
    assert (len(result.compared), result.failed_finals, result.all_tested) == (1, 1, False)


def test_one_network_that_failed_is_not_a_dead_heat(tmp_path: Path) -> None:
    text = "system = 'hmm'\nbeam = [2, 1000]\nepoch = ['tune', 'dev']\n"
    result = failing(search_file(tmp_path, text, times=2), lambda cell: cell.final)
    assert 0 in {item.differing for item in result.datasets}, "a winner of both setups was expected"
    assert all(np.isnan(item.p) for item in result.datasets)
    finals = sum(1 if item.differing == 0 else 2 for item in result.datasets)
    assert (result.failed_finals, result.tested_networks) == (finals, 0)
    assert f"{finals} final networks failed: 2 data sets lack a score on test" in result.notes


def test_a_network_of_the_search_that_failed_is_reported_where_it_was_to_be_final(tmp_path: Path) -> None:
    text = f"{FOUR}epoch = ['tune', 'dev']\ntested = 'all'\n"
    result = failing(search_file(tmp_path, text), lambda cell: cell.tune == "dev")
    assert (result.trained, result.failed, result.failed_finals, result.all_tested) == (4, 4, 1, True)
    assert [winner.setup for winner in result.datasets[0].winners] == ["tune"]
    assert "1 final network failed: 1 data set lacks a score on test" in result.notes


def test_a_second_run_gives_the_same_result_and_runs_nothing(six: StudyRun) -> None:
    again = searched(six.plan.path)
    assert again.summary.done == 0
    assert again.result == six.result


def of_winners(*scores: tuple[float, float]) -> list[SearchDataset]:
    """Data sets whose winners have these scores on test, by tune and by dev, and half of it on dev."""
    return [
        SearchDataset(
            f"made {at}", "made", "random.v1", 0, at,
            tuple(Winner(name, "", {}, 1, x / 2, x / 2, x) for name, x in zip(("tune", "dev"), own, strict=True)),
            (),
        )
        for at, own in enumerate(scores)
    ]  # fmt: skip


def test_differences_over_data_sets_by_hand() -> None:
    six = [(0.5, 0.25), (0.75, 0.5), (0.5, 0.25), (1.0, 0.75), (0.5, 0.25), (0.25, 0.0)]
    test, gap, optimism = _differences(of_winners(*six), ("tune", "dev"))
    assert (test.difference, test.first, test.second) == pytest.approx((0.25, 3.5 / 6, 2 / 6))
    assert (test.p, test.datasets) == (2 / 64, 6)  # the first is ahead on all
    assert test.p_bootstrap < 0.01
    assert (gap.difference, optimism.difference) == pytest.approx((0.125, -0.125))
    assert np.isnan(next(_differences(of_winners(*six[:5]), ("tune", "dev"))).p)
    same = _differences(of_winners(*[(0.5, 0.5)] * 6), ("tune", "dev"))
    assert [(row.p, row.p_bootstrap) for row in same] == [(1.0, 1.0)] * 3
    assert not list(_differences(of_winners(*six), ("tune",)))


def test_a_data_set_without_a_winner_in_one_setup_does_not_count() -> None:
    sets = of_winners((0.5, 0.25), (0.9, 0.1))
    sets[1] = replace(sets[1], winners=sets[1].winners[:1])
    test, *_ = _differences(sets, ("tune", "dev"))
    assert (test.first, test.second) == (0.5, 0.25)


def published(path: Path, parser: str) -> Published:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {setup: {row["treebank"]: float(row[f"{parser}_{setup}"]) for row in rows} for setup in ("no_tune", "tune")}


@pytest.mark.parametrize("correction", ["none", "bonferroni"])
def test_published_scores_on_test_do_not_differ(shared_data: Path, correction: str) -> None:
    """Van der Goot (2021), table 1: for neither parser, with and without correction."""
    path = shared_data / "published" / "vandergoot_table1_tune.csv"
    tables = [published(path, parser) for parser in ("machamp", "uuparser")]
    result = [compare_scores(table, test="bootstrap").pairs[0].p for table in tables]
    assert all(p > 0.05 for p in correct(result, correction))


@pytest.mark.parametrize("parser", ["machamp", "uuparser"])
def test_published_gaps_between_dev_and_test_differ(shared_data: Path, parser: str) -> None:
    """Table 3: significant for both parsers by a paired bootstrap over treebanks."""
    table = published(shared_data / "published" / "vandergoot_table3_dev_test_gap.csv", parser)
    compared = compare_scores(table, test="bootstrap")
    assert compared.pairs[0].winner(0.05) == "tune"
