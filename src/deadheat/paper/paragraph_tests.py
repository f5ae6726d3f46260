"""What is said of test sets: scores, comparisons, rankings over data sets, sizes, power, splits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from deadheat.documents import Document
from deadheat.paper.designs import split_words
from deadheat.paper.sentences import (
    Sentence,
    cite,
    corrected,
    listed,
    p_said,
    percent,
    points,
    scored,
    tested,
)
from deadheat.questions.latex import fixed
from deadheat.questions.method_words import metric_words
from deadheat.text import pluralize

MOST_SYSTEMS, MOST_SETS = 5, 3


def score_sentences(document: Document) -> Iterator[Sentence]:
    """How good every prediction is, by the first metric."""
    rows = [row for row in document["scores"] if not row.get("group")]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    if not rows:
        return
    main = "LAS" if "LAS" in metrics else metrics[0]
    own = [row for row in rows if row["metric"] == main]
    told = [f"{row['file']} has {scored(row['value'], scale=100)}{_interval(row)}" for row in own[:MOST_SYSTEMS]]
    signature = document.get("signature") or ""
    size = re.search(r"sentences (\d+) \| words (\d+)", signature)
    on = f" on {pluralize(int(size[1]), 'sentence')} ({pluralize(int(size[2]), 'word')})" if size else ""
    keys = [key for word, key in (("wilson", "wilson-1927"), ("bootstrap", "efron-1979")) if word in signature]
    level = re.search(r"\| (0\.\d+) (wilson or bootstrap|bootstrap)", signature)
    how = {
        "wilson or bootstrap": "Wilson's, or by bootstrap where a score is no proportion",
        "bootstrap": "by bootstrap",
    }
    yield Sentence.of(
        f"We scored {pluralize(len({row['file'] for row in rows}), 'prediction')}{on} by {listed(metrics)}."
    )
    yield Sentence.of(f"By {main}, {listed(told)}.")
    if level:
        yield Sentence.of(f"Intervals are {100 * float(level[1]):.4g} % and {how[level[2]]}", cite(*keys), ".")


def _part(document: Document) -> str:
    return f" on {document['part']}" if document.get("part") else ""


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f" [{fixed(row['low'], scale=100)}, {fixed(row['high'], scale=100)}]"


def compare_sentences(document: Document) -> Iterator[Sentence]:
    """Which systems were compared how, and who is better than whom."""
    systems = sorted(document["systems"], key=lambda row: -row["value"])
    scale = document.get("scale") or (1.0 if document["unit"] == "data set" else 100.0)
    decimals = 4 if scale == 1 and all(abs(row["value"]) <= 2 for row in systems) else 2
    form: dict[str, Any] = {"scale": scale, "decimals": decimals}
    part = _part(document)
    units = re.search(r"units (\d+) \(", document.get("signature") or "")
    on = f" {'over' if part else 'on'} {pluralize(int(units[1]), document['unit'])}" if units else ""
    tests = len(document["pairs"])
    metric = metric_words(document["metric"])
    names = listed(row["system"] for row in systems)
    yield Sentence.of(
        f"We compared {pluralize(len(systems), 'system')} ({names}) by {metric}{part}{on} with ",
        *tested(document["test"], by=document["unit"]),
        f" at alpha {document['alpha']:g}, p-values ",
        *corrected(document["correction"], tests),
        ".",
    )
    yield Sentence.of(f"{systems[0]['system']} had the highest {metric} ({scored(systems[0]['value'], **form)}).")
    yield from _against_first(document, [row["system"] for row in systems], form)
    yield from _ranks(document)


def _against_first(document: Document, order: list[str], form: dict[str, Any]) -> Iterator[Sentence]:
    first, tied = order[0], set(document["tied"])
    others = [name for name in order[1:] if name in tied]
    beaten = [name for name in order[1:] if name not in tied]
    found = {frozenset((pair["a"], pair["b"])): pair for pair in document["pairs"]}

    def told(name: str) -> str:
        pair = found.get(frozenset((first, name)))
        if pair is None:  # tested against a reference alone
            return name
        return f"{name} ({points(pair['difference'], **form)}, {p_said(pair['p_corrected'])})"

    if beaten:
        pairs = [found.get(frozenset((first, name))) for name in beaten]
        how = (
            "is significantly better than"
            if all(map(partial(_favours, first), pairs))
            else "differs significantly from"
        )
        every = "every other system: " if len(beaten) > 1 and not others else ""
        yield Sentence.of(f"It {how} {every}{listed(map(told, beaten))}.")
    if others:
        yield Sentence.of(f"It does not differ significantly from {listed(map(told, others))}.")
    if len(document["pairs"]) > 1 and not any(_is_clear(document, pair) for pair in document["pairs"]):
        yield Sentence.of("No difference between any two systems was significant.")


def _is_clear(document: Document, pair: Mapping[str, Any]) -> bool:
    return pair["p_corrected"] is not None and pair["p_corrected"] <= document["alpha"]


def _favours(first: str, pair: Mapping[str, Any] | None) -> bool:
    """Whether the test of a pair speaks for this system; some tests need not speak for the higher score."""
    if pair is None:
        return False
    ahead = pair["a"] if pair["difference"] > 0 else pair["b"]
    return bool(pair.get("winner", ahead) == first)


def _ranks(document: Document) -> Iterator[Sentence]:
    ranks = document.get("ranks") or {}
    if not ranks:
        return
    friedman = p_said(ranks["friedman"]["p"])
    said = f"By Friedman's test the ranks over {pluralize(ranks['data_sets'], 'data set')} "
    said += "differ" if (ranks["friedman"]["p"] or 0) <= ranks["alpha"] else "are not shown to differ"
    cliques = [listed(clique) for clique in ranks["cliques"]]
    difference = ranks.get("critical_difference")
    apart = ""
    if difference is not None:
        groups = "; ".join(cliques)
        held = f"does not tell apart {groups}" if cliques else "tells all systems apart"
        apart = f"; Nemenyi's test (critical difference {difference:.2f}) {held}"
    yield Sentence.of(f"{said} ({friedman}){apart}", cite("demsar-2006"), ".")


def rank_sentences(document: Document) -> Iterator[Sentence]:
    """How stable the ranking is over subsets of data sets."""
    systems, size, sets = document["systems"], document["subset_size"], document["data_sets"]
    metric = f" by {metric_words(document['metric'])}{_part(document)}" if document.get("metric") else ""
    drawn = "all subsets" if document["design"] == "all" else f"{document['samples']:,} random subsets"
    by = f", {document['design']} by {document['by']}," if document.get("by") else ""
    yield Sentence.of(
        f"We ranked {pluralize(len(systems), 'system')}{metric} on {pluralize(sets, 'data set')}, and on {drawn} of "
        f"{size} of them{by}",
        cite("alonso-etal-2022"),
        ".",
    )
    tau = document["tau"]
    if tau["mean"] is not None:
        spread = f"SD {fixed(tau['sd'], decimals=3)}, least {fixed(tau['min'], decimals=3)}"
        yield Sentence.of(
            "Kendall's tau",
            cite("kendall-1938"),
            f" between the ranking on a subset and that on all data sets was {fixed(tau['mean'], decimals=3)} on "
            f"average ({spread}).",
        )
    first = systems[0]
    if first["best"] == first["worst"]:
        same = f"had rank {first['best']} on all of them"
    else:
        share = percent(first["chances"][0])
        same = f"had ranks from {first['best']} to {first['worst']} and was first on {share} of them"
    yield Sentence.of(f"{first['system']}, first on all data sets, {same}.")
    steady = sum(row["best"] == row["worst"] for row in systems)
    whole = "no system" if not steady else "one system" if steady == 1 else f"{steady} systems"
    yield Sentence.of(f"Of the {len(systems)}, {whole} had one and the same rank on every subset.")


def size_sentences(document: Document) -> Iterator[Sentence]:
    """How much of a test set is enough."""
    other = "all of it" if document["against"] == "all" else "the rest"
    yield Sentence.of(
        f"We ranked the systems by {metric_words(document['metric'])} on samples of the test data and on {other}, and "
        "compared the rankings by weighted tau",
        cite("vigna-2015", "van-der-goot-etal-2024"),
        f"; a size is enough if tau is at least {document['threshold']:g} in {100 * document['confidence']:g} % of the "
        "draws at it and at every larger size that was tried.",
    )
    for block in document["sets"][:MOST_SETS]:
        told = []
        for way in block["ways"]:
            if way["enough"]:
                told.append(f"{way['enough']:,} words by {way['way']}")
            elif way.get("reason"):
                told.append(f"by {way['way']}: {way['reason']}")
        enough = [each for each in told if not each.startswith("by ")]
        rest = [each for each in told if each.startswith("by ")]
        size = f"{block['set']} ({pluralize(block['words'], 'word')})"
        if enough:
            others = f" ({'; '.join(rest)})" if rest else ""
            yield Sentence.of(f"Of {size}, enough were {listed(enough)}{others}.")
        else:
            yield Sentence.of(f"Of {size}, no size can be said to be enough ({'; '.join(rest)}).")
    if len(document["sets"]) > MOST_SETS:
        yield Sentence.of(f"{pluralize(len(document['sets']) - MOST_SETS, 'more test set')}: see the table.")


def power_sentences(document: Document) -> Iterator[Sentence]:
    """What a test set could have shown."""
    scale = 100.0 if abs(document["difference"]) <= 1 else 1.0
    names = document.get("systems") or []
    between = f" between {listed(names)}" if names else ""
    unit = document.get("unit") or "unit"
    gap = points(document["difference"], scale=scale)
    yield Sentence.of(
        f"At alpha {document['alpha']:g}, {pluralize(document['units'], unit)} give a power of {document['power']:.2f} "
        f"to find a difference of {gap}{between}."
    )


def split_sentences(document: Document) -> Iterator[Sentence]:
    """What was split how."""
    if "strategy" not in document:
        return
    way = split_words(document["strategy"], [document["times"]], seed=document.get("seed", 0))
    sizes = f"{pluralize(document['sentences'], 'sentence')}, {pluralize(document['words'], 'word')}"
    yield Sentence.of(f"We made {way} of {document['corpus']} ({sizes}).")


def looks_sentences(documents: list[dict[str, Any]]) -> Iterator[Sentence]:
    """How often the test sets were looked at, by the ledger; each is told once, with the most that is known of it."""
    found: dict[str, Mapping[str, Any]] = {}
    for document in documents:
        told = [*(document.get("looks") or [])] if isinstance(document.get("looks"), list) else []
        if document["kind"] == "ledger":
            told += document.get("test_sets") or ([document] if "test_set" in document else [])
        for each in told:
            known = found.get(each["test_set"])
            if known is None or each["looks"] >= known["looks"]:
                found[each["test_set"]] = each
    if not found:
        return
    looks = [each["looks"] for each in found.values()]
    over = sum(each.get("over_budget") or 0 for each in found.values())
    past = f", {over:,} of them past the budget" if over else ""
    if len(found) == 1:
        (each,) = found.values()
        who = f" with {pluralize(len(each['systems']), 'system')}" if each.get("systems") else ""
        times = "once" if looks[0] == 1 else f"{looks[0]:,} times"
        yield Sentence.of(
            f"By the ledger the test set {each['name']} was evaluated {times}{who} up to now, what is reported here "
            f"included{past}."
        )
    else:
        most = "each once" if max(looks) == 1 else f"none more than {max(looks):,} times"
        yield Sentence.of(
            f"By the ledger the {len(found):,} test sets were evaluated {sum(looks):,} times in all up to now, {most}, "
            f"what is reported here included{past}."
        )
