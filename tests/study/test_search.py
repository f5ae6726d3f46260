"""Which networks a search makes, and which settings win: worked out by hand for every setup."""

from __future__ import annotations

import math
import re
from itertools import product
from pathlib import Path

import pytest

from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import Search, searches_of
from deadheat.study.search.search import tested_cells as cells_to_look_at
from tests.study.search_cases import FOUR, METRIC, NAMES, Score, World, refusal, search_file, search_of

BOTH = "train+tune"


def made_of(cells: list[Cell]) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(cell.learned, cell.tune, cell.scored) for cell in cells}


@pytest.mark.parametrize(
    ("epoch", "tested", "expected"),
    [
        ("tune", "winner", ("", "tune", ("tune", "dev"))),
        ("tune", "all", ("", "tune", ("tune", "dev", "test"))),
        ("dev", "winner", (BOTH, "dev", ("dev",))),
        ("dev", "all", (BOTH, "dev", ("dev", "test"))),
    ],
)
def test_a_setup_says_what_networks_learn_from_what_picks_epochs_and_what_is_scored(
    tmp_path: Path, epoch: str, tested: str, expected: tuple[str, str, tuple[str, ...]]
) -> None:
    search = search_of(tmp_path, f"{FOUR}epoch = '{epoch}'\ntested = '{tested}'\n")
    cells = search.first_cells()
    assert made_of(cells) == {expected}
    assert [cell.system for cell in cells] == NAMES


