"""Shares among percentages: a system or a data set that was scored on another scale is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.questions.compare_scores import compare_scores
from deadheat.questions.contrast import contrast
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.questions.table_report import table_report

Scores = dict[str, dict[str, float]]
PERCENT: Scores = {
    "A": {"en": 90.5, "de": 85.0, "fi": 80.0, "ta": 61.0},
    "B": {"en": 89.0, "de": 86.0, "fi": 78.0, "ta": 60.5},
    "C": {"en": 91.0, "de": 84.0, "fi": 79.0, "ta": 59.5},
}
SHARES: Scores = PERCENT | {"B": {name: value / 100 for name, value in PERCENT["B"].items()}}
EXPECTED = "if they are shares, multiply them by 100"


def notes_of(scores: Scores) -> list[str]:
    """The notes of the questions about data sets, which have to say the same."""
    ranked, compared = (
        [text for text in question(scores).notes if "multiply" in text] for question in (rank, compare_scores)
    )
    assert ranked == compared
    return ranked


def test_a_system_in_shares_among_percentages_is_a_note() -> None:
    assert notes_of(PERCENT) == []
    assert notes_of(SHARES) == [f"all scores of B are between 0 and 1, and others reach 91; {EXPECTED}"]


def test_a_data_set_in_shares_is_a_note() -> None:
    mixed = {name: row | {"fi": row["fi"] / 100} for name, row in PERCENT.items()}
    assert notes_of(mixed) == [f"all scores on fi are between 0 and 1, and others reach 91; {EXPECTED}"]


def test_the_smaller_group_is_named_whichever_scale_it_has() -> None:
    names = ["B", "A", "C"]
    shares = {name: {d: v / 100 for d, v in PERCENT[name].items()} for name in names[1:]} | {"B": PERCENT["B"]}
    (note,) = notes_of(shares)
    assert (
        note
        == "all scores of A and C are between 0 and 1, and others reach 89; if they are shares, multiply them by 100"
    )


@pytest.mark.parametrize(
    "row",
    [
        {"en": 0.0, "de": 0.0, "fi": 0.0, "ta": 0.0},  # a system that failed
        {"en": 0.4, "de": 1.3, "fi": 0.1, "ta": 0.2},  # a bad one
        {"en": -0.4, "de": 0.3, "fi": 0.1, "ta": 0.2},
    ],
)
def test_bad_systems_are_no_shares(row: dict[str, float]) -> None:
    assert notes_of(PERCENT | {"B": row}) == []


def test_scores_that_are_all_shares_or_no_percentages_are_no_mixture() -> None:
    assert notes_of({name: {d: v / 100 for d, v in row.items()} for name, row in PERCENT.items()}) == []
    assert notes_of({"A": {"x": 1.2, "y": 1.4}, "B": {"x": 0.8, "y": 0.9}}) == []  # ratios, losses, ...


def test_runs_in_shares_are_a_note(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [(name, seed, (90 + seed / 8) / (100 if name == "B" else 1)) for name in "ABC" for seed in range(3)]
    path.write_text("system,seed,score\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    note = f"all scores of B are between 0 and 1, and others reach 90.25; {EXPECTED}"
    assert note in seeds(path, score="score").notes
    assert note in contrast(path, score="score", factor="system").notes
    report = table_report(path)
    assert note in [*report.notes, *(note for result in report.results for note in result.notes)]
