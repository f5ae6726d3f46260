"""How long the cells that are left will take, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from deadheat.study.engine.estimate import WINDOW, RemainingWork, trimmed_mean
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.plan.cells import DONE, FAILED, Cell, Outcome
from deadheat.study.store.store import Store

FAST, SLOW, NETWORK = "hmm.v1", "lookahead.v1", "bilstm.v2"


def cells(system: str, times: int, *, corpus: str = "english") -> list[Cell]:
    return [Cell(corpus, corpus, "random.v1", 0, number, system, 0) for number in range(times)]


def finish(work: RemainingWork, finished: Sequence[Cell], *seconds: float, status: str = DONE) -> None:
    for cell, wall_s in zip(finished, seconds, strict=True):
        work.finish(Outcome(cell, status, wall_s=wall_s, peak_mb=1.0))


def test_nothing_is_known_before_the_first_cell_and_nothing_is_left_after_the_last() -> None:
    work = RemainingWork(cells(FAST, 1), workers=2)
    assert work.seconds_left() is None
    finish(work, cells(FAST, 1), 3.0)
    assert work.seconds_left() == 0.0


def test_the_time_of_the_rest_is_shared_by_the_workers_but_no_cell_is_split() -> None:
    planned = cells(FAST, 21)
    work = RemainingWork(planned, workers=4)
    finish(work, planned[:1], 6.0)
    assert work.seconds_left() == 6.0 * 20 / 4
    finish(work, planned[1:18], *[6.0] * 17)
    assert work.seconds_left() == 6.0  # three cells, four workers: as long as one of them


def test_each_system_has_its_own_time_and_an_unknown_one_the_mean_of_the_others() -> None:
    fast, slow, unknown = cells(FAST, 11), cells(SLOW, 3), cells("perceptron.v2", 2)
    work = RemainingWork([*fast, *slow, *unknown], workers=2)
    finish(work, fast[:1], 1.0)
    assert work.seconds_left() == 15 * 1.0 / 2
    finish(work, slow[:1], 101.0)
    # Ten fast cells, two slow ones, and two of 51 s.
    assert work.seconds_left() == (10 * 1.0 + 2 * 101.0 + 2 * 51.0) / 2
    finish(work, unknown[:1], 5.0)
    assert work.seconds_left() == (10 * 1.0 + 2 * 101.0 + 5.0) / 2


def test_the_longest_cell_that_is_left_is_waited_for() -> None:
    fast, slow = cells(FAST, 3), cells(SLOW, 2)
    work = RemainingWork([*fast, *slow], workers=8)
    finish(work, [fast[0], slow[0]], 1.0, 100.0)
    assert work.seconds_left() == 100.0


def test_corpora_differ_and_other_settings_and_corpora_help_where_there_is_nothing_closer() -> None:
    small, large, other = cells(FAST, 2), cells(FAST, 2, corpus="large"), cells("hmm.v1(beam=100)", 1, corpus="third")
    work = RemainingWork([*small, *large, *other, *cells(SLOW, 1)], workers=1)
    finish(work, cells(SLOW, 1), 1000.0)
    finish(work, small[:1], 2.0)
    assert work.seconds_left() == 2.0 + 2 * 2.0 + 2.0
    finish(work, large[:1], 10.0)
    assert work.seconds_left() == 2.0 + 10.0 + 6.0


def test_the_time_that_running_cells_have_used_is_not_counted_again() -> None:
    planned = cells(FAST, 4)
    work = RemainingWork(planned, workers=2)
    finish(work, planned[:1], 10.0)
    running = [ActiveTask(planned[1].key, 100.0), ActiveTask(planned[2].key, 102.0)]
    assert work.seconds_left(running, 100.0) == 15.0
    assert work.seconds_left(running, 104.0) == (6.0 + 8.0 + 10.0) / 2
    # Both take longer than expected: only the cell that waits is left.
    assert work.seconds_left(running, 200.0) == 10.0


def test_a_cell_of_an_unknown_system_that_takes_long_says_what_others_of_it_will_take() -> None:
    fast, slow = cells(FAST, 1), cells(SLOW, 3)
    work = RemainingWork([*fast, *slow], workers=1)
    finish(work, fast, 1.0)
    assert work.seconds_left([ActiveTask(slow[0].key, 0.0)], 60.0) == 2 * 60.0


def test_networks_of_a_stack_have_their_share_of_its_time_and_wait_for_no_worker() -> None:
    networks, others = cells(NETWORK, 4), cells(FAST, 2)
    work = RemainingWork([*networks, *others], workers=2)
    for cell in networks[:2]:
        work.finish(Outcome(cell, DONE, wall_s=400.0, cpu_s=100.0))
    finish(work, others[:1], 8.0)
    assert work.seconds_left([ActiveTask(networks[0].key, 0.0, "epoch 3 of 4")], 50.0) == 2 * 100.0 + 8.0


def test_times_in_the_store_are_used_if_their_cells_are_done(tmp_path: Path) -> None:
    with Store.open(tmp_path / "study.sqlite", create=True) as store:
        assert RemainingWork.after(store, cells(FAST, 1), workers=1).seconds_left() is None
        for number, (status, wall_s) in enumerate([(DONE, 3.0), (DONE, 5.0), (FAILED, 100.0)]):
            store.add(Outcome(cells(FAST, 3)[number], status, wall_s=wall_s, peak_mb=1.0))
        work = RemainingWork.after(store, cells(FAST, 9)[3:], workers=2)
        assert work.seconds_left() == 6 * 4.0 / 2
        assert RemainingWork.after(store, [], workers=2).seconds_left() == 0.0


@pytest.mark.parametrize(
    ("total", "seconds", "left"),
    [
        (1000, [100.0] * 500 + [1.0] * WINDOW, 1000 - 500 - WINDOW),  # the last cells count
        (110, [2.0] * 9 + [90_000.0], 200.0),  # one odd cell in ten does not
    ],
)
def test_time_left_follows_the_usual_of_the_last_cells(total: int, seconds: list[float], left: float) -> None:
    planned = cells(FAST, total)
    work = RemainingWork(planned, workers=1)
    finish(work, planned[: len(seconds)], *seconds)
    assert work.seconds_left() == left


def test_the_trimmed_mean_by_hand() -> None:
    assert trimmed_mean([5.0]) == 5.0
    assert trimmed_mean([1.0, 9.0]) == 5.0
    # Of twenty values two go at each end: 3, ..., 18 are left.
    assert trimmed_mean([float(number) for number in range(20, 0, -1)]) == 10.5
