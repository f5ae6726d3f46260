"""Sentences with citations, for plain text and for LaTeX, and the words that all of them are made with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deadheat.paper.references import OF_CORRECTIONS, OF_TESTS, REFERENCES
from deadheat.questions.latex import escape, fixed
from deadheat.questions.method_words import corrected_words, named_on_units, named_tests, unit_of_test

MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Cite:
    """Publications that are cited together."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    r"""One sentence, piece by piece.

    Examples
    --------
    >>> said = Sentence.of("We used 50 % with Holm's method", cite("holm-1979"), ".")
    >>> print(said.text)
    We used 50 % with Holm's method (Holm, 1979).
    >>> print(said.latex)
    We used 50 \% with Holm's method \citep{holm-1979}.
    """

    pieces: tuple[str | Cite, ...]

    @classmethod
    def of(cls, *pieces: str | Cite) -> Sentence:
        """A sentence of these pieces; a citation of nothing is left out."""
        return cls(tuple(piece for piece in pieces if not isinstance(piece, Cite) or piece.keys))

    @property
    def text(self) -> str:
        return "".join(
            f" ({'; '.join(REFERENCES[key].short for key in piece.keys)})" if isinstance(piece, Cite) else piece
            for piece in self.pieces
        )

    @property
    def latex(self) -> str:
        return "".join(
            f" \\citep{{{','.join(piece.keys)}}}" if isinstance(piece, Cite) else escape(piece) for piece in self.pieces
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """What is cited."""
        return tuple(key for piece in self.pieces if isinstance(piece, Cite) for key in piece.keys)


def cite(*keys: str) -> Cite:
    """Cite publications, each once."""
    return Cite(tuple(dict.fromkeys(keys)))


def cite_tests(test: str) -> Cite:
    """What to cite for a test, or for several."""
    return cite(*(key for each in test.split("/") for key in OF_TESTS.get(each, ())))


def tested(test: str, *, by: str = "") -> tuple[str | Cite, ...]:
    """A test with what to cite for it."""
    return named_tests(test), cite_tests(test), f" by {by}" if by else ""


def tested_on_units(test: str) -> tuple[str | Cite, ...]:
    """A test of a study with what to cite for it, and its unit."""
    units = {unit_of_test(each) for each in test.split("/")}
    if len(units) == 1:
        return named_tests(test), cite_tests(test), f" on {units.pop()}"
    return named_on_units(test), cite_tests(test)


def corrected(correction: str, tests: int | None, *, over: str = "test") -> tuple[str | Cite, ...]:
    """How p-values were corrected, with what to cite for it."""
    keys = OF_CORRECTIONS.get(correction, ()) if tests != 1 else ()
    return corrected_words(correction, tests, over=over), cite(*keys)


def listed(names: Iterable[str], *, most: int = MOST_NAMES) -> str:
    """Names one after the other.

    Examples
    --------
    >>> listed("ab"), listed("abc"), listed("abcd", most=2)
    ('a and b', 'a, b and c', 'a, b and 2 more')
    """
    found = list(names)
    if len(found) > most:
        return f"{', '.join(found[:most])} and {len(found) - most} more"
    return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))


def numbered(numbers: Sequence[int]) -> str:
    """Numbers one after the other, or from the first to the last.

    Examples
    --------
    >>> numbered([0]), numbered([0, 1, 2]), numbered([0, 1, 2, 3]), numbered([1, 7])
    ('0', '0 to 2', '0 to 3', '1 and 7')
    """
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"{numbers[0]} to {numbers[-1]}"
    return listed(map(str, numbers), most=20)


def p_said(p: float | None) -> str:
    """A p-value in a sentence.

    Examples
    --------
    >>> p_said(0.04321), p_said(0.00001), p_said(None), p_said(1.0)
    ('p = 0.0432', 'p < 0.0001', 'p undefined', 'p = 1.0000')
    """
    if p is None or math.isnan(p):
        return "p undefined"
    return f"p = {p:.4f}" if p >= 0.0001 else "p < 0.0001"


def percent(share: float | None) -> str:
    """A share in percent that is all or nothing only if it is.

    Examples
    --------
    >>> percent(0.5), percent(1.0), percent(0.99999), percent(0.00001)
    ('50.0 %', '100 %', 'more than 99.9 %', 'less than 0.1 %')
    """
    if share is None:
        return "an unknown share"
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if share > 0.999:
        return "more than 99.9 %"
    return "less than 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"


def scored(value: float | None, *, scale: float, decimals: int = 2) -> str:
    """A score as it stands in the tables.

    Examples
    --------
    >>> scored(0.9216, scale=100), scored(78.013, scale=1)
    ('92.16 %', '78.01')
    """
    shown = fixed(value, scale=scale, decimals=decimals)
    return f"{shown} %" if scale == 100 else shown


def points(difference: float, *, scale: float, decimals: int = 2) -> str:
    """How far two scores are apart.

    Examples
    --------
    >>> points(-0.0034, scale=100), points(0.61, scale=1)
    ('0.34 points', '0.61')
    """
    shown = fixed(abs(difference), scale=scale, decimals=decimals)
    return f"{shown} points" if scale == 100 else shown


def opening(said: str) -> str:
    """A text that begins a sentence."""
    return f"{said[:1].upper()}{said[1:]}"
