"""Metrics: counts a unit, and the value of a sum. Importing this registers all of them."""

from deadheat.metrics import attachment, chunking, enhanced, tagging, universal
from deadheat.metrics.metric import Metric, error_reduction
from deadheat.metrics.pair import Pair, align
from deadheat.metrics.registry import METRICS

__all__ = [
    "METRICS",
    "Metric",
    "Pair",
    "align",
    "attachment",
    "chunking",
    "enhanced",
    "error_reduction",
    "tagging",
    "universal",
]
