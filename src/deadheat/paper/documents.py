"""Documents as they are given to the paper's writers: of a known kind, with what that kind always has."""

from __future__ import annotations

from typing import Any

from deadheat.documents import Document, plain
from deadheat.errors import InputError, NameUnknown

# What every document of a kind has.
KINDS = {
    "score": ("scores",),
    "compare": ("systems", "pairs", "tied", "metric", "unit", "test", "correction", "alpha"),
    "rank": ("systems", "pairs", "tau", "data_sets", "subset_size", "samples", "design"),
    "seeds": ("blocks", "system", "score", "alpha", "correction"),
    "contrast": ("blocks", "factor", "score", "by"),
    "size": ("sets", "metric", "threshold", "confidence", "against", "draws"),
    "study": ("blocks", "correction", "alpha"),
    "search": ("label", "metric", "setups", "varied", "tried", "settings", "looks", "datasets", "between"),
    "power": ("difference", "units", "alpha", "power"),
    "split": (),
    "ledger": (),
}


def checked(document: Document) -> dict[str, Any]:
    """The same document in plain values.

    Raises
    ------
    InputError
        If it is of no known kind, or has not what its kind has.

    Examples
    --------
    >>> checked({"kind": "score", "scores": ()})
    {'kind': 'score', 'scores': []}
    """
    kind = document.get("kind")
    if not isinstance(kind, str):
        raise InputError("a document without a kind; expected what a command prints with --json")
    if kind not in KINDS:
        raise NameUnknown("kind of document", kind, KINDS)
    missing = [key for key in KINDS[kind] if key not in document]
    if missing:
        told = f"a document of kind {kind} without {', '.join(missing)}"
        command = "run" if kind in ("study", "search") else kind
        raise InputError(f"{told}; expected what deadheat {command} prints with --json")
    found: dict[str, Any] = plain(document)
    return found
