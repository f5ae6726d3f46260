"""Which settings of a system won a search, and what they are worth on test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from deadheat.report.model import (
    Block,
    Cell,
    Column,
    Content,
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
from deadheat.report.views.search_settings import setting_blocks, settings_text, spread_blocks
from deadheat.results.format import COUNT, P_VALUE, points_format, score_format
from deadheat.results.search import DEV, TEST, TUNE, SearchDataset, SearchResult
from deadheat.text import slug

ROWS = 40  # of a table that is not folded
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
    yield from spread_blocks(result)
    yield from setting_blocks(result)


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
        return text(
            "{} makes {} difference on test.", question, Text(("a significant" if after else "no significant",))
        )
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
        "{}{} of the winners of {} on test, with epochs picked by {} and by {}. Differing: searched settings in "
        "which the "
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
            "p of the difference: exact permutation test over data sets, in which the two setups are swapped. The "
            "paired "
            "bootstrap over data sets, as in van der Goot (2021), finds too many differences where data sets are few."
        )
    if result.adds_tune:
        yield Note(
            "Final networks of setup tune learned from train and tune, and dev picked their epoch: they saw more "
            "text than "
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
