"""The verdict in words: what holds over splits, over seeds and over data sets, and what does not.

Evidence of each kind comes from its own analysis; here it is only put together. Two systems are compared in words if
they are neighbours in the ranking. A difference *holds* over several splits if it is significant, in the same
direction, on four of five of them, for that is what a test of the usual power finds of a difference that is there; on
standard and on single splits, and over seeds, if it is significant on all that were tested; over data sets if the test
over them is significant, and on subsets of them if the better system is ahead on 95 %. What could not have been
significant, whatever the scores, counts neither for nor against.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deadheat.documents import Document
from deadheat.text import pluralize

MOST_SPLITS, MOST_SUBSETS = 0.8, 0.95
MOST_PAIRS, MOST_SETS = 4, 6
STANDARD, RANDOM = "standard", "random"
HOLDS, FAILS, UNKNOWN = "holds", "fails", "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One kind of evidence that the first of two systems is better: where, and whether it holds.

    What does not hold comes with its verb, as "does not hold over seeds" or "holds on only 2 of 10 random splits".
    """

    said: str
    state: str


def verdicts(documents: Sequence[Document]) -> tuple[str, ...]:
    """Sentences that say what results of one origin come to, the most important first."""
    kinds: dict[str, list[Document]] = {}
    for document in documents:
        kinds.setdefault(str(document.get("kind")), []).append(document)
    over = [each for each in kinds.get("compare", []) if each.get("unit") == "data set"]
    besides = [*kinds.get("seeds", []), *kinds.get("rank", []), *over]
    said: list[str] = []
    for study in kinds.get("study", []):
        said += study_verdicts(study, besides)
    told = bool(said)
    for kind, speak in _SPEAKERS.items():
        for document in kinds.get(kind, []):
            if not (told and (kind == "seeds" or document in over)):  # it is in the sentences about pairs
                said += speak(document)
    return tuple(dict.fromkeys(said))


def study_verdicts(study: Document, besides: Sequence[Document] = ()) -> list[str]:
    """A sentence for every two neighbours in the ranking of a study, metric by metric."""
    blocks = [block for block in study.get("blocks", []) if block["pairs"]]
    part = next((name for name in ("test", "dev") if any(block["part"] == name for block in blocks)), "")
    own = [block for block in blocks if block["part"] == part] if part else blocks
    said: list[str] = []
    failed = len(study.get("failed", []))
    for metric in dict.fromkeys(metric for block in own for metric in main_metrics(block).values()):
        order, others = ranking(own, metric)
        pairs = list(pairwise(order))
        for a, b in pairs[:MOST_PAIRS]:
            evidence = [*_over_splits(own, a, b), *_besides(besides, a, b)]
            said += [sentence(a, b, evidence)] if evidence else []
        if len(pairs) > MOST_PAIRS:
            said.append(f"{pluralize(len(pairs) - MOST_PAIRS, 'more pair')} of neighbours: see the tables.")
        if others:
            said.append(f"Not ranked, for not run on everything: {', '.join(others[:MOST_SETS])}.")
    if failed:
        cells = study.get("cells", 0)
        said.append(f"{failed:,} of {pluralize(cells, 'cell')} failed, and what they lack is left out.")
    tested = max((len(block["pairs"]) for block in own), default=0)
    if tested > 1 and said:
        said.append(f"Significance is corrected for the number of splits, not for the {tested} pairs of systems.")
    return said


def main_metrics(block: Document) -> dict[str, str]:
    """The first metric that each system of a block is scored by, which it is compared by."""
    found: dict[str, str] = {}
    for metric in block["metrics"]:
        for each in block["systems"]:
            if each["metric"] == metric:
                found.setdefault(each["system"], metric)
    return found


