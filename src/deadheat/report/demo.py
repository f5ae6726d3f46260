"""What the demo shows: on a terminal, and as a page."""

from __future__ import annotations

from deadheat.analyses.demo import Demo
from deadheat.report.comparison import comparison_text
from deadheat.report.page import contest_chart, contest_table, html_table, in_words, interval_chart, page, score_section
from deadheat.report.terminal import emphasis, percent, score_matrix, table


def demo_text(demo: Demo) -> str:
    """Scores, differences, and what is true."""
    truth = ", ".join(f"{name} {percent(value)}" for name, value in demo.truth.items())
    return "\n\n".join(
        [
            f"Three simulated systems on a treebank of an invented language ({demo.language}), whose truth we know.",
            table(*score_matrix(demo.scores)),
            demo.scores.signature,
            emphasis(f"Which differences in {demo.comparison.metric} are real?"),
            comparison_text(demo.comparison, disputed=1),
            f"The truth: {truth}. B and C are equally good, and A is a point better.",
        ]
    )


def demo_page(demo: Demo) -> str:
    """The same as one page."""
    found = demo.comparison
    truth = [[row.file, percent(row.value), percent(demo.truth[row.file])] for row in found.systems]
    sections = [
        (f"{found.metric} of each system", interval_chart(found.systems)),
        ("Which differences are real", contest_chart(found) + contest_table(found)),
        ("All scores, in percent", score_section(demo.scores)),
        (
            "What is true",
            "<p>The systems are simulated, so their true scores are known: B and C are equally good, and A is one "
            "point better.</p>" + html_table(["system", "measured", "true"], truth),
        ),
    ]
    return page("Deadheat demo", [in_words(found, pair) for pair in found.pairs], sections, found.signature)
