"""What a strategy is, the sizes of parts it is asked for, and the corpus as it sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import PARTS, Documents, find_documents, find_strata, sentence_parts
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.registry import Registry

KINDS = {"": "share", "%": "share", "w": "words", "word": "words", "words": "words", "token": "words",
         "tokens": "words", "s": "sentences", "sentence": "sentences", "sentences": "sentences"}  # fmt: skip
GRAMMAR = "80/10/10, or train=rest,dev=10%,test=10000 words"
_SIZE = re.compile(r"(\d[\d_]*\.?\d*|\.\d+)\s*(%|[a-z]*)\Z")
# Which parts so many sizes without names stand for.
_UNNAMED = {2: ("train", "test"), 3: ("train", "dev", "test"), 4: PARTS}


@dataclass(frozen=True, slots=True)
class Size:
    """An amount of `words` or `sentences`, a `share` (of 1), or the `rest`."""

    amount: float
    kind: str

    @classmethod
    def parse(cls, text: str, where: str) -> Size:
        """`10%`, `0.1`, `1000 sentences`, `1000s`, `5000 words`, `5000w` or `rest`."""
        stripped = text.strip().lower()
        if stripped == "rest":
            return cls(0.0, "rest")
        found = _SIZE.match(stripped)
        if found is None or found[2] not in KINDS:
            expected = "a share (10%, 0.1), words (5000 words), sentences (1000 sentences) or rest"
            raise InputError(f"{where}: size {text.strip()!r}; expected {expected}")
        amount, kind = float(found[1]), KINDS[found[2]]
        if kind != "share" and amount % 1 != 0:  # of more digits than a number can have, too
            raise InputError(f"{where}: {text.strip()!r}; expected a whole number of {kind}")
        return cls(amount / 100 if found[2] == "%" else amount, kind)

    def __str__(self) -> str:
        if self.kind == "rest":
            return "rest"
        return f"{100 * self.amount:g} %" if self.kind == "share" else f"{self.amount:,.0f} {self.kind}"


def parse_sizes(text: str) -> dict[str, Size]:
    """The sizes of parts: without names, of train/test, train/dev/test or train/tune/dev/test, summing to 100 or 1.

    Examples
    --------
    >>> {part: str(size) for part, size in parse_sizes("80/10/10").items()}
    {'train': '80 %', 'dev': '10 %', 'test': '10 %'}
    >>> {part: str(size) for part, size in parse_sizes("test=5000 words, train=rest").items()}
    {'train': 'rest', 'test': '5,000 words'}
    """
    where = f"sizes {text!r}"
    named = "=" in text
    pieces = [piece for piece in re.split(r"[,;]" if named else "/", text) if piece.strip()]
    if named:
        found = dict(_named(piece, where) for piece in pieces)
        if len(found) < len(pieces):
            raise InputError(f"{where}: a part twice; expected each once")
    elif len(pieces) in _UNNAMED:
        found = dict(zip(_UNNAMED[len(pieces)], (Size.parse(piece, where) for piece in pieces), strict=True))
    else:
        raise InputError(f"{where}; expected {GRAMMAR}")
    shares = [size.amount for size in found.values() if size.kind == "share"]
    if not named and len(shares) == len(found) and max(shares) > 1:  # 80/10/10, written without the signs
        found = {part: Size(size.amount / 100, "share") for part, size in found.items()}
        shares = [share / 100 for share in shares]
    _check(where, found, shares)
    return {part: found[part] for part in PARTS if part in found}


def _named(piece: str, where: str) -> tuple[str, Size]:
    part, mark, size = piece.partition("=")
    if not mark:
        raise InputError(f"{where}: {piece.strip()!r}; expected part=size")
    if part.strip() not in PARTS:
        raise NameUnknown(f"{where}: part", part.strip(), PARTS)
    found = Size.parse(size, where)
    if found.kind == "share" and found.amount > 1:
        raise InputError(f"{where}: {piece.strip()!r}; expected %, words or sentences behind the number")
    return part.strip(), found


def _check(where: str, found: Mapping[str, Size], shares: Sequence[float]) -> None:
    kinds = [size.kind for size in found.values()]
    for part, size in found.items():
        if size.kind != "rest" and size.amount <= 0:
            raise InputError(f"{where}: nothing for {part}; expected more than 0")
    if kinds.count("rest") > 1:
        raise InputError(f"{where}: the rest twice; expected one part to get it")
    if {"words", "sentences"} <= set(kinds):
        raise InputError(f"{where}: words and sentences mixed; expected one of them, or shares")
    total = sum(shares)
    if len(shares) == len(found) and abs(total - 1) > 1e-9:
        raise InputError(f"{where}: the shares sum to {100 * total:g} %; expected 100 %, or a part that gets the rest")
    if total > 1 + 1e-9 or (total > 1 - 1e-9 and len(shares) < len(found)):
        raise InputError(f"{where}: the shares sum to {100 * total:g} %; expected them to leave something")


def measure_of(sizes: Mapping[str, Size], default: str) -> str:
    """Whether sizes count `words` or `sentences`; shares are of either."""
    return next((size.kind for size in sizes.values() if size.kind in ("words", "sentences")), default)


def amounts(sizes: Mapping[str, Size], total: int, measure: str, where: str) -> dict[str, float]:
    """What each part shall have of `total` words or sentences; what no part gets is not in it."""
    found = {part: size.amount * (total if size.kind == "share" else 1) for part, size in sizes.items()}
    asked = sum(found.values())
    rest = next((part for part, size in sizes.items() if size.kind == "rest"), None)
    if asked > total + 1e-6 * total or (rest is not None and asked >= total):
        told = " + ".join(f"{part} {size}" for part, size in sizes.items() if size.kind != "rest")
        raise InputError(f"{where}: {told} asked; there are {total:,} {measure}")
    if rest is not None:
        found[rest] = total - asked
    return found


UNITS = ("sentence", "document", "block")


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sentences of each part, those first that a smaller set of the part keeps; and what must not be cut.

    `units` is the unit of every sentence of the corpus where parts are made of whole units, else None.
    """

    parts: Mapping[str, Indices]
    units: Codes | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named, versioned way to split. `draw` gives split `number` of a seed, from these two alone.

    `once` says that there is but one such split of a corpus.
    """

    name: str
    draw: Callable[[Material, int, int], Drawn]
    once: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


STRATEGIES: Registry[Strategy] = Registry("strategy", "random, random.v1 or random.v1(unit='document')")


@dataclass(frozen=True, eq=False)
class Material:
    """A corpus as strategies see it; what costs time is found when it is first asked for."""

    corpus: Corpus
    document_rule: str = "auto"

    @cached_property
    def lengths(self) -> Indices:
        """Words of every sentence."""
        return np.diff(self.corpus.offsets)

    @cached_property
    def documents(self) -> Documents | None:
        return find_documents(self.corpus, self.document_rule)

    @cached_property
    def file_parts(self) -> Codes | None:
        """The number in `PARTS` of every sentence's file, if every file's name tells one."""
        return sentence_parts(self.corpus)

    @cached_property
    def _strata(self) -> dict[str, Codes]:
        """Strata of sentences that were asked for."""
        return {}

    def everything(self) -> Indices:
        """All sentences, those of train first, then tune, dev and test, where the files say so."""
        if self.file_parts is None:
            return np.arange(self.corpus.sentences)
        return np.argsort(self.file_parts, kind="stable")

    def without_test(self) -> Indices:
        """The sentences of train, tune and dev in this order; all where files do not name their parts."""
        everything = self.everything()
        if self.file_parts is None:
            return everything
        return np.asarray(everything[self.file_parts[everything] != PARTS.index("test")])

    def of_part(self, part: str, strategy: str) -> Indices:
        """The sentences of the files of one part; none if there is no such file."""
        if self.file_parts is None:
            odd = ", ".join(each.path for each in self.corpus.parts) or self.corpus.name
            raise InputError(
                f"{odd}: no part in every file's name; strategy {strategy} expected names as en-train.conllu"
            )
        return np.flatnonzero(self.file_parts == PARTS.index(part))

    def units(self, kind: str, block: int) -> Codes | None:
        """The unit of every sentence: its document, its block of so many sentences; None where it is its own."""
        if kind not in UNITS:
            raise NameUnknown("unit", kind, UNITS)
        if kind == "sentence":
            return None
        if kind == "block":
            return self._blocks(block)
        if self.documents is None:
            told = "no documents" if self.document_rule == "none" else "no documents were found"
            raise InputError(
                f"{self.corpus.name}: {told}; expected '# newdoc' marks or sent_ids that name them (--documents "
                "sent_id:REGEX), or another unit (--unit block, --unit sentence)"
            )
        return self.documents.codes

    def _blocks(self, size: int) -> Codes:
        """Blocks begin anew in every file."""
        if size < 1:
            raise InputError(f"blocks of {size} sentences; expected at least 1")
        starts = [part.first for part in self.corpus.parts] or [0]
        within = np.arange(self.corpus.sentences) - np.repeat(starts, np.diff([*starts, self.corpus.sentences]))
        begins = within % size == 0
        return (np.cumsum(begins) - 1).astype(np.int32)

    def strata(self, name: str, units: Codes | None) -> Codes:
        """The stratum of every unit; of a document that of its first sentence."""
        count = self.corpus.sentences if units is None else int(units.max(initial=-1)) + 1
        if not name:
            return np.zeros(count, np.int32)
        if name not in self._strata:
            self._strata[name] = find_strata(self.corpus, name)[0]
        of_sentences = self._strata[name]
        if units is None:
            return of_sentences
        _, first = np.unique(units, return_index=True)
        return of_sentences[first]
