"""Find out what is wrong with gold trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import CorpusError, Fault, InputError
from deadheat.text import pluralize

MAX_LISTED = 3  # problems of one kind


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a sentence is not a tree with one root: the words at fault, counted from 1, and a message."""

    sentence: int
    words: tuple[int, ...]
    message: str


def problems(heads: Codes, offsets: Indices) -> list[Problem]:
    """All problems of sentences that are not trees with one root, in the order of sentences; one per cycle.

    A sentence with heads out of range is not checked further.

    Examples
    --------
    >>> for problem in problems(np.array([0, 1, 2, 1, 0, 0, 5], np.int32), np.array([0, 2, 4, 7])):
    ...     print(problem)
    Problem(sentence=1, words=(), message='no word has head 0; expected one root')
    Problem(sentence=1, words=(1, 2), message='words 1, 2 are on a cycle; expected a tree')
    Problem(sentence=2, words=(3,), message='word 3 has head 5; the sentence has 3 words')
    """
    lengths = np.diff(offsets)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    outside = (heads < 0) | (heads > lengths[sentence])
    broken = np.bincount(sentence[outside], minlength=len(lengths)) > 0
    roots = np.bincount(sentence[heads == 0], minlength=len(lengths))
    cyclic = _on_cycles(heads, offsets, outside)
    bad = broken | (roots != 1) | (np.bincount(sentence[cyclic >= 0], minlength=len(lengths)) > 0)
    result: list[Problem] = []
    for number in np.flatnonzero(bad & (lengths > 0)).tolist():
        words = slice(offsets[number], offsets[number + 1])
        faults = _out_of_range(heads[words]) if broken[number] else _not_a_tree(heads[words], cyclic[words])
        result += [Problem(number, at_fault, message) for at_fault, message in faults]
    return result


def _on_cycles(heads: Codes, offsets: Indices, outside: NDArray[np.bool_]) -> Indices:
    """For each word the least word of the cycle it is on, as a word of the corpus; -1 if it is on none."""
    words = len(heads)
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    after = np.append(np.where((heads > 0) & ~outside, starts + heads - 1, words), words)
    ends, least = after.copy(), np.minimum(np.arange(words + 1), after)
    for _ in range(int(np.diff(offsets).max(initial=0)).bit_length()):  # twice as many steps up each time
        least, ends = np.minimum(least, least[ends]), ends[ends]
    cyclic = np.full(words + 1, -1, np.int64)
    cyclic[ends] = least[ends]
    return cyclic[:words]


def _out_of_range(heads: Codes) -> Iterator[tuple[tuple[int, ...], str]]:
    for word in (np.flatnonzero((heads < 0) | (heads > len(heads))) + 1).tolist():
        head = int(heads[word - 1])
        has = "has no head" if head < 0 else f"has head {head}"
        yield (word,), f"word {word} {has}; the sentence has {pluralize(len(heads), 'word')}"


def _not_a_tree(heads: Codes, cyclic: Indices) -> Iterator[tuple[tuple[int, ...], str]]:
    roots = tuple((np.flatnonzero(heads == 0) + 1).tolist())
    if not roots:
        yield (), "no word has head 0; expected one root"
    elif len(roots) > 1:
        yield roots, f"words {_join(roots)} have head 0; expected one root"
    for least in np.unique(cyclic[cyclic >= 0]).tolist():
        words = tuple((np.flatnonzero(cyclic == least) + 1).tolist())
        are = "words {} are" if len(words) > 1 else "word {} is"
        yield words, f"{are.format(_join(words))} on a cycle; expected a tree"


def _join(words: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, words[:5]))
    return shown if len(words) <= 5 else f"{shown}, ..."


def require_trees(corpus: Corpus) -> Codes:
    """The heads of a corpus in which every sentence is a tree with one root.

    Raises
    ------
    CorpusError
        With the file and line of the first problems of each kind.
    """
    if corpus.heads is None:
        raise InputError(f"{corpus.name}: words without heads; expected a tree for every sentence")
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems(corpus.heads, corpus.offsets):
        by_kind.setdefault(re.sub(r"words?|[\d,. ]+", "", problem.message), []).append(problem)
    if by_kind:
        listed = {kind: [_fault(corpus, item) for item in items[:MAX_LISTED]] for kind, items in by_kind.items()}
        more = {faults[0]: len(by_kind[kind]) - len(faults) for kind, faults in listed.items()}
        raise CorpusError(sorted(chain(*listed.values()), key=lambda fault: fault.line), more=more)
    return corpus.heads


def _fault(corpus: Corpus, problem: Problem) -> Fault:
    word = int(corpus.offsets[problem.sentence]) + (problem.words[0] - 1 if problem.words else 0)
    return Fault(*corpus.line_of_word(word), problem.message)
