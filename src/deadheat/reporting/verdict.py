"""The verdict of a result: one sentence, and a table of claims by kinds of evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from deadheat.reporting import model as m
from deadheat.results.format import MISSING, NAME, interval_name
from deadheat.results.verdict import TARGET_POWER, Claim, Evidence, State
from deadheat.results.verdict import Verdict as Claims

TONES = {State.SHOWN: "good", State.OPPOSITE: "bad"}
MARKS = {
    State.SHOWN: "",
    State.EQUAL: m.EQUALS,
    State.NOT_SHOWN: m.DAGGER,
    State.TOO_FEW: m.DOUBLE_DAGGER,
    State.OPPOSITE: m.STAR,
}


CLAIMS = 12  # rows of a table of claims


def verdict_block(verdict: Claims, *, headline: m.Words = "", remarks: Sequence[m.Words] = ()) -> m.Verdict:
    """What claims come to; a `headline` of the caller's takes the place of the sentence about them."""
    table = claims_table(verdict) if verdict else None
    omitted = verdict.omitted + max(0, len(verdict.claims) - CLAIMS)
    return m.Verdict(headline or claims_headline(verdict), table, tuple(remarks), omitted)


def claims_table(verdict: Claims) -> m.Table:
    """One row for each of the first claims, one column for each kind of evidence that they have."""
    verdict = replace(verdict, claims=verdict.claims[:CLAIMS])
    datasets = any(claim.dataset for claim in verdict.claims)
    metrics = len({claim.metric for claim in verdict.claims}) > 1
    rows: list[m.Row] = []
    for claim in verdict.claims:
        evidence = {item.source: item for item in claim.evidence}
        cells = [_cell(claim, evidence[source]) if source in evidence else MISSING for source in verdict.sources]
        name = m.text("{} > {} (planned)" if claim.is_planned else "{} > {}", claim.better, claim.worse)
        rows.append((name, claim.dataset, claim.metric, *cells))
    labels = "higher > lower", "data set" if datasets else "", "metric" if metrics else ""
    columns = m.columns(NAME, *labels, *(f"over {source}" for source in verdict.sources))
    return m.Table(columns, rows, labels=3).without_unnamed()


def _cell(claim: Claim, evidence: Evidence) -> m.Cell:
    """The state of one piece of evidence, with the difference, its interval, and on how many the winner is ahead."""
    equal = evidence.state is State.EQUAL
    words = m.text("equal within {}", m.size_of(evidence.margin, claim.scale)) if equal else evidence.state.value
    words = m.text("{}", words)
    if math.isfinite(evidence.difference):
        words += m.text(": {}", m.points(evidence.difference, claim.scale))
    if math.isfinite(evidence.low) and math.isfinite(evidence.high):
        words += m.text(" {}", m.interval((evidence.low, evidence.high), claim.scale, signed=True))
    if evidence.ahead is not None:
        words += m.text(", ahead on {} of {}", evidence.ahead, evidence.count)
    return m.Cell(words, tone=TONES.get(evidence.state, "muted"))


def mark_meanings(test: str, units: str, *, best: str = "the best") -> tuple[m.Mark, ...]:
    """What the marks behind the scores of systems mean, which were tested against the best one."""
    return (
        m.Mark(m.EQUALS, f"equal to {best} within the margin{test}"),
        m.Mark(m.DAGGER, f"not told apart from {best}{test}"),
        m.Mark(m.DOUBLE_DAGGER, f"too few {units} to show any difference from {best}{test}"),
        m.Mark(m.STAR, f"the test shows it to be better than {best}{test}"),
        m.Mark(m.CIRCLE, f"not tested against {best}"),
    )


def outcome_cell(winner: str, state: State) -> m.Cell:
    """What the test of a pair says, in words; `winner` is empty where neither is shown to be better."""
    return m.Cell(m.text("{} is better", winner), tone="good") if winner else m.Cell(state.value, tone="muted")


def claims_headline(verdict: Claims) -> m.Words:
    """One sentence about all claims: about the pair if there is one, else about the best system of each data set."""
    claims = verdict.claims
    if not claims:
        return "No two systems could be compared."
    planned = next((claim for claim in claims if claim.is_planned), None)
    if planned is not None:
        return m.text("Planned comparison: {}", pair_sentence(replace(planned, dataset="")))
    if len(claims) == 1:
        return pair_sentence(claims[0])
    if len({frozenset((claim.better, claim.worse)) for claim in claims}) == 1:
        return _same_pair(claims)
    if len({(claim.dataset, claim.metric) for claim in claims}) == 1:
        return _leader(verdict)
    return _leaders(verdict)


