"""A study of many corpora: every system over all of them, and the corpora that rank systems least as all do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat.charts.chart import Figure
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.pages.section import Section, Table
from deadheat.pages.study_told import Family, Told, is_standard, way
from deadheat.pages.wording import NONE, file_name, listed, shown
from deadheat.stats.rankings import kendall_rows

MOST_WAYS = 3  # ways to split that are shown
UNLIKE = 3  # corpora with figures of their own


@dataclass(frozen=True, slots=True, eq=False)
class Over:
    """The mean scores of systems on corpora, split in one way; NaN where there is none."""

    part: str
    metric: str
    way: str
    families: tuple[Family, ...]  # one a corpus
    systems: tuple[str, ...]  # best first by the average
    means_SD: NDArray[np.float64]

    @property
    def corpora(self) -> list[str]:
        return [family.corpus for family in self.families]

    @property
    def measure(self) -> str:
        return self.families[0].measure

    @property
    def common(self) -> NDArray[np.bool_]:
        """Corpora on which every system has a score; all where there is none of that kind."""
        whole = np.asarray(np.isfinite(self.means_SD).all(axis=0))
        return whole if whole.any() else np.ones(len(self.families), bool)

    @property
    def averages_S(self) -> NDArray[np.float64]:
        return _means(self.means_SD[:, self.common])

    def taus(self) -> NDArray[np.float64]:
        """How like the ranking on each corpus is to that by the average; NaN where not every system has a score."""
        found = np.full(len(self.families), np.nan)
        whole = np.isfinite(self.means_SD).all(axis=0)
        if whole.any() and len(self.systems) > 1:
            found[whole] = kendall_rows(self.means_SD[:, whole].T, self.averages_S)
        return found

    def unlike(self) -> list[tuple[Family, float]]:
        """The corpora that rank systems least as the average does, with their tau; only the way that is shown."""
        taus = self.taus()
        order = [place for place in np.argsort(taus, kind="stable").tolist() if np.isfinite(taus[place])]
        return [(self.families[place], float(taus[place])) for place in order[:UNLIKE]]


def overviews(told: Told, part: str) -> list[Over]:
    """One for every metric that systems are compared by and every way to split, the standard one first."""
    found: dict[tuple[str, str], list[Family]] = {}
    for corpus in told.corpora:
        for family in told.families(corpus, part):
            for block in sorted(family.blocks, key=lambda block: not is_standard(block)):
                found.setdefault((family.metric, way(block)), []).append(replace(family, blocks=(block,)))
    made = [_over(part, metric, name, families) for (metric, name), families in found.items()]
    return made[:MOST_WAYS]


def _over(part: str, metric: str, name: str, families: list[Family]) -> Over:
    rows: dict[str, dict[int, float]] = {}
    for place, family in enumerate(families):
        for each in family.standings(family.blocks[0]):
            if each["mean"] is not None:
                rows.setdefault(each["system"], {})[place] = each["mean"]
    means_SD = np.full((len(rows), len(families)), np.nan)
    for system, row in enumerate(rows.values()):
        means_SD[system, list(row)] = list(row.values())
    unsorted = Over(part, metric, name, tuple(families), tuple(rows), means_SD)
    order = np.argsort(-unsorted.averages_S, kind="stable")
    return replace(unsorted, systems=tuple(list(rows)[place] for place in order), means_SD=means_SD[order])


def _means(values_SD: NDArray[np.float64]) -> NDArray[np.float64]:
    known = np.isfinite(values_SD)
    sums = np.where(known, values_SD, 0).sum(axis=1)
    counts = known.sum(axis=1)
    means: NDArray[np.float64] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return means


def overview_section(told: Told, over: Over) -> Section:
    """The systems over all corpora."""
    averages = over.averages_S
    firsts = _firsts(over)
    first = over.systems[0]
    corpora = f"{len(over.families):,} corpora"
    said = [
        f"On {corpora} ({over.way}), {first} has the highest {over.measure} on {over.part} on average, "
        f"{shown(float(averages[0]), scale=told.scale)}, and the highest of all systems on {firsts[0]:,} of them."
    ]
    if len(over.systems) > 1:
        apart = shown(float(averages[0] - averages[1]), scale=told.scale)
        said.append(f"{over.systems[1]} follows, {apart} behind, and is first on {firsts[1]:,}.")
    taus = over.taus()
    known = taus[np.isfinite(taus)]
    if len(known):
        same = int(np.count_nonzero(known >= 1))
        said.append(
            f"On {same:,} of {len(known):,} corpora the systems stand in the order of the averages. By Kendall's tau "
            f"(1: the same order), the corpora least like the average are {listed(_unlike_text(over))}."
        )
    said.append("A violin shows the mean scores of a system on the corpora; one corpus counts as much as another.")
    figure = Figure(file_name("study", over.part, over.measure, "corpora", over.way), _violins(told, over))
    notes = []
    if not over.common.all():
        whole = int(np.count_nonzero(over.common))
        notes.append(f"Averages are over the {whole:,} corpora on which every system has a score.")
    heading = f"{corpora}: {over.measure} on {over.part}"
    return Section(heading, tuple(said), (figure,), (_summary(told, over), _every(told, over)), tuple(notes))


def _firsts(over: Over) -> list[int]:
    """On how many corpora each system has the highest score, alone or with others."""
    with np.errstate(invalid="ignore"):
        known = np.where(np.isfinite(over.means_SD), over.means_SD, -np.inf)
        best = (known == known.max(axis=0)) & np.isfinite(over.means_SD)
    counts: list[int] = best.sum(axis=1).tolist()
    return counts


def _unlike_text(over: Over) -> list[str]:
    return [f"{family.corpus} ({tau:.3f})" for family, tau in over.unlike()]


def _violins(told: Told, over: Over) -> ViolinPlot:
    rows = zip(over.systems, told.scale * over.means_SD, strict=True)
    samples = tuple(Sample(name, tuple(row[np.isfinite(row)].tolist())) for name, row in rows)
    title = f"{over.measure} on {over.part}: each system over {len(over.families):,} corpora"
    return ViolinPlot(samples, title=title, axis=over.measure + told.in_percent)


def _summary(told: Told, over: Over) -> Table:
    rows = []
    for name, row, average, firsts in zip(over.systems, over.means_SD, over.averages_S, _firsts(over), strict=True):
        known = np.isfinite(row)
        low, high = (
            int(find(np.where(known, row, fill))) for find, fill in ((np.argmin, np.inf), (np.argmax, -np.inf))
        )
        ends = [f"{shown(float(row[place]), scale=told.scale)} ({over.corpora[place]})" for place in (low, high)]
        cells = [shown(float(average), scale=told.scale), *ends, f"{firsts:,}", f"{int(known.sum()):,}"]
        rows.append((name, *(cells if known.any() else [NONE] * 5)))
    header = ("system", "average", "least", "most", "first on", "corpora")
    return Table(header, tuple(rows), caption=f"{over.measure}{told.in_percent} over corpora.")


def _every(told: Told, over: Over) -> Table:
    """Corpora by systems."""
    taus = over.taus()
    rows = []
    for place, corpus in enumerate(over.corpora):
        means = (shown(float(each), scale=told.scale) for each in over.means_SD[:, place])
        rows.append((corpus, *means, shown(float(taus[place]), decimals=3)))
    caption = f"Mean {over.measure}{told.in_percent} on every corpus, and tau with the ranking by the average."
    return Table(("corpus", *over.systems, "tau"), tuple(rows), caption=caption, folded=True)


def unlike_block(told: Told, family: Family) -> Family:
    """A corpus with all the ways to split it."""
    return next(each for each in told.families(family.corpus, family.part) if each.metric == family.metric)
