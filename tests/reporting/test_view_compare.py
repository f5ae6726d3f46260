"""What a reader sees of systems compared on the same units."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binomtest

from deadheat.corpus import Corpus, read
from deadheat.questions.compare import compare
from deadheat.questions.compare_scores import compare_scores
from deadheat.reporting.model import CIRCLE, DAGGER, DOUBLE_DAGGER, EQUALS, STAR, Figure, Table, Verdict
from deadheat.reporting.terminal import render
from deadheat.reporting.views import headline, view
from deadheat.reporting.views.compare import SENTENCE_SYSTEMS
from deadheat.results.compare import Comparison
from deadheat.testbed import built_in
from tests.reporting.blocks import column, data, drawn, headings, marks, rows, section, tables, texts

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
def trees(gold: Corpus, systems: Mapping[str, Corpus]) -> Comparison:
    return compare(gold, systems, resamples=500)


def table(result: Comparison, name: str) -> Table:
    return next(table for table in tables(view(result)) if table.name == name)


def test_tables_and_figures_hold_the_numbers_of_the_result(trees: Comparison) -> None:
    pairs, charts = table(trees, "pairs"), drawn(view(trees))
    assert len(pairs.rows) == 3
    differences = {row["name"]: row for row in data(charts["compare-differences"])}
    cells = {(row["row"], row["column"]): row for row in data(charts["compare-pairs"])}
    for pair in trees.pairs:
        name, winner, (low, high) = f"{pair.a} - {pair.b}", pair.winner(0.05), pair.interval.bounds
        assert column(pairs, "difference")[name] == f"{100 * pair.difference:+.2f}"
        assert column(pairs, "95% CI")[name] == f"[{100 * low:+.2f}, {100 * high:+.2f}]"
        assert column(pairs, "error reduction")[name] == f"{100 * pair.error_reduction:.1f}%"
        assert column(pairs, "outcome")[name] == (f"{winner} is better" if winner else "not told apart")
        assert column(pairs, "detectable")[name] == f"{100 * pair.detectable:.2f}"
        found = differences[name]
        assert [found["value"], found["low"], found["high"]] == [100 * v for v in (pair.difference, low, high)]
        cell = cells[pair.a, pair.b]
        assert (cell["difference"], cell["p"]) == (100 * pair.difference, pair.p_corrected)
        assert cell["significant"] == ("yes" if winner else "no")
    scores = {row["name"]: row["value"] for row in data(charts["compare-scores"])}
    assert scores == {row.system: 100 * row.value for row in trees.ranked}
    assert list(column(table(trees, "systems"), "LAS")) == list(scores)


def test_the_verdict_names_the_best_and_whom_it_is_shown_to_be_better_than(trees: Comparison) -> None:
    assert headline(trees) == "Of these runs, A has the best LAS and is shown to be better than both others."
    assert marks(table(trees, "systems")) == {row.system: "" for row in trees.systems}
    (claims,) = [block.claims for block in view(trees) if hasattr(block, "claims") and block.claims]
    first = trees.verdict.claims[0].evidence[0]
    assert rows(claims)[0][1].startswith(f"shown: {100 * first.difference:+.2f} [")


def test_notes_name_the_test_the_correction_and_the_signature(trees: Comparison) -> None:
    shown = texts(view(replace(trees, notes=("en.conllu: a remark",))))
    assert "en.conllu: a remark." in shown
    assert any("Test: the clustered t-test on documents (Student's t with the jackknife's" in note for note in shown)
    dead_heat = "Two systems are equal (a dead heat) if the interval of their difference is within 0.50 points."
    assert dead_heat in shown
    no_margin = replace(trees, settings=replace(trees.settings, margin=0))
    assert dead_heat not in texts(view(no_margin))
    assert any("corrected by Holm's method for 3 tests, at alpha 0.05" in note for note in shown)
    assert render(view(trees)).endswith(trees.signature)


def test_agreement_has_its_numbers_and_the_disputed_sentences(trees: Comparison) -> None:
    agreement = trees.agreement
    assert agreement is not None
    blocks = section(view(trees), "Where the systems disagree")
    said = texts(blocks)[0]
    assert f"alpha {agreement.alpha:.4f}. At least one system is right on {100 * agreement.oracle:.2f}% " in said
    assert f"the majority on {100 * agreement.majority:.2f}%" in said
    charts = drawn(blocks)
    assert len(charts) == len(agreement.sentences) == 5
    for chart, sentence in zip(charts.values(), agreement.sentences, strict=True):
        assert chart.title == f"{sentence.location} (alpha {sentence.alpha:.3f})"
    figure = next(block for block in blocks if isinstance(block, Figure))
    assert figure.alternative is not None
    gold, *others = rows(figure.alternative)
    for row, labels in zip(others, agreement.sentences[0].labels.values(), strict=True):
        assert row[1:] == ["." if a == b else a for a, b in zip(labels, gold[1:], strict=True)]


@pytest.mark.parametrize("metric", ["upos", "uas"])
def test_sentences_are_drawn_for_labels_of_any_kind(metric: str, gold: Corpus, systems: dict[str, Corpus]) -> None:
    charts = drawn(view(compare(gold, systems, metric=metric, resamples=100)))
    assert sum(name.startswith("compare-disagreement") for name in charts) == 5


def test_with_a_reference_only_its_pairs_are_tested(gold: Corpus, systems: dict[str, Corpus]) -> None:
    result = compare(gold, systems, reference="C", resamples=100)
    assert "compare-pairs" not in drawn(view(result))
    assert len(table(result, "pairs").rows) == 2
    assert marks(table(result, "systems")) == {"A": "", "B": CIRCLE, "C": ""}
    assert "for 2 tests" in str(table(result, "systems").marks[0].meaning)


def test_extra_scores_are_columns_of_the_table_of_systems(gold: Corpus, systems: dict[str, Corpus]) -> None:
    result = compare(gold, systems, metric="upos", resamples=100)
    expected = {row.system: f"{100 * row.value:.2f}" for row in result.extra_scores}
    assert column(table(result, "systems"), "Sentence accuracy (upos)") == expected


def test_too_few_units_are_marked_otherwise_than_no_difference() -> None:
    rows = ["XYXY"] * 4
    few = compare(tagged(rows), {"good": tagged(rows), "poor": tagged(["XXXX"] * 4)})
    assert headline(few).endswith("but there are too few sentences to tell whether it is better.")
    assert marks(table(few, "systems"))["poor"] == DOUBLE_DAGGER
    assert column(table(few, "pairs"), "outcome") == {"good - poor": "cannot be shown with so few"}
    rows = ["XYXY"] * 80
    even = compare(tagged(rows), {"a": tagged(["XXXY"] * 40 + rows[:40]), "b": tagged(rows[:39] + ["XXXY"] * 41)})
    assert headline(even).startswith("a and b are not told apart: a is ahead by 0.31 points")  # 1 of 320 words
    assert marks(table(even, "systems"))["b"] == DAGGER
    assert column(table(even, "pairs"), "outcome") == {"a - b": "not told apart"}
    for result in (few, even):
        assert "dead heat" not in str(result)
        assert "no difference" not in str(result)


def test_two_systems_within_the_margin_are_marked_as_equal() -> None:
    """Each has one word of 4,000 wrong, in sentences of their own: the interval is well within half a point."""
    rows = ["XYXY"] * 1000
    result = compare(tagged(rows), {"a": tagged(["XXXY", *rows[1:]]), "b": tagged([*rows[1:], "XXXY"])})
    (pair,) = result.pairs
    assert max(map(abs, pair.interval.bounds)) < 0.005
    assert headline(result).startswith("A dead heat: a and b are equal within 0.50 points of Accuracy (tag) (+0.00, ")
    assert marks(table(result, "systems"))["b"] == EQUALS
    assert column(table(result, "pairs"), "outcome") == {"a - b": "equal within the margin"}
    stricter = compare(tagged(rows), {"a": tagged(["XXXY", *rows[1:]]), "b": tagged([*rows[1:], "XXXY"])}, margin=0.01)
    assert headline(stricter) == "a and b have the same score."


def test_remarks_say_that_one_run_each_is_about_these_runs_and_how_documents_matter(trees: Comparison) -> None:
    (verdict,) = [block for block in view(trees) if isinstance(block, Verdict)]
    remarks = list(map(str, verdict.remarks))
    effect = f"{trees.datasets[0].design_effect:.2f}"
    assert remarks == [
        "Each system has one run: the verdict is about these trained models, and training again may change it.",
        f"The text has 30 documents; the variance of a difference is {effect} times as large by document as by "
        "sentence.",
    ]


def test_a_test_that_sides_with_the_lower_score_says_so() -> None:
    """By signs, who is better on more sentences wins: two long sentences outweigh twelve short ones in the score.

    Of 104 words, one has 12 + 80 right and many 24: 65.38 points.
    """
    gold, many, one = (["XX"] * 12 + [tag * 40] * 2 for tag in "XNX")
    one[:12] = ["NX"] * 12
    result = compare(tagged(gold), {"many": tagged(many), "one": tagged(one)}, test="sign")
    assert (
        headline(result)
        == "one is ahead of many by 65.38 points of Accuracy (tag): the opposite is shown over sentences."
    )
    assert marks(table(result, "systems")) == {"one": "", "many": STAR}
    assert column(table(result, "pairs"), "outcome") == {"one - many": "many is better"}
    assert column(table(result, "pairs"), "p") == {"one - many": f"{binomtest(2, 14).pvalue:.4f}"}


def test_scores_over_data_sets_have_ranks_and_their_own_scale() -> None:
    result = compare_scores(TABLE)
    assert (
        headline(result) == "A has the best mean score and is shown to be better than C, but is not told apart from B."
    )
    assert "points" not in str(result)
    assert column(table(result, "pairs"), "difference")["A - C"] == "+23.00"
    ranks = section(view(result), "Average ranks")
    assert column(tables(ranks)[0], "average rank") == {"A": "1.25", "B": "1.75", "C": "3"}
    assert result.ranks is not None
    assert f"if they are {result.ranks.critical_difference:.2f} or more apart." in texts(ranks)[0]
    assert all(" and ".join(group) in texts(ranks)[1] for group in result.ranks.groups)
    assert list(drawn(ranks)) == ["compare-ranks"]
    two = compare_scores({name: TABLE[name] for name in "AB"})
    assert "Average ranks over data sets" not in headings(view(two))


def test_many_systems_of_a_shared_task_fit_on_a_page(shared_data: Path) -> None:
    path = shared_data / "scores" / "conll18_scores.csv.gz"
    result = compare_scores(path, metric="LAS", missing="drop", resamples=100)
    charts = drawn(view(result))
    assert list(charts) == ["compare-scores", "compare-differences", "compare-pairs", "compare-ranks"]
    pairs = table(result, "pairs")
    assert (pairs.folded, len(pairs.rows)) == (True, 325)
    assert len(charts["compare-differences"].rows) == 25  # those with the best system
    assert headline(result).startswith("HIT-SCIR (Harbin) has the best ")


def test_a_sentence_shows_the_first_of_many_systems() -> None:
    rows = ["XYZ"] * 20
    noisy = {f"s{i}": tagged([row[:i] + "N" + row[i + 1 :] for row in rows]) for i in range(3)}
    noisy |= {f"t{i}": tagged(["NNN"] * i + rows[i:]) for i in range(1, 5)}
    result = compare(tagged(rows), noisy, resamples=50)
    assert f"Each sentence shows the first {SENTENCE_SYSTEMS} of 7 systems." in texts(view(result))


def test_tables_of_very_many_pairs_are_cut_and_say_so() -> None:
    table = {f"s{i}": {f"d{j}": 70.0 + i / 10 + (i * j) % 7 for j in range(5)} for i in range(50)}
    result = compare_scores(table)
    (pairs,) = (block for block in tables(list(view(result))) if block.name == "pairs")
    assert len(pairs.rows) == 1000
    assert "The first 1,000 of 1,225 pairs." in str(pairs.caption)
    best = result.ranked[0].system
    assert all(best in str(row[0]) for row in pairs.rows[:49])
    assert len(result.pairs) == 1225
