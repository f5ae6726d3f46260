"""Tables as the READMEs have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of text under the names of their columns."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines)
