"""Our parsers beside the original programs: LAS on test, as Markdown, from `networks.csv` and `originals.csv`.

    python -m studies.fragility.tables

Means over seeds of networks of full size. Where several settings were tried, those that were best on dev are shown.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from studies import markdown
from studies.fragility.collect import NETWORKS, ORIGINALS

PARSERS = ("biaffine", "pointer", "bracketing", "archybrid")
Key = tuple[str, str, str]  # tags, treebank, parser


def ours() -> dict[Key, list[float]]:
    """LAS on test of all seeds, with the settings that were best on dev."""
    found: dict[Key, dict[str, dict[str, list[float]]]] = {}
    for row in rows_of(NETWORKS):
        if "size=small" not in row["settings"]:
            own = found.setdefault((row["tags"], row["treebank"], row["parser"]), {})
            own.setdefault(row["settings"], {}).setdefault(row["part"], []).append(float(row["las"]))
    return {key: max(own.values(), key=lambda each: mean(each["dev"]))["test"] for key, own in found.items()}


def originals() -> dict[Key, list[float]]:
    """LAS of all runs of the original programs."""
    found: dict[Key, list[float]] = {}
    for row in rows_of(ORIGINALS):
        found.setdefault((row["tags"], row["treebank"], row["parser"]), []).append(float(row["las"]))
    return found


def table(tags: str) -> str:
    """A row a treebank; the originals' scores in brackets."""
    own, others = ours(), originals()
    lines = []
    for code in sorted({treebank for kind, treebank, _ in own if kind == tags}):
        cells = []
        for parser in PARSERS:
            scores, theirs = own.get((tags, code, parser), []), others.get((tags, code, parser), [])
            said = f"{mean(scores):.2f}" if scores else "-"
            said += " (one seed)" if len(scores) == 1 else ""
            cells.append(f"{said} [{mean(theirs):.2f}]" if theirs else said)
        lines.append([code, *cells])
    return markdown.table(["treebank", *PARSERS], lines)


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a table that `collect` wrote."""
    with path.open(newline="") as file:
        yield from csv.DictReader(file)


def main() -> None:
    """Print both tables."""
    for tags in ("gold", "predicted"):
        print(f"\nLAS on test, {tags} tags\n\n{table(tags)}")


if __name__ == "__main__":
    main()
