"""Dev against test, and scores against the size of train, as sections of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadheat.charts.chart import Figure
from deadheat.charts.curves import Curve, CurvePlot, Gap, GapPlot
from deadheat.pages.section import Section, Table
from deadheat.pages.study_overview import Over
from deadheat.pages.study_told import Family, Row, Told, over, way
from deadheat.pages.wording import file_name, shown

DEV, TEST = "dev", "test"
MOST_POINTS = 1500  # runs in a figure; of more, the means of splits are drawn
MOST_NAMES = 8  # systems that a figure tells apart
MOST_ROWS = 30  # of a table that is not folded
APART = 1.25  # how many times as many words of train make another size
READING = (
    "on the line both are the same, and below it test is lower. A system whose settings or epochs were picked on dev "
    "looks better there than it is, and one part of a corpus may be harder than another."
)


def gap_section(told: Told, corpora: Sequence[str]) -> Section | None:
    """What the same runs reach on dev and on test, on some corpora; None where not both are scored."""
    figures, rows, gap_sums = [], [], dict[str, list[float]]()
    for corpus in corpora:
        for family in told.families(corpus, TEST):
            others = [each for each in told.families(corpus, DEV) if each.metric == family.metric]
            if not others:
                continue
            both = _both(family, others[0])
            for dev, test in both:
                rows += _gap_rows(told, family, dev, test, gap_sums)
            if both:
                draw = _gaps(told, family, both)
                figures.append(Figure(family.file("dev-and-test"), draw))
    if not rows:
        return None
    means = {name: sum(each) / len(each) for name, each in gap_sums.items()}
    ordered = sorted(means, key=lambda name: -means[name])
    most = ", ".join(f"{name} {shown(means[name], sign='+')}" for name in ordered[:MOST_NAMES])
    said = (
        f"Scores on dev less those on test, on average over all that the table lists: {most}.",
        f"Each point is a run, by its score on dev and on test; {READING}",
    )
    header = ("corpus", "split", "system", "runs", "dev", "test", "dev less test")
    table = Table(header, tuple(rows), left=3, folded=len(rows) > MOST_ROWS, caption="Means over splits and seeds.")
    notes = tuple(str(note) for note in told.document.get("notes", ()))
    return Section("Dev against test", said, tuple(figures), (table,), notes)


def gap_over_corpora(told: Told, dev: Over, test: Over) -> Section | None:
    """The same over many corpora: a point is a system's mean on one of them."""
    places = {name: place for place, name in enumerate(dev.systems)}
    columns = {corpus: place for place, corpus in enumerate(dev.corpora)}
    points, rows = [], []
    for name, row in zip(test.systems, test.means_SD, strict=True):
        if name not in places:
            continue
        own = [
            Gap(
                name, told.scale * float(dev.means_SD[places[name], columns[corpus]]), told.scale * float(value), corpus
            )
            for corpus, value in zip(test.corpora, row, strict=True)
            if corpus in columns
        ]
        own = [each for each in own if math.isfinite(each.x) and math.isfinite(each.y)]
        differences = [each.x - each.y for each in own]
        if own:
            mean = sum(differences) / len(own)
            ends = (shown(end(differences), sign="+") for end in (min, max))
            rows.append((name, f"{len(own):,}", shown(mean, sign="+"), *ends))
            points.append(own)
    if not rows:
        return None
    draw = _gaps_over(told, test, [each for own in points[:MOST_NAMES] for each in own])
    said = (f"Each point is the mean of a system on one corpus, on dev and on test; {READING}",)
    header = ("system", "corpora", "dev less test, mean", "least", "most")
    figure = Figure(file_name("study", test.measure, "dev-and-test"), draw)
    notes = tuple(str(note) for note in told.document.get("notes", ()))
    return Section("Dev against test", said, (figure,), (Table(header, tuple(rows)),), notes)


def _gaps_over(told: Told, over: Over, points: Sequence[Gap]) -> GapPlot:
    few = f", the first {MOST_NAMES} systems" if len(over.systems) > MOST_NAMES else ""
    x_axis, y_axis = (f"{over.measure} on {part}{told.in_percent}" for part in (DEV, TEST))
    return GapPlot(tuple(points), title=f"{over.measure} on dev and on test{few}", x_axis=x_axis, y_axis=y_axis)


def _both(test: Family, dev: Family) -> list[tuple[Row, Row]]:
    """The blocks of dev and test that are of the same splits."""
    found = {(block["split"], block["seed"]): block for block in dev.blocks}
    pairs = ((found.get((block["split"], block["seed"])), block) for block in test.blocks)
    return [(one, other) for one, other in pairs if one is not None]


def _gap_rows(told: Told, family: Family, dev: Row, test: Row, sums: dict[str, list[float]]) -> list[tuple[str, ...]]:
    on_dev = {each["system"]: each for each in dev["systems"] if each["metric"] == family.metric}
    rows = []
    for each in family.standings(test):
        other = on_dev.get(each["system"])
        if other is None or each["mean"] is None or other["mean"] is None:
            continue
        gap = told.scale * (other["mean"] - each["mean"])
        sums.setdefault(each["system"], []).append(gap)
        means = (shown(one["mean"], scale=told.scale) for one in (other, each))
        rows.append((family.corpus, way(test), each["system"], f"{each['runs']:,}", *means, shown(gap, sign="+")))
    return rows


