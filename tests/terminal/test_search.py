"""A search on a terminal: the cost before it runs, and the winners after it did."""

from __future__ import annotations

from pathlib import Path

import pytest
from deadheat.questions.search_spread import Spread
from deadheat.terminal.search import search_plan, search_text

from deadheat.questions.search import Between, DataSet, SearchResult, Winner
from deadheat.study.search.search import Place
from tests.study.search_cases import FOUR, search_of

NONE = float("nan")
FIRST, SECOND = {"epochs": 1, "order": 2}, {"epochs": 2, "order": 2}


def spread(setup: str, *dev: float, test: tuple[float, ...] = ()) -> Spread:
    more = (0.25, True, 0.5) if test else (NONE, None, NONE)
    return Spread(setup, ("a", "b"), dev, test, 0.625, *more)


def result(datasets: tuple[DataSet, ...], *setups: str, between: tuple[Between, ...] = ()) -> SearchResult:
    return SearchResult(
        label="tagger", metric="accuracy.v1", setups=setups, varied=("epochs", "order"),
        tried={"a": FIRST, "b": SECOND}, method="grid", seeds=(0,), trained=8,
        failed=0, looks=3, setting="dev", final="train+tune", alpha=0.05,
        correction="bonferroni", datasets=datasets, between=between,
    )  # fmt: skip


def test_winners_setups_and_spreads_are_told_in_tables() -> None:
    tune, dev = Winner("tune", "a", FIRST, 2, 0.9, 0.92, 0.91), Winner("dev", "b", SECOND, 2, 0.93, 0.93, 0.9)
    sets = (
        DataSet(Place("north", "random.v1", 0, 0), (tune, dev), (spread("tune", 0.9, 0.88),), 1, 0.03, 0.06),
        DataSet(Place("south", "random.v1", 0, 0), (tune,), (spread("tune", 0.9, 0.5),)),
    )
    between = (Between("test", 91.0, 90.0, 1.0, 0.0312, 0.0123), Between("gap", NONE, NONE, NONE, NONE, NONE))
    assert search_text(result(sets, "tune", "dev", between=between)).split("\n") == [
        "tagger: 2 settings on 2 data sets, 8 networks, 3 looks at test",
        "data set  epoch by  winner              dev  final dev   test  test - dev  optimism  differ     p  corrected",
        "north     tune      epochs=1 order=2  90.00      92.00  91.00       +1.00     +1.00",
        "north     dev       epochs=2 order=2  93.00      93.00  90.00       -3.00     +3.00     1/2  0.03       0.06",
        "south     tune      epochs=1 order=2  90.00      92.00  91.00       +1.00     +1.00",
        "over data sets                 tune    dev  difference      p  by bootstrap",
        "test score of the winner      91.00  90.00       +1.00  0.031         0.012",
        "test minus dev of the search      -      -           -",
        "setups differ on test on 1 of 1 data set (paired bootstrap over sentences, alpha 0.05), on 0 after bonferroni",
        "settings on dev  epoch by  least  median   most  wins again",
        "north            tune      88.00   89.00  90.00       62.50",
        "south            tune      50.00   70.00  90.00       62.50",
    ]


def test_setups_without_scores_on_test_cannot_be_compared() -> None:
    tune, dev = Winner("tune", "a", FIRST, 2, 0.9, 0.92, 0.91), Winner("dev", "b", SECOND, 2, 0.93, NONE, NONE)
    sets = (DataSet(Place("north", "random.v1", 0, 0), (tune, dev), (), 1),)
    between = (Between("test", NONE, NONE, NONE, NONE, NONE),)
    told = search_text(result(sets, "tune", "dev", between=between))
    assert "setups cannot be compared on test: no data set has scores of both" in told
    assert "setups differ" not in told


