"""Sentences that take transitions side by side, on the host: as someone chooses them who sees places and costs.

A labelled transition has a code: SHIFT and SWAP come first, then LEFT with each of L relations, then RIGHT with each.
Nothing here needs jax. R rows are the sentences of all networks of a stack, one network after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.trees import archybrid
from deadheat.trees.archybrid import LEFT, RIGHT, SHIFT, STAY, SWAP, States

ARCS = 2  # codes below have no relation
PLACES = 12  # words that a state is told by
SWAPS = 2  # a sentence may have so many for each of its words
NONE = -1

Rows = NDArray[np.int32]


class Question(NamedTuple):
    """What a teacher is asked in training; arrays of the host or of the device."""

    places: Any  # (R, 12): see `archybrid.features`
    costs: Any  # (R, 4): see `archybrid.costs`
    gold: Any  # the relation of s0


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Codes of labelled transitions, one a row; NONE in `taken` where a sentence is finished."""

    right: Rows  # the best of those that cost the least
    wrong: Rows  # the best of all others
    taken: Rows  # one of the two
    close: NDArray[np.bool_]  # whether the right one is ahead by less than 1


Teacher = Callable[[int, Question], Choice]  # the number of the step comes first
Parser = Callable[[Rows, NDArray[np.bool_]], Rows]  # from places and what is legal to the best code, or NONE


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """States in which the right transition was not far enough ahead: K of them."""

    rows: NDArray[np.int64]
    places: Rows
    right: Rows
    wrong: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def of_networks(self, networks: int, batch: int, most: int) -> list[tuple[Rows, Rows, Rows, Rows]]:
        """Portions of at most so many states a network: sentences, NONE where there is no state, and the rest.

        Their arrays have an axis of networks in front. There is at least one portion.
        """
        owner, sentence = np.divmod(self.rows, batch)
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=networks)
        number = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        portions = max(1, -(-int(counts.max(initial=0)) // most))
        at = owner[order], number // most, number % most
        sentences = np.full((networks, portions, most), NONE, np.int32)
        sentences[at] = sentence[order]
        filled = [sentences]
        for each in (self.places, self.right, self.wrong):
            room = np.zeros((networks, portions, most, *each.shape[1:]), np.int32)
            room[at] = each[order]
            filled.append(room)
        return [(a[:, p], b[:, p], c[:, p], d[:, p]) for p in range(portions) for a, b, c, d in [filled]]


def kinds(relations: int) -> Rows:
    """The transition that each code stands for, and STAY for NONE.

    Examples
    --------
    >>> kinds(2).tolist()
    [0, 3, 1, 1, 2, 2, -1]
    """
    return np.concatenate([[SHIFT, SWAP], np.repeat([LEFT, RIGHT], relations), [STAY]]).astype(np.int32)


def relations_of(codes: NDArray[np.integer], relations: int) -> Rows:
    """The relation of each code, if it has one.

    Examples
    --------
    >>> relations_of(np.array([2, 3, 4, 5]), 2).tolist()
    [0, 1, 0, 1]
    """
    return ((codes - ARCS) % relations).astype(np.int32)


def begin(lengths: NDArray[np.integer], *, words: int, heads: NDArray[np.integer] | None = None) -> States:
    """Sentences of so many words before their first transition; `heads` (R, T) are those of gold trees."""
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    gold = None if heads is None else heads[np.arange(heads.shape[1]) < lengths[:, None]].astype(np.int32)
    return archybrid.start(offsets, gold=gold, longest=words, swaps_per_word=SWAPS)


def learn(states: States, gold: NDArray[np.integer], relations: int, teacher: Teacher) -> Lessons:
    """Let all sentences take the transitions a teacher says, to their ends; `gold` (R, T) has relations of words."""
    everyone, kind = np.arange(len(states)), kinds(relations)
    rows, places, right, wrong = [], [], [], []
    step = 0
    while not archybrid.finished(states).all():
        seen = archybrid.features(states)
        relation = gold[everyone, seen[:, 0] - 1]  # without s0 that of another word, which no transition then has
        choice = teacher(step, Question(seen, archybrid.costs(states), relation))
        archybrid.apply(states, kind[choice.taken], relations_of(choice.taken, relations))
        close = np.flatnonzero(choice.close)
        rows.append(close)
        places.append(seen[close])
        right.append(choice.right[close])
        wrong.append(choice.wrong[close])
        step += 1
    if not rows:
        nothing = np.empty(0, np.int32)
        return Lessons(np.empty(0, np.int64), np.empty((0, PLACES), np.int32), nothing, nothing)
    return Lessons(np.concatenate(rows), np.concatenate(places), np.concatenate(right), np.concatenate(wrong))


def parse(states: States, relations: int, parser: Parser) -> None:
    """Let all sentences take transitions to their ends."""
    kind = kinds(relations)
    while not archybrid.finished(states).all():
        taken = parser(archybrid.features(states), archybrid.legal(states))
        archybrid.apply(states, kind[taken], relations_of(taken, relations))
