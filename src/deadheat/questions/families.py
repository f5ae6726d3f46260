"""Systems of a study that can be compared: those that are scored by the same metric before all else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadheat.documents import Document


def first_metrics(block: Document) -> dict[str, str]:
    """What each system is scored by before all else; standings are in the order of metrics."""
    found: dict[str, str] = {}
    for each in block["systems"]:
        found.setdefault(each["system"], each["metric"])
    return found


def families(block: Document) -> list[dict[str, Any]]:
    """A block for the systems of every first metric, which is the first of its metrics.

    Examples
    --------
    >>> systems = [{"system": "tagger", "metric": "accuracy"}, {"system": "parser", "metric": "las"}]
    >>> block = {"metrics": ["accuracy", "las"], "systems": systems, "pairs": []}
    >>> [(each["metrics"], [row["system"] for row in each["systems"]]) for each in families(block)]
    [(['accuracy'], ['tagger']), (['las'], ['parser'])]
    """
    firsts = first_metrics(block)
    found = []
    for metric in dict.fromkeys(firsts.values()):
        own = {system for system, first in firsts.items() if first == metric}
        systems = [each for each in block["systems"] if each["system"] in own]
        metrics = list(dict.fromkeys([metric, *(each["metric"] for each in systems)]))
        pairs = [pair for pair in block["pairs"] if pair["a"] in own and pair["b"] in own]
        found.append({**block, "metrics": metrics, "systems": systems, "pairs": pairs})
    return found


def seed_words(block: Document, blocks: Sequence[Document]) -> str:
    """The seed of splits, where it is not the usual one or is what tells a block from others; else nothing.

    Examples
    --------
    >>> blocks = [{"corpus": "c", "split": "random.v1", "part": "test", "seed": seed} for seed in (0, 1)]
    >>> [seed_words(block, blocks) for block in blocks], seed_words(blocks[0], blocks[:1])
    (['seed 0', 'seed 1'], '')
    """
    place = ("corpus", "split", "part")
    others = {each["seed"] for each in blocks if all(each[key] == block[key] for key in place)}
    return f"seed {block['seed']}" if block["seed"] or len(others) > 1 else ""


def has_more_seeds(block: Document, systems: Sequence[str] = ()) -> bool:
    """Whether some system, or one of these, ran more than once on a split, so that only its first seed was compared."""
    return any(row["runs"] > block["splits"] for row in block["systems"] if not systems or row["system"] in systems)
