"""What is said in words: it follows from the numbers, and says no more than they do."""

from typing import Any

import pytest
from deadheat.questions.verdicts import study_verdicts, verdicts

from deadheat.results.study import ranking


def standing(system: str, mean: float | None) -> dict[str, Any]:
    return {"system": system, "metric": "accuracy.v1", "mean": mean}


def pair(a: str, b: str, significant: int, splits: int, *, lost: int = 0) -> dict[str, Any]:
    return {
        "a": a, "b": b, "splits": splits, "ahead": splits - lost, "significant": significant, "reversed": lost,
        "p_corrected": [0.01] * significant + [0.25] * (splits - significant),
    }  # fmt: skip


def block(pairs: list[dict[str, Any]], *, corpus: str = "en", split: str = "random.v1", part: str = "test") -> Any:
    systems = [standing("A", 0.95), standing("B", 0.94), standing("C", 0.90)]
    return {"corpus": corpus, "split": split, "part": part, "metrics": ["accuracy.v1"], "systems": systems,
            "pairs": pairs, "splits": 1}  # fmt: skip


def study(*blocks: Any) -> dict[str, Any]:
    return {"kind": "study", "alpha": 0.05, "blocks": list(blocks)}


def seeds(p: float, *, least: float = 0.01, n: int = 5, winner: str = "A", turned: bool = False) -> dict[str, Any]:
    a, b = ("B", "A") if turned else ("A", "B")
    systems = [{"system": name, "n": n, "mean": 0.9} for name in "AB"]
    favoured = winner if p <= 0.05 else ""
    told = {"a": a, "b": b, "difference": 0.01, "least_p": least, "winner": favoured}
    pairs = [told | {"mann_whitney": {"p_corrected": p}}]
    return {"kind": "seeds", "alpha": 0.05, "blocks": [{"by": "", "systems": systems, "pairs": pairs}]}


def rank(share: float, design: str = "all") -> dict[str, Any]:
    systems = [
        {"system": "A", "rank": 1, "chances": [share, 1 - share]},
        {"system": "B", "rank": 2, "chances": [1 - share, share]},
    ]
    pairs = [{"a": "A", "b": "B", "p_a": share, "p_b": 1 - share, "p_level": 0.0}]
    return {"kind": "rank", "design": design, "samples": 56, "subset_size": 3, "data_sets": 8,
            "systems": systems, "pairs": pairs}  # fmt: skip


def compare(p: float, winner: str, *, unit: str = "sentence") -> dict[str, Any]:
    pairs = [{"a": "A", "b": "B", "difference": 0.02, "p_corrected": p, "winner": winner}]
    systems = [{"system": "A", "value": 0.9}, {"system": "B", "value": 0.88}]
    return {"kind": "compare", "unit": unit, "metric": "LAS", "scale": 100, "alpha": 0.05, "systems": systems,
            "pairs": pairs}  # fmt: skip


@pytest.mark.parametrize(
    ("won", "said"),
    [
        (19, "A is better than B: it holds on 19 of 20 random splits."),
        (16, "A is better than B: it holds on 16 of 20 random splits."),
        (15, "A and B are a dead heat: the lead of A holds on only 15 of 20 random splits (ahead on 20)."),
        (0, "A and B are a dead heat: the lead of A holds on none of 20 random splits (ahead on 20)."),
    ],
)
def test_a_difference_holds_if_it_is_clear_on_four_of_five_splits(won: int, said: str) -> None:
    assert study_verdicts(study(block([pair("A", "B", won, 20)])))[0] == said


def test_a_split_that_the_other_wins_is_told_and_nothing_holds_then() -> None:
    (said, *_) = study_verdicts(study(block([pair("A", "B", 18, 20, lost=1)])))
    expected = "the lead of A holds on only 18 of 20 random splits (ahead on 19, B is better on 1)"
    assert said == f"A and B are a dead heat: {expected}."


def test_a_pair_is_the_same_pair_in_either_order() -> None:
    turned = pair("B", "A", 0, 20)
    turned |= {"reversed": 20, "ahead": 0}
    assert study_verdicts(study(block([turned]))) == study_verdicts(study(block([pair("A", "B", 20, 20)])))


