"""What the demo shows: on a terminal, and as a page."""

from __future__ import annotations

from deadheat.analyses.demo import METRIC, Demo
from deadheat.report.page import (
    difference_chart,
    difference_table,
    html_table,
    in_words,
    interval_chart,
    page,
    score_section,
)
from deadheat.report.terminal import emphasis, percent, score_matrix, table


def demo_text(demo: Demo) -> str:
    """Scores, differences, and whether the verdicts are true."""
    rows = [
        [
            f"{each.better.file} - {each.worse.file}",
            f"{100 * each.value:+.2f}",
            f"{100 * each.interval.low:+.2f} - {100 * each.interval.high:+.2f}",
            each.verdict,
            f"{100 * (demo.truth[each.better.file] - demo.truth[each.worse.file]):+.2f}",
        ]
        for each in demo.differences
    ]
    return "\n\n".join(
        [
            f"Three simulated systems on a treebank of an invented language ({demo.language}), whose truth we know.",
            table(*score_matrix(demo.scores)),
            demo.scores.signature,
            emphasis(f"Which differences in {METRIC} are real?"),
            table(["systems", "difference", "95 % interval", "verdict", "true difference"], rows),
        ]
    )


def demo_page(demo: Demo) -> str:
    """The same as one page."""
    rows = [row for row in demo.scores.rows if row.metric.label == METRIC]
    truth = [[row.file, percent(row.value), percent(demo.truth[row.file])] for row in rows]
    sections = [
        (f"{METRIC} of each system", interval_chart(rows)),
        ("Which differences are real", difference_chart(demo.differences) + difference_table(demo.differences)),
        ("All scores, in percent", score_section(demo.scores)),
        (
            "What is true",
            "<p>The systems are simulated, so their true scores are known: B and C are equally good, and A is one "
            "point better.</p>" + html_table(["system", "measured", "true"], truth),
        ),
    ]
    return page("Deadheat demo", [in_words(each) for each in demo.differences], sections, demo.scores.signature)
