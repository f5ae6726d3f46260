"""Strategies, the sizes of parts, and the corpus as a strategy sees it."""

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
# The parts of 2, 3 and 4 sizes without names.
_UNNAMED = {2: ("train", "test"), 3: ("train", "dev", "test"), 4: PARTS}


@dataclass(frozen=True, slots=True)
class Size:
    """An amount of `words` or `sentences`, a `share` (of 1), or the `rest`."""

    amount: float
    kind: str

    @classmethod
    def parse(cls, text: str, where: str) -> Size:
        """Parse `10%`, `0.1`, `1000 sentences`, `1000s`, `5000 words`, `5000w` or `rest`."""
        stripped = text.strip().lower()
        if stripped == "rest":
            return cls(0.0, "rest")
        match = _SIZE.match(stripped)
        if match is None or match[2] not in KINDS:
            expected = "a share (10%, 0.1), words (5000 words), sentences (1000 sentences) or rest"
            raise InputError(f"{where}: size {text.strip()!r}; expected {expected}")
        amount, kind = float(match[1]), KINDS[match[2]]
        if kind != "share" and amount % 1 != 0:  # also NaN, for too many digits
            raise InputError(f"{where}: {text.strip()!r}; expected a whole number of {kind}")
        return cls(amount / 100 if match[2] == "%" else amount, kind)

    def __str__(self) -> str:
        if self.kind == "rest":
            return "rest"
        return f"{100 * self.amount:g} %" if self.kind == "share" else f"{self.amount:,.0f} {self.kind}"


def parse_sizes(text: str) -> dict[str, Size]:
    """Parse the sizes of parts; without names of train/test, train/dev/test or train/tune/dev/test."""
    where = f"sizes {text!r}"
    named = "=" in text
    pieces = [piece for piece in re.split(r"[,;]" if named else "/", text) if piece.strip()]
    if named:
        sizes = dict(_parse_named(piece, where) for piece in pieces)
        if len(sizes) < len(pieces):
            raise InputError(f"{where}: the same part twice; expected each once")
    elif len(pieces) in _UNNAMED:
        sizes = dict(zip(_UNNAMED[len(pieces)], (Size.parse(piece, where) for piece in pieces), strict=True))
    else:
        raise InputError(f"{where}; expected {GRAMMAR}")
    shares = [size.amount for size in sizes.values() if size.kind == "share"]
    if not named and len(shares) == len(sizes) and max(shares) > 1:  # 80/10/10, without percent signs
        sizes = {part: Size(size.amount / 100, "share") for part, size in sizes.items()}
        shares = [share / 100 for share in shares]
    _check_sizes(where, sizes, shares)
    return {part: sizes[part] for part in PARTS if part in sizes}


def _parse_named(piece: str, where: str) -> tuple[str, Size]:
    part, mark, size = piece.partition("=")
    if not mark:
        raise InputError(f"{where}: {piece.strip()!r}; expected part=size")
    if part.strip() not in PARTS:
        raise NameUnknown(f"{where}: part", part.strip(), PARTS)
    parsed = Size.parse(size, where)
    if parsed.kind == "share" and parsed.amount > 1:
        raise InputError(f"{where}: {piece.strip()!r}; expected %, words or sentences after the number")
    return part.strip(), parsed


def _check_sizes(where: str, sizes: Mapping[str, Size], shares: Sequence[float]) -> None:
    kinds = [size.kind for size in sizes.values()]
    for part, size in sizes.items():
        if size.kind != "rest" and size.amount <= 0:
            raise InputError(f"{where}: size 0 of {part}; expected more than 0")
    if kinds.count("rest") > 1:
        raise InputError(f"{where}: rest twice; expected it for one part")
    if {"words", "sentences"} <= set(kinds):
        raise InputError(f"{where}: words and sentences mixed; expected one of them, or shares")
    total = sum(shares)
    if len(shares) == len(sizes) and abs(total - 1) > 1e-9:
        raise InputError(f"{where}: the shares sum to {100 * total:g} %; expected 100 %, or rest for one part")
    if total > 1 + 1e-9 or (total > 1 - 1e-9 and len(shares) < len(sizes)):
        raise InputError(f"{where}: the shares sum to {100 * total:g} %; expected less than 100 %")