def ranking(blocks: Sequence[Document], metric: str) -> tuple[list[str], list[str]]:
    """Systems by their mean score over the blocks, the best first, and those that some block lacks."""
    found: dict[str, list[float]] = {}
    own = [block for block in blocks if metric in main_metrics(block).values()]
    for block in own:
        mine = main_metrics(block)
        for each in block["systems"]:
            if each["metric"] == metric == mine[each["system"]] and each["mean"] is not None:
                found.setdefault(each["system"], []).append(each["mean"])
    whole = {system: float(np.mean(means)) for system, means in found.items() if len(means) == len(own)}
    order = sorted(whole, key=lambda system: (-whole[system], system))
    return order, [system for system in found if system not in whole]


def sentence(a: str, b: str, evidence: Sequence[Evidence]) -> str:
    """What the evidence comes to.

    Examples
    --------
    >>> yes, no = Evidence("on 5 of 5 random splits", HOLDS), Evidence("does not hold over seeds (p = 0.2)", FAILS)
    >>> print(sentence("A", "B", [yes]))
    A is better than B: it holds on 5 of 5 random splits.
    >>> print(sentence("A", "B", [yes, no]))
    A is ahead of B, but not in every way: it holds on 5 of 5 random splits; it does not hold over seeds (p = 0.2).
    >>> print(sentence("A", "B", [no]))
    A and B are a dead heat: the lead of A does not hold over seeds (p = 0.2).
    >>> print(sentence("A", "B", [Evidence("there are too few seeds to tell", UNKNOWN)]))
    A is ahead of B, and it cannot be told whether it is better: there are too few seeds to tell.
    """
    holding, failing, unknown = (
        [each.said for each in evidence if each.state == state] for state in (HOLDS, FAILS, UNKNOWN)
    )
    rest = "".join(f"; {each}" for each in unknown)
    if holding and failing:
        told = f"it holds {'; '.join(holding)}; it {'; it '.join(failing)}"
        return f"{a} is ahead of {b}, but not in every way: {told}{rest}."
    if holding:
        return f"{a} is better than {b}: it holds {'; '.join(holding)}{rest}."
    if failing:
        return f"{a} and {b} are a dead heat: the lead of {a} {'; it '.join(failing)}{rest}."
    return f"{a} is ahead of {b}, and it cannot be told whether it is better: {'; '.join(unknown)}."


def _over_splits(blocks: Sequence[Document], a: str, b: str) -> Iterator[Evidence]:
    """How often the difference is significant on the splits of each strategy."""
    strategies = dict.fromkeys(str(block["split"]).partition(".")[0] for block in blocks)
    for strategy in sorted(strategies, key=lambda name: (name == STANDARD, name != RANDOM)):
        own = [block for block in blocks if str(block["split"]).partition(".")[0] == strategy]
        pairs = [(block, pair) for block in own for pair in block["pairs"] if {pair["a"], pair["b"]} == {a, b}]
        splits = sum(pair["splits"] for _, pair in pairs)
        if not splits:
            continue
        won = sum(pair["significant"] if pair["a"] == a else pair["reversed"] for _, pair in pairs)
        lost = sum(pair["reversed"] if pair["a"] == a else pair["significant"] for _, pair in pairs)
        corpora = len({block["corpus"] for block, _ in pairs})
        holds = won >= (MOST_SPLITS * splits if splits > corpora else splits) and not lost
        said = f"{strategy} split" if strategy in (STANDARD, RANDOM) else "split"
        by = "" if strategy in (STANDARD, RANDOM) else f" by {strategy}"
        among = f"{pluralize(splits, said)}{by}" + (f" of {corpora} corpora" if corpora > 1 else "")
        told = f"on {won:,} of {among}" if holds else f"holds on {f'only {won:,}' if won else 'none'} of {among}"
        if splits == 1:
            p = pairs[0][1]["p_corrected"][0]
            if p is None:
                continue
            told = f"{'' if holds else 'does not hold '}on the {said}{by} (p = {p:.2g})"
        besides = []
        if splits > 1 and not holds and all(pair["a"] == a for _, pair in pairs):
            besides.append(f"ahead on {sum(pair['ahead'] for _, pair in pairs):,}")
        besides += [f"{b} is better on {lost:,}"] if lost and splits > 1 else []
        yield Evidence(told + (f" ({', '.join(besides)})" if besides else ""), HOLDS if holds else FAILS)


