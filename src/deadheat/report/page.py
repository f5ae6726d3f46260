"""One page to read: self-contained HTML that opens from disk, light and dark, without scripts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from deadheat.analyses.compare import Comparison
from deadheat.analyses.contest import Contest
from deadheat.analyses.score import Score, Scores
from deadheat.report.comparison import p_text, pair_cells
from deadheat.report.terminal import percent, score_matrix

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5a6472; --line: #d5dae1; --paper: #fdfdfc; --mark: #0b5fa5; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #a3acb9; --line: #3a424d; --paper: #15181c; --mark: #7db7f0; }
}
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.8rem; } h2 { margin: 2.5rem 0 .5rem; font-size: 1.15rem; }
.motto, figcaption, footer { color: var(--soft); }
.verdict { padding: .2rem 1rem; border-left: .3rem solid var(--mark); font-size: 1.1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1rem 0; }
svg { width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.axis { stroke: var(--line); } .reach { stroke: var(--ink); stroke-width: 2; } .point { fill: var(--mark); }
code { font-size: .85rem; overflow-wrap: anywhere; }
@media print { body { max-width: none; } }
"""


def page(title: str, verdicts: Sequence[str], sections: Sequence[tuple[str, str]], foot: str) -> str:
    """A whole page: verdict first, then the evidence, section by section."""
    said = "\n".join(f"<p>{escape(verdict)}</p>" for verdict in verdicts)
    body = "\n".join(f"<section><h2>{escape(heading)}</h2>\n{content}\n</section>" for heading, content in sections)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'<p class="motto">A win, or a dead heat?</p>\n<div class="verdict">\n{said}\n</div>\n{body}\n'
        f"<footer><code>{escape(foot)}</code></footer>\n</body>\n</html>\n"
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls sideways where it is too wide."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def score_section(scores: Scores) -> str:
    """Systems by metrics, in percent."""
    return html_table(*score_matrix(scores))


def interval_chart(rows: Sequence[Score]) -> str:
    """The scores of one metric on a common scale, each with its interval."""
    low = min(row.interval.low for row in rows)
    high = max(row.interval.high for row in rows)
    margin = max((high - low) * 0.1, 1e-4)
    return _chart(
        f"{rows[0].metric.label} in percent, with {100 * rows[0].interval.level:.4g} % intervals.",
        [(row.file, row.value, row.interval.low, row.interval.high) for row in rows],
        low - margin,
        high + margin,
    )


def contest_chart(found: Comparison) -> str:
    """Differences on a scale that shows zero."""
    bounds = [0.0, *(pair.interval.low for pair in found.pairs), *(pair.interval.high for pair in found.pairs)]
    margin = max((max(bounds) - min(bounds)) * 0.1, 1e-4)
    level = 100 * (1 - found.settings.alpha)
    return _chart(
        f"Difference in {found.metric}, in points, with {level:.4g} % intervals.",
        [(f"{pair.a} - {pair.b}", pair.difference, *pair.interval.bounds) for pair in found.pairs],
        min(bounds) - margin,
        max(bounds) + margin,
        zero=True,
    )


def _chart(
    caption: str,
    rows: Sequence[tuple[str, float, float, float]],
    low: float,
    high: float,
    *,
    zero: bool = False,
) -> str:
    width, right, step = 720, 40, 34
    left = min(320, 24 + 7 * max(len(name) for name, *_ in rows))
    height = step * len(rows) + 40

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (width - left - right)

    marks = []
    for value in round_places(low, high):
        marks.append(f'<line class="axis" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="8" y2="{height - 26}"/>')
        marks.append(f'<text x="{x(value):.1f}" y="{height - 8}" text-anchor="middle">{100 * value:.4g}</text>')
    if zero:
        marks.append(
            f'<line class="reach" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="8" y2="{height - 26}" stroke-dasharray="3 4"/>'
        )
    for i, (name, value, a, b) in enumerate(rows):
        y = 26 + step * i
        told = f"{name}: {percent(value)} ({percent(a)} to {percent(b)})"
        marks.append(f'<text x="0" y="{y + 4}">{escape(name)}</text>')
        marks.append(f'<line class="reach" x1="{x(a):.1f}" x2="{x(b):.1f}" y1="{y}" y2="{y}"/>')
        marks.append(f'<circle class="point" cx="{x(value):.1f}" cy="{y}" r="5"><title>{escape(told)}</title></circle>')
    drawn = "\n".join(marks)
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(caption)}">\n{drawn}\n</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def round_places(low: float, high: float) -> list[float]:
    """Four to nine round numbers between two, for an axis.

    Examples
    --------
    >>> round_places(0.8263, 0.8475)
    [0.83, 0.835, 0.84, 0.845]
    """
    power = 10.0 ** math.floor(math.log10(high - low))
    step = next(power * part for part in (1, 0.5, 0.2, 0.1) if (high - low) / (power * part) >= 4)
    first = math.ceil(low / step)
    return [round(step * i, 12) + 0.0 for i in range(first, math.floor(high / step) + 1)]


def contest_table(found: Comparison) -> str:
    """Pairs of systems with their difference, its interval, the p-values and the verdict."""
    level = f"{100 * (1 - found.settings.alpha):.4g} % interval"
    header = ["pair", "difference", level, "errors saved", "p", f"p ({found.settings.correction})", "verdict"]
    rows = [pair_cells(found, pair) for pair in found.pairs]
    return f"<p>{escape(found.test)}, by {escape(found.unit)}: {escape(found.reason)}.</p>" + html_table(header, rows)


def in_words(found: Comparison, pair: Contest) -> str:
    """A pair as a sentence."""
    gap = f"{100 * abs(pair.difference):.2f} points of {found.metric}"
    bounds = (
        f"interval {100 * pair.interval.low:+.2f} to {100 * pair.interval.high:+.2f}, p = {p_text(pair.p_corrected)}"
    )
    winner = pair.winner(found.settings.alpha)
    if winner:
        return f"{winner} is better than {pair.b if winner == pair.a else pair.a}: by {gap} ({bounds})."
    return f"{pair.a} and {pair.b} are a dead heat: {gap} apart ({bounds})."
