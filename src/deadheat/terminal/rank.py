"""Stability of a ranking on a terminal."""

from __future__ import annotations

import math

from deadheat.questions.rank import Exact, Ranking
from deadheat.ranking.anomalies import Anomalies, Outliers, Presence
from deadheat.ranking.influence import LeftOut
from deadheat.ranking.named import NamedSubset
from deadheat.ranking.representative import Choice, Representative
from deadheat.ranking.stability import MetricStability
from deadheat.terminal.tables import emphasis, prose, quotable, table

CLOSEST = 10  # pairs shown
SHOWN = 8  # data sets left out, and values of attributes


def ranking_text(found: Ranking) -> str:
    """Ranks over subsets, the closest pairs, and what else was asked for."""
    parts = [_ranks(found), _pairs(found), _tau(found)]
    if found.exact is not None:
        parts.append(_exact(found, found.exact))
    parts += [_anomalies(found, each) for each in found.anomalies]
    if found.subsets:
        parts.append(_subsets(found.subsets, _digits(found)))
    if found.left_out:
        parts.append(_left_out(found.left_out))
    if found.representative is not None:
        parts.append(_representative(found, found.representative))
    if found.metrics:
        parts.append(_metrics(found.metrics))
    return "\n\n".join([*parts, quotable(found.signature)])


def _digits(found: Ranking) -> int:
    """Decimals that scores are shown with: more where all are below 1."""
    return 4 if found.table.scores_SD.max() <= 1 else 2


def _ranks(found: Ranking) -> str:
    digits, rows = _digits(found), []
    for each in found.to_dict()["systems"]:
        quartiles = f"{each['lower_quartile']:g} - {each['upper_quartile']:g}"
        places = [str(each["rank"]), f"{each['mean_score']:.{digits}f}", str(each["best"]), str(each["worst"])]
        spread = [f"{each['mean']:.2f}", f"{each['median']:g}", f"{each['sd']:.2f}", quartiles]
        rows.append([each["system"], *places, *spread, f"{100 * each['chances'][0]:.1f} %"])
    metric = found.table.metric or "score"
    return table(["system", "rank", metric, "best", "worst", "mean", "median", "sd", "quartiles", "first"], rows)


def _pairs(found: Ranking) -> str:
    """The pairs whose order is most often turned round."""
    pairs = sorted(found.to_dict()["pairs"], key=lambda pair: -pair["p_b"])[:CLOSEST]
    exact = {frozenset((each.a, each.b)): each for each in found.exact.pairs} if found.exact else {}
    header = ["least certain pairs, better first on all", "ahead", "behind", "level", *(["exact"] if exact else [])]
    rows = []
    for pair in pairs:
        row = [f"{pair['a']} - {pair['b']}", *(f"{100 * pair[name]:.2f} %" for name in ("p_a", "p_b", "p_level"))]
        if exact:
            counted = exact[frozenset((pair["a"], pair["b"]))]
            ahead = counted.subsets.above if counted.a == pair["a"] else counted.subsets.below
            row.append(f"{100 * ahead / counted.subsets.total:.4f} %")
        rows.append(row)
    return table(header, rows)


def _tau(found: Ranking) -> str:
    tau = found.sampled.tau
    spread = f"sd {tau.sd:.3f}, least {tau.quantile(0):.3f}, median {tau.quantile(0.5):.3f}"
    return prose(f"Kendall's tau with the ranking on all data sets: mean {tau.mean:.3f}, {spread}")


def _exact(found: Ranking, exact: Exact) -> str:
    rows = []
    for system in found.order:
        best, worst = exact.extremes[system]
        seen = f"{found.sampled.best_S[system]} - {found.sampled.worst_S[system]}"
        subset = " ".join(found.table.datasets[place] for place in worst.subset)
        rows.append([found.table.systems[system], subset, seen, str(best), str(worst)])
    header = ["system", "a subset that gives the worst", "sampled", "best of all", "worst of all"]
    missed = len(found.missed())
    unproved = sum(not each.proved for ends in exact.extremes for each in ends)
    last = f"{missed} of {2 * len(rows)} extremes were not among the sampled subsets"
    last += f"; {unproved} are not proved" if unproved else ""
    return f"over all {exact.subsets:,} subsets\n" + table(header, rows, left=2) + f"\n{prose(last)}"