def test_one_setup_has_nothing_to_compare_and_splits_are_told_apart() -> None:
    own = Winner("tune", "a", FIRST, 2, 0.9, 0.92, NONE)
    spreads = (spread("tune", 0.9, 0.88, test=(0.7, 0.8)),)
    sets = tuple(DataSet(Place("north", "random.v1", 0, at), (own,), spreads) for at in (0, 1))
    lines = search_text(result(sets, "tune")).split("\n")
    assert lines[1:3] == [
        "data set  epoch by  winner              dev  final dev  test  test - dev  optimism",
        "north 0   tune      epochs=1 order=2  90.00      92.00     -           -         -",
    ]
    assert lines[-3].split() == [
        *"settings on dev epoch by least median most wins again test: least median most wins test did".split()
    ]
    assert lines[-1].split() == ["north", "1", "tune", "88.00", "89.00", "90.00", "62.50", "70.00", "75.00", "80.00",
                                 "25.00", "yes"]  # fmt: skip


def test_data_sets_are_named_by_what_tells_them_apart() -> None:
    places = [("a", "random.v1", 0, 0), ("b", "random.v1", 0, 0), ("b", "random.v1", 0, 1)]
    places += [("c", "random.v1", 0, 0), ("c", "random.v1", 3, 0), ("c", "tune.v1(tune=5)", 0, 0)]
    own = Winner("tune", "a", FIRST, 2, 0.9, 0.92, 0.91)
    text = search_text(result(tuple(DataSet(Place(*place), (own,), ()) for place in places), "tune"))
    names = [line.partition("  ")[0] for line in text.split("\n")[2:8]]
    assert names == ["a", "b 0", "b 1", "c random 0", "c random seed 3 0", "c tune 0"]


def test_a_search_without_winners_has_no_rows() -> None:
    nothing = Spread("tune", (), (), (), NONE, NONE, None, NONE)
    sets = (DataSet(Place("north", "random.v1", 0, 0), (), (nothing,)),)
    assert len(search_text(result(sets, "tune")).split("\n")) == 3  # what it is, and two headings


@pytest.mark.parametrize(
    ("more", "first", "last", "looks"),
    [
        ("", "8 trainings", 2, 2),
        ("epoch = ['tune', 'dev']\n", "16 trainings", 4, 4),
        ("epoch = ['tune', 'dev']\nseeds = 3\n", "48 trainings", 12, 12),
        ("tested = 'all'\n", "8 trainings", 2, 10),
        ("tested = 'all'\nfinal = 'train'\n", "8 trainings", 0, 8),
        ("tested = 'all'\nepoch = ['tune', 'dev']\n", "16 trainings", 0, 16),
    ],
)
def test_a_plan_says_what_it_will_cost(tmp_path: Path, more: str, first: str, last: int, looks: int) -> None:
    told = search_plan(search_of(tmp_path, f"{FOUR}{more}", times=2))
    assert told.startswith("search of perceptron: 4 settings of epochs, order (grid), on 2 data sets, ")
    assert f": {first}; then winners by accuracy.v1 on dev, {last} trainings at most on train" in told
    assert told.endswith(f", {looks} looks at test")


@pytest.mark.parametrize(
    ("epoch", "final", "learned"),
    [
        ("'tune'", "train", "train"),
        ("'tune'", "train+tune", "train+tune"),
        ("'dev'", "train", "train+tune"),
        ("['tune', 'dev']", "train", "train and train+tune"),
    ],
)
def test_a_plan_says_what_winners_learn_from(tmp_path: Path, epoch: str, final: str, learned: str) -> None:
    told = search_plan(search_of(tmp_path, f"{FOUR}epoch = {epoch}\nfinal = '{final}'\n"))
    assert f"at most on {learned}, " in told


def test_a_plan_of_a_search_by_optuna_says_at_most(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    text = f"{FOUR}method = 'optuna'\nsamples = 20\nepoch = ['tune', 'dev']\ntested = 'all'\n"
    # There are but four settings. Where dev did not try the winner of tune, it is one network more.
    assert "4 settings of epochs, order (optuna)" in search_plan(search_of(tmp_path, text))
    assert ": 8 trainings at most; then winners by accuracy.v1 on dev, 1 training at most" in search_plan(
        search_of(tmp_path, text)
    )
