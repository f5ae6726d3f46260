"""Run a search to its end: networks for all settings, a pick, and then the winners, which alone see test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deadheat.study.cells import Cell
from deadheat.study.search import Pick, Search, Values

Run = Callable[[Sequence[Cell]], None]  # train what is not there yet
Read = Callable[[], Values]
Missing = Callable[[Sequence[Cell]], list[Cell]]  # those of some networks that are not there yet


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """A search that has come to its end, with the settings that were tried and those that won."""

    search: Search
    picks: tuple[Pick, ...]

    @property
    def cells(self) -> list[Cell]:
        """All networks of the search and of its winners."""
        return [*self.search.first_cells(), *(cell for pick in self.picks for cell in pick.finals)]


def run_search(search: Search, run: Run, read: Read) -> Searched:
    """Train, pick, and train the winners; what is there already is not trained again."""
    if search.entry.method == "optuna":
        from deadheat.study.optuna_search import run_trials

        search = run_trials(search, run, read)
    else:
        run(search.first_cells())
    picks = search.picks(read())
    run(list(dict.fromkeys(cell for pick in picks for cell in pick.finals)))
    return Searched(search, tuple(picks))


def waiting(search: Search, missing: Missing, read: Read) -> tuple[list[Cell], list[Cell]]:
    """What a run would train now: networks of the search, and final ones.

    Of the final ones it is as many as there may be where networks are missing, and winners not known.
    """
    found: list[list[Cell]] = []
    searched = run_search(search, lambda cells: found.append(missing(cells)), read)
    lacking = {cell.key: cell for own in found[:-1] for cell in own}
    undecided = [
        (place, setup)
        for place, setup in search.rounds
        if any(cell.key in lacking for cell in searched.search.cells_of(place, setup))
    ]
    known = [pick for pick in searched.picks if (pick.place, pick.setup) not in undecided]
    won = missing(list(dict.fromkeys(cell for pick in known for cell in pick.finals)))
    finals = [cell for cell in won if cell.key not in lacking]
    return list(lacking.values()), [*finals, *search.stand_ins(undecided)]
