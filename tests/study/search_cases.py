"""Searches for tests: study files, and a world in which the score of every network is known without training it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deadheat.errors import StudyError
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import Search, SearchOutcome, Values, run_search, searches_of
from tests.study.study_cases import corpus_text

FOUR = "system = 'perceptron'\nepochs = [1, 2]\norder = [2, 3]\n"  # settings, in the order of a grid
NAMES = [
    "perceptron.v2(epochs=1)", "perceptron.v2(order=3, epochs=1)",
    "perceptron.v2(epochs=2)", "perceptron.v2(order=3, epochs=2)",
]  # fmt: skip
METRIC = "accuracy.v1"
Score = Callable[[Cell, str], float]


def search_file(
    folder: Path, search: str = FOUR, more: str = "", *, times: int = 1, sizes: str = "40/20/20/20", sentences: int = 60
) -> Path:
    """A study of one search over random splits of a small corpus; `more` stands before all tables."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.conllu").write_text(corpus_text(sentences))
    path = folder / "study.toml"
    path.write_text(
        f"{more}\n[corpora.small]\nfiles = 'small.conllu'\n[splits]\nstrategy = 'random'\nsizes = '{sizes}'\n"
        f"times = {times}\n[engine]\nworkers = 2\n[search]\n{search}"
    )
    return path


def search_of(folder: Path, search: str = FOUR, more: str = "", *, times: int = 1) -> Search:
    """The search of such a study."""
    return searches_of(Plan.of(search_file(folder, search, more, times=times)))[0]


def refusal(path: Path) -> str:
    """The one line that refuses a search."""
    with pytest.raises(StudyError) as refused:
        searches_of(Plan.of(path))
    assert len(str(refused.value).splitlines()) == 1
    return str(refused.value)


class Killed(Exception):
    """The run was stopped."""


@dataclass
class World:
    """Stands for a store and for all training: the score of a network on a part is what `score` says.

    As in a store, a network that has all scores that are asked for is not trained again, and one that is trained again
    has the scores that were asked for last, and no others.
    """

    score: Score
    fails: Callable[[Cell], bool] = lambda _: False
    most: int | None = None  # trainings before it is killed
    values: dict[tuple[str, str, str], float] = field(default_factory=dict)
    trained: list[Cell] = field(default_factory=list)

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        have: dict[str, set[str]] = {}
        for key, part, _ in self.values:
            have.setdefault(key, set()).add(part)
        return [cell for cell in cells if not set(cell.scored) <= have.get(cell.key, set()) and not self.fails(cell)]

    def run(self, cells: Sequence[Cell]) -> None:
        for cell in self.missing(cells):
            if self.most is not None and len(self.trained) >= self.most:
                raise Killed
            self.trained.append(cell)
            self.values = {place: value for place, value in self.values.items() if place[0] != cell.key}
            self.values |= {(cell.key, part, METRIC): self.score(cell, part) for part in cell.scored}

    def run_plan(self, search: Search) -> SearchOutcome:
        return run_search(search, self.run, self.read)

    def read(self) -> Values:
        return self.values

    @property
    def looks(self) -> list[Cell]:
        """Networks that were scored on test, one by one."""
        return [cell for cell in self.trained if "test" in cell.scored]


def by_setting(*scores: float) -> Score:
    """The same score on every part, by the number of the settings in the grid."""
    return lambda cell, part: scores[NAMES.index(cell.system)]
