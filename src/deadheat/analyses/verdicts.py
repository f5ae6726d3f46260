"""The verdict in words: what holds over splits, over seeds and over data sets, and what does not.

Evidence of each kind comes from its own analysis; here it is only put together. Two systems are compared in words if
they are neighbours in the ranking. A difference *holds* over random splits if it is significant, in the same direction,
on four of five of them, for that is what a test of the usual power finds of a difference that is there; on standard
splits and over seeds if it is significant on all that were tested; over data sets if the better system is ahead on
95 % of the subsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from deadheat.errors import counted

Document = Mapping[str, Any]
MOST_SPLITS, MOST_SUBSETS = 0.8, 0.95
MOST_PAIRS, MOST_SETS = 4, 6
STANDARD = "standard."


@dataclass(frozen=True, slots=True)
class Evidence:
    """One kind of evidence that the first of two systems is better: whether it holds, and where.

    What does not hold comes with its verb, as "does not hold over seeds" or "holds on only 2 of 10 random splits".
    """

    said: str
    holds: bool


def verdicts(documents: Sequence[Document]) -> tuple[str, ...]:
    """Sentences that say what was found, the most important first."""
    kinds: dict[str, list[Document]] = {}
    for document in documents:
        kinds.setdefault(str(document.get("kind")), []).append(document)
    said: list[str] = []
    for study in kinds.get("study", []):
        own = [each for kind in ("seeds", "rank") for each in kinds.get(kind, [])]
        said += study_verdicts(study, own)
    whole = bool(kinds.get("study"))
    for kind, speak in _SPEAKERS.items():
        for document in kinds.get(kind, []):
            told = kind == "seeds" or (kind == "compare" and document["unit"] == "data set")
            if not (whole and told):  # it is in the sentences about pairs
                said += speak(document)
    return tuple(dict.fromkeys(said))


def study_verdicts(study: Document, besides: Sequence[Document] = ()) -> list[str]:
    """A sentence for every two neighbours in the ranking of a study."""
    blocks = [block for block in study.get("blocks", []) if block["pairs"]]
    part = next((name for name in ("test", "dev") if any(block["part"] == name for block in blocks)), "")
    own = [block for block in blocks if block["part"] == part] if part else blocks
    order = ranking(own)
    said = []
    for a, b in list(pairwise(order))[:MOST_PAIRS]:
        evidence = [*_over_splits(own, a, b, study.get("alpha", 0.05)), *_besides(besides, a, b)]
        if evidence:
            said.append(sentence(a, b, evidence))
    if len(order) - 1 > MOST_PAIRS:
        said.append(f"{counted(len(order) - 1 - MOST_PAIRS, 'more pair')} of neighbours: see the tables.")
    return said


def ranking(blocks: Sequence[Document]) -> list[str]:
    """Systems by their mean score over the blocks, the best first; only those that all blocks have."""
    found: dict[str, list[float]] = {}
    for block in blocks:
        for each in block["systems"]:
            if each["metric"] == block["metrics"][0] and each["mean"] is not None:
                found.setdefault(each["system"], []).append(each["mean"])
    whole = {system: float(np.mean(means)) for system, means in found.items() if len(means) == len(blocks)}
    return sorted(whole, key=whole.__getitem__, reverse=True)


def sentence(a: str, b: str, evidence: Sequence[Evidence]) -> str:
    """What the evidence comes to.

    Examples
    --------
    >>> yes, no = Evidence("on 5 of 5 random splits", True), Evidence("does not hold over seeds (p = 0.2)", False)
    >>> print(sentence("A", "B", [yes]))
    A is better than B: it holds on 5 of 5 random splits.
    >>> print(sentence("A", "B", [yes, no]))
    A is ahead of B, but not in every way: it holds on 5 of 5 random splits; it does not hold over seeds (p = 0.2).
    >>> print(sentence("A", "B", [no]))
    A and B are a dead heat: the lead of A does not hold over seeds (p = 0.2).
    """
    holding = "; ".join(each.said for each in evidence if each.holds)
    failing = "; it ".join(each.said for each in evidence if not each.holds)
    if not failing:
        return f"{a} is better than {b}: it holds {holding}."
    if not holding:
        return f"{a} and {b} are a dead heat: the lead of {a} {failing}."
    return f"{a} is ahead of {b}, but not in every way: it holds {holding}; it {failing}."


def _over_splits(blocks: Sequence[Document], a: str, b: str, alpha: float) -> Iterator[Evidence]:
    """How often the difference is significant on random splits, and on standard ones."""
    for standard, name in ((False, "random split"), (True, "standard split")):
        own = [block for block in blocks if str(block["split"]).startswith(STANDARD) is standard]
        pairs = [(block, pair) for block in own for pair in block["pairs"] if {pair["a"], pair["b"]} == {a, b}]
        splits = sum(pair["splits"] for _, pair in pairs)
        if not splits:
            continue
        won = sum(pair["significant"] if pair["a"] == a else pair["reversed"] for _, pair in pairs)
        lost = sum(pair["reversed"] if pair["a"] == a else pair["significant"] for _, pair in pairs)
        corpora = len({block["corpus"] for block, _ in pairs})
        holds = won >= (splits if standard else MOST_SPLITS * splits) and not lost
        among = f"{counted(splits, name)}" + (f" of {corpora} corpora" if corpora > 1 else "")
        told = f"on {won:,} of {among}" if holds else f"holds on {f'only {won:,}' if won else 'none'} of {among}"
        if splits == 1:
            told = f"{'' if holds else 'does not hold '}on the {name} (p = {pairs[0][1]['p_corrected'][0]:.2g})"
        ahead = sum(pair["ahead"] if pair["a"] == a else pair["splits"] - pair["ahead"] for _, pair in pairs)
        besides = [f"ahead on {ahead:,}"] if splits > 1 and not holds else []
        besides += [f"{b} is better on {lost:,}"] if lost else []
        yield Evidence(told + (f" ({', '.join(besides)})" if besides else ""), holds)


def _besides(documents: Sequence[Document], a: str, b: str) -> Iterator[Evidence]:
    for document in documents:
        found = _over_seeds(document, a, b) if document["kind"] == "seeds" else _over_data_sets(document, a, b)
        if found is not None:
            yield found


def _over_seeds(document: Document, a: str, b: str) -> Evidence | None:
    """Mann-Whitney's test of the runs with different seeds, for systems that have several."""
    won = tested = weak = 0
    p = 1.0
    for block in document["blocks"]:
        runs = {each["system"]: each["n"] for each in block["systems"]}
        pair = next((each for each in block["pairs"] if {each["a"], each["b"]} == {a, b}), None)
        if pair is None or min(runs.get(a, 0), runs.get(b, 0)) < 2:
            continue
        tested += 1
        p = pair["mann_whitney"]["p_corrected"]
        weak += pair["least_p"] > document["alpha"]
        ahead = (pair["difference"] > 0) == (pair["a"] == a)
        won += ahead and p <= document["alpha"]
    if not tested:
        return None
    if weak == tested:
        return Evidence("cannot be told over seeds, for there are too few", False)
    told = f"over seeds (p = {p:.2g})" if tested == 1 else f"over seeds on {won} of {tested} corpora"
    short = "does not hold" if tested == 1 or not won else "holds only"
    return Evidence(told if won == tested else f"{short} {told}", won == tested)


