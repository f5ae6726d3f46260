"""A reproducibility checklist, answered from the results.

The topics are those of the checklists that conferences ask for; the questions are ours. What Deadheat cannot know is
left for the authors to fill in. Names of people and machines are left out, because papers are often reviewed without
the names of their authors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deadheat.paper.methods import split_words
from deadheat.paper.paragraph import evaluation_sentences, evaluations_of, versions
from deadheat.paper.study_paragraph import part_notes, system_names
from deadheat.reporting.markdown import escape
from deadheat.reporting.model import Shown, Signature, number, text
from deadheat.reporting.views import view
from deadheat.reporting.views.search import training
from deadheat.reporting.views.study import seeds_text
from deadheat.reporting.views.study_families import pairs_corrected_together
from deadheat.results.base import Result
from deadheat.results.compare import Comparison
from deadheat.results.data import SplitReport
from deadheat.results.format import DURATION, Scale, correction_words, metric_label, name_of_test, unit_names
from deadheat.results.rank import Ranking, SizeStudy
from deadheat.results.runs import Contrast, Seeds
from deadheat.results.score import Scores, ScoreTable
from deadheat.results.search import SearchResult
from deadheat.results.study import StudyBlock, StudyResult
from deadheat.results.verdict import margin_of
from deadheat.text import join_names, pluralize

UNKNOWN = "not known to Deadheat"
HASH = 12  # characters of a hash that are shown
TEST_SETS, FAILURES, NAMES = 10, 20, 20  # that are listed
SOFTWARE = ("deadheat", "python", "numpy", "scipy", "numba")
RESAMPLED = ("bootstrap", "randomization")  # tests that draw
GIVEN = "Systems from elsewhere"  # not a topic: names that are answered under Systems

Facts: TypeAlias = Iterator[tuple[str, str]]  # topics, and what is known about them

# Topic, question, what is unknown if there is no answer, and what is never known.
QUESTIONS = (
    ("Data", "Which data were used, and how much of them?", "", "where the data come from, their release and licence"),
    ("Splits", "How were the data split, and how often?", "how train, dev and test were made", ""),
    ("Preprocessing", "What was done to the data?", "", "what was done to the data before Deadheat read them"),
    ("Systems", "Which systems were used, with which settings?", "how these were made, with all their settings", ""),
    ("Seeds", "Which seeds were used?", "the seeds of the systems", ""),
    ("Runs", "How many runs does each number rest on?", "how many runs each number is the mean of", ""),
    ("Selection", "What was chosen, and on which part of the data?", "", "how settings were chosen, out of how many"),
    ("Metrics", "Which metrics were used, in which version?", "which metrics, in which version", ""),
    ("Variation", "What is reported besides a single number?", "mean and variation of results", ""),
    ("Tests", "Which tests were made, corrected for how many?", "whether differences were tested elsewhere", ""),
    ("Compute", "How much compute was used?", "how long the systems took to train, and on what machine", ""),
    ("Software", "Which versions of software were used?", "versions of the software", ""),
    ("Code", "Which revision of the code was used?", "the revision of the code", "where code and data are available"),
    ("Test sets", "How often were the test sets evaluated?", "how often they were evaluated; there is no ledger", ""),
    ("Left out", "What failed or was left out?", "", "what was tried and is not reported"),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One question with what is known and what is not."""

    topic: str
    question: str
    known: tuple[str, ...]
    unknown: str = ""

    @property
    def markdown(self) -> str:
        """A heading, the question, and the answers as a list."""
        answers = [f"- {escape(' '.join(line.split()).replace('&', '&amp;'))}" for line in self.known]
        answers += [f"- *{UNKNOWN}*: {self.unknown}"] if self.unknown else []
        return "\n".join([f"## {self.topic}", "", f"*{self.question}*", "", *answers, ""])


@dataclass(frozen=True, slots=True)
class Checklist:
    """All questions with their answers."""

    items: tuple[Item, ...]

    @property
    def markdown(self) -> str:
        """A page to be filled in where something is not known."""
        note = f"Answered from the results. What is *{UNKNOWN}* is for the authors to say."
        return "\n".join(["# Reproducibility", "", note, "", *(item.markdown for item in self.items)])


