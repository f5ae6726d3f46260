"""Which settings of a system won a search, and what they are worth on test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.distributions import Strip, StripPlot
from deadheat.report.latex import slug
from deadheat.report.model import (
    Block,
    Cell,
    Column,
    Content,
    Figure,
    Heading,
    Note,
    Paragraph,
    Shown,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    count,
    join_text,
    names,
    p_value,
    points,
    score,
    text,
)
from deadheat.report.verdict import claims_table
from deadheat.results.format import COUNT, P_VALUE, SHARE, number_format, points_format, score_format
from deadheat.results.search import DEV, TEST, TUNE, SearchDataset, SearchResult, SettingScores

STRIPS = 40  # rows of a figure
ROWS = 40  # of a table that is not folded
LISTED = 3000  # settings of all data sets together that are listed one by one
QUANTITIES = {"gap": "test - dev of search", "optimism": "dev - test of final network"}
LEARNING = {
    TUNE: "networks learned from train, and tune picked the epoch",
    DEV: "networks learned from train and tune, and dev picked the epoch",
}
LAST = "on train and tune, with dev to pick the epoch"


def view(result: SearchResult) -> View:
    """Who won, what test says of it, dev against test, how far settings lie apart, and every setting."""
    return (search_verdict(result), *search_blocks(result), Signature(result.signature))


def search_verdict(result: SearchResult) -> Verdict:
    """What a search comes to, and what it cost."""
    if not result.has_winners:
        return Verdict(text("The search of {} has no winner: none of its networks has a score.", result.system))
    claims = claims_table(result.verdict) if result.verdict else None
    return Verdict(_headline(result), claims, tuple(_remarks(result)))


def search_blocks(result: SearchResult) -> Iterator[Block]:
    """All but the verdict and the signature."""
    if not result.has_winners:
        yield Heading(text("{}: no settings won", result.system))
    else:
        yield Heading(text("{}: winning settings", result.system))
    for sentence in protocol(result):
        yield Paragraph(sentence, detail=True)
    if result.has_winners:
        yield _winners(result)
        yield from _winner_notes(result)
    for note in result.notes:
        yield Note(f"{note[:1].upper()}{note[1:]}.")
    if not result.has_winners:
        return
    yield from _gaps(result)
    yield from _spreads(result)
    yield from _every_setting(result)


def _headline(result: SearchResult) -> Text:
    system, setups = result.system, result.setups
    if len(setups) == 1:
        return _single_headline(result)
    compared = result.compared
    if not compared:
        return text("Setups of {} cannot be compared: no data set has test scores of both.", system)
    before, after = result.significant()
    question = text("Whether {} or {} picks the epochs of {}", *setups[:2], system)
    if len(compared) == 1:
        return text("{} makes {} difference on test.", question, Text(("a significant" if after else "no significant",)))
    of_all = count(len(compared), "data set")
    if after:
        return text("{} makes a significant difference on test on {} of {}.", question, Shown(after, COUNT), of_all)
    more = text(", before correction on {}", Shown(before, COUNT)) if before else Text(())
    return text("{} makes no significant difference on test on any of {}{}.", question, of_all, more)


def _single_headline(result: SearchResult) -> Text:
    """Mean scores of the winners of the only setup, on the data sets that have a score on test."""
    tested = result.with_datasets(result.tested)
    candidates = count(len(result.candidates), "setting")
    if not tested.datasets:
        return text("{} of {} were searched, but no winner has a score on test.", candidates, result.system)
    means = [score(tested.mean(result.setups[0], quantity), result.scale) for quantity in ("search_dev", TEST)]
    lacking = len(result.datasets) - len(tested.datasets)
    more = text("; {} more without a score on test", count(lacking, "data set")) if lacking else Text(())
    return text(
        "The best of {} of {} on {} have a mean {} of {} on dev in the search and of {} on test ({}{}).",
        candidates,
        result.system,
        result.selected_on,
        result.metric_name,
        *means,
        count(len(tested.datasets), "data set"),
        more,
    )


def _remarks(result: SearchResult) -> Iterator[Text]:
    several = len(result.setups) > 1
    differing = [dataset.differing for dataset in result.datasets if dataset.differing is not None]
    if differing:
        yield text(
            "The winning settings differ on {} of {}.",
            Shown(sum(number > 0 for number in differing), COUNT),
            count(len(differing), "data set"),
        )
    for quantity, name in (
        ("gap", "Test minus dev of the search"),
        ("optimism", "Dev minus test of the final network"),
    ):
        means = [
            text(
                "{}{}",
                _points(result.mean(setup, quantity), result),
                text(" where {} picked epochs", setup) if several else Text(()),
            )
            for setup in result.setups
        ]
        sentence = text("{}, on average: {}", Text((name,)), join_text(means, " and "))
        difference = result.difference(quantity)
        if difference is not None and not math.isnan(difference.p):
            sentence += text(
                "; the difference of {} is {}significant over {} ({})",
                points(difference.difference, result.scale),
                Text(("" if difference.p <= result.alpha else "not ",)),
                count(difference.datasets, "data set"),
                p_value(difference.p),
            )
        yield sentence + "."
    yield text("Cost: {}; {} scored on test.", training(result), count(result.tested_networks, "network"))


def _points(value: float, result: SearchResult) -> Shown | Text:
    return Text(("unknown",)) if math.isnan(value) else points(value, result.scale)


def training(result: SearchResult) -> Text:
    """How many networks a search trained, and how many failed."""
    failed = text(", {} failed", Shown(result.failed, COUNT)) if result.failed else Text(())
    finals = text(", {} failed", count(result.failed_finals, "final network")) if result.failed_finals else Text(())
    networks = (count(result.trained, "network"), count(len(result.candidates), "setting"))
    return text("{} for {}{}{}", *networks, failed, finals)


def protocol(result: SearchResult) -> Iterator[Text]:
    """How the search went, step by step."""
    yield text(
        "{} of {} were tried ({}) on {}, each with {}. The settings with the highest {} on {} won.",
        count(len(result.candidates), "setting"),
        names(result.varied),
        result.method,
        count(len(result.datasets), "data set"),
        count(len(result.seeds), "seed"),
        result.metric_name,
        result.selected_on,
    )
    ways = "; ".join(f"in setup {setup}, {LEARNING[setup]}" for setup in result.setups)
    final = final_training(result, {setup: f"setup {setup}" for setup in result.setups})
    yield Text((f"{ways[:1].upper()}{ways[1:]}.{f' {final}' if final else ''}",))


def final_training(result: SearchResult, setup_names: Mapping[str, str]) -> str:
    """How the final networks of the winners were trained, as a sentence."""
    if not result.has_winners:
        return ""
    ways = {setup: LAST if setup == TUNE and result.adds_tune else "as in the search" for setup in result.setups}
    how = ways[result.setups[0]]
    if len(set(ways.values())) > 1:
        how = " and ".join(f"those of {setup_names[setup]} {way}" for setup, way in ways.items())
    if not result.all_tested:
        return f"The winners were then trained once more, {how}, and only then scored on test."
    tested = "All networks of the search were scored on test"
    if result.retrained == result.setups:
        return f"{tested}; the winners were then trained once more, {how}, and scored on test too."
    if result.retrained:
        tested += f", and those of the winners of {setup_names[DEV]} are the final ones"
        again = f"the winners of {setup_names[TUNE]} were then trained once more, {LAST}, and scored on test too"
        return f"{tested}; {again}."
    tested += ", and those of the winners are the final ones"
    if result.adds_tune:
        tested += f"; for {setup_names[TUNE]} they are the networks with the same settings in {setup_names[DEV]}"
    return f"{tested}."


def settings_text(settings: Mapping[str, str]) -> str:
    """Settings with their values: `epochs=4, order=2`."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _winner_text(dataset: SearchDataset, setup: str) -> str | None:
    winner = dataset.winner(setup)
    return None if winner is None else settings_text(winner.settings)


