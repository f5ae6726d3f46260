from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from deadheat.pages.compare import sections
from deadheat.pages.ledger import in_words

from deadheat.corpus import Corpus, read
from deadheat.paper.paragraph_tests import MOST_SYSTEMS
from deadheat.questions.compare import Comparison, compare, compare_scores
from deadheat.study.search.space import Settings
from deadheat.testbed import built_in
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, texts

TABLE = {
    "A": {"en": 90.0, "de": 85.0, "fi": 80.0, "ta": 60.0, "cs": 88.0, "hu": 71.0, "ga": 65.0, "la": 61.0},
    "B": {"en": 89.0, "de": 84.0, "fi": 78.0, "ta": 59.0, "cs": 87.5, "hu": 70.0, "ga": 66.0, "la": 62.0},
    "C": {"en": 70.0, "de": 61.0, "fi": 60.0, "ta": 30.0, "cs": 66.0, "hu": 50.0, "ga": 40.0, "la": 39.0},
}


def tagged(rows: list[str]) -> Corpus:
    """Sentences whose words are all `w`, each character a tag."""
    return read(text="".join(" ".join(f"w_{tag}" for tag in row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def gold() -> Corpus:
    return read(text=built_in(sentences=600, seed=3).gold)


@pytest.fixture(scope="module")
def systems() -> dict[str, Corpus]:
    return {name: read(text=text) for name, text in built_in(sentences=600, seed=3).predictions.items()}


@pytest.fixture(scope="module")
def trees(gold: Corpus, systems: dict[str, Corpus]) -> Comparison:
    return compare(gold, systems, settings=Settings(resamples=500))


def test_every_pair_is_told_in_words_with_the_numbers_of_the_result(trees: Comparison) -> None:
    made = check(sections, trees.to_dict())
    said = section(made, "Which differences").said
    for pair in trees.pairs:
        low, high = pair.interval.bounds
        winner = pair.winner(0.05)
        gap = f"{100 * abs(pair.difference):.2f} points of LAS"
        if winner == pair.b:
            low, high = -high, -low
        bounds = f"(95 % interval {100 * low:+.2f} to {100 * high:+.2f}, p = "
        if winner:
            loser = pair.b if winner == pair.a else pair.a
            (found,) = [each for each in said if each.startswith(f"{winner} is better than {loser}: by {gap} {bounds}")]
        else:
            (found,) = [each for each in said if each.startswith(f"{pair.a} and {pair.b} are a dead heat: {gap} ap")]
            assert bounds in found
    assert any(" are a dead heat: " in each for each in said)
    assert "not that they are equally good" in said[-1]


def test_the_winner_is_told_from_its_own_side() -> None:
    pair = {"a": "x", "b": "y", "difference": -0.1424, "low": -0.1722, "high": -0.1064, "p_corrected": 4e-8}
    document = {"scale": 100.0, "metric": "LAS", "alpha": 0.05, "systems": [], "unit": "sentence"}
    expected = "y is better than x: by 14.24 points of LAS (95 % interval +10.64 to +17.22, p = 4.0e-08)."
    assert in_words(document, pair | {"winner": "y"}) == expected
    told = in_words(document | {"alpha": 0.1, "scale": 1.0}, pair | {"winner": "", "p_corrected": 0.0})
    assert told == "x and y are a dead heat: 0.1424 in LAS apart (90 % interval -0.1722 to -0.1064, p < 1e-300)."


def test_a_winner_with_the_lower_score_is_not_said_to_be_ahead() -> None:
    """By signs the winner is who is better on more sentences: one long sentence outweighs nine short ones."""
    gold = ["XX"] * 9 + ["X" * 80]
    many, one = ["XX"] * 9 + ["N" * 80], ["NX"] * 9 + ["X" * 80]
    found = compare(tagged(gold), {"many": tagged(many), "one": tagged(one)}, settings=Settings("sign"))
    (pair,) = found.pairs
    assert pair.winner(0.05) == "many"
    assert pair.difference < 0
    told = in_words(found.to_dict(), found.to_dict()["pairs"][0])
    assert told.startswith("many is better than one on most sentences, though the score is lower: by 72.45 points")
    check(sections, found.to_dict())


def test_the_table_of_pairs_and_the_figures_hold_the_numbers(trees: Comparison) -> None:
    made = sections(trees.to_dict())
    (table,) = section(made, "Which differences").tables
    charts = drawn(made)
    differences = {each["name"]: each for each in rows(charts["compare-differences"])}
    for pair in trees.pairs:
        name = f"{pair.a} - {pair.b}"
        assert column(table, "difference")[name] == f"{100 * pair.difference:+.2f}"
        assert float(column(table, "errors saved")[name].removesuffix(" %")) == pytest.approx(
            100 * pair.error_reduction, abs=0.006
        )
        winner = pair.winner(0.05)
        assert column(table, "verdict")[name] == (f"{winner} wins" if winner else "a dead heat")
        found = differences[name]
        expected = [100 * each for each in (pair.difference, *pair.interval.bounds)]
        assert [found["value"], found["low"], found["high"]] == expected
    cells = {(each["row"], each["column"]): each for each in rows(charts["compare-pairs"])}
    for pair in trees.pairs:
        cell = cells[pair.a, pair.b]
        assert (cell["difference"], cell["p"]) == (100 * pair.difference, pair.p_corrected)
        assert cell["significant"] == ("yes" if pair.winner(0.05) else "no")
    scores = {each["name"]: each["value"] for each in rows(charts["compare-scores"])}
    assert scores == {row.file: 100 * row.value for row in trees.systems}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def test_the_small_print_names_test_unit_correction_resamples_and_signature(trees: Comparison) -> None:
    noted = replace(trees, notes=("a remark",))
    notes = section(sections(noted.to_dict()), "Which differences").notes
    assert notes[-2:] == ("a remark", trees.signature)
    assert "permutation-exact, by sentence" in notes[0]
    assert "3 tests (holm) at 0.05" in notes[1]
    assert "500 resamples" in notes[-1]


def test_agreement_is_explained_and_its_numbers_are_those_of_the_result(trees: Comparison) -> None:
    agreed = trees.disagreement
    assert agreed is not None
    made = section(check(sections, trees.to_dict()), "Where the systems disagree")
    said = " ".join(made.said)
    assert f"Here it is {agreed.alpha:.4f}." in said
    assert f"right on {100 * agreed.oracle:.2f} % of the words" in said
    assert f"{100 * agreed.majority:.2f} % of the words would be right" in said
    charts = drawn([made])
    assert len(charts) == len(agreed.sentences) == 5
    for chart, sentence in zip(charts.values(), agreed.sentences, strict=True):
        assert chart.title == f"{sentence.place} (alpha {sentence.alpha:.3f})"
        assert [row[0] if row[0] in sentence.words else row[1] for row in chart.rows] == list(sentence.words)


@pytest.mark.parametrize("metric", ["upos", "uas", "las"])
def test_labels_of_every_kind_are_drawn(metric: str, gold: Corpus, systems: dict[str, Corpus]) -> None:
    found = compare(gold, systems, metric=metric, settings=Settings(resamples=100))
    charts = drawn(check(sections, found.to_dict()))
    assert sum(name.startswith("compare-disagreement") for name in charts) == 5


def test_two_systems_cannot_vote_and_need_no_matrix(gold: Corpus, systems: dict[str, Corpus]) -> None:
    found = compare(gold, {name: systems[name] for name in "AB"}, settings=Settings(resamples=100))
    assert np.isnan(found.disagreement.majority)  # type: ignore[union-attr]
    made = check(sections, found.to_dict())
    assert "most systems" not in " ".join(texts(made))
    assert "compare-pairs" not in drawn(made)


def test_tests_against_a_reference_alone_have_no_matrix(gold: Corpus, systems: dict[str, Corpus]) -> None:
    found = compare(gold, systems, reference="A", settings=Settings(resamples=100))
    made = check(sections, found.to_dict())
    assert "compare-pairs" not in drawn(made)
    assert len(section(made, "Which differences").tables[0].rows) == 2


def test_scores_besides_stand_in_the_table_of_systems(gold: Corpus, systems: dict[str, Corpus]) -> None:
    found = compare(gold, systems, metric="upos", settings=Settings(resamples=100))
    (table,) = section(check(sections, found.to_dict()), "UPOS of each").tables
    whole = {row.file: f"{100 * row.value:.2f}" for row in found.besides}
    assert column(table, "Sentence accuracy (upos)") == whole


def test_a_table_of_scores_has_ranks_and_its_own_scale() -> None:
    found = compare_scores(TABLE)
    made = check(sections, found.to_dict())
    assert "A is better than C: by 23.00 in mean score" in " ".join(texts(made))
    assert "points" not in " ".join(section(made, "Which differences").said)
    ranks = section(made, "Average ranks")
    assert column(ranks.tables[0], "average rank") == {"A": "1.25", "B": "1.75", "C": "3.00"}
    assert found.ranks is not None
    assert found.ranks.cd is not None
    assert f"differ by {found.ranks.cd:.2f} or more" in " ".join(ranks.said)
    assert [row[0] for row in ranks.tables[1].rows] == [" and ".join(clique) for clique in found.ranks.cliques]
    assert list(drawn([ranks])) == ["compare-ranks"]
    shares = compare_scores({name: {key: each / 100 for key, each in row.items()} for name, row in TABLE.items()})
    assert "by 0.2300 in mean score" in " ".join(texts(check(sections, shares.to_dict())))


def test_two_systems_on_a_table_have_no_ranks() -> None:
    made = check(sections, compare_scores({name: TABLE[name] for name in "AB"}).to_dict())
    assert not [each for each in made if each.heading.startswith("Average ranks")]


def test_many_systems_of_a_shared_task_fit_on_the_page(shared_data: Path) -> None:
    path = shared_data / "scores" / "conll18_scores.csv.gz"
    found = compare_scores(path, metric="LAS", missing="drop", settings=Settings(resamples=100))
    made = sections(found.to_dict())
    charts = drawn(made)
    assert list(charts) == ["compare-differences", "compare-scores", "compare-pairs", "compare-ranks"]
    first = section(made, "Which differences")
    assert first.tables[0].folded
    assert len(first.tables[0].rows) == 325
    assert len(first.said) == 1 + 10 + 2
    assert first.said[0] == "Of 26 systems, HIT-SCIR (Harbin) is the best, and better than every other."
    # All pairs of the best system, which has the most sentences too.
    assert len(charts["compare-differences"].rows) == 25
    assert len(charts["compare-ranks"].rows) == 26


def test_who_is_tied_is_told_without_calling_them_equal() -> None:
    close = {"A": {"en": 90, "de": 85, "fi": 80}, "B": {"en": 89, "de": 86, "fi": 79}}
    said = section(check(sections, compare_scores(close).to_dict()), "Which differences").said
    assert said[0] == "A has the highest score; B could not be told apart from it."


def test_a_document_with_nulls_is_shown() -> None:
    document = compare_scores(TABLE).to_dict()
    for pair in document["pairs"]:
        pair |= {"low": None, "high": float("nan"), "error_reduction": None, "odds_ratio": None}
    document["systems"][0] |= {"low": None, "high": None}
    made = check(sections, document)
    assert set(column(section(made, "Which differences").tables[0], "95 % interval").values()) == {"-"}


def test_names_are_text_whatever_is_in_them() -> None:
    rng = np.random.default_rng(0)
    gold = ["".join(rng.choice(list("XYZ"), 6)) for _ in range(30)]
    names = [*HOSTILE, "sixth", "seventh"]
    noisy = {
        name: tagged(["".join("N" if rng.random() < 0.3 else tag for tag in row) for row in gold]) for name in names
    }
    found = compare(tagged(gold), noisy, settings=Settings(resamples=50))
    made = check(sections, found.to_dict())
    charts = drawn(made)
    assert {row[0] for row in charts["compare-scores"].rows} == set(names)
    assert all("<script>" not in chart.marks for chart in charts.values())
    for name in HOSTILE:
        assert any(name in text for text in texts(made))
    note = f"Below each sentence are the first {MOST_SYSTEMS} of 7 systems."
    assert note in section(made, "Where the systems disagree").notes
