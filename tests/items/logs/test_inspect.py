"""Logs of Inspect, made here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from deadheat.errors import InputError
from deadheat.items.logs.read import is_log, read_logs
from deadheat.items.options import ATTEMPTS
from deadheat.items.table import ItemTable
from tests.items.logs.samples import inspect_header, inspect_members, inspect_sample, scores, write_json, write_zip

SAMPLES = [
    inspect_sample("q0", {"match": "C", "graded": {"f1": 0.5, "chars": 3}}, passage="p0", topic="x"),
    inspect_sample("q1", {"match": "P", "graded": {"f1": 1, "chars": 4}}, passage="p0", topic="y"),
    inspect_sample("q2", {"match": "I", "graded": {"f1": math.nan, "chars": None}}, passage="p1", topic="x"),
    inspect_sample("q3", {}, passage="p1", topic="y"),  # errored
]


def log(path: Path, samples: Any = SAMPLES, *, zstd: bool = False, **header: str) -> Path:
    members = inspect_members(inspect_header(header.pop("model", "m/a"), **header), samples)
    return write_zip(path, members, zstd=zstd)


def read_members(path: Path, members: Mapping[str, bytes], *, partial: bool = False) -> ItemTable:
    return read_logs(write_zip(path, members), partial=partial)


@pytest.mark.parametrize("form", ["deflate", "zstd", "json"])
def test_grades_numbers_and_dictionaries_are_scores(tmp_path: Path, form: str) -> None:
    header = inspect_header("m/a", cluster="passage")
    if form == "json":
        path = write_json(tmp_path / "x.json", header | {"samples": SAMPLES})
    else:
        path = log(tmp_path / "x.eval", zstd=form == "zstd", cluster="passage")
    assert is_log(path)
    table = read_logs(path)
    assert (table.tasks, table.systems) == (["sums"], ["m/a"])
    assert scores(table, "match") == [1.0, 0.5, 0.0, None]
    assert scores(table, "graded.f1") == [0.5, 1.0, None, None]
    assert scores(table, "graded.chars") == [3.0, 4.0, None, None]
    assert table.cluster == "passage"
    assert table.frame.filter(metric="match")["cluster"].to_list() == ["p0", "p0", "p1", "p1"]
    assert table.fields == ("topic",)


def test_epochs_are_attempts(tmp_path: Path) -> None:
    samples = [
        inspect_sample(name, {"match": "C" if epoch == 2 else "I"}, epoch=epoch)
        for epoch in (1, 2)
        for name in ("q0", "q1")
    ]
    table = read_logs(log(tmp_path / "x.eval", samples))
    assert table.repeats == ATTEMPTS
    assert scores(table, repeat="1") == [0.0, 0.0]
    assert scores(table, repeat="2") == [1.0, 1.0]


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_run_that_did_not_finish_is_read_on_request_only(tmp_path: Path, status: str) -> None:
    path = log(tmp_path / "x.eval", status=status)
    with pytest.raises(InputError, match=rf"x\.eval: the run did not finish \(status {status}\); expected success"):
        read_logs(path)
    table = read_logs(path, partial=True)
    assert len(scores(table, "match")) == 4
    assert f"status {status}" in table.notes[0]


def test_a_killed_run_has_a_journal_only(tmp_path: Path) -> None:
    members = inspect_members(inspect_header("m/a"), SAMPLES)
    del members["header.json"], members["summaries.json"]
    for number, part in ((10, SAMPLES[2:]), (9, SAMPLES[:2])):
        members[f"_journal/summaries/{number}.json"] = json.dumps(part).encode()
    with pytest.raises(InputError, match=r"status started"):
        read_members(tmp_path / "x.eval", members)
    table = read_members(tmp_path / "y.eval", members, partial=True)
    assert table.frame["item"].unique(maintain_order=True).to_list() == ["q0", "q1", "q2", "q3"]


def test_without_samples_the_mean_over_epochs_is_taken(tmp_path: Path) -> None:
    reductions = [
        {"scorer": "match", "reducer": "pass_at_2", "samples": [{"sample_id": "q0", "value": 0.9}]},
        {"scorer": "match", "reducer": "mean", "samples": [{"sample_id": "q0", "value": 0.75}]},
        {"scorer": "graded", "reducer": "mean", "samples": [{"sample_id": "q0", "value": {"f1": 0.25}}]},
    ]
    members = inspect_members(inspect_header("m/a", cluster="passage"), [])
    table = read_members(tmp_path / "x.eval", members | {"reductions.json": json.dumps(reductions).encode()})
    assert (scores(table, "match"), scores(table, "graded.f1")) == ([0.75], [0.25])
    assert "no passage" in table.notes[0]


def test_clusters_too_long_for_the_summaries_are_read_from_the_samples(tmp_path: Path) -> None:
    long = "text " * 500
    samples = [inspect_sample(f"q{number}", {"match": "C"}, passage=f"{number // 2} {long}") for number in range(4)]
    members = inspect_members(inspect_header("m/a", cluster="passage"), samples)
    thin = [one | {"metadata": {}} for one in samples]
    members["summaries.json"] = json.dumps(thin).encode()
    clusters = read_members(tmp_path / "x.eval", members).frame["cluster"]
    assert clusters.n_unique() == 2
    assert clusters[0] == clusters[1] != clusters[2] == clusters[3]
    assert clusters.str.len_chars().max() < 200  # type: ignore[operator]


def test_a_cluster_in_the_results_is_found_too(tmp_path: Path) -> None:
    header = inspect_header("m/a")
    metrics = {"stderr": {"name": "stderr", "value": 0.1, "params": {"cluster": "passage"}}}
    header["results"] = {"scores": [{"name": "match", "metrics": metrics}]}
    table = read_members(tmp_path / "x.eval", inspect_members(header, SAMPLES))
    assert (table.cluster, table.fields) == ("passage", ("topic",))


def test_values_that_are_no_numbers_are_left_out_with_a_note(tmp_path: Path) -> None:
    samples = [inspect_sample("q0", {"kind": "refused", "match": "yes"}), inspect_sample("q1", {"match": "0.5"})]
    table = read_logs(log(tmp_path / "x.eval", samples))
    assert scores(table, "match") == [1.0, 0.5]
    assert table.notes == ("metric kind left out: its values are not numbers, such as 'refused'",)


def test_the_older_form_with_one_score_is_read(tmp_path: Path) -> None:
    samples = [{"id": 1, "epoch": 1, "score": {"value": "C"}}, {"id": 2, "epoch": 1, "score": {"value": "I"}}]
    table = read_logs(write_json(tmp_path / "x.json", inspect_header("m/a") | {"samples": samples}))
    assert (table.metric_names, scores(table)) == (["score"], [1.0, 0.0])


def test_the_same_run_in_two_files_is_refused(tmp_path: Path) -> None:
    log(tmp_path / "x.eval", eval_id="e1")
    write_json(tmp_path / "y.json", inspect_header("m/a", eval_id="e1") | {"samples": SAMPLES})
    with pytest.raises(InputError, match=r"y\.json: the same log as .*x\.eval; expected every log once"):
        read_logs(tmp_path)


def test_tasks_without_declared_clusters_have_their_items_as_clusters(tmp_path: Path) -> None:
    log(tmp_path / "x.eval", cluster="passage")
    log(tmp_path / "y.eval", task="other")
    frame = read_logs(tmp_path).frame.filter(metric="match")
    assert frame.filter(task="sums")["cluster"].to_list() == ["p0", "p0", "p1", "p1"]
    assert frame.filter(task="other")["cluster"].to_list() == ["q0", "q1", "q2", "q3"]
