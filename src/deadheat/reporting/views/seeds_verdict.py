"""What runs say about systems on the test set that they were scored on, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from deadheat.reporting import model as m
from deadheat.reporting.verdict import pair_sentence
from deadheat.results.format import interval_name
from deadheat.results.runs import Seeds
from deadheat.results.verdict import Claim, State

THIS = "this test set"
REMARK = (
    "Runs on one test set cannot tell whether a difference would hold on another; deadheat compare, given the "
    "predictions of all runs, can."
)


def headline(result: Seeds) -> m.Words:
    """A sentence about the pair, about the best system, or about how far seeds are apart where there is one system."""
    claims = result.verdict.claims
    if not claims:
        return _seeds_alone(result)
    if len(claims) == 1:
        return _pair(claims[0], result)
    if len({claim.dataset for claim in claims}) == 1:
        return _leader(claims, result)
    if len({frozenset((claim.better, claim.worse)) for claim in claims}) == 1:
        return _same_pair(claims)
    return _leaders(claims)


def _seeds_alone(result: Seeds) -> m.Words:
    medians = [block.differences.median for block in result.blocks if block.differences]
    if not medians:
        return "There are no two systems to compare, and no configuration was run twice."
    lowest = m.text("{} to ", m.score(min(medians), result.scale)) if len(medians) > 1 else None
    words = f"Two runs of the same configuration differ by a median of {{}}{{}}{result.scale.points} {{}}."
    return m.text(words, lowest, m.score(max(medians), result.scale), result.metric)


def _pair(claim: Claim, result: Seeds) -> m.Text:
    evidence = claim.evidence[0]
    where = claim.dataset or THIS
    if evidence.state is not State.SHOWN:
        source = evidence.source.partition(" on ")[0]
        return pair_sentence(replace(claim, dataset=where, evidence=(replace(evidence, source=source),)))
    by = m.text(f"{{}}{result.scale.points} {{}}", m.size_of(evidence.difference, result.scale), claim.metric)
    bounds = m.interval((evidence.low, evidence.high), result.scale, signed=True)
    numbers = m.text("{} {}, {}", interval_name(claim.alpha), bounds, m.p_value(evidence.p))
    small = None
    if evidence.equal_within <= evidence.margin:
        small = m.text(" That is less than the margin of {}.", m.size_of(evidence.margin, result.scale))
    words = "On {}, {} scores higher than {} by {} ({}).{}"
    return m.text(words, where, claim.better, claim.worse, by, numbers, small)


def _leader(claims: Sequence[Claim], result: Seeds) -> m.Text:
    """The best of several systems, and what is shown about it and each of the others."""
    first = claims[0]
    margin = m.text(f"{{}}{' points' * result.scale.is_percent}", m.size_of(result.margin, result.scale))
    words = {
        State.SHOWN: m.text("shown to be higher than that of "),
        State.EQUAL: m.text("equal within {} to that of ", margin),
        State.NOT_SHOWN: m.text("not told apart from that of "),
        State.TOO_FEW: m.text("too few runs to tell it from that of "),
    }
    parts = [
        opening + m.names(others)
        for state, opening in words.items()
        if (others := [claim.worse for claim in claims if claim.evidence[0].state is state])
    ]
    where = first.dataset or THIS
    return m.text("On {}, {} has the highest mean {}: {}.", where, first.better, first.metric, m.join_text(parts, "; "))


def _same_pair(claims: Sequence[Claim]) -> m.Text:
    """One pair on several test sets."""
    first, second = claims[0].better, claims[0].worse
    shown = Counter(claim.better for claim in claims if claim.is_shown)
    numbers = {"lower": shown[second]}
    numbers |= {"equal within the margin": _count(claims, State.EQUAL)}
    numbers |= {
        "not told apart": _count(claims, State.NOT_SHOWN),
        "too few runs to tell": _count(claims, State.TOO_FEW),
    }
    more = [m.text(f"; {words} on {{}}", number) for words, number in numbers.items() if number]
    total = m.count(len(claims), "test set")
    return m.text("{} scores higher than {} on {} of {}{}.", first, second, shown[first], total, m.join_text(more, ""))


def _count(claims: Sequence[Claim], state: State) -> int:
    return sum(claim.evidence[0].state is state for claim in claims)


def _leaders(claims: Sequence[Claim]) -> m.Text:
    """On how many test sets the same system scores higher than all others."""
    by_dataset: dict[str, list[Claim]] = {}
    for claim in claims:
        by_dataset.setdefault(claim.dataset, []).append(claim)
    wins = Counter(of[0].better for of in by_dataset.values() if all(claim.is_shown for claim in of))
    few = sum(all(claim.evidence[0].state is State.TOO_FEW for claim in of) for of in by_dataset.values())
    more = m.text("; too few runs to tell on {}", few) if few else None
    total = m.count(len(by_dataset), "test set")
    if not wins:
        return m.text("On none of {} is one system shown to score higher than all others{}.", total, more)
    ((best, number),) = wins.most_common(1)
    return m.text("{} is shown to score higher than all others on {} of {}{}.", best, number, total, more)
