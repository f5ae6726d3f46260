"""A metric or a prediction that is broken costs neither the training nor what other metrics say."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.study_cases import study_file

pytestmark = pytest.mark.usefixtures("own_code")
METRICS = """
from pathlib import Path

import numpy as np
from deadheat import Metric
from deadheat.metrics.metric import accuracy


def raises():
    def counts(pair):
        raise ValueError("not\\n today")
    return Metric("raises", "Raises", counts, accuracy, compares="upos")


def floats():
    return Metric("floats", "Floats", lambda pair: np.full((len(pair.units), 3), 0.5), accuracy, compares="upos")


def later():
    def counts(pair):
        if not Path("ready").exists():
            raise ValueError("not yet")
        return np.ones((len(pair.units), 3), int)
    return Metric("later", "Later", counts, accuracy, compares="upos")
"""
PARSERS = """
import deadheat
import numpy as np
from deadheat.corpus.transforms import with_labels, with_trees


class Parser:
    def __init__(self, head, label):
        self.head, self.label = head, label

    def predict(self, corpus):
        heads = np.ones(corpus.words, int)
        heads[corpus.offsets[:-1]] = 0
        heads[1] = self.head
        labels = ["root" if head == 0 else "dep" for head in heads]
        labels[2] = self.label
        return with_trees(corpus, heads, deadheat.Column.of(labels))


def parser(*, head: int = 1, label: str = "dep"):
    return deadheat.System("parser", lambda train, tune, seed: Parser(head, label), randomness="none", trees=True)


def nothing():
    class Nothing:
        def predict(self, corpus):
            return None
    return deadheat.System("nothing", lambda train, tune, seed: Nothing(), randomness="none")
"""


def study(folder: Path, systems: str = "majority unigram", metrics: str = "") -> Path:
    path = study_file(folder, systems, f"metrics = [{metrics}]", times=2)
    (folder / "met.py").write_text(METRICS)
    (folder / "parsers.py").write_text(PARSERS)
    return path


@pytest.mark.parametrize(("name", "problem"), [("raises", "line 11: ValueError: not today"), ("floats", "float64")])
@pytest.mark.parametrize("metrics", ['"accuracy", "met.py:{}"', '"met.py:{}", "accuracy"'])
def test_a_failing_metric_costs_no_training_and_no_other_scores(
    tmp_path: Path, commands: Commands, name: str, problem: str, metrics: str
) -> None:
    path = study(tmp_path, metrics=metrics.format(name))
    first = commands("run", path, "--quiet")
    assert first.code == 1
    assert f"majority on split 0 of small, seed 0: met.py:{name}: its counts" in first.err
    assert problem in first.err
    assert "4 cells run, 4 not scored by a metric that failed; results" in first.err
    assert f"met.py:{name}: 4 of 4 cells have no score by it" in first.err
    assert "unigram" in first.out
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert store.verify() == []
        assert set(store.scores()["metric"]) == {"accuracy.v1"}
    again = commands("run", path, "--quiet")
    assert again.code == 1
    assert "0 cells run, 4 not scored by a metric that failed; results" in again.err
    assert again.out == first.out


def test_a_metric_that_works_later_scores_what_is_stored(tmp_path: Path, commands: Commands) -> None:
    path = study(tmp_path, metrics='"accuracy", "met.py:later"')
    assert commands("run", path, "--quiet").code == 1
    (tmp_path / "ready").touch()
    again = commands("run", path, "--quiet")
    assert again.code == 0
    assert "0 cells run, 4 scored again; results" in again.err
    assert "have no score by it" not in again.err


def test_a_new_metric_that_fails_hides_no_results(tmp_path: Path, commands: Commands) -> None:
    path = study(tmp_path, metrics='"accuracy"')
    before = commands("run", path, "--quiet")
    after = commands("run", path, "--quiet", "--set", 'metrics=["accuracy", "met.py:raises"]')
    assert after.code == 1
    assert after.out == before.out
    assert "The study has no results yet" not in after.err


@pytest.mark.parametrize(
    ("system", "problem"),
    [
        ("parsers.py:parser(head=55)", "sentence 1: head 55 of word 2 is outside the sentence; expected at most "),
        (r"parsers.py:parser(label='N\tX')", r"sentence 1: deprel 'N\tX' of word 3 has a tab or a line break"),
        (r"parsers.py:parser(label='N\n')", r"sentence 1: deprel 'N\n' of word 3 has a tab or a line break"),
        ("parsers.py:parser(head=2)", "the prediction cannot be read back ("),
        ("parsers.py:nothing", "predict returned 'NoneType'; expected a corpus"),
    ],
)
def test_predictions_that_cannot_be_read_back_fail(
    tmp_path: Path, commands: Commands, system: str, problem: str
) -> None:
    path = study(tmp_path, "majority")
    path.write_text(path.read_text().replace("'majority'", f"'''{system}'''"))
    outcome = commands("run", path, "--quiet")
    assert outcome.code == 1
    assert problem in outcome.err
    assert "it runs again" not in outcome.err
    assert "verdict: All 2 cells failed." in outcome.err
    assert "0 cells run, 2 failed before" in commands("run", path, "--quiet").err
