"""Logs that the harnesses themselves wrote, with stub models; skipped where they are not."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.items.logs.read import is_log, read_logs
from deadheat.items.logs.translation import BLEU

KEY = ["task", "item", "repeat", "model", "metric"]


@pytest.fixture(scope="module")
def logs(shared_data: Path) -> Path:
    folder = shared_data / "logs"
    if not folder.is_dir():
        pytest.skip(f"no logs at {folder}")
    return folder


def expected(logs: Path, source: str) -> pl.DataFrame:
    """The table of all scalar scores; an empty cell is an item that was not scored."""
    table = pl.read_csv(logs / "table.csv", infer_schema=False).filter(source=source)
    return table.with_columns(pl.col("score").cast(pl.Float64)).sort(KEY)


def test_every_score_of_lm_eval_is_read(logs: Path) -> None:
    table = read_logs(logs / "lm_eval" / "out")
    hashes = {}  # the table names items by their content
    for path in (logs / "lm_eval" / "out").rglob("samples_*.jsonl"):
        task = path.name.removeprefix("samples_").rpartition("_")[0]
        for line in map(json.loads, path.read_text().splitlines()):
            hashes[task, str(line["doc_id"])] = line["doc_hash"][:12]
    wanted = expected(logs, "lm_eval")
    frame = table.frame.filter(pl.col("task").is_in(wanted["task"].unique().to_list())).rename({"system": "model"})
    items = [hashes[key] for key in frame.select("task", "item").iter_rows()]
    read = frame.with_columns(pl.Series("item", items)).sort(KEY)
    assert read.select(*KEY, "score").rows() == wanted.select(*KEY, "score").rows()
    assert read["passage_id"].to_list() == wanted["cluster"].to_list()
    assert table.fields == ("passage_id",)


def test_every_score_of_inspect_is_read(logs: Path) -> None:
    table = read_logs(logs / "inspect" / "eval")
    wanted = expected(logs, "inspect")
    read = table.frame.rename({"system": "model"}).sort(KEY)
    errored = read.filter(task="broken", model="mockllm/alpha").filter(pl.col("item").is_in(["q005", "q017"]))
    assert len(errored) == errored["score"].null_count() == 2 * len(table.metric_names)
    rest = read.join(errored, on=KEY, how="anti").sort(KEY)
    columns = [*KEY, "cluster", "score"]
    assert rest.select(columns).rows() == wanted.select(columns).rows()
    assert table.cluster == "passage"


def test_the_older_form_has_the_same_scores(logs: Path) -> None:
    forms = [read_logs(logs / "inspect" / form).frame.filter(task="broken") for form in ("eval", "json")]
    columns = ["item", "system", "metric", "cluster"]
    assert forms[0].select(columns).rows() == forms[1].select(columns).rows()


def test_the_aggregates_are_those_that_lm_eval_computes(logs: Path) -> None:
    table = read_logs(logs / "lm_eval" / "out")
    checked = 0
    for path in (logs / "lm_eval" / "out").glob("*/results_*.json"):
        results = json.loads(path.read_text())
        for task, scores in results["results"].items():
            for name in set(scores) & set(table.metric_names) if task in table.tasks else ():
                rows = table.frame.filter(task=task, system=path.parent.name, metric=name)
                aggregate = table.metric(name).aggregate
                value = rows["score"].mean()
                if aggregate.name != "mean":
                    value = float(aggregate.value(np.sum(rows["counts"].to_list(), axis=0)))
                assert value == pytest.approx(scores[name], rel=1e-12)
                checked += 1
    assert checked == 3 * (9 + (find_spec("sacrebleu") is not None))  # which counts BLEU


def test_bleu_of_statistics_is_that_of_sacrebleu(logs: Path) -> None:
    (path,) = (logs / "lm_eval" / "out" / "org__alpha").glob("samples_mt_*.jsonl")
    counts = [words_in_common(*json.loads(line)["bleu"]) for line in path.read_text().splitlines()]
    results = json.loads(next(path.parent.glob("results_*.json")).read_text())["results"]
    assert float(BLEU.value(np.sum(counts, axis=0))) == pytest.approx(results["mt"]["bleu,none"], rel=1e-12)


def words_in_common(reference: str, hypothesis: str) -> list[int]:
    """What BLEU counts where words are separated by spaces and there is no punctuation."""
    ours, theirs = hypothesis.split(), reference.split()
    matches, totals = [], []
    for order in range(1, 5):
        grams = [Counter(zip(*(words[start:] for start in range(order)), strict=False)) for words in (ours, theirs)]
        matches.append((grams[0] & grams[1]).total())
        totals.append(grams[0].total())
    return [matches[0], len(theirs), len(ours), *matches[1:], *totals[1:]]


def test_runs_that_did_not_finish(logs: Path) -> None:
    states = logs / "inspect" / "states"
    for name, status in (("error", "error"), ("killed", "started")):
        with pytest.raises(InputError, match=rf"status {status}"):
            read_logs(states / name)
    assert read_logs(states / "killed", partial=True).frame.filter(metric="match")["score"].len() == 3
    partial = read_logs(states / "error", partial=True).frame.filter(metric="match")["score"]
    assert (len(partial), partial.null_count()) == (7, 2)
    table = read_logs(states / "nosamples")
    assert table.frame.filter(metric="letter")["score"].mean() == pytest.approx(0.9125)


@pytest.mark.parametrize(
    ("folder", "metric", "rows", "total"),
    [
        ("lighteval", "acc", 120, 60 * (0.3 + 0.25)),  # as its results say
        ("helm", "exact_match", 10 + 10 + 20, 0.0),  # as stats.json says
        ("promptfoo", "exact", 160, 30 + 36 + 26 + 18),  # as the metrics of its prompts say
        ("promptfoo", "score", 160, 35 + 38 + 33 + 29),
        ("swebench", "resolved", 120, 38 + 27),
        ("sacrebleu", "chrF", 60, 30 * 75.38 + 1868.3),  # the second by awk
        ("wmt", "mqm", 240, None),
    ],
)
def test_sums_of_scores(logs: Path, folder: str, metric: str, rows: int, total: float | None) -> None:
    assert is_log(logs / folder)
    scores = read_logs(logs / folder).frame.filter(metric=metric)["score"]
    assert len(scores) == rows
    if total is None:
        assert scores.null_count() == 26  # `grep -c None`
    else:
        assert scores.sum() == pytest.approx(total)


def test_what_is_guessed_from_real_logs(logs: Path) -> None:
    fields = {name: read_logs(logs / name).fields for name in ("lighteval", "promptfoo", "swebench", "wmt")}
    assert fields == {
        "lighteval": ("passage_id",), "promptfoo": ("passage",), "swebench": ("repo",), "wmt": ("document",),
    }  # fmt: skip
    trials = read_logs(logs / "helm").frame.filter(pl.col("repeat") == "2")
    assert trials["task"].unique().to_list() == ["simple_classification:num_train_trials=2"]


def test_a_second_log_of_some_items_is_refused_or_a_repeat(logs: Path) -> None:
    folders = [logs / "lm_eval" / "out", logs / "lm_eval" / "out_partial"]
    with pytest.raises(
        InputError, match=r"out_partial.*: 30 items of passages by org__beta, and 60 in .*; expected the"
    ):
        read_logs(folders)
    table = read_logs(folders, partial=True)
    again = table.frame.filter(repeat="2")
    assert again.select("task", "system").unique().rows() == [("passages", "org__beta")]
    assert again["item"].n_unique() == 30
    assert "2 logs of passages by org__beta are repeats: out/org__beta and out_partial/org__beta" in table.notes
