"""What studies train, for a machine that has nothing but the networks: orders, corpora and splits in a folder.

python -m studies.elsewhere.orders FOLDER STUDY.toml [STUDY.toml ...]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from deadheat.corpus import write
from deadheat.corpus.reading import reading_options
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from studies.elsewhere.train import CORPORA, ORDERS, SPLITS


def key_of(cell: Cell) -> str:
    """What a network is called there: a final one as that of the search with the same settings."""
    return replace(cell, final=False).key


def phase_of(cell: Cell) -> str:
    """Final networks are trained after all others."""
    return "final" if cell.final else "search"


def order_of(plan: Plan, cell: Cell, setup: str = "") -> dict[str, object]:
    """A cell in plain values; its corpus is named by its study too, for splits differ."""
    parts = plan.partition(cell)
    return {
        "key": key_of(cell), "study": plan.path.stem, "corpus": cell.corpus, "system": cell.system, "seed": cell.seed,
        "learned": (cell.learned or "train").split("+"), "tune": plan.tune_part(parts, cell),
        "scored": list(plan.scored_parts(cell)), "setup": setup, "phase": phase_of(cell),
    }  # fmt: skip


def cells_of(plan: Plan) -> Iterator[tuple[Cell, str]]:
    """All cells of a study, those of searches with the setup that they are for."""
    for cell in plan.cells:
        yield cell, ""
    for search in searches_of(plan):
        for place in search.plan.corpus_splits:
            for setup in search.entry.setups:
                for cells in (search.cells, search.final_cells):
                    for system in search.candidates:
                        for cell in cells(place, setup, system):
                            yield cell, setup


def main() -> None:
    """Write all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("studies", nargs="+", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    splits: dict[str, np.ndarray] = {}
    options = {}
    with (given.folder / ORDERS).open("w") as lines:
        for path in given.studies:
            plan = Plan.of(path)
            for name, material in plan.materials.items():
                write(material.corpus, given.folder / f"{name}.xz")
                options[name] = reading_options(material.corpus)
            for cell, setup in cells_of(plan):
                print(json.dumps(order_of(plan, cell, setup)), file=lines)
                place = f"{path.stem}/{cell.corpus}"
                splits |= {f"{place}/{name}": each for name, each in plan.partition(cell).parts.items()}
    (given.folder / CORPORA).write_text(json.dumps(options))
    np.savez_compressed(given.folder / SPLITS, **splits)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
