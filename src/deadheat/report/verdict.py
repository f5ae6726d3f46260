"""The verdict of a result: one sentence, and a table of claims by kinds of evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadheat.report.model import (
    Cell,
    Column,
    Content,
    Shown,
    Table,
    Text,
    Verdict,
    Words,
    count,
    interval,
    join_text,
    name,
    names,
    p_value,
    points,
    size_of,
    text,
)
from deadheat.results.format import COUNT, MISSING, interval_name
from deadheat.results.verdict import Claim, Evidence, State
from deadheat.results.verdict import Verdict as Claims
from deadheat.text import pluralize

TONES = {State.SHOWN: "good", State.OPPOSITE: "bad", State.NOT_SHOWN: "muted", State.TOO_FEW: "muted"}


def verdict_block(verdict: Claims, *, headline: Words = "", remarks: Sequence[Words] = ()) -> Verdict:
    """What claims come to; a `headline` of the caller's takes the place of the sentence about them."""
    return Verdict(headline or claims_headline(verdict), claims_table(verdict) if verdict else None, tuple(remarks))


def claims_table(verdict: Claims) -> Table:
    """One row for each claim, one column for each kind of evidence."""
    datasets = any(claim.dataset for claim in verdict.claims)
    metrics = len({claim.metric for claim in verdict.claims}) > 1
    columns = [Column("better > worse"), *([Column("data set")] if datasets else [])]
    columns += [Column("metric")] if metrics else []
    columns += [Column(f"over {source}") for source in verdict.sources]
    rows: list[tuple[Content, ...]] = []
    for claim in verdict.claims:
        evidence = {item.source: item for item in claim.evidence}
        row: list[Content] = [text("{} > {}", claim.better, claim.worse)]
        row += [claim.dataset] if datasets else []
        row += [claim.metric] if metrics else []
        row += [_cell(claim, evidence[source]) if source in evidence else MISSING for source in verdict.sources]
        rows.append(tuple(row))
    more = f"The other {pluralize(verdict.omitted, 'pair')} can be found in the tables." if verdict.omitted else ""
    return Table(tuple(columns), tuple(rows), caption=more, labels=1 + datasets + metrics)


def _cell(claim: Claim, evidence: Evidence) -> Cell:
    """The state of one piece of evidence, with the difference, its interval, and on how many the winner is ahead."""
    said = text("{}", evidence.state.value)
    if math.isfinite(evidence.difference):
        said = text("{}: {}", said, points(evidence.difference, claim.scale))
    if math.isfinite(evidence.low) and math.isfinite(evidence.high):
        said = text("{} {}", said, interval((evidence.low, evidence.high), claim.scale, signed=True))
    if evidence.ahead is not None:
        said = text("{}, ahead on {} of {}", said, Shown(evidence.ahead, COUNT), Shown(evidence.count, COUNT))
    return Cell(said, tone=TONES[evidence.state])


def claims_headline(verdict: Claims) -> Words:
    """One sentence about all claims: about the pair if there is one, else about the best system of each data set."""
    if not verdict.claims:
        return "No two systems could be compared."
    first = verdict.claims[0]
    pairs = {frozenset((claim.better, claim.worse)) for claim in verdict.claims}
    if len(verdict.claims) == 1:
        return pair_sentence(first)
    datasets = list(dict.fromkeys((claim.dataset, claim.metric) for claim in verdict.claims))
    if len(pairs) == 1:
        return _same_pair(verdict.claims)
    if len(datasets) == 1:
        return _leader(verdict)
    leaders: dict[str, int] = {}
    others = "all others"
    for key in datasets:
        own = [claim for claim in verdict.claims if (claim.dataset, claim.metric) == key]
        top = [claim for claim in own if claim.better == own[0].better]
        others = others if len(top) >= verdict.systems - 1 else "the next best"
        leaders[own[0].better] = leaders.get(own[0].better, 0) + all(claim.is_shown for claim in top)
    best = max(leaders, key=lambda leader: leaders[leader])
    if not leaders[best]:
        return f"On none of {len(datasets)} data sets is one system shown to be better than {others}."
    return text(
        "{} is shown to be better than {} on {} of {}.",
        best,
        Text((others,)),
        Shown(leaders[best], COUNT),
        count(len(datasets), "data set"),
    )


