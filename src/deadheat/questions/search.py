"""The result of a search: which settings won in which setup, what they are worth on test, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.metrics import Metric
from deadheat.questions.compare_scores import compare_scores
from deadheat.questions.pairwise import pair_p
from deadheat.results.compare import PairwiseSettings
from deadheat.results.format import Scale
from deadheat.results.search import NAN, Candidate, SearchDataset, SearchResult, SettingScores, SetupDifference, Winner
from deadheat.results.verdict import Claim, Evidence, Verdict, state_of
from deadheat.stats.agreement import spearman
from deadheat.stats.corrections import correct_defined
from deadheat.stats.intervals import resampled_sums
from deadheat.study.plan.cells import Cell, CorpusSplit
from deadheat.study.search.search import DEV, TEST, Pick, Search, SearchOutcome, Values, mean_score
from deadheat.study.search.space import Settings
from deadheat.study.store.store import Store
from deadheat.text import pluralize

MIN_DATASETS = 6  # with fewer, all may differ in the same direction by chance in more than 5 of 100 cases
RESAMPLES = 2000


def search_result(searched: SearchOutcome, store: Store, values: Values) -> SearchResult:
    """Read the scores of a search from its store, and compare its setups."""
    search, entry = searched.search, searched.search.entry
    compared = search.plan.study.compare
    datasets = [_dataset(searched, store, values, split) for split in search.plan.corpus_splits]
    corrected = correct_defined([dataset.p for dataset in datasets], compared.correction).tolist()
    datasets = [replace(dataset, p_corrected=p) for dataset, p in zip(datasets, corrected, strict=True)]
    tested = {cell.key for cell in searched.cells if TEST in cell.scored}
    on_test = {key for key, part, _ in values if part == TEST}
    first = {cell.key for cell in search.first_cells()}
    failures = set(store.failed())
    failed, finals = len(first & failures), {cell.key for pick in searched.picks for cell in pick.finals}
    differences = tuple(_differences(datasets, entry.setups))
    scores = [value for dataset in datasets for row in dataset.winners for value in (row.search_dev, row.dev, row.test)]
    scores += [value for dataset in datasets for row in dataset.scores for value in (*row.dev, *row.test)]
    candidates = tuple(Candidate(system, _texts(chosen)) for system, chosen in search.candidates.items())
    names: tuple[str, str, str, str] = (search.label, search.metric.name, search.metric.label, entry.method)
    space = (tuple(entry.setups), tuple(entry.space.varied), candidates, tuple(search.seeds))
    networks = (len(first & {key for key, _, _ in values}), failed, len(finals & failures), len(tested & on_test))
    settings = (entry.tested == "all", compared.alpha, compared.correction)
    keys = tuple(dict.fromkeys(cell.key for cell in searched.cells))
    outcome, scale = (tuple(datasets), differences), Scale.of(scores)
    result = SearchResult(
        *names, *space, *networks, entry.setting, entry.final, *settings, *outcome, scale=scale, keys=keys
    )
    return replace(result, verdict=search_verdict(result), notes=tuple(_notes(result)))


def _texts(settings: Settings) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items()}


def _dataset(searched: SearchOutcome, store: Store, values: Values, split: CorpusSplit) -> SearchDataset:
    search, setups = searched.search, searched.search.entry.setups
    picks = [pick for setup in setups for pick in searched.picks if (pick.corpus_split, pick.setup) == (split, setup)]
    winners = tuple(_winner(pick, values, search.metric) for pick in picks)
    numbers = {system: number for number, system in enumerate(search.candidates)}
    scores = tuple(setting_scores(search, store, values, split, setup, numbers) for setup in setups)
    differing, p = None, NAN
    if len(picks) > 1:
        differing = sum(picks[0].settings[name] != picks[1].settings[name] for name in picks[0].settings)
        if not any(math.isnan(winner.test) for winner in winners):
            p = _p(store, picks[0].finals[0], picks[1].finals[0], search)
    where = (split.corpus, split.split, split.split_seed, split.number)
    return SearchDataset(_name(split, search.plan.corpus_splits), *where, winners, scores, differing, p)


def _name(split: CorpusSplit, splits: Sequence[CorpusSplit]) -> str:
    """The corpus, and what distinguishes the data set from others of that corpus."""
    same = [other for other in splits if other.corpus == split.corpus]
    if len(same) == 1:
        return split.corpus
    if len({(other.split, other.split_seed) for other in same}) == 1:
        return f"{split.corpus} {split.number}"
    seed = f" seed {split.split_seed}" if split.split_seed else ""
    return f"{split.corpus} {split.split.partition('.v')[0]}{seed} {split.number}"


def _winner(pick: Pick, values: Values, metric: Metric) -> Winner:
    scores = [
        mean_score(values, cells, part, metric)
        for cells, part in ((pick.networks, DEV), (pick.finals, DEV), (pick.finals, TEST))
    ]
    return Winner(pick.setup, pick.system, _texts(pick.settings), pick.among, *scores)


def _p(store: Store, first: Cell, second: Cell, search: Search) -> float:
    """A paired bootstrap over the sentences of test; 1 if both are the same network."""
    if first.key == second.key:
        return 1.0
    counts = store.counts([first.key, second.key], part=TEST, metric=search.metric.name)
    settings = PairwiseSettings("bootstrap", alpha=search.plan.study.compare.alpha)
    return pair_p(counts[0], counts[1], search.metric.value, settings)[0]


def setting_scores(
    search: Search, store: Store, values: Values, split: CorpusSplit, setup: str, numbers: Mapping[str, int]
) -> SettingScores:
    """How far settings lie apart on one data set, and how sure it is that the winner is the best of them."""
    tested, selected_on = search.entry.tested == "all", search.entry.setting
    parts = dict.fromkeys((selected_on, DEV, *([TEST] if tested else [])))
    by_part = {part: search.scores(values, split, setup, part) for part in parts}
    systems = [name for name in by_part[DEV] if not any(math.isnan(scores[name]) for scores in by_part.values())]
    if not systems:
        return SettingScores(setup, (), (), (), NAN, NAN, None, NAN)
    scores = {part: np.array([of_part[name] for name in systems]) for part, of_part in by_part.items()}
    rng = np.random.default_rng([search.entry.seed, 2])
    keys = [cell.key for name in systems for cell in search.cells(split, setup, name)]
    picked_B = np.argmax(_resampled(search, store, keys, selected_on, rng), axis=1)
    winner = int(np.argmax(scores[selected_on]))
    wins_test, best, rho = NAN, None, NAN
    if tested:
        dev, test = scores[DEV], scores[TEST]
        test_BS = _resampled(search, store, keys, TEST, rng)
        wins_test = float(np.mean(test_BS[np.arange(RESAMPLES), picked_B] == test_BS.max(axis=1)))
        best = bool(test[winner] == test.max())
        rho = spearman(dev, test) if len(dev) > 1 and np.ptp(dev) and np.ptp(test) else NAN
    candidates, wins = tuple(numbers[name] for name in systems), float(np.mean(picked_B == winner))
    dev_scores, test_scores = (tuple(scores[part].tolist()) if part in scores else () for part in (DEV, TEST))
    return SettingScores(setup, candidates, dev_scores, test_scores, wins, wins_test, best, rho)


def _resampled(
    search: Search, store: Store, keys: Sequence[str], part: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The scores of all settings on resampled sentences of a part: the same sentences for all."""
    counts_RNF = store.counts(keys, part=part, metric=search.metric.name)
    runs, units, fields = counts_RNF.shape
    flat_NX = np.ascontiguousarray(counts_RNF.transpose(1, 0, 2).reshape(units, runs * fields))
    sums = resampled_sums(flat_NX, rng=rng, resamples=RESAMPLES).reshape(RESAMPLES, runs, fields)
    means: NDArray[np.float64] = search.metric.value(sums).reshape(RESAMPLES, -1, len(search.seeds)).mean(axis=2)
    return means


