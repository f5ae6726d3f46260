"""How far dev flatters the winner of a search, where the truth is known: settings that differ by luck alone.

A tagger learns from few sentences of an invented language, and its settings are nothing but seeds: all are equally
good. Test is so large that a network's score on it is the truth about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deadheat.questions.run import run_plan
from deadheat.questions.study import scores_of
from deadheat.study.engine.training import CellResult, train_cell
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import open_store
from deadheat.systems import SYSTEMS, Model, System
from deadheat.testbed import generate
from tests.study.study_cases import SerialExecutor

SETTINGS, SPLITS, SENTENCES = 16, 20, 2000
STUDY = f"""
metrics = ["accuracy"]
[corpora.velani]
files = "velani.conllu"
[splits]
strategy = "random"
sizes = "train=120 sentences,tune=40 sentences,dev=40 sentences,test=rest"
times = {SPLITS}
[search]
system = "lucky"
number = {list(range(SETTINGS))}
epoch = ["tune", "dev"]
tested = "all"
"""
Scores = NDArray[np.float64]  # splits by settings


@pytest.fixture(scope="module")
def lucky() -> Iterator[None]:
    """A perceptron whose only setting is its luck."""

    def lucky(*, number: int = 0) -> System:
        plain = SYSTEMS.make("perceptron.v2", shuffle=True, epochs=8, patience=8)

        def train(train: object, tune: object, seed: int) -> Model:
            return plain.train(train, tune, 1000 * seed + number)  # type: ignore[arg-type]

        return System(f"lucky.v1(number={number})", train, tuned=True, settings={"column": "upos"})

    SYSTEMS.add("lucky.v1")(lucky)
    yield
    SYSTEMS._factories.pop("lucky.v1")


def in_this_process(plan: Plan, store: Path) -> SerialExecutor[Cell, CellResult]:
    """Where the system is known."""
    return SerialExecutor(lambda cell: train_cell(plan, cell))


@pytest.fixture(scope="module")
def scores(lucky: None, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Scores]:
    """Of every network, by setup and part."""
    folder = tmp_path_factory.mktemp("search")
    (folder / "velani.conllu").write_text(generate("velani", sentences=SENTENCES, seed=7))
    (folder / "study.toml").write_text(STUDY)
    plan = Plan.of(folder / "study.toml")
    store = folder / "study.sqlite"
    run_plan(plan, store, executor=in_this_process)
    (search,) = searches_of(plan)
    with open_store(store) as there:
        values = scores_of(there)
    return {
        (setup, part): np.array(
            [list(search.scores(values, position, setup, part).values()) for position in search.plan.corpus_splits],
            float,
        )
        for setup, part in (("tune", "tune"), ("tune", "dev"), ("tune", "test"), ("dev", "dev"), ("dev", "test"))
    }


def overstated(scores: dict[tuple[str, str], Scores], setup: str, picking: str, settings: int) -> Scores:
    """What dev says beyond the truth of the winner among the first so many settings, split by split, in points."""
    picked = np.argmax(scores[setup, picking][:, :settings], axis=1)
    everyone = np.arange(len(picked))
    result: Scores = 100 * (scores[setup, "dev"][everyone, picked] - scores[setup, "test"][everyone, picked])
    return result


def by_chance(scores: dict[tuple[str, str], Scores], setup: str, share: float) -> float:
    """How far dev is beyond the truth on average over splits if settings are drawn blindly: a quantile of that."""
    gap = 100 * (scores[setup, "dev"] - scores[setup, "test"])
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, gap.shape[1], (20_000, len(gap)))
    return float(np.quantile(gap[np.arange(len(gap)), drawn].mean(axis=1), share))


def certain(differences: Scores) -> float:
    """The mean of differences over splits, in standard errors."""
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences))))


def gaps(scores: dict[tuple[str, str], Scores], setup: str) -> Scores:
    """What dev says beyond the truth, on average over all networks, split by split, in points."""
    result: Scores = 100 * (scores[setup, "dev"] - scores[setup, "test"]).mean(axis=1)
    return result


@pytest.mark.slow
def test_dev_overstates_what_it_picked_the_more_there_was_to_pick_from_and_nothing_else(
    scores: dict[tuple[str, str], Scores],
) -> None:
    # Of all networks, those whose epoch dev picked are flattered; others are not.
    assert certain(gaps(scores, "dev") - gaps(scores, "tune")) > 3
    assert abs(certain(gaps(scores, "tune"))) < 3
    # The winner of more settings is overstated more.
    most = overstated(scores, "dev", "dev", 16)
    result = [overstated(scores, "dev", "dev", settings).mean() for settings in (1, 4, 16)]
    assert result[0] < result[1] < result[2]
    assert certain(most - overstated(scores, "dev", "dev", 1)) > 3
    assert most.mean() > by_chance(scores, "dev", 0.999)
    # A winner that tune picked is not overstated, however many there were to pick from.
    low, high = (by_chance(scores, "tune", share) for share in (0.001, 0.999))
    for settings in (4, 16):
        assert low < overstated(scores, "tune", "tune", settings).mean() < high
    assert certain(most - overstated(scores, "tune", "tune", 16)) > 3
    # With epochs by tune and settings by dev there is less of it, and not nothing.
    assert high < overstated(scores, "tune", "dev", 16).mean() < most.mean()