@pytest.mark.parametrize(
    ("setup", "final", "expected"),
    [
        ("tune", "train", ("", "tune", ("tune", "dev", "test"))),
        ("tune", BOTH, (BOTH, "dev", ("dev", "test"))),
        ("dev", "train", (BOTH, "dev", ("dev", "test"))),  # as in the search: it has learned from tune already
        ("dev", BOTH, (BOTH, "dev", ("dev", "test"))),
    ],
)
def test_winners_learn_from_what_the_study_says(
    tmp_path: Path, setup: str, final: str, expected: tuple[str, str, tuple[str, ...]]
) -> None:
    search = search_of(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\nfinal = '{final}'\n")
    assert made_of(search.final_cells(search.plan.corpus_splits[0], setup, NAMES[0])) == {expected}


def test_networks_learn_from_these_sentences_and_from_no_others(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\n")
    (split,) = search.plan.corpus_splits
    by_tune, by_dev = (search.cells(split, setup, NAMES[0])[0] for setup in ("tune", "dev"))
    parts = {name: set(sentences.tolist()) for name, sentences in search.plan.partition(by_tune).parts.items()}
    assert set(search.plan.training_sentences(by_tune).tolist()) == parts["train"]
    assert set(search.plan.training_sentences(by_dev).tolist()) == parts["train"] | parts["tune"]
    assert sorted(map(len, parts.values())) == [12, 12, 12, 24]
    for cell, part in ((by_tune, "tune"), (by_dev, "dev")):
        assert search.plan.tune_part(search.plan.partition(cell), cell) == part
    assert search.plan.scored_parts(by_tune) == ["tune", "dev"]
    assert search.plan.scored_parts(by_dev) == ["dev"]


def test_there_is_a_network_for_every_setting_seed_split_and_setup(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\nseeds = [3, 5]\n", times=3)
    cells = search.first_cells()
    assert len(cells) == len({cell.key for cell in cells}) == 3 * 2 * 4 * 2
    assert [cell.seed for cell in cells[:4]] == [3, 5, 3, 5]
    assert {cell.number for cell in cells} == {0, 1, 2}
    assert [str(split) for split in search.plan.corpus_splits] == [f"small, random {number}" for number in range(3)]


def test_a_system_without_chance_has_one_seed(tmp_path: Path) -> None:
    assert search_of(tmp_path, "system = 'hmm'\nbeam = [10, 100]\nseeds = 5\n").seeds == [0]
    assert search_of(tmp_path, f"{FOUR}seeds = 3\n").seeds == [0, 1, 2]
    assert search_of(tmp_path, FOUR, "seeds = 2\n").seeds == [0, 1]


def test_the_first_metric_of_the_system_picks_unless_another_is_named(tmp_path: Path) -> None:
    assert search_of(tmp_path).metric.name == METRIC
    assert search_of(tmp_path, f"{FOUR}metric = 'Unknown'\n").metric.name == "unknown.v1"
    assert search_of(tmp_path, f"{FOUR}column = 'xpos'\n").metric.name == "accuracy.v1(column='xpos')"
    assert search_of(tmp_path, f"{FOUR}column = 'xpos'\nmetric = 'accuracy'\n").metric.base == "accuracy"


def values_of(search: Search, setup: str, part: str, scores: list[list[float]]) -> dict[tuple[str, str, str], float]:
    """Scores of the first split: one list of seeds for every setting; what is not a number has no score."""
    (split, *_) = search.plan.corpus_splits
    return {
        (cell.key, part, METRIC): value
        for system, values_by_seed in zip(search.candidates, scores, strict=True)
        for cell, value in zip(search.cells(split, setup, system), values_by_seed, strict=True)
        if not math.isnan(value)
    }


@pytest.mark.parametrize(
    ("text", "scores", "among"),
    [
        ("seeds = 2\n", [[0.9, 0.1], [0.6, 0.6], [0.5, 0.6], [0.2, 0.7]], 4),  # the highest mean over seeds
        ("", [[0.5], [0.7], [0.7], [0.7]], 4),  # the first of equals
        ("seeds = 2\n", [[0.9, math.nan], [0.6, 0.6], [math.nan, math.nan], [0.4, 0.4]], 2),  # a network failed
    ],
)
def test_the_highest_mean_wins(tmp_path: Path, text: str, scores: list[list[float]], among: int) -> None:
    search = search_of(tmp_path, f"{FOUR}{text}")
    (pick,) = search.picks(values_of(search, "tune", "dev", scores))
    assert (pick.system, pick.settings, pick.among) == (NAMES[1], {"epochs": 1, "order": 3}, among)
    assert pick.score == pytest.approx(sum(scores[1]) / len(scores[1]))
    assert [cell.seed for cell in pick.networks] == [cell.seed for cell in pick.finals] == list(range(len(scores[0])))


def test_nobody_wins_where_nothing_has_a_score(tmp_path: Path) -> None:
    search = search_of(tmp_path)
    assert search.pick({}, search.plan.corpus_splits[0], "tune") is None
    assert search.picks({}) == []


def test_the_part_that_picks_can_be_tune(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{FOUR}setting = 'tune'\n")
    values = values_of(search, "tune", "dev", [[0.9], [0.1], [0.1], [0.1]])
    values |= values_of(search, "tune", "tune", [[0.1], [0.1], [0.1], [0.9]])
    (pick,) = search.picks(values)
    assert pick.system == NAMES[3]


def combinations() -> list[str]:
    """Everything that a search can say of its setups, but for what is refused."""
    epochs = ("'tune'", "'dev'", "['tune', 'dev']")
    every = product(epochs, ("dev", "tune"), ("train", BOTH), ("winner", "all"))
    return [
        f"{FOUR}epoch = {epoch}\nsetting = '{setting}'\nfinal = '{final}'\ntested = '{tested}'\n"
        for epoch, setting, final, tested in every
        if setting == "dev" or epoch == "'tune'"
    ]


def won_by(winners: dict[str, int]) -> Score:
    """The settings with these numbers win in these setups, and all others have nothing."""
    return lambda cell, part: float(NAMES.index(cell.system) == winners[cell.tune])


@pytest.mark.parametrize("text", combinations())
def test_the_plan_counts_as_many_final_networks_as_the_worst_winners_need(tmp_path: Path, text: str) -> None:
    search = search_of(tmp_path, text)
    most = 0
    for winners in product(range(4), repeat=2):  # by each setup
        wins = dict(zip(("tune", "dev"), winners, strict=True))
        world = World(won_by(wins))
        world.run_plan(search)
        most = max(most, len(world.trained) - len(search.first_cells()))
    assert len(search.possible_finals()) == most
    looks = [cell for cell in cells_to_look_at(searches_of(search.plan)) if "test" in cell.scored]
    tested = len(search.first_cells()) if "'all'" in text else 0
    assert len(looks) == tested + most


def test_a_split_without_a_tune_part_is_refused_with_its_place(tmp_path: Path) -> None:
    path = search_file(tmp_path, sizes="60/20/20")
    line = path.read_text().splitlines().index("[search]") + 1
    assert refusal(path) == (
        f"{path}:{line}: search: small, random 0 has no part tune; it has train, dev, test; expected sizes of train, "
        "tune, dev and test"
    )


@pytest.mark.parametrize("epoch", ["'dev'", "['tune', 'dev']"])
def test_tune_cannot_pick_settings_of_networks_that_learned_from_it(tmp_path: Path, epoch: str) -> None:
    path = search_file(tmp_path, f"{FOUR}setting = 'tune'\nepoch = {epoch}\n")
    assert re.fullmatch(
        rf'{path}:\d+: search: setting = "tune" selects on training data; expected epoch = "tune"', refusal(path)
    )


def test_a_metric_that_the_study_does_not_have_is_refused(tmp_path: Path) -> None:
    path = search_file(tmp_path, f"{FOUR}metric = 'las'\n")
    assert refusal(path).endswith(
        "search: metric 'las' is not in the study; the study has accuracy.v1, unknown.v1, sentence-accuracy.v1"
    )


@pytest.mark.parametrize(
    ("search", "key", "expected"),
    [
        ("system = 'perceptron'\nepochs = []\n", "epochs", "search: epochs has no values; expected at least one"),
        ("system = 'perceptron'\nepochs = 5\n", "[search]", "search: nothing to search; expected several values"),
        (
            "system = 'perceptron'\nepochs = {low = 5, high = 2}\nmethod = 'random'\n",
            "epochs",
            "search: epochs: low 5, high 2; expected low to be less than high",
        ),
        (
            "system = 'perceptron'\nepochs = {low = 2, high = 5}\n",
            "epochs",
            "search: epochs has a range; expected lists of values for a grid",
        ),
        ("system = 'perceptron'\nepoches = [1, 2]\n", "epoches", "'epoches' is unknown; did you mean 'epochs'?"),
        ("system = 'perceptron'\norder = [2, 9]\n", "order", "order=9"),
        ("system = 'perceptrn'\nepochs = [1, 2]\n", "system", "system 'perceptrn' is unknown; did you mean"),
        (f"{FOUR}metric = 'acuracy'\n", "metric", "metric 'acuracy' is unknown; did you mean 'accuracy'?"),
        (f"{FOUR}epoch = []\n", "epoch =", "search: no part selects epochs; expected tune or dev"),
        (f"{FOUR}seeds = []\n", "seeds", "no seeds; expected at least one"),
        (f"{FOUR}samples = 0\n", "samples", "search.samples: input should be greater than or equal to 1, not 0"),
        (f"{FOUR}tested = 'some'\n", "tested", "search.tested: input should be 'winner' or 'all', not 'some'"),
    ],
)
def test_mistakes_are_told_in_one_line_with_their_place(tmp_path: Path, search: str, key: str, expected: str) -> None:
    path = search_file(tmp_path, search)
    lines = path.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if text.startswith(key))
    message = refusal(path)
    assert message.startswith(f"{path}:{line}: ")
    assert expected in message


def test_a_setting_whose_name_begins_as_another_is_told_apart(tmp_path: Path) -> None:
    search = "system = 'bilstm'\ndropout = [0.1, 0.2]\ndropout_kind = []\n"
    path = search_file(tmp_path, search)
    assert "dropout_kind has no values" in refusal(path)
    assert refusal(path).startswith(f"{path}:{path.read_text().splitlines().index('dropout_kind = []') + 1}: ")


def test_several_searches_are_each_checked(tmp_path: Path) -> None:
    path = search_file(tmp_path)
    path.write_text(path.read_text().replace("[search]", "[[search]]") + "[[search]]\nsystem = 'hmm'\nbeam = [5, 10]\n")
    plan = Plan.of(path)
    assert [search.label for search in searches_of(plan)] == ["perceptron", "hmm"]
    path.write_text(f"{path.read_text()}metric = 'uas'\n")
    line = path.read_text().splitlines().index("system = 'hmm'")
    assert refusal(path).startswith(f"{path}:{line}: search: metric 'uas'")