def _gaps(told: Told, family: Family, both: Sequence[tuple[Row, Row]]) -> GapPlot:
    points = [point for dev, test in both for point in _points(told, family, dev, test)]
    names = list(dict.fromkeys(each["system"] for _, test in both for each in family.standings(test)))[:MOST_NAMES]
    few = f", the first {MOST_NAMES} systems" if len({point.name for point in points}) > MOST_NAMES else ""
    title = f"{family.corpus}: {family.measure} on dev and on test{few}"
    x_axis, y_axis = (f"{family.measure} on {part}{told.in_percent}" for part in (DEV, TEST))
    drawn = sorted((point for point in points if point.name in names), key=lambda point: names.index(point.name))
    return GapPlot(tuple(drawn), title=title, x_axis=x_axis, y_axis=y_axis)


def _points(told: Told, family: Family, dev: Row, test: Row) -> list[Gap]:
    """One for every run, or for every split where runs are not at hand or very many."""
    import polars as pl

    scale = told.scale
    frames = [told.scores_of(block, family.metric) for block in (dev, test)]
    runs = sum(each["runs"] for each in family.standings(test))
    if runs <= MOST_POINTS and all(frame is not None for frame in frames):
        first, second = (
            frame.select("key", "system", "number", "seed", "value") for frame in frames if frame is not None
        )
        joined = first.join(
            second.select("key", pl.col("value").alias("other")), on="key", how="inner", maintain_order="left"
        )
        if joined.height:
            return [
                Gap(name, scale * value, scale * other, f"split {number}, seed {seed}")
                for _, name, number, seed, value, other in joined.iter_rows()
            ]
    on_dev = {each["system"]: each for each in dev["systems"] if each["metric"] == family.metric}
    return [
        Gap(each["system"], scale * value, scale * other, f"split {number}")
        for each in family.standings(test)
        if each["system"] in on_dev and dev["numbers"] == test["numbers"]
        for number, value, other in zip(
            test["numbers"], on_dev[each["system"]]["by_split"], each["by_split"], strict=True
        )
        if value is not None and other is not None
    ]


def learning_section(told: Told, corpora: Sequence[str]) -> Section | None:
    """Scores against the words of train, on corpora that were split into several sizes; None where there are none."""
    figures, rows = [], []
    for corpus in corpora:
        for family in told.families(corpus, told.parts[0]):
            sized = _sized(family)
            if not sized:
                continue
            figures.append(
                Figure(
                    file_name("study", corpus, family.measure, "learning"),
                    _curves(told, family, sized),
                )
            )
            for words, block in sized:
                rows += [
                    (corpus, f"{words:,.0f}", each["system"], shown(each["mean"], scale=told.scale), over(block))
                    for each in family.standings(block)
                ]
    if not figures:
        return None
    said = (
        "The curves say how scores grow with the words of train, on average over splits and seeds; the bands reach "
        "from the least to the most. Ways to split that differ in the size of train may differ in their test sets, so "
        "that small steps may come from these.",
    )
    table = Table(("corpus", "words of train", "system", "mean", "on"), tuple(rows), folded=True)
    return Section("Scores by the size of train", said, tuple(figures), (table,))


def _sized(family: Family) -> list[tuple[float, Row]]:
    """Blocks of one strategy by their mean words of train, the smallest first; none if they hardly differ."""
    strategies: dict[str, list[tuple[float, Row]]] = {}
    for block in family.blocks:
        if block["train_words"]:
            mean = sum(block["train_words"]) / len(block["train_words"])
            strategies.setdefault(block["split"].partition(".v")[0], []).append((mean, block))
    for found in strategies.values():
        found.sort(key=lambda each: each[0])
        if 0 < APART * found[0][0] <= found[-1][0]:
            return found
    return []


def _curves(told: Told, family: Family, sized: Sequence[tuple[float, Row]]) -> CurvePlot:
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for words, block in sized:
        for each in family.standings(block):
            if each["mean"] is not None:
                mean, least, most = (told.scale * each[name] for name in ("mean", "least", "most"))
                found.setdefault(each["system"], []).append((words, mean, least, most))
    best = sorted(found, key=lambda name: -found[name][-1][1])[:MOST_NAMES]
    series = []
    for name in best:
        xs, ys, lows, highs = zip(*found[name], strict=True)
        series.append(Curve(name, xs, ys, lows, highs))
    few = f", the first {MOST_NAMES} systems" if len(found) > MOST_NAMES else ""
    title = f"{family.corpus}, {family.part}: {family.measure} by the words of train{few}"
    y_axis = family.measure + told.in_percent
    return CurvePlot(tuple(series), title=title, x_axis="words of train", y_axis=y_axis, log_x=True)
