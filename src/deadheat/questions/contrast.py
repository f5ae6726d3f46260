"""Which option of a factor wins over all configurations, and which factors matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.errors import InputError, NameUnknown
from deadheat.ranking.contrasts import (
    REPEATS,
    TIES,
    Codes,
    Contrast,
    configuration_keys,
    contrast_options,
    paired_scores,
)
from deadheat.ranking.importance import Importance, factor_importance
from deadheat.stats.corrections import correct
from deadheat.tables.runs import Path, Runs, read_runs
from deadheat.text import pluralize

# Words in names of columns that say what a run is called, or, of columns of numbers, what came of it.
IDENTITIES = frozenset("id uuid hash seed run host date time timestamp duration seconds minutes".split())
RESULTS = frozenset(
    "f1 acc accuracy score loss las uas clas mlas blex bleu precision recall perplexity epoch epochs".split()
)
MOST_OPTIONS = 50
PARTS = frozenset("dev test valid validation tune best max min mean".split())  # results where there is no other word


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One table: the options among the runs of one level of `by` (and of a second factor)."""

    by: str
    second: str
    contrast: Contrast

    def __str__(self) -> str:
        return f"{'/'.join(filter(None, (self.by, self.second))) or 'all runs'}: {self.contrast}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"by": self.by, "second": self.second, **self.contrast.to_dict()}


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """The options of a factor, block by block, and what the runs were paired on."""

    factor: str
    score: str
    by: str
    second: str
    settings: tuple[str, ...]  # columns in which paired runs agree
    left_out: tuple[str, ...]  # columns that were not asked to agree
    repeats: str
    runs: int
    blocks: tuple[Block, ...]
    importance: dict[str, Importance]  # by level of `by`; empty if it was not asked for
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.factor} by {self.score}, {pluralize(self.runs, 'run')}"] if self.factor else []
        lines += [str(block) for block in self.blocks]
        lines += [f"{level or 'all runs'}: {found}" for level, found in self.importance.items()]
        return "\n".join(lines)

    @property
    def display_scale(self) -> float:
        """100 where all scores are shares, which people read as percent; else 1."""
        shares = all(((block.contrast.scores_CO >= 0) & (block.contrast.scores_CO <= 1)).all() for block in self.blocks)
        return 100.0 if shares else 1.0

    def __getitem__(self, by: str) -> Contrast:
        """The contrast of a level of `by`, where there is one only."""
        for block in self.blocks:
            if block.by == by:
                return block.contrast
        raise NameUnknown("block", by, [block.by for block in self.blocks])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, scores in the scale they came in; see docs/contrasts.md."""
        return {
            "kind": "contrast",
            "factor": self.factor,
            "score": self.score,
            "by": self.by,
            "second": self.second,
            "settings": list(self.settings),
            "left_out": list(self.left_out),
            "repeats": self.repeats,
            "runs": self.runs,
            "scale": self.display_scale,
            "blocks": [block.to_dict() for block in self.blocks],
            "importance": [{"by": level, **found.to_dict()} for level, found in self.importance.items()],
            "notes": list(self.notes),
        }

    def to_latex(self) -> str:
        """Wins and median differences as in Reimers and Gurevych's tables, for the booktabs package."""
        from deadheat.questions.latex import joined
        from deadheat.questions.latex_runs import contrast_tables

        return joined(contrast_tables(self.to_dict()))


