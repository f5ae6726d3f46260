"""Where the arcs of a dependency tree go: heights by nesting, places of words, and ends side by side on a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.errors import InputError

ROOT = -1


@dataclass(frozen=True, slots=True)
class Arc:
    """From a head to a dependent, positions from 0; the head of a root is ROOT."""

    dependent: int
    head: int
    relation: str

    @property
    def ends(self) -> tuple[int, int]:
        """From left to right; a root's are the same."""
        if self.head == ROOT:
            return self.dependent, self.dependent
        return min(self.dependent, self.head), max(self.dependent, self.head)


def arcs_of(where: str, labels: Sequence[str]) -> list[Arc]:
    """One arc a word from labels HEAD:relation, or HEAD alone; heads count from 1, and 0 is the root.

    Examples
    --------
    >>> [(arc.head, arc.relation) for arc in arcs_of("gold", ["2:nsubj", "0:root", "2:obl:agent"])]
    [(1, 'nsubj'), (-1, 'root'), (1, 'obl:agent')]
    """
    arcs = []
    for i, each in enumerate(labels):
        head, _, relation = each.partition(":")
        if not head.isdecimal() or int(head) > len(labels) or int(head) == i + 1:
            wanted = f"HEAD:relation with another word's number up to {len(labels)}, or 0"
            raise InputError(f"{where}: word {i + 1} is labelled {each!r}; expected {wanted}")
        arcs.append(Arc(i, int(head) - 1, relation))
    return arcs


def levels(arcs: Sequence[Arc]) -> list[int]:
    """How high each arc goes: above every shorter one that it covers or crosses; a root above all that reach over it.

    Arcs on one level share no more than an end, so that their names do not meet.

    Examples
    --------
    >>> levels(arcs_of("gold", ["2:det", "3:nsubj", "0:root", "3:obj"]))
    [1, 1, 2, 1]
    >>> levels(arcs_of("crossing", ["3:a", "4:b", "0:root", "3:c"]))
    [1, 2, 3, 1]
    """
    found = [0] * len(arcs)
    spans = [arc.ends for arc in arcs]
    order = sorted(range(len(arcs)), key=lambda i: (arcs[i].head == ROOT, spans[i][1] - spans[i][0], spans[i][0]))
    for place, i in enumerate(order):
        left, right = spans[i]
        root = arcs[i].head == ROOT
        below = (
            found[j]
            for j in order[:place]
            if (spans[j][0] <= left <= spans[j][1] if root else max(left, spans[j][0]) < min(right, spans[j][1]))
        )
        found[i] = 1 + max(below, default=0)
    return found


def places(widths: Sequence[float], needs: Sequence[tuple[int, int, float]], gap: float) -> list[float]:
    """Middles of words of some widths, so far apart that every need (from, to, distance) is met.

    Examples
    --------
    >>> places([20, 20, 20], [(0, 1, 50.0), (0, 2, 60.0)], gap=10)
    [10.0, 60.0, 90.0]
    """
    found: list[float] = []
    for i, width in enumerate(widths):
        least = found[-1] + (widths[i - 1] + width) / 2 + gap if found else width / 2
        found.append(max([least, *(found[left] + far for left, right, far in needs if right == i and left < i)]))
    return found


def ports(arcs: Sequence[Arc]) -> list[tuple[float, float]]:
    """Where on its dependent and where on its head an arc ends: steps from the middle of the word.

    From left to right a word has its arcs to the left, the shorter first, its root's, and its arcs to the right, the
    longer first: so no two of them cross where neither has to.

    Examples
    --------
    >>> ports(arcs_of("gold", ["3:det", "3:amod", "0:root"]))
    [(0.0, 0.0), (0.0, -1.0), (1.0, 1.0)]
    """
    at: dict[int, list[tuple[int, int, int]]] = {}
    for i, arc in enumerate(arcs):
        for word, other in ((arc.dependent, arc.head), (arc.head, arc.dependent)):
            if word == ROOT:
                continue
            far = 0 if other == ROOT else other - word
            # To the left far < 0: the nearest is leftmost. To the right the farthest is first.
            order = (0, -far) if far < 0 else (1, 0) if far == 0 else (2, -far)
            at.setdefault(word, []).append((*order, i))
    steps: dict[tuple[int, int], float] = {}
    for word, ending in at.items():
        for place, (_, _, i) in enumerate(sorted(ending)):
            steps[word, i] = place - (len(ending) - 1) / 2
    return [(steps[arc.dependent, i], steps.get((arc.head, i), steps[arc.dependent, i])) for i, arc in enumerate(arcs)]
