"""What a search trains, for a machine that has nothing but the networks: orders, corpora and splits in a folder.

python -m studies.tune.orders FOLDER STUDY.toml [STUDY.toml ...]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from deadheat.corpus import write
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import Search, searches_of

ORDERS, SPLITS = "orders.jsonl", "splits.npz"


def key_of(cell: Cell) -> str:
    """What a network is called there: a final one as that of the search with the same settings."""
    return replace(cell, final=False).key


def order_of(cell: Cell, search: Search, setup: str, phase: str) -> dict[str, object]:
    """A cell in plain values; its corpus is named by its study too, for splits differ."""
    return {
        "key": key_of(cell), "study": search.plan.path.stem, "corpus": cell.corpus, "system": cell.system,
        "seed": cell.seed, "learned": (cell.learned or "train").split("+"), "tune": cell.tune,
        "scored": list(cell.scored), "setup": setup, "phase": phase,
    }  # fmt: skip


def main() -> None:
    """Write all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("studies", nargs="+", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    splits: dict[str, np.ndarray] = {}
    with (given.folder / ORDERS).open("w") as lines:
        for path in given.studies:
            plan = Plan.of(path)
            for search in searches_of(plan):
                for place in search.plan.corpus_splits:
                    write(plan.materials[place.corpus].corpus, given.folder / f"{place.corpus}.conllu.xz")
                    made = {
                        (setup, phase): [cell for system in search.candidates for cell in cells(place, setup, system)]
                        for setup in search.entry.setups
                        for phase, cells in (("search", search.cells), ("final", search.final_cells))
                    }
                    for (setup, phase), own in made.items():
                        for cell in own:
                            print(json.dumps(order_of(cell, search, setup, phase)), file=lines)
                    parts = plan.partition(made[search.entry.setups[0], "search"][0]).parts
                    splits |= {f"{path.stem}/{place.corpus}/{name}": each for name, each in parts.items()}
    np.savez_compressed(given.folder / SPLITS, **splits)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
