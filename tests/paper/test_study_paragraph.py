"""Statements about studies and searches of several designs, each worked out from the result beside it."""

from dataclasses import replace
from typing import Any

import pytest

from deadheat.reporting.views import headline
from deadheat.results.study import FailedCell, StudyResult
from tests.paper.cases import NAN, block, pair, scores, sentences, study, systems, twenty_splits
from tests.reporting.test_view_search import dataset, one_setup, search, setting_scores, two_setups

SINGLE: dict[str, Any] = {"splits": 1, "split": "standard.v1"}


def failed(system: str, status: str) -> FailedCell:
    return FailedCell("", system, "velani", "random.v1", 0, 0, status, "")


ERROR = "The standard error of a difference on one split is that of the jackknife over sentences (Miller, 1974)"
KISH = "on the degrees of freedom of their effective number (Kish, 1965)."
SATTERTHWAITE = "on Satterthwaite's degrees of freedom (Satterthwaite, 1946), with those of the effective number of"
EQUAL = (
    "By two one-sided tests (Schuirmann, 1987), two systems are equal if the interval of their difference is within "
    "0.50 points."
)


def test_random_splits_with_how_they_were_made_and_what_they_showed() -> None:
    assert sentences(twenty_splits()) == [
        "We trained 2 systems (lookahead and loglinear) (Tsuruoka et al., 2011; Toutanova et al., 2003) on 20 random "
        "splits by document (80/10/10 by words, stratified by genre; seed 0) (Gorman and Bedrick, 2019) of velani "
        "(600 sentences, 9,544 words).",
        "Each was trained once on each split (seed 0).",
        "We report Accuracy (upos) on test.",
        "Over splits, systems were compared with the corrected resampled t-test (Nadeau and Bengio, 2003) at alpha "
        "0.05, with p-values of a single pair.",
        "On each split they were compared with the clustered t-test on sentences, with p-values corrected by Holm's "
        "method for 20 splits (Holm, 1979).",
        f"{ERROR}, {KISH}",
        EQUAL,
        "lookahead had the highest mean Accuracy (upos), 95.07 (SD 0.21 over 20 runs), followed by loglinear with "
        "94.68 (SD 0.19 over 20 runs).",
        "lookahead was significantly better than loglinear (+0.39 points, 95% CI [+0.09, +0.69], p = 0.0300; higher on "
        "19 of 20 splits, significantly better on 13, significantly worse on 1).",
    ]


@pytest.mark.parametrize(
    ("unit", "split", "said"),
    [
        ("sentence", "random.v1", False),
        ("document", "random.v1(unit='document')", False),
        ("document", "random.v1", True),
        ("document", "kfold.v1(folds=5)", True),
    ],
)
def test_documents_that_were_split_up_are_mentioned(unit: str, split: str, *, said: bool) -> None:
    test = replace(pair("A", "B", 0.02, splits=5), unit=unit)
    rows = [scores("A", 0.92, 5, sd=0.01), scores("B", 0.90, 5, sd=0.01)]
    lines = sentences(study(block(rows, [test], splits=5, split=split)))
    words = "Where documents were split up, the standard error over documents was used if it was greater."
    assert (words in lines) == said


def test_one_split_and_one_seed_is_one_difference_with_its_p_value() -> None:
    rows, test = [scores("A", 0.92, 1), scores("B", 0.90, 1)], pair("A", "B", 0.02, splits=1, significant=1, p=0.0042)
    models = "With one seed each, what is shown is shown of these trained models."
    expected = [
        "We trained 2 systems (A and B) on the standard split of velani.",
        "Each was trained once (seed 0).",
        "We report Accuracy (upos) on test.",
        "Systems were compared with the clustered t-test on sentences at alpha 0.05, with p-values of a single pair.",
        f"{ERROR}, {KISH}",
        EQUAL,
        "A had the highest Accuracy (upos), 92.00 (95% CI [90.00, 94.00]), followed by B with 90.00 (95% CI [88.00, "
        "92.00]).",
        "A was significantly better than B (+2.00 points, 95% CI [+1.50, +2.50], p = 0.0042).",
    ]
    assert sentences(study(block(rows, [test], **SINGLE), systems=systems(A=(0,), B=(0,)))) == expected
    seeded = replace(test, overall=replace(test.overall, about_runs=True))
    lines = sentences(study(block(rows, [seeded], **SINGLE), systems=systems(A=(0,), B=(0,))))
    assert lines == [*expected[:5], models, *expected[5:]]


