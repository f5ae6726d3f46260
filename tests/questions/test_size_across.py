"""Real parsers on real treebanks: what the page on the paper says about samples and rankings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deadheat.questions.designs import match_pattern
from deadheat.questions.size import size_of_sets
from deadheat.ranking.size_samples import SizeSettings


def test_the_real_parsers_across_treebanks_are_as_the_page_says(shared_data: Path) -> None:
    """The figures of `docs/papers/data-size.md`."""
    folder = shared_data / "predictions" / "predicted-pos"
    patterns = [f"{folder}/{{dataset}}/{name}.conll.gz" for name in ("gold.{system}", "{system}.{run}")]
    settings = SizeSettings(strategies=("rand",), cross=True)
    lenient = ("multiple-roots", "final-newline")
    predictions = match_pattern(patterns[0], patterns[1:])
    result = size_of_sets(predictions, settings=settings, align="position", lenient=lenient)
    sufficient = {item.name: item.curves[0].sufficient for item in result.sets}
    expected = (10_000, 5000, 1000, 500, 2000, 10_000)
    assert sufficient == dict(zip(("en_ewt", "he_htb", "ru_gsd", "ta_ttb", "ug_udt", "wo_wtb"), expected, strict=True))
    first = {item.name: item.systems[0].system for item in result.sets}
    assert {name for name, system in first.items() if system == "pointer"} == {"en_ewt"}
    whole = [item.curves[0].points[-1].tau for item in result.cross]
    assert (len(whole), round(float(np.mean(whole)), 3)) == (30, 0.727)
    for words, tau, distance in ((100, 0.610, 0.193), (5000, 0.706, 0.124)):
        points = [point for item in result.cross if (point := item.curves[0].at(words)) is not None]
        assert round(float(np.mean([point.tau for point in points])), 3) == tau
        assert round(float(np.mean([point.aso.distance for point in points if point.aso])), 3) == distance
