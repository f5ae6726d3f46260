"""Which command reads which file, and odd values of options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from deadheat.cli.main import MODULES


@dataclass(frozen=True)
class Target:
    """A command line, the files it reads that are damaged in turn, and how often it is chosen."""

    command: str
    files: tuple[str, ...]
    weight: float = 1.0


def _target(command: str, files: str, weight: float = 1.0) -> Target:
    return Target(command, tuple(files.split()), weight)


PAIR = "gold.conllu a0.conllu"
TRAIN = "corpus/velani-ud-train.conllu"
RANK = "rank wide.csv --samples 200"
PREDICTIONS = "study.sqlite.predictions/*/*.test.zst"
LEDGER = "ledger.jsonl ledger.jsonl.head"
TARGETS = (
    _target("info gold.conllu", "gold.conllu", 3),
    _target("info corpus", "corpus/velani-ud-train.conllu corpus/velani-ud-test.conllu"),
    _target("score gold.conllu a0.conllu b0.conllu --resamples 50", PAIR, 6),
    _target(
        f"score gold.conllu a0.conllu --by genre --train {TRAIN} --interval bootstrap --resamples 50", f"{PAIR} {TRAIN}"
    ),
    _target("score gold.txt pred.txt", "gold.txt pred.txt", 3),
    _target("score gold.txt pred.txt --columns form,_,chunk --separator space", "gold.txt pred.txt"),
    _target("score gold.tagged pred.tagged", "gold.tagged pred.tagged", 2),
    _target("score - a0.conllu", "gold.conllu"),
    _target("compare gold.conllu A=a0.conllu B=b0.conllu C=c0.conllu", "gold.conllu a0.conllu", 3),
    _target("compare gold.conllu A=a0.conllu A=a1.conllu B=b0.conllu B=b1.conllu --align position", PAIR),
    _target("compare gold.conllu A=a0.conllu B=b0.conllu --test bootstrap --resamples 100 --unit sentence", PAIR),
    _target("compare --scores wide.csv", "wide.csv", 2),
    _target("compare --scores long.tsv --metric las --test wilcoxon", "long.tsv", 2),
    _target("compare --sets sets.csv", "sets.csv a0.conllu"),
    _target("power gold.conllu A=a0.conllu B=b0.conllu --difference 0.5", PAIR),
    _target("rank wide.csv --samples 200 --subset-size 4", "wide.csv", 4),
    _target("rank wide.parquet --samples 200 --subset-size 4", "wide.parquet", 2),
    _target("rank long.tsv --metrics all --samples 200 --subset-size 4", "long.tsv", 2),
    _target("rank wide.csv --samples 200 --subset-size 4 --exact --leave-one-out --time-limit 2", "wide.csv"),
    _target(f"{RANK} --attributes attributes.csv --one-per family --anomalies graph", "wide.csv attributes.csv"),
    _target(f"{RANK} --subsets subsets.csv --subset-size 3 --representative 3", "wide.csv subsets.csv"),
    _target("seeds runs.csv --score Test_F1 --dev Dev_F1 --system system --resamples 50", "runs.csv", 4),
    _target("seeds runs.jsonl --score Test_F1 --system system --resamples 50", "runs.jsonl", 2),
    _target("seeds - --score Test_F1 --by Dropout --resamples 50", "runs.csv"),
    _target("contrast runs.csv --factor Dropout --score Test_F1 --ignore seed", "runs.csv", 3),
    _target("contrast runs.jsonl --score Test_F1 --importance --ignore seed", "runs.jsonl"),
    _target("size gold.conllu A=a0.conllu B=b0.conllu C=c0.conllu --sizes 50,all --draws 5", PAIR),
    _target("size counts.npz --sizes 50,all --draws 5", "counts.npz", 3),
    _target("rank one.csv --samples 200", "one.csv"),
    _target("compare --scores one.csv", "one.csv"),
    _target("report one.csv --out page.html", "one.csv"),
    _target("compare --scores wide.parquet", "wide.parquet"),
    _target("report wide.parquet --out page.html", "wide.parquet"),
    _target("seeds runs.parquet --score Test_F1 --system system --resamples 50", "runs.parquet"),
    _target("compare items.csv", "items.csv", 2),
    _target("compare items.jsonl", "items.jsonl"),
    _target("compare items.parquet", "items.parquet"),
    _target("rank battles.csv", "battles.csv"),
    _target("report wide.csv --out page.html", "wide.csv", 2),
    _target("report runs.csv --out page.html", "runs.csv", 2),
    _target("report long.tsv --out page.html --paper paper", "long.tsv", 0.5),
    _target("report study.sqlite --out page.html", f"study.sqlite study.sqlite {PREDICTIONS}", 6),
    _target("report study.toml --out page.html", "study.toml study.toml study.sqlite", 3),
    *(
        _target(f"report {name}.json --out page.html", f"{name}.json")
        for name in "score compare rank seeds contrast size power split run ledger".split()
    ),
    _target("export study.sqlite --table runs", "study.sqlite", 2),
    _target("export study.sqlite --table counts --out counts.csv", "study.sqlite", 2),
    _target("verify study.sqlite", f"study.sqlite {PREDICTIONS}", 2),
    _target("run study.toml --plan", "study.toml corpus/velani-ud-train.conllu", 6),
    _target("init corpus --out new.toml", "corpus/velani-ud-train.conllu corpus/velani-ud-test.conllu"),
    _target("split corpus --strategy random --unit document --times 2 --out new-splits", TRAIN),
    _target("split --check splits", "splits/manifest.json splits/0/train.conllu", 2),
    _target("convert gold.conllu new.conllu.gz --mend", "gold.conllu"),
    _target("ledger", LEDGER, 2),
    _target("ledger --verify", LEDGER, 2),
    _target("ledger repair --reason why", LEDGER),
    _target("ledger --by year --counts papers.csv", "papers.csv"),
    _target("ledger show gold.conllu", f"gold.conllu {LEDGER}"),
    _target("ledger seal gold.conllu --out new.conllu --budget 3", f"gold.conllu {LEDGER}"),
    _target("score gold.conllu a0.conllu -m las", LEDGER, 2),
)

VALUES = (
    "0",
    "-1",
    "1",
    "2",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e12",
    "1000000000000",
    "18446744073709551616",
    "9" * 30,
    "1e-300",
    "0.5",
    "",
    "_",
    "a b",
    "a\nb",
    "\x1b[31m",
    "las",
    "las,blex",
    "all",
    "las(subtypes=True)",
    "las(",
    "f" * 5000,
    "../x",
    "graph",
    "system=graph",
    "Layers=1",
    "Dropout",
    "Test_F1",
    "\udcff",
    "\u202e",
    "=1+1",
    "none",
    "auto",
    "sentence",
    "document",
    "A=a0.conllu",
    "-",
    "80/10/10",
)
SKIPPED = {"--open", "--help"}
WRITTEN = ("FILE", "DIR", "COPY")  # metavars of options that may write; odd values could be written to


def command_line(target: Target, rng: np.random.Generator, *, odd_options: float = 0.2) -> list[str]:
    """The arguments of a target; sometimes with odd options."""
    arguments = target.command.split()
    while rng.random() < odd_options:
        option = _options(arguments[0])[int(rng.integers(len(_options(arguments[0]))))]
        count = option.nargs if isinstance(option.nargs, int) else 1
        values = [VALUES[int(i)] for i in rng.integers(len(VALUES), size=count)]
        if count == 1:
            arguments.append(f"{option.option_strings[-1]}={values[0]}")
        else:
            arguments += [option.option_strings[-1], *values]
    return arguments


def _options(command: str) -> Sequence[argparse.Action]:
    module = next(name for name, commands in MODULES.items() if command in commands)
    parser: argparse.ArgumentParser = getattr(import_module(f"deadheat.cli.{module}"), f"{command}_parser")()
    return [
        action
        for action in parser._actions
        if action.option_strings and action.metavar not in WRITTEN and not SKIPPED & {*action.option_strings}
    ]