def test_a_test_that_the_study_file_names_is_cited_and_is_about_first_seeds() -> None:
    rows = [scores("A", 0.92, 3, sd=0.01), scores("B", 0.90, 1)]
    test = pair("A", "B", 0.02, splits=1, significant=1, p=0.0042, test="mcnemar-midp")
    lines = sentences(study(block(rows, [test], **SINGLE), systems=systems(A=(0, 1, 2), B=(0,))))
    assert lines[3] == (
        "Systems were compared, by the first seed of each, with McNemar's test (mid-p) (McNemar, 1947; Fagerland et "
        "al., 2013) on tokens at alpha 0.05, with p-values of a single pair."
    )
    assert not any("jackknife" in line for line in lines)


def test_the_second_system_of_a_pair_can_be_the_best() -> None:
    """By the mean over seeds B is better; the test of the pair A - B is turned around."""
    rows, test = (
        [scores("B", 0.92, 6, sd=0.01), scores("A", 0.90, 6, sd=0.01)],
        pair("A", "B", -0.02, splits=3, ahead=0),
    )
    lines = sentences(study(block(rows, [test], splits=3)))
    assert lines[-1] == (
        "B was not told apart from A (+2.00 points, 95% CI [-1.00, +5.00], p = 0.5000; significantly better on 0)."
    )
    favoured = replace(
        test, significant=1, overall=replace(test.overall, difference=0.02, low=0.01, high=0.03, p_corrected=0.01)
    )
    assert (
        "B had the higher score, but the test favours A (-2.00 points"
        in sentences(study(block(rows, [favoured], splits=3)))[-1]
    )


def test_two_systems_within_the_margin_are_equal() -> None:
    rows, test = [scores("A", 0.92, 1), scores("B", 0.91, 1)], pair("A", "B", 0.01, splits=1, width=0.015)
    wide = replace(test, overall=replace(test.overall, margin=0.03))
    lines = sentences(study(block(rows, [wide], **SINGLE), margin=3))
    assert EQUAL.replace("0.50", "3.00") in lines
    assert lines[-1] == "A was equal within the margin to B (+1.00 points, 95% CI [-0.50, +2.50], p = 0.5000)."
    assert not any("one-sided" in line for line in sentences(study(block(rows, [test], **SINGLE), margin=0)))


def test_several_seeds_and_that_all_were_compared() -> None:
    rows = [replace(scores("A", 0.92, 3, sd=0.01), interval=(0.9, 0.94)), scores("B", 0.90, 1)]
    result = study(block(rows, [pair("A", "B", 0.02, splits=1)], **SINGLE), systems=systems(A=(0, 1, 2), B=(0,)))
    lines = sentences(result)
    assert "A was trained with 3 seeds (0 to 2); B was trained once (seed 0)." in lines
    assert any(line.startswith("Systems were compared, by all seeds, with the clustered t-test on ") for line in lines)
    assert f"{ERROR} and of the variance over runs, {SATTERTHWAITE} sentences (Kish, 1965)." in lines
    assert lines[-2].startswith("A had the highest mean Accuracy (upos), 92.00 (SD 1.00 over 3 runs, 95% CI [90.00, 94")
    assert "first seed" not in " ".join(lines)


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ({"A": (0, 1), "B": (0, 1)}, "Each was trained with 2 seeds (0 and 1) on each split."),
        ({"A": (7,)}, "A was trained once on each split (seed 7)."),
        ({"A": (1, 2, 3, 4, 5)}, "A was trained with 5 seeds (1 to 5) on each split."),
        (
            {"A": (0,), "B": (1,)},
            "A was trained once on each split (seed 0); B was trained once on each split (seed 1).",
        ),
    ],
)
def test_seeds_in_words(seeds: dict[str, tuple[int, ...]], expected: str) -> None:
    assert expected in sentences(study(block([scores("A", 0.9, 2, sd=0.1)], [], splits=2), systems=systems(**seeds)))


