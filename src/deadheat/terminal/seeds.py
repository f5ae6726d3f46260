"""Distributions over seeds on a terminal."""

from __future__ import annotations

import math

from deadheat.questions.seeds import SeedBlock, Seeds
from deadheat.ranking.seed_power import SeedPower
from deadheat.ranking.seeds import SystemPair
from deadheat.terminal.comparison import p_text
from deadheat.terminal.tables import Toned, emphasis, prose, table
from deadheat.text import pluralize

NONE = "-"


def seeds_text(found: Seeds) -> str:
    """For every block: the systems, dev against test, the pairs, and how far two seeds are apart."""
    return "\n\n".join(part for block in found.blocks for part in _block(found, block))


def _block(found: Seeds, block: SeedBlock) -> list[str]:
    scale = found.display_scale
    parts = [_systems(found, block, scale)]
    if found.dev:
        parts.append(_dev_test(block, scale))
    if block.pairs:
        parts += [_pairs(found, block, scale), _needed(found, block, scale)]
    if block.differences:
        each = block.differences
        shown = [_number(scale * value) for value in (each.median, each.p95, each.maximum)]
        reach = [_number(scale * value) for value in (each.range_median, each.range_p95, each.range_maximum)]
        title = f"runs of the same settings, {pluralize(each.configurations, 'configuration')}"
        rows = [["two random seeds", *shown], ["all seeds, greatest less least", *reach]]
        parts.append(table([title, "median", "95th percentile", "maximum"], rows))
    if block.by:
        parts[0] = f"{emphasis(f'{found.by} {block.by}')}\n{parts[0]}"
    return parts


def _systems(found: Seeds, block: SeedBlock, scale: float) -> str:
    rows = []
    for each in sorted(block.systems, key=lambda system: -system.summary.mean):
        told = each.summary
        numbers = (told.minimum, told.median, told.maximum, told.mean, told.sd)
        rows.append([each.system, f"{told.n:,}", *(_number(scale * number) for number in numbers)])
    names = [found.system, "seeds"] if found.system else ["system", "runs"]
    return table([*names, "min", "median", "max", "mean", "sd"], rows)


def _dev_test(block: SeedBlock, scale: float) -> str:
    rows = []
    for each in sorted(block.systems, key=lambda system: -system.summary.mean):
        told = each.dev_test
        if told is None:
            continue
        low, high = told.spearman_interval.bounds
        rows.append(
            [
                each.system,
                _number(told.pearson.statistic),
                _number(told.spearman.statistic),
                NONE if math.isnan(low) else f"{low:.2f} - {high:.2f}",
                p_text(told.spearman.p) if math.isfinite(told.spearman.p) else NONE,
                *(_number(scale * value) for value in (told.chosen, told.mean, told.best)),
            ]
        )
    header = ["dev and test", "r", "rho", "95 % interval", "p (rho)", "test of best on dev", "mean", "best"]
    return table(header, rows)


def _pairs(found: Seeds, block: SeedBlock, scale: float) -> str:
    rows = []
    for pair in block.pairs:
        tests = [pair.corrected[name] for name in ("mann_whitney", "kolmogorov_smirnov", "brown_forsythe")]
        rows.append(
            [
                f"{pair.a} - {pair.b}",
                f"{scale * pair.difference:+.2f}",
                f"{pair.a_better:.3f}",
                *(p_text(p) if math.isfinite(p) else NONE for p in tests),
                _number(pair.aso_a.bound),
                _number(pair.aso_b.bound),
                _verdict(found, block, pair),
            ]
        )
    header = ["pair", "difference", "P(A > B)", "p (MW)", "p (KS)", "p (sd, BF)", "ASO A", "ASO B", "verdict"]
    told = f"p-values are corrected ({found.correction}) for {pluralize(len(block.pairs), 'pair')}"
    told += "; ASO: eps_min, the smaller the surer that this one is better"
    return f"{table(header, rows)}\n{prose(told)}"


def _verdict(found: Seeds, block: SeedBlock, pair: SystemPair) -> str:
    if winner := pair.winner(found.alpha):
        return Toned(f"{winner} wins", "win")
    return Toned(f"too few {block.unit}s" if pair.least_p > found.alpha else "no difference shown", "tie")


def _needed(found: Seeds, block: SeedBlock, scale: float) -> str:
    rows = [
        [f"{pair.a} - {pair.b}", *_power_cells(need, scale)]
        for pair, need in zip(block.pairs, block.needed, strict=True)
    ]
    need, unit = block.needed[0], f"{block.unit}s"
    power = f"{unit} for power {need.target:g}"
    header = ["to tell apart", "difference", power, "95 % interval", "simulated", "power now", "least found now"]
    shared = f" / {need.comparisons}" if need.comparisons > 1 else ""
    theory = f"{unit} by normal theory (Welch's test at {found.alpha:g}{shared}), checked by resampling; "
    theory += "the interval is of the unknown spread"
    return f"{table(header, rows)}\n{prose(theory)}"


def _power_cells(need: SeedPower, scale: float) -> list[str]:
    seeds, low, high = (
        NONE if math.isnan(n) else "too many" if math.isinf(n) else f"{n:,.0f}"
        for n in (need.seeds, need.seeds_low, need.seeds_high)
    )
    interval = low if low == high else f"{low} - {high}"
    numbers = [_number(need.simulated, 3), _number(need.power_now, 3), _number(scale * need.smallest_now)]
    return [f"{scale * need.difference:+.2f}", seeds, interval, *numbers]


def _number(value: float, decimals: int = 2) -> str:
    return NONE if not math.isfinite(value) else f"{value:.{decimals}f}"
