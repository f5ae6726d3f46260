"""Verdicts in words: what is said follows from the evidence, and says no more than it does."""

import math
from dataclasses import replace

import pytest

from deadheat.reporting.model import cell_text
from deadheat.reporting.verdict import claims_headline, claims_table, pair_sentence, verdict_block
from deadheat.results.format import PLAIN
from deadheat.results.verdict import Claim, Evidence, State, Verdict
from tests.reporting.blocks import rows

SHOWN, EQUAL, NOT, OPPOSITE, FEW = State.SHOWN, State.EQUAL, State.NOT_SHOWN, State.OPPOSITE, State.TOO_FEW


def evidence(source: str, state: State, difference: float = 0.02) -> Evidence:
    return Evidence(source, state, difference, difference - 0.01, difference + 0.01, 0.03)


def claim(better: str, worse: str, *states: State, dataset: str = "", metric: str = "LAS") -> Claim:
    """A claim with one kind of evidence for each state: sentences, runs, splits."""
    sources = ("sentences", "runs", "splits")
    found = tuple(evidence(source, state) for source, state in zip(sources, states, strict=False))
    return Claim(better, worse, metric, found, dataset)


TOO_FEW = "there are too few sentences to tell"
NUMBERS = "95% CI [+1.00, +3.00], p = 0.0300"


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ((SHOWN,), f"A is better than B by 2.00 points of LAS ({NUMBERS})."),
        ((SHOWN, SHOWN), "A is better than B by 2.00 points of LAS: shown over sentences and runs."),
        ((NOT,), f"A and B are not told apart: A is ahead by 2.00 points of LAS ({NUMBERS})."),
        ((NOT, NOT), "A is ahead of B by 2.00 points of LAS: not told apart over sentences or runs."),
        ((OPPOSITE,), "A is ahead of B by 2.00 points of LAS: the opposite is shown over sentences."),
        (
            (FEW,),
            "A is ahead of B by 2.00 points of LAS, but there are too few sentences to tell whether it is better.",
        ),
        (
            (SHOWN, FEW),
            "A is better than B by 2.00 points of LAS: shown over sentences; there are too few runs to tell.",
        ),
        ((SHOWN, NOT), "A is better than B by 2.00 points of LAS: shown over sentences; not told apart over runs."),
        (
            (SHOWN, NOT, OPPOSITE),
            "A is ahead of B by 2.00 points of LAS: shown over sentences; the opposite is shown over splits; not told "
            "apart over runs.",
        ),
        (
            (NOT, SHOWN),
            "A is ahead of B by 2.00 points of LAS: shown over runs; not told apart over sentences.",
        ),
        (
            (EQUAL, NOT),
            "A is ahead of B by 2.00 points of LAS: equal within the margin over sentences; not told apart over runs.",
        ),
    ],
)
def test_a_pair_in_a_sentence(states: tuple[State, ...], sentence: str) -> None:
    assert str(pair_sentence(claim("A", "B", *states))) == sentence
    assert str(pair_sentence(claim("A", "B", *states, dataset="en"))) == f"On en, {sentence}"


def test_two_systems_within_the_margin_are_a_dead_heat() -> None:
    heat = Evidence("sentences", EQUAL, 0.001, -0.002, 0.004, 0.4, margin=0.005)
    expected = "equal within 0.50 points of LAS (+0.10, 95% CI [-0.20, +0.40])."
    assert str(pair_sentence(Claim("A", "B", "LAS", (heat,)))) == f"A dead heat: A and B are {expected}"
    named = str(pair_sentence(Claim("A", "B", "LAS", (heat,), "en")))
    assert named == f"A dead heat: on en, A and B are {expected}"
    twice = Claim("A", "B", "LAS", (heat, replace(heat, source="runs")))
    assert str(pair_sentence(twice)) == "A dead heat: A and B are equal within 0.50 points of LAS."


def test_a_shown_difference_within_the_margin_is_called_small() -> None:
    """The interval excludes zero and is within half a point: both are said."""
    small = Evidence("sentences", SHOWN, 0.002, 0.001, 0.003, 0.01, margin=0.005)
    sentence = str(pair_sentence(Claim("A", "B", "LAS", (small,))))
    assert sentence == (
        "A is better than B by 0.20 points of LAS (95% CI [+0.10, +0.30], p = 0.0100). "
        "That is within the margin of 0.50 points."
    )
    for larger in (replace(small, high=0.0051), replace(small, margin=math.nan)):
        assert "margin" not in str(pair_sentence(Claim("A", "B", "LAS", (larger,))))


def test_a_pair_that_is_not_told_apart_says_what_the_data_could_show() -> None:
    open_ = Evidence("sentences", NOT, 0.004, -0.002, 0.01, 0.18, 900, detectable=0.0085)
    assert str(pair_sentence(Claim("A", "B", "LAS", (open_,)))).endswith(
        "These sentences would show a difference of 0.85 points with power 80%; a difference of more than 1.00 is "
        "ruled out."
    )


