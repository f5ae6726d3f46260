"""Which settings of a system won a search, what they are worth on test, and how far settings lie apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from deadheat.charts.distributions import Strip, StripPlot
from deadheat.reporting import model as m
from deadheat.reporting.verdict import claims_table
from deadheat.results.format import COUNT, NAME, P_VALUE, SHARE, number_format
from deadheat.results.search import DEV, TEST, TUNE, SearchDataset, SearchResult, SettingScores
from deadheat.text import slug

ROWS = 40  # of a table that is not folded
STRIPS = 40  # rows of a figure
LISTED = 3000  # settings of all data sets together that are listed one by one
SCORES = {"search_dev": "dev of search", "dev": "dev of final network", TEST: "test"}
GAPS = {"gap": "test - dev of search", "optimism": "dev - test of final network"}
GAP_NAMES = {"gap": "Test minus dev of the search", "optimism": "Dev minus test of the final network"}
LEARNING = {
    TUNE: "networks learned from train, and tune picked the epoch",
    DEV: "networks learned from train and tune, and dev picked the epoch",
}
LAST = "on train and tune, with dev to pick the epoch"


def view(result: SearchResult) -> Iterator[m.Block]:
    """Who won, what test says of it, dev against test, how far settings lie apart, and every setting."""
    yield search_verdict(result)
    yield from search_blocks(result)


def search_verdict(result: SearchResult) -> m.Verdict:
    """What a search comes to, and what it cost."""
    if not result.has_winners:
        return m.Verdict(m.text("The search of {} has no winner: none of its networks has a score.", result.system))
    headline = _headline(result) if len(result.setups) > 1 else _single_headline(result)
    claims = claims_table(result.verdict) if result.verdict else None
    return m.Verdict(headline, claims, tuple(_remarks(result)))


def search_blocks(result: SearchResult) -> Iterator[m.Block]:
    """All but the verdict, the notes and the signature."""
    won = "winning settings" if result.has_winners else "no settings won"
    yield m.Heading(m.text(f"{{}}: {won}", result.system))
    for sentence in protocol(result):
        yield m.explanation("{}", sentence)
    if not result.has_winners:
        return
    # As table 1 of van der Goot (2021): in how many settings winners differ, and their scores on test.
    yield _two_setups(result) if len(result.setups) > 1 else _one_setup(result)
    yield m.Note("Of settings with the same score, the first wins.")
    if len(result.setups) > 1:
        yield m.Note("p is 1 where the winners of both setups are the same network.")
    yield from _gaps(result)
    yield from _spread(result)
    yield from _every_setting(result)


def _headline(result: SearchResult) -> m.Text:
    compared = result.compared
    if not compared:
        return m.text("Setups of {} cannot be compared: no data set has test scores of both.", result.system)
    before, after = result.significant()
    question = m.text("Whether {} or {} picks the epochs of {}", *result.setups[:2], result.system)
    words = f"{{}} is {'' if after else 'not '}shown to make a difference on test"
    if len(compared) == 1:
        return m.text(f"{words}.", question)
    datasets = m.count(len(compared), "data set")
    if after:
        return m.text(f"{words} on {{}} of {{}}.", question, after, datasets)
    more = m.text("; before correction on {}", before) if before else None
    return m.text(f"{words} on any of {{}}{{}}.", question, datasets, more)


def _single_headline(result: SearchResult) -> m.Text:
    """Mean scores of the winners of the only setup, on the data sets that have a score on test."""
    tested, candidates = result.tested, m.count(len(result.candidates), "setting")
    if not tested:
        return m.text("{} of {} were searched, but no winner has a score on test.", candidates, result.system)
    lacking = len(result.datasets) - len(tested)
    return m.text(
        "The best of {} of {} on {} have a mean {} of {} on dev in the search and of {} on test ({}{}).",
        candidates,
        result.system,
        result.selected_on,
        result.metric_name,
        *(m.score(result.mean(result.setups[0], quantity, tested), result.scale) for quantity in ("search_dev", TEST)),
        m.count(len(tested), "data set"),
        m.text("; {} more without a score on test", m.count(lacking, "data set")) if lacking else None,
    )


def _remarks(result: SearchResult) -> Iterator[m.Text]:
    differing = [dataset.differing for dataset in result.datasets if dataset.differing is not None]
    if differing:
        changed, total = sum(number > 0 for number in differing), m.count(len(differing), "data set")
        yield m.text("The winning settings differ on {} of {}.", changed, total)
    for quantity, name in GAP_NAMES.items():
        means = []
        for setup in result.setups:
            mean = result.mean(setup, quantity)
            where = m.text(" where {} picked epochs", setup) if len(result.setups) > 1 else None
            means.append(m.text("{}{}", "unknown" if math.isnan(mean) else m.points(mean, result.scale), where))
        test, over = result.difference(quantity), None
        if test is not None and not math.isnan(test.p):
            sure = "is significant" if test.p <= result.alpha else "is not significant"
            gap, datasets = m.points(test.difference, result.scale), m.count(test.datasets, "data set")
            over = m.text(f"; the difference of {{}} {sure} over {{}} ({{}})", gap, datasets, m.p_value(test.p))
        yield m.text(f"{name}, on average: {{}}{{}}.", m.join_text(means, " and "), over)
    yield m.text("Cost: {}; {} scored on test.", training(result), m.count(result.tested_networks, "network"))


def training(result: SearchResult) -> m.Text:
    """How many networks a search trained, and how many failed."""
    failed = m.text(", {} failed", result.failed) if result.failed else None
    finals = m.text(", {} failed", m.count(result.failed_finals, "final network")) if result.failed_finals else None
    networks = (m.count(result.trained, "network"), m.count(len(result.candidates), "setting"))
    return m.text("{} for {}{}{}", *networks, failed, finals)


def protocol(result: SearchResult) -> Iterator[m.Text]:
    """How the search went, step by step."""
    yield m.text(
        "{} of {} were tried ({}) on {}, each with {}. The settings with the highest {} on {} won.",
        m.count(len(result.candidates), "setting"),
        m.names(result.varied),
        result.method,
        m.count(len(result.datasets), "data set"),
        m.count(len(result.seeds), "seed"),
        result.metric_name,
        result.selected_on,
    )
    learning = "; ".join(f"in setup {setup}, {LEARNING[setup]}" for setup in result.setups)
    final = _final_training(result) if result.has_winners else ""
    yield m.text(f"{learning[:1].upper()}{learning[1:]}.{final}")


def _final_training(result: SearchResult) -> str:
    """How the final networks of the winners were trained, as a sentence."""
    again = {setup: LAST if setup == TUNE and result.adds_tune else "as in the search" for setup in result.setups}
    how = again[result.setups[0]]
    if len(set(again.values())) > 1:
        how = " and ".join(f"those of setup {setup} {words}" for setup, words in again.items())
    if not result.all_tested:
        return f" The winners were then trained once more, {how}, and only then scored on test."
    tested = " All networks of the search were scored on test"
    if result.retrained == result.setups:
        return f"{tested}; the winners were then trained once more, {how}, and scored on test too."
    if result.retrained:
        tested += f", and those of the winners of setup {DEV} are the final ones"
        return f"{tested}; the winners of setup {TUNE} were then trained once more, {LAST}, and scored on test too."
    tested += ", and those of the winners are the final ones"
    if result.adds_tune:
        tested += f"; for setup {TUNE} they are the networks with the same settings in setup {DEV}"
    return f"{tested}."


def _winner_settings(dataset: SearchDataset, setup: str) -> str | None:
    winner = dataset.winner(setup)
    return None if winner is None else settings_text(winner.settings)


def _one_setup(result: SearchResult) -> m.Table:
    (setup,) = result.setups
    rows: list[m.Row] = [
        (dataset.name, _winner_settings(dataset, setup), *(dataset.value(setup, quantity) for quantity in SCORES))
        for dataset in result.datasets
    ]
    if len(rows) > 1:
        tested = result.tested
        some = 0 < len(tested) < len(rows)
        label = m.text("mean of {} with test", m.count(len(tested), "data set")) if some else "mean"
        rows.append((label, "", *(result.mean(setup, quantity, tested) for quantity in SCORES)))
    columns = (*m.columns(NAME, "data set", "winner"), *m.columns(result.scale.score, *SCORES.values()))
    caption = m.text(
        f"{{}}{result.scale.unit} of the settings of {{}} that won on {{}}, of {{}}; {{}} picked epochs.",
        result.metric_name,
        result.system,
        result.selected_on,
        m.count(len(result.candidates), "setting"),
        setup,
    )
    return m.Table(columns, rows, slug("search", result.system), caption, labels=2, folded=len(rows) > ROWS)


def _two_setups(result: SearchResult) -> m.Table:
    setups, scale = result.setups[:2], result.scale
    rows: list[m.Row] = []
    for dataset in result.datasets:
        settings = (_winner_settings(dataset, setup) for setup in setups)
        varied = None if dataset.differing is None else m.text("{} of {}", dataset.differing, len(result.varied))
        first, second = (dataset.value(setup, TEST) for setup in setups)
        numbers = first, second, first - second, dataset.p, dataset.p_corrected
        rows.append((dataset.name, *settings, varied, *numbers))
    over = result.difference(TEST)
    if over is not None and len(rows) > 1:
        rows.append(("over data sets", "", "", "", over.first, over.second, over.difference, over.p, None))
    columns = m.columns(NAME, "data set", *(f"winner, {setup}" for setup in setups), "differing")
    columns += m.columns(scale.score, *(f"test, {setup}" for setup in setups))
    columns += [m.Column("difference", scale.difference), *m.columns(P_VALUE, "p", f"p ({result.correction})")]
    caption = m.text(
        f"{{}}{scale.unit} of the winners of {{}} on test, with epochs picked by {{}} and by {{}}. Differing: searched "
        "settings in which the winners differ. p: paired bootstrap over the sentences of test{}; over data sets, the "
        "exact permutation test.",
        result.metric_name,
        result.system,
        *setups,
        m.text(", by the first seed ({})", result.seeds[0]) if len(result.seeds) > 1 else None,
    )
    return m.Table(columns, rows, slug("search", result.system), caption, labels=3, folded=len(rows) > ROWS)


def _gaps(result: SearchResult) -> Iterator[m.Block]:
    """As table 3 of the paper: test against dev of the search, and dev against test of the final network."""
    setups, several = result.setups, len(result.setups) > 1
    pairs = [(quantity, setup) for quantity in GAPS for setup in setups]
    rows: list[m.Row] = [
        (dataset.name, *(dataset.value(setup, quantity) for quantity, setup in pairs)) for dataset in result.datasets
    ]
    if len(rows) > 1:
        rows.append(("mean", *(result.mean(setup, quantity) for quantity, setup in pairs)))
    if several:
        tests = [result.difference(quantity) for quantity in GAPS]
        for label, field in (("p of the difference", "p"), ("p by bootstrap", "p_bootstrap")):
            p_values = [math.nan if test is None else getattr(test, field) for test in tests]
            rows.append((label, *(cell for p in p_values for cell in (None, m.Cell(p, format=P_VALUE)))))
    yield m.Heading(m.text("{}: dev and test", result.system))
    yield m.explanation(
        "Picking the best of many settings on dev makes dev look better than it is; only test scores are free of that."
        if result.selected_on == DEV
        else "Tune picked epochs and settings, so that dev is a fair estimate for the networks of the search."
    )
    if several:
        yield _winner_scores(result)
    headings = [f"{GAPS[quantity]}{f', {setup}' if several else ''}" for quantity, setup in pairs]
    columns = (m.Column("data set"), *m.columns(result.scale.difference, *headings))
    words = f"Differences of {{}} for winners of {{}}{result.scale.in_points}."
    caption = m.text(words, result.metric_name, result.system)
    name = slug("search", result.system, "gaps") if several else ""
    yield m.Table(columns, rows, name, caption, folded=len(rows) > ROWS, detail=several)
    if several:
        yield m.Note(
            "p of the difference: exact permutation test over data sets, in which the two setups are swapped. The "
            "paired bootstrap over data sets, as in van der Goot (2021), finds too many differences where data sets "
            "are few."
        )
    if result.adds_tune:
        yield m.Note(
            "Final networks of setup tune learned from train and tune, and dev picked their epoch: they saw more text "
            "than the networks of the search, and their dev score is no longer independent."
        )


def _winner_scores(result: SearchResult) -> m.Table:
    """The scores of every winner, one row per setup."""
    rows: list[m.Row] = [
        (dataset.name, setup, *(dataset.value(setup, quantity) for quantity in (*SCORES, *GAPS)))
        for dataset in result.datasets
        for setup in result.setups
    ]
    scores = m.columns(result.scale.score, *SCORES.values()) + m.columns(result.scale.difference, *GAPS.values())
    columns = (*m.columns(NAME, "data set", "epochs by"), *scores)
    caption = m.text("Winners of {}.", result.system)
    return m.Table(columns, rows, caption=caption, labels=2, folded=len(rows) > ROWS)


def settings_text(settings: Mapping[str, str]) -> str:
    """Settings with their values: `epochs=4, order=2`."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _spread(result: SearchResult) -> Iterator[m.Block]:
    """How settings are spread on dev, and on test where all were tested."""
    tested, form = result.all_tested, result.scale.score
    rows: list[m.Row] = []
    for dataset, scores in _scored(result):
        best = None if scores.best_on_test is None else "yes" if scores.best_on_test else "no"
        on_test = (*_extremes(scores.test), scores.wins_test, best, scores.rho) if tested else ()
        on_dev = len(scores.dev), *_extremes(scores.dev), scores.wins_again
        rows.append((dataset.name, scores.setup, *on_dev, *on_test))
    columns = [*m.columns(NAME, "data set", "epochs by"), m.Column("settings", COUNT)]
    columns += [*m.columns(form, "dev min", "dev median", "dev max"), m.Column("wins again", SHARE)]
    if tested:
        columns += [*m.columns(form, "test min", "test median", "test max"), m.Column("wins on test", SHARE)]
        columns += [m.Column("best on test"), m.Column("rho", number_format(2))]
    yield m.Heading(m.text("{}: how far settings lie apart", result.system))
    yield m.explanation(
        "Each dot is one setting, the mean of its seeds; the diamond is the winner. Where dots lie close together, the "
        "winner is a matter of chance."
    )
    if len(rows) > STRIPS:
        yield m.explanation("The figure has the first {} of {}.", STRIPS, m.count(len(rows), "row"))
    for part in (DEV, TEST) if tested else (DEV,):
        yield m.figure(slug("search", result.system, part), _strips(result, part))
    caption = m.text(f"{{}}{result.scale.unit} of all settings of {{}}.", result.metric_name, result.system)
    yield m.Table(columns, rows, caption=caption, labels=2, folded=len(rows) > ROWS)
    again = "Wins again: probability that another sample of sentences of {} picks the same settings."
    yield m.Note(m.text(again, result.selected_on), detail=False)
    if tested:
        yield m.Note(
            "Wins on test: probability that the settings that win are also the best on test, both parts resampled. "
            "Best on test: whether they are on the data at hand. rho: Spearman's correlation of dev and test over "
            "settings."
        )


