"""LaTeX of real results: every number in it is the result's own, rounded."""

import math
from pathlib import Path

import deadheat
from deadheat.paper.kit import latex_tables
from deadheat.questions.size import size
from deadheat.questions.study import PairOverSplits, Standing, StudyResult
from deadheat.ranking.size_samples import SizeSettings
from deadheat.report.model import Block
from tests.paper.checker import check


def test_sizes_show_mean_tau() -> None:
    gold = deadheat.read(text="a_X b_Y\n" * 60)
    good, bad = deadheat.read(text="a_X b_Y\n" * 60), deadheat.read(text="a_X b_Y\na_X b_X\na_Y b_Y\n" * 20)
    found = size(gold, {"good": good, "bad": bad}, settings=SizeSettings(sizes=(2, 20, 60), ways=("rand",)))
    (table,) = check(found.to_latex()).tables
    points = [point for point in found.sets[0].curves[0].points if not point.whole]
    assert table[0][2:] == [f"{point.size:,}" for point in points]
    assert table[1][2:] == ["-" if math.isnan(point.mean) else f"{point.mean:.3f}" for point in points]
    assert r"\textbf{" + table[1][3] + "}" in found.to_latex()  # 20 words are enough


def test_a_study_shows_its_standings_and_pairs() -> None:
    standings = (
        Standing("A", "accuracy.v1", 3, 0.91234, 0.00456, 0.90, 0.92, None),
        Standing("B", "accuracy.v1", 3, 0.90111, float("nan"), 0.89, 0.91, None),
    )
    pair = PairOverSplits("A", "B", "mcnemar-midp", 0.01123, 3, 3, 2, 0, (0.001, 0.002, 0.4), (0.003, 0.006, 1.0))
    block = Block("en", "random.v1", 0, "test", 3, ("accuracy.v1",), standings, (pair,), ())
    found = StudyResult("mine", (block,), "bonferroni", 0.05, 0)
    systems, pairs = check(found.to_latex()).tables
    assert systems[1:] == [["A", "91.23", "0.46", ""], ["B", "90.11", "-", "2 of 3"]]
    assert pairs[1] == ["A vs. B", "+1.12", "3 of 3", "2 of 3", "0 of 3", "0.0010", "0.4000"]
    assert list(latex_tables(found.to_dict())) == ["study-en-random-test", "study-pairs-en-random-test"]


def test_a_ranking_of_real_parsers_is_a_table_that_latex_can_read(shared_data: Path) -> None:
    found = deadheat.rank(shared_data / "scores" / "conll18_scores.csv.gz", metric="LAS", samples=2000)
    (table,) = check(found.to_latex()).tables
    told = found.to_dict()["systems"]
    assert [row[0] for row in table[1:]] == [each["system"] for each in told]
    assert [row[1] for row in table[1:]] == [f"{each['mean_score']:.2f}" for each in told]
    assert [row[4] for row in table[1:]] == [f"{each['mean']:.2f}" for each in told]
    assert table[1][:2] == ["HIT-SCIR (Harbin)", "75.84"]  # as published by the shared task