def _winners(result: SearchResult) -> Table:
    """As table 1 of van der Goot (2021): in how many settings winners differ, and their scores on test."""
    return _two_setups(result) if len(result.setups) > 1 else _one_setup(result)


def _one_setup(result: SearchResult) -> Table:
    (setup,) = result.setups
    quantities = ("search_dev", "dev", TEST)
    rows: list[tuple[Content, ...]] = [
        (dataset.name, _winner_text(dataset, setup), *(dataset.value(setup, quantity) for quantity in quantities))
        for dataset in result.datasets
    ]
    if len(rows) > 1:
        tested = result.with_datasets(result.tested)
        some = 0 < len(tested.datasets) < len(rows)
        label = text("mean of {} with test", count(len(tested.datasets), "data set")) if some else "mean"
        source = tested if tested.datasets else result
        rows.append((label, "", *(source.mean(setup, quantity) for quantity in quantities)))
    form = score_format(result.scale)
    headings = ("dev of search", "dev of final network", "test")
    columns = (Column("data set"), Column("winner"), *(Column(heading, form) for heading in headings))
    caption = text(
        "{}{} of the settings of {} that won on {}, of {}; {} picked epochs.",
        result.metric_name,
        Text((result.scale.unit,)),
        result.system,
        result.selected_on,
        count(len(result.candidates), "setting"),
        setup,
    )
    return Table(columns, tuple(rows), slug("search", result.system), caption, labels=2, folded=len(rows) > ROWS)


