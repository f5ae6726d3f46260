"""Statements about studies of several designs, each worked out from the document beside it."""

from typing import Any

import pytest

from tests.paper.documents import Document, block, over_splits, said, standing, study, twenty_splits

FAILED = {"system": "lookahead", "status": "failed"}


def test_random_splits_are_told_with_how_they_were_made_and_what_they_showed() -> None:
    assert said(twenty_splits()) == [
        "We trained 2 systems (lookahead and loglinear) (Tsuruoka et al., 2011; Toutanova et al., 2003) on 20 random "
        "splits by document (80/10/10 by words, stratified by genre; seed 0) (Gorman and Bedrick, 2019) of velani "
        "(600 sentences, 9,544 words).",
        "Each was trained once on each split (seed 0).",
        "We report Accuracy (upos) on test.",
        "On each split the two systems were compared with McNemar's test (mid-p) (McNemar, 1947; Fagerland et al., "
        "2013) on words at alpha 0.05, with p-values corrected by Bonferroni's method for 20 splits.",
        "lookahead had the highest mean Accuracy (upos), 95.07 % (SD 0.21 over 20 runs), followed by loglinear with "
        "94.68 % (SD 0.19 over 20 runs).",
        "lookahead was better than loglinear on 19 of 20 splits (0.39 points higher on average), significantly so on "
        "13 of them, and significantly worse on 1.",
        "The analysis was done with Deadheat.",
    ]


def test_one_split_and_one_seed_is_one_difference_with_its_p_value() -> None:
    systems = [standing("A", 0.92, 1), standing("B", 0.90, 1)]
    pair = over_splits("A", "B", 0.02, splits=1, ahead=1, significant=1, p=0.0042)
    found = study([block(systems, [pair], splits=1, split="standard.v1")], seeds={"A": [0], "B": [0]})
    assert said(found) == [
        "We trained 2 systems (A and B) on the standard split of velani.",
        "Each was trained once (seed 0).",
        "We report Accuracy (upos) on test.",
        "Systems were compared with McNemar's test (mid-p) (McNemar, 1947; Fagerland et al., 2013) on words at alpha "
        "0.05.",
        "A had the highest Accuracy (upos), 92.00 % (95 % interval 90.00 to 94.00), followed by B with 90.00 % (95 % "
        "interval 88.00 to 92.00).",
        "A scored 2.00 points higher than B (p = 0.0042, significant).",
        "The analysis was done with Deadheat.",
    ]


def test_several_seeds_are_told_and_that_the_first_was_compared() -> None:
    systems = [standing("A", 0.92, 3, sd=0.01), standing("B", 0.90, 1)]
    pair = over_splits("A", "B", -0.003, splits=1, ahead=0, p=0.7)
    found = study([block(systems, [pair], splits=1, split="standard.v1")], seeds={"A": [0, 1, 2], "B": [0]})
    told = said(found)
    assert "Trained were A with 3 seeds (0 to 2) and B with one seed (0)." in told
    assert any(each.startswith("Systems were compared, by the first seed of each, with McNemar's") for each in told)
    assert "By their first seeds, A scored 0.30 points lower than B (p = 0.7000, not significant)." in told


def test_first_seeds_are_named_beside_means_over_seeds_on_several_splits_too() -> None:
    systems = [standing("A", 0.92, 6, sd=0.01), standing("B", 0.90, 6, sd=0.01)]
    told = said(study([block(systems, [over_splits("A", "B", 0.01, splits=2, ahead=2)], splits=2)]))
    assert any(each.startswith("By their first seeds, A was better than B on all 2 splits") for each in told)


def test_blocks_that_differ_only_in_the_seed_of_the_split_are_told_by_it() -> None:
    blocks = [block([standing("A", 0.9, 2, sd=0.1)], [], splits=2, seed=seed) for seed in (0, 1)]
    told = [each for each in said(study(blocks)) if each.startswith("On ")]
    assert [each.partition(",")[0] for each in told] == [
        f"On 2 random splits by document with seed {seed}" for seed in (0, 1)
    ]


