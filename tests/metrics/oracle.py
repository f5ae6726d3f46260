"""The official evaluation beside ours: the same counts, under the same names."""

import io
from typing import TypeAlias

from udtools.udeval import UDError, evaluate, load_conllu

from deadheat.corpus import Corpus, read
from deadheat.metrics import METRICS, Pair, align

__all__ = ["UDError", "differences", "official", "ours", "parsed", "sentences_of"]

# Correct, gold, predicted and aligned; the last is None where the evaluation has no aligned accuracy.
Row: TypeAlias = tuple[int, int, int, int | None]
Table: TypeAlias = dict[str, Row]

NAMES = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS",
    "BLEX", "ELAS", "EULAS",
)  # fmt: skip


def parsed(text: str) -> Corpus:
    return read(text=text, format="conllu", lenient=["multiple-roots"])


def official(gold: str, predicted: str) -> Table:
    """What udtools counts; raises its UDError where it does not accept the pair."""
    sides = [load_conllu(io.StringIO(item), "x", {"multiple_roots_okay": True}) for item in (gold, predicted)]
    result = evaluate(*sides)
    fields = ("correct", "gold_total", "system_total", "aligned_total")
    return {name: tuple(getattr(result[name], field) for field in fields) for name in NAMES}


def ours(pair: Pair, unit: int | None = None) -> Table:
    """Our counts of all units together, or of one; enhanced edges as the official evaluation counts them."""
    return {name: _row(pair, name, unit) for name in NAMES}


def _row(pair: Pair, name: str, unit: int | None) -> Row:
    counts = METRICS.make(f"{name}(official=True)" if name in ("ELAS", "EULAS") else name).counts(pair)
    row = counts.sum(axis=0) if unit is None else counts[unit]
    correct, gold, predicted, *aligned = (int(item) for item in row)
    return correct, gold, predicted, aligned[0] if aligned else None


def differences(gold: str, predicted: str) -> dict[str, tuple[Row, Row]]:
    """Where ours and the official counts differ: nowhere, we say."""
    theirs, mine = official(gold, predicted), ours(align(parsed(gold), parsed(predicted)))
    return {name: (mine[name], theirs[name]) for name in NAMES if mine[name] != theirs[name]}


def sentences_of(text: str) -> list[str]:
    """The sentences of a CoNLL-U text, each with its empty line."""
    return [item + "\n\n" for item in text.replace("\r\n", "\n").split("\n\n") if item]
