"""How much test data real parsers need."""

from __future__ import annotations

from pathlib import Path

import deadheat
from deadheat.questions.size_counts import Prediction, count_test_set


def test_real_parsers_on_a_real_treebank(shared_data: Path) -> None:
    """The means over three runs of each parser are those that scoring gives, whatever gold file a parser has."""
    bank = shared_data / "predictions" / "predicted-pos" / "wo_wtb"
    parsers = ("biaffine", "pointer", "bracketing")
    lenient = ("multiple-roots", "final-newline")
    rows = [
        Prediction(name, bank / f"gold.{name}.conll.gz", bank / f"{name}.run{run}.conll.gz")
        for name in parsers
        for run in (1, 2, 3)
    ]
    made = count_test_set(
        "wo", rows, metric="las", align_by="position", ledger_entry=None, reading={"lenient": lenient}
    ).counted
    assert (len(made.lengths_N), made.words) == (470, 10403)
    scores = made.metric.value(made.counts_RNF.sum(axis=1))
    for row, value in zip(rows, scores, strict=True):
        scored = deadheat.score(row.gold, row.predicted, metrics=["las"], align_by="position", lenient=lenient)
        assert scored["las"].value == value