def _scored(result: SearchResult) -> Iterator[tuple[SearchDataset, SettingScores]]:
    """Data sets and setups in which some setting has a score."""
    for dataset in result.datasets:
        for scores in dataset.scores:
            if scores.dev:
                yield dataset, scores


def _extremes(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), median(values), max(values)


def _strips(result: SearchResult, part: str) -> StripPlot:
    labels = [settings_text(candidate.settings) for candidate in result.candidates]
    strips = []
    for dataset, scores in _scored(result):
        if values := scores.dev if part == DEV else scores.test:
            name = f"{dataset.name}, by {scores.setup}" if len(result.setups) > 1 else dataset.name
            scaled = tuple(result.scale.factor * value for value in values)
            settings = tuple(labels[number] for number in scores.candidates)
            strips.append(Strip(name, scaled, settings, _winning_index(result, dataset, scores)))
    title = f"{result.system}: settings on {part}, and the one that won on {result.selected_on}"
    return StripPlot(tuple(strips[:STRIPS]), title, f"{result.metric_name}{result.scale.unit}")


def _winning_index(result: SearchResult, dataset: SearchDataset, scores: SettingScores) -> int | None:
    winner = dataset.winner(scores.setup)
    systems = [result.candidates[number].system for number in scores.candidates]
    return systems.index(winner.system) if winner is not None and winner.system in systems else None


