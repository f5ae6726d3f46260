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
    more = f"{pluralize(verdict.omitted, 'more pair')} can be found in the tables." if verdict.omitted else ""
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
    few: list[Claim] = []  # the first claim without enough data, for each data set that has no other reason to be open
    others = "all others"
    for key in datasets:
        own = [claim for claim in verdict.claims if (claim.dataset, claim.metric) == key]
        top = [claim for claim in own if claim.better == own[0].better]
        others = others if len(top) >= verdict.systems - 1 else "the next best"
        leaders[own[0].better] = leaders.get(own[0].better, 0) + all(claim.is_shown for claim in top)
        unshown = [claim for claim in top if not claim.is_shown]
        few += unshown[:1] if all(map(_lacks_data, unshown)) else []
    noun = "metric" if len({claim.dataset for claim in verdict.claims}) == 1 else "data set"
    best = max(leaders, key=lambda leader: leaders[leader])
    if len(few) == len(datasets):
        return text(
            "There are too few {} to tell on any of {} whether one system is better than {}.",
            _few_sources(few),
            count(len(datasets), noun),
            Text((others,)),
        )
    if leaders[best]:
        share, total = Shown(leaders[best], COUNT), count(len(datasets), noun)
        said = text("{} is shown to be better than {} on {} of {}", best, Text((others,)), share, total)
    else:
        said = Text((f"On none of {pluralize(len(datasets), noun)} is one system shown to be better than {others}",))
    return said + _few_text(few, "on {}", Shown(len(few), COUNT)) + "."


def _lacks_data(claim: Claim) -> bool:
    """Whether a claim is open only because there are too few data."""
    return (
        bool(claim.sources(State.TOO_FEW)) and not claim.sources(State.NOT_SHOWN) and not claim.sources(State.OPPOSITE)
    )


def _few_sources(claims: Sequence[Claim]) -> str:
    return _or(list(dict.fromkeys(source for claim in claims for source in claim.sources(State.TOO_FEW))))


def _few_text(claims: Sequence[Claim], where: str, value: Shown | Text) -> Text:
    """`; there are too few runs to tell on 2`, or nothing."""
    if not claims:
        return Text(())
    return text("; there are too few {} to tell ", _few_sources(claims)) + text(where, value)


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
    few = [claim for claim in claims if _lacks_data(claim)]
    return said + _few_text(few, "on {}", Shown(len(few), COUNT)) + "."


def _leader(verdict: Claims) -> Text:
    """The best of several systems, and which others it is shown to be better than."""
    best = verdict.claims[0].better
    own = [claim for claim in verdict.claims if claim.better == best]
    where = text("On {}, ", own[0].dataset) if own[0].dataset else Text(())
    beaten = [claim.worse for claim in own if claim.is_shown]
    few = [claim for claim in own if _lacks_data(claim)]
    unshown = [claim.worse for claim in own if not claim.is_shown and not _lacks_data(claim)]
    metric = own[0].metric
    if not unshown and not few:
        if len(own) < verdict.systems - 1:  # only neighbours in the ranking are claims
            return text(
                "{}{} has the best {} and is shown to be better than the next, {}.", where, best, metric, beaten[0]
            )
        others = {1: "the other", 2: "both others"}.get(len(own), f"all {len(own)} others")
        return text("{}{} has the best {} and is shown to be better than {}.", where, best, metric, Text((others,)))
    open_for = names([claim.worse for claim in few])
    leads = text("{}{} has the best {}", where, best, metric)
    if not beaten and not unshown:
        sources = _few_sources(few)
        return leads + text(", but there are too few {} to tell whether it is better than {}.", sources, open_for)
    if not beaten:
        said = text(", but is not shown to be better than {}", names(unshown))
    else:
        said = text(": shown to be better than {}", names(beaten))
        said += text(", but not than {}", names(unshown)) if unshown else ""
    return leads + said + _few_text(few, "for {}", open_for) + "."
