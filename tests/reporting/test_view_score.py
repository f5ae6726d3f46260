"""What a reader sees of scores, whole or broken down."""

import math
from dataclasses import replace
from typing import Any

import pytest

from deadheat.corpus import Corpus, read
from deadheat.questions.score import score
from deadheat.reporting.model import Note, Table
from deadheat.reporting.terminal import render
from deadheat.reporting.views import brief_view, headline, view
from deadheat.reporting.views.score import GROUPS, LONG
from deadheat.results.score import Score, Scores
from deadheat.testbed import built_in
from tests.reporting.blocks import column, data, drawn, headings, rows, tables


@pytest.fixture(scope="module")
def gold() -> Corpus:
    return read(text=built_in(sentences=200, seed=1).gold)


@pytest.fixture(scope="module")
def systems() -> list[Corpus]:
    predictions = built_in(sentences=200, seed=1).predictions
    return [replace(read(text=text), name=name) for name, text in predictions.items()]


@pytest.fixture(scope="module")
def scores(gold: Corpus, systems: list[Corpus]) -> Scores:
    return score(gold, systems)


def bounds(row: Score) -> str:
    return f"[{100 * row.interval.low:.2f}, {100 * row.interval.high:.2f}]"


def test_tables_have_every_score_with_its_interval_and_counts(scores: Scores) -> None:
    matrix, every = tables(view(scores))
    assert [item.heading for item in matrix.columns[1:]] == list(dict.fromkeys(row.metric for row in scores.rows))
    for row, cells in zip(scores.rows, rows(every), strict=True):
        assert column(matrix, row.metric)[row.system] == f"{100 * row.value:.2f}"
        counts = [f"{number:,}" for number in (row.correct, row.gold, row.predicted)]
        assert cells == [row.system, row.metric, f"{100 * row.value:.2f}", bounds(row), *counts]
    assert (matrix.name, every.name) == ("scores", "")
    best = max((row for row in scores.rows if row.metric == "LAS"), key=lambda row: row.value)
    assert headline(scores) == f"{best.system} has the highest LAS: {100 * best.value:.2f} (95% CI {bounds(best)})."


def test_figures_are_of_the_usual_metrics(scores: Scores, gold: Corpus, systems: list[Corpus]) -> None:
    charts = drawn(view(scores))
    assert list(charts) == ["score-las", "score-uas", "score-upos"]
    assert data(charts["score-las"]) == [
        {"name": row.system, "value": 100 * row.value, "low": 100 * row.interval.low, "high": 100 * row.interval.high}
        for row in scores.rows
        if row.metric == "LAS"
    ]
    others = score(gold, systems, metrics=["clas", "mlas", "las", "blex"])
    assert list(drawn(view(others))) == ["score-las", "score-clas", "score-mlas"]


def test_a_terminal_shows_all_rows_and_no_more(scores: Scores) -> None:
    assert brief_view(scores) == (view(scores)[0], replace(tables(view(scores))[1]), view(scores)[-1])
    assert str(scores) == render(brief_view(scores))


def test_one_system_needs_no_figure(gold: Corpus, systems: list[Corpus]) -> None:
    single = score(gold, systems[:1], metrics=["las"], level=0.9)
    (table,) = tables(view(single))
    assert (drawn(view(single)), table.name) == ({}, "scores")
    assert "90% CI" in [item.heading for item in table.columns]
    assert headline(single) == f"A has LAS {100 * single.rows[0].value:.2f} (90% CI {bounds(single.rows[0])})."


def test_notes_say_which_intervals_there_are(gold: Corpus, systems: list[Corpus]) -> None:
    def note(**settings: Any) -> str:
        (note,) = [block for block in view(score(gold, systems[:1], **settings)) if isinstance(block, Note)]
        return str(note.text)

    jackknife = "by the jackknife over {}, in Wilson's form"
    assert note() == (
        f"Intervals are {jackknife.format('documents')}: documents are independent of each other, and words within "
        "them need not be."
    )
    assert note(unit="sentence").startswith(f"Intervals are {jackknife.format('sentences')}: ")
    assert note(interval="bootstrap", unit="sentence") == "Bootstrap intervals resample sentences."
    assert note(interval="bootstrap") == "Bootstrap intervals resample documents."
    assert note(interval="wilson") == (
        "Scores that are proportions have Wilson's interval, which treats words as independent of each other; other "
        f"intervals are {jackknife.format('documents')}."
    )