def _every_setting(result: SearchResult) -> Iterator[m.Block]:
    """A folded table of every setting for each data set."""
    tables, listed = [], 0
    for dataset in result.datasets:
        table = _settings_table(result, dataset)
        if table.rows and listed + len(table.rows) <= LISTED:
            tables.append(table)
            listed += len(table.rows)
    if not tables:
        return
    yield m.Heading(m.text("{}: every setting", result.system), detail=True)
    yield m.explanation("Scores of {}, each the mean of its seeds.", m.count(len(result.candidates), "setting"))
    if len(tables) < len(result.datasets):
        yield m.explanation("Listed for {} of {}.", len(tables), m.count(len(result.datasets), "data set"))
    yield from tables


def _settings_table(result: SearchResult, dataset: SearchDataset) -> m.Table:
    parts, several = (DEV, TEST) if result.all_tested else (DEV,), len(result.setups) > 1
    values: dict[int, dict[tuple[str, str], float]] = {}
    for scores in dataset.scores:
        for part in parts:
            for number, value in zip(scores.candidates, scores.dev if part == DEV else scores.test, strict=True):
                values.setdefault(number, {})[part, scores.setup] = value
    pairs = [(part, setup) for part in parts for setup in result.setups]
    rows: list[m.Row] = []
    for number, by_pair in sorted(values.items(), key=lambda item: -max(item[1].values())):
        candidate = result.candidates[number]
        won = [winner.setup for winner in dataset.winners if winner.system == candidate.system]
        mark = ", ".join(won) if several else "yes" if won else ""
        settings = [candidate.settings[name] for name in result.varied]
        rows.append((*settings, *(by_pair.get(pair) for pair in pairs), mark))
    headings = [f"{part}, {setup}" if several else part for part, setup in pairs]
    columns = [*m.columns(NAME, *result.varied), *m.columns(result.scale.score, *headings)]
    columns.append(m.Column("won, epochs by" if several else "won"))
    caption = m.text(f"{{}}: every setting, {{}}{result.scale.unit}.", dataset.name, result.metric_name)
    return m.Table(columns, rows, caption=caption, labels=len(result.varied), folded=True, detail=True)
