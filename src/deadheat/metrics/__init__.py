"""Metrics: counts a unit, and the value of a sum. Importing this registers all of them."""

from deadheat.metrics import accuracy, chunking, universal
from deadheat.metrics.metric import METRICS, Metric, error_reduction
from deadheat.metrics.pair import Pair, align

__all__ = ["METRICS", "Metric", "Pair", "accuracy", "align", "chunking", "error_reduction", "universal"]