def _two_setups(result: SearchResult) -> Table:
    setups, several_seeds = result.setups[:2], len(result.seeds) > 1
    rows: list[tuple[Content, ...]] = []
    for dataset in result.datasets:
        tests = [dataset.value(setup, TEST) for setup in setups]
        differing = text("{} of {}", Shown(dataset.differing, COUNT), Shown(len(result.varied), COUNT))
        settings = [_winner_text(dataset, setup) for setup in setups]
        p_values = (dataset.p, dataset.p_corrected)
        rows.append(
            (
                dataset.name,
                *settings,
                None if dataset.differing is None else differing,
                *tests,
                tests[0] - tests[1],
                *p_values,
            )
        )
    over = result.difference(TEST)
    if over is not None and len(rows) > 1:
        rows.append(("over data sets", "", "", "", over.first, over.second, over.difference, over.p, None))
    form = score_format(result.scale)
    columns = (
        Column("data set"),
        *(Column(f"winner, {setup}") for setup in setups),
        Column("differing"),
        *(Column(f"test, {setup}", form) for setup in setups),
        Column("difference", points_format(result.scale)),
        Column("p", P_VALUE),
        Column(f"p ({result.correction})", P_VALUE),
    )
    first_seed = text(", by the first seed ({})", Shown(result.seeds[0], COUNT)) if several_seeds else Text(())
    caption = text(
        "{}{} of the winners of {} on test, with epochs picked by {} and by {}. Differing: searched settings in which the "
        "winners differ. p: paired bootstrap over the sentences of test{}; over data sets, the exact permutation test.",
        result.metric_name,
        Text((result.scale.unit,)),
        result.system,
        *setups,
        first_seed,
    )
    return Table(columns, tuple(rows), slug("search", result.system), caption, labels=3, folded=len(rows) > ROWS)


def _winner_notes(result: SearchResult) -> Iterator[Note]:
    yield Note("Of settings with the same score, the first wins.")
    if len(result.setups) > 1:
        yield Note("p is 1 where the winners of both setups are the same network.")