def checklist(results: Sequence[Result]) -> Checklist:
    """Answer every question as far as the results allow."""
    facts: dict[str, dict[str, None]] = {topic: {} for topic in (*(question[0] for question in QUESTIONS), GIVEN)}
    for topic, fact in _all_facts(results):
        facts[topic][fact] = None
    trained = {label for result in results if isinstance(result, StudyResult) for label in system_names(result)}
    others = [system for system in facts[GIVEN] if system not in trained]
    if others:
        facts["Systems"][f"predictions or scores of {join_names(others, limit=NAMES)}"] = None
    items = []
    for topic, question, missing, never in QUESTIONS:
        lacks = not facts[topic] or (topic == "Systems" and others)
        unknown = " and ".join(filter(None, [missing if lacks else "", never]))
        items.append(Item(topic, question, tuple(facts[topic]), unknown))
    return Checklist(tuple(items))


def _all_facts(results: Sequence[Result]) -> Facts:
    for result in results:
        yield from _facts(result)
        for search in result.searches if isinstance(result, StudyResult) else ():
            yield from _facts(search)
        yield from (("Metrics", f"signature: {block.text}") for block in view(result) if isinstance(block, Signature))
    if not any(isinstance(result, StudyResult) and result.provenance for result in results):
        yield from (("Software", f"deadheat {version}") for version in versions(results))
    yield from (("Test sets", str(sentence).rstrip(".")) for sentence in evaluation_sentences(results))
    for tally in evaluations_of(results):
        yield "Data", f"test set {tally.name}: hash {tally.test_set[:HASH]}"


def _facts(result: Result) -> Facts:
    match result:
        case StudyResult():
            yield from _study(result)
            return
        case SearchResult():
            yield from _search(result)
        case Scores():
            yield from _scores(result)
        case Comparison():
            yield from _comparison(result)
        case Seeds():
            yield from _seeds(result)
        case Contrast():
            yield "Runs", f"{pluralize(result.runs, 'run')} in all"
            yield "Metrics", metric_label(result.score)
            if result.blocks:
                yield "Tests", f"the sign test and Wilcoxon's test over configurations, alpha {result.alpha:g}"
        case Ranking():
            yield "Data", pluralize(result.datasets, "data set")
            yield "Seeds", f"resampling: seed {result.seed}"
            yield from (("Metrics", metric_label(name)) for name in [result.metric] if name)
            ranks = "best, worst, mean and median rank and their standard deviation"
            yield "Variation", f"{ranks} over subsets of the data sets"
            tests = f"Student's t-test over data sets, alpha {result.alpha:g}"
            yield from [("Tests", tests)] * result.has_tests
            yield from ((GIVEN, row.system) for row in result.systems)
        case SizeStudy():
            yield from (("Data", f"{row.name}: {pluralize(row.words, 'word')}") for row in result.sets)
            yield from _scored(result.align, result.settings.seed, [(result.metric, result.metric_name)])
        case SplitReport():
            yield from _split(result.corpus, result.strategy, result.seed, len(result.splits))
        case ScoreTable():
            yield "Data", join_names(result.datasets, limit=NAMES)
            yield "Metrics", metric_label(result.metric)
            yield from ((GIVEN, row.system) for row in result.systems)
    yield from (("Left out", note) for note in getattr(result, "notes", ()))


def _split(corpus: str, strategy: str, seed: int, times: int) -> Facts:
    if times:
        yield "Splits", f"{corpus}: {split_words(strategy, [times], seed)} ({strategy})"


def _test(test: str, alpha: float, correction: str, number: int, noun: str = "test") -> tuple[str, str]:
    return "Tests", f"{test}, alpha {alpha:g}, p-values {correction_words(correction, number, noun=noun)}"


def _equality(margin: float | None, scale: Scale) -> Facts:
    """Within what margin systems were tested for being equal."""
    size = margin_of(margin, scale)
    if size == size:
        unit = " points" if scale.is_percent else ""
        shown = Shown(size, scale.size)
        yield "Tests", f"two one-sided tests of being equal, within {shown}{unit}, by the same confidence intervals"


def _scored(align: str, seed: int | None, metrics: Iterable[tuple[str, str]]) -> Facts:
    """What results about gold and predictions have in common; metrics are labels with names, None is no resampling."""
    if align:
        yield "Preprocessing", f"words of gold and predictions were aligned by {align}"
    if seed is not None:
        yield "Seeds", f"resampling: seed {seed}"
    yield from (("Metrics", f"{label} ({name})") for label, name in metrics)