def test_one_run_each_is_about_these_runs() -> None:
    shown = (evidence("sentences", SHOWN),)
    one, named = (Claim("A", "B", "LAS", shown, dataset, about_runs=True) for dataset in ("", "en"))
    assert str(pair_sentence(one)).startswith("This run of A is better than this run of B by 2.00 points")
    assert str(pair_sentence(named)).startswith("On en, this run of A is better than this run of B by 2.00 points")
    several = (one, replace(one, worse="C"))
    assert str(claims_headline(Verdict(several, systems=3))) == (
        "Of these runs, A has the best LAS and is shown to be better than both others."
    )


def test_a_planned_pair_opens_the_verdict() -> None:
    planned = replace(claim("B", "C", NOT), is_planned=True)
    verdict = Verdict((planned, claim("A", "B", SHOWN), claim("A", "C", SHOWN)), systems=3)
    assert str(claims_headline(verdict)) == f"Planned comparison: {pair_sentence(planned)}"
    assert [row[0] for row in rows(claims_table(verdict))] == ["B > C (planned)", "A > B", "A > C"]


@pytest.mark.parametrize("states", [(FEW,), (FEW, FEW), (FEW, SHOWN)])
def test_too_few_data_are_never_called_no_difference(states: tuple[State, ...]) -> None:
    pair = claim("A", "B", *states)
    others = (claim("A", "C", *states), claim("B", "C", *states))
    datasets = (claim("A", "B", *states, dataset="en"), claim("A", "B", *states, dataset="de"))
    for claims in ((pair,), (pair, *others), datasets, (*datasets, claim("A", "C", *states, dataset="de"))):
        verdict = Verdict(claims, systems=3)
        for text in (str(claims_headline(verdict)), str(rows(claims_table(verdict)))):
            assert "too few" in text or "so few" in text
            assert "not told apart" not in text
            assert "not shown" not in text
            assert "dead heat" not in text


def test_what_the_first_evidence_shows_is_shown_and_the_table_has_what_the_other_lacks() -> None:
    """Sentences decide, and too few runs take nothing back; for one pair they are mentioned."""
    pair = claim("A", "B", SHOWN, FEW)
    assert str(pair_sentence(pair)).endswith(": shown over sentences; there are too few runs to tell.")
    several = [replace(pair, dataset=name, worse=worse) for name in ("en", "de") for worse in "BC"]
    verdict = Verdict(tuple(several), systems=3)
    assert str(claims_headline(verdict)) == "A is shown to be better than all others on 2 of 2 data sets."
    assert all("so few" in row[-1] for row in rows(claims_table(verdict)))


def test_equal_scores_and_scores_that_are_not_percent() -> None:
    assert str(pair_sentence(Claim("A", "B", "F1", (evidence("runs", NOT, 0.0),)))) == "A and B have the same score."
    plain = Claim("A", "B", "F1", (Evidence("settings", SHOWN, 0.1),), scale=PLAIN)
    assert str(pair_sentence(plain)) == "A is better than B by 0.1000 in F1."
    unknown = Claim("A", "B", "F1", (Evidence("runs", NOT),))
    assert str(pair_sentence(unknown)) == "A and B are not told apart."


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ((SHOWN, SHOWN), " and is shown to be better than both others."),
        ((SHOWN, NOT), " and is shown to be better than B, but is not told apart from C."),
        ((NOT, NOT), ", but is not told apart from B and C."),
        ((EQUAL, NOT), ", but is equal within the margin to B; is not told apart from C."),
        ((FEW, FEW), ", but cannot be told from B and C with so few sentences."),
        ((SHOWN, FEW), " and is shown to be better than B, but cannot be told from C with so few sentences."),
        ((NOT, FEW), ", but is not told apart from B; cannot be told from C with so few sentences."),
        ((SHOWN, OPPOSITE), " and is shown to be better than B, but is shown to be worse than C."),
    ],
)  # fmt: skip
def test_the_best_of_three_systems(states: tuple[State, State], said: str) -> None:
    claims = (claim("A", "B", states[0]), claim("A", "C", states[1]), claim("B", "C", SHOWN))
    assert str(claims_headline(Verdict(claims, systems=3))) == f"A has the best LAS{said}"


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (((SHOWN, SHOWN), (SHOWN, SHOWN)), " The same holds for data sets like these."),
        (((SHOWN, NOT), (SHOWN, NOT)), " For data sets like these, it is not told apart from B and C."),
        (
            ((SHOWN, SHOWN), (SHOWN, FEW)),
            " For data sets like these, it is shown to be better than B, but cannot be told from C with so few data "
            "sets.",
        ),
    ],
)
def test_the_best_on_these_data_sets_and_on_others(states: tuple[tuple[State, State], ...], said: str) -> None:
    sources = ("these data sets", "data sets like these")
    claims = tuple(
        Claim(
            "A", worse, "LAS", tuple(replace(evidence(*item), count=4) for item in zip(sources, of_pair, strict=True))
        )
        for worse, of_pair in zip("BC", states, strict=True)
    )
    opening = "A has the best LAS on these 4 data sets and is shown to be better than both others."
    assert str(claims_headline(Verdict(claims, systems=3))) == opening + said