def contrast(  # noqa: PLR0913 (the options of the command)
    runs: Path | Runs,
    *,
    score: str,
    factor: str = "",
    by: str = "",
    second: str = "",
    where: Iterable[str] = (),
    ignore: Iterable[str] = (),
    settings: Iterable[str] = (),
    options: Iterable[str] = (),
    repeats: str = "mean",
    ties: str = "most",
    correction: str = "holm",
    importance: bool = False,
    seed: int = 0,
) -> Contrasts:
    """Compare the options of a factor over runs that agree in every other setting.

    Parameters
    ----------
    runs
        A table of runs, one a row: a file, or what `read_runs` gave.
    score, factor
        The column of scores, more being better, and the column whose options are compared.
    by
        Make a table for every level of this column; runs are paired within a level.
    second
        A second factor: the same table for each of its levels.
    where
        Conditions COLUMN=VALUE that the runs must meet.
    ignore
        Columns in which paired runs need not agree. Those without a value that all options share, such as the size
        of what only one option has, are left out by themselves.
    settings
        Columns that are settings although their names look like results or names of runs.
    options
        Only these options of the factor (all).
    repeats
        Runs of the same settings and option: their `mean`, or pair `each` with one of every other option, for wins,
        medians and differences; tests are made on the means of configurations in any case.
    ties
        Where several options share the highest score: the win goes to the one with `most` others, or they `share` it.
    correction
        Of the p-values of a table, for all pairs of its options: `holm`, `bonferroni`, `bh` or `none`.
    importance
        Also say how much of the variance of scores each setting explains.
    """
    if not factor and not importance:
        raise InputError("contrast: no factor; expected the column whose options are compared, or importance")
    correct([], correction)
    for kind, given, known in (("way with repeated runs", repeats, REPEATS), ("way with ties", ties, TIES)):
        if given not in known:
            raise NameUnknown(kind, given, known)
    found = (runs if isinstance(runs, Runs) else read_runs(runs)).where(where)
    score = found.column(score)
    factor, by, second = (found.column(name) if name else "" for name in (factor, by, second))
    found.distinct(score=score, factor=factor, by=by)
    found.distinct(score=score, factor=factor, second=second)
    if options:
        found = found.where([f"{factor}={option}" for option in options])
    paired, left_out = setting_columns(found, {score, factor, by}, ignore, settings)
    if second and second not in paired:
        expected = f"one of the settings ({', '.join(paired)})" if paired else "a table with other settings"
        raise InputError(f"{found.path}: second factor {second}; expected {expected}")
    scores = found.numbers(score)
    levels_N, levels = found.codes(by) if by else (np.zeros(len(found), np.int64), ("",))
    design = _Design(found, factor, tuple(paired), second, scores, levels_N, levels)
    insisted = {found.column(name) for name in settings}
    followers = [name for name in design.followers() if name not in insisted] if factor else []
    if followers:
        left_out += followers
        paired = [name for name in paired if name not in followers]
        design = replace(design, settings=tuple(paired))
    blocks, notes = design.blocks(repeats, ties, correction) if factor else ((), ())
    if followers:
        have = "has no value" if len(followers) == 1 else "have no value"
        note = f"{', '.join(followers)} {have} that all options of {factor} share: taken to follow it, not paired on"
        notes = (note, *notes)
    shares = {}
    if importance:
        rng = np.random.default_rng(seed)
        columns = [*([factor] if factor else []), *paired]
        shares = {name: _importance(design, place, columns, rng) for place, name in enumerate(levels)}
        vain = [level or found.path for level, share in shares.items() if share.is_chance]
        told = "the forest predicts nothing of runs it has not seen; the shares are chance"
        notes = (*notes, *(f"{where}: {told}" for where in vain))
    return Contrasts(
        factor, score, by, second, tuple(paired), tuple(left_out), repeats, len(found), blocks, shares, notes
    )


