"""A testbed on disk, and the corpus of the demo."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.testbed import BUILT_IN_SYSTEMS, LANGUAGES, SimulatedSystem, built_in, simulate, truth, write_testbed
from deadheat.testbed.corpus import treebank
from tests.testbed.checker import characters, read

SYSTEMS = (SimulatedSystem("one", uas=0.8), SimulatedSystem("two", tokens=0.9))


def test_a_testbed_has_treebanks_predictions_and_the_truth(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "testbed"
    written = write_testbed(folder, sentences=200, seed=3, languages=["velani", "dzari"], systems=SYSTEMS, seeds=(0, 5))
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(written)
    parts = treebank("dzari", sentences=200, seed=3)
    assert (folder / "dzari" / "dzari-ud-train.conllu").read_bytes() == parts.train.encode()
    assert (folder / "dzari" / "dzari-ud-dev.conllu").read_bytes() == parts.dev.encode()
    test = (folder / "dzari" / "dzari-ud-test.conllu").read_text(encoding="utf-8")
    assert test == parts.test
    predicted = (folder / "dzari" / "predictions" / "two.seed5.conllu").read_text(encoding="utf-8")
    assert predicted == simulate(test, SYSTEMS[1], seed=5, shared_seed=3)
    message = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert message["systems"]["one"]["settings"]["uas"] == 0.8
    assert message["systems"]["one"]["truth"]["5"]["las"] == truth(SYSTEMS[0], seed=5).las
    assert message["languages"].keys() == {"velani", "dzari"}


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("mine")
    with pytest.raises(InputError, match="the folder is not empty; expected"):
        write_testbed(tmp_path, sentences=200, languages=["velani"])
    assert list(tmp_path.iterdir()) == [note]
    written = write_testbed(tmp_path, sentences=200, languages=["velani"], systems=SYSTEMS, seeds=[0], overwrite=True)
    assert note.read_text() == "mine"
    assert len(written) == 6
    with pytest.raises(InputError, match="not a folder"):
        write_testbed(note, sentences=200)


def test_systems_and_languages_are_named_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="systems: one, one; expected one or more, each once"):
        write_testbed(tmp_path, sentences=200, systems=[SYSTEMS[0], SYSTEMS[0]])
    with pytest.raises(InputError, match="languages: none; expected one or more, each once"):
        write_testbed(tmp_path, sentences=200, languages=[])
    with pytest.raises(InputError, match="language 'elvish' is unknown"):
        write_testbed(tmp_path, sentences=200, languages=["elvish"])
    assert list(tmp_path.iterdir()) == []


def test_a_custom_language_can_be_written(tmp_path: Path) -> None:
    own = replace(LANGUAGES["velani"], name="own", mean_length=5.0)
    write_testbed(tmp_path, sentences=200, languages=[own], systems=SYSTEMS, seeds=[0])
    assert (tmp_path / "own" / "own-ud-test.conllu").exists()


def test_the_demo_has_a_winner_and_a_dead_heat() -> None:
    demo = built_in(sentences=300, seed=1)
    assert list(demo.predictions) == ["A", "B", "C"] == [system.name for system in BUILT_IN_SYSTEMS]
    assert 0.009 < demo.truths["A"].las - demo.truths["B"].las < 0.012
    assert demo.truths["B"] == demo.truths["C"]
    assert demo.predictions["B"] != demo.predictions["C"]
    gold = read(demo.gold)
    assert len(gold) == 300
    for text in demo.predictions.values():
        assert characters(read(text)) == characters(gold)
