"""Studies of many corpora, which were never run: documents and frames with answers that are known."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from deadheat.pages.study import sections
from numpy.typing import NDArray

from deadheat.charts.chart import WIDE
from tests.pages.section_checks import HOSTILE, check, column


def many(
    corpora: int, systems: int, splits: int, seeds: int, *, twisted: int = 3, names: tuple[str, ...] = ()
) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
    """A document and the frames of a study that was never run: systems differ by a point, and some corpora turn the
    order of the systems round."""
    rng = np.random.default_rng(corpora)
    quality_S = 0.9 - 0.01 * np.arange(systems)
    means_SD = quality_S[:, None] + np.linspace(-0.1, 0.05, corpora)[None, :]
    means_SD[:, :twisted] = means_SD[::-1, :twisted]
    values = means_SD[:, :, None, None] + rng.normal(0, 0.001, (systems, corpora, splits, seeds))
    labels = {f"s{i}.v1": (names[i] if i < len(names) else f"system {i}") for i in range(systems)}
    places = [axis.ravel() for axis in np.indices(values.shape)]
    frame = pl.DataFrame(
        {
            "key": pl.Series(np.arange(values.size)).cast(pl.String),
            "corpus": pl.Series([f"corpus {i}" for i in range(corpora)]).gather(places[1]),
            "split": pl.repeat("random.v1", values.size, eager=True),
            "number": places[2],
            "system": pl.Series(list(labels)).gather(places[0]),
            "seed": places[3],
            "part": pl.repeat("test", values.size, eager=True),
            "metric": pl.repeat("accuracy.v1", values.size, eager=True),
            "value": values.ravel(),
        }
    )
    took = [
        pl.lit(1.0).alias("cpu_s"),
        pl.lit(9.0).alias("peak_mb"),
        pl.lit(0).cast(pl.Datetime("ms")).alias("started"),
    ]
    runs = frame.drop("part", "metric", "value").with_columns(
        pl.lit("done").alias("status"), pl.lit(0).alias("split_seed"), pl.lit("").alias("error"), *took
    )
    blocks = [_block(place, values[:, place], list(labels.values())) for place in range(corpora)]
    asked = {"systems": labels, "cells": values.size, "missing": 0, "correction": "bonferroni", "alpha": 0.05}
    return {"kind": "study", "study": "many", **asked, "blocks": blocks, "notes": []}, frame, runs


def _block(place: int, values_SPR: NDArray[np.float64], labels: list[str]) -> dict[str, Any]:
    splits = values_SPR.shape[1]
    standings, pairs = [], []
    order = np.argsort(-values_SPR.mean(axis=(1, 2)))
    for system in order:
        own = values_SPR[system]
        told = {"system": labels[system], "metric": "accuracy.v1", "runs": own.size, "mean": float(own.mean())}
        ends = {"sd": float(own.std()), "least": float(own.min()), "most": float(own.max()), "interval": None}
        standings.append({**told, **ends, "by_split": own.mean(axis=1).tolist()})
    for at, a in enumerate(order):
        for b in order[at + 1 :]:
            told = {"a": labels[a], "b": labels[b], "test": "mcnemar-midp", "difference": 0.01, "splits": splits}
            counts = {"ahead": splits, "significant": splits, "reversed": 0}
            pairs.append({**told, **counts, "p": [0.01] * splits, "p_corrected": [0.02] * splits})
    where = {"corpus": f"corpus {place}", "split": "random.v1", "seed": 0, "part": "test", "splits": splits}
    lists = {"numbers": list(range(splits)), "train_words": [1000] * splits, "metrics": ["accuracy.v1"]}
    return {**where, **lists, "systems": standings, "pairs": pairs, "agreement": []}


def test_many_corpora_are_folded_into_one_table_and_the_most_unlike_are_shown() -> None:
    document, scores, runs = many(12, 5, 2, 2)
    made = check(partial(sections, scores=scores, runs=runs), document)
    assert [each.heading for each in made] == [
        "12 corpora: accuracy on test",
        *(f"corpus {place}: accuracy on test" for place in range(3)),  # on these the order is turned round
        "What was run",
    ]
    means = scores.group_by("system").agg(pl.col("value").mean())
    averages = {document["systems"][name]: value for name, value in means.iter_rows()}
    summary, every = made[0].tables
    assert {name: f"{100 * value:.2f}" for name, value in averages.items()} == column(summary, "average")
    assert (column(summary, "first on")["system 0"], column(summary, "first on")["system 4"]) == ("9", "3")
    assert every.folded
    assert len(every.rows) == 12
    assert [row[-1] for row in every.rows[:4]] == ["-1.000", "-1.000", "-1.000", "1.000"]
    own = scores.filter(corpus="corpus 7", system="s2.v1")["value"].mean()
    assert column(every, "system 2")["corpus 7"] == f"{100 * float(str(own)):.2f}"
    chart = made[0].figures[0].draw(WIDE)
    assert len(chart.rows) == 12 * 5
    assert "On 9 of 12 corpora the systems stand in the order of the averages." in " ".join(made[0].said)


def test_a_page_stays_short_whatever_the_number_of_corpora() -> None:
    for corpora in (7, 40):
        document, scores, runs = many(corpora, 4, 2, 1)
        made = sections(document, scores, runs)
        assert len(made) == 1 + 3 + 1
        assert sum(len(each.figures) for each in made) == 1 + 3 * 2
    document, scores, runs = many(6, 4, 2, 1)
    assert len(sections(document, scores, runs)) == 6 + 1


def test_systems_without_a_score_on_some_corpus_are_averaged_over_those_of_all() -> None:
    document, scores, runs = many(9, 3, 2, 1)
    last = document["blocks"][8]
    last["systems"] = [each for each in last["systems"] if each["system"] != "system 1"]
    made = check(partial(sections, scores=scores, runs=runs), document)
    own = scores.filter(pl.col("system") == "s0.v1").filter(pl.col("corpus") != "corpus 8")["value"].mean()
    assert column(made[0].tables[0], "average")["system 0"] == f"{100 * float(str(own)):.2f}"
    assert made[0].notes == ("Averages are over the 8 corpora on which every system has a score.",)
    assert column(made[0].tables[1], "system 1")["corpus 8"] == "-"


def test_names_of_any_kind_are_shown_as_they_are() -> None:
    for corpora in (2, 8):
        document, scores, runs = many(corpora, 5, 3, 2, names=HOSTILE)
        made = check(partial(sections, scores=scores, runs=runs), document)
        assert set(HOSTILE) <= {row[0] for each in made for table in each.tables for row in table.rows}


@pytest.mark.slow
def test_a_thousand_runs_of_26_systems_on_82_corpora_take_less_than_four_seconds() -> None:
    document, scores, runs = many(82, 26, 20, 50)
    assert scores.height == 2_132_000
    start = time.process_time()
    made = sections(document, scores, runs)
    assert time.process_time() - start < 4
    assert len(made) == 5


def test_dev_and_test_of_many_corpora_are_set_against_each_other() -> None:
    document, scores, runs = many(8, 3, 2, 1)
    easier = [
        {**block, "part": "dev", "systems": [_raised(each, 0.02) for each in block["systems"]]}
        for block in document["blocks"]
    ]
    made = check(partial(sections, scores=scores, runs=runs), {**document, "blocks": [*easier, *document["blocks"]]})
    assert [each.heading for each in made[:2]] == ["8 corpora: accuracy on test", "8 corpora: accuracy on dev"]
    (gap,) = [each for each in made if each.heading == "Dev against test"]
    assert column(gap.tables[0], "dev less test, mean") == {f"system {i}": "+2.00" for i in range(3)}
    points = gap.figures[0].draw(WIDE).rows
    assert len(points) == 3 * 8
    assert all(float(str(dev)) - float(str(test)) == pytest.approx(2) for _, dev, test, _ in points)


def _raised(standing: dict[str, Any], by: float) -> dict[str, Any]:
    raised = {name: standing[name] + by for name in ("mean", "least", "most")}
    return {**standing, **raised, "by_split": [value + by for value in standing["by_split"]]}
