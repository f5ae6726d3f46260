"""Honest splits: index arrays, and the strategies that make them. Importing this registers all strategies."""

from deadheat.splits import biased, strategies
from deadheat.splits.splitting import Partition, Splits, split
from deadheat.splits.strategy import STRATEGIES, Strategy

__all__ = ["STRATEGIES", "Partition", "Splits", "Strategy", "biased", "split", "strategies"]
