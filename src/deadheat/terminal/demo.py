"""What the demo shows on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deadheat.questions.demo import Demo
from deadheat.terminal.comparison import comparison_text
from deadheat.terminal.study import study_text
from deadheat.terminal.tables import emphasis, percent, prose


def demo_text(demo: Demo, verdicts: Sequence[str]) -> str:
    """The standings of the taggers, the verdict, and how the simulated parsers compare with the truth."""
    truth = ", ".join(f"{name} {percent(value)}" for name, value in demo.truth.items())
    first = demo.study.result.blocks[0].corpus
    shown = tuple(each for each in demo.study.result.blocks if each.part == "test" and each.corpus == first)
    return "\n\n".join(
        [
            emphasis("Four taggers on six invented languages: what holds?"),
            study_text(replace(demo.study.result, blocks=shown)),
            "\n".join(map(prose, verdicts)),
            emphasis(f"Three simulated parsers: which differences in {demo.parsers.metric} are real?"),
            comparison_text(demo.parsers, disputed=0),
            f"The truth: {truth}. B and C are equally good, and A is a point better.",
        ]
    )
