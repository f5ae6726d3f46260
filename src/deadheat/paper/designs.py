"""Ways to split a corpus, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.errors import InputError
from deadheat.paper.sentences import listed
from deadheat.text import pluralize

# What to cite for a strategy.
STRATEGY_KEYS = {
    "random": "gorman-bedrick-2019",
    "tune": "van-der-goot-2021",
    "ud-tune": "van-der-goot-2021",
    "seq": "van-der-goot-etal-2024",
    "rand": "van-der-goot-etal-2024",
    "rand-seq": "van-der-goot-etal-2024",
}


def split_words(name: str, splits: Sequence[int], *, seed: int = 0) -> str:
    """A way to split in words; `splits` are the different numbers of splits it was used for.

    Examples
    --------
    >>> split_words("standard.v1", [1])
    'the standard split'
    >>> split_words("random.v1(unit='document', stratify='genre')", [20])
    '20 random splits by document (80/10/10 by words, stratified by genre; seed 0)'
    >>> split_words("random.v1", [1], seed=3), split_words("mine.v1", [2, 3])
    ('one random split by sentence (80/10/10 by sentences; seed 3)', '2 to 3 splits by mine.v1 (seed 0)')
    >>> split_words("tune.v1(tune=300, dev=300)", [1])
    'one split in order of the text (the last 1,600 sentences are tune, dev and test: 300, 300 and 1,000)'
    """
    many = f"{splits[0]:,} to {pluralize(splits[-1], 'split')}" if len(splits) > 1 else pluralize(splits[0], "split")
    one = list(splits) == [1]
    base = name.partition(".v")[0]
    if base == "standard":
        return "the standard split"
    if base == "ud-tune":
        return "the standard split with a third of dev as tune"
    settings = _settings(name)
    if base == "tune" and settings is not None:
        sizes = [int(settings[part]) for part in ("tune", "dev", "test")]
        each = listed([f"{size:,}" for size in sizes])
        return f"one split in order of the text (the last {sum(sizes):,} sentences are tune, dev and test: {each})"
    if base not in ("random", "kfold") or settings is None:
        return f"one split by {name} (seed {seed})" if one else f"{many} by {name} (seed {seed})"
    unit = settings["unit"]
    by = f"blocks of {settings['block']} sentences" if unit == "block" else unit
    strata = f", stratified by {settings['stratify']}" if settings["stratify"] else ""
    if base == "kfold":
        folds = f"{settings['folds']}-fold cross-validation by {by}"
        return f"{many if not one else 'one split'} of {folds} (seed {seed}{strata})"
    noun = "one random split" if one else many.replace("split", "random split")
    return f"{noun} by {by} ({settings['sizes']} by {_measure(settings)}{strata}; seed {seed})"


def _settings(name: str) -> Mapping[str, Any] | None:
    """All settings of a strategy, those that were not changed included; None of one that is not known here."""
    from deadheat.splits import STRATEGIES

    try:
        return STRATEGIES.make(name).settings
    except InputError:
        return None


def _measure(settings: Mapping[str, Any]) -> str:
    from deadheat.splits.strategy import measure_of, parse_sizes

    return measure_of(parse_sizes(settings["sizes"]), "sentences" if settings["unit"] == "sentence" else "words")
