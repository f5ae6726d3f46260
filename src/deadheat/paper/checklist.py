"""A checklist of what makes results reproducible, answered from what was run.

The themes are those of the checklists that conferences ask for; the questions are ours. What Deadheat cannot know is
said to be unknown, for the authors to fill in. Names of people and of machines are left out, because papers are often
reviewed without the names of their authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.documents import Document
from deadheat.paper.checklist_answers import QUESTIONS, Answer, Compute, Evidence
from deadheat.paper.documents import checked

UNKNOWN = "not known to Deadheat"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]#|~])")


@dataclass(frozen=True, slots=True)
class Item:
    """One question with what is known, and with what is not."""

    topic: str
    question: str
    known: tuple[str, ...]
    unknown: str = ""

    @property
    def markdown(self) -> str:
        """A heading, the question, and the answers as a list."""
        answers = [f"- {plain_markdown(each)}" for each in self.known]
        answers += [f"- *{UNKNOWN}*: {self.unknown}"] if self.unknown else []
        return "\n".join([f"## {self.topic}", "", f"*{self.question}*", "", *answers, ""])


@dataclass(frozen=True, slots=True)
class Checklist:
    """All items."""

    items: tuple[Item, ...]

    def __str__(self) -> str:
        return self.markdown

    @property
    def markdown(self) -> str:
        """The whole, to be filled in where something is not known."""
        told = f"Answered from what was run. What is *{UNKNOWN}* is for the authors to say."
        return "\n".join(["# Reproducibility", "", told, "", *(item.markdown for item in self.items)])


def checklist(
    documents: Iterable[Document],
    *,
    provenance: Sequence[Mapping[str, Any]] = (),
    compute: Compute | None = None,
) -> Checklist:
    """Answer every question as far as the documents go.

    Parameters
    ----------
    documents
        What commands print with `--json`.
    provenance
        What runs were made with, as the store of a study keeps it.
    compute
        What the runs took.

    Examples
    --------
    >>> found = checklist([], provenance=[{"deadheat": "0.1.0", "python": "3.12.1"}])
    >>> [item.known for item in found.items if item.topic == "Software"]
    [('deadheat 0.1.0, python 3.12.1',)]
    """
    evidence = Evidence(tuple(checked(document) for document in documents), tuple(provenance), compute)
    return Checklist(tuple(_item(*each, evidence) for each in QUESTIONS))


def _item(topic: str, question: str, answer: Answer, evidence: Evidence) -> Item:
    known, unknown = answer(evidence)
    return Item(topic, question, tuple(dict.fromkeys(known)), unknown)


def plain_markdown(text: str) -> str:
    r"""Text in which nothing means anything to Markdown or HTML.

    Examples
    --------
    >>> print(plain_markdown("a_b <i> *c*"))
    a\_b &lt;i&gt; \*c\*
    """
    lined = " ".join(text.split())
    marked = _MARKDOWN.sub(r"\\\1", lined)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