def _leaders(verdict: Claims) -> m.Text:
    """On how many data sets the same system is shown to be better than the others."""
    by_dataset: dict[tuple[str, str], list[Claim]] = {}
    for claim in verdict.claims:
        by_dataset.setdefault((claim.dataset, claim.metric), []).append(claim)
    leads = [[claim for claim in claims if claim.better == claims[0].better] for claims in by_dataset.values()]
    others = "all others"
    if any(len(claims) < verdict.systems - 1 for claims in leads):
        leads, others = [claims[:1] for claims in leads], "the next best"
    shown = Counter[str]()
    few: list[Claim] = []  # the first claim without enough data, for each data set that has no other reason to be open
    for claims in leads:
        unshown = [claim for claim in claims if not claim.is_shown]
        shown[claims[0].better] += not unshown
        few += unshown[:1] if all(map(_lacks_data, unshown)) else []
    total = m.count(len(by_dataset), _noun(verdict.claims))
    ((best, number),) = shown.most_common(1)
    if len(few) == len(by_dataset):
        words = f"There are too few {{}} to tell on any of {{}} whether one system is better than {others}."
        return m.text(words, _few_sources(few), total)
    if number:
        words = f"{{}} is shown to be better than {others} on {{}} of {{}}{{}}."
        return m.text(words, best, number, total, _too_few(few, "on {}", len(few)))
    partly = any(claim.sources(State.SHOWN) and not claim.is_shown for claims in leads for claim in claims)
    words = f"On none of {{}} is one system shown to be better than {others}{' by all the evidence' * partly}{{}}."
    return m.text(words, total, _too_few(few, "on {}", len(few)))


def _noun(claims: Sequence[Claim]) -> str:
    """What claims about the same systems differ in."""
    return "metric" if len({claim.dataset for claim in claims}) == 1 else "data set"


def _lacks_data(claim: Claim) -> bool:
    """Whether a claim is open only because there are too few data."""
    return {item.state for item in claim.evidence} in ({State.TOO_FEW}, {State.TOO_FEW, State.SHOWN})


def _few_sources(claims: Sequence[Claim]) -> str:
    sources = (source for claim in claims for source in claim.sources(State.TOO_FEW))
    return " or ".join(dict.fromkeys(name.removeprefix("these ").removesuffix(" like these") for name in sources))


def _too_few(claims: Sequence[Claim], where: str, value: m.Text | int) -> m.Text | None:
    """`; there are too few runs to tell on 2`, or nothing."""
    return m.text(f"; there are too few {{}} to tell {where}", _few_sources(claims), value) if claims else None


def pair_sentence(claim: Claim) -> m.Text:
    """A claim and its evidence as a colleague would say it.

    Examples
    --------
    >>> from deadheat.results.verdict import Claim, Evidence, State
    >>> shown = Evidence("sentences", State.SHOWN, 0.0123, 0.004, 0.02, 0.0021)
    >>> print(pair_sentence(Claim("A", "B", "LAS", (shown,))))
    A is better than B by 1.23 points of LAS (95% CI [+0.40, +2.00], p = 0.0021).
    >>> print(pair_sentence(Claim("A", "B", "LAS", (shown,), about_runs=True)))
    This run of A is better than this run of B by 1.23 points of LAS (95% CI [+0.40, +2.00], p = 0.0021).
    >>> equal = Evidence("sentences", State.EQUAL, 0.001, -0.002, 0.004, 0.4, margin=0.005)
    >>> print(pair_sentence(Claim("A", "B", "LAS", (equal,))))
    A dead heat: A and B are equal within 0.50 points of LAS (+0.10, 95% CI [-0.20, +0.40]).
    >>> unshown = Evidence("sentences", State.NOT_SHOWN, 0.004, -0.002, 0.01, 0.18, 900, detectable=0.0085)
    >>> print(pair_sentence(Claim("A", "B", "LAS", (unshown,))))  # doctest: +NORMALIZE_WHITESPACE
    A and B are not told apart: A is ahead by 0.40 points of LAS (95% CI [-0.20, +1.00], p = 0.1800). These sentences
    would show a difference of 0.85 points with power 80%; a difference of more than 1.00 is ruled out.
    >>> few = Evidence("runs", State.TOO_FEW, 0.01)
    >>> print(pair_sentence(Claim("A", "B", "LAS", (shown, few), dataset="en")))
    On en, A is better than B by 1.23 points of LAS: shown over sentences; there are too few runs to tell.
    >>> print(pair_sentence(Claim("A", "B", "LAS", (few,))))
    A is ahead of B by 1.00 points of LAS, but there are too few runs to tell whether it is better.
    """
    first = claim.evidence[0]
    gap = next((item.difference for item in claim.evidence if math.isfinite(item.difference)), None)
    by = None
    if gap is not None:
        by = m.text(f" by {{}}{claim.scale.points} {{}}", m.size_of(gap, claim.scale), claim.metric)
    on = m.text("On {}, ", claim.dataset) if claim.dataset else None
    who, few = (on, claim.better), _few_sources([claim])
    if claim.is_shown:
        return m.text("{}{}{}{}.{}", on, _is_better(claim), by, _shown_by(claim), _small(claim))
    if all(item.state is State.EQUAL for item in claim.evidence):
        return m.text("{}: {}{} and {} {}.", *_dead_heat(claim))
    if gap == 0:
        return m.text("{}{} and {} have the same score.", *who, claim.worse)
    if gap is None and len(claim.evidence) == 1 and first.state is State.NOT_SHOWN:
        return m.text("{}{} and {} are not told apart{}.", *who, claim.worse, _numbers(claim))
    if few == " or ".join(_sources(claim)):
        words = "{}{} is ahead of {}{}, but there are too few {} to tell whether it is better."
        return m.text(words, *who, claim.worse, by, few)
    if len(claim.evidence) == 1 and first.state is State.NOT_SHOWN:
        words = "{}{} and {} are not told apart: {} is ahead{}{}.{}"
        return m.text(words, *who, claim.worse, claim.better, by, _numbers(claim), _precision(claim, first))
    return m.text("{}{} is ahead of {}{}: {}.", *who, claim.worse, by, m.join_text(_by_state(claim), "; "))