def _differences(datasets: Sequence[SearchDataset], setups: Sequence[str]) -> Iterator[SetupDifference]:
    """The first two setups over data sets: scores of their winners on test, and how far dev was from test."""
    if len(setups) < 2:
        return
    for quantity in (TEST, "gap", "optimism"):
        pairs = [tuple(dataset.value(setup, quantity) for setup in setups[:2]) for dataset in datasets]
        values_D2 = np.array([pair for pair in pairs if not any(map(math.isnan, pair))]).reshape(-1, 2)
        first, second = values_D2.mean(axis=0).tolist() if len(values_D2) else (NAN, NAN)
        p_values = _over_datasets(values_D2)
        yield SetupDifference(quantity, first, second, first - second, len(values_D2), *p_values)


def _over_datasets(values_D2: NDArray[np.float64]) -> tuple[float, float]:
    """P-values of the permutation test, exact unless differences are too fine, and of the paired bootstrap."""
    if len(values_D2) < MIN_DATASETS:
        return NAN, NAN
    if not np.any(values_D2[:, 0] != values_D2[:, 1]):
        return 1.0, 1.0
    columns = zip("ab", 100 * values_D2.T, strict=True)  # in points, which are added up as whole numbers
    table = {name: {str(i): float(f"{x:.8f}") for i, x in enumerate(column)} for name, column in columns}
    try:
        permuted = compare_scores(table, test="permutation-exact")
    except InputError:  # many data sets, and differences too fine to list all permutations
        permuted = compare_scores(table, test="randomization")
    return permuted.pairs[0].p, compare_scores(table, test="bootstrap").pairs[0].p