def _scores(result: Scores) -> Facts:
    settings = result.settings
    yield "Data", f"{pluralize(settings.sentences, 'sentence')}, {pluralize(settings.words, 'word')}"
    seed = settings.seed if settings.interval == "bootstrap" else None
    yield from _scored(settings.align, seed, [(row.metric, row.name) for row in result.rows])
    yield "Variation", f"a confidence interval for every score, over {unit_names(settings.unit)}"
    yield from ((GIVEN, row.system) for row in result.rows)


def _comparison(result: Comparison) -> Facts:
    settings, units = result.settings, unit_names(result.unit)
    seed = settings.seed if settings.test in RESAMPLED else None
    yield from _scored(result.align, seed, [(result.metric, result.metric_name)])
    for dataset in result.datasets if len(result.datasets) > 1 else ():
        documents = f", {pluralize(dataset.documents, 'document')}" if dataset.documents else ""
        yield "Data", f"{dataset.dataset}: {pluralize(dataset.sentences, 'sentence')}{documents}"
        runs = ", ".join(f"{row.system} {row.runs:,}" for row in dataset.systems)
        yield "Runs", f"{dataset.dataset}: runs of {runs}"
    for dataset in result.datasets if len(result.datasets) == 1 else ():
        yield "Runs", f"runs of {', '.join(f'{row.system} {row.runs:,}' for row in dataset.systems)}"
    yield from [("Variation", "standard deviations over runs")] * (result.runs > 1)
    yield "Variation", "confidence intervals of scores and of differences"
    yield _test(f"{name_of_test(result.test)} on {units}", settings.alpha, settings.correction, len(result.pairs))
    if len(result.datasets) > 1:
        yield from _joint_tests(result, "data sets")
    yield from _equality(settings.margin, result.scale)
    yield from ((GIVEN, row.system) for row in result.systems)


def _joint_tests(result: Comparison, noun: str) -> Facts:
    """Tests over several data sets or corpora."""
    number = f"{len(result.datasets):,} {noun}"
    together = f"{result.metric}, {number} together, as they are and as a sample of others like them"
    yield _test(together, result.settings.alpha, result.settings.correction, len(result.pairs), "pair")
    yield "Tests", f"partial conjunctions of the tests on {number}, for every pair"


def _seeds(result: Seeds) -> Facts:
    yield "Metrics", metric_label(result.metric)
    yield "Seeds", f"resampling: seed {result.seed}"
    yield "Variation", "minimum, quartiles, maximum, mean and standard deviation over runs"
    for block in result.blocks:
        runs = ", ".join(f"{row.system} {row.summary.n:,}" for row in block.systems)
        yield "Runs", f"{f'{block.level}: ' if block.level else ''}runs of {runs}"
        yield from ((GIVEN, row.system) for row in block.systems)
        if block.pairs:
            test = f"Welch's test over {block.unit}s"
            yield _test(test, result.alpha, result.correction, len(block.pairs))


def _study(result: StudyResult) -> Facts:
    for corpus in result.corpora:
        yield "Data", f"{corpus.name}: {pluralize(corpus.sentences, 'sentence')}, {pluralize(corpus.words, 'word')}"
    for test_set in result.test_sets[:TEST_SETS]:
        yield "Data", f"test set {test_set.name}: hash {test_set.hash[:HASH]}"
    if len(result.test_sets) > TEST_SETS:
        yield "Data", pluralize(len(result.test_sets) - TEST_SETS, "more test set")
    for label, name in system_names(result).items():
        yield "Systems", f"{label}: {name}, all other settings at their defaults" if name else label
    yield from (("Seeds", f"{system.label}: {_seed_list(system.seeds)}") for system in result.systems)
    if result.cells:
        yield "Runs", f"{pluralize(result.cells, 'run')} planned, {result.missing:,} without a result"
    for block in result.blocks:
        yield from _split(block.corpus, block.split, block.seed, block.splits)
        for single in block.by_metric():
            yield from _block(result, single)
    for comparison in result.comparisons:
        yield from _joint_tests(comparison, "corpora")
    if any(block.pairs for block in result.blocks):
        yield from _equality(result.margin, result.scale)
    if result.hypothesis:
        yield "Tests", f"planned before the study ran: {result.hypothesis}"
    yield from _compute(result)
    selection = part_notes(result, result.parts)
    yield from (("Selection", note) for note in selection)
    yield from (("Left out", note) for note in getattr(result, "notes", ()) if note not in selection)
    yield from _failures(result)


