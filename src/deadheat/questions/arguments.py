"""Arguments that several questions have: the same thing has the same name in every command and in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

from deadheat.arguments import Argument, whole_number
from deadheat.metrics.pair import ALIGNMENTS, UNITS
from deadheat.stats.paired import TESTS

MetricName: TypeAlias = Annotated[
    str, Argument("the metric (default: LAS for trees, else the first there is)", short="-m", metavar="NAME")
]
Unit: TypeAlias = Annotated[str, Argument("what is resampled or permuted", choices=UNITS)]
Align: TypeAlias = Annotated[str, Argument("align words by text or by position", choices=ALIGNMENTS)]
TestName: TypeAlias = Annotated[
    str, Argument(f"significance test: {', '.join(TESTS)} (default: the one that fits the data)", metavar="NAME")
]
Correction: TypeAlias = Annotated[
    str, Argument("correction for several tests: bonferroni, holm, bh or none", aliases=("--correct",), metavar="NAME")
]
Alpha: TypeAlias = Annotated[float, Argument("significance level", metavar="ALPHA")]
Level: TypeAlias = Annotated[float, Argument("confidence level of the intervals", metavar="LEVEL")]
Resamples: TypeAlias = Annotated[int, Argument("number of resamples", metavar="N")]
Seed: TypeAlias = Annotated[
    int, Argument("seed of everything that is drawn at random", metavar="N", parse=whole_number)
]
Reference: TypeAlias = Annotated[str, Argument("test every system against this one alone", metavar="NAME")]
Missing: TypeAlias = Annotated[str, Argument("what to do with data sets that lack a score", choices=("refuse", "drop"))]
ScoreColumn: TypeAlias = Annotated[str, Argument("column of scores; higher is better", metavar="COLUMN")]
SystemColumn: TypeAlias = Annotated[str, Argument("column of systems (default: by its name)", metavar="COLUMN")]
DatasetColumn: TypeAlias = Annotated[str, Argument("column of data sets (default: by its name)", metavar="COLUMN")]
DevColumn: TypeAlias = Annotated[str, Argument("column of development scores", metavar="COLUMN")]
ByColumn: TypeAlias = Annotated[str, Argument("repeat for every value of this column", metavar="COLUMN")]
Where: TypeAlias = Annotated[
    Iterable[str], Argument("use only runs with this value", metavar="COLUMN=VALUE", repeat=True)
]
Ignore: TypeAlias = Annotated[
    Iterable[str], Argument("runs of one configuration may differ in this column", metavar="COLUMN", repeat=True)
]
SettingColumns: TypeAlias = Annotated[
    Iterable[str],
    Argument(
        "this column is a setting, though it is named like a result", flag="--setting", metavar="COLUMN", repeat=True
    ),
]
Target: TypeAlias = Annotated[float, Argument("wanted power", aliases=("--power",), metavar="POWER")]