def _anomalies(found: Ranking, each: Anomalies) -> str:
    lines = [emphasis(f"Where {each.system} is best and worst")]
    for end in (each.best, each.worst):
        names = ", ".join(found.table.datasets[place] for place in end.subsets_BK[0])
        told = f"rank {end.rank} in {100 * end.share:.4f} % of subsets, as in {names}"
        lines += [prose(told), _presence(end)]
    return "\n".join(lines)


def _presence(end: Outliers) -> str:
    chosen = sorted(end.presence, key=lambda each: each.p)[:SHOWN]
    if not chosen:
        return "  no attribute that several data sets share"
    rows = [[f"  {_name(each)}", *_numbers(each)] for each in chosen]
    return table([f"  in {len(end.subsets_BK)} such subsets", "here", "all", "p", "corrected"], rows)


def _name(each: Presence) -> str:
    return f"{each.attribute} = {each.value}" if each.value else f"mean {each.attribute}"


def _numbers(each: Presence) -> list[str]:
    digits = ".3f" if each.value else ".1f"
    return [f"{each.observed:{digits}}", f"{each.expected:{digits}}", f"{each.p:.2g}", f"{each.p_corrected:.2g}"]


def _subsets(subsets: tuple[NamedSubset, ...], digits: int) -> str:
    systems = subsets[0].systems
    means = []
    for each in subsets:
        cells = [f"{mean:.{digits}f} ({rank})" for mean, rank in zip(each.mean_S, each.rank_S, strict=True)]
        means.append([each.name, str(len(each.datasets)), *cells, _number(each.tau, 3)])
    parts = [table(["subset", "size", *(f"{system} (rank)" for system in systems), "tau"], means)]
    if len(systems) <= 4:
        shown = len(systems) * (len(systems) - 1) // 2  # against the system that is worse on all data sets
        pairs = [f"{each.system} over {each.reference}" for each in subsets[0].error_reductions[:shown]]
        rows = [[each.name, *(_per_cent(one.share) for one in each.error_reductions[:shown])] for each in subsets]
        parts.append(table(["error reduction, mean over data sets", *pairs], rows))
    return "\n\n".join(parts)


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _per_cent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.2f} %"


def _left_out(left_out: tuple[LeftOut, ...]) -> str:
    changing = [each for each in left_out if each.moved]
    rows = []
    for each in changing[:SHOWN]:
        moves = ", ".join(f"{system} {before} to {after}" for system, (before, after) in each.moved.items())
        rows.append([each.dataset, moves, str(each.swapped), f"{each.tau:.3f}"])
    shown = table(["without", "ranks that change", "pairs swapped", "tau"], rows, left=2) + "\n" if rows else ""
    return shown + prose(f"{len(changing)} of {len(left_out)} data sets change the ranking when left out")


def _representative(found: Ranking, chosen: Representative) -> str:
    rows = [_choice(found, "greedy", chosen.greedy), _choice(found, "exact", chosen.exact)]
    shown = table([f"{chosen.size} data sets", "which", "pairs alike", "at most", "tau"], rows, left=2)
    told = f"share of pairs alike when half of the systems choose, {chosen.halvings} times: held-out systems "
    told += f"{chosen.held_out:.3f}, random subsets {chosen.random:.3f}, own systems {chosen.fitted:.3f}"
    return f"{shown}\n{prose(told)}"


def _choice(found: Ranking, name: str, choice: Choice) -> list[str]:
    names = " ".join(found.table.datasets[place] for place in choice.subset)
    return [name, names, f"{choice.agreeing} of {choice.pairs}", str(choice.bound), f"{choice.tau:.3f}"]


def _metrics(metrics: tuple[MetricStability, ...]) -> str:
    rows = [
        [
            each.metric,
            f"{each.mean_sd:.3f}",
            f"{each.mean_quartile_range:.2f}",
            f"{each.tau.mean:.3f}",
            f"{100 * each.swapped:.2f} %",
            f"{100 * each.top:.1f} %",
        ]
        for each in sorted(metrics, key=lambda each: each.mean_sd)
    ]
    return table(
        ["metric, steadiest first", "sd of ranks", "quartile range", "tau", "pairs swapped", "same first"], rows
    )