def test_the_standard_split_has_to_be_clear_by_itself() -> None:
    clear, unclear = (study(block([pair("A", "B", won, 1)], split="standard.v1")) for won in (1, 0))
    assert study_verdicts(clear) == ["A is better than B: it holds on the standard split (p = 0.01)."]
    assert study_verdicts(unclear)[0].endswith("the lead of A does not hold on the standard split (p = 0.25).")


def test_splits_of_several_corpora_are_counted_together() -> None:
    found = study(block([pair("A", "B", 5, 5)]), block([pair("A", "B", 4, 5)], corpus="de"))
    assert study_verdicts(found) == ["A is better than B: it holds on 9 of 10 random splits of 2 corpora."]


def test_all_kinds_of_evidence_go_into_one_sentence() -> None:
    documents = [study(block([pair("A", "B", 19, 20)])), seeds(0.004), rank(0.6)]
    assert verdicts(documents)[0] == (
        "A is ahead of B, but not in every way: it holds on 19 of 20 random splits; over seeds (p = 0.004); "
        "it holds on only 60.0 % of the subsets of 3 of the 8 data sets."
    )


def test_too_few_seeds_are_told_and_not_taken_for_a_dead_heat() -> None:
    (said,) = verdicts([seeds(0.1, least=0.1, n=3)])
    assert said == "A is ahead of B, and it cannot be told whether it is better: there are too few seeds to tell."
    both = verdicts([study(block([pair("A", "B", 20, 20)])), seeds(0.1, least=0.1, n=3)])
    assert both[0] == "A is better than B: it holds on 20 of 20 random splits; there are too few seeds to tell."


def test_a_system_with_one_run_is_not_compared_over_seeds() -> None:
    assert verdicts([seeds(0.001, n=1)]) == ()


def test_over_seeds_counts_whom_the_test_favours_and_not_whose_mean_is_higher() -> None:
    won = study(block([pair("A", "B", 20, 20)]))
    assert "it does not hold over seeds" in verdicts([won, seeds(0.001, winner="B")])[0]
    expected = "A is better than B: it holds on 20 of 20 random splits; over seeds (p = 0.001)."
    assert verdicts([won, seeds(0.001)])[0] == verdicts([won, seeds(0.001, turned=True)])[0] == expected


def test_a_comparison_is_told_by_the_winner_of_its_test() -> None:
    assert verdicts([compare(0.01, "A")]) == (
        "A is better than B: it holds over sentences (2.00 points of LAS, p = 0.01).",
    )
    assert verdicts([compare(0.3, "")]) == (
        "A and B are a dead heat: the lead of A does not hold over sentences (2.00 points of LAS, p = 0.3).",
    )
    (turned,) = verdicts([compare(0.01, "B")])
    assert "is turned around by the test over sentences" in turned
    assert "is better than" not in turned


def test_a_test_over_data_sets_is_evidence_about_a_study_and_one_over_sentences_speaks_for_itself() -> None:
    won = study(block([pair("A", "B", 20, 20)]))
    (said,) = verdicts([won, compare(0.2, "", unit="data set")])
    assert said == (
        "A is ahead of B, but not in every way: it holds on 20 of 20 random splits; "
        "it does not hold over data sets (2.00 points of LAS, p = 0.2)."
    )
    assert len(verdicts([won, compare(0.2, "")])) == 2


def test_splits_that_are_not_random_are_not_called_so() -> None:
    biased = study(block([pair("A", "B", 5, 5)], split="biased.v1(by='length')"))
    assert study_verdicts(biased) == ["A is better than B: it holds on 5 of 5 splits by biased."]
    single = study(block([pair("A", "B", 0, 1)], split="seq.v1"))
    assert study_verdicts(single)[0].endswith("the lead of A does not hold on the split by seq (p = 0.25).")


def test_a_sample_of_subsets_is_not_told_as_all_of_them() -> None:
    assert "on 100 % of 56 random subsets of 3" in verdicts([rank(1.0, design="free")])[0]
    assert "on 100 % of the subsets of 3" in verdicts([rank(1.0)])[0]


