"""The demo: what it writes and shows, and that it writes only into its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.errors import InputError
from deadheat.questions.demo import MARK, Demo, demo
from deadheat.results.study import StudyResult
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.study_file import read_study
from deadheat.study.store.store import Store
from deadheat.testbed import LANGUAGES, built_in
from tests.questions.report_cases import quick_demo as quick_demo


@pytest.fixture(scope="module")
def study(quick_demo: Demo) -> StudyResult:
    with Store.read(quick_demo.store) as store:
        result = store.result()
    assert result is not None
    return result


def test_it_has_six_languages_on_standard_splits_and_random_splits_of_the_first(study: StudyResult) -> None:
    assert [corpus.name for corpus in study.corpora] == list(LANGUAGES)
    first = next(iter(LANGUAGES))
    assert {(block.corpus, block.strategy): block.splits for block in study.blocks} == {
        (first, "random"): 2,
        **{(name, "standard"): 1 for name in LANGUAGES},
    }
    assert [system.label for system in study.systems] == ["hmm", "perceptron", "loglinear", "lookahead"]
    assert (study.cells, study.missing, study.failed) == (8 * 6, 0, ())  # two of four taggers use seeds


def test_the_splits_that_are_shown_are_those_that_were_run(quick_demo: Demo) -> None:
    plan = Plan.of(quick_demo.folder / "demo.toml")
    for number in (0, 1):
        cell = next(cell for cell in plan.cells if cell.split.startswith("random") and cell.number == number)
        shown, run = quick_demo.splits.partitions[number].parts, plan.partition(cell).parts
        assert {part: rows.tolist() for part, rows in shown.items()} == {part: run[part].tolist() for part in run}


def test_the_ledger_is_in_the_folder_and_has_every_evaluation(quick_demo: Demo, study: StudyResult) -> None:
    assert quick_demo.ledger.path == quick_demo.folder / "ledger.jsonl"
    tallies = quick_demo.ledger.tallies()
    assert [tally.evaluations for tally in tallies] == [6] * 8
    assert {tally.test_set for tally in tallies} == {test_set.hash for test_set in study.test_sets}


def test_the_truth_of_the_parsers_is_that_of_the_testbed(quick_demo: Demo) -> None:
    made = built_in(sentences=300, seed=0)
    assert quick_demo.truth == {name: truth.las for name, truth in made.truths.items()}
    assert quick_demo.truth["B"] == quick_demo.truth["C"] < quick_demo.truth["A"]
    gold = read(text=made.gold)
    (dataset,) = quick_demo.parsers.datasets
    assert dataset.sentences == gold.sentences == 300
    assert (dataset.unit, dataset.units) == ("document", len(set(gold.documents.tolist())))


def test_everything_that_it_writes_is_in_its_folder(quick_demo: Demo) -> None:
    assert {path.name for path in quick_demo.folder.parent.iterdir()} == {quick_demo.folder.name}
    study, text = read_study(quick_demo.folder / "demo.toml")
    assert text.startswith(MARK)
    assert study.seeds == 2


def test_a_folder_with_something_else_in_it_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    mine = tmp_path / "demo.toml"
    mine.write_text("name = 'my own study'\n")
    with pytest.raises(InputError) as refusal:
        demo(tmp_path, sentences=300)
    problem = "exists and is not from an earlier demo; expected a new folder, or an empty one"
    assert str(refusal.value) == f"{tmp_path}: {problem}"
    assert [path.name for path in tmp_path.iterdir()] == ["demo.toml"]
    assert mine.read_text() == "name = 'my own study'\n"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file: cannot be made or read \(file exists\)"):
        demo(tmp_path / "file", sentences=300)
    with pytest.raises(InputError, match=r"cannot be made or read \(not a directory\)"):
        demo(tmp_path / "file" / "below", sentences=300)
