"""Size: how much test data is enough to rank systems."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.analyses.score import Given
from deadheat.analyses.size_counts import (
    AnyPath,
    Prediction,
    TestSet,
    check_target,
    count_test_set,
    listed_sets,
    save_counts,
    saved_counts,
)
from deadheat.analyses.size_study import SizeStudy
from deadheat.corpus import Corpus
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.ranking.sizes import SetSizes, size_curves
from deadheat.ranking.sizes_settings import SIZES, SizeSettings
from deadheat.stats.checks import Values
from deadheat.stats.rankings import weighted_kendall_rows
from deadheat.study.ledger import Look
from deadheat.text import pluralize

BY_CONSTRUCTION = (
    "a sample is part of the whole, so that tau nears 1 with the size whatever the data; "
    "--against rest ranks on what is not in the sample"
)


def size(
    gold: Given | Sequence[Given],
    systems: Mapping[str, Given | Sequence[Given]],
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    align_by: str = "text",
    save: AnyPath = "",
    look: Look | None = None,
    **reading: Any,
) -> SizeStudy:
    r"""How much of a test set is enough to rank systems as all of it does.

    Parameters
    ----------
    systems
        The prediction of each system by its name, or the predictions of its runs.
    metric
        By default LAS for trees, else the first metric that `deadheat.score` would show.
    settings
        Sizes in words, ways of sampling, draws, what is done with runs, the threshold and the confidence.
    save
        A file that the counts are saved to, for `size_of_counts`.
    look
        Where to record that a test set was looked at, see `docs/ledger.md`; nothing is recorded without it.

    Notes
    -----
    A sample lies in the whole, so that tau tends to 1 with the size whatever the data. `settings.against` "rest" ranks
    on what is not in the sample instead. See `docs/sizes.md`.

    Examples
    --------
    >>> import deadheat
    >>> from deadheat.analyses.size import size
    >>> from deadheat.ranking.sizes_settings import SizeSettings
    >>> gold = deadheat.read(text="a_X b_Y\n" * 60)
    >>> good, bad = deadheat.read(text="a_X b_Y\n" * 60), deadheat.read(text="a_X b_Y\na_X b_X\na_Y b_Y\n" * 20)
    >>> found = size(gold, {"good": good, "bad": bad}, settings=SizeSettings(sizes=(2, 20, 60), ways=("rand",)))
    >>> print(found.answers(found.sets[0])[0].partition(";")[0])
    rand: 20 words are enough
    """
    if save:
        check_target(save)
    given = [Prediction(name, gold, each) for name, runs in systems.items() for each in _runs(runs)]
    _check_systems(given, settings or SizeSettings())
    made = count_test_set("", given, metric=metric, align_by=align_by, look=look, reading=reading)
    found = study([made], settings, look=look, alignment=align_by)
    if save:
        save_counts(made, save)
    return found


def size_of_sets(
    listing: AnyPath,
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    align_by: str = "text",
    look: Look | None = None,
    **reading: Any,
) -> SizeStudy:
    """How much is enough on several test sets, from a table with the columns set, gold, system and prediction."""
    made: list[TestSet] = []
    for name, predictions in listed_sets(listing).items():
        _check_systems(predictions, settings or SizeSettings(), name)
        chosen = made[0].counted.metric.name if made else metric
        made.append(count_test_set(name, predictions, metric=chosen, align_by=align_by, look=look, reading=reading))
    return study(made, settings, look=look, alignment=align_by)


def size_of_counts(
    paths: AnyPath | Sequence[AnyPath],
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    look: Look | None = None,
) -> SizeStudy:
    """How much is enough, from counts that were saved: a test set a file."""
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    made = [saved_counts(path) for path in files]
    for path, each in zip(files, made, strict=True):
        stored = each.counted.metric.name
        if metric and METRICS.make(metric).name != stored:
            raise InputError(f"{os.fspath(path)}: counts of {stored}; expected {METRICS.make(metric).name}")
    return study(made, settings, look=look)


def study(
    test_sets: Sequence[TestSet], settings: SizeSettings | None, *, look: Look | None = None, alignment: str = ""
) -> SizeStudy:
    """Work out the curves, and record the looks before anybody sees them."""
    own = settings or SizeSettings()
    sets = [each.counted for each in test_sets]
    metrics = {each.metric.name: each.metric for each in sets}
    if len(metrics) > 1:
        raise InputError(f"counts of {' and of '.join(metrics)}; expected one metric for all test sets")
    names = [each.name for each in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two test sets are named {twice}; expected a name for each")
    found, overall = size_curves(sets, own)
    notes = [note for each in test_sets for note in each.notes] + _notes(found, own)
    if len(found) > 1 and overall is None:
        notes.append("no overall: it needs the same systems with as many runs in every test set, in one order")
    runs = sum(len(each.systems) for each in sets)
    alike = len(found) > 1 and len({each.systems for each in found}) == 1
    between = np.array([_taus(each.scores_S, found) for each in found]) if alike else None
    made = SizeStudy(sets[0].metric, own, found, overall, between, runs, alignment)
    done = [each for test_set in test_sets for each in test_set.record(look, made.signature)]
    told = [note for each in done for note in each.notes]
    looks = tuple(tally for each in done for tally in each.tallies)
    return replace(made, notes=tuple(dict.fromkeys([*told, *notes])), looks=looks)


def _taus(scores_S: Values, others: Sequence[SetSizes]) -> list[float]:
    rows: list[float] = weighted_kendall_rows(np.stack([each.scores_S for each in others]), scores_S).tolist()
    return rows


def _runs(given: Given | Sequence[Given]) -> list[Given]:
    return [given] if isinstance(given, str | os.PathLike | Corpus) else list(given)


def _check_systems(predictions: Sequence[Prediction], settings: SizeSettings, where: str = "") -> None:
    """Told before any file is read."""
    ranked = len(predictions if settings.seeds == "separate" else {each.system for each in predictions})
    if ranked < 2:
        told = f"{pluralize(ranked, 'system')}; expected at least two to rank"
        raise InputError(f"{where}: {told}" if where else told)


def _notes(found: Sequence[SetSizes], settings: SizeSettings) -> list[str]:
    notes = [] if settings.against == "rest" else [BY_CONSTRUCTION]
    for each in found:
        shown = {point.size for point in each.curves[0].points if not point.whole}
        beyond = [f"{size:,}" for size in settings.sizes if size not in shown]
        if beyond and settings.against == "rest":
            notes.append(
                f"{each.name}: {', '.join(beyond)} words left out, because the rest would be smaller than that"
            )
        elif beyond and settings.sizes != SIZES:
            notes.append(f"{each.name}: {', '.join(beyond)} words are shown as all, because there are {each.words:,}")
        if len(set(each.scores_S.tolist())) == 1:
            notes.append(f"{each.name}: all systems are level on everything; there is no ranking to agree with")
        if each.unit == "block":
            notes.append(f"{each.name}: sampled in {each.units:,} blocks that begin a sentence for every system")
    return notes