def test_several_pairs_are_not_corrected_for_and_that_is_said() -> None:
    said = study_verdicts(study(block([pair("A", "B", 5, 5), pair("B", "C", 5, 5), pair("A", "C", 5, 5)])))
    assert said[-1] == "Significance is corrected for the number of splits, not for the 3 pairs of systems."


def test_systems_are_ranked_by_the_metric_they_are_compared_by() -> None:
    own = block([pair("A", "B", 5, 5), pair("P", "Q", 5, 5)])
    own["metrics"] = ["accuracy.v1", "las.v1"]
    own["systems"] = [
        standing("A", 0.9), standing("B", 0.8),
        standing("P", 0.7) | {"metric": "las.v1"}, standing("Q", 0.6) | {"metric": "las.v1"},
    ]  # fmt: skip
    said = study_verdicts(study(own))
    assert [each.partition(":")[0] for each in said[:2]] == ["A is better than B", "P is better than Q"]


@pytest.mark.parametrize(
    ("share", "said"),
    [(1.0, "on 100 % of"), (0.99999, "on more than 99.9 % of"), (0.95, "on 95.0 % of"), (0.0, "on 0 % of")],
)
def test_all_is_said_only_of_all(share: float, said: str) -> None:
    assert said in verdicts([rank(share)])[0]


def test_dev_speaks_only_where_there_is_no_test() -> None:
    both = study(block([pair("A", "B", 0, 5)]), block([pair("A", "B", 5, 5)], part="dev"))
    assert study_verdicts(both)[0].startswith("A and B are a dead heat")
    assert study_verdicts(study(block([pair("A", "B", 5, 5)], part="dev")))[0].startswith("A is better")


def test_systems_that_did_not_run_everywhere_are_not_ranked() -> None:
    partial = block([])
    partial["systems"] = [standing("A", 0.95), standing("C", None)]
    assert ranking([block([]), partial], "accuracy.v1") == (["A"], ["B", "C"])
    said = study_verdicts(study(block([pair("A", "B", 5, 5)]), partial | {"pairs": [pair("A", "C", 5, 5)]}))
    assert "Not ranked, for not run on everything: B, C." in said


def test_nothing_is_said_of_nothing() -> None:
    assert verdicts([]) == ()
    assert verdicts([study()]) == ()
    assert verdicts([{"kind": "ledger", "test_sets": []}]) == ()


def test_a_look_past_the_budget_is_told() -> None:
    test_sets = [{"looks": 3, "over_budget": 1}, {"looks": 4, "over_budget": 0}]
    (said,) = verdicts([{"kind": "ledger", "test_sets": test_sets}])
    assert said == "2 test sets looked at 7 times in all, one of them 4 times; 1 look past a budget."
    assert verdicts([{"kind": "ledger", "test_sets": [{"looks": 1, "over_budget": 0}]}]) == (
        "1 test set looked at 1 time.",
    )


def test_sizes_are_told_set_by_set_with_what_enough_means() -> None:
    sets = [
        {"set": "en", "words": 9000, "ways": [{"way": "seq", "enough": 9}, {"way": "rand", "enough": 2000}]},
        {"set": "fi", "words": 900, "ways": [{"way": "rand", "enough": 500}]},
        {"set": "de", "words": 900, "ways": [{"way": "rand", "enough": None}]},
    ]
    (said,) = verdicts([{"kind": "size", "threshold": 0.9, "confidence": 0.95, "sets": sets}])
    assert said == (
        "Enough test data to rank the systems as all of it does (drawn by rand, tau at least 0.9 in 95 % of draws): "
        "2,000 words on en; 500 words on fi, more than half of it; none of the sizes tried on de."
    )


def test_runs_that_differ_in_settings_are_not_called_seeds() -> None:
    found = seeds(0.001)
    found["blocks"][0]["unit"] = "configuration"
    assert verdicts([found]) == ("A is better than B: it holds over configurations (p = 0.001).",)


def test_cells_that_failed_are_told() -> None:
    partly = study(block([pair("A", "B", 5, 5)])) | {"failed": [{}, {}], "cells": 40}
    assert study_verdicts(partly)[-1] == "2 of 40 cells failed, and what they lack is left out."
