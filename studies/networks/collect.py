"""Runs of the study out of its stores, as tables: `runs.csv`, and `extremes.csv` of the best and the worst seeds.

python -m studies.networks.collect FOLDER      with STUDY.sqlite in it for every study file, run to its end or not
"""

from __future__ import annotations

import argparse
import csv
import tomllib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from deadheat.metrics import METRICS
from deadheat.stats.paired import randomization
from deadheat.study.store.store import Store, open_store
from deadheat.systems import SYSTEMS
from studies.networks.draw import FOLDER, TASKS, Task

RUNS, EXTREMES = "runs.csv", "extremes.csv"
SETTINGS = (
    "classifier", "units", "characters", "optimizer", "dropout", "dropped", "drop", "clip", "norm", "batch", "scheme",
    "epochs", "patience",
)  # fmt: skip
BESIDES = ("name", "label", "seeds")  # in an entry of a study file, besides settings
RESAMPLES = 1_000_000  # as in the paper
Row = dict[str, str | int | float | None]


def collected(stores: Path, studies: Path = FOLDER) -> tuple[list[Row], list[Row]]:
    """Runs that are in the stores and in the study files, and of systems of many seeds the best and the worst one."""
    runs: list[Row] = []
    extremes: list[Row] = []
    for task in (task for task in TASKS if (studies / f"{task.name}_seeds.toml").exists()):
        for study in ("seeds", "configurations"):
            name = f"{task.name}_{study}"
            with open_store(stores / f"{name}.sqlite") as store:
                own = _runs(store, task, study, _systems(studies / f"{name}.toml"))
                extremes += _extremes(store, task, own) if study == "seeds" else []
            runs += [{name: value for name, value in run.items() if name != "key"} for run in own]
    return runs, extremes


def _systems(path: Path) -> list[str]:
    """The systems of a study file, by their names with settings."""
    entries = tomllib.loads(path.read_text("utf-8"))["systems"]
    settings = [{key: value for key, value in entry.items() if key not in BESIDES} for entry in entries]
    return [SYSTEMS.make("bilstm", **own).name for own in settings]


def _runs(store: Store, task: Task, study: str, systems: list[str]) -> list[Row]:
    """A row a run: what it was, its scores, and what it took."""
    scores = store.scores().pivot("part", index="key", values="value")
    done = store.runs().filter(status="done").filter(pl.col("system").is_in(systems))
    table = done.join(scores, on="key").sort("system", "seed")
    found: list[Row] = []
    for run in table.iter_rows(named=True):
        settings = SYSTEMS.make(run["system"]).settings
        layers = len(str(settings["units"]).split(","))
        what: Row = {"task": task.name, "study": study, "layers": layers, **{name: settings[name] for name in SETTINGS}}
        what |= {"seed": run["seed"], "dev": run.get("dev"), "test": run["test"], "cpu_seconds": round(run["cpu_s"], 1)}
        found.append({"key": run["key"], **what})
    return found


def _extremes(store: Store, task: Task, runs: Iterable[Row]) -> list[Row]:
    """The best and the worst seed of each classifier on test, and whether they differ significantly."""
    metric = METRICS.make(task.metric, column=task.column)
    table = pl.DataFrame(list(runs)).sort("test", "seed")
    found: list[Row] = []
    for (classifier,), own in sorted(table.group_by("classifier", maintain_order=True)):
        worst, best = own.row(0, named=True), own.row(-1, named=True)
        first, second = store.counts([best["key"], worst["key"]], part="test", metric=metric.name)
        told = randomization(first, second, metric.value, rng=np.random.default_rng(0), resamples=RESAMPLES)
        found.append({
            "task": task.name, "classifier": classifier, "seeds": own.height, "best_seed": best["seed"],
            "worst_seed": worst["seed"], "difference": told.difference, "p": told.p,
        })  # fmt: skip
    return found


def write(path: Path, rows: list[Row]) -> None:
    """Rows as a file of comma-separated values."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Write both tables beside this file, or to another folder."""
    parser = argparse.ArgumentParser(description="Runs of studies/networks as tables.")
    parser.add_argument("stores", type=Path, help="the folder of the stores")
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    runs, extremes = collected(given.stores)
    write(given.out / RUNS, runs)
    write(given.out / EXTREMES, extremes)


if __name__ == "__main__":
    main()