def _is_better(claim: Claim) -> m.Text:
    """`A is better than B`, or of one run each `this run of A is better than this run of B`."""
    if not claim.about_runs:
        return m.text("{} is better than {}", claim.better, claim.worse)
    this = "this" if claim.dataset else "This"
    return m.text(f"{this} run of {{}} is better than this run of {{}}", claim.better, claim.worse)


def _shown_by(claim: Claim) -> m.Text | None:
    if len(claim.evidence) == 1:
        return _numbers(claim)
    if all(item.state is State.SHOWN for item in claim.evidence):
        return m.text(": shown over {}", m.names(_sources(claim)))
    return m.text(": {}", m.join_text(_by_state(claim), "; "))


def _small(claim: Claim) -> m.Text | None:
    """What is said of a difference that is shown, but within the margin."""
    first = claim.evidence[0]
    if not first.equal_within <= first.margin:
        return None
    unit = " points" if claim.scale.is_percent else ""
    return m.text(f" That is within the margin of {{}}{unit}.", m.size_of(first.margin, claim.scale))


def _sources(claim: Claim) -> list[str]:
    return [evidence.source for evidence in claim.evidence]


def _dead_heat(claim: Claim) -> tuple[m.Text, m.Text | None, str, str, m.Text]:
    """The words of a claim whose systems are equal within the margin."""
    first = claim.evidence[0]
    margin = m.text(f"{{}}{claim.scale.points} {{}}", m.size_of(first.margin, claim.scale), claim.metric)
    gap = m.text("{}, ", m.points(first.difference, claim.scale)) if math.isfinite(first.difference) else None
    bounds = m.interval((first.low, first.high), claim.scale, signed=True)
    numbers = m.text(" ({}{} {})", gap, interval_name(claim.alpha), bounds) if len(claim.evidence) == 1 else None
    dataset = m.text("on {}, ", claim.dataset) if claim.dataset else None
    return m.text("A dead heat"), dataset, claim.better, claim.worse, m.text("are equal within {}{}", margin, numbers)


def _precision(claim: Claim, evidence: Evidence) -> m.Text | None:
    """What data could have shown, and what they rule out."""
    if not math.isfinite(evidence.detectable):
        return None
    unit = " points" if claim.scale.is_percent else ""
    sizes = m.size_of(evidence.detectable, claim.scale), m.size_of(evidence.equal_within, claim.scale)
    words = f" These {{}} would show a difference of {{}}{unit} with power {TARGET_POWER:.0%}; "
    source = evidence.source.removeprefix("these ").removesuffix(" like these")
    return m.text(words + "a difference of more than {} is ruled out.", m.text(source), *sizes)


