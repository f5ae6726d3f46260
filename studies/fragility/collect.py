"""Scores of what was trained, as a table; every prediction is checked, by the official evaluator too.

    python -m studies.fragility.collect TREEBANKS OUT [OUT ...] [--official] [--predictions FOLDER]

OUT are folders that `studies.fragility.train` wrote. `networks.csv` gets a row a network and part. `--official` has
udtools evaluate every prediction and compares its LAS with ours. With `--predictions`, a folder of the original
programs' outputs (TAGS-pos/TREEBANK/PARSER.runN.conll.gz beside gold.PARSER.conll.gz), `originals.csv` gets their
scores, worked out in the same way.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus import Column, Corpus, Vocabulary, read, to_bytes
from deadheat.corpus.transforms import with_trees
from deadheat.metrics import METRICS, align
from deadheat.trees import problems

FOLDER = Path(__file__).parent
NETWORKS, ORIGINALS = FOLDER / "networks.csv", FOLDER / "originals.csv"
LENIENT = ("multiple-roots",)  # the originals have sentences with several
Row = dict[str, Any]


def scores(gold: Corpus, found: Corpus) -> dict[str, float]:
    """LAS and UAS of a prediction, in percent."""
    pair = align(gold, found)
    made = {name: METRICS.make(name) for name in ("las", "uas")}
    return {
        name: round(100 * float(each.value(each.counts(pair)[:, :3].sum(axis=0))), 4) for name, each in made.items()
    }


def official_las(gold: Corpus, found: Corpus) -> float:
    """What the official evaluator says, in percent; it raises where it does not accept a tree."""
    from udtools.udeval import evaluate, load_conllu

    both = [
        load_conllu(io.StringIO(to_bytes(each).decode()), "", {"multiple_roots_okay": False}) for each in (gold, found)
    ]
    return 100 * float(evaluate(*both)["LAS"].f1)


def networks(treebanks: Path, outs: Iterable[Path], *, official: bool) -> Iterator[Row]:
    """A row for every network and part; a network that was trained twice counts as it was trained last."""
    gold: dict[Path, Corpus] = {}
    last: dict[tuple[Any, ...], tuple[Row, zipfile.ZipFile, zipfile.ZipInfo]] = {}
    for out in outs:
        store = zipfile.ZipFile(out / "predictions.zip")
        rows = [json.loads(line) for line in (out / "networks.jsonl").read_text().splitlines()]
        for told, info in zip(rows, store.infolist(), strict=True):
            assert told["file"] == info.filename
            key = (told["treebank"], told["parser"], told["tags"], json.dumps(told["settings"]), told["seed"])
            last[key] = told, store, info
    for told, store, info in last.values():
        arrays = np.load(io.BytesIO(store.read(info)))
        for part in ("dev", "test"):
            path = next((treebanks / told["treebank"]).glob(f"*{part}.conllu"))
            if path not in gold:
                gold[path] = read(path)
            names = Vocabulary.of(arrays[f"{part}_names"].tolist())
            relations = Column(arrays[f"{part}_relations"].astype(np.int32), names)
            found = with_trees(gold[path], arrays[f"{part}_heads"].astype(np.int32), relations)
            wrong = problems(found.trees, found.offsets)
            assert not wrong, f"{told['file']}, {part}: {wrong[0]}"
            own = scores(gold[path], found)
            if official:
                theirs = official_las(gold[path], found)
                assert abs(theirs - own["las"]) < 1e-3, f"{told['file']}, {part}: {theirs} by the official evaluator"
            settings = " ".join(f"{name}={value}" for name, value in told["settings"].items())
            yield {
                "treebank": told["treebank"], "parser": told["parser"], "tags": told["tags"], "settings": settings,
                "seed": told["seed"], "epoch": told["epoch"], "epochs": told["epochs"], "part": part, **own,
            }  # fmt: skip


def originals(folder: Path) -> Iterator[Row]:
    """A row for every run of the original programs."""
    for path in sorted(folder.glob("*-pos/*/*.run*.conll.gz")):
        parser, run = path.name.split(".")[:2]
        gold = read(path.with_name(f"gold.{parser}.conll.gz"), lenient=LENIENT)
        found = read(path, lenient=LENIENT)
        # Words are written in other ways by some of the programs; they are the same words.
        found = with_trees(gold, found.trees, found.column("deprel"))
        tags = path.parent.parent.name.removesuffix("-pos")
        yield {"treebank": path.parent.name, "parser": parser, "tags": tags, "run": run, **scores(gold, found)}


def write(path: Path, rows: list[Row]) -> None:
    """Write rows as a table, in order."""
    rows.sort(key=lambda row: [str(value) for value in row.values()])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{path}: {len(rows)} rows")


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("outs", nargs="*", type=Path)
    parser.add_argument("--official", action="store_true")
    parser.add_argument("--predictions", type=Path)
    given = parser.parse_args()
    if given.outs:
        write(NETWORKS, list(networks(given.treebanks, given.outs, official=given.official)))
    if given.predictions:
        write(ORIGINALS, list(originals(given.predictions)))


if __name__ == "__main__":
    main()