def _gaps(result: SearchResult) -> Iterator[Block]:
    """As table 3 of the paper: test against dev of the search, and dev against test of the final network."""
    setups, several = result.setups, len(result.setups) > 1
    columns = [(quantity, setup) for quantity in QUANTITIES for setup in setups]
    rows: list[tuple[Content, ...]] = [
        (dataset.name, *(dataset.value(setup, quantity) for quantity, setup in columns)) for dataset in result.datasets
    ]
    if len(rows) > 1:
        rows.append(("mean", *(result.mean(setup, quantity) for quantity, setup in columns)))
    if several:
        differences = [result.difference(quantity) for quantity in QUANTITIES]
        for label, field in (("p of the difference", "p"), ("p by bootstrap", "p_bootstrap")):
            p_values = [math.nan if row is None else getattr(row, field) for row in differences]
            rows.append((label, *(cell for p in p_values for cell in (None, Cell(p, format=P_VALUE)))))
    form = points_format(result.scale)
    headings = [f"{QUANTITIES[quantity]}{f', {setup}' if several else ''}" for quantity, setup in columns]
    yield Heading(text("{}: dev and test", result.system))
    yield Paragraph(
        "Picking the best of many settings on dev makes dev look better than it is; only test scores are free of that."
        if result.selected_on == DEV
        else "Tune picked epochs and settings, so that dev is a fair estimate for the networks of the search.",
        detail=True,
    )
    name = slug("search", result.system, "gaps") if several else ""
    caption = text(
        "Differences of {} for winners of {}{}.", result.metric_name, result.system, Text((_in_points(result),))
    )
    table = (Column("data set"), *(Column(heading, form) for heading in headings))
    if several:
        yield _winner_scores(result)
    yield Table(table, tuple(rows), name, caption, folded=len(rows) > ROWS, detail=several)
    if several:
        yield Note(
            "p of the difference: exact permutation test over data sets, in which the two setups are swapped. The paired "
            "bootstrap over data sets, as in van der Goot (2021), finds too many differences where data sets are few."
        )
    if result.adds_tune:
        yield Note(
            "Final networks of setup tune learned from train and tune, and dev picked their epoch: they saw more text than "
            "the networks of the search, and their dev score is no longer independent."
        )


def _winner_scores(result: SearchResult) -> Table:
    """The scores of every winner, one row per setup."""
    quantities = ("search_dev", "dev", TEST, *QUANTITIES)
    rows: tuple[tuple[Content, ...], ...] = tuple(
        (dataset.name, setup, *(dataset.value(setup, quantity) for quantity in quantities))
        for dataset in result.datasets
        for setup in result.setups
    )
    form, points_form = score_format(result.scale), points_format(result.scale)
    columns = [Column("data set"), Column("epochs by")]
    columns += [Column(heading, form) for heading in ("dev of search", "dev of final network", "test")]
    columns += [Column(heading, points_form) for heading in QUANTITIES.values()]
    return Table(tuple(columns), rows, labels=2, folded=len(rows) > ROWS)


def _in_points(result: SearchResult) -> str:
    return ", in points" if result.scale.is_percent else ""


def _spreads(result: SearchResult) -> Iterator[Block]:
    """How settings are spread on dev, and on test where all were tested."""
    tested = result.all_tested
    rows: list[tuple[Content, ...]] = []
    for dataset in result.datasets:
        for scores in dataset.scores:
            if not scores.dev:
                continue
            row: list[Content] = [dataset.name, scores.setup, len(scores.dev), *_spread(scores.dev), scores.wins_again]
            if tested:
                best = None if scores.best_on_test is None else "yes" if scores.best_on_test else "no"
                row += [*_spread(scores.test), scores.wins_test, best, scores.rho]
            rows.append(tuple(row))
    form = score_format(result.scale)
    columns = [Column("data set"), Column("epochs by"), Column("settings", COUNT)]
    columns += [*(Column(f"dev {name}", form) for name in ("min", "median", "max")), Column("wins again", SHARE)]
    if tested:
        columns += [*(Column(f"test {name}", form) for name in ("min", "median", "max")), Column("wins on test", SHARE)]
        columns += [Column("best on test"), Column("rho", number_format(2))]
    yield Heading(text("{}: how far settings lie apart", result.system))
    yield Paragraph(
        "Each dot is one setting, the mean of its seeds; the diamond is the winner. Where dots lie close together, the "
        "winner is a matter of chance.",
        detail=True,
    )
    shown = sum(bool(scores.dev) for dataset in result.datasets for scores in dataset.scores)
    if shown > STRIPS:
        yield Paragraph(
            text("The figure has the first {} of {}.", Shown(STRIPS, COUNT), count(shown, "row")), detail=True
        )
    for part in (DEV, TEST) if tested else (DEV,):
        yield Figure(Drawing(slug("search", result.system, part), _strips(result, part)))
    caption = text("{}{} of all settings.", result.metric_name, Text((result.scale.unit,)))
    yield Table(tuple(columns), tuple(rows), caption=caption, labels=2, folded=len(rows) > ROWS)
    yield Note(
        text(
            "Wins again: probability that another sample of sentences of {} picks the same settings.",
            result.selected_on,
        ),
        detail=False,
    )
    if tested:
        yield Note(
            "Wins on test: probability that the settings that win are also the best on test, both parts resampled. Best on "
            "test: whether they are on the data at hand. rho: Spearman's correlation of dev and test over settings."
        )


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), median(values), max(values)


