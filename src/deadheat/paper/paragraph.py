"""A paragraph that states the protocol and the result, from what was run and from nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.documents import Document
from deadheat.paper.documents import checked
from deadheat.paper.paragraph_runs import contrast_sentences, seeds_sentences
from deadheat.paper.paragraph_search import search_sentences
from deadheat.paper.paragraph_study import study_sentences
from deadheat.paper.paragraph_tests import (
    compare_sentences,
    looks_sentences,
    power_sentences,
    rank_sentences,
    score_sentences,
    size_sentences,
    split_sentences,
)
from deadheat.paper.references import bibtex
from deadheat.paper.sentences import Sentence, listed

# In the order in which a paper tells them.
SPEAKERS: Mapping[str, Callable[[Document], Iterator[Sentence]]] = {
    "split": split_sentences,
    "study": study_sentences,
    "search": search_sentences,
    "score": score_sentences,
    "compare": compare_sentences,
    "seeds": seeds_sentences,
    "contrast": contrast_sentences,
    "rank": rank_sentences,
    "size": size_sentences,
    "power": power_sentences,
}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences, as plain text and as LaTeX, and what they cite."""

    sentences: tuple[Sentence, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """Plain text, publications by names and years."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def latex(self) -> str:
        r"""LaTeX, publications by `\citep`; a sentence a line."""
        return "\n".join(sentence.latex for sentence in self.sentences)

    @property
    def keys(self) -> tuple[str, ...]:
        """What is cited, in order."""
        return tuple(dict.fromkeys(key for sentence in self.sentences for key in sentence.keys))

    def bibtex(self) -> str:
        """The entries of what is cited."""
        return bibtex(self.keys)


def paragraph(documents: Iterable[Document], *, provenance: Sequence[Mapping[str, Any]] = ()) -> Paragraph:
    """State what was done and what came of it.

    Parameters
    ----------
    documents
        What commands print with `--json`, in any order.
    provenance
        What runs were made with, as the store of a study keeps it.

    Examples
    --------
    >>> scores = {"A": 0.86, "B": 0.85}
    >>> systems = [{"system": name, "value": value, "low": 0.8, "high": 0.9} for name, value in scores.items()]
    >>> pair = {"a": "A", "b": "B", "difference": 0.01, "low": -0.01, "high": 0.03, "p": 0.3, "p_corrected": 0.3}
    >>> found = {"kind": "compare", "systems": systems, "pairs": [pair], "tied": ["A", "B"], "metric": "LAS",
    ...          "unit": "sentence", "test": "sign", "correction": "holm", "alpha": 0.05, "scale": 100}
    >>> for sentence in paragraph([found]).sentences:
    ...     print(sentence.text)
    We compared 2 systems (A and B) by LAS with the sign test by sentence at alpha 0.05, p-values of a single test.
    A had the highest LAS (86.00 %).
    It does not differ significantly from B (1.00 points, p = 0.3000).
    The analysis was done with Deadheat.
    """
    found = [checked(document) for document in documents]
    said = [
        sentence
        for kind, speak in SPEAKERS.items()
        for each in found
        if each["kind"] == kind
        for sentence in speak(each)
    ]
    said += looks_sentences(found)
    if said:
        said.append(_computed(found, provenance))
    return Paragraph(tuple(said))


def _computed(documents: Sequence[Document], provenance: Sequence[Mapping[str, Any]]) -> Sentence:
    versions = [str(each["deadheat"]) for each in provenance if each.get("deadheat")]
    signatures = [str(document.get("signature") or "") for document in documents]
    versions += [known[1] for each in signatures if (known := re.match(r"deadheat (\S+) \|", each))]
    told = f" {listed(dict.fromkeys(versions))}" if versions else ""
    return Sentence.of(f"The analysis was done with Deadheat{told}.")
