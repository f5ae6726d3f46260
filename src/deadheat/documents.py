"""Results as JSON: plain values, and null for what is not a number."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Document: TypeAlias = Mapping[str, Any]  # a result as JSON has it


def to_json(document: Document, *, indent: int | None = None) -> str:
    """One object; what is not a finite number is null.

    Examples
    --------
    >>> to_json({"score": 0.5, "p": float("nan"), "names": ("a", "ö")})
    '{"score": 0.5, "p": null, "names": ["a", "ö"]}'
    """
    return json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=indent)


def plain(value: Any) -> Any:
    """The same with lists for tuples and None for what is not a finite number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value
