"""`deadheat.split`: a corpus and a strategy give partitions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

import numpy as np

from deadheat.arguments import Argument, whole_number
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import PARTS, Documents, sort_by_part
from deadheat.corpus.reading import expand, read
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown, SplitError, check_work
from deadheat.files import STDIN
from deadheat.splits.strategy import STRATEGIES, Draw, Material, Size, Strategy

DocumentRule: TypeAlias = Annotated[
    str, Argument("how to find documents: newdoc, sent_id, sent_id:REGEX, none or auto", metavar="RULE")
]
NestedSizes: TypeAlias = Annotated[
    Sequence[str],
    Argument("subsets of a part, such as 'test=100,500 words'", metavar="SIZES", repeat=True),
]


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Sentence numbers by part; checked on construction.

    `nested` holds smaller subsets of a part, each within the next larger one.

    Examples
    --------
    >>> import numpy as np
    >>> Partition("0", {"train": np.array([0, 2]), "test": np.array([1])}, sentences=4)
    <Partition 0: train 2, test 1, left out 1>
    >>> Partition("0", {"train": np.array([0, 1]), "test": np.array([1])}, sentences=4)
    Traceback (most recent call last):
        ...
    deadheat.errors.SplitError: split 0: sentence 1 is in two parts; expected each sentence in at most one
    """

    name: str
    parts: Mapping[str, Indices]
    sentences: int
    nested: Mapping[str, Mapping[str, Indices]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = {name: _freeze(numbers) for name, numbers in self.parts.items()}
        nested = {
            part: MappingProxyType({name: _freeze(numbers) for name, numbers in sets.items()})
            for part, sets in self.nested.items()
        }
        object.__setattr__(self, "parts", MappingProxyType(parts))
        object.__setattr__(self, "nested", MappingProxyType(nested))
        for problem in self._problems():
            raise SplitError(f"split {self.name}: {problem}")

    def _problems(self) -> Iterator[str]:
        if not self.parts:
            yield "no parts; expected at least one"
        taken = np.zeros(self.sentences, bool)
        for part, numbers in self.parts.items():
            if not len(numbers):
                remedy = "a larger corpus, a larger share of it, or smaller units"
                yield f"part {part} is empty; expected at least one sentence: {remedy}"
            if numbers[0] < 0 or numbers[-1] >= self.sentences:
                worst = int(numbers[0] if numbers[0] < 0 else numbers[-1])
                yield f"part {part} has sentence {worst}; expected 0 to {self.sentences - 1}"
            repeated = numbers[1:][numbers[1:] == numbers[:-1]]
            if len(repeated):
                yield f"part {part} has sentence {repeated[0]} twice; expected it once"
            if taken[numbers].any():
                twice = int(numbers[np.argmax(taken[numbers])])
                yield f"sentence {twice} is in two parts; expected each sentence in at most one"
            taken[numbers] = True
        for part, subsets in self.nested.items():
            if part not in self.parts:
                yield f"subsets of {part}, which is not a part; expected {', '.join(self.parts)}"
            chain = [*sorted(subsets.items(), key=lambda item: len(item[1])), (part, self.parts[part])]
            for (name, numbers), (around, larger) in pairwise(chain):
                if not len(numbers):
                    yield f"{name} is empty; expected at least one sentence"
                if not np.isin(numbers, larger, assume_unique=True).all():
                    yield f"{name} is not within {around}; expected nested sets"

    @property
    def sets(self) -> dict[str, Indices]:
        """The parts and their nested subsets, by name."""
        return dict(self.parts) | {name: numbers for sets in self.nested.values() for name, numbers in sets.items()}

    @property
    def left_out(self) -> Indices:
        """Sentences in no part."""
        return np.setdiff1d(np.arange(self.sentences), np.concatenate(list(self.parts.values())), assume_unique=True)

    def __repr__(self) -> str:
        sizes = [f"{part} {len(numbers):,}" for part, numbers in self.parts.items()]
        left_out = len(self.left_out)
        return f"<Partition {self.name}: {', '.join([*sizes, *([f'left out {left_out:,}'] if left_out else [])])}>"


def _freeze(numbers: Indices) -> Indices:
    ordered = np.sort(np.asarray(numbers, np.int64))
    ordered.flags.writeable = False
    return ordered


NESTED_GRAMMAR = "as test=100,200,500 words, or train=10%,50%"


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Partitions of a corpus, and everything that they depend on."""

    corpus: Corpus
    strategy: Strategy
    seed: int
    partitions: tuple[Partition, ...]
    documents: Documents | None
    document_rule: str = "auto"
    nested: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.partitions)

    def __len__(self) -> int:
        return len(self.partitions)

    def __getitem__(self, number: int) -> Partition:
        return self.partitions[number]

    def __str__(self) -> str:
        return f"{len(self)} x {self.strategy}, seed {self.seed}, of {self.corpus.name}"

    def sizes_of(self, sentences: Indices) -> dict[str, int]:
        """Count sentences, words and, where known, documents."""
        sizes = {"sentences": len(sentences), "words": self.words_of(sentences)}
        if self.documents is not None:
            sizes["documents"] = len(np.unique(self.documents.codes[sentences]))
        return sizes

    def words_of(self, sentences: Indices) -> int:
        """Count the words of some sentences."""
        return int(np.diff(self.corpus.offsets)[sentences].sum())

    def shared_documents(self, partition: Partition) -> dict[str, int]:
        """Count the documents that two parts have in common; empty where there are no documents."""
        return {} if self.documents is None else shared_documents(self.documents, partition)


def shared_documents(documents: Documents, partition: Partition) -> dict[str, int]:
    """Count the documents that two parts have in common, by names such as `train/test`."""
    present = {part: np.zeros(len(documents), bool) for part in partition.parts}
    for part, sentences in partition.parts.items():
        present[part][documents.codes[sentences]] = True
    return {
        f"{first}/{second}": int(np.count_nonzero(present[first] & present[second]))
        for first, second in combinations(partition.parts, 2)
    }


def split(
    corpus: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Corpus,
    strategy: str = "random",
    *,
    times: Annotated[int, Argument("number of splits", metavar="N", parse=whole_number)] = 1,
    seed: Annotated[int, Argument("seed; split i depends on it and on i only", metavar="N", parse=whole_number)] = 0,
    documents: DocumentRule = "auto",
    nested: NestedSizes = (),
    settings: Mapping[str, object] | None = None,
    **reading: Any,
) -> Splits:
    r"""Split a corpus.

    Parameters
    ----------
    corpus
        Files or folders, read as one corpus in the order of their parts where all names tell one; or a corpus.
    strategy
        A name with settings such as `random(unit='document', stratify='genre')`.
    times
        Number of splits. Split i depends on the seed and i only, so more splits keep the old ones.
    documents
        How to find documents: `newdoc`, `sent_id`, `sent_id:REGEX`, `none` or `auto`.
    nested
        Nested subsets of a part, such as `test=100,200,500 words` or `train=10%,50%`.
    settings
        Settings of the strategy, in addition to those in its name.
    reading
        Passed on to `deadheat.read`.

    Examples
    --------
    >>> import deadheat
    >>> corpus = deadheat.read(text="".join(f"word{i}_TAG\n" for i in range(10)))
    >>> for partition in split(corpus, "random(sizes='60/20/20')", times=2):
    ...     print(partition, partition.parts["test"])
    <Partition 0: train 6, dev 2, test 2> [0 7]
    <Partition 1: train 6, dev 2, test 2> [4 9]
    """
    method = STRATEGIES.find(strategy, None, **(settings or {}))
    if times < 1:
        raise InputError(f"{times} splits; expected at least 1")
    if seed < 0:
        raise InputError(f"seed {seed}; expected 0 or more")
    if method.once and times > 1:
        raise InputError(f"{times} splits by {method}, which has only one; expected 1")
    nested_sizes = dict(_parse_nested(text) for text in nested)
    if len(nested_sizes) < len(nested):
        raise InputError(
            f"nested {' and '.join(map(repr, nested))}: the same part twice; expected all sizes of a part together"
        )
    if not isinstance(corpus, Corpus):
        corpus = read(_check_distinct(sort_by_part(expand(corpus))), **reading)
    if not corpus.sentences:
        raise InputError(f"{corpus.name}: no sentences; expected at least one")
    check_work("splits", times, nanoseconds=1e5 + 1000 * corpus.sentences, size=2000 + 8 * corpus.sentences)
    material = Material(corpus, documents)
    partitions: list[Partition] = []
    notes: dict[str, None] = {}  # each once, in order
    for number in range(times):
        drawn = method.draw(material, seed, number)
        smaller = {part: _nested_sets(material, drawn, part, sizes) for part, sizes in nested_sizes.items()}
        partitions.append(Partition(str(number), drawn.parts, corpus.sentences, smaller))
        notes |= dict.fromkeys(drawn.notes)
    return Splits(corpus, method, seed, tuple(partitions), material.documents, documents, tuple(nested), tuple(notes))


def _check_distinct(files: list[str]) -> list[str]:
    """Return the files; raise if one is given twice, because its sentences could be in two parts."""
    seen: set[str] = set()
    for file in files:
        target = os.path.realpath(file)
        if target in seen and file != STDIN:
            raise SplitError(f"{file}: given twice; expected every file once")
        seen.add(target)
    return files


def _parse_nested(text: str) -> tuple[str, list[Size]]:
    part, mark, listed = text.partition("=")
    where = f"nested {text!r}"
    if not mark:
        raise InputError(f"{where}; expected {NESTED_GRAMMAR}")
    if part.strip() not in PARTS:
        raise NameUnknown(f"{where}: part", part.strip(), PARTS)
    pieces = [piece.strip() for piece in listed.split(",")]
    kind = re.search(r"[^\d\s._]*\Z", pieces[-1])
    behind = kind[0] if kind else ""
    sizes = [Size.parse(piece if piece.endswith(behind) else f"{piece} {behind}", where) for piece in pieces]
    if any(size.kind == "rest" or size.amount <= 0 or (size.kind == "share" and size.amount > 1) for size in sizes):
        raise InputError(f"{where}; expected sizes {NESTED_GRAMMAR}")
    if len({size.kind for size in sizes}) > 1 or any(a.amount >= b.amount for a, b in pairwise(sizes)):
        raise InputError(f"{where}; expected sizes of one kind in increasing order")
    return part.strip(), sizes


def _nested_sets(material: Material, drawn: Draw, part: str, sizes: Sequence[Size]) -> dict[str, Indices]:
    """Return subsets of a part: its first whole units, as few as reach each size."""
    if part not in drawn.parts:
        raise NameUnknown("nested: part", part, drawn.parts)
    order = drawn.parts[part]
    weights = np.ones(len(order), np.int64) if sizes[0].kind == "sentences" else material.lengths[order]
    reached, total = np.cumsum(weights), int(weights.sum())
    ends = np.arange(1, len(order) + 1)  # after which a unit is complete
    if drawn.units is not None:
        ends = np.append(np.flatnonzero(np.diff(drawn.units[order])) + 1, len(order))
    subsets = {}
    for size in sizes:
        amount = size.amount * total if size.kind == "share" else size.amount
        if amount > total:
            raise InputError(f"nested: {size} requested; {part} has {total:,} {size.kind}")
        end = int(ends[np.searchsorted(reached[ends - 1], amount - 1e-9)])
        suffix = f"{100 * size.amount:.12g}-percent" if size.kind == "share" else f"{size.amount:.0f}-{size.kind}"
        subsets[f"{part}-{suffix}"] = order[:end]
    return subsets
