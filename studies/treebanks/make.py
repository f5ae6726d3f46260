"""From predictions to the tables, the figure and the page of a paper: all other files of this folder.

    python -m studies.treebanks.make PREDICTIONS [--out FOLDER]

`PREDICTIONS/TREEBANK` holds `gold.PARSER.conll.gz` and `PARSER.RUN.conll.gz`. The commands are those of the README.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deadheat.results.base import from_json
from deadheat.results.compare import Comparison

FOLDER = Path(__file__).parent
PICTURE = FOLDER.parents[1] / "docs" / "assets" / "picture.py"
LENIENT = ("--align", "position", "--multiple-roots", "--final-newline")
TITLE = "Three parsers on six treebanks"
# What the paper kit calls them, and what they are called here.
KEPT = {
    "tables/systems.tex": "scores.tex",
    "tables/differences.tex": "differences.tex",
    "figures/compare-forest-1.svg": "differences.svg",
    "figures/compare-forest-1.csv": "differences.csv",
}


def deadheat(*arguments: str, to: Path | None = None) -> None:
    """Run a command; its result as JSON goes to a file."""
    command = [sys.executable, "-m", "deadheat", *arguments]
    output = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    if to:
        to.write_text(output, "utf-8")


def write_scores(comparison: Path, target: Path) -> None:
    """Mean scores over runs in percent, as `deadheat rank` reads them."""
    result = from_json(comparison.read_text("utf-8"))
    assert isinstance(result, Comparison)
    with target.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["metric", "treebank", "system", "score"])
        for row in result.datasets:
            table.writerows([result.metric, row.dataset, item.system, f"{100 * item.mean:.4f}"] for item in row.systems)


def make(predictions: Path, out: Path) -> None:
    """Compare, rank, ask how much test data is enough, and write the page and what a paper needs."""
    names = ("gold.{system}.conll.gz", "{system}.{run}.conll.gz")
    patterns = [str(predictions / "{dataset}" / name) for name in names]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        results = [work / f"{question}.json" for question in ("compare", "rank", "size")]
        deadheat("compare", *patterns, *LENIENT, to=results[0])
        write_scores(results[0], out / "scores.csv")
        deadheat("rank", str(out / "scores.csv"), "--exact", to=results[1])
        deadheat("size", *patterns, *LENIENT, "--strategies", "rand", to=results[2])
        page = ("--title", TITLE, "--out", str(out / "page.html"), "--formats", "svg", "--paper", str(work / "kit"))
        deadheat("report", *map(str, results), *page)
        for source, target in KEPT.items():
            shutil.copyfile(work / "kit" / source, out / target)


def main() -> None:
    """Make all files, and the picture of the page if there is a browser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictions", type=Path)
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    make(given.predictions, given.out)
    if shutil.which("chromium"):
        files = (str(given.out / "page.html"), str(given.out / "page.png"))
        subprocess.run([sys.executable, str(PICTURE), *files], check=True)


if __name__ == "__main__":
    main()
