"""Contrasts on a terminal."""

from __future__ import annotations

import math

from deadheat.questions.contrast import Block, Contrasts
from deadheat.ranking.importance import Importance
from deadheat.terminal.comparison import p_text
from deadheat.terminal.tables import Toned, emphasis, prose, table
from deadheat.text import pluralize

MOST_SHOWN = 10  # factors, and pairs of factors


def contrast_text(found: Contrasts) -> str:
    """A table for every block, best option first, and what the runs were paired on."""
    scale = found.display_scale
    parts = [_block(found, block, scale) for block in found.blocks]
    parts += [_importance(level, each) for level, each in found.importance.items()]
    if found.blocks:
        parts.append(_paired_on(found))
    return "\n\n".join(parts)


def _block(found: Contrasts, block: Block, scale: float) -> str:
    contrast = block.contrast
    names = [f"{kind} {level}" for kind, level in ((found.by, block.by), (found.second, block.second)) if level]
    sizes = [pluralize(contrast.configurations, "configuration")]
    if found.repeats == "each":
        sizes.append(f"{pluralize(len(contrast.scores_CO), 'run')} of each option")
    title = ", ".join([*names, *sizes])
    rows = []
    for each in sorted(contrast.options, key=lambda option: (-option.wins, -option.median_delta)):
        if each.option == contrast.best:
            compared = [""] * 4
        else:
            pair = contrast.pair(contrast.best, each.option)
            delta = f"{scale * each.median_delta:+.2f}"
            tests = pair.sign_p_corrected, pair.wilcoxon_p_corrected, pair.pitman_morgan_p_corrected
            compared = [delta, *("-" if math.isnan(p) else p_text(p) for p in tests)]
        rows.append(
            [
                Toned(each.option or "(empty)", "strong" if each.option == contrast.best else ""),
                f"{100 * each.wins:.1f} %",
                compared[0],
                f"{scale * each.median:.2f}",
                _number(scale * each.sd),
                *compared[1:],
            ]
        )
    header = [found.factor, "wins", "median difference", "median", "sd", "p (sign)", "p (Wilcoxon)", "p (sd)"]
    spread = contrast.spread
    told = f"p = {p_text(spread.p)}" if math.isfinite(spread.p) else spread.note
    told = f"sd: p by Pitman-Morgan; Brown-Forsythe, which takes options for independent: {told}"
    if contrast.tied:
        kind = "pairing" if found.repeats == "each" else "configuration"
        told += f"; the highest score is shared in {pluralize(contrast.tied, kind)}"
    return f"{emphasis(title)}\n{table(header, rows)}\n{prose(told)}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _importance(level: str, found: Importance) -> str:
    rows = [[each.factors[0], f"{100 * each.share:.1f} %"] for each in found.main[:MOST_SHOWN]]
    together = [each for each in found.pairs[:MOST_SHOWN] if each.share >= 0.005]
    rows += [[" x ".join(each.factors), f"{100 * each.share:.1f} %"] for each in together]
    repeated = math.isfinite(found.noise)
    if found.method == "exact":
        if repeated:
            rows.append(["noise between runs of the same settings", f"{100 * found.noise:.1f} %"])
        told = (
            "exact: every combination was run equally often"
            if repeated
            else "exact, of these runs, chance included: no combination was run more than once"
        )
    else:
        told = f"by a forest, which predicts {100 * found.explained:.1f} % of the variance of runs it has not seen"
        told += ": the shares are chance" if found.is_chance else ""
        told += f"; {100 * found.noise:.1f} % of the variance of runs lies within configurations" if repeated else ""
    title = f"{level + ', ' if level else ''}{pluralize(found.runs, 'run')}: variance explained"
    return f"{emphasis(title)}\n{table(['factor', 'share'], rows)}\n{prose(told)}"


def _paired_on(found: Contrasts) -> str:
    lines = [f"paired on {', '.join(found.settings) or 'nothing'}"]
    if found.left_out:
        lines.append(f"not on {', '.join(found.left_out)}")
    lines.append(
        "differences are to the option with most wins; p-values are corrected for all pairs of options in a table"
    )
    if found.repeats == "each":
        lines.append("tests are made on the means of configurations, whose runs are not independent of each other")
    return prose("\n".join(lines))
