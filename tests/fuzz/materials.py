"""Small real inputs of every reader, made by Deadheat itself: what is damaged, and what stands beside it."""

from __future__ import annotations

import json
import random
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import polars as pl

from deadheat.cli.main import main
from deadheat.testbed.files import write_testbed

STUDY = """\
[corpora.velani]
files = ["corpus"]

[splits]
strategy = "random(sizes='80/10/10', unit='document')"
times = 2
seed = 3

[[systems]]
name = "unigram"

[[systems]]
name = "hmm"
label = "trigrams"
seeds = [0, 1]
"""


def make_materials(folder: Path) -> None:
    """Write everything into a folder, with relative names."""
    write_testbed(folder / "bed", languages=["velani"], sentences=60, seeds=(0, 1))
    bed = folder / "bed" / "velani"
    (folder / "corpus").mkdir()
    for part in ("train", "dev", "test"):
        (bed / f"velani-ud-{part}.conllu").rename(folder / "corpus" / f"velani-ud-{part}.conllu")
    (folder / "gold.conllu").write_bytes((folder / "corpus" / "velani-ud-test.conllu").read_bytes())
    for name, system in {"a": "strong", "b": "middle", "c": "weak"}.items():
        for run in (0, 1):
            (folder / f"{name}{run}.conllu").write_bytes(
                (bed / "predictions" / f"{system}.seed{run}.conllu").read_bytes()
            )
    _write_columns(folder)
    _write_tables(folder)
    _write_results(folder)


def _write_columns(folder: Path) -> None:
    chunks = ["The DT B-NP", "heat NN I-NP", "rises VBZ B-VP", "now RB O", ""]
    (folder / "gold.txt").write_text("\n".join(chunks * 8) + "\n")
    (folder / "pred.txt").write_text("\n".join(chunks * 8).replace("B-VP", "I-VP", 3) + "\n")
    words = " ".join("_".join(line.split()[:2]) for line in chunks[:-1])
    (folder / "gold.tagged").write_text(f"{words}\n" * 8)
    (folder / "pred.tagged").write_text(f"{words}\n" * 7 + words.replace("VBZ", "NN") + "\n")


def _write_tables(folder: Path) -> None:
    rng = random.Random(0)
    sets, systems = [f"set{i}" for i in range(12)], ["graph", "transition", "labels"]
    wide = [
        {"treebank": name, **{system: round(rng.gauss(80 - i, 4), 2) for i, system in enumerate(systems)}}
        for name in sets
    ]
    long = [
        {"metric": metric, "treebank": row["treebank"], "system": system, "score": row[system]}
        for metric in ("las", "uas")
        for row in wide
        for system in systems
    ]
    runs = [
        {
            "system": system,
            "Dropout": str(drop),
            "Layers": layers,
            "seed": seed,
            "Dev_F1": round(rng.gauss(90, 1), 3),
            "Test_F1": round(rng.gauss(89 + i / 2, 1), 3),
        }
        for i, system in enumerate(systems[:2])
        for drop in ("0.1", "0.5")
        for layers in (1, 2)
        for seed in range(4)
    ]
    pl.DataFrame(wide).write_csv(folder / "wide.csv")
    pl.DataFrame(long).write_csv(folder / "long.tsv", separator="\t")
    pl.DataFrame(runs).write_csv(folder / "runs.csv")
    pl.DataFrame(runs).write_ndjson(folder / "runs.jsonl")
    pl.DataFrame(wide).write_parquet(folder / "wide.parquet")
    pl.DataFrame(runs).write_parquet(folder / "runs.parquet")
    (folder / "one.csv").write_text("metric\nlas\nuas\n")
    items = [
        {"task": f"task{i % 2}", "item": f"q{i}", "system": system, "score": int(rng.random() < 0.6)}
        for i in range(40)
        for system in systems[:2]
    ]
    pl.DataFrame(items).write_csv(folder / "items.csv")
    pl.DataFrame(items).write_ndjson(folder / "items.jsonl")
    pl.DataFrame(items).write_parquet(folder / "items.parquet")
    battles = [
        {"model_a": a, "model_b": b, "winner": rng.choice(["model_a", "model_b", "tie"])}
        for a in systems
        for b in systems
        if a != b
        for _ in range(5)
    ]
    pl.DataFrame(battles).write_csv(folder / "battles.csv")
    families = [{"treebank": name, "family": f"family{i % 3}", "size": 100 * i} for i, name in enumerate(sets)]
    pl.DataFrame(families).write_csv(folder / "attributes.csv")
    subsets = [{"subset": f"paper{i}", "treebank": name} for i in range(2) for name in sets[i : i + 5]]
    pl.DataFrame(subsets).write_csv(folder / "subsets.csv")
    pl.DataFrame({"year": [2010, 2010, 2020, 2020], "count": [2, 4, 3, 8]}).write_csv(folder / "papers.csv")
    predictions = [
        {"set": "one", "gold": "gold.conllu", "system": name, "prediction": f"{name}0.conllu"} for name in "abc"
    ]
    pl.DataFrame(predictions).write_csv(folder / "sets.csv")


def _write_results(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY)
    (folder / "vectors.txt").write_text("".join(f"{word} 0.1 -0.2 0.3\n" for word in ("the", "heat", "rises", "now")))
    _run(folder, "ledger", "guard", "gold.conllu", "--budget", "1000")
    for name, arguments in {
        "score": "score gold.conllu a0.conllu b0.conllu --resamples 50",
        "compare": "compare gold.conllu A=a0.conllu A=a1.conllu B=b0.conllu B=b1.conllu",
        "rank": "rank wide.csv --samples 200 --subset-size 4",
        "seeds": "seeds runs.csv --system system --score Test_F1 --dev Dev_F1 --resamples 50",
        "contrast": "contrast runs.csv --factor Dropout --score Test_F1 --ignore seed",
        "size": "size gold.conllu A=a0.conllu B=b0.conllu C=c0.conllu --sizes 50,all --draws 5 --save counts.npz",
        "power": "power --accuracies 0.97 0.968 --agreement 0.98 --units 2500",
        "split": "split corpus --strategy random --times 2 --out splits",
        "run": "run study.toml --quiet",
        "ledger": "ledger",
    }.items():
        (folder / f"{name}.json").write_text(_run(folder, *arguments.split(), "--json"))


def _run(folder: Path, *arguments: str) -> str:
    """What a command prints; the folder is the working directory already."""
    output = StringIO()
    with redirect_stdout(output):
        code = main(arguments)
    assert code == 0, f"deadheat {' '.join(arguments)}: exit {code}"
    text = output.getvalue()
    assert "--json" not in arguments or json.loads(text)
    return text
