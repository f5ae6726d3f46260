"""A comparison on a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadheat.questions.compare import Comparison
from deadheat.questions.contest import Contest
from deadheat.results.compare import DisputedSentence
from deadheat.stats.ranks import CriticalDifference
from deadheat.terminal.tables import Toned, emphasis, percent, prose, quotable, table, word_rows


def comparison_text(found: Comparison, *, disputed: int = 5) -> str:
    """Scores, pairs, who is tied, agreement and the sentences the systems disagree on most."""
    parts = [
        _systems(found),
        _pairs(found),
        prose(
            f"tied with the best: {', '.join(found.tied)}"
            if len(found.tied) > 1
            else f"best: {found.tied[0]}, better than every other"
        ),
    ]
    if found.ranks is not None:
        parts.append(_ranks(found.ranks))
    if found.disagreement is not None:
        agreed = found.disagreement
        told = f"agreement on {agreed.labels}: Krippendorff's alpha {agreed.alpha:.4f}; of all words "
        told += f"{percent(agreed.oracle)} % are right in at least one system"
        told += "" if math.isnan(agreed.majority) else f", {percent(agreed.majority)} % by majority vote"
        parts.append(prose(told))
        if agreed.sentences and disputed:
            parts.append(emphasis("Where they disagree most"))
            parts += [_sentence(each) for each in agreed.sentences[:disputed]]
    return "\n\n".join([*parts, quotable(found.signature)])


def _systems(found: Comparison) -> str:
    level = f"{100 * (1 - found.settings.alpha):.4g} % interval"
    more = list(dict.fromkeys(row.metric.label for row in found.besides))
    besides = {(row.file, row.metric.label): percent(row.value) for row in found.besides}
    rows = [
        [
            Toned(row.file, "strong") if row.file in found.tied else row.file,
            shown(found, row.value),
            f"{shown(found, row.interval.low)} - {shown(found, row.interval.high)}",
            *(besides.get((row.file, label), "-") for label in more),
        ]
        for row in sorted(found.systems, key=lambda row: -row.value)
    ]
    return table(["system", found.metric, level, *more], rows)


def _pairs(found: Comparison) -> str:
    corrected = f"p ({found.settings.correction})"
    header = [
        "pair",
        "difference",
        f"{100 * (1 - found.settings.alpha):.4g} % interval",
        "errors saved",
        "p",
        corrected,
        "verdict",
    ]
    place = {row.file: i for i, row in enumerate(sorted(found.systems, key=lambda row: -row.value))}
    best_first = sorted(found.pairs, key=lambda pair: sorted((place[pair.a], place[pair.b])))
    rows = [pair_cells(found, pair) for pair in best_first]
    return prose(f"{found.test}, by {found.unit}: {found.reason}\n") + table(header, rows)


def shown(found: Comparison, value: float, *, sign: str = "") -> str:
    """A score or difference on the scale it is read on."""
    return f"{found.scale * value:{sign}.{found.decimals}f}"


def pair_cells(found: Comparison, pair: Contest) -> list[str]:
    """A pair as the cells of a table."""
    low, high = (shown(found, bound, sign="+") for bound in pair.interval.bounds)
    saved = math.isfinite(pair.error_reduction) and found.scale == 100
    winner = pair.winner(found.settings.alpha)
    return [
        f"{pair.a} - {pair.b}",
        shown(found, pair.difference, sign="+"),
        f"{low} - {high}",
        f"{percent(pair.error_reduction)} %" if saved else "-",
        p_text(pair.p),
        p_text(pair.p_corrected),
        Toned(f"{winner} wins", "win") if winner else Toned("a dead heat", "tie"),
    ]


def _ranks(ranks: CriticalDifference) -> str:
    """Average ranks over data sets, and systems that Nemenyi's test does not tell apart."""
    order = sorted(zip(ranks.average_ranks_S.tolist(), ranks.pairs.names, strict=True))
    listed = ", ".join(f"{name} {rank:.2f}" for rank, name in order)
    lines = [f"average ranks: {listed} (Friedman p = {p_text(ranks.friedman.p)})"]
    if ranks.cd is not None:
        lines.append(f"not told apart by ranks (Nemenyi, critical difference {ranks.cd:.2f}):")
        lines += [f"  {', '.join(clique)}" for clique in ranks.cliques] or ["  none"]
    return prose("\n".join(lines))


def p_text(p: float) -> str:
    """A p-value with four decimals, or its size where these would show none."""
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def _sentence(disputed: DisputedSentence) -> str:
    """Words in a row, under them the labels of gold and of every system; where a system errs, its label is shown."""
    rows: list[tuple[str, Sequence[str]]] = [("gold", disputed.gold)]
    for name, labels in disputed.labels.items():
        pairs = zip(labels, disputed.gold, strict=True)
        rows.append((name, [Toned(own, "wrong") if own != gold else Toned(".", "tie") for own, gold in pairs]))
    place = prose(f"{disputed.place} (alpha {disputed.alpha:.3f})")
    return f"{place}\n{word_rows(disputed.words, rows)}"