def _besides(documents: Sequence[Document], a: str, b: str) -> Iterator[Evidence]:
    kinds = {"seeds": _over_seeds, "rank": _on_subsets, "compare": _over_units}
    for document in documents:
        found = kinds[document["kind"]](document, a, b)
        if found is not None:
            yield found


def _pair_of(pairs: Sequence[Document], a: str, b: str) -> Document | None:
    return next((each for each in pairs if {each["a"], each["b"]} == {a, b}), None)


def _over_seeds(document: Document, a: str, b: str) -> Evidence | None:
    """Mann-Whitney's test of the runs with different seeds, for systems that have several."""
    won = lost = tested = weak = 0
    p, unit = None, "seed"
    for block in document["blocks"]:
        runs = {each["system"]: each["n"] for each in block["systems"]}
        pair = _pair_of(block["pairs"], a, b)
        if pair is None or min(runs.get(a, 0), runs.get(b, 0)) < 2:
            continue
        tested += 1
        unit = block.get("unit", unit)  # runs that differ in settings are compared by the means of configurations
        p = pair["mann_whitney"]["p_corrected"]
        weak += pair["least_p"] is None or pair["least_p"] > document["alpha"]
        won, lost = won + (pair["winner"] == a), lost + (pair["winner"] == b)
    if not tested:
        return None
    if weak == tested:
        return Evidence(f"there are too few {unit}s to tell", UNKNOWN)
    told = f"over {unit}s" + (f" (p = {p:.2g})" if tested == 1 and p is not None else f" on {won} of {tested} corpora")
    if won == tested:
        return Evidence(told, HOLDS)
    told = f"{'does not hold' if tested == 1 or not won else 'holds only'} {told}"
    return Evidence(told + (f" ({b} is better on {lost})" if lost and tested > 1 else ""), FAILS)


def _on_subsets(document: Document, a: str, b: str) -> Evidence | None:
    """On how many subsets of the data sets the first system is ahead."""
    pair = _pair_of(document["pairs"], a, b)
    if pair is None:
        return None
    share = pair["p_a"] if pair["a"] == a else pair["p_b"]
    holds = share >= MOST_SUBSETS
    told = f"{'on' if holds else 'holds on only'} {_percent(share)} of {_subsets(document)}"
    return Evidence(told, HOLDS if holds else FAILS)


def _subsets(document: Document) -> str:
    """Which subsets of the data sets were ranked: all there are, or a sample."""
    number = "the subsets" if document["design"] == "all" else f"{document['samples']:,} random subsets"
    return f"{number} of {document['subset_size']} of the {document['data_sets']} data sets"


def _over_units(document: Document, a: str, b: str) -> Evidence | None:
    """A test over the units of a comparison: sentences, documents, data sets."""
    pair = _pair_of(document["pairs"], a, b)
    if pair is None or pair["p_corrected"] is None:
        return None
    points = f"{float(document.get('scale') or 1) * abs(pair['difference']):.2f} points of {_short(document['metric'])}"
    told = f"over {document['unit']}s ({points}, p = {pair['p_corrected']:.2g})"
    if pair["winner"] == a:
        return Evidence(told, HOLDS)
    if pair["winner"] == b:
        return Evidence(f"is turned around by the test {told}, which finds {b} better on most of them", FAILS)
    return Evidence(f"does not hold {told}", FAILS)


def _short(metric: str) -> str:
    return metric.partition(".v")[0]