def _strips(result: SearchResult, part: str) -> StripPlot:
    labels = [settings_text(candidate.settings) for candidate in result.candidates]
    strips = []
    for dataset in result.datasets:
        for scores in dataset.scores:
            values = scores.dev if part == DEV else scores.test
            if values:
                name = f"{dataset.name}, by {scores.setup}" if len(result.setups) > 1 else dataset.name
                scaled = tuple(result.scale.factor * value for value in values)
                chosen = tuple(labels[number] for number in scores.candidates)
                strips.append(Strip(name, scaled, chosen, _winning_index(result, dataset, scores)))
    title = f"{result.system}: settings on {part}, and the one that won on {result.selected_on}"
    return StripPlot(tuple(strips[:STRIPS]), title, f"{result.metric_name}{result.scale.unit}")


def _winning_index(result: SearchResult, dataset: SearchDataset, scores: SettingScores) -> int | None:
    winner = dataset.winner(scores.setup)
    systems = [result.candidates[number].system for number in scores.candidates]
    return systems.index(winner.system) if winner is not None and winner.system in systems else None


def _every_setting(result: SearchResult) -> Iterator[Block]:
    """A folded table of every setting for each data set."""
    tables, listed = [], 0
    for dataset in result.datasets:
        table = _settings_table(result, dataset)
        if table.rows and listed + len(table.rows) <= LISTED:
            tables.append(table)
            listed += len(table.rows)
    if not tables:
        return
    yield Heading(text("{}: every setting", result.system), detail=True)
    yield Paragraph(
        text("Scores of {}, each the mean of its seeds.", count(len(result.candidates), "setting")), detail=True
    )
    if len(tables) < len(result.datasets):
        some, all_sets = Shown(len(tables), COUNT), count(len(result.datasets), "data set")
        yield Paragraph(text("Listed for {} of {}.", some, all_sets), detail=True)
    yield from tables


def _settings_table(result: SearchResult, dataset: SearchDataset) -> Table:
    parts, several = (DEV, TEST) if result.all_tested else (DEV,), len(result.setups) > 1
    values: dict[int, dict[tuple[str, str], float]] = {}
    for scores in dataset.scores:
        for part in parts:
            for number, value in zip(scores.candidates, scores.dev if part == DEV else scores.test, strict=True):
                values.setdefault(number, {})[part, scores.setup] = value
    columns = [(part, setup) for part in parts for setup in result.setups]
    rows: list[tuple[Content, ...]] = []
    for number, by_column in sorted(values.items(), key=lambda item: -max(item[1].values())):
        candidate = result.candidates[number]
        won = [winner.setup for winner in dataset.winners if winner.system == candidate.system]
        mark = ", ".join(won) if several else "yes" if won else ""
        settings = [candidate.settings[name] for name in result.varied]
        rows.append((*settings, *(by_column.get(column) for column in columns), mark))
    form = score_format(result.scale)
    headings = [f"{part}, {setup}" if several else part for part, setup in columns]
    table = (
        *(Column(name) for name in result.varied),
        *(Column(heading, form) for heading in headings),
        Column("won, epochs by" if several else "won"),
    )
    caption = text("{}: every setting, {}{}.", dataset.name, result.metric_name, Text((result.scale.unit,)))
    return Table(table, tuple(rows), caption=caption, labels=len(result.varied), folded=True, detail=True)
