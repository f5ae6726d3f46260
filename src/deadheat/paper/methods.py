"""What the paragraph says about methods and about the best system, and the publications it cites."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from deadheat.errors import InputError
from deadheat.registry import base_name
from deadheat.reporting.model import (
    Citation,
    Text,
    Words,
    count,
    join_text,
    listing,
    names,
    p_value,
    points,
    size_of,
    text,
)
from deadheat.results.format import NAME, Scale, correction_words, name_of_test
from deadheat.results.verdict import State, margin_of
from deadheat.stats.paired import CLUSTERED_T
from deadheat.text import capitalize

NOTHING = Text(())
# What is said about the best system and those against which the evidence is in a state, and how these are joined.
OUTCOMES = {
    State.SHOWN: ("{}{} was significantly better than {}.", "and"),
    State.EQUAL: ("{}{} was equal within the margin to {}.", "and"),
    State.NOT_SHOWN: ("{}{} was not told apart from {}.", "or"),
    State.OPPOSITE: ("{}{} had the higher score, but the test favours {}.", "and"),
    State.TOO_FEW: ("{}{} is better than {}.", "or"),
}

# What to cite for tests, corrections, strategies to split a corpus, and systems, by their names.
OF_TESTS = {
    "mcnemar-midp": ("mcnemar-1947", "fagerland-etal-2013"),
    "mcnemar-exact": ("mcnemar-1947",),
    "bootstrap": ("efron-1979",),
    "randomization": ("noreen-1989",),
    "wilcoxon": ("wilcoxon-1945",),
}
OF_CORRECTIONS = {"holm": ("holm-1979",), "bh": ("benjamini-hochberg-1995",)}
OF_STRATEGIES = {
    "random": "gorman-bedrick-2019",
    "tune": "van-der-goot-2021",
    "ud-tune": "van-der-goot-2021",
    "seq": "van-der-goot-etal-2024",
    "rand": "van-der-goot-etal-2024",
    "rand-seq": "van-der-goot-etal-2024",
}
OF_SYSTEMS = {
    "hmm": "brants-2000",
    "perceptron": "collins-2002",
    "loglinear": "toutanova-etal-2003",
    "lookahead": "tsuruoka-etal-2011",
}
_ENTRIES = files("deadheat.paper").joinpath("references.bib").read_text("utf-8").strip().split("\n\n")
REFERENCES = {entry.partition("{")[2].partition(",")[0]: entry for entry in _ENTRIES}


def cite(*keys: str) -> Text:
    """A citation, with the space before it; nothing where there is nothing to cite.

    Examples
    --------
    >>> print("Holm's method", cite("holm-1979", "welch-1947"), ".", sep="")
    Holm's method (Holm, 1979; Welch, 1947).
    """
    unique = tuple(dict.fromkeys(keys))
    label = "; ".join(map(authors_and_year, unique))
    return Text((Citation(label, NAME, " (", ")", unique),)) if unique else Text(())


def cite_each(references: Mapping[str, str], names: Iterable[str]) -> Text:
    """What to cite for strategies or systems, by their names without version and settings."""
    bases = [base_name(name) for name in names]
    return cite(*(references[base] for base in bases if base in references))


def authors_and_year(key: str) -> str:
    """How a publication is cited in plain text."""
    (authors,) = re.findall(r"author = {(.*)},\n", REFERENCES[key])
    names = [name.partition(",")[0] for name in authors.replace(r"{\v{s}}", "š").split(" and ")]
    return f"{names[0] + ' et al.' if len(names) > 2 else ' and '.join(names)}, {key.rpartition('-')[2]}"


def bibtex(keys: Iterable[str]) -> str:
    """The entries of these publications, in order of their keys."""
    return "\n".join(f"{REFERENCES[key]}\n" for key in sorted(set(keys)))


def cited_test(test: str, units: str) -> Text:
    """A test, or several of which the data decided, and what it treats as independent.

    On data sets of one score each, the clustered t-test is Student's.
    """
    if (test, units) == (CLUSTERED_T, "data sets"):
        return text("Student's paired t-test on data sets")
    keys = [key for part in test.split("/") for key in OF_TESTS.get(part, ())]
    return Text((name_of_test(test),)) + cite(*keys) + f" on {units}"


def cited_correction(correction: str, tests: Iterable[int], *, noun: str = "test") -> Text:
    """How p-values were corrected; the number of tests is given where it was the same every time."""
    numbers = set(tests)
    number = numbers.pop() if len(numbers) == 1 else None
    keys = OF_CORRECTIONS.get(correction, ()) if number != 1 else ()
    return Text((correction_words(correction, number, noun=noun),)) + cite(*keys)


def widened(correction: str, tests: Iterable[int]) -> Text:
    """That intervals are as wide as the correction of the p-values asks for."""
    return NOTHING if correction == "none" or set(tests) == {1} else text(", and intervals widened likewise")


def clustered_error(opening: str, units: str, *, runs: bool, several: bool = False) -> Text:
    """Where the standard error of the clustered t-test comes from, and its degrees of freedom.

    Examples
    --------
    >>> print(clustered_error("Its error is", "documents", runs=False))  # doctest: +NORMALIZE_WHITESPACE
    Its error is that of the jackknife over documents (Miller, 1974), on the degrees of freedom of their effective
    number (Kish, 1965).
    """
    error = text(f"{opening} that of the jackknife over {units}") + cite("miller-1974")
    error += " and of the variance over runs" if runs else ""
    effective = text("their effective number" if not runs else f"the effective number of {units}") + cite("kish-1965")
    if runs or several:
        freedom = text("Satterthwaite's degrees of freedom") + cite("satterthwaite-1946")
        return error + ", on " + freedom + ", with those of " + effective + "."
    return error + ", on the degrees of freedom of " + effective + "."


def margin_sentences(margin: float | None, scale: Scale) -> Iterator[Text]:
    """When two systems are equal; nothing where there is no margin."""
    size = margin_of(margin, scale)
    if not math.isnan(size):
        unit = " points" if scale.is_percent else ""
        words = "By two one-sided tests{}, two systems are equal if the interval of their difference is within {}"
        yield text(words, cite("schuirmann-1987"), size_of(size, scale)) + f"{unit}."


def cited_splits(strategy: str, splits: Sequence[int], seed: int = 0) -> Text:
    """How a corpus was split, with what to cite; see `split_words`."""
    return split_words(strategy, splits, seed) + cite_each(OF_STRATEGIES, [strategy])


def split_words(strategy: str, splits: Sequence[int], seed: int = 0) -> Text:
    """How a corpus was split; `splits` are the different numbers of splits that the strategy made.

    Examples
    --------
    >>> print(split_words("random.v1(unit='document', stratify='genre')", [20]))
    20 random splits by document (80/10/10 by words, stratified by genre; seed 0)
    >>> print(split_words("random.v1", [1], seed=3), split_words("mine.v1", [2, 3]), sep=", ")
    one random split by sentence (80/10/10 by sentences; seed 3), 2 to 3 splits by mine.v1 (seed 0)
    >>> print(split_words("tune.v1(tune=300, dev=300)", [1]))
    one split in order of the text (the last 1,600 sentences are tune, dev and test: 300, 300 and 1,000)
    """
    base, settings = base_name(strategy), _settings(strategy)
    if base == "standard":
        return text("the standard split")
    if base == "ud-tune":
        return text("the standard split with a third of dev as tune")
    if base == "tune" and settings is not None:
        sizes = [settings[part] for part in ("tune", "dev", "test")]
        template = "one split in order of the text (the last {} are tune, dev and test: {}, {} and {})"
        return text(template, count(sum(sizes), "sentence"), *sizes)
    if base not in ("random", "kfold") or settings is None:
        return text("{} by {} (seed {})", _number(splits, "split"), strategy, str(seed))
    unit = f"blocks of {settings['block']} sentences" if settings["unit"] == "block" else settings["unit"]
    strata = text(", stratified by {}", settings["stratify"]) if settings["stratify"] else NOTHING
    if base == "kfold":
        folds = f" of {settings['folds']}-fold cross-validation by {unit} (seed {seed}"
        return _number(splits, "split") + folds + strata + ")"
    from deadheat.splits.strategy import measure_of, parse_sizes

    measure = measure_of(parse_sizes(settings["sizes"]), "sentences" if settings["unit"] == "sentence" else "words")
    made = _number(splits, "random split") + f" by {unit} ({settings['sizes']} by {measure}"
    return made + strata + f"; seed {seed})"


def _number(splits: Sequence[int], noun: str) -> Text:
    if list(splits) == [1]:
        return Text((f"one {noun}",))
    first = text("{} to ", splits[0]) if len(splits) > 1 else NOTHING
    return first + text("{}", count(splits[-1], noun))


def _settings(strategy: str) -> Mapping[str, Any] | None:
    """All settings of a strategy, defaults included; None if it is not registered."""
    from deadheat.splits import STRATEGIES

    try:
        return STRATEGIES.make(strategy).settings
    except InputError:
        return None


def evidence_text(
    opponent: str,
    difference: float,
    scale: Scale,
    p: float,
    *,
    statistic: str = "",
    interval_text: Text = NOTHING,
    remark: Text = NOTHING,
) -> Text:
    """An opponent with the evidence: `B (+1.00 points, p = 0.2000)`."""
    parts: list[Words] = []
    if not math.isnan(difference):
        parts.append(text("{}", points(difference, scale)) + (" points" if scale.is_percent else "") + statistic)
    parts += [interval_text] if interval_text else []
    if not math.isnan(p):
        parts.append(text("{}", p_value(p)))
    evidence = join_text(filter(None, [join_text(parts, ", "), remark]), "; ")
    return text("{} ({})", opponent, evidence) if evidence else text("{}", opponent)


def best_sentences(
    best: str,
    others: Sequence[tuple[State, Text]],
    units: str,
    *,
    where: Text = NOTHING,
    shown: str = "was significantly better",
) -> Iterator[Text]:
    """What is shown about the best system and the others, one sentence for each state.

    `shown` is what a difference that is shown means.

    Examples
    --------
    >>> others = [(State.SHOWN, text("B")), (State.TOO_FEW, text("C")), (State.SHOWN, text("D"))]
    >>> for sentence in best_sentences("A", others, "runs"):
    ...     print(sentence)
    A was significantly better than B and D.
    There were too few runs to tell whether A is better than C.
    """
    for state in State:
        template, conjunction = OUTCOMES[state]
        template = template.replace("was significantly better", shown)
        opponents = listing([opponent for other, opponent in others if other is state], conjunction)
        opening = where
        if state is State.TOO_FEW:
            opening += _opening("there", where) + f" were too few {units} to tell whether "
        if opponents:
            yield text(template, opening, best, opponents)


def pairs_sentences(states: Sequence[State], units: str, *, where: Text = NOTHING) -> Iterator[Text]:
    """How many of all pairs differ, where there are more than those of the best system."""
    if len(states) < 3:
        return
    shown, few = sum(state in (State.SHOWN, State.OPPOSITE) for state in states), states.count(State.TOO_FEW)
    all_pairs = count(len(states), "pair")
    if few == len(states):
        yield where + text(f"{{}} {{}}, there were too few {units} to tell.", _opening("for all", where), all_pairs)
    elif shown == len(states):
        yield where + text("{} {} differ significantly.", _opening("all", where), all_pairs)
    else:
        more = text(f"; for {{}} there were too few {units} to tell", few) if few else None
        number = text("{} differ", shown) + ("s" if shown == 1 else "") if shown else text("none differs")
        yield where + text("{} {}, {} significantly{}.", _opening("of all", where), all_pairs, number, more)


def _opening(words: str, where: Text) -> Text:
    """Words that open a sentence, unless it says first where."""
    return text(words if where else capitalize(words))


def system_list(systems: Sequence[str]) -> Text:
    """`3 systems (A, B and C)`."""
    return text("{} ({})", count(len(systems), "system"), names(systems))
