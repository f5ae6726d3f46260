"""Small corpora to split, and what a split of them is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import strategies as st

from deadheat.corpus import Corpus, concatenate, read
from deadheat.corpus.corpus import Part
from deadheat.corpus.vocabulary import Indices

GENRES = ("news", "web", "talk")
Lengths = Sequence[Sequence[int]]  # words of every sentence of every document


def words(rng: Random, length: int, kinds: int) -> list[str]:
    return [f"w{rng.randrange(kinds)}" for _ in range(length)]


def tree(forms: Iterable[str]) -> str:
    """A sentence of CoNLL-U in which all words hang from the first."""
    lines = [
        f"{i}\t{form}\t_\tX{len(form) % 3}\t_\t_\t{min(i - 1, 1)}\t{'dep' if i > 1 else 'root'}\t_\t_\n"
        for i, form in enumerate(forms, start=1)
    ]
    return "".join(lines) + "\n"


def documents_text(documents: Lengths, *, seed: int = 0, kinds: int = 30, marks: bool = True, first: int = 0) -> str:
    """CoNLL-U with a `# newdoc` for every document; the genre of document i is that of i modulo 3."""
    rng = Random(seed)
    text = ""
    for number, sentences in enumerate(documents, start=first):
        for i, length in enumerate(sentences):
            if marks and i == 0:
                text += f"# newdoc id = {GENRES[number % 3]}-{number}\n"
            text += f"# sent_id = {GENRES[number % 3]}-{number}-{i + 1}\n" if marks else f"# sent_id = {number}{i}\n"
            text += tree(words(rng, length, kinds))
    return text


def treebank(documents: Lengths, *, seed: int = 0, marks: bool = True) -> Corpus:
    """The documents in three files: every fifth in dev, every fifth in test."""
    files: dict[str, list[tuple[int, Sequence[int]]]] = {"train": [], "dev": [], "test": []}
    for number, sentences in enumerate(documents):
        files[{3: "dev", 4: "test"}.get(number % 5, "train")].append((number, sentences))
    return concatenate(
        [
            as_file(
                "".join(documents_text([item], seed=seed + n, marks=marks, first=n) for n, item in chosen),
                f"xx-ud-{part}.conllu",
            )
            for part, chosen in files.items()
        ]
    )


def as_file(text: str, path: str) -> Corpus:
    """A corpus as if it had been read from a file of this name."""
    return replace(read(text=text), name=path, parts=(Part(path, 0),))


def tagged_text(sentences: Sequence[int], *, seed: int = 0, kinds: int = 30) -> str:
    rng = Random(seed)
    return "".join(" ".join(f"{word}_T" for word in words(rng, length, kinds)) + "\n" for length in sentences)


def column_text(sentences: Sequence[int], *, seed: int = 0, kinds: int = 30) -> str:
    """A word and a tag a line, with a `-DOCSTART-` before every fourth sentence."""
    rng = Random(seed)
    text = ""
    for i, length in enumerate(sentences):
        text += "-DOCSTART- O\n\n" if i % 4 == 0 else ""
        text += "".join(f"{word} T{len(word)}\n" for word in words(rng, length, kinds)) + "\n"
    return text


lengths = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=15, max_size=24)
seeds = st.integers(0, 2**40)


def flat(documents: Lengths) -> list[int]:
    return [length for sentences in documents for length in sentences]


def joined(parts: Iterable[Indices]) -> list[int]:
    """All sentences of some parts, in order."""
    return sorted(int(item) for part in parts for item in part)


def lengths_of(corpus: Corpus) -> Indices:
    return np.diff(corpus.offsets)