def _percent(share: float) -> str:
    """A share in percent that is said to be all or nothing only if it is.

    Examples
    --------
    >>> _percent(1.0), _percent(0.9999), _percent(0.5)
    ('100 %', 'more than 99.9 %', '50.0 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if share > 0.999:
        return "more than 99.9 %"
    return "less than 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"


def _scores(document: Document) -> Iterator[str]:
    rows = [row for row in document["scores"] if row["value"] is not None]
    if not rows or any("group" in row for row in rows):
        return
    metric = rows[0]["metric"]
    own = [row for row in rows if row["metric"] == metric]
    best = max(own, key=lambda row: float(row["value"]))
    level = [row["file"] for row in own if row["value"] == best["value"]]
    interval = f" (interval {100 * best['low']:.2f} to {100 * best['high']:.2f})" if best["low"] is not None else ""
    if len(own) == 1:
        yield f"{best['file']} has {metric} {100 * best['value']:.2f}{interval}."
    elif len(level) > 1:
        yield f"{' and '.join(level)} have the same {metric}, the highest: {100 * best['value']:.2f}{interval}."
    else:
        yield f"{best['file']} has the highest {metric}: {100 * best['value']:.2f}{interval}."


def _comparison(document: Document) -> Iterator[str]:
    values = {each["system"]: float(each["value"] or 0) for each in document["systems"]}
    order = sorted(values, key=lambda name: -values[name])
    for a, b in list(pairwise(order))[:MOST_PAIRS]:
        found = _over_units(document, a, b)
        if found is None:
            continue
        if values[a] == values[b]:
            yield f"{a} and {b} are a dead heat: their {_short(document['metric'])} is the same."
        else:
            yield sentence(a, b, [found])


def _seeds(document: Document) -> Iterator[str]:
    for block in document["blocks"][:MOST_PAIRS]:
        where = f"{block['by']}: " if block["by"] else ""
        order = [each["system"] for each in sorted(block["systems"], key=lambda row: -float(row["mean"]))]
        for a, b in list(pairwise(order))[:MOST_PAIRS]:
            found = _over_seeds({**document, "blocks": [block]}, a, b)
            if found is not None:
                yield where + sentence(a, b, [found])


def _rank(document: Document) -> Iterator[str]:
    first = document["systems"][0]
    level = [each["system"] for each in document["systems"] if each["rank"] == first["rank"]]
    if len(level) > 1:
        yield f"{' and '.join(level[:MOST_SETS])} share the first rank on all data sets together."
    else:
        share = _percent(first["chances"][0])
        yield f"{first['system']} is first on all data sets together, and on {share} of {_subsets(document)}."
    neighbours = list(pairwise(each["system"] for each in document["systems"]))
    shares = [_on_subsets(document, a, b) for a, b in neighbours]
    sure = sum(found is not None and found.state == HOLDS for found in shares)
    yield (
        f"Of {pluralize(len(neighbours), 'pair')} of neighbours in the ranking, {sure} "
        f"{'keeps its' if sure == 1 else 'keep their'} order on at least 95 % of them."
    )


def _size(document: Document) -> Iterator[str]:
    """The smallest size that ranks the systems as everything does, drawn in the last of the ways, set by set."""
    enough: list[str] = []
    none: list[str] = []
    way = ""
    for block in document["sets"][:MOST_SETS]:
        last = block["ways"][-1]
        way = last["way"]
        if last["enough"]:
            half = ", more than half of it" if 2 * last["enough"] > block["words"] else ""
            enough.append(f"{last['enough']:,} words on {block['set']}{half}")
        else:
            none.append(block["set"])
    said = ["; ".join(enough)] if enough else []
    said += [f"none of the sizes tried on {', '.join(none)}"] if none else []
    if said:
        meant = f"drawn by {way}, tau at least {document['threshold']:g} in {100 * document['confidence']:g} % of draws"
        yield f"Enough test data to rank the systems as all of it does ({meant}): {'; '.join(said)}."


def _ledger(document: Document) -> Iterator[str]:
    looks = [each["looks"] for each in document["test_sets"]]
    if not looks:
        return
    over = sum(each["over_budget"] for each in document["test_sets"])
    told = f"{pluralize(len(looks), 'test set')} looked at {pluralize(sum(looks), 'time')}"
    told += f" in all, one of them {pluralize(max(looks), 'time')}" if len(looks) > 1 else ""
    yield told + (f"; {pluralize(over, 'look')} past a budget." if over else ".")


_SPEAKERS = {
    "score": _scores,
    "compare": _comparison,
    "seeds": _seeds,
    "rank": _rank,
    "size": _size,
    "ledger": _ledger,
}