def search_verdict(result: SearchResult) -> Verdict:
    """Whether what picks the epochs makes a difference on test; nothing is claimed about a single setup."""
    over = result.difference(TEST)
    if over is None or math.isnan(over.difference):
        return Verdict()
    first, second = (f"{result.system} ({setup} picks epochs)" for setup in result.setups[:2])
    if over.difference < 0:
        first, second = second, first
    p, source, count = over.p, "data sets", over.datasets
    if over.datasets == 1:
        p, source, count = result.compared[0].p_corrected, "sentences", 0
    state = state_of(p=p, alpha=result.alpha, direction=abs(over.difference))
    evidence = Evidence(source, state, abs(over.difference), p=p, count=count)
    return Verdict(
        (Claim(first, second, result.metric_name, (evidence,), scale=result.scale, alpha=result.alpha),), systems=2
    )


def _notes(result: SearchResult) -> Iterator[str]:
    if result.failed:
        networks = pluralize(result.failed, "network")
        yield f"{networks} of the search failed; their settings are left out on those data sets"
    lacking = sum(len(dataset.winners) < len(result.setups) for dataset in result.datasets)
    if lacking:
        yield f"{pluralize(lacking, 'data set')} without a winner in every setup: none of their networks has a score"
    if result.failed_finals:
        without = sum(any(math.isnan(winner.test) for winner in dataset.winners) for dataset in result.datasets)
        lack = f"{pluralize(without, 'data set')} {'lacks' if without == 1 else 'lack'} a score on test"
        yield f"{pluralize(result.failed_finals, 'final network')} failed: {lack}"
    tested = len(result.tested)
    if len(result.setups) > 1 and tested < MIN_DATASETS:
        both = "" if tested == len(result.datasets) else " with scores of both setups on test"
        yield f"{pluralize(tested, 'data set')}{both}; expected {MIN_DATASETS} or more for a test over data sets"
    if DEV in result.setups:
        yield "dev picked epochs and settings in setup dev: its scores on dev are too good to compare by"
    if result.adds_tune:
        yield "final networks of setup tune also learned from tune, which may explain part of their gap"
