"""Networks for tests: small, quick to compile, of few shapes; and a corpus they can learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from deadheat.corpus import Corpus, read
from deadheat.neural import devices
from deadheat.splits.splitting import Partition

# Tags, and chunks in all schemes, have four to six labels, so that the same programs serve all.
TINY: dict[str, Any] = {
    "column": "tag", "units": "5", "word_size": 8, "casing": 2, "characters": "none", "classifier": "softmax",
    "batch": 8, "rate": 0.05, "drop": 0.1, "epochs": 3,
}  # fmt: skip
TAGS = {"the": "D", "dog": "N", "cats": "N", "Big": "A", "saw": "V", "3": "#"}
SENTENCES = 60


def rows_of(sentences: int = SENTENCES, seed: int = 0, *, rare: bool = False) -> list[list[tuple[str, str, str]]]:
    """Words with tags and chunks: `run` is a verb after a noun, and what is no verb is in a chunk.

    With `rare` words, every tenth has a letter behind it, which makes it a word of its own.
    """
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(sentences):
        rows: list[tuple[str, str, str]] = []
        for word in rng.choice([*TAGS, "run"], size=rng.integers(2, 7)).tolist():
            tag = TAGS.get(word) or ("V" if rows and rows[-1][1] == "N" else "N")
            word += rng.choice(list("uvwxy")) if rare and rng.random() < 0.1 else ""
            inside = rows and rows[-1][2] != "O" and tag != "D"
            rows.append((word, tag, "O" if tag == "V" else "I-NP" if inside else "B-NP"))
        made.append(rows)
    return made


def corpus_of(sentences: Sequence[Sequence[tuple[str, str, str]]]) -> Corpus:
    """Rows as a corpus of columns."""
    text = "".join("".join("\t".join(row) + "\n" for row in rows) + "\n" for rows in sentences)
    return read(text=text, format="columns", columns=["form", "tag", "chunk"], separator="\t")


def split_of(seed: int, name: str = "", *, parts: Sequence[str] = ("train", "dev", "test")) -> Partition:
    """Forty sentences to learn from, and two parts of ten."""
    order = np.random.default_rng(seed).permutation(SENTENCES)
    pieces = dict(zip(("train", "dev", "test"), np.split(order, [40, 50]), strict=True))
    return Partition(name or str(seed), {part: pieces[part] for part in parts}, SENTENCES)


def force_stacks(patch: pytest.MonkeyPatch, size: int) -> None:
    """Let networks train in stacks of this size, as on an accelerator that has room for so many."""
    patch.setattr(devices, "device_memory", lambda: 1 << 30)
    patch.setattr(devices, "networks_that_fit", lambda *_, **__: size)
