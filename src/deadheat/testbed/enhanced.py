"""Enhanced dependencies: roles spelled out, shared dependents, and the words that are only understood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deadheat.testbed.conllu import EmptyNode, Word

Node = tuple[int, int]
"""The number of a word and 0, or of the word before an empty node and 1."""


MARKERS = {"nmod": "case", "obl": "case", "conj": "cc", "advcl": "mark"}
"""The relation of the function word that tells the role of a phrase."""


class Edge(NamedTuple):
    """A dependent's head and its role there."""

    head: Node
    role: str


Edges = list[set[Edge]]
"""The edges to each word, by position from 0."""


def enhanced(words: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[EmptyNode, ...]]:
    """The words with their enhanced dependencies, and the empty nodes that these need."""
    children: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, word in enumerate(words, start=1):
        children[word.head].append(number)
    edges: Edges = [
        {Edge((word.head, 0), _role(words, children, number))} for number, word in enumerate(words, start=1)
    ]
    empty = _fill_gaps(words, children, edges)
    _share_dependents(words, children, edges)
    _tie_relatives(words, children, edges)
    described = tuple(word._replace(deps=_deps(found)) for word, found in zip(words, edges, strict=True))
    return described, empty


def _role(words: Sequence[Word], children: Sequence[Sequence[int]], number: int) -> str:
    """The relation of a word together with the function word, or else the case, that marks it."""
    word = words[number - 1]
    marker = MARKERS.get(word.relation)
    if marker is None:
        return word.relation
    for child in children[number]:
        if words[child - 1].relation == marker:
            return f"{word.relation}:{words[child - 1].lemma}"
    if marker == "case" and "Case=" in word.feats:
        return f"{word.relation}:{word.feats.split('Case=')[1][:3].lower()}"
    return word.relation


def _fill_gaps(words: Sequence[Word], children: Sequence[Sequence[int]], edges: Edges) -> tuple[EmptyNode, ...]:
    """Give a clause without a verb a copy of the verb it leaves out, between subject and orphan."""
    empty = []
    for number, word in enumerate(words, start=1):
        orphans = [child for child in children[number] if words[child - 1].relation == "orphan"]
        if not orphans or word.relation != "conj":
            continue
        verb = words[word.head - 1]
        gap: Node = (_first_of(children, orphans[0]) - 1, 1)
        conjunction = edges[number - 1]
        copy = verb._replace(head=-1, relation="_", deps=_deps(conjunction))
        empty.append(EmptyNode(gap[0], copy))
        edges[number - 1] = {Edge(gap, "nsubj")}
        for child in children[number]:
            if child in orphans:
                edges[child - 1] = {Edge(gap, "obj")}
            elif words[child - 1].relation in ("cc", "punct"):
                edges[child - 1] = {Edge(gap, words[child - 1].relation)}
    return tuple(empty)


def _first_of(children: Sequence[Sequence[int]], number: int) -> int:
    """The first word of the phrase of a word."""
    return min([number, *(_first_of(children, child) for child in children[number])])


def _share_dependents(words: Sequence[Word], children: Sequence[Sequence[int]], edges: Edges) -> None:
    """Conjuncts have the head of the first; they and infinitives have the subject of the verb above."""
    for number, word in enumerate(words, start=1):
        if word.head == 0 or word.relation not in ("conj", "xcomp"):
            continue
        above = words[word.head - 1]
        gapped = any(words[child - 1].relation == "orphan" for child in children[number])
        if word.relation == "conj" and not gapped and above.head:
            edges[number - 1].add(Edge((above.head, 0), _role(words, children, word.head)))
        own = any(words[child - 1].relation.startswith("nsubj") for child in children[number])
        if not own and word.upos == "VERB" and above.upos == "VERB":
            role = "nsubj" if word.relation == "conj" else "nsubj:xsubj"
            for child in children[word.head]:
                if words[child - 1].relation == "nsubj":
                    edges[child - 1].add(Edge((number, 0), role))


def _tie_relatives(words: Sequence[Word], children: Sequence[Sequence[int]], edges: Edges) -> None:
    """The noun takes its part in the relative clause; the pronoun refers to the noun."""
    for number, word in enumerate(words, start=1):
        if word.relation == "acl:relcl":
            for child in children[number]:
                if "PronType=Rel" in words[child - 1].feats:
                    edges[word.head - 1].add(Edge((number, 0), words[child - 1].relation))
                    edges[child - 1] = {Edge((word.head, 0), "ref")}


def _deps(edges: set[Edge]) -> str:
    return "|".join(f"{number}.{copy}:{role}" if copy else f"{number}:{role}" for (number, copy), role in sorted(edges))
