"""Schemes of tagging chunks: from one to another, which one labels are written in, and F1 to choose models by.

Chunks are read by conlleval's rules (`deadheat.metrics.chunking`), whatever the scheme, so that broken sequences are
mended as the score mends them, and are then written as the wanted scheme has them: the chunks never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.chunking import (
    INVALID,
    SCHEMES,
    B,
    E,
    I,
    O,
    Prefixes,
    S,
    Types,
    describe_scheme,
    find_chunks,
    in_both,
    split_tags,
    written,
)
from deadheat.metrics.metric import f1

Codes: TypeAlias = NDArray[np.integer]

TARGETS = ("bio", "iob1", "iobes", "bilou")
MISSING = "_"  # the first string of every vocabulary of a corpus, whether a word has it or not


class Recoded(NamedTuple):
    """A code for every word, and the labels that codes stand for: those that occur, `O` first, then by type."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]


def to_scheme(labels: Sequence[str], offsets: ArrayLike, *, source: str = "conlleval", target: str) -> list[str]:
    """Labels of the same chunks in another scheme.

    Parameters
    ----------
    labels
        One a word, for all sentences.
    offsets
        Where each sentence begins, and at last the number of words.
    source
        Which labels are allowed: those of `bio`, `iob1`, `iobes` or `bilou`; `conlleval` allows all of them. It does
        not change how they are read.
    target
        `bio` (IOB2), `iob1`, `iobes` (BIOES) or `bilou`.

    Raises
    ------
    InputError
        At a label that the source does not have.

    Examples
    --------
    >>> to_scheme(["I-NP", "I-NP", "B-NP", "O", "I-VP"], [0, 5], source="iob1", target="iobes")
    ['B-NP', 'E-NP', 'S-NP', 'O', 'S-VP']

    A broken sequence is mended as conlleval reads it.

    >>> to_scheme(["I-NP", "I-VP", "I-VP"], [0, 2, 3], target="bio")
    ['B-NP', 'B-VP', 'B-VP']
    """
    numbers = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    codes = np.fromiter(map(numbers.__getitem__, labels), np.int32, len(labels))
    found = recode(codes, list(numbers), offsets, source=source, target=target)
    return list(map(found.names.__getitem__, found.codes.tolist()))


