"""Strategies: the standard split, those that follow the order of the text, and those that shuffle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from deadheat.corpus.documents import PARTS
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.splits.drawing import allocate, generator, permutation, sampling_order, sentences_reaching
from deadheat.splits.strategy import STRATEGIES, Draw, Material, Strategy, measure_of, parse_sizes, target_amounts

UD_SMALL, UD_LARGE = 20_000, 110_000  # words: below, all is test; above, sizes are shares
UD_TEST = 10_000  # words of test, at least
UD_SHARE = 0.1
LEFT_OUT = ""  # the part of units in no part
SLACK = 0.03  # margin to the bounds of the guidelines, because whole documents never fit exactly


@STRATEGIES.add("standard.v1")
def standard() -> Strategy:
    """The split of the files, as their names tell (`en_ewt-ud-train.conllu`)."""

    def draw(material: Material, seed: int, number: int) -> Draw:
        del seed, number
        parts = {part: material.of_part(part, "standard") for part in PARTS}
        return Draw({part: sentences for part, sentences in parts.items() if len(sentences)})

    return Strategy("standard.v1", draw, once=True)


def _after_training(method: str, description: str) -> None:
    """Register a strategy whose evaluation part is sampled from the sentences after train."""

    def make(*, train: int = 50_000, words: int = 10_000, part: str = "dev") -> Strategy:
        if part not in PARTS[1:]:
            raise NameUnknown(f"{method}: part", part, PARTS[1:])
        if train < 1 or words < 0:
            raise InputError(f"{method}: train={train}, words={words}; expected words of train, and of {part} (0: all)")

        def draw(material: Material, seed: int, number: int) -> Draw:
            order = material.without_test()
            lengths = material.lengths[order]
            first = sentences_reaching(lengths, train)
            left = lengths[first:]
            available = int(left.sum())
            if words > available or not available:
                raise InputError(
                    f"{material.corpus.name}: {part} of {max(words, 1):,} words after "
                    f"{int(lengths[:first].sum()):,} words of train; there are {available:,} left"
                )
            wanted = words or available
            chosen = sampling_order(method, left, wanted, rng=generator(seed, number))
            chosen = chosen[: sentences_reaching(left[chosen], wanted)]
            return Draw({"train": order[:first], part: order[first:][chosen]})

        return Strategy(f"{method}.v1", draw, once=method == "seq")

    make.__doc__ = description
    STRATEGIES.add(f"{method}.v1")(make)


_after_training(
    "seq",
    """Train is the first `train` words, and the evaluation part the last `words` (van der Goot et al. 2024, SEQ).

    Sentences are never cut, so a part exceeds its size by less than a sentence. `words=0` takes all that is left. Where
    files name their parts, those of train and dev are used, in this order, and test is left out.
    """,
)
_after_training("rand", "As `seq`, but the evaluation part is a random sample of the sentences after train (RAND).")
_after_training(
    "rand-seq", "As `seq`, but the evaluation part is a run of sentences from a random start after train (RAND_SEQ)."
)


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


@STRATEGIES.add("random.v1")
def random(*, sizes: str = "80/10/10", unit: str = "sentence", stratify: str = "", block: int = 50) -> Strategy:
    """Random sentences or whole documents of given sizes, as in Gorman & Bedrick (2019).

    `sizes`: `80/10/10` (train/dev/test), or `train=rest,dev=10%,test=10000 words`; shares are of sentences where the
    unit is the sentence, else of words. `unit`: `sentence`, `document`, or `block` (runs of `block` sentences).
    `stratify`: `genre`, `file`, a comment or a column whose values are in proportion in every part.
    """
    wanted = parse_sizes(sizes)

    def draw(material: Material, seed: int, number: int) -> Draw:
        units = material.units(unit, block)
        measure = measure_of(wanted, "sentences" if unit == "sentence" else "words")
        weights = unit_weights(material, units, measure)
        targets = target_amounts(wanted, int(weights.sum()), measure, material.corpus.name)
        return draw_units(material, units, weights, targets, stratify, rng=generator(seed, number))

    return Strategy("random.v1", draw)


@STRATEGIES.add("kfold.v1")
def kfold(
    *, folds: int = 10, unit: str = "sentence", stratify: str = "", dev_fold: bool = True, block: int = 50
) -> Strategy:
    """Cross-validation: split i has fold i as test, the next fold as dev (unless `dev_fold=False`), the rest as train.

    More splits than folds are repetitions with a new shuffle: splits `folds` to 2 `folds` - 1 are the second one. Folds
    are equal in sentences where the unit is the sentence, else in words.
    """
    fewest = 3 if dev_fold else 2
    if folds < fewest:
        raise InputError(f"kfold: {folds} folds; expected at least {fewest}")

    @lru_cache(maxsize=1)
    def draw_folds(material: Material, seed: int, repetition: int) -> Draw:
        units = material.units(unit, block)
        weights = unit_weights(material, units, "sentences" if unit == "sentence" else "words")
        if len(weights) < folds:
            raise InputError(f"{material.corpus.name}: {folds} folds of {len(weights)} {unit}s; expected fewer folds")
        total = int(weights.sum())
        if unit == "sentence":  # integers, so that folds differ by at most one
            fold_sizes = {str(i): float((i + 1) * total // folds - i * total // folds) for i in range(folds)}
        else:
            fold_sizes = {str(i): total / folds for i in range(folds)}
        return draw_units(material, units, weights, fold_sizes, stratify, rng=generator(seed, repetition))

    def draw(material: Material, seed: int, number: int) -> Draw:
        repetition, test = divmod(number, folds)
        fold_draw = draw_folds(material, seed, repetition)
        dev = (test + 1) % folds if dev_fold else test
        rest = [fold_draw.parts[str(i)] for i in range(folds) if i not in (test, dev)]
        parts = {"train": np.concatenate(rest), "dev": fold_draw.parts[str(dev)], "test": fold_draw.parts[str(test)]}
        return Draw({name: parts[name] for name in parts if dev_fold or name != "dev"}, fold_draw.units)

    return Strategy("kfold.v1", draw)


@STRATEGIES.add("ud.v1")
def ud(*, unit: str = "document", stratify: str = "auto", sample: int = 0, block: int = 50) -> Strategy:
    """A new split by the guidelines of Universal Dependencies: sizes in words, whole documents, genres in proportion.

    Below 20,000 words, all is test (cross-validate with `kfold`), or with `sample=20` to `sample=50` so many sentences
    are train. Up to 110,000 words, test has a little more than 10,000 and dev 10 % of the rest. Above, test and dev
    have a little less than 10 % each. `stratify`: `auto` keeps genres in proportion where they are known; else as in
    `random`. `unit`: where there are no documents, `block` shuffles runs of `block` sentences.
    """
    if sample and not 20 <= sample <= 50:
        raise InputError(f"ud: sample={sample}; expected 0, or 20 to 50 sentences")

    def draw(material: Material, seed: int, number: int) -> Draw:
        rng = generator(seed, number)
        total = material.corpus.words
        if total < UD_SMALL:
            return _small(material, sample, rng)
        if sample:
            raise InputError(f"ud: sample={sample} of {total:,} words; expected it only below {UD_SMALL:,}")
        units = material.units(unit, block)
        weights = unit_weights(material, units, "words")
        if total <= UD_LARGE:
            test = UD_TEST * (1 + SLACK)
            dev = UD_SHARE * (total - test)
        else:
            test = dev = UD_SHARE * total * (1 - SLACK)
        targets = {"train": total - test - dev, "dev": dev, "test": test}
        result = draw_units(material, units, weights, targets, _known_genre(material, stratify), rng=rng)
        words = int(material.lengths[result.parts["test"]].sum())
        note = f"test has {words:,} words; whole documents did not make up the {UD_TEST:,} of the guidelines"
        return result if words >= UD_TEST else replace(result, notes=(note,))

    return Strategy("ud.v1", draw)


def _small(material: Material, sample: int, rng: np.random.Generator) -> Draw:
    note = f"fewer than {UD_SMALL:,} words: all sentences are test; cross-validate with kfold"
    if not sample:
        return Draw({"test": material.everything()}, notes=(note,))
    order = permutation(material.corpus.sentences, rng=rng)
    return Draw({"train": order[:sample], "test": order[sample:]})


def _known_genre(material: Material, stratify: str) -> str:
    if stratify != "auto":
        return stratify
    try:
        material.strata("genre", None)
    except InputError:
        return ""
    return "genre"


def unit_weights(material: Material, units: Codes | None, measure: str) -> Indices:
    """Return the size of every unit, in words or sentences."""
    per_sentence = material.lengths if measure == "words" else np.ones(material.corpus.sentences, np.int64)
    return per_sentence if units is None else np.bincount(units, per_sentence).astype(np.int64)


def draw_units(
    material: Material,
    units: Codes | None,
    weights: Indices,
    targets: Mapping[str, float],
    stratify: str,
    *,
    rng: np.random.Generator,
) -> Draw:
    """Draw parts of the given amounts from whole units; the rest is left out."""
    left = float(weights.sum()) - sum(targets.values())
    if left > 0.5:
        targets = {**targets, LEFT_OUT: left}
    part_of_unit = allocate(weights, material.strata(stratify, units), np.array([*targets.values()]), rng=rng)
    return make_draw(list(targets), part_of_unit, permutation(len(weights), rng=rng), units)


def make_draw(names: Sequence[str], part_of_unit: Codes, order: Indices, units: Codes | None) -> Draw:
    """Turn parts of units into parts of sentences: units in the given order, sentences in their original order."""
    sentences = order
    if units is not None:
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        sentences = np.argsort(rank[units], kind="stable")
    parts = part_of_unit[sentences if units is None else units[sentences]]
    return Draw({name: sentences[parts == i] for i, name in enumerate(names) if name != LEFT_OUT}, units)
