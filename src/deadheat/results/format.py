"""How values are shown, one formatter for each kind of value, and what tests, corrections and metrics are called.

Terminal, page, LaTeX, Markdown and notebook all call `show`, so that a reader sees the same digits everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Self, TypeAlias

from deadheat.errors import InputError
from deadheat.registry import base_name
from deadheat.text import pluralize

MISSING = "-"
MOST_DECIMALS = 15
SMALLEST_P = 1e-300  # what is smaller may have been rounded to zero
TEST_NAMES = {
    "clustered-t": "the clustered t-test",
    "corrected-resampled-t": "the corrected resampled t-test",
    "mcnemar-midp": "McNemar's test (mid-p)",
    "mcnemar-exact": "McNemar's exact test",
    "bootstrap": "the paired bootstrap",
    "randomization": "approximate randomization",
    "permutation-exact": "the exact permutation test",
    "sign": "the sign test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
CORRECTION_NAMES = {
    "bonferroni": "Bonferroni's method",
    "holm": "Holm's method",
    "bh": "Benjamini and Hochberg's method",
}
RANK_TEST_NAMES = {
    "clustered-t": "the clustered t-test",
    "corrected-resampled-t": "the corrected resampled t-test",
    "nemenyi": "Nemenyi's test (Demšar 2006)",
    "wilcoxon-holm": "Wilcoxon's test of every pair, corrected by Holm's method",
}

Bounds: TypeAlias = tuple[float, float]
Value: TypeAlias = str | int | float | Bounds | None


@dataclass(frozen=True, slots=True)
class Scale:
    """How the scores of a result are read: multiplied by a factor, rounded to a number of decimals.

    Examples
    --------
    >>> Scale.of([0.5, 0.875]), Scale.of([0.5, 1.1]), Scale.of([61.2, 87])
    (Scale(factor=100.0, decimals=2), Scale(factor=1.0, decimals=4), Scale(factor=1.0, decimals=2))
    """

    factor: float = 100.0
    decimals: int = 2

    def __post_init__(self) -> None:
        if not (0 < self.factor < math.inf and 0 <= self.decimals <= MOST_DECIMALS):
            raise ValueError(f"scale of {self.factor:g} and {self.decimals} decimals")

    @classmethod
    def of(cls, scores: Iterable[float | None]) -> Self:
        """Percent where all scores are shares; else as they are, with four decimals where all are small."""
        finite = [score for score in scores if score is not None and math.isfinite(score)]
        if all(0 <= score <= 1 for score in finite):
            return cls()
        return cls(1.0, 4 if all(abs(score) <= 2 for score in finite) else 2)

    @property
    def is_percent(self) -> bool:
        return self.factor == 100

    @property
    def unit(self) -> str:
        """What an axis or a caption adds to the name of the score."""
        return " in percent" if self.is_percent else ""

    @property
    def points(self) -> str:
        """What differences are measured in: ` points of` LAS, or ` in` the score."""
        return " points of" if self.is_percent else " in"

    @property
    def in_points(self) -> str:
        """What the caption of a table of differences adds."""
        return ", in points" if self.is_percent else ""

    @property
    def score(self) -> Format:
        return Format(Kind.SCORE, self)

    @property
    def difference(self) -> Format:
        """Of differences of scores, which always have their sign."""
        return Format(Kind.POINTS, self, signed=True)

    @property
    def size(self) -> Format:
        """Of sizes of differences, and of standard deviations."""
        return Format(Kind.POINTS, self)

    @property
    def interval(self) -> Format:
        return Format(Kind.INTERVAL, self)

    @property
    def difference_interval(self) -> Format:
        return Format(Kind.INTERVAL, self, signed=True)


PERCENT = Scale()
PLAIN = Scale(1.0, 4)


class Kind(Enum):
    """What a value is, which decides how it is shown."""

    NAME = "name"
    SCORE = "score"
    POINTS = "points"  # a difference of scores
    INTERVAL = "interval"
    P_VALUE = "p-value"
    COUNT = "count"
    SHARE = "share"
    RANK = "rank"
    NUMBER = "number"  # any other statistic: tau, alpha, an effect size
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of value with what else decides how it is shown."""

    kind: Kind
    scale: Scale = PERCENT
    signed: bool = False

    @property
    def is_text(self) -> bool:
        return self.kind is Kind.NAME


NAME = Format(Kind.NAME)
COUNT = Format(Kind.COUNT)
P_VALUE = Format(Kind.P_VALUE)
SHARE = Format(Kind.SHARE)
RANK = Format(Kind.RANK)
DURATION = Format(Kind.DURATION)


def number_format(decimals: int = 3) -> Format:
    """Any other statistic."""
    return Format(Kind.NUMBER, Scale(1.0, decimals))