def _failures(result: StudyResult) -> Facts:
    if result.cells and not result.missing and not result.failed:
        yield "Left out", "every run that was planned has a result"
    elif result.missing:
        yield "Left out", f"{pluralize(result.missing, 'run')} without a result"
    for cell in result.failed[:FAILURES]:
        yield "Left out", f"{cell.system} on {cell.corpus}: {cell.status}{f' ({cell.error})' if cell.error else ''}"
    if len(result.failed) > FAILURES:
        yield "Left out", f"{len(result.failed) - FAILURES:,} more failed"
    if result.damaged:
        yield "Left out", f"{pluralize(len(result.damaged), 'run')} whose predictions could not be read"


def _block(result: StudyResult, block: StudyBlock) -> Facts:
    """Systems with the same first metric on the splits of one strategy."""
    runs = ", ".join(f"{row.system} {row.runs:,}" for row in block.ranked)
    yield "Runs", f"{block.corpus}, {block.split_label}, {block.part}: runs of {runs}"
    yield from (("Metrics", f"{result.metric_name(metric)} ({metric})") for metric in block.metrics)
    spread = []
    if any(row.runs > 1 for row in block.systems):
        spread.append("mean, standard deviation, minimum and maximum over runs")
    if any(row.interval for row in block.systems):
        spread.append("95% CI of scores")
    yield from (("Variation", f"{block.corpus}, {block.part}: {words}") for words in spread)
    if not block.pairs:
        return
    tests = "/".join(dict.fromkeys(test for pair in block.pairs for test in pair.test.split("/")))
    test = f"{name_of_test(tests)} on {block.pairs[0].unit}s"
    over = "the corrected resampled t-test of Nadeau and Bengio (2003) over splits" if block.splits > 1 else test
    yield _test(over, result.alpha, result.correction, pairs_corrected_together(result, block), "pair")
    if block.splits > 1:
        yield _test(f"on each split, {test}", result.alpha, result.correction, block.splits, "split")


def _compute(result: StudyResult) -> Facts:
    runs = result.runs
    if runs is not None:
        yield "Compute", f"{pluralize(runs.done, 'run')}: {Shown(runs.cpu_s, DURATION)} of CPU time"
        if runs.wall_s:
            yield "Compute", f"{Shown(runs.wall_s, DURATION)} if run one after the other"
        if runs.peak_mb:
            yield "Compute", str(text("at most {} MB of memory per run", number(runs.peak_mb, 0)))
    for item in result.provenance:
        yield "Compute", f"{item.platform}, {pluralize(item.processors, 'processor')}"
        packages = [f"{name} {item.versions[name]}" for name in SOFTWARE if name in item.versions]
        if packages:
            yield "Software", ", ".join(packages)
        if item.revision:
            yield "Code", f"revision {item.revision}{', with uncommitted changes' if item.changed else ''}"


def _search(result: SearchResult) -> Facts:
    splits = Counter((dataset.corpus, dataset.split, dataset.split_seed) for dataset in result.datasets)
    for split, times in splits.items():
        yield from _split(*split, times)
    for winner in dict.fromkeys(winner.system for dataset in result.datasets for winner in dataset.winners):
        yield "Systems", f"{result.system}, which won on some split: {winner}"
    yield "Seeds", f"{result.system}, every setting of the search: {_seed_list(result.seeds)}"
    yield "Runs", f"search of {result.system}: {training(result)}"
    tried = f"{pluralize(len(result.candidates), 'setting')} of {join_names(result.varied)} ({result.method})"
    picked = f"picked by {result.metric_name} on {result.selected_on}; epochs picked by {join_names(result.setups)}"
    yield "Selection", f"{result.system}: {tried}, {picked}"
    yield "Metrics", f"{result.metric_name} ({result.metric})"
    yield "Variation", "minimum, median and maximum over the settings of a search"
    if result.compared:
        test = "search: the paired bootstrap on sentences"
        yield _test(test, result.alpha, result.correction, len(result.compared), "data set")
    yield "Test sets", f"search of {result.system}: {pluralize(result.tested_networks, 'network')} scored on test"


def _seed_list(seeds: Sequence[int]) -> str:
    return f"{'seed' if len(seeds) == 1 else f'{len(seeds)} seeds,'} {seeds_text(seeds)}"
