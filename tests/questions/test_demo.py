"""The demo's story: what it makes, what it finds, and that it keeps to its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.errors import InputError
from deadheat.questions.demo import MARK, Demo, demo
from deadheat.study.plan.study_file import read_study
from deadheat.testbed import LANGUAGES, built_in
from tests.questions.report_cases import demonstrated as demonstrated


def test_it_has_six_languages_on_standard_splits_and_random_splits_of_the_first(demonstrated: Demo) -> None:
    result = demonstrated.study.to_dict()
    assert [each["corpus"] for each in result["corpora"]] == list(LANGUAGES)
    ways = {(block["corpus"], block["split"].partition(".")[0]): block["splits"] for block in result["blocks"]}
    first = next(iter(LANGUAGES))
    assert ways == {(first, "random"): 2} | {(name, "standard"): 1 for name in LANGUAGES}
    assert list(result["systems"].values()) == ["hmm", "perceptron", "loglinear", "lookahead"]
    assert (result["cells"], result["missing"], result["failed"]) == (8 * 6, 0, [])  # two of four taggers use seeds


def test_the_splits_that_are_shown_are_those_that_were_run(demonstrated: Demo) -> None:
    shown, plan = demonstrated.splits, demonstrated.study.plan
    cells = [each for each in plan.cells if each.split.startswith("random")]
    for number in (0, 1):
        cell = next(each for each in cells if each.number == number)
        parts = plan.partition(cell).parts
        assert {part: own.tolist() for part, own in shown.partitions[number].parts.items()} == {
            part: own.tolist() for part, own in parts.items()
        }


def test_the_ledger_is_the_demos_own_and_has_every_look(demonstrated: Demo) -> None:
    assert demonstrated.ledger.path == demonstrated.folder / "ledger.jsonl"
    tallies = demonstrated.ledger.tallies()
    assert [each.evaluations for each in tallies] == [6] * 8
    assert {each.test_set for each in tallies} == {each["hash"] for each in demonstrated.study.to_dict()["test_sets"]}


def test_the_truth_of_the_parsers_is_that_of_the_testbed(demonstrated: Demo) -> None:
    made = built_in(sentences=300, seed=0)
    assert demonstrated.truth == {name: each.las for name, each in made.truths.items()}
    assert demonstrated.truth["B"] == demonstrated.truth["C"] < demonstrated.truth["A"]
    gold = read(text=made.gold)
    assert demonstrated.parsers.units == gold.sentences == 300


def test_everything_that_it_writes_is_in_its_folder(demonstrated: Demo) -> None:
    assert {each.name for each in demonstrated.folder.parent.iterdir()} == {demonstrated.folder.name}
    study, text = read_study(demonstrated.folder / "demo.toml")
    assert text.startswith(MARK)
    assert study.seeds == 2


def test_a_folder_with_something_else_in_it_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    mine = tmp_path / "demo.toml"
    mine.write_text("name = 'my own study'\n")
    with pytest.raises(InputError) as refused:
        demo(tmp_path, sentences=300)
    told = "there already, and not made by an earlier demo; expected a new folder, or an empty one"
    assert str(refused.value) == f"{tmp_path}: {told}"
    assert [each.name for each in tmp_path.iterdir()] == ["demo.toml"]
    assert mine.read_text() == "name = 'my own study'\n"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file: cannot be made or read \(file exists\)"):
        demo(tmp_path / "file", sentences=300)
    with pytest.raises(InputError, match=r"cannot be made or read \(not a directory\)"):
        demo(tmp_path / "file" / "below", sentences=300)