def test_systems_of_different_first_metrics_are_told_apart() -> None:
    taggers = [standing("T1", 0.95, 1), standing("T2", 0.94, 1)]
    parsers = [standing("P1", 0.85, 1, metric="las.v1"), standing("P2", 0.84, 1, metric="las.v1")]
    pairs = [over_splits(a, b, 0.01, splits=1, ahead=1) for a, b in (("T1", "T2"), ("P1", "P2"))]
    pairs[1]["test"] = "randomization"
    told = said(study([block([*taggers, *parsers], pairs, splits=1, split="standard.v1")]))
    at = told.index("We report LAS on test of P1 and P2.")
    assert "We report Accuracy (upos) on test of T1 and T2." in told[:at]
    assert "T1 scored 1.00 points higher than T2 (p = 0.5000, not significant)." in told[:at]
    assert "approximate randomization" in told[at + 1]
    assert " on sentences at alpha" in told[at + 1]
    assert told[at + 2].startswith("P1 had the highest LAS, 85.00 %")
    assert told[at + 3] == "P1 scored 1.00 points higher than P2 (p = 0.5000, not significant)."


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ({"A": [0, 1], "B": [0, 1]}, "Each was trained with 2 seeds (0 and 1) on each split."),
        ({"A": [7]}, "It was trained once on each split (seed 7)."),
        ({"A": [1, 2, 3, 4, 5]}, "It was trained with 5 seeds (1 to 5) on each split."),
        ({"A": [0], "B": [1]}, "Trained were A with one seed (0) and B with one seed (1) on each split."),
    ],
)
def test_seeds_in_words(seeds: dict[str, list[int]], expected: str) -> None:
    found = study([block([standing("A", 0.9, 2, sd=0.1)], [], splits=2)], seeds=seeds)
    assert expected in said(found)


def test_nothing_is_said_of_seeds_that_are_not_known() -> None:
    assert not any(
        "seed" in each for each in said(study([block([standing("A", 0.9, 1)], [], splits=1, split="standard.v1")]))
    )


def test_one_system_is_compared_with_nobody() -> None:
    told = said(study([block([standing("A", 0.9, 2, sd=0.01)], [], splits=2)]))
    assert told[0].startswith("We trained 1 system (A) on 2 random splits by document")
    assert "A had Accuracy (upos) 90.00 % (SD 1.00 over 2 runs)." in told
    assert not any("compared" in each or "McNemar" in each for each in told)


def three(splits: int, *, significant: int, p: float = 0.5) -> Document:
    systems = [standing(name, mean, splits, sd=0.01) for name, mean in (("A", 0.93), ("B", 0.92), ("C", 0.91))]
    pairs = [
        over_splits(a, b, 0.01, splits=splits, ahead=splits, significant=significant, p=p)
        for a, b in ("AB", "AC", "BC")
    ]
    return study([block(systems, pairs, splits=splits)])


def test_where_nothing_is_significant_that_is_said() -> None:
    told = said(three(5, significant=0))
    assert (
        "A was better than B on all 5 splits (1.00 points higher on average), significantly so on none of them." in told
    )
    assert "No difference between any two systems was significant on any split." in told
    assert any("for 5 splits and not for the 3 pairs." in each for each in told)


def test_where_everything_is_significant_that_is_said_of_neighbours() -> None:
    told = said(three(5, significant=5, p=0.001))
    assert (
        "A was better than B on all 5 splits (1.00 points higher on average), significantly so on all of them." in told
    )
    assert (
        "B was better than C on all 5 splits (1.00 points higher on average), significantly so on all of them." in told
    )
    assert not any("A was better than C" in each for each in told)
    assert not any(each.startswith("No difference") for each in told)


def test_pairs_of_one_split_are_not_corrected_and_that_is_said() -> None:
    told = said(three(1, significant=0))
    assert any(each.endswith("at alpha 0.05; p-values are not corrected for the 3 pairs.") for each in told)
    assert "No difference between any two systems was significant." in told


def several_corpora(number: int, *, splits: int = 1) -> Document:
    blocks = [
        block(
            [standing("A", 0.9, splits), standing("B", 0.88, splits)],
            [over_splits("A", "B", 0.02, splits=splits, ahead=splits, significant=i % 2, p=0.01)],
            splits=splits,
            corpus=f"bank{i}",
            split="standard.v1",
        )
        for i in range(number)
    ]
    return study(blocks)


def test_two_treebanks_are_told_one_by_one() -> None:
    told = said(several_corpora(2))
    assert told[0] == "We trained 2 systems (A and B) on the standard split of each of bank0 and bank1."
    assert any(each.startswith("Systems were compared on each corpus with McNemar's test") for each in told)
    assert sum(each.startswith("On bank") for each in told) == 2
    assert "A scored 2.00 points higher than B (p = 0.0100, significant)." in told
    assert "A scored 2.00 points higher than B (p = 0.0100, not significant)." in told