def measure_of(sizes: Mapping[str, Size], default: str) -> str:
    """Return whether sizes are in `words` or `sentences`; shares are of the default."""
    return next((size.kind for size in sizes.values() if size.kind in ("words", "sentences")), default)


def target_amounts(sizes: Mapping[str, Size], total: int, measure: str, where: str) -> dict[str, float]:
    """Return the target amount of each part, of `total` words or sentences."""
    targets = {part: size.amount * (total if size.kind == "share" else 1) for part, size in sizes.items()}
    requested = sum(targets.values())
    rest = next((part for part, size in sizes.items() if size.kind == "rest"), None)
    if requested > total + 1e-6 * total or (rest is not None and requested >= total):
        text = " + ".join(f"{part} {size}" for part, size in sizes.items() if size.kind != "rest")
        raise InputError(f"{where}: {text} requested; there are {total:,} {measure}")
    if rest is not None:
        targets[rest] = total - requested
    return targets


UNITS = ("sentence", "document", "block")


@dataclass(frozen=True, slots=True)
class Draw:
    """The sentences of each part, in the order in which nested subsets take them.

    `units` is the unit of every sentence of the corpus where parts consist of whole units, else None.
    """

    parts: Mapping[str, Indices]
    units: Codes | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named, versioned strategy. `draw` returns a split that depends on the seed and its number only.

    `once` means that there is only one such split of a corpus.
    """

    name: str
    draw: Callable[[Material, int, int], Draw]
    once: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


STRATEGIES: Registry[Strategy] = Registry(
    "strategy", "random, random.v1 or random.v1(unit='document')", made=Strategy, group="strategies"
)


@dataclass(frozen=True, eq=False)
class Material:
    """A corpus as strategies see it, with cached properties."""

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
        """The index in `PARTS` of every sentence's file, if every file name has a part."""
        return sentence_parts(self.corpus)

    @cached_property
    def _strata(self) -> dict[str, Codes]:
        """A cache of strata."""
        return {}

    def everything(self) -> Indices:
        """Return all sentences, in the order train, tune, dev, test where file names tell the part."""
        if self.file_parts is None:
            return np.arange(self.corpus.sentences)
        return np.argsort(self.file_parts, kind="stable")

    def without_test(self) -> Indices:
        """Return the sentences of train, tune and dev in this order; all where file names do not tell the part."""
        everything = self.everything()
        if self.file_parts is None:
            return everything
        return np.asarray(everything[self.file_parts[everything] != PARTS.index("test")])

    def of_part(self, part: str, strategy: str) -> Indices:
        """Return the sentences of the files of one part."""
        if self.file_parts is None:
            paths = ", ".join(file.path for file in self.corpus.parts) or self.corpus.name
            raise InputError(
                f"{paths}: not all file names tell a part; strategy {strategy} expected names such as en-train.conllu"
            )
        return np.flatnonzero(self.file_parts == PARTS.index(part))

    def units(self, kind: str, block: int) -> Codes | None:
        """Return the unit of every sentence: its document, or its block of so many sentences; None for sentences.

        Every file starts a new block.
        """
        if kind not in UNITS:
            raise NameUnknown("unit", kind, UNITS)
        if kind == "sentence":
            return None
        if kind == "block":
            if block < 1:
                raise InputError(f"blocks of {block} sentences; expected at least 1")
            begins = [np.arange(end - first) % block == 0 for _, first, end in self.corpus.files]
            return (np.cumsum(np.concatenate(begins)) - 1).astype(np.int32)
        if self.documents is None:
            raise InputError(
                f"{self.corpus.name}: no documents; expected '# newdoc' marks or sent_ids that name them (--documents "
                "sent_id:REGEX), or another unit (--unit block, --unit sentence)"
            )
        return self.documents.codes

    def strata(self, name: str, units: Codes | None) -> Codes:
        """Return the stratum of every unit, which is that of its first sentence."""
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
