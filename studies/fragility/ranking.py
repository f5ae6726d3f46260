"""Which parser leads where: a table by treebank, and the scores that `deadheat rank` asks for.

    python -m studies.fragility.ranking TREEBANKS [--settings "size=small epochs=15 patience=5"] [--tags gold]
    deadheat rank studies/fragility/scores.csv --metric las --subset-size 5 --exact

Reads `networks.csv`, takes the networks of three parsers with these settings on every treebank that has them all, and
writes the means over seeds to `scores.csv`. What is printed is Markdown.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean

from deadheat.corpus import read
from studies.fragility.collect import NETWORKS, write
from studies.fragility.tables import rows_of
from studies.markdown import table

PARSERS = ("biaffine", "pointer", "bracketing")
SCORES = NETWORKS.with_name("scores.csv")
Runs = Mapping[str, Mapping[str, Sequence[float]]]  # scores over seeds, by treebank and parser


def runs_of(metric: str, settings: str, tags: str, seeds: int) -> Runs:
    """Scores on test of all seeds, where every parser has as many as asked for."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows_of(NETWORKS):
        if (row["settings"], row["tags"], row["part"]) == (settings, tags, "test") and row["parser"] in PARSERS:
            found.setdefault(row["treebank"], {}).setdefault(row["parser"], []).append(float(row[metric]))
    whole = {code: own for code, own in found.items() if [len(own.get(name, ())) for name in PARSERS] == [seeds] * 3}
    if not whole:
        raise SystemExit(f"{NETWORKS}: no treebank has {seeds} networks of each parser with {settings!r}")
    return whole


def by_treebank(runs: Runs, sizes: Mapping[str, int]) -> str:
    """One row per treebank, the largest first: mean (min-max) of each parser, and their order."""
    lines = []
    for code in sorted(runs, key=lambda code: -sizes[code]):
        own = runs[code]
        order = sorted(PARSERS, key=lambda name: -mean(own[name]))
        shown = [f"{mean(own[name]):.2f} ({min(own[name]):.2f}-{max(own[name]):.2f})" for name in PARSERS]
        apart = "yes" if min(own[order[0]]) > max(own[order[1]]) else "no"
        lines.append([code, f"{sizes[code]:,}", *shown, " > ".join(order), apart])
    return table(["treebank", "train", *PARSERS, "order", "seeds apart"], lines)


def flips(runs: Runs, size: int) -> str:
    """How often each order of the parsers comes out over all subsets of treebanks, and who leads."""
    orders: Counter[str] = Counter()
    for chosen in combinations(sorted(runs), size):
        means = {name: mean(mean(runs[code][name]) for code in chosen) for name in PARSERS}
        orders[" > ".join(sorted(PARSERS, key=lambda name: -means[name]))] += 1
    total = orders.total()
    lines = [[order, str(count), f"{100 * count / total:.1f}%"] for order, count in orders.most_common()]
    return table([f"order on {size} of {len(runs)} treebanks", "subsets", "share"], lines)


def main() -> None:
    """Write the scores, print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--settings", default="size=small epochs=15 patience=5")
    parser.add_argument("--tags", default="gold")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--subset-sizes", default="3,5")
    given = parser.parse_args()
    rows = []
    for metric in ("las", "uas"):
        runs = runs_of(metric, given.settings, given.tags, given.seeds)
        sizes = {code: read(next((given.treebanks / code).glob("*train.conllu"))).sentences for code in runs}
        print(f"\n{metric.upper()}\n\n{by_treebank(runs, sizes)}\n")
        for size in map(int, given.subset_sizes.split(",")):
            print(f"{flips(runs, size)}\n")
        rows += [
            {"metric": metric, "treebank": code, "system": name, "score": round(mean(own[name]), 4)}
            for code, own in runs.items()
            for name in PARSERS
        ]
    write(SCORES, rows)


if __name__ == "__main__":
    main()
