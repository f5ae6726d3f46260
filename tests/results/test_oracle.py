"""The oracle is right wherever some system is right."""

import math
from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.metrics import METRICS
from deadheat.questions.pairwise import agreement
from deadheat.results.compare import Agreement
from deadheat.results.oracle import oracle_row
from deadheat.results.study import StudyBlock, SystemScores


def block(*oracles: float, metric: str = "accuracy.v1", labels: str = "upos") -> StudyBlock:
    rows = tuple(SystemScores(name, metric, len(oracles), 0.5, 0.1, 0.4, 0.6) for name in "AB")
    agreed = tuple(Agreement(labels, 0.5, value, math.nan) for value in oracles)
    return StudyBlock("x", "random.v1", 0, "test", tuple(range(len(oracles))), (metric,), rows, agreement=agreed)


def test_its_score_is_the_mean_over_splits() -> None:
    row = oracle_row(block(0.9, 0.8, 1.0))
    assert row is not None
    assert (row.system, row.metric, row.runs, row.min, row.max) == ("oracle", "accuracy.v1", 3, 0.8, 1.0)
    assert row.mean == pytest.approx(0.9)
    assert row.sd == pytest.approx(0.1)
    assert row.by_split == (0.9, 0.8, 1.0)


def test_a_single_split_has_no_standard_deviation() -> None:
    row = oracle_row(block(0.75))
    assert row is not None
    assert row.mean == 0.75
    assert math.isnan(row.sd)


def test_there_is_none_for_other_metrics_and_other_labels() -> None:
    assert oracle_row(block(0.9, metric="las.v1", labels="head and relation")) is None
    assert oracle_row(block(0.9, labels="xpos")) is None
    assert oracle_row(block(0.9, metric="accuracy.v1(column='xpos')", labels="xpos")) is not None
    assert oracle_row(block()) is None
    assert oracle_row(block(math.nan)) is None


def test_by_hand(tmp_path: Path) -> None:
    """Of four words, the first system has one right, the second another, and nobody the other two."""
    rows = {"gold": "NVAD", "A": "NXXX", "B": "XVXX"}
    corpora = {}
    for name, tags in rows.items():
        lines = [f"{i}\tw\tw\t{tag}\t_\t_\t{int(i > 1)}\tdep\t_\t_" for i, tag in enumerate(tags, 1)]
        path = tmp_path / f"{name}.conllu"
        path.write_text("\n".join(lines).replace("0\tdep", "0\troot") + "\n\n")
        corpora[name] = read(path)
    gold = corpora.pop("gold")
    agreed = agreement(gold, corpora, METRICS.make("accuracy"))
    assert agreed is not None
    row = oracle_row(block(agreed.oracle, labels=agreed.labels))
    assert row is not None
    assert row.mean == 0.5
