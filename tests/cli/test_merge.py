"""`deadheat merge`: what it prints, and how a study goes on from a merged store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadheat.study.plan.cells import DONE, Outcome, PartScores
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.study_cases import study_file
from tests.study.test_merging import files, made, scored
from tests.study.test_rescoring import ran


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with two stores, a.sqlite and b.sqlite, each of one split."""
    path = study_file(tmp_path, times=1)
    for name, seed in (("a", 0), ("b", 1)):
        ran(path, f"splits.seed={seed}", path=tmp_path / f"{name}.sqlite")
    return path


def test_pieces_become_one_store_that_can_be_reported_and_continued(
    commands: Commands, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(study.parent)
    merged = commands("merge", "a.sqlite", "b.sqlite", "--out", "all.sqlite")
    assert (merged.code, merged.err) == (0, "")
    assert merged.out.split("\n") == [
        "all.sqlite: 4 cells (2 in a.sqlite, 2 in b.sqlite)",
        "for its tests and verdict: deadheat run STUDY.toml --store all.sqlite "
        "(cells that are there are not trained again)",
        "",
    ]
    assert commands("verify", "all.sqlite").out.startswith("all.sqlite: unchanged (4 runs")
    page = commands("report", "all.sqlite", "--json")
    assert page.code == 0
    remark = "For tests and a verdict: deadheat run STUDY.toml --store all.sqlite (cells that are there"
    assert remark in (study.parent / "all.html").read_text()
    run = commands("run", study, "--store", "all.sqlite", "--quiet")
    assert run.err.startswith("note: 0 cells run, 2 already in the store; results in all.sqlite\nverdict: ")
    with Store.read("all.sqlite") as store:
        assert store.result() is not None
        assert store.study() == Plan.of(study).text


def test_a_conflict_ends_with_exit_code_2_unless_a_store_is_preferred(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for change, name in enumerate("ab"):
        made(tmp_path / f"{name}.db", *(scored(number, change=change) for number in range(12)))
    before = files(tmp_path)
    refused = commands("merge", "a.db", "b.db", "--out", "all.db")
    lines = refused.err.split("\n")
    assert (refused.code, refused.out, len(lines)) == (2, "", 13)
    assert lines[0].startswith("perceptron on split 0 of english, seed 0: upos.v1 on test differs: 0.")
    assert lines[10] == "2 more cells that differ"
    assert "--prefer STORE" in lines[11]
    assert files(tmp_path) == before
    merged = commands("merge", "a.db", "b.db", "--out", "all.db", "--prefer", "b.db", "--json")
    document = json.loads(merged.out)
    assert merged.code == 0
    assert len(document.pop("conflicts")) == 12
    assert len(document.pop("notes")) == 11
    assert document == {"path": "all.db", "cells": 12, "sources": {"a.db": 12, "b.db": 12}, "shared": 12, "failed": 0}


def test_mistakes_are_one_line(commands: Commands, study: Path) -> None:
    a, b = study.with_name("a.sqlite"), study.with_name("b.sqlite")
    assert "--out" in commands.refused("merge", a, b)
    assert f"{b}: exists already; expected a new name (--out)" in commands.refused("merge", a, b, "--out", b)
    assert f"{study}: not a store" in commands.refused("merge", a, study, "--out", study.with_name("c"))
    assert "1 store to merge" in commands.refused("merge", a, "--out", study.with_name("c"))


def test_a_system_in_a_conflict_has_its_label(commands: Commands, tmp_path: Path) -> None:
    path, a, b = study_file(tmp_path, "unigram", times=1), tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    path.write_text(path.read_text().replace("name = 'unigram'", "name = 'unigram'\nlabel = 'frequent'"))
    for store in (a, b):
        ran(path, path=store)
    with Store.open(b) as opened:
        [cell] = Plan.of(path).cells
        opened.replace(Outcome(cell, DONE, scores=(PartScores("test", 1, 2, {"accuracy.v1": 0.5}, {}),)))
    refused = commands("merge", a, b, "--out", tmp_path / "all.sqlite")
    assert refused.err.startswith("frequent on split 0 of small, seed 0: accuracy.v1 on test differs: 0.")