def test_a_breakdown_begins_with_large_groups_and_draws_the_best_first(gold: Corpus, systems: list[Corpus]) -> None:
    result = score(gold, systems, by="relation")
    every, compact = tables(view(result))
    assert headings(view(result)) == ["LAS by relation"]
    sizes = {row.group: row.gold for row in result.rows}
    assert list(column(compact, "in gold").values()) == [f"{size:,}" for size in sorted(sizes.values(), reverse=True)]
    assert len(compact.rows) == len(sizes) > GROUPS
    for row, cells in zip(result.rows, rows(every), strict=True):
        shown = ["-" if math.isnan(value) else f"{100 * value:.2f}" for value in (row.value, row.precision, row.recall)]
        assert column(compact, row.system)[row.group] == shown[0]
        assert (cells[2], cells[3], *cells[5:7]) == (row.group, *shown)
    charts = drawn(view(result))
    assert list(charts) == ["score-las-relation-a", "score-las-relation-b", "score-las-relation-c"]
    values = [row["value"] for row in data(charts["score-las-relation-a"])]
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]
    names = [[row["name"] for row in data(chart)] for chart in charts.values()]
    assert names[0] == names[1]
    assert set(names[0]) <= set(list(column(compact, "in gold"))[:GROUPS])
    best = max(result.rows, key=lambda row: -1 if math.isnan(row.value) else row.value)
    assert headline(result).startswith(f"{best.system} has the highest LAS on {best.group}: {100 * best.value:.2f}")


def test_a_group_without_a_name_has_one_on_the_page(gold: Corpus, systems: list[Corpus]) -> None:
    result = score(gold, systems[:1], by="genre", metrics=["las"])
    unnamed = replace(result, rows=(replace(result.rows[0], group=""), *result.rows[1:]))
    assert rows(tables(view(unnamed))[0])[0][2] == "(none)"
    assert "precision" not in [item.heading for item in tables(view(result))[0].columns]


def test_what_has_no_score_is_a_dash_and_not_drawn(scores: Scores, gold: Corpus, systems: list[Corpus]) -> None:
    missing = score(gold, systems, metrics=["unknown(column='upos')"], train=gold)
    label = missing.rows[0].metric
    assert set(column(tables(view(missing))[0], label).values()) == {"-"}
    assert headline(missing) == f"There is nothing to score by {label}."
    first = next(at for at, row in enumerate(scores.rows) if row.metric == "LAS")
    changed = replace(scores.rows[first], value=math.nan)
    partly = replace(scores, rows=(*scores.rows[:first], changed, *scores.rows[first + 1 :]))
    assert [row["name"] for row in data(drawn(view(partly))["score-las"])] == ["B", "C"]
    assert headline(replace(scores, rows=())) == "Nothing was scored."


def test_systems_with_the_same_score_are_both_named() -> None:
    corpus = read(text="a_X b_Y\n" * 9)
    same = score(corpus, [replace(corpus, name=name) for name in ("p", "q")])
    assert headline(same).startswith(f"p and q have the same {same.rows[0].metric}, the highest: 100.00 (")


def test_many_scores_of_several_systems_are_systems_by_metrics(scores: Scores) -> None:
    assert len(scores.rows) > LONG
    verdict, matrix, hint, signature = brief_view(scores, full=False)
    assert (verdict, signature) == (view(scores)[0], view(scores)[-1])
    assert isinstance(matrix, Table)
    assert rows(matrix) == rows(tables(view(scores))[0])
    assert f"all {len(scores.rows)} scores: --full" in render([hint])
    alone = replace(scores, rows=tuple(row for row in scores.rows if row.system == scores.rows[0].system))
    assert brief_view(alone, full=False) == brief_view(alone)
