"""The files of a study reach a node as they are, once, and mean the same there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from deadheat.errors import InputError
from deadheat.study.cluster.packing import KEPT_S, Package, Unpacked, pack, remove_unused
from deadheat.study.plan.plan import Plan
from tests.study.cluster.cluster_cases import cluster_study
from tests.study.study_cases import corpus_text


class Objects:
    """Where a cluster keeps data, by reference."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self.fetched = 0

    def put(self, value: bytes) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def get(self, references: Sequence[Any]) -> list[bytes]:
        self.fetched += 1
        return [self.values[reference] for reference in references]


@pytest.fixture
def objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Objects]:
    """A node with an empty folder for temporary files."""
    node = tmp_path / "node"
    node.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(node))
    yield Objects()
    assert not list(node.glob("*-new-*")), "unfinished files are left"


def keys(plan: Plan) -> list[str]:
    return [cell.key for cell in plan.cells]


def unpacked_plan(package: Package, objects: Objects) -> tuple[Plan, Path]:
    unpacked = Unpacked(package, objects.get)
    try:
        return Plan.of(unpacked.folder / package.study, package.overrides), unpacked.folder
    finally:
        unpacked.close()


def test_a_study_with_own_code_and_programs_is_the_same_on_a_node(tmp_path: Path, objects: Objects) -> None:
    path = cluster_study(tmp_path / "study", "unigram mine.py:tagger", "metrics = ['accuracy', 'mine.py:right']\n")
    path.write_text(path.read_text() + "[[systems]]\nname = 'command'\npredict = 'sh noun.sh'\n")
    (path.parent / "noun.sh").chmod(0o700)
    plan = Plan.of(path)
    package = pack(plan, objects.put)
    assert {file.path for file in package.files} == {"study.toml", "small.conllu", "mine.py", "rules.py", "noun.sh"}
    copy, folder = unpacked_plan(package, objects)
    assert keys(copy) == keys(plan)
    assert copy.text == plan.text
    assert (folder / "noun.sh").stat().st_mode & 0o777 == 0o700
    assert (folder / "mine.py").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["../data/en", "{absolute}/data/en", "../data/*/*.conllu"])
def test_corpora_outside_the_folder_are_found_on_a_node(tmp_path: Path, objects: Objects, name: str) -> None:
    path = cluster_study(tmp_path / "study")
    corpus = tmp_path / "data" / "en"
    corpus.mkdir(parents=True)
    for seed, part in enumerate(("train", "dev", "test")):
        (corpus / f"en-{part}.conllu").write_text(corpus_text(10, seed))
    (corpus / "README.txt").write_text("no corpus\n")
    path.write_text(path.read_text().replace("small.conllu", name.format(absolute=tmp_path)))
    plan = Plan.of(path)
    package = pack(plan, objects.put)
    assert "data/en/README.txt" not in {file.path for file in package.files}
    assert keys(unpacked_plan(package, objects)[0]) == keys(plan)


def test_files_that_programs_read_are_sent_if_the_study_names_them(tmp_path: Path, objects: Objects) -> None:
    path = cluster_study(tmp_path / "study")
    (path.parent / "models" / "small").mkdir(parents=True)
    (path.parent / "models" / "small" / "weights").write_bytes(bytes(range(256)))
    path.write_text(path.read_text() + "[engine]\nfiles = ['models']\n")
    _, folder = unpacked_plan(pack(Plan.of(path), objects.put), objects)
    assert (folder / "models" / "small" / "weights").read_bytes() == bytes(range(256))
    path.write_text(path.read_text().replace("['models']", "['modells']"))
    with pytest.raises(InputError, match=r"engine.files: modells: no such file or folder"):
        pack(Plan.of(path), objects.put)


def test_files_travel_once_and_again_if_they_were_changed_on_the_node(tmp_path: Path, objects: Objects) -> None:
    package = pack(Plan.of(cluster_study(tmp_path / "study")), objects.put)
    _, folder = unpacked_plan(package, objects)
    unpacked_plan(package, objects)
    assert objects.fetched == 1
    (folder / "small.conllu").write_text("changed")
    assert unpacked_plan(package, objects)[1] == folder
    assert objects.fetched == 2
    assert (folder / "small.conllu").read_text() == corpus_text(30)


def test_damaged_data_is_refused(tmp_path: Path, objects: Objects) -> None:
    package = pack(Plan.of(cluster_study(tmp_path / "study")), objects.put)
    objects.values[0], objects.values[1] = objects.values[1], objects.values[0]
    with pytest.raises((InputError, ValueError)):
        Unpacked(package, objects.get)


def test_files_that_nobody_uses_are_removed_after_a_day(tmp_path: Path, objects: Objects) -> None:
    package = pack(Plan.of(cluster_study(tmp_path / "study")), objects.put)
    used = Unpacked(package, objects.get)
    parent = used.folder.parent
    os.utime(used.folder, (0, 0))
    remove_unused(parent)
    assert used.folder.exists()
    used.close()
    os.utime(used.folder)
    remove_unused(parent)
    assert used.folder.exists()
    os.utime(used.folder, (KEPT_S, KEPT_S))
    remove_unused(parent)
    assert not used.folder.exists()
