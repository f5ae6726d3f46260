from __future__ import annotations

import pytest

from deadheat.corpus import Corpus, read
from deadheat.errors import InputError
from deadheat.questions.score import score


def tagged(*tags: str) -> Corpus:
    return read(text="".join(f"w_{tag}\n" for tag in tags))


GOLD = tagged(*"XY" * 40)


def test_metrics_may_be_one_name_or_a_generator() -> None:
    assert len(score(GOLD, [GOLD, GOLD], metrics="accuracy(column='tag')").rows) == 2
    assert len(score(GOLD, [GOLD, GOLD], metrics=(name for name in ["accuracy(column='tag')"])).rows) == 2


def test_the_bootstrap_can_be_asked_for_where_wilson_would_be_used() -> None:
    guess = tagged(*"XX" * 40)
    auto, asked = (
        score(GOLD, guess, metrics="accuracy(column='tag')", interval=kind).rows[0] for kind in ("auto", "bootstrap")
    )
    assert (auto.interval.method, asked.interval.method) == ("wilson", "bootstrap")
    with pytest.raises(InputError, match="did you mean 'bootstrap'"):
        score(GOLD, guess, interval="bootstrapp")


def test_words_alone_cannot_be_scored() -> None:
    alone = read(text="a\nb\n\n", format="columns")
    with pytest.raises(InputError, match="expected a column of labels"):
        score(alone, alone)


def test_a_score_that_is_none_is_a_dash_in_latex() -> None:
    scores = score(GOLD, GOLD, metrics="unknown(column='tag')", training=GOLD)
    assert " & - " in scores.to_latex()


def test_a_breakdown_by_class_has_one_row_a_class() -> None:
    gold = read(text="1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tY\t_\t_\t1\tdep\t_\t_\n\n")
    assert [row.group for row in score(gold, gold, by="tag").rows] == ["X", "Y"]
    assert [row.group for row in score(gold, gold, by="relation").rows] == ["dep", "root"]