def pair_sentence(claim: Claim) -> Text:
    """A claim and its evidence as a colleague would say it.

    Examples
    --------
    >>> from deadheat.results.verdict import Claim, Evidence, State
    >>> shown = Evidence("sentences", State.SHOWN, 0.0123, 0.004, 0.02, 0.0021)
    >>> print(pair_sentence(Claim("A", "B", "LAS", (shown,))))
    A is better than B by 1.23 points of LAS (95% CI [+0.40, +2.00], p = 0.0021).
    >>> few = Evidence("runs", State.TOO_FEW, 0.01)
    >>> print(pair_sentence(Claim("A", "B", "LAS", (shown, few), dataset="en")))
    On en, A is ahead of B by 1.23 points of LAS: shown over sentences; there are too few runs to tell.
    >>> print(pair_sentence(Claim("A", "B", "LAS", (few,))))
    A is ahead of B by 1.00 points of LAS, but there are too few runs to tell whether it is better.
    """
    numbers = next((item for item in claim.evidence if math.isfinite(item.difference)), None)
    gap = (
        Text(())
        if numbers is None
        else text(" by {}{} {}", size_of(numbers.difference, claim.scale), claim.scale.points, claim.metric)
    )
    where = text("On {}, ", claim.dataset) if claim.dataset else Text(())
    better, worse = name(claim.better), name(claim.worse)
    if claim.is_shown and len(claim.evidence) == 1:
        return text("{}{} is better than {}{}{}.", where, better, worse, gap, _bracket(claim, claim.evidence[0]))
    if claim.is_shown:
        sources = names(claim.sources(State.SHOWN))
        return text("{}{} is better than {}{}: shown over {}.", where, better, worse, gap, sources)
    if numbers is not None and not numbers.difference:
        return text("{}{} and {} have the same score.", where, better, worse)
    shown, unshown, few = (claim.sources(state) for state in (State.SHOWN, State.NOT_SHOWN, State.TOO_FEW))
    opposite = claim.sources(State.OPPOSITE)
    if not shown and not opposite and not unshown:
        return text(
            "{}{} is ahead of {}{}, but there are too few {} to tell whether it is better.",
            where,
            better,
            worse,
            gap,
            _or(few),
        )
    parts: list[Words] = []
    parts += [text("shown over {}", names(shown))] if shown else []
    parts += [text("the opposite is shown over {}", names(opposite))] if opposite else []
    if unshown:
        single = len(claim.evidence) == 1
        parts.append(
            text(
                "not shown to be better over {}{}",
                _or(unshown),
                _bracket(claim, claim.evidence[0]) if single else Text(()),
            )
        )
    parts += [text("there are too few {} to tell", _or(few))] if few else []
    return text("{}{} is ahead of {}{}: {}.", where, better, worse, gap, join_text(parts, "; "))


def _bracket(claim: Claim, evidence: Evidence) -> Text:
    parts: list[Words] = []
    if math.isfinite(evidence.low) and math.isfinite(evidence.high):
        bounds = interval((evidence.low, evidence.high), claim.scale, signed=True)
        parts.append(text("{} {}", interval_name(claim.alpha), bounds))
    if math.isfinite(evidence.p):
        parts.append(text("{}", p_value(evidence.p)))
    return text(" ({})", join_text(parts, ", ")) if parts else Text(())


def _or(sources: Sequence[str]) -> str:
    return " or ".join(sources)


def _same_pair(claims: Sequence[Claim]) -> Text:
    """One pair on several data sets or by several metrics."""
    first = claims[0]
    won = sum(claim.is_shown and claim.better == first.better for claim in claims)
    lost = sum(claim.is_shown and claim.better != first.better for claim in claims)
    noun = "metric" if len({claim.dataset for claim in claims}) == 1 else "data set"
    said = text(
        "{} is shown to be better than {} on {} of {}",
        first.better,
        first.worse,
        Shown(won, COUNT),
        count(len(claims), noun),
    )
    said = said + (text(", and worse on {}", Shown(lost, COUNT)) if lost else "")
    few = [claim for claim in claims if claim.evidence and len(claim.sources(State.TOO_FEW)) == len(claim.evidence)]
    if few:
        sources = list(dict.fromkeys(source for claim in few for source in claim.sources(State.TOO_FEW)))
        said = said + text("; there are too few {} to tell on {}", _or(sources), Shown(len(few), COUNT))
    return said + "."


def _leader(verdict: Claims) -> Text:
    """The best of several systems, and which others it is shown to be better than."""
    best = verdict.claims[0].better
    own = [claim for claim in verdict.claims if claim.better == best]
    where = text("On {}, ", own[0].dataset) if own[0].dataset else Text(())
    beaten = [claim.worse for claim in own if claim.is_shown]
    open_ = [claim.worse for claim in own if not claim.is_shown]
    metric = own[0].metric
    if not open_:
        if len(own) < verdict.systems - 1:  # only neighbours in the ranking are claims
            return text(
                "{}{} has the best {} and is shown to be better than the next, {}.", where, best, metric, beaten[0]
            )
        others = {1: "the other", 2: "both others"}.get(len(own), f"all {len(own)} others")
        return text("{}{} has the best {} and is shown to be better than {}.", where, best, metric, others)
    if not beaten:
        return text("{}{} has the best {}, but is not shown to be better than {}.", where, best, metric, names(open_))
    return text(
        "{}{} has the best {}: shown to be better than {}, but not than {}.",
        where,
        best,
        metric,
        names(beaten),
        names(open_),
    )