def show(value: Value, form: Format) -> str:
    """A value as text.

    Examples
    --------
    >>> show(0.8746, PERCENT.score), show(-0.0123, PERCENT.difference), show(None, PERCENT.score)
    ('87.46', '-1.23', '-')
    >>> show((-0.01, 0.02), PERCENT.difference_interval), show(1234, COUNT), show((1, 3.5), RANK)
    ('[-1.00, +2.00]', '1,234', '[1, 3.5]')
    >>> [show(p, P_VALUE) for p in (0.0288, 3e-12, 0.0, 1.0)]
    ['0.0288', '3.0e-12', '<1e-300', '1.0000']
    >>> [show(share, SHARE) for share in (0.5, 0.99996, 1.0)], show(75.0, DURATION), show(2.0, DURATION)
    (['50.0%', '>99.9%', '100%'], '1 min 15 s', '2.0 s')
    """
    if value is None:
        return MISSING
    if isinstance(value, tuple):
        ends = [show(end, form) if form.kind is Kind.RANK else _number(end, form) for end in value]
        return MISSING if MISSING in ends else f"[{', '.join(ends)}]"
    if isinstance(value, str):
        return value
    match form.kind:
        case Kind.P_VALUE:
            return _p_value(value)
        case Kind.SHARE:
            return _share(value)
        case Kind.COUNT:
            return f"{value:,.0f}" if math.isfinite(value) else MISSING
        case Kind.RANK:
            return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else MISSING
        case Kind.DURATION:
            return _duration(value)
        case _:
            return _number(value, form)


def _number(value: float, form: Format) -> str:
    scaled = form.scale.factor * value
    if not math.isfinite(scaled):
        return MISSING
    sign = "+" if form.signed else ""
    text = f"{scaled:{sign}.{form.scale.decimals}f}"
    return text if float(text) else text.replace("-", sign)  # no minus before a zero


def _p_value(p: float) -> str:
    if math.isnan(p):
        return MISSING
    if p >= 0.0001:
        return f"{p:.4f}"
    return f"{p:.1e}" if p > SMALLEST_P else "<1e-300"


def _share(share: float) -> str:
    """In percent; nearly all is never rounded to all, nor nearly none to none."""
    if not math.isfinite(share):
        return MISSING
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"


def _duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return MISSING
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, hours = round(seconds) // 60, round(seconds) // 3600
    if hours:
        return f"{hours:,} h {minutes % 60} min"
    return f"{minutes} min {round(seconds) % 60} s"


def interval_name(alpha: float) -> str:
    """What an interval that goes with tests at a level is called in the head of a table.

    Examples
    --------
    >>> interval_name(0.05), interval_name(0.001)
    ('95% CI', '99.9% CI')
    """
    return f"{100 * (1 - alpha):.4g}% CI"


def name_of_test(test: str) -> str:
    """A test, or several of which the data decided.

    Examples
    --------
    >>> name_of_test("permutation-exact"), name_of_test("sign/wilcoxon"), name_of_test("other")
    ('the exact permutation test', "the sign test or Wilcoxon's signed-rank test", 'other')
    """
    return " or ".join(TEST_NAMES.get(name, name) for name in test.split("/"))


def unit_names(unit: str) -> str:
    """Units in the plural; there may be several kinds.

    Examples
    --------
    >>> unit_names("data set"), unit_names("document or sentence"), unit_names("sentence/block")
    ('data sets', 'documents or sentences', 'sentences or blocks')
    """
    return " or ".join(f"{name}s" for name in unit.replace("/", " or ").split(" or "))


def correction_words(correction: str, tests: int | None, *, noun: str = "test") -> str:
    """How p-values were corrected, for how many tests; None where that is not one number.

    Examples
    --------
    >>> correction_words("holm", 6), correction_words("none", 6), correction_words("holm", 1)
    ("corrected by Holm's method for 6 tests", 'not corrected for 6 tests', 'of a single test')
    """
    if tests == 1:
        return f"of a single {noun}"
    many = f"the number of {noun}s" if tests is None else pluralize(tests, noun)
    method = CORRECTION_NAMES.get(correction, correction)
    return f"not corrected for {many}" if correction == "none" else f"corrected by {method} for {many}"


def metric_label(name: str) -> str:
    """A metric as people call it.

    Examples
    --------
    >>> metric_label("las.v1"), metric_label("accuracy.v1(column='xpos')"), metric_label("gleam.v2(k=3)")
    ('LAS', 'Accuracy (xpos)', 'gleam')
    """
    from deadheat.metrics import METRICS

    try:
        return METRICS.make(name).label
    except InputError:  # a metric of somebody else's, or the name of a column
        return base_name(name)