def _over_data_sets(document: Document, a: str, b: str) -> Evidence | None:
    """On how many subsets of the data sets the first system is ahead."""
    pair = next((each for each in document["pairs"] if {each["a"], each["b"]} == {a, b}), None)
    if pair is None:
        return None
    share = pair["p_a"] if pair["a"] == a else pair["p_b"]
    holds = share >= MOST_SUBSETS
    subsets = f"subsets of {document['subset_size']} of the {document['data_sets']} data sets"
    return Evidence(f"{'on' if holds else 'holds on only'} {_percent(share)} of the {subsets}", holds)


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
    best = max((row for row in rows if row["metric"] == metric), key=lambda row: float(row["value"]))
    interval = f"95 % interval {100 * best['low']:.2f} to {100 * best['high']:.2f}" if best["low"] is not None else ""
    yield f"{best['file']} has the highest {metric}: {100 * best['value']:.2f}" + (
        f" ({interval})." if interval else "."
    )


def _comparison(document: Document) -> Iterator[str]:
    order = [each["system"] for each in sorted(document["systems"], key=lambda row: -float(row["value"] or 0))]
    unit = document["unit"]
    scale = 100 if all(0 <= float(row["value"] or 0) <= 1 for row in document["systems"]) else 1
    for a, b in list(pairwise(order))[:MOST_PAIRS]:
        pair = next((each for each in document["pairs"] if {each["a"], each["b"]} == {a, b}), None)
        if pair is None or pair["p_corrected"] is None:
            continue
        holds = pair["p_corrected"] <= document["alpha"]
        points = f"{scale * abs(pair['difference']):.2f} points of {document['metric']}"
        told = f"over {unit}s ({points}, p = {pair['p_corrected']:.2g})"
        yield sentence(a, b, [Evidence(told if holds else f"does not hold {told}", holds)])


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
    subsets = f"the subsets of {document['subset_size']} of the {document['data_sets']} data sets"
    yield f"{first['system']} is first on all data sets together, and on {_percent(first['chances'][0])} of {subsets}."
    neighbours = list(pairwise(each["system"] for each in document["systems"]))
    shares = [_over_data_sets(document, a, b) for a, b in neighbours]
    sure = sum(found is not None and found.holds for found in shares)
    yield (
        f"Of {counted(len(neighbours), 'pair')} of neighbours in the ranking, {sure} "
        f"{'keeps its' if sure == 1 else 'keep their'} order on at least 95 % of them."
    )


def _size(document: Document) -> Iterator[str]:
    """The smallest size that ranks the systems as everything does, drawn in the last of the ways, set by set."""
    enough: list[str] = []
    none: list[str] = []
    for block in document["sets"][:MOST_SETS]:
        words = block["ways"][-1]["enough"]
        if words:
            enough.append(f"{words:,} words on {block['set']}")
        else:
            none.append(block["set"])
    said = [", ".join(enough)] if enough else []
    said += [f"no size tried on {', '.join(none)}"] if none else []
    if said:
        yield f"Enough test data to rank the systems as all of it does: {'; '.join(said)}."


def _ledger(document: Document) -> Iterator[str]:
    looks = [each["looks"] for each in document["test_sets"]]
    if not looks:
        return
    most = max(looks)
    over = sum(each["over_budget"] for each in document["test_sets"])
    told = (
        f"{counted(len(looks), 'test set')} looked at {counted(sum(looks), 'time')} in all, one of them {most:,} times"
    )
    yield told + (f"; {counted(over, 'look')} past a budget." if over else ".")


_SPEAKERS = {
    "score": _scores,
    "compare": _comparison,
    "seeds": _seeds,
    "rank": _rank,
    "size": _size,
    "ledger": _ledger,
}