def recode(
    codes: Codes, names: Sequence[str], offsets: ArrayLike, *, source: str = "conlleval", target: str
) -> Recoded:
    """As `to_scheme`, for labels that are given as codes of names; names that no word has may be anything.

    Examples
    --------
    >>> import numpy as np
    >>> found = recode(np.array([1, 2, 0, 1]), ["O", "B-X", "I-X"], [0, 4], target="iobes")
    >>> found.codes.tolist(), found.names
    ([1, 2, 0, 3], ('O', 'B-X', 'E-X', 'S-X'))
    """
    for what, name, known in (("source scheme", source, tuple(SCHEMES)), ("target scheme", target, TARGETS)):
        if name not in known:
            raise NameUnknown(what, name, known)
    bounds = _bounds(offsets, len(codes))
    numbers = {"": 0}
    prefix, types = _parts(codes, names, source, numbers)
    prefix = written(find_chunks(prefix, types, bounds), target, prefix != O, bounds)
    # One number for prefix and type, in the order of the new names: O, then type by type.
    kinds = sorted(numbers)
    ranks = np.empty(len(kinds), np.int32)
    ranks[[numbers[kind] for kind in kinds]] = np.arange(len(kinds))
    joined = np.where(prefix == O, 0, ranks[types] * (S + 1) + prefix)
    there = np.flatnonzero(np.bincount(joined, minlength=1))
    code_of = np.zeros(len(kinds) * (S + 1), np.int32)
    code_of[there] = np.arange(len(there))
    letters = _letters(target)
    spelled = (_label(letters[number % (S + 1)], kinds[number // (S + 1)]) for number in there.tolist())
    return Recoded(code_of[joined], tuple(spelled))


def scheme_of(names: Sequence[str], codes: Codes | None = None, offsets: ArrayLike | None = None) -> str | None:
    """The scheme in which labels are written: `bio`, `iob1`, `iobes`, `bilou`, or None if they are plain tags.

    Labels of chunks are `O` and a prefix with a type after a hyphen; without types they are at least `O`, `B` and `I`.
    Letters tell `iobes` and `bilou`. Whether labels with `B` and `I` alone are `bio` or `iob1` the names tell only
    where a type lacks its `B`; given the codes of all words and where sentences begin, it is the scheme that writes
    the same chunks with fewer other labels, and `bio` if both do equally well.

    Examples
    --------
    >>> scheme_of(["O", "B-NP", "I-NP"]), scheme_of(["O", "B-NP", "I-NP", "I-VP"]), scheme_of(["O", "S-NP"])
    ('bio', 'iob1', 'iobes')
    >>> scheme_of(["NN", "VB", "O"]) is None
    True
    >>> import numpy as np
    >>> scheme_of(["O", "B-NP", "I-NP"], np.array([2, 2, 0, 2, 1]), [0, 5])
    'iob1'
    """
    if codes is None:
        used = [name for name in names if name != MISSING]
    else:
        _check_codes(codes, names)
        used = [names[code] for code in np.flatnonzero(np.bincount(codes)).tolist()]
    parts = {name.partition("-") for name in used}
    letters = {letter for letter, _, _ in parts if letter != "O"}
    typed = all(kind for letter, _, kind in parts if letter != "O")
    plain = any(kind for letter, _, kind in parts if letter == "O")
    if not letters or plain or not (typed or {"O", "B", "I"} <= set(used)):
        return None
    scheme = next((each for each in TARGETS if letters <= set(SCHEMES[each])), None)
    if scheme != "bio":
        return scheme
    if codes is None or offsets is None:
        begun = {kind for letter, _, kind in parts if letter == "B"}
        return "bio" if all(kind in begun for letter, _, kind in parts if letter == "I") else "iob1"
    bounds = _bounds(offsets, len(codes))
    prefix, types = _parts(codes, names, "bio", {"": 0})
    chunks = find_chunks(prefix, types, bounds)
    others = {each: np.count_nonzero(prefix != written(chunks, each, prefix != O, bounds)) for each in ("bio", "iob1")}
    return min(others, key=others.__getitem__)


def f1_of(gold: Codes, predicted: Codes, names: Sequence[str], offsets: ArrayLike) -> float:
    """Chunk F1 of conlleval, as `chunks.v1` has it, from the codes of labels; 0 where there are no chunks.

    Parameters
    ----------
    gold, predicted
        A code into `names` for every word; labels may be of any scheme.
    offsets
        Where each sentence begins, and at last the number of words.

    Examples
    --------
    >>> import numpy as np
    >>> names = ["O", "B-X", "I-X"]
    >>> round(f1_of(np.array([1, 2, 0, 1]), np.array([1, 2, 0, 0]), names, [0, 4]), 4)  # one of two, and none too many
    0.6667
    """
    if len(gold) != len(predicted):
        raise InputError(f"{len(predicted):,} predicted labels; expected {len(gold):,} as in gold")
    bounds = _bounds(offsets, len(gold))
    own, other = (find_chunks(*_parts(codes, names, "conlleval", {"": 0}), bounds) for codes in (gold, predicted))
    correct = np.count_nonzero(in_both(own, other, len(gold)))
    return float(f1(np.array([correct, len(own.first), len(other.first)])))


def _parts(codes: Codes, names: Sequence[str], scheme: str, numbers: dict[str, int]) -> tuple[Prefixes, Types]:
    """Prefix and type of every word; a label that the scheme does not have is refused where a word has it."""
    _check_codes(codes, names)
    prefixes, types = split_tags(names, scheme, numbers)
    prefix = prefixes[codes]
    if (prefix == INVALID).any():
        at = int(np.argmax(prefix == INVALID))
        raise InputError(f"word {at + 1}: label {names[codes[at]]!r}; {describe_scheme(scheme)}")
    return prefix, types[codes]


def _check_codes(codes: Codes, names: Sequence[str]) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
        raise InputError(f"codes of labels from {codes.min()} to {codes.max()}; expected 0 to {len(names) - 1}")


def _bounds(offsets: ArrayLike, words: int) -> Indices:
    """Where sentences begin and end, without empty ones, which have no first word."""
    bounds = np.asarray(offsets, np.int64)
    sizes = np.diff(bounds)
    if len(bounds) < 1 or bounds[0] != 0 or bounds[-1] != words or (sizes < 0).any():
        raise InputError(f"offsets of sentences; expected them to rise from 0 to {words:,}, the number of words")
    return np.asarray(bounds[np.append(True, sizes > 0)])


def _letters(scheme: str) -> dict[int, str]:
    single, end = ("U", "L") if scheme == "bilou" else ("S", "E")
    return {O: "O", B: "B", I: "I", E: end, S: single}


def _label(letter: str, kind: str) -> str:
    return f"{letter}-{kind}" if kind and letter != "O" else letter