def test_many_treebanks_are_told_together() -> None:
    told = said(several_corpora(6))
    assert told[0].endswith("of each of 6 corpora (bank0, bank1, bank2, bank3, bank4 and bank5).")
    assert (
        "A was better than B on all 6 splits of 6 corpora (2.00 points higher on average), significantly so on 3 of "
        "them." in told
    )


def test_a_system_that_is_behind_on_some_corpus_is_told_without_guessing() -> None:
    found = several_corpora(5)
    turned = found["blocks"][4]
    turned["systems"] = [standing("B", 0.9, 1), standing("A", 0.89, 1)]
    turned["pairs"] = [over_splits("B", "A", 0.01, splits=1, ahead=1, significant=1, p=0.01)]
    # (4 * 2 points - 1 point) / 5 = 1.4 points; significant for A on bank1 and bank3, for B on bank4.
    expected = (
        "A scored 1.40 points higher on average than B over 5 splits of 5 corpora and was significantly better on 2, "
    )
    assert f"{expected}and significantly worse on 1." in said(found)


def test_standard_and_random_splits_of_one_corpus_are_told_apart() -> None:
    systems, pair = [standing("A", 0.9, 1), standing("B", 0.88, 1)], over_splits("A", "B", 0.02, splits=1, ahead=1)
    often = [standing("A", 0.9, 3, sd=0.01), standing("B", 0.88, 3, sd=0.01)]
    pairs = over_splits("A", "B", 0.02, splits=3, ahead=3)
    blocks = [block(systems, [pair], splits=1, split="standard.v1"), block(often, [pairs], splits=3)]
    told = said(study(blocks))
    assert told[0].startswith("We trained 2 systems (A and B) on the standard split and 3 random splits by document")
    assert any(each.startswith("On the standard split, A had the highest Accuracy") for each in told)
    assert any(each.startswith("On 3 random splits by document, A had the highest mean") for each in told)
    assert any("corrected by Bonferroni's method for the number of splits." in each for each in told)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"missing": 1}, "1 of 40 runs has no result and is left out."),
        ({"missing": 3}, "3 of 40 runs have no result and are left out."),
        (
            {"missing": 3, "failed": [FAILED, FAILED, {"system": "hmm", "status": "killed"}]},
            "3 of 40 runs have no result and are left out (lookahead: 2 failed and hmm: 1 killed).",
        ),
        ({"missing": 2, "cells": None}, "2 runs have no result and are left out."),
        ({"damaged": ["k"]}, "The predictions of 1 run could not be read and are left out of the comparisons."),
        ({"damaged": ["k", "l"]}, "The predictions of 2 runs could not be read and are left out of the comparisons."),
    ],
)  # fmt: skip
def test_what_failed_is_told(more: dict[str, Any], expected: str) -> None:
    assert expected in said(twenty_splits(**more))


def test_nothing_is_said_of_failures_where_there_are_none() -> None:
    assert not any("left out" in each for each in said(twenty_splits()))


def test_a_study_without_results_says_so() -> None:
    assert said(study([], missing=40, cells=40)) == [
        "The study has no results.",
        "40 of 40 runs have no result and are left out.",
        "The analysis was done with Deadheat.",
    ]


def test_test_comes_before_dev_and_what_was_trained_on_is_told() -> None:
    note = "dev was used in training A, so that scores on it are too good to compare by"
    parts = [block([standing("A", mean, 1)], [], splits=1, part=part) for part, mean in (("dev", 0.99), ("test", 0.9))]
    told = said(study(parts, notes=[note]))
    assert "We report Accuracy (upos) on test." in told
    assert "A had Accuracy (upos) 90.00 % (95 % interval 88.00 to 92.00)." in told
    assert not any("99.00" in each for each in told)
    assert "Dev was used in training A, so that scores on it are too good to compare by." in told


def test_splits_of_one_corpus_are_not_told_of_all() -> None:
    systems = [standing("A", 0.92, 1), standing("B", 0.90, 1)]
    pair = over_splits("A", "B", 0.02, splits=1, ahead=1, significant=1, p=0.0042)
    blocks = [block(systems, [pair], splits=1, split="standard.v1") | {"corpus": name} for name in ("en", "de")]
    blocks.append(block(systems, [pair], splits=1, split="random.v1") | {"corpus": "en"})
    told = said(study(blocks, seeds={"A": [0], "B": [0]}))[0]
    assert "on the standard split of each of en and de; and on one random split by sentence" in told
    assert told.rstrip(".").endswith("of en")
