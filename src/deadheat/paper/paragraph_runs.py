"""What is said of runs: distributions over seeds, and options over configurations."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.documents import Document
from deadheat.paper.sentences import Sentence, cite, corrected, listed, p_said, percent, points, scored
from deadheat.questions.latex import display_scale, fixed
from deadheat.questions.latex_runs import options_corrected
from deadheat.questions.method_words import metric_words
from deadheat.questions.table_report import ALPHA
from deadheat.text import pluralize

MOST_BLOCKS = 3
WON, LOST = "was significantly better than", "was significantly worse than"
TIED, WEAK = "was not told apart from", "had too few runs to be told apart from"


def seeds_sentences(document: Document) -> Iterator[Sentence]:
    """How systems compare over seeds."""
    blocks = document["blocks"]
    rows = [row for block in blocks for row in block["systems"]]
    scale = display_scale([row[end] for row in rows for end in ("minimum", "maximum")])
    metric = metric_words(document.get("metric") or document["score"])
    metric += f" on {document['part']}" if document.get("part") else ""
    names = list(dict.fromkeys(row["system"] for row in rows))
    runs = sorted({row["n"] for row in rows})
    many = pluralize(runs[0], "run") if len(runs) == 1 else f"{runs[0]:,} to {pluralize(runs[-1], 'run')}"
    each = " each" if len(rows) > 1 else ""
    yield Sentence.of(
        f"Over {many}{each}, we compared the distributions of {metric} of {pluralize(len(names), 'system')} "
        f"({listed(names)})",
        cite("reimers-gurevych-2017"),
        ".",
    )
    pairs = [pair for block in blocks for pair in block["pairs"]]
    if pairs:
        sizes = {len(block["pairs"]) for block in blocks}
        means = any(block["unit"] == "configuration" for block in blocks)
        what = "the means of configurations" if means else "runs"
        yield Sentence.of(
            f"Mann-Whitney's test of {what}",
            cite("mann-whitney-1947"),
            f" was used at alpha {document['alpha']:g}, with p-values ",
            *corrected(document["correction"], sizes.pop() if len(sizes) == 1 else None),
            ".",
        )
    for block in blocks[:MOST_BLOCKS]:
        yield from _block(document, block, scale)
    if len(blocks) > MOST_BLOCKS:
        yield Sentence.of(f"{pluralize(len(blocks) - MOST_BLOCKS, 'more table')}: see there.")


def _block(document: Document, block: Document, scale: float) -> Iterator[Sentence]:
    where = f"On {block['by']}, " if block["by"] else ""
    systems = sorted(block["systems"], key=lambda row: -row["mean"])
    told = [f"{row['system']} ({scored(row['mean'], scale=scale)}{_spread(row, scale)})" for row in systems]
    if len(systems) == 1:
        yield Sentence.of(f"{where}{told[0]}.")
        return
    yield Sentence.of(f"{where}{told[0]} had the highest mean, followed by {listed(told[1:], most=5)}.")
    first, alpha = systems[0]["system"], document["alpha"]
    outcomes: dict[str, list[str]] = {}
    for pair in block["pairs"]:
        if first in (pair["a"], pair["b"]):
            other = pair["b"] if pair["a"] == first else pair["a"]
            p = p_said(pair["mann_whitney"]["p_corrected"])
            outcomes.setdefault(_outcome(pair, first, alpha), []).append(f"{other} ({p})")
    for outcome in (WON, LOST, TIED, WEAK):
        if outcome in outcomes:
            yield Sentence.of(f"{first} {outcome} {listed(outcomes[outcome])}.")
    if len(systems) > 2:
        clear = sum(_outcome(pair, pair["a"], alpha) in (WON, LOST) for pair in block["pairs"])
        yield Sentence.of(f"Of all {len(block['pairs']):,} pairs, {clear or 'none'} differ{'s' * (clear < 2)}.")


def _spread(row: Document, scale: float) -> str:
    return f", SD {fixed(row['sd'], scale=scale)}" if row["n"] > 1 else ", one run"


def _outcome(pair: Document, first: str, alpha: float) -> str:
    """What the test says of one system of a pair."""
    p = pair["mann_whitney"]["p_corrected"]
    if p is not None and p <= alpha and pair["a_better"] != 0.5:
        return WON if (pair["a_better"] > 0.5) == (pair["a"] == first) else LOST
    return WEAK if pair["least_p"] is not None and pair["least_p"] > alpha else TIED


def contrast_sentences(document: Document) -> Iterator[Sentence]:
    """Which option wins over configurations."""
    blocks = document["blocks"]
    if not blocks:
        return
    options = list(dict.fromkeys(each["option"] or "(empty)" for block in blocks for each in block["options"]))
    settings = document.get("settings") or []
    alike = f" that agree in {listed(settings)}" if settings else ""
    yield Sentence.of(
        f"The options of {document['factor']} ({listed(options)}) were compared by "
        f"{metric_words(document['score'])} over runs{alike}",
        cite("reimers-gurevych-2017"),
        f"; pairs were tested by the sign test on configurations, {options_corrected(document)}alpha {ALPHA:g}.",
    )
    scale = display_scale([each[key] for block in blocks for each in block["options"] for key in ("mean", "median")])
    for block in blocks[:MOST_BLOCKS]:
        yield _options(block, scale)
    if len(blocks) > MOST_BLOCKS:
        yield Sentence.of(f"{pluralize(len(blocks) - MOST_BLOCKS, 'more table')}: see there.")


def _options(block: Document, scale: float) -> Sentence:
    where = "/".join(filter(None, (block["by"], block["second"])))
    best = next(each for each in block["options"] if each["option"] == block["best"])
    told = []
    for pair in block["pairs"]:
        if block["best"] in (pair["a"], pair["b"]):
            other = pair["b"] if pair["a"] == block["best"] else pair["a"]
            gap = next(each for each in block["options"] if each["option"] == other)["median_delta"]
            p = pair["sign_p_corrected"]
            clear = "significantly" if p is not None and p <= ALPHA else "not significantly"
            apart = points(gap, scale=scale, decimals=2 if scale == 100 else 4)
            median = f"at the median {apart} {'higher' if gap <= 0 else 'lower'}"
            told.append(f"{clear} more than {other or '(empty)'} ({p_said(p)}; {median})")
    on = f"On {where}, " if where else ""
    wins = f"{percent(best['wins'])} of {pluralize(block['configurations'], 'configuration')}"
    return Sentence.of(f"{on}{best['option'] or '(empty)'} won {wins}, {listed(told)}.")
