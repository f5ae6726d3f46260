"""What a search is called beside the systems of a study; apart, so that a page need not read stores to know it."""

from __future__ import annotations

from typing import Any

from deadheat.documents import Document


def searched(label: str) -> str:
    """What networks of a search are called among runs.

    Examples
    --------
    >>> searched("biaffine")
    'biaffine, searched'
    """
    return f"{label}, searched"


def failed_systems(study: Document) -> list[Any]:
    """The cells of a study's systems that failed; of those of its searches, the searches tell.

    Examples
    --------
    >>> failed = [{"system": "hmm"}, {"system": "perceptron.v1(epochs=4)"}]
    >>> failed_systems({"systems": {"hmm.v1": "hmm"}, "failed": failed, "searches": [{}]})
    [{'system': 'hmm'}]
    """
    failed = list(study.get("failed") or ())
    if not study.get("searches"):
        return failed
    known = set((study.get("systems") or {}).values())
    return [each for each in failed if each["system"] in known]
