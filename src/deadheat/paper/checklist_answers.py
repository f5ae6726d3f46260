"""The questions of the checklist, each with how it is answered: what is known, and what is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from deadheat.paper import checklist_search as of_searches
from deadheat.paper.designs import split_words
from deadheat.paper.paragraph_study import systems_of
from deadheat.paper.paragraph_tests import looks_sentences
from deadheat.paper.sentences import listed, numbered
from deadheat.questions.families import first_metrics
from deadheat.questions.method_words import (
    corrected_over_splits,
    corrected_words,
    metric_words,
    named_on_units,
    named_tests,
)
from deadheat.text import pluralize

TRAINED_ON = "was used in training"
HASH = 12  # characters of a hash that tell it from others
SOFTWARE = ("deadheat", "python", "numpy", "scipy", "numba")


@dataclass(frozen=True, slots=True)
class Compute:
    """What runs took."""

    runs: int
    cpu_s: float
    wall_s: float = 0.0  # of all runs one after the other
    peak_mb: float = 0.0  # of the largest


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that answers are taken from."""

    documents: tuple[dict[str, Any], ...]
    provenance: tuple[Mapping[str, Any], ...]
    compute: Compute | None

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """The documents of these kinds."""
        return [document for document in self.documents if document["kind"] in kinds]

    @property
    def signatures(self) -> list[str]:
        return [document["signature"] for document in self.documents if document.get("signature")]

    def searches(self) -> list[dict[str, Any]]:
        """The searches of studies, and those that stand by themselves."""
        return [each for study in self.of("study") for each in study.get("searches") or []] + self.of("search")

    def searched(self, answer: Callable[[dict[str, Any]], list[str]]) -> list[str]:
        """What all searches answer."""
        return [line for search in self.searches() for line in answer(search)]

    def blocks(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every block of every study, with its study."""
        for study in self.of("study"):
            yield from ((study, block) for block in study["blocks"])


Answered: TypeAlias = tuple[list[str], str]
Answer: TypeAlias = Callable[[Evidence], Answered]


def data(evidence: Evidence) -> Answered:
    """Corpora with their sizes, and test sets with their hashes."""
    known = []
    for study in evidence.of("study"):
        for each in study.get("corpora") or []:
            sizes = f"{pluralize(each['sentences'], 'sentence')}, {pluralize(each['words'], 'word')}"
            digest = f", hash {each['hash'][:HASH]}" if each.get("hash") else ""
            known.append(f"{each['corpus']}: {sizes}{digest}")
        tests = study.get("test_sets") or []
        known += [f"test set {each['name']}: hash {each['hash'][:HASH]}" for each in tests[:10]]
        known += [f"{pluralize(len(tests) - 10, 'more test set')}"] if len(tests) > 10 else []
    for document in evidence.documents:
        for each in document["looks"] if isinstance(document.get("looks"), list) else []:
            known.append(f"test set {each['name']}: hash {each['test_set'][:HASH]}")
    for signature in evidence.signatures:
        size = re.search(r"sentences (\d+) \| words (\d+)", signature)
        known += [f"{pluralize(int(size[1]), 'sentence')}, {pluralize(int(size[2]), 'word')}"] if size else []
    known += [f"{pluralize(document['data_sets'], 'data set')}" for document in evidence.of("rank")]
    return known, "where the data come from, their release and their licence"


def splits(evidence: Evidence) -> Answered:
    """How data were split, and how often."""
    known = []
    for _, block in evidence.blocks():
        way = split_words(block["split"], [block["splits"]], seed=block["seed"])
        known.append(f"{block['corpus']}: {way} ({block['split']})")
    for document in evidence.of("split"):
        if "strategy" in document:
            way = split_words(document["strategy"], [document["times"]], seed=document.get("seed", 0))
            known.append(f"{document['corpus']}: {way} ({document['strategy']})")
    known += evidence.searched(of_searches.splits)
    return known, "" if known else "how train, dev and test were made"


def preprocessing(evidence: Evidence) -> Answered:
    """How words of gold and prediction were put side by side."""
    found = [re.search(r"align (\w+)", signature) for signature in evidence.signatures]
    known = [f"words of gold and predictions were aligned by {each[1]}" for each in found if each]
    return known, "what was done to the data before they were given to Deadheat"


def systems(evidence: Evidence) -> Answered:
    """Names with settings, where the systems were trained here."""
    trained = {label: name for study in evidence.of("study") for label, name in systems_of(study).items()}
    known = [f"{label}: {name}, all other settings as by default" if name else label for label, name in trained.items()]
    known += evidence.searched(of_searches.systems)
    named = [row["system"] for each in evidence.of("compare", "rank") for row in each["systems"]]
    named += [row["system"] for each in evidence.of("seeds") for block in each["blocks"] for row in block["systems"]]
    named += [row["file"] for each in evidence.of("score") for row in each["scores"]]
    others = [name for name in dict.fromkeys(named) if name not in trained]
    if others:
        known.append(f"predictions or scores were given of {listed(others, most=20)}")
    unknown = "how these were made, with all their settings" if others or not known else ""
    return known, unknown


def seeds(evidence: Evidence) -> Answered:
    """Seeds of systems and of what is resampled."""
    known = []
    for study in evidence.of("study"):
        for label, own in (study.get("seeds") or {}).items():
            known.append(f"{label}: {'seed' if len(own) == 1 else f'{len(own)} seeds,'} {numbered(own)}")
    known += evidence.searched(of_searches.seeds)
    found = [re.search(r"\| seed (\d+)", signature) for signature in evidence.signatures]
    known += [f"resampling: seed {each[1]}" for each in found if each]
    return known, "" if known else "the seeds of the systems"


def runs(evidence: Evidence) -> Answered:
    """How many runs the numbers rest on."""
    known = []
    for study in evidence.of("study"):
        if study.get("cells"):
            known.append(f"{pluralize(study['cells'], 'run')} planned, {study.get('missing') or 0:,} without a result")
        for block in study["blocks"]:
            firsts = first_metrics(block)
            counts = {row["system"]: row["runs"] for row in block["systems"] if firsts[row["system"]] == row["metric"]}
            told = ", ".join(f"{name} {number:,}" for name, number in counts.items())
            known.append(f"{block['corpus']}, {block['split']}, {block['part']}: runs of {told}")
    known += evidence.searched(of_searches.runs)
    for document in evidence.of("seeds"):
        for block in document["blocks"]:
            told = ", ".join(f"{row['system']} {row['n']:,}" for row in block["systems"])
            where = f"{block['by']}: " if block["by"] else ""
            known.append(f"{where}runs of {told}")
    known += [f"{pluralize(each['runs'], 'run')} in all" for each in evidence.of("contrast") if "runs" in each]
    return known, "" if known else "how many runs each number is the mean of"


def selection(evidence: Evidence) -> Answered:
    """What was chosen on which part."""
    notes = [note for study in evidence.of("study") for note in study.get("notes") or []]
    known = [note for note in notes if TRAINED_ON in note] + evidence.searched(of_searches.selection)
    return known, "how settings were chosen, on which data, and out of how many"


def metrics(evidence: Evidence) -> Answered:
    """Metrics with their versions."""
    named = [metric for _, block in evidence.blocks() for metric in block["metrics"]]
    named += [each["metric"] for each in evidence.of("compare", "size", "rank") if each.get("metric")]
    named += [search["metric"] for search in evidence.searches()]
    versioned = {metric_words(name): name for name in named if ".v" in name}
    known = [f"{label} ({name})" for label, name in versioned.items()]
    known += [label for label in map(metric_words, named) if label not in versioned]
    scores = [row["metric"] for each in evidence.of("score") for row in each["scores"]]
    known += [f"{listed(dict.fromkeys(scores), most=20)}"] if scores else []
    known += [f"column {each['score']}" for each in evidence.of("seeds", "contrast") if not each.get("metric")]
    known += [f"signature: {each}" for each in evidence.signatures]
    return known, "" if known else "which metrics, in which version"


def variation(evidence: Evidence) -> Answered:
    """What stands beside a mean."""
    known = []
    for _, block in evidence.blocks():
        several = any(row["runs"] > 1 for row in block["systems"])
        told = (
            "mean, standard deviation, least and most over runs" if several else "Wilson's 95 % interval of single runs"
        )
        known.append(f"{block['corpus']}, {block['part']}: {told}")
    if evidence.searches():
        known.append("least, median and most over the settings of a search")
    if evidence.of("compare"):
        known.append("bootstrap intervals of scores and of differences")
    if evidence.of("score"):
        known.append("an interval of every score")
    if evidence.of("seeds"):
        known.append("minimum, quartiles, maximum, mean and standard deviation over runs")
    if evidence.of("rank"):
        known.append("best, worst, mean and median rank and their standard deviation over subsets of the data sets")
    return known, "" if known else "mean and variation of results"


def tests(evidence: Evidence) -> Answered:
    """Which tests at which level, corrected for how many."""
    known = []
    for study, block in evidence.blocks():
        names = "/".join(dict.fromkeys(each for pair in block["pairs"] for each in pair["test"].split("/")))
        if names:
            how = corrected_over_splits(study["correction"], block["splits"], len(block["pairs"]))
            known.append(f"{named_on_units(names)}, alpha {study['alpha']:g}, p-values {how}")
    known += evidence.searched(of_searches.tests)
    for each in evidence.of("compare"):
        how = corrected_words(each["correction"], len(each["pairs"]))
        known.append(f"{named_tests(each['test'])} by {each['unit']}, alpha {each['alpha']:g}, p-values {how}")
    for each in evidence.of("seeds"):
        number = {len(block["pairs"]) for block in each["blocks"]}
        if number != {0}:
            how = corrected_words(each["correction"], number.pop() if len(number) == 1 else None)
            known.append(f"Mann-Whitney's test over runs, alpha {each['alpha']:g}, p-values {how}")
    known += ["the sign test and Wilcoxon's test over configurations"] if evidence.of("contrast") else []
    return known, "" if known else "whether differences were tested; Deadheat made no test"


def compute(evidence: Evidence) -> Answered:
    """What runs took, and on what machine."""
    known = []
    if evidence.compute is not None:
        took = evidence.compute
        known.append(f"{pluralize(took.runs, 'run')}: {duration(took.cpu_s)} of CPU time")
        known += [f"{duration(took.wall_s)} if run one after the other"] if took.wall_s else []
        known += [f"at most {took.peak_mb:,.0f} MB of memory a run"] if took.peak_mb else []
    for each in evidence.provenance:
        machine = [str(each["platform"])] if each.get("platform") else []
        machine += [pluralize(each["processors"], "processor")] if each.get("processors") else []
        known += [", ".join(machine)] if machine else []
    return known, "" if evidence.compute is not None else "how long the systems took to train, and on what machine"


def duration(seconds: float) -> str:
    """Hours, or what is better read.

    Examples
    --------
    >>> duration(7200), duration(90), duration(4.2)
    ('2.0 hours', '1.5 minutes', '4.2 seconds')
    """
    for size, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {name}"
    return f"{seconds:.1f} seconds"


def software(evidence: Evidence) -> Answered:
    """Versions of what was used."""
    known = []
    for each in evidence.provenance:
        told = [f"{name} {each[name]}" for name in SOFTWARE if each.get(name)]
        known += [", ".join(told)] if told else []
    if not known:
        found = [re.match(r"deadheat (\S+) \|", signature) for signature in evidence.signatures]
        known = [f"deadheat {each[1]}" for each in found if each]
    return known, "" if known else "versions of the software"


def revision(evidence: Evidence) -> Answered:
    """The revision of the code around the study."""
    known = []
    for each in evidence.provenance:
        if each.get("revision"):
            changed = ", with changes that were not committed" if each.get("changed") else ""
            known.append(f"revision {each['revision']}{changed}")
    return known, "where code and data can be had" if known else "the revision of the code, and where it can be had"


def looks(evidence: Evidence) -> Answered:
    """What the ledger says of the test sets."""
    known = [sentence.text.rstrip(".") for sentence in looks_sentences(list(evidence.documents))]
    known += evidence.searched(of_searches.looks)
    return known, "" if known else "how often the test set was looked at; no ledger was given"


def left_out(evidence: Evidence) -> Answered:
    """What failed, and what notes say."""
    known = []
    for study in evidence.of("study"):
        missing, failed = study.get("missing") or 0, study.get("failed") or []
        if "missing" in study and not missing and not failed:
            known.append("every run that was planned has a result")
        known += [f"{pluralize(missing, 'run')} without a result"] if missing else []
        for each in failed[:20]:
            why = f" ({each['error']})" if each["error"] else ""
            known.append(f"{each['system']} on {each['corpus']}: {each['status']}{why}")
        known += [f"{len(failed) - 20:,} more failed"] if len(failed) > 20 else []
        damaged = study.get("damaged") or []
        known += [f"{pluralize(len(damaged), 'run')} whose predictions could not be read"] if damaged else []
    told = [*evidence.documents, *(search for study in evidence.of("study") for search in study.get("searches") or [])]
    notes = [str(note) for document in told for note in document.get("notes") or []]
    known += [note for note in notes if TRAINED_ON not in note]
    return known, "what was tried and is not reported"


QUESTIONS: tuple[tuple[str, str, Answer], ...] = (
    ("Data", "Which data were used, in which version, and how much of them?", data),
    ("Splits", "How were the data split, and how often?", splits),
    ("Preprocessing", "What was done to the data before training and scoring?", preprocessing),
    ("Systems", "Which systems were used, with which settings?", systems),
    ("Seeds", "Which seeds were used?", seeds),
    ("Runs", "How many runs does each number rest on?", runs),
    ("Selection", "What was chosen by looking at results, and on which part of the data?", selection),
    ("Metrics", "Which metrics were used, in which version?", metrics),
    ("Variation", "What is reported besides a single number?", variation),
    ("Tests", "Which tests were made, at which level, corrected for how many?", tests),
    ("Compute", "What did the experiments take, on what machine?", compute),
    ("Software", "Which versions of software were used?", software),
    ("Code", "Which revision of the code was used?", revision),
    ("Test sets", "How often were the test sets looked at?", looks),
    ("Left out", "What failed or was left out?", left_out),
)
