"""What is said in words: it follows from the numbers, and says no more than they do."""

from typing import Any

import pytest

from deadheat.analyses.verdicts import ranking, study_verdicts, verdicts


def standing(system: str, mean: float | None) -> dict[str, Any]:
    return {"system": system, "metric": "accuracy.v1", "mean": mean}


def pair(a: str, b: str, significant: int, splits: int, *, lost: int = 0) -> dict[str, Any]:
    return {
        "a": a, "b": b, "splits": splits, "ahead": splits - lost, "significant": significant, "reversed": lost,
        "p_corrected": [0.25] * splits,
    }  # fmt: skip


def block(pairs: list[dict[str, Any]], *, corpus: str = "en", split: str = "random.v1", part: str = "test") -> Any:
    systems = [standing("A", 0.95), standing("B", 0.94), standing("C", 0.90)]
    return {"corpus": corpus, "split": split, "part": part, "metrics": ["accuracy.v1"], "systems": systems,
            "pairs": pairs, "splits": 1}  # fmt: skip


def study(*blocks: Any) -> dict[str, Any]:
    return {"kind": "study", "alpha": 0.05, "blocks": list(blocks)}


def seeds(p: float, *, least: float = 0.01, n: int = 5, a: str = "A", difference: float = 0.01) -> dict[str, Any]:
    b = "B" if a == "A" else "A"
    systems = [{"system": name, "n": n, "mean": 0.9} for name in "AB"]
    told = {"a": a, "b": b, "difference": difference, "least_p": least, "mann_whitney": {"p_corrected": p}}
    return {"kind": "seeds", "alpha": 0.05, "blocks": [{"by": "", "systems": systems, "pairs": [told]}]}


def rank(share: float) -> dict[str, Any]:
    systems = [{"system": "A", "chances": [share, 1 - share]}, {"system": "B", "chances": [1 - share, share]}]
    pairs = [{"a": "A", "b": "B", "p_a": share, "p_b": 1 - share, "p_level": 0.0}]
    return {"kind": "rank", "subset_size": 3, "data_sets": 8, "systems": systems, "pairs": pairs}


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
    assert study_verdicts(clear) == ["A is better than B: it holds on the standard split (p = 0.25)."]
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


def test_too_few_seeds_are_told_and_not_taken_for_a_dead_heat_of_the_method() -> None:
    (said,) = verdicts([seeds(0.1, least=0.1, n=3)])
    assert said == "A and B are a dead heat: the lead of A cannot be told over seeds, for there are too few."


def test_a_system_with_one_run_is_not_compared_over_seeds() -> None:
    assert verdicts([seeds(0.001, n=1)]) == ()


def test_seeds_count_for_the_system_that_is_ahead_only() -> None:
    behind = verdicts([study(block([pair("A", "B", 20, 20)])), seeds(0.001, difference=-0.01)])
    assert "it does not hold over seeds" in behind[0]
    turned = verdicts([study(block([pair("A", "B", 20, 20)])), seeds(0.001, a="B", difference=-0.01)])
    assert turned[0] == "A is better than B: it holds on 20 of 20 random splits; over seeds (p = 0.001)."


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
    assert ranking([block([]), partial]) == ["A"]


def test_nothing_is_said_of_nothing() -> None:
    assert verdicts([]) == ()
    assert verdicts([study()]) == ()
    assert verdicts([{"kind": "ledger", "test_sets": []}]) == ()


def test_a_look_past_the_budget_is_told() -> None:
    test_sets = [{"looks": 3, "over_budget": 1}, {"looks": 4, "over_budget": 0}]
    (said,) = verdicts([{"kind": "ledger", "test_sets": test_sets}])
    assert said == "2 test sets looked at 7 times in all, one of them 4 times; 1 look past a budget."


def test_sizes_are_told_set_by_set() -> None:
    sets = [{"set": "en", "ways": [{"enough": 9}, {"enough": 2000}]}, {"set": "de", "ways": [{"enough": None}]}]
    (said,) = verdicts([{"kind": "size", "sets": sets}])
    assert said == ("Enough test data to rank the systems as all of it does: 2,000 words on en; no size tried on de.")
