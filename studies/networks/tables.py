"""Tables 1, 2 and 3 and figure 2 of Reimers & Gurevych (2017) from our own runs, beside what the paper has.

python -m studies.networks.tables              prints the tables, and draws the violins beside this file
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from deadheat.charts.chart import WIDE, Chart
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.questions.contrast import contrast
from deadheat.questions.seeds import seeds
from deadheat.ranking.contrasts import OptionComparison
from deadheat.results.runs import SeedBlock
from deadheat.tables.table import Runs, read_runs
from studies.networks.collect import EXTREMES, RUNS
from studies.networks.draw import CLASSIFIERS, FOLDER, TASKS

PERCENT = 100
NUMBERS = ("drop", "clip", "norm")  # settings that the configurations of a shape differ in
AXES = {"chunking": "F1 on test, %", "tagging": "accuracy on test, %", "xpos": "accuracy on test, %"}
# Reimers & Gurevych (2017): table 1, of named entities; rows of tables 2 and 3 for the tasks that we have too.
PAPER_1 = (("Ma and Hovy", 86, 89.99, 90.64, 91.00, 0.241), ("Lample et al.", 41, 90.19, 90.81, 91.14, 0.176))
PENN_2, PENN_3 = ("Penn Treebank", 269, 0.17, 0.78, 1.55), ("Penn Treebank", 111, 18.9, 81.1, -0.20)
PAPER_2 = {"chunking": ("CoNLL 2000", 385, 0.17, 0.50, 0.81), "tagging": PENN_2, "xpos": PENN_2}
PAPER_3 = {"chunking": ("CoNLL 2000", 229, 4.8, 95.2, -0.38), "tagging": PENN_3, "xpos": PENN_3}
Cells = Iterable[str | int]


def table(header: Sequence[str], rows: Iterable[Cells]) -> str:
    """A table as pages have it."""
    lines = [header, ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def seed_blocks(runs: Runs) -> dict[str, SeedBlock]:
    """The many seeds of one configuration, softmax and CRF, task by task."""
    chosen = runs.where(["study=seeds"])
    found = seeds(chosen, score="test", dev="dev", system="classifier", by="task")
    there = {block.level for block in found.blocks}
    return {task.name: found[task.name] for task in TASKS if task.name in there}


def table_1(blocks: dict[str, SeedBlock], extremes: pl.DataFrame) -> str:
    """Least, median, most and standard deviation over seeds; whether the best differs from the worst."""
    header = (
        "task",
        "system",
        "seeds",
        "min",
        "median",
        "max",
        "sd",
        "best against worst: p",
        "p x seeds",
        "p x pairs",
    )

    def rows() -> Iterator[Cells]:
        for task, block in blocks.items():
            for name in CLASSIFIERS:
                own = block[name].summary
                p = float(extremes.filter(task=task, classifier=name)["p"].item())
                shown = [_hundred(each) for each in (own.minimum, own.median, own.maximum)]
                corrected = [_p(min(1.0, p * times)) for times in (own.n, own.n * (own.n - 1) // 2)]
                yield task, name, own.n, *shown, _hundred(own.sd, 3), _p(p), *corrected
        for name, count, *scores, sd in PAPER_1:
            yield "*entities*", f"*{name}*", count, *(f"{each:.2f}" for each in scores), f"{sd:.3f}", "", "", ""

    return table(header, rows())


def table_1_pairs(blocks: dict[str, SeedBlock]) -> str:
    """Softmax and CRF by their distributions over seeds."""
    header = ("task", "CRF less softmax", "P(CRF > softmax)", "p (KS)", "p (Mann-Whitney)", "p (sd, Brown-Forsythe)")

    def rows() -> Iterator[Cells]:
        for task, block in blocks.items():
            (pair,) = block.pairs
            sign, better = (1, pair.a_better) if pair.a == "crf" else (-1, 1 - pair.a_better)
            tests = (pair.kolmogorov_smirnov, pair.mann_whitney, pair.brown_forsythe)
            yield task, _signed(sign * pair.difference), f"{better:.2f}", *(_p(each.p) for each in tests)
        yield "*entities: Lample et al. less Ma and Hovy*", "", "", "*< 0.01*", "", "*< 0.05*"

    return table(header, rows())


def table_1_dev(blocks: dict[str, SeedBlock]) -> str:
    """What dev says of test."""
    header = ("task", "system", "rho of dev and test", "95 % interval", "test of the best on dev", "mean", "best")

    def rows() -> Iterator[Cells]:
        for task, block in blocks.items():
            for name in CLASSIFIERS:
                found = block[name].dev_test
                assert found is not None
                ends = found.spearman_interval
                interval = f"{ends.low:.2f} to {ends.high:.2f}"
                chosen = (_hundred(each) for each in (found.selected, found.mean, found.best))
                yield task, name, f"{found.spearman.statistic:.2f}", interval, *chosen
        yield "*entities*", "*Lample et al.*", "*0.229*", "", "*90.31*", "", "*91.14*"

    return table(header, rows())


def table_2(runs: Runs, blocks: dict[str, SeedBlock]) -> str:
    """How far runs of the same settings are apart."""
    header = ("task", "runs", "configurations", "median", "95th percentile", "max")
    twice = seeds(runs.where(["study=configurations", "classifier=crf"]), score="test", by="task")

    def rows() -> Iterator[Cells]:
        for task in blocks:
            found, many = twice[task].differences, blocks[task].differences
            assert found is not None
            assert many is not None
            shown = (found.range_median, found.range_p95, found.range_maximum)
            yield task, "random configurations, CRF, two seeds", found.configurations, *map(_hundred, shown)
            shown = (many.median, many.p95, many.maximum)
            yield task, "the configurations of table 1, any two seeds", many.configurations, *map(_hundred, shown)
            name, count, *published = PAPER_2[task]
            yield f"*{task}*", f"*the paper, {name}*", f"*{count}*", *(f"*{each:.2f}*" for each in published)

    return table(header, rows())


def table_3(runs: Runs) -> str:
    """Softmax and CRF over random configurations."""
    header = (
        "task", "runs", "configurations", "softmax wins", "CRF wins", "median of softmax less CRF",
        "sd softmax", "sd CRF", "p (sign)", "p (Wilcoxon)", "p (spread)",
    )  # fmt: skip
    chosen = runs.where(["study=configurations", "seed=0"])
    single = contrast(chosen, score="test", factor="classifier", by="task")
    shapes = contrast(chosen, score="test", factor="classifier", by="task", ignore=NUMBERS)

    def rows() -> Iterator[Cells]:
        for task in (block.level for block in single.blocks):
            yield task, "each configuration", *_contrasted(single[task])
            yield task, "means of shapes", *_contrasted(shapes[task])
            name, count, softmax, crf, delta = PAPER_3[task]
            wins = f"*{softmax:.1f} %*", f"*{crf:.1f} %*"
            yield f"*{task}*", f"*the paper, {name}*", f"*{count}*", *wins, f"*{delta:+.2f}*", "", "", "", "", ""

    return table(header, rows())


def _contrasted(found: OptionComparison) -> Iterator[str | int]:
    own = {each.option: each for each in found.options}
    pair = found.pair(*CLASSIFIERS)
    yield found.configurations
    yield from (f"{PERCENT * own[name].wins:.1f} %" for name in CLASSIFIERS)
    yield _signed(pair.median_difference if pair.a == "softmax" else -pair.median_difference)
    yield from (_hundred(own[name].sd) for name in CLASSIFIERS)
    yield from map(_p, (pair.sign_p, pair.wilcoxon_p, pair.spread_p))


def figure(task: str, block: SeedBlock) -> Chart:
    """The scores of all seeds as violins, as in figure 2."""
    samples = tuple(Sample(name, tuple(PERCENT * score for score in block[name].scores)) for name in CLASSIFIERS)
    return ViolinPlot(samples, title=f"Seeds of one configuration, {task}", axis=AXES[task]).draw(WIDE)


def all_tables(folder: Path) -> str:
    """Every table, from the runs in a folder."""
    runs, extremes = read_runs(folder / RUNS), pl.read_csv(folder / EXTREMES)
    blocks = seed_blocks(runs)
    return "\n\n".join((
        table_1(blocks, extremes), table_1_pairs(blocks), table_1_dev(blocks), table_2(runs, blocks), table_3(runs)
    ))  # fmt: skip


def main() -> None:
    """Print the tables, and write the figures beside the runs."""
    parser = argparse.ArgumentParser(description="Tables and figures of studies/networks.")
    parser.add_argument("--runs", type=Path, default=FOLDER, help=f"the folder of {RUNS} and {EXTREMES}")
    folder = parser.parse_args().runs
    sys.stdout.write(all_tables(folder) + "\n")
    for task, block in seed_blocks(read_runs(folder / RUNS)).items():
        (folder / f"{task}_seeds.svg").write_text(figure(task, block).svg(font=WIDE.font), "utf-8")


def _hundred(score: float, digits: int = 2) -> str:
    return f"{PERCENT * score:.{digits}f}"


def _signed(score: float) -> str:
    return f"{PERCENT * score:+.2f}"


def _p(p: float) -> str:
    return "-" if math.isnan(p) else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


if __name__ == "__main__":
    main()
