"""What the searches found, as Markdown: tables 1 and 3 of the paper with our systems, and the winners.

python -m studies.tune.tables [STUDY.json ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from deadheat.results.base import from_json
from deadheat.results.search import SearchDataset, SearchResult, SetupDifference
from studies.markdown import table

FOLDER = Path(__file__).parent


def compared(result: SearchResult) -> str:
    """Table 1: in how many settings winners differ, and how they do on test."""
    setups, several = result.setups, len(result.varied)
    rows = [
        [row.corpus, f"{row.differing} of {several}", *_of(row, result, "test", "{:.2f}"), f"{row.p:.2f}",
         f"{row.p_corrected:.2f}"]
        for row in result.datasets
    ]  # fmt: skip
    test = _difference(result, "test")
    rows.append(["mean", "", f"{100 * test.first:.2f}", f"{100 * test.second:.2f}", f"{test.p:.2f}", ""])
    return table(["data set", "differ", *(f"test, epoch by {name}" for name in setups), "p", "corrected"], rows)


def gaps(result: SearchResult) -> str:
    """Table 3: test minus dev of the search; and dev minus test of the final network."""
    setups = result.setups
    names = [*(f"test - dev, epoch by {name}" for name in setups), *(f"optimism, {name}" for name in setups)]
    rows = [
        [row.corpus, *_of(row, result, "gap", "{:+.2f}"), *_of(row, result, "optimism", "{:+.2f}")]
        for row in result.datasets
    ]
    ends = [_difference(result, "gap"), _difference(result, "optimism")]
    rows.append(["mean", *(f"{100 * mean:+.2f}" for end in ends for mean in (end.first, end.second))])
    for name, field in (("p by permutation", "p"), ("p by bootstrap", "p_bootstrap")):
        rows.append([name, *(cell for end in ends for cell in (f"{getattr(end, field):.4f}", ""))])
    return table(["data set", *names], rows)


def winners(result: SearchResult) -> str:
    """Which settings won in each setup, with their score on dev in the search."""
    rows = []
    for row in result.datasets:
        cells = []
        for winner in (row.winner(setup) for setup in result.setups):
            assert winner is not None
            settings = ", ".join(f"{name} {value}" for name, value in winner.settings.items())
            cells.append(f"{settings} ({100 * winner.search_dev:.2f})")
        rows.append([row.corpus, *cells])
    return table(["data set", *(f"epoch by {name}" for name in result.setups)], rows)


def _of(row: SearchDataset, result: SearchResult, quantity: str, form: str) -> list[str]:
    return [form.format(100 * row.value(setup, quantity)) for setup in result.setups]


def _difference(result: SearchResult, quantity: str) -> SetupDifference:
    return next(row for row in result.differences if row.quantity == quantity)


def main() -> None:
    """Print them."""
    paths = [Path(path) for path in sys.argv[1:]] or [FOLDER / "tagger.json", FOLDER / "parser.json"]
    for path in paths:
        result = from_json(path.read_bytes(), source=str(path))
        assert isinstance(result, SearchResult)
        counts = f"{len(result.candidates)} settings, {result.trained} networks"
        size = f"{counts}, {result.tested_networks} evaluations on test"
        print(f"\n## {path.stem}: {size}\n\n{compared(result)}\n\n{gaps(result)}\n\n{winners(result)}")


if __name__ == "__main__":
    main()
