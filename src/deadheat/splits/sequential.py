"""Strategies that follow the order of the text: the standard split, and those of van der Goot."""

from __future__ import annotations

import numpy as np

from deadheat.corpus.documents import PARTS
from deadheat.errors import InputError, NameUnknown
from deadheat.splits.drawing import generator, sampling_order, sentences_reaching
from deadheat.splits.strategy import STRATEGIES, Draw, Material, Strategy


@STRATEGIES.add("standard.v1")
def standard() -> Strategy:
    """The split of the files, as their names tell (`en_ewt-ud-train.conllu`)."""

    def draw(material: Material, seed: int, number: int) -> Draw:
        del seed, number
        parts = {part: material.of_part(part, "standard") for part in PARTS}
        return Draw({part: sentences for part, sentences in parts.items() if len(sentences)})

    return Strategy("standard.v1", draw, once=True)


def _after_training(method: str, train: int, words: int, part: str) -> Strategy:
    if part not in PARTS[1:]:
        raise NameUnknown(f"{method}: part", part, PARTS[1:])
    if train < 1 or words < 0:
        raise InputError(f"{method}: train={train}, words={words}; expected words of train, and of {part} (0: all)")

    def draw(material: Material, seed: int, number: int) -> Draw:
        order = material.without_test()
        lengths = material.lengths[order]
        first = sentences_reaching(lengths, train)
        left = lengths[first:]
        there = int(left.sum())
        if words > there or not there:
            raise InputError(
                f"{material.corpus.name}: {part} of {max(words, 1):,} words after {int(lengths[:first].sum()):,} words "
                f"of train; there are {there:,} left"
            )
        wanted = words or there
        chosen = sampling_order(method, left, wanted, rng=generator(seed, number))
        chosen = chosen[: sentences_reaching(left[chosen], wanted)]
        return Draw({"train": order[:first], part: order[first:][chosen]})

    return Strategy(f"{method}.v1", draw, once=method == "seq")


@STRATEGIES.add("seq.v1")
def seq(*, train: int = 50_000, words: int = 10_000, part: str = "dev") -> Strategy:
    """Train is the first `train` words, and the evaluation part the last `words` (van der Goot et al. 2024, SEQ).

    Sentences are never cut, so a part exceeds its size by less than a sentence. `words=0` takes all that is left. Where
    files name their parts, those of train and dev are used, in this order, and test is left out.
    """
    return _after_training("seq", train, words, part)


@STRATEGIES.add("rand.v1")
def rand(*, train: int = 50_000, words: int = 10_000, part: str = "dev") -> Strategy:
    """As `seq`, but the evaluation part is a random sample of the sentences after train (RAND of the same paper)."""
    return _after_training("rand", train, words, part)


@STRATEGIES.add("rand-seq.v1")
def rand_seq(*, train: int = 50_000, words: int = 10_000, part: str = "dev") -> Strategy:
    """As `seq`, but the evaluation part is a run of sentences from a random start after train (RAND_SEQ)."""
    return _after_training("rand-seq", train, words, part)


@STRATEGIES.add("tune.v1")
def tune(*, tune: int = 1000, dev: int = 1000, test: int = 1000) -> Strategy:
    """Join train and dev, unshuffled; their last 3,000 sentences are tune, dev and test (van der Goot 2021).

    Test comes last, because later sentences have less in common with train. The original test files are not used. Sizes
    are in sentences.
    """
    sizes = {"tune": tune, "dev": dev, "test": test}
    if min(sizes.values()) < 1:
        raise InputError(f"tune: tune={tune}, dev={dev}, test={test}; expected at least 1 sentence each")

    def draw(material: Material, seed: int, number: int) -> Draw:
        del seed, number
        order = material.without_test()
        total = sum(sizes.values())
        if total >= len(order):
            raise InputError(
                f"{material.corpus.name}: tune, dev and test of {total:,} sentences; there are {len(order):,}, and "
                "train needs some"
            )
        ends = len(order) - total + np.cumsum([0, *sizes.values()])
        parts = {"train": order[: ends[0]]}
        for i, part in enumerate(sizes):
            parts[part] = order[ends[i] : ends[i + 1]][::-1]  # a smaller set keeps the last ones
        return Draw(parts)

    return Strategy("tune.v1", draw, once=True)


@STRATEGIES.add("ud-tune.v1")
def ud_tune(*, last: int = 100) -> Strategy:
    """Add a tune part to the standard train, dev and test (van der Goot 2021, appendix B).

    Where there is no dev file, the last `last` sentences of train become dev, but at most half of train. Then the first
    third of dev, rounded down, becomes tune. The paper does not say which third; the first keeps the order of the text
    (train, tune, dev). A dev of fewer than three sentences is an error.
    """
    if last < 1:
        raise InputError(f"ud-tune: last={last}; expected at least 1 sentence")

    def draw(material: Material, seed: int, number: int) -> Draw:
        del seed, number
        train, dev, test = (material.of_part(part, "ud-tune") for part in ("train", "dev", "test"))
        if len(material.of_part("tune", "ud-tune")):
            raise InputError(f"{material.corpus.name}: already has a tune part; expected train, dev and test")
        notes: tuple[str, ...] = ()
        if not len(dev):
            size = min(last, len(train) // 2)
            train, dev = train[: len(train) - size], train[len(train) - size :]
            notes = (f"no dev set: the last {size:,} sentences of train are used as dev",)
        third = len(dev) // 3
        if not third or not len(train):
            raise InputError(
                f"{material.corpus.name}: a dev set of {len(dev)} sentences; expected at least 3, and train"
            )
        parts = {"train": train, "tune": dev[:third], "dev": dev[third:], "test": test}
        return Draw({part: sentences for part, sentences in parts.items() if len(sentences)}, notes=notes)

    return Strategy("ud-tune.v1", draw, once=True)