def test_one_system_is_compared_with_none_and_unknown_seeds_are_not_mentioned() -> None:
    lines = sentences(study(block([scores("A", 0.9, 2, sd=0.01)], [], **SINGLE)))
    assert lines == [
        "We trained 1 system (A) on the standard split of velani.",
        "We report Accuracy (upos) on test.",
        "A had Accuracy (upos) 90.00 (SD 1.00 over 2 runs).",
    ]


def test_blocks_are_named_by_what_distinguishes_them() -> None:
    blocks = [block([scores("A", 0.9, 2, sd=0.1)], [], splits=2, seed=seed) for seed in (0, 1)]
    openings = [line.partition(",")[0] for line in sentences(study(*blocks)) if line.startswith("On ")]
    assert openings == [f"On 2 random splits by document with seed {seed}" for seed in (0, 1)]
    standard, random = block([scores("A", 0.9, 1)], [], **SINGLE), block([scores("A", 0.9, 3)], [], splits=3)
    lines = sentences(study(standard, random))
    assert lines[0].startswith("We trained 1 system (A) on the standard split and 3 random splits by document")
    openings = [line.partition(",")[0] for line in lines if line.startswith("On ")]
    assert openings == ["On the standard split", "On 3 random splits by document"]


def test_systems_of_different_first_metrics_are_compared_apart() -> None:
    taggers = [scores("T1", 0.95, 1), scores("T2", 0.94, 1)]
    parsers = [scores("P1", 0.85, 1, metric="las.v1"), scores("P2", 0.84, 1, metric="las.v1")]
    tests = [pair("T1", "T2", 0.01, splits=1), pair("P1", "P2", 0.01, splits=1, test="randomization")]
    lines = sentences(study(block([*taggers, *parsers], tests, **SINGLE)))
    at = lines.index("We report LAS on test of P1 and P2.")
    assert "We report Accuracy (upos) on test of T1 and T2." in lines[:at]
    numbers = "(+1.00 points, 95% CI [-2.00, +4.00], p = 0.5000)"
    assert f"T1 was not told apart from T2 {numbers}." in lines[:at]
    assert "approximate randomization (Noreen, 1989) on sentences at alpha" in lines[at + 1]
    assert lines[at + 3].startswith("P1 had the highest LAS, 85.00")
    assert lines[at + 4] == f"P1 was not told apart from P2 {numbers}."


def three(p: float) -> StudyResult:
    rows = [scores(name, mean, 5, sd=0.01) for name, mean in (("A", 0.93), ("B", 0.92), ("C", 0.91))]
    return study(block(rows, [pair(a, b, 0.01, splits=5, ahead=5, p=p) for a, b in ("AB", "AC", "BC")], splits=5))


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.5, "Of all 3 pairs, none differs significantly."),
        (0.001, "All 3 pairs differ significantly."),
        (NAN, "For all 3 pairs, there were too few splits to tell."),
    ],
)
def test_how_many_pairs_differ(p: float, expected: str) -> None:
    lines = sentences(three(p))
    assert lines[-1] == expected
    corrected = "p-values corrected by Holm's method for 3 pairs (Holm, 1979), and intervals widened likewise."
    assert any(line.endswith(corrected) for line in lines)
    uncorrected = sentences(replace(three(p), correction="none"))
    assert any(line.endswith("with p-values not corrected for 3 pairs.") for line in uncorrected)
    assert not any("widened" in line for line in uncorrected)


