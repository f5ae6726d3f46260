"""What the paragraph says about methods and about the best system, with what to cite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deadheat.errors import InputError
from deadheat.paper.references import OF_CORRECTIONS, OF_STRATEGIES, OF_TESTS, cite
from deadheat.report.model import Shown, Text, Words, count, join_text, name, names, p_value, points, text
from deadheat.report.words import correction_words, name_of_test
from deadheat.results.format import COUNT, Scale
from deadheat.results.verdict import State

NOTHING = Text(())
OTHERS = 8  # systems that a sentence names


def plain(words: str) -> Text:
    """Words of ours, as opposed to names from the data."""
    return Text((words,))


def cited_test(test: str, units: str) -> Text:
    """A test, or several of which the data decided, and what it treats as independent."""
    keys = [key for part in test.split("/") for key in OF_TESTS.get(part, ())]
    return Text((name_of_test(test),)) + cite(*keys) + f" on {units}"


def cited_correction(correction: str, tests: int | None, *, noun: str = "test") -> Text:
    """How p-values were corrected."""
    keys = OF_CORRECTIONS.get(correction, ()) if tests != 1 else ()
    return Text((correction_words(correction, tests, noun=noun),)) + cite(*keys)


def cited_splits(strategy: str, splits: Sequence[int], seed: int = 0) -> Text:
    """How a corpus was split, with what to cite; see `split_words`."""
    keys = [OF_STRATEGIES[base] for base in [strategy.partition(".v")[0]] if base in OF_STRATEGIES]
    return split_words(strategy, splits, seed) + cite(*keys)


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
    base, settings = strategy.partition(".v")[0], _settings(strategy)
    if base == "standard":
        return plain("the standard split")
    if base == "ud-tune":
        return plain("the standard split with a third of dev as tune")
    if base == "tune" and settings is not None:
        sizes = [Shown(settings[part], COUNT) for part in ("tune", "dev", "test")]
        total = sum(settings[part] for part in ("tune", "dev", "test"))
        template = "one split in order of the text (the last {} are tune, dev and test: {}, {} and {})"
        return text(template, count(total, "sentence"), *sizes)
    if base not in ("random", "kfold") or settings is None:
        return text("{} by {} (seed {})", _number(splits, "split"), strategy, name(str(seed)))
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
    first = text("{} to ", Shown(splits[0], COUNT)) if len(splits) > 1 else NOTHING
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
    best: str, others: Sequence[tuple[State, Text]], units: str, *, where: Text = NOTHING
) -> Iterator[Text]:
    """What is shown about the best system and the others, one sentence for each state.

    Examples
    --------
    >>> others = [(State.SHOWN, text("B")), (State.TOO_FEW, text("C")), (State.SHOWN, text("D"))]
    >>> for sentence in best_sentences("A", others, "runs"):
    ...     print(sentence)
    A was significantly better than B and D.
    There were too few runs to tell whether A is better than C.
    """
    for state in State:
        conjunction = "and" if state in (State.SHOWN, State.OPPOSITE) else "or"
        opponents = listing([opponent for own, opponent in others if own is state], conjunction)
        if not opponents:
            continue
        match state:
            case State.SHOWN:
                yield text("{}{} was significantly better than {}.", where, best, opponents)
            case State.NOT_SHOWN:
                yield text("{}{} was not shown to be better than {}.", where, best, opponents)
            case State.OPPOSITE:
                yield text("{}{} had the higher score, but the test favours {}.", where, best, opponents)
            case State.TOO_FEW:
                there = where + _opening("there", where)
                template = "{} were too few {} to tell whether {} is better than {}."
                yield text(template, there, plain(units), best, opponents)


def pairs_sentences(states: Sequence[State], units: str, *, where: Text = NOTHING) -> Iterator[Text]:
    """How many of all pairs differ, where there are more than those of the best system."""
    if len(states) < 3:
        return
    shown, few = sum(state in (State.SHOWN, State.OPPOSITE) for state in states), states.count(State.TOO_FEW)
    all_pairs = count(len(states), "pair")
    if few == len(states):
        yield where + text("{} {}, there were too few {} to tell.", _opening("for all", where), all_pairs, plain(units))
        return
    if shown == len(states):
        yield where + text("{} {} differ significantly.", _opening("all", where), all_pairs)
        return
    more = text("; for {} there were too few {} to tell", Shown(few, COUNT), plain(units)) if few else NOTHING
    number = text("{} differ", Shown(shown, COUNT)) + ("s" if shown == 1 else "") if shown else plain("none differs")
    yield where + text("{} {}, {} significantly{}.", _opening("of all", where), all_pairs, number, more)


def _opening(words: str, where: Text) -> Text:
    """Words that open a sentence, unless it says first where."""
    return Text((words if where else f"{words[:1].upper()}{words[1:]}",))


def listing(items: Sequence[Text], conjunction: str = "and") -> Text:
    """Items as a list: `A, B and C`, or `A, B and 7 more`."""
    if len(items) > OTHERS:
        items = [*items[:OTHERS], text("{} more", Shown(len(items) - OTHERS, COUNT))]
    return (
        join_text([join_text(items[:-1], ", "), items[-1]], f" {conjunction} ") if len(items) > 1 else join_text(items)
    )


def system_list(systems: Sequence[str]) -> Text:
    """`3 systems (A, B and C)`."""
    return text("{} ({})", count(len(systems), "system"), names(systems))
