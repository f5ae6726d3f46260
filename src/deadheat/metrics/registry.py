"""Metrics by name: `las`, `LAS`, `las.v1`, `las.v1(subtypes=True)`."""

from __future__ import annotations

from deadheat.metrics.metric import Metric
from deadheat.registry import Registry

METRICS: Registry[Metric] = Registry("metric", "las, las.v1 or las.v1(subtypes=True)")