def _by_state(claim: Claim) -> list[m.Text]:
    """What each state of the evidence of a claim says."""
    shown, equal, unshown, opposite = (
        claim.sources(state) for state in (State.SHOWN, State.EQUAL, State.NOT_SHOWN, State.OPPOSITE)
    )
    few = _few_sources([claim])
    parts = [m.text("shown over {}", m.names(shown))] if shown else []
    parts += [m.text("the opposite is shown over {}", m.names(opposite))] if opposite else []
    parts += [m.text("equal within the margin over {}", m.names(equal))] if equal else []
    parts += [m.text("not told apart over {}", " or ".join(unshown))] if unshown else []
    return parts + ([m.text("there are too few {} to tell", few)] if few else [])


def _numbers(claim: Claim) -> m.Text | None:
    """The interval and the p-value of the only evidence, in brackets."""
    evidence, parts = claim.evidence[0], []
    if math.isfinite(evidence.low) and math.isfinite(evidence.high):
        bounds = m.interval((evidence.low, evidence.high), claim.scale, signed=True)
        parts.append(m.text("{} {}", interval_name(claim.alpha), bounds))
    if math.isfinite(evidence.p):
        parts.append(m.text("{}", m.p_value(evidence.p)))
    return m.text(" ({})", m.join_text(parts, ", ")) if parts else None


def _same_pair(claims: Sequence[Claim]) -> m.Text:
    """One pair on several data sets or by several metrics."""
    first = claims[0]
    won = sum(claim.is_shown and claim.better == first.better for claim in claims)
    lost = sum(claim.is_shown and claim.better != first.better for claim in claims)
    few = [claim for claim in claims if _lacks_data(claim)]
    on = m.text("{} of {}", won, m.count(len(claims), _noun(claims)))
    worse = m.text(", and worse on {}", lost) if lost else None
    words = "{} is shown to be better than {} on {}{}{}."
    return m.text(words, first.better, first.worse, on, worse, _too_few(few, "on {}", len(few)))


def _leader(verdict: Claims) -> m.Text:
    """The best of several systems, and which others it is shown to be better than."""
    first = verdict.claims[0]
    claims = [claim for claim in verdict.claims if claim.better == first.better]
    where = m.text("On {}, ", first.dataset) if first.dataset else None
    if first.about_runs:
        where = m.text("{}of these runs, " if first.dataset else "{}Of these runs, ", where)
    complete = len(claims) == verdict.systems - 1
    sources = first.evidence[:2] if len({claim.evidence[0].source for claim in claims}) == 1 else first.evidence[:1]
    leads = m.text("{}{} has the best {}", where, first.better, first.metric)
    counts = {claim.evidence[0].count for claim in verdict.claims}
    number = m.count(sources[0].count, "data set") if len(counts) == 1 else m.text("data sets")
    over = m.text(" on these {}", number) if len(sources) > 1 else None
    words = m.text("{}{}{}.", leads, over, _against(claims, 0, complete=complete))
    if len(sources) < 2:
        return words
    same = all(len(claim.evidence) > 1 and _same_state(claim) for claim in claims)
    if same:
        return words + m.text(" The same holds for {}.", m.text(sources[1].source))
    claims = [claim for claim in claims if len(claim.evidence) > 1]
    return words + m.text(" For {}, it{}.", m.text(sources[1].source), _against(claims, 1, complete=complete))


def _same_state(claim: Claim) -> bool:
    return claim.evidence[0].state is claim.evidence[1].state


def _against(claims: Sequence[Claim], at: int, *, complete: bool) -> m.Text:
    """What one kind of evidence shows about the best system against each of the others."""
    by_state: dict[State, list[str]] = {}
    for claim in claims:
        by_state.setdefault(claim.evidence[at].state, []).append(claim.worse)
    if list(by_state) == [State.SHOWN]:
        others = {1: "the other", 2: "both others"}.get(len(claims), f"all {len(claims)} others")
        whom = m.text(others) if complete else m.names([claim.worse for claim in claims])
        return m.text(" and is shown to be better than {}" if at == 0 else " is shown to be better than {}", whom)
    words = {
        State.SHOWN: "is shown to be better than {}",
        State.EQUAL: "is equal within the margin to {}",
        State.NOT_SHOWN: "is not told apart from {}",
        State.OPPOSITE: "is shown to be worse than {}",
        State.TOO_FEW: f"cannot be told from {{}} with so few {_few_sources(claims)}",
    }
    parts = [m.text(words[state], m.names(by_state[state])) for state in State if state in by_state]
    separator = ", but " if State.SHOWN in by_state and len(parts) == 2 else "; "
    joined = m.join_text(parts, separator)
    if at:
        return m.text(" {}", joined)
    return m.text(" and {}" if State.SHOWN in by_state else ", but {}", joined)
