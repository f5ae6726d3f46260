"""What is said of a study: what was trained on what, how it was compared, what was found, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from deadheat.documents import Document
from deadheat.paper.designs import STRATEGY_KEYS, split_words
from deadheat.paper.paragraph_search import search_sentences
from deadheat.paper.references import OF_SYSTEMS
from deadheat.paper.sentences import (
    Cite,
    Sentence,
    cite,
    corrected,
    listed,
    numbered,
    opening,
    p_said,
    points,
    scored,
    tested_on_units,
)
from deadheat.questions.families import has_more_seeds, seed_words
from deadheat.questions.latex import fixed
from deadheat.questions.method_words import metric_words
from deadheat.questions.search_names import failed_systems
from deadheat.report.views.study import families
from deadheat.text import pluralize

PARTS = ("test", "dev", "tune")
MOST_BLOCKS, MOST_PAIRS, MOST_STANDINGS = 3, 4, 5


def study_sentences(document: Document) -> Iterator[Sentence]:
    """The protocol, the result, and what is left out."""
    blocks, searches = document["blocks"], document.get("searches") or []
    searched = [sentence for each in searches for sentence in search_sentences(each)]
    if not blocks:
        yield from searched or [Sentence.of("The study has no results.")]
        yield from _left_out(document)
        return
    yield _trained(document, blocks)
    yield from _seeds(document, blocks)
    part = next((part for part in PARTS if any(block["part"] == part for block in blocks)), blocks[0]["part"])
    own = [block for block in blocks if block["part"] == part]
    yield from _by_metric(document, own)
    used = [note for note in document.get("notes") or [] if "was used in training" in note]
    yield from (Sentence.of(f"{opening(note)}.") for note in used)
    yield from searched
    yield from _left_out(document)


def _by_metric(document: Document, blocks: Sequence[Document]) -> Iterator[Sentence]:
    """Systems that are scored by the same metric before all else, together."""
    found: dict[str, list[Document]] = {}
    for block in blocks:
        for family in families(block):
            found.setdefault(family["metrics"][0], []).append(family)
    for own in found.values():
        yield from _compared(document, own, of=len(found) > 1)
        yield from _found(own)


def systems_of(document: Document) -> dict[str, str]:
    """What systems are called, with their names and settings where these are known."""
    known = document.get("systems")
    if isinstance(known, Mapping) and known:
        return {str(label): str(name) for name, label in known.items()}
    return {row["system"]: "" for block in document["blocks"] for row in block["systems"]}


def _trained(document: Document, blocks: Sequence[Document]) -> Sentence:
    systems = systems_of(document)
    bases = [name.partition(".v")[0] for name in systems.values()]
    keys = cite(*(OF_SYSTEMS[base] for base in bases if base in OF_SYSTEMS))
    sizes = {each["corpus"]: each for each in document.get("corpora") or []}
    said: list[str | Cite] = [f"We trained {pluralize(len(systems), 'system')} ({listed(systems)})", keys, " on "]
    for at, (names, ways) in enumerate(_ways_by_corpora(blocks).items()):
        said.append("; and on " if at else "")
        for place, (split, seed) in enumerate(ways):
            own = sorted({block["splits"] for block in blocks if (block["split"], block["seed"]) == (split, seed)})
            said += [" and " if place else "", split_words(split, own, seed=seed)]
            base = split.partition(".v")[0]
            said.append(cite(STRATEGY_KEYS[base]) if base in STRATEGY_KEYS else cite())
        each = "each of " if len(names) > 1 else ""
        told = [_sized(name, sizes.get(name)) for name in names] if len(names) <= MOST_BLOCKS else [listed(names)]
        corpora = listed(told) if len(names) <= MOST_BLOCKS else f"{len(names)} corpora ({told[0]})"
        said.append(f" of {each}{corpora}")
    return Sentence.of(*said, ".")


def _ways_by_corpora(blocks: Sequence[Document]) -> dict[tuple[str, ...], list[tuple[str, int]]]:
    """Ways to split, with their seeds, by the corpora that are split so."""
    corpora: dict[tuple[str, int], dict[str, None]] = {}
    for block in blocks:
        corpora.setdefault((block["split"], block["seed"]), {})[block["corpus"]] = None
    found: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for way, names in corpora.items():
        found.setdefault(tuple(names), []).append(way)
    return found


def _sized(name: str, size: Mapping[str, Any] | None) -> str:
    if size is None:
        return name
    return f"{name} ({pluralize(size['sentences'], 'sentence')}, {pluralize(size['words'], 'word')})"


def _seeds(document: Document, blocks: Sequence[Document]) -> Iterator[Sentence]:
    seeds = document.get("seeds")
    if not isinstance(seeds, Mapping) or not seeds:
        return
    where = " on each split" if any(block["splits"] > 1 for block in blocks) else ""
    chosen = {label: tuple(own) for label, own in seeds.items()}
    alike = set(chosen.values())
    if len(alike) == 1:
        (own,) = alike
        each = "It" if len(chosen) == 1 else "Each"
        if len(own) == 1:
            yield Sentence.of(f"{each} was trained once{where} (seed {own[0]}).")
        else:
            yield Sentence.of(f"{each} was trained with {len(own)} seeds ({numbered(own)}){where}.")
        return
    groups: dict[tuple[int, ...], list[str]] = {}
    for label, own in chosen.items():
        groups.setdefault(own, []).append(label)
    told = [f"{listed(labels)} with {_seed_words(own)}" for own, labels in groups.items()]
    yield Sentence.of(f"Trained were {listed(told)}{where}.")


def _seed_words(own: Sequence[int]) -> str:
    return f"one seed ({own[0]})" if len(own) == 1 else f"{len(own)} seeds ({numbered(own)})"


def _compared(document: Document, blocks: Sequence[Document], *, of: bool) -> Iterator[Sentence]:
    metric, part = metric_words(blocks[0]["metrics"][0]), blocks[0]["part"]
    systems = dict.fromkeys(row["system"] for block in blocks for row in block["systems"]) if of else {}
    yield Sentence.of(f"We report {metric} on {part}{f' of {listed(systems)}' if of else ''}.")
    pairs = [pair for block in blocks for pair in block["pairs"]]
    if not pairs:
        return
    test = "/".join(dict.fromkeys(each for pair in pairs for each in pair["test"].split("/")))
    several = sorted({block["splits"] for block in blocks})
    many = max(len(block["pairs"]) for block in blocks)
    first = ", by the first seed of each," if any(map(has_more_seeds, blocks)) else ""
    alpha = f"alpha {document['alpha']:g}"
    if several == [1]:
        how = f"; p-values are not corrected for the {many} pairs" if many > 1 else ""
        where = "" if len(blocks) == 1 else " on each corpus"
        yield Sentence.of(f"Systems were compared{where}{first} with ", *tested_on_units(test), f" at {alpha}{how}.")
        return
    fixing = corrected(document["correction"], several[0] if len(several) == 1 else None, over="split")
    pairs_said = f" and not for the {many} pairs" if many > 1 else ""
    yield Sentence.of(
        f"On each split {'every two systems' if many > 1 else 'the two systems'} were compared{first} with ",
        *tested_on_units(test),
        f" at {alpha}, with p-values ",
        *fixing,
        f"{pairs_said}.",
    )


def _found(blocks: Sequence[Document]) -> Iterator[Sentence]:
    many = len(blocks) > 1
    if len(blocks) <= MOST_BLOCKS:
        for block in blocks:
            yield _standings(block, where=_where(block, blocks) if many else "")
            yield from _pairs([block])
    else:
        yield from _pairs(blocks)
    pairs = [pair for block in blocks for pair in block["pairs"]]
    if len(pairs) > 1 and not any(pair["significant"] + pair["reversed"] for pair in pairs):
        where = " on any split" if any(pair["splits"] > 1 for pair in pairs) else ""
        yield Sentence.of(f"No difference between any two systems was significant{where}.")


def _where(block: Document, blocks: Sequence[Document]) -> str:
    """What tells a block from the others."""
    corpus = f"{block['corpus']}" if len({each["corpus"] for each in blocks}) > 1 else ""
    ways = {(each["split"], each["seed"]) for each in blocks if each["corpus"] == block["corpus"]}
    way = split_words(block["split"], [block["splits"]], seed=block["seed"]).partition(" (")[0] if len(ways) > 1 else ""
    same = [each for each in blocks if (each["corpus"], each["split"]) == (block["corpus"], block["split"])]
    seed = f" with {seed_words(block, same)}" if len(same) > 1 else ""
    return f"On {' and '.join(filter(None, (corpus, f'{way}{seed}')))}, "


def order_of(blocks: Sequence[Document]) -> list[str]:
    """Systems that all blocks have, by their mean score over the blocks, the best first."""
    found: dict[str, list[float]] = {}
    for block in blocks:
        for row in block["systems"]:
            if row["metric"] == block["metrics"][0] and row["mean"] is not None:
                found.setdefault(row["system"], []).append(row["mean"])
    whole = {system: sum(means) for system, means in found.items() if len(means) == len(blocks)}
    return sorted(whole, key=lambda system: -whole[system])


def _standings(block: Document, *, where: str) -> Sentence:
    rows = {row["system"]: row for row in block["systems"] if row["metric"] == block["metrics"][0]}
    order = order_of([block])
    if not order:
        return Sentence.of(f"{where}no system has a score.")
    metric = metric_words(block["metrics"][0])
    if len(order) == 1:
        return Sentence.of(f"{where}{order[0]} had {metric} {_score(rows[order[0]])}.")
    told = [f"{system} with {_score(rows[system])}" for system in order[1:MOST_STANDINGS]]
    more = [pluralize(len(order) - MOST_STANDINGS, "other")] if len(order) > MOST_STANDINGS else []
    what = "highest mean" if rows[order[0]]["runs"] > 1 else "highest"
    first = f"{order[0]} had the {what} {metric}, {_score(rows[order[0]])}"
    return Sentence.of(f"{where}{first}, followed by {listed([*told, *more])}.")


def _score(row: Mapping[str, Any]) -> str:
    said = scored(row["mean"], scale=100)
    if row["runs"] > 1:
        return f"{said} (SD {fixed(row['sd'], scale=100)} over {row['runs']} runs)"
    if row["interval"]:
        low, high = (fixed(each, scale=100) for each in row["interval"])
        return f"{said} (95 % interval {low} to {high})"
    return said


def _pairs(blocks: Sequence[Document]) -> Iterator[Sentence]:
    """Neighbours in the ranking, over all splits of these blocks."""
    order = order_of(blocks)
    for a, b in list(pairwise(order))[:MOST_PAIRS]:
        found = [(pair, 1) for block in blocks for pair in block["pairs"] if (pair["a"], pair["b"]) == (a, b)]
        found += [(pair, -1) for block in blocks for pair in block["pairs"] if (pair["b"], pair["a"]) == (a, b)]
        splits = sum(pair["splits"] for pair, _ in found)
        by = "By their first seeds, " if any(has_more_seeds(block, (a, b)) for block in blocks) else ""
        if splits == 1:
            yield Sentence.of(by, _once(a, b, *found[0]))
        elif splits:
            corpora = len({block["corpus"] for block in blocks})
            yield Sentence.of(by, _over_splits(a, b, found, corpora=corpora))


def _once(a: str, b: str, pair: Document, sign: int) -> str:
    gap = sign * pair["difference"]
    clear = pair["significant"] + pair["reversed"]
    told = f"{p_said(pair['p_corrected'][0])}, {'significant' if clear else 'not significant'}"
    if not gap:
        return f"{a} and {b} scored the same ({told})."
    return f"{a} scored {points(gap, scale=100)} {'higher' if gap > 0 else 'lower'} than {b} ({told})."


def _over_splits(a: str, b: str, found: Sequence[tuple[Document, int]], *, corpora: int) -> str:
    splits = sum(pair["splits"] for pair, _ in found)
    # Where a system was the second of a pair, it is ahead where the first was not, unless they were level.
    ahead = sum(pair["ahead"] for pair, sign in found if sign > 0)
    turned = [pair for pair, sign in found if sign < 0]
    won = sum(pair["significant"] if sign > 0 else pair["reversed"] for pair, sign in found)
    lost = sum(pair["reversed"] if sign > 0 else pair["significant"] for pair, sign in found)
    gap = sum(sign * pair["difference"] * pair["splits"] for pair, sign in found) / splits
    of = f"{pluralize(splits, 'split')}{f' of {corpora} corpora' if corpora > 1 else ''}"
    mean = f"{points(gap, scale=100)} {'higher' if gap >= 0 else 'lower'} on average"
    if turned:  # how often it was ahead there is not known where scores may have been level
        said = f"{a} scored {mean} than {b} over {of} and was significantly better on {won}"
    else:
        clear = "all" if won == splits else "none" if won == 0 else f"{won}"
        on = f"all {of}" if ahead == splits else f"{ahead} of {of}"
        said = f"{a} was better than {b} on {on} ({mean}), significantly so on {clear} of them"
    return f"{said}{f', and significantly worse on {lost}' if lost else ''}."


def _left_out(document: Document) -> Iterator[Sentence]:
    missing, planned = document.get("missing") or 0, document.get("cells")
    failed = failed_systems(document)
    if missing or failed:
        number = max(missing, len(failed))
        of = f"{number:,} of {pluralize(planned, 'run')}" if planned else pluralize(number, "run")
        have = "has no result and is left out" if number == 1 else "have no result and are left out"
        counts = Counter((each["system"], each["status"]) for each in failed)
        why = [f"{system}: {times:,} {status}" for (system, status), times in counts.items()]
        yield Sentence.of(f"{of} {have}{f' ({listed(why)})' if why else ''}.")
    damaged = document.get("damaged") or []
    if damaged:
        many = pluralize(len(damaged), "run")
        yield Sentence.of(f"The predictions of {many} could not be read and are left out of the comparisons.")
