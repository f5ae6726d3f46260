"""The oracle of a study: how good an ensemble would be that is right wherever some system is right."""

from __future__ import annotations

import math
from statistics import fmean, stdev

from deadheat.metrics import METRICS
from deadheat.results.study import StudyBlock, SystemScores

ORACLE = "oracle"


def oracle_row(block: StudyBlock) -> SystemScores | None:
    """The accuracy of the oracle over the splits of a block, as Gorman and Bedrick (2019, figure 1) show it.

    It is that of the first seeds of all systems of the block. None where the first metric is not an accuracy per word,
    because the share of words that some system has right is no other score.
    """
    metric = METRICS.make(block.metrics[0]) if block.metrics and block.metrics[0].startswith("accuracy.") else None
    if metric is None:
        return None
    shares = [item.oracle for item in block.agreement if item.labels == metric.compares]
    if not shares or any(map(math.isnan, shares)):
        return None
    sd = stdev(shares) if len(shares) > 1 else math.nan
    by_split = tuple(shares) if len(shares) == block.splits else ()
    return SystemScores(
        ORACLE, metric.name, len(shares), fmean(shares), sd, min(shares), max(shares), by_split=by_split
    )