def test_where_only_neighbours_are_compared_the_next_is_named() -> None:
    claims = (claim("A", "B", SHOWN), claim("B", "C", NOT))
    expected = "A has the best LAS and is shown to be better than B."
    assert str(claims_headline(Verdict(claims, systems=3))) == expected


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ((SHOWN, SHOWN), "A is shown to be better than B on 2 of 2 data sets."),
        ((SHOWN, NOT), "A is shown to be better than B on 1 of 2 data sets."),
        ((NOT, FEW), "A is shown to be better than B on 0 of 2 data sets; there are too few sentences to tell on 1."),
    ],
)
def test_one_pair_on_several_data_sets(states: tuple[State, State], sentence: str) -> None:
    claims = tuple(claim("A", "B", state, dataset=name) for state, name in zip(states, ("en", "de"), strict=True))
    assert str(claims_headline(Verdict(claims, systems=2))) == sentence
    lost = (*claims, claim("B", "A", SHOWN, dataset="fi"))
    assert ", and worse on 1" in str(claims_headline(Verdict(lost, systems=2)))


def test_one_pair_by_several_metrics() -> None:
    claims = (claim("A", "B", SHOWN), claim("A", "B", NOT, metric="UAS"))
    assert str(claims_headline(Verdict(claims, systems=2))) == "A is shown to be better than B on 1 of 2 metrics."


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ((SHOWN, SHOWN), "A is shown to be better than all others on 2 of 2 data sets."),
        ((SHOWN, NOT), "A is shown to be better than all others on 1 of 2 data sets."),
        ((SHOWN, FEW), f"A is shown to be better than all others on 1 of 2 data sets; {TOO_FEW} on 1."),
        ((NOT, NOT), "On none of 2 data sets is one system shown to be better than all others."),
        ((FEW, FEW), f"{TOO_FEW.capitalize()} on any of 2 data sets whether one system is better than all others."),
    ],
)  # fmt: skip
def test_several_systems_on_several_data_sets(states: tuple[State, State], sentence: str) -> None:
    claims = [
        claim("A", worse, state, dataset=name)
        for state, name in zip(states, ("en", "de"), strict=True)
        for worse in ("B", "C")
    ]
    assert str(claims_headline(Verdict(tuple(claims), systems=3))) == sentence
    neighbours = (*(item for item in claims if item.worse == "B"), claim("B", "C", SHOWN, dataset="en"))
    assert str(claims_headline(Verdict(neighbours, systems=3))) == sentence.replace("all others", "the next best")


def test_the_table_has_a_row_for_each_claim_and_a_column_for_each_kind_of_evidence() -> None:
    runs = Evidence("runs", FEW, 0.01, count=10, ahead=7)
    claims = (
        claim("A", "B", SHOWN, dataset="en"),
        Claim("A", "C", "UAS", (Evidence("splits", OPPOSITE, math.nan), runs), "de"),
    )
    table = claims_table(Verdict(claims, omitted=3))
    assert [column.heading for column in table.columns] == [
        "higher > lower", "data set", "metric", "over sentences", "over splits", "over runs",
    ]  # fmt: skip
    assert rows(table) == [
        ["A > B", "en", "LAS", "shown: +2.00 [+1.00, +3.00]", "-", "-"],
        ["A > C", "de", "UAS", "-", "the opposite", "cannot be shown with so few: +1.00, ahead on 7 of 10"],
    ]
    assert verdict_block(Verdict(claims, omitted=3)).below_claims() == ("The tables have 3 more pairs.",)
    assert [[cell.tone for cell in row[3:]] for row in table.cells()] == [["good", "", ""], ["", "bad", "muted"]]
    many = (*[claim("A", f"B{n}", NOT) for n in range(12)], *claims)
    assert [column.heading for column in claims_table(Verdict(many)).columns] == ["higher > lower", "over sentences"]
    assert verdict_block(Verdict(many)).below_claims() == ("The tables have 2 more pairs.",)
    alone = claims_table(Verdict((claim("<A>", "B", NOT),)))
    assert [column.heading for column in alone.columns] == ["higher > lower", "over sentences"]
    assert cell_text(next(alone.cells())[0]) == "<A> > B"


def test_nothing_is_said_of_no_claims() -> None:
    assert claims_headline(Verdict()) == "No two systems could be compared."
