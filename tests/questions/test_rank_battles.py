"""Rankings by battles: tables as arenas write them, and what a reader sees."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.questions.rank_battles import rank_battles
from deadheat.reporting.views import headline, view
from deadheat.results.base import from_json
from deadheat.results.verdict import State
from tests.reporting.blocks import rows, tables
from tests.results.samples import sample_battles

Row = dict[str, object]


def battles(a: str, b: str, wins: int, ties: int, losses: int, start: int = 0) -> list[Row]:
    winners = ["model_a"] * wins + ["tie"] * ties + ["model_b"] * losses
    return [
        {"model_a": a, "model_b": b, "winner": winner, "prompt_id": start + at} for at, winner in enumerate(winners)
    ]


def test_two_systems_by_hand() -> None:
    result = rank_battles(battles("A", "B", 60, 20, 20))
    (pair,) = result.pairs
    assert pair.difference == pytest.approx(400 * math.log10(7 / 3))
    assert [row.strength for row in result.systems] == pytest.approx([pair.difference / 2, -pair.difference / 2])
    assert (result.systems[0].wins, result.systems[0].ties, result.systems[0].losses) == (60, 20, 20)
    assert (result.met[0].wins, result.met[0].ties, result.met[0].losses) == (60, 20, 20)
    assert result.met[0].expected == pytest.approx(0.7)
    assert (result.battles, result.clusters, result.cluster) == (100, 100, "prompt")
    assert headline(result) == "A is better than B by 147.2 in strength (95% CI [+80.9, +213.5], p = 2.7e-05)."


def test_every_word_for_an_outcome_means_the_same() -> None:
    rng = np.random.default_rng(0)
    spellings = {
        "model_a": ["model_a", "A", "Model_A", "system_a", "x"],
        "model_b": ["model_b", "b", "MODEL_B", "y"],
        "tie": ["tie", "tie (bothbad)", "Tie (BothBad)", "both_bad", "draw"],
    }
    plain = battles("x", "y", 30, 10, 20)
    spelled = [row | {"winner": rng.choice(spellings[str(row["winner"])])} for row in plain]
    assert rank_battles(spelled) == rank_battles(plain)


def test_pairs_are_corrected_together_and_intervals_agree() -> None:
    rows_ = [*battles("A", "B", 40, 5, 20), *battles("B", "C", 35, 0, 25, 100), *battles("A", "C", 30, 2, 15, 200)]
    result = rank_battles(rows_)
    assert len(result.pairs) == 3
    for pair in result.pairs:
        assert pair.p_corrected >= pair.p
        assert (pair.p_corrected <= 0.05) == (pair.interval.low > 0 or pair.interval.high < 0)
        assert (pair.winner(0.05) != "") == (pair.state(0.05) is State.SHOWN)
    loose = rank_battles(rows_, correction="none")
    assert [pair.p for pair in loose.pairs] == [pair.p_corrected for pair in loose.pairs]
    assert result.verdict.claims[0].evidence[0].source == "prompts"
    assert set(result.tied) == {"A"} | {pair.b for pair in result.pairs if pair.a == "A" and pair.p_corrected > 0.05}


def test_battles_with_the_same_prompt_are_not_independent() -> None:
    rows_ = battles("A", "B", 60, 0, 40)
    shared = [row | {"prompt_id": at // 5} for at, row in enumerate(rows_)]
    alone, together = rank_battles(rows_), rank_battles(shared)
    assert together.clusters == 20
    assert together.pairs[0].interval.high > alone.pairs[0].interval.high
    by_judge = rank_battles([row | {"judge": f"j{at % 4}"} for at, row in enumerate(rows_)], cluster="judge")
    assert (by_judge.cluster, by_judge.clusters) == ("judge", 4)
    bare = [{key: row[key] for key in ("model_a", "model_b", "winner")} for row in rows_]
    assert rank_battles(bare).cluster == "battle"
    assert "battles are taken to be independent" in rank_battles(bare).notes[0]


def test_a_system_that_wins_or_loses_everything_is_left_out_and_changes_nothing() -> None:
    rows_ = [*battles("A", "B", 40, 5, 20), *battles("B", "C", 30, 5, 30, 100)]
    more = [*rows_, *battles("best", "A", 10, 0, 0, 200), *battles("B", "worst", 7, 0, 0, 300)]
    result, plain = rank_battles(more), rank_battles(rows_)
    assert set(result.unbounded) == {"best", "worst"}
    assert [row.strength for row in result.systems] == pytest.approx([row.strength for row in plain.systems])
    assert "2 systems (worst and best) left out, since strengths have no bound" in result.notes[0]


@pytest.mark.parametrize(
    ("rows_", "message"),
    [
        (battles("A", "A", 3, 0, 3), "the table: row 1: A against itself; expected two systems"),
        ([*battles("A", "B", 1, 0, 1), *battles("A", "B", 1, 0, 0)[:1]], ""),
        ([*battles("A", "B", 2, 0, 2), *battles("C", "D", 2, 0, 2)], "systems that never met, not even over others"),
        (battles("A", "B", 5, 0, 0), "every system won or lost all of its battles against others"),
        (
            [battles("A", "B", 1, 0, 0)[0] | {"winner": "nobody"}],
            "row 1: winner 'nobody'; expected model_a, model_b, tie",
        ),
        ([battles("A", "B", 1, 0, 0)[0] | {"winner": None}], "row 1: no winner"),
        ([{"model_a": "A", "winner": "tie"}], "no column model_b; expected model_a, model_b and winner"),
    ],
)
def test_tables_that_cannot_be_ranked_are_one_line(rows_: list[Row], message: str) -> None:
    if not message:
        assert rank_battles(rows_).systems
        return
    with pytest.raises(InputError) as caught:
        rank_battles(rows_)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_result_survives_json_and_has_its_numbers_in_tables() -> None:
    result = sample_battles()
    assert from_json(result.to_json()) == result
    strengths, pairs = (table for table in tables(view(result)) if table.name in ("strengths", "battle-pairs"))
    assert [row[0] for row in rows(strengths)] == ["A", "B", "C", "D"]
    assert len(rows(pairs)) == 6
