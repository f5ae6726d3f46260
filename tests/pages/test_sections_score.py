from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from deadheat.pages.score import MOST_GROUPS, sections

from deadheat.corpus import Corpus, read
from deadheat.questions.score import Scores, score
from deadheat.testbed import built_in
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, texts


@pytest.fixture(scope="module")
def gold() -> Corpus:
    return read(text=built_in(sentences=200, seed=1).gold)


@pytest.fixture(scope="module")
def systems() -> dict[str, Corpus]:
    made = built_in(sentences=200, seed=1).predictions
    return {name: replace(read(text=text), name=name) for name, text in made.items()}


@pytest.fixture(scope="module")
def scores(gold: Corpus, systems: dict[str, Corpus]) -> Scores:
    return score(gold, list(systems.values()))


def test_the_table_has_the_scores_of_every_system_by_metric(scores: Scores) -> None:
    (made,) = check(sections, scores.to_dict())
    matrix, every = made.tables
    assert matrix.header[1:] == tuple(dict.fromkeys(row.metric.label for row in scores.rows))
    assert len(matrix.header) == 14
    for row in scores.rows:
        assert column(matrix, row.metric.label)[row.file] == f"{100 * row.value:.2f}"
    assert not matrix.folded
    assert every.folded
    for row, cells in zip(scores.rows, every.rows, strict=True):
        low, high = (f"{100 * bound:.2f}" for bound in row.interval.bounds)
        counts = [f"{count:,}" for count in (row.correct, row.gold, row.predicted)]
        assert list(cells) == [row.file, row.metric.label, f"{100 * row.value:.2f}", f"{low} to {high}", *counts]


def test_the_figures_are_of_the_usual_metrics_with_the_intervals_of_the_result(scores: Scores) -> None:
    charts = drawn(sections(scores.to_dict()))
    assert list(charts) == ["score-las", "score-uas", "score-upos"]
    expected = [
        {"name": row.file, "value": 100 * row.value, "low": 100 * row.interval.low, "high": 100 * row.interval.high}
        for row in scores.rows
        if row.metric.label == "LAS"
    ]
    assert rows(charts["score-las"]) == expected
    assert "95 % interval" in charts["score-las"].title


def test_metrics_that_are_not_usual_are_drawn_in_their_order(gold: Corpus, systems: dict[str, Corpus]) -> None:
    made = sections(score(gold, list(systems.values()), metrics=["clas", "mlas", "las", "blex"]).to_dict())
    assert list(drawn(made)) == ["score-las", "score-clas", "score-mlas"]


def test_one_file_needs_no_figure_and_shows_its_intervals(gold: Corpus, systems: dict[str, Corpus]) -> None:
    (made,) = check(sections, score(gold, systems["A"], level=0.9).to_dict())
    assert made.heading == "Scores of A"
    assert not made.figures
    (table,) = made.tables
    assert "90 % interval" in table.header
    assert not table.folded


def test_the_signature_and_the_notes_stand_below(gold: Corpus, systems: dict[str, Corpus]) -> None:
    bare = read(text=built_in(sentences=5, seed=1).gold)
    found = score(bare, bare, metrics=["las"], interval="bootstrap")
    assert found.notes
    (made,) = check(sections, found.to_dict())
    assert made.notes[-1] == found.signature
    assert set(found.notes) < set(made.notes)
    assert "Wilson" not in " ".join(made.notes)
    assert "Wilson" in " ".join(sections(score(gold, systems["A"]).to_dict())[0].notes)


def test_a_breakdown_is_sorted_by_size_and_its_figure_by_score(gold: Corpus, systems: dict[str, Corpus]) -> None:
    found = score(gold, list(systems.values()), by="relation")
    (made,) = check(sections, found.to_dict())
    assert made.heading == "LAS by relation"
    compact, every = made.tables
    sizes = {row.group: row.gold for row in found.rows}
    assert list(column(compact, "in gold").values()) == [f"{size:,}" for size in sorted(sizes.values(), reverse=True)]
    assert len(compact.rows) == len(sizes) > MOST_GROUPS
    for row in found.rows:
        assert column(compact, row.file)[row.group] == ("-" if row.value != row.value else f"{100 * row.value:.2f}")
    charts = drawn([made])
    assert list(charts) == ["score-las-relation-a", "score-las-relation-b", "score-las-relation-c"]
    values = [each["value"] for each in rows(charts["score-las-relation-a"])]
    assert values == sorted(values, reverse=True)
    assert len(values) <= MOST_GROUPS
    order = [each["name"] for each in rows(charts["score-las-relation-a"])]
    assert set(order) <= {row[0] for row in compact.rows[:MOST_GROUPS]}
    assert [each["name"] for each in rows(charts["score-las-relation-b"])] == order
    one = next(row for row in found.rows if row.group == order[0] and row.file == "A")
    cells = dict(zip(every.header, next(r for r in every.rows if r[0] == "A" and r[2] == order[0]), strict=True))
    assert (cells["precision"], cells["recall"]) == (f"{100 * one.precision:.2f}", f"{100 * one.recall:.2f}")


def test_groups_are_named_by_what_they_are(gold: Corpus, systems: dict[str, Corpus]) -> None:
    found = score(gold, systems["A"], by="genre", metrics=["las", "upos"])
    made = check(sections, found.to_dict())
    assert [each.heading for each in made] == ["LAS by genre", "UPOS by genre"]
    (table,) = section(made, "LAS").tables
    assert table.header[:3] == ("system", "metric", "genre")
    assert "precision" not in table.header


def test_scores_that_are_no_numbers_are_dashes_and_left_out_of_figures(
    gold: Corpus, systems: dict[str, Corpus]
) -> None:
    found = score(gold, list(systems.values()), metrics=["unknown(column='upos')", "las"], training=gold)
    (made,) = check(sections, found.to_dict())
    label = found.rows[0].metric.label
    assert set(column(made.tables[0], label).values()) == {"-"}
    document = found.to_dict()
    document["scores"][1]["value"] = None
    assert (document["scores"][1]["file"], document["scores"][1]["metric"]) == ("A", "LAS")
    charts = drawn(sections(document))
    assert [each["name"] for each in rows(charts["score-las"])] == ["B", "C"]
    assert list(charts) == ["score-las"]


def test_names_are_text_whatever_is_in_them(gold: Corpus, systems: dict[str, Corpus]) -> None:
    named = [replace(systems["A"], name=name) for name in HOSTILE]
    made = check(sections, score(gold, named, metrics=["las"]).to_dict())
    assert set(HOSTILE) <= set(texts(made))
    chart = drawn(made)["score-las"]
    assert [row[0] for row in chart.rows] == list(HOSTILE)
    assert "<script>" not in chart.marks


def test_a_group_without_a_name_has_one_on_the_page() -> None:
    row: dict[str, Any] = {"file": "a", "metric": "LAS", "value": 0.5, "low": 0.2, "high": 0.8}
    row |= {"correct": 1, "gold": 2, "predicted": 2}
    signature = "deadheat 0.1.0 | las.v1 | by genre | unit sentence | 0.95 bootstrap 1000 | seed 0"
    made = check(sections, {"kind": "score", "scores": [row, row | {"group": "news"}], "signature": signature})
    assert [cells[2] for cells in made[0].tables[0].rows] == ["(none)", "news"]