def test_a_strategy_is_said_only_of_the_corpora_that_it_split() -> None:
    rows = [scores("A", 0.92, 1)]
    blocks = [block(rows, [], corpus=name, **SINGLE) for name in ("en", "de")]
    blocks.append(block(rows, [], splits=1, split="random.v1", corpus="en"))
    first = sentences(study(*blocks))[0]
    assert "on the standard split of each of en and de; and on one random split by sentence" in first
    assert first.endswith("of en.")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"missing": 1}, "1 of 40 runs has no result and is left out."),
        ({"missing": 3}, "3 of 40 runs have no result and are left out."),
        (
            {"failed": (failed("lookahead", "failed"), failed("lookahead", "failed"), failed("hmm", "killed"))},
            "3 of 40 runs have no result and are left out (lookahead: 2 failed and hmm: 1 killed).",
        ),
        ({"damaged": ("k",)}, "The predictions of 1 run could not be read and are left out of the comparisons."),
        ({"damaged": ("k", "l")}, "The predictions of 2 runs could not be read and are left out of the comparisons."),
    ],
)
def test_what_failed_is_said(more: dict[str, Any], expected: str) -> None:
    assert expected in sentences(twenty_splits(**more))
    assert not any("left out" in line for line in sentences(twenty_splits()))


def test_a_study_without_results_says_so() -> None:
    assert sentences(study(missing=40, cells=40)) == [
        "The study has no results.",
        "40 of 40 runs have no result and are left out.",
    ]


def test_test_comes_before_dev_and_notes_about_it_are_said() -> None:
    parts = [block([scores("A", mean, 1)], [], splits=1, part=part) for part, mean in (("dev", 0.99), ("test", 0.9))]
    notes = ("dev was used in training A, so scores on it are too good", "test was used in training A")
    lines = sentences(study(*parts, notes=notes))
    assert "We report Accuracy (upos) on test." in lines
    assert "A had Accuracy (upos) 90.00 (95% CI [88.00, 92.00])." in lines
    assert not any("99.00" in line or "Dev was" in line for line in lines)
    assert "Test was used in training A." in lines


def test_a_search_of_two_setups() -> None:
    split = "one random split by sentence (80/10/10 by sentences; seed 0) (Gorman and Bedrick, 2019)"
    result = two_setups()
    lines = sentences(result)
    assert lines[:2] == [
        f"We searched 3 settings of tagger (all combinations, of epochs and order; 1 seed each) on {split} of each of "
        "north and south.",
        "The settings with the highest Accuracy on dev of each split won (van der Goot, 2021).",
    ]
    assert lines[3:6] == [
        "Setups were compared on test with the paired bootstrap (Efron, 1979) on sentences at alpha 0.05, with "
        "p-values corrected by Bonferroni's method for 2 data sets.",
        "On test, the winners have a mean Accuracy of 87.00 and 86.00.",
        headline(result),
    ]
    assert lines[-1] == "Cost: 12 networks for 3 settings; 4 networks scored on test."
    assert sentences(study(searches=(result,))) == lines


def test_a_search_of_one_setup_is_compared_with_none() -> None:
    result = one_setup(method="optuna", seeds=(0, 1, 2))
    lines = sentences(result)
    assert "(proposed by Optuna, of epochs and order; 3 seeds each)" in lines[0]
    assert headline(result) in lines
    assert not any("compared" in line for line in lines)


def test_a_search_without_a_winner_and_one_beside_systems() -> None:
    empty = search([dataset("north", [], [setting_scores("tune", ())])], ("tune",), trained=0, failed=3)
    assert headline(empty) in sentences(empty)
    cell = failed("tagger.v1(epochs=3)", "failed")
    both = study(
        block([scores("A", 0.92, 1)], [], **SINGLE), searches=(one_setup(),), failed=(cell,), systems=systems(A=(0,))
    )
    lines = sentences(both)
    assert lines.index("A had Accuracy (upos) 92.00 (95% CI [90.00, 94.00]).") < lines.index(headline(one_setup()))
    assert not any("left out" in line for line in lines), "the search reports its failures itself"
