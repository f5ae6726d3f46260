"""Pairing the 51,422 runs of Reimers and Gurevych (2017) on every other setting: CPU time of each step in one run."""

from __future__ import annotations

from benchmarks.timing import DATA, cpu, table
from deadheat.questions.contrast import contrast
from deadheat.ranking.contrasts import configuration_keys, paired_scores
from deadheat.tables.table import Runs, read_runs

RESULTS = {"ID", "Epochs", "OptimalEpoch", "Dev_F1", "Test_F1", "Max_Test_F1"}


def pair(runs: Runs) -> int:
    """Pair all runs on all settings but one; how many configurations have every option."""
    settings = [runs.codes(name)[0] for name in runs.frame.columns if name not in RESULTS | {"Embeddings"}]
    options, names = runs.codes("Embeddings")
    keys = configuration_keys(settings, len(runs))
    return len(paired_scores(keys, options, runs.scores("Test_F1"), options=len(names))[0])


def main() -> None:
    path = DATA / "scores" / "reimers2017_runs.tsv.gz"
    if not path.exists():
        print(f"no runs at {path}; DEADHEAT_DATA names the folder of the data")
        return
    runs = read_runs(path)
    rows = [
        ["read and type all columns", f"{cpu(lambda: read_runs(path)):.3f}"],
        [f"pair all runs on 26 settings: {pair(runs)} configurations of 8 options", f"{cpu(lambda: pair(runs)):.3f}"],
        [
            "contrast of embeddings, five data sets, tests included",
            f"{cpu(lambda: contrast(runs, factor='Embeddings', score='Test_F1', by='Dataset')):.3f}",
        ],
    ]
    print(table([f"{len(runs):,} runs", "s CPU"], rows))


if __name__ == "__main__":
    main()