def setting_columns(
    runs: Runs, taken: set[str], ignore: Iterable[str], forced: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Columns that are settings, and those that are not."""
    ignored, kept = {runs.column(name) for name in ignore}, {runs.column(name) for name in forced}
    columns = [name for name in runs.frame.columns if name not in taken]
    outside = [name for name in columns if name in ignored or (name not in kept and not _is_setting(runs, name))]
    return [name for name in columns if name not in outside], outside


def _is_setting(runs: Runs, name: str) -> bool:
    """Neither named like a result or an id, nor different in every run."""
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+", name)}
    if words & IDENTITIES or (runs.is_number(name) and (words & RESULTS or words <= PARTS)):
        return False
    return len(runs) < 3 or runs.frame[name].n_unique() < len(runs)


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Runs with what they are paired on."""

    runs: Runs
    factor: str
    settings: tuple[str, ...]
    second: str
    scores_N: np.ndarray[Any, np.dtype[np.float64]]
    levels_N: Codes
    levels: tuple[str, ...]

    def blocks(self, repeats: str, ties: str, correction: str) -> tuple[tuple[Block, ...], tuple[str, ...]]:
        options_N, options = self.runs.codes(self.factor, by_size=True)
        if len(options) < 2:
            raise InputError(f"{self.runs.path}: {self.factor} has one option, {options[0]}; expected at least two")
        if len(options) > MOST_OPTIONS:
            told = f"{self.factor} has {len(options):,} options"
            raise InputError(f"{self.runs.path}: {told}; expected {MOST_OPTIONS} at most, or some of them (--option)")
        keys_N = configuration_keys([self.runs.codes(name)[0] for name in self.settings], len(self.runs))
        second_N, seconds = self.runs.codes(self.second) if self.second else (np.zeros_like(keys_N), ("",))
        made, notes, lonely = [], [], 0
        for place, level in enumerate(self.levels):
            rows = np.flatnonzero(self.levels_N == place)
            used, numbers = np.unique(options_N[rows], return_inverse=True)
            names = [options[each] for each in used]
            where = level or self.runs.path
            if len(used) < 2:
                notes.append(f"{where}: only {names[0]}, which leaves nothing to compare")
                lonely += 1
                continue
            runs = keys_N[rows], numbers.astype(np.int64), self.scores_N[rows]
            paired, firsts = paired_scores(*runs, options=len(used), repeats=repeats)
            means, mean_firsts = paired_scores(*runs, options=len(used))
            if not len(paired):
                notes.append(f"{where}: no runs of all {len(used)} options agree in every other setting")
                continue
            for number, name in enumerate(seconds):
                chosen, averaged = (second_N[rows[each]] == number for each in (firsts, mean_firsts))
                if chosen.any():
                    contrasted = contrast_options(
                        paired[chosen], names, means_CO=means[averaged], correction=correction, ties=ties
                    )
                    made.append(Block(level, name, contrasted))
        if not made:
            raise InputError(self._no_pairs(options, lonely=lonely))
        return tuple(made), tuple(notes)

    def followers(self) -> list[str]:
        """Settings that only follow the factor, such as the size of what only one option has.

        No value occurs with every option, and any two options have the same values or none in common. Where options
        share some of their values, it is runs that are missing, and the setting matters.
        """
        options_N, options = self.runs.codes(self.factor)
        if not 2 <= len(options) <= MOST_OPTIONS:
            return []
        names = [name for name in self.settings if name != self.second]
        return [name for name in names if self._follows(name, options_N, len(options))]

    def _follows(self, name: str, options_N: Codes, options: int) -> bool:
        codes, values = self.runs.codes(name)
        seen_OV = np.zeros((options, len(values)), bool)
        seen_OV[options_N, codes] = True
        overlap_OO = seen_OV.astype(np.int64) @ seen_OV.T.astype(np.int64)
        sizes_O = seen_OV.sum(axis=1)
        alike_OO = (overlap_OO == sizes_O[:, None]) & (overlap_OO == sizes_O[None, :])
        return not seen_OV.all(axis=0).any() and bool((alike_OO | (overlap_OO == 0)).all())

    def _no_pairs(self, options: Sequence[str], *, lonely: int) -> str:
        """Why no runs could be paired; `lonely` levels have but one option."""
        if lonely == len(self.levels):
            return f"{self.runs.path}: one option of {self.factor} in every level; expected two or more in some"
        told = f"{self.runs.path}: no runs of all {len(options)} options of {self.factor} agree in every other setting"
        options_N = self.runs.codes(self.factor)[0]
        blocking = [name for name in self.settings if not self._is_shared(name, options_N, len(options))]
        if blocking:
            differ = f"{', '.join(blocking)} {'differs' if len(blocking) == 1 else 'differ'} in all"
            return f"{told}: {differ}; expected settings that the options share, fewer options (--option), or --ignore"
        return f"{told}; expected such runs, fewer options (--option), or settings to --ignore"

    def _is_shared(self, name: str, options_N: Codes, options: int) -> bool:
        """Whether any value of a setting occurs with every option, within one level."""
        codes = self.runs.codes(name)[0]
        cells = np.unique(np.stack([self.levels_N, codes, options_N]), axis=1)
        _, counts = np.unique(cells[:2], axis=1, return_counts=True)
        return bool((counts == options).any())


def _importance(design: _Design, level: int, columns: Sequence[str], rng: np.random.Generator) -> Importance:
    """How much each setting matters at one level; settings that always change together count as one."""
    rows = np.flatnonzero(design.levels_N == level)
    names: list[str] = []
    codes: list[Codes] = []
    numbers: list[bool] = []
    for name in columns:
        each = np.unique(design.runs.codes(name, by_size=True)[0][rows], return_inverse=True)[1].astype(np.int64)
        if each.max(initial=0) == 0:
            continue
        twin = next((place for place, other in enumerate(codes) if _one_to_one(each, other)), None)
        if twin is None:
            names.append(name)
            codes.append(each)
            numbers.append(design.runs.is_number(name))
        else:
            names[twin] += f"={name}"
    if not names:
        where = design.levels[level] or design.runs.path
        raise InputError(f"{where}: no setting varies; expected one that does, to say how much it matters")
    ordered = [name for name, number in zip(names, numbers, strict=True) if number]
    return factor_importance(list(zip(names, codes, strict=True)), design.scores_N[rows], rng=rng, ordered=ordered)


def _one_to_one(first: Codes, second: Codes) -> bool:
    if first.max() != second.max():
        return False
    pairs = np.unique(first * (second.max() + 1) + second)
    return len(pairs) == int(first.max()) + 1
