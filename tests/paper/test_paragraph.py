"""Statements about documents of every kind, each worked out from the document beside it."""

import pytest

from deadheat.errors import NameUnknown
from deadheat.paper.paragraph import paragraph
from tests.paper import documents
from tests.paper.checker import check
from tests.paper.documents import HOSTILE, LOOK, Document, said, twenty_splits
from tests.paper.test_tables import DOCUMENTS, renamed


def test_a_comparison_says_who_is_better_and_who_is_tied() -> None:
    p = {("A", "B"): 0.2, ("A", "C"): 0.01, ("B", "C"): 0.03}
    assert said(documents.comparison({"C": 0.7, "B": 0.89, "A": 0.9}, p, tied=["A", "B"])) == [
        "We compared 3 systems (A, B and C) by LAS on 54 sentences with the exact permutation test by sentence at "
        "alpha 0.05, p-values corrected by Holm's method for 3 tests (Holm, 1979).",
        "A had the highest LAS (90.00 %).",
        "It is significantly better than C (20.00 points, p = 0.0100).",
        "It does not differ significantly from B (1.00 points, p = 0.2000).",
        "The analysis was done with Deadheat 0.1.0.",
    ]


def test_a_comparison_without_any_difference_says_so() -> None:
    p = {("A", "B"): 0.2, ("A", "C"): 0.3, ("B", "C"): 0.4}
    told = said(documents.comparison({"A": 0.9, "B": 0.89, "C": 0.88}, p, tied=["A", "B", "C"], correction="none"))
    assert "It does not differ significantly from B (1.00 points, p = 0.2000) and C (2.00 points, p = 0.3000)." in told
    assert "No difference between any two systems was significant." in told
    assert told[0].endswith("p-values not corrected for 3 tests.")


def test_a_test_that_speaks_for_the_lower_score_is_not_called_better() -> None:
    found = documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.01}, tied=["A"])
    assert "It is significantly better than B (10.00 points, p = 0.0100)." in said(found)
    found["pairs"][0]["winner"] = "B"
    assert "It differs significantly from B (10.00 points, p = 0.0100)." in said(found)


def test_ranks_over_data_sets_cite_demsar() -> None:
    ranks = {
        "data_sets": 8,
        "alpha": 0.05,
        "critical_difference": 1.658,
        "cliques": [["A", "B"]],
        "friedman": {"p": 0.0239},
    }
    found = documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.5}, tied=["A", "B"], ranks=ranks)
    assert (
        "By Friedman's test the ranks over 8 data sets differ (p = 0.0239); Nemenyi's test (critical difference 1.66) "
        "does not tell apart A and B (Demšar, 2006)." in said(found)
    )


def test_a_ranking_says_how_far_it_depends_on_the_data_sets() -> None:
    assert said(documents.ranking()) == [
        "We ranked 3 systems by LAS on 5 data sets, and on all subsets of 2 of them (Alonso-Alonso et al., 2022).",
        "Kendall's tau (Kendall, 1938) between the ranking on a subset and that on all data sets was 0.867 on average "
        "(SD 0.267, least 0.333).",
        "graph, first on all data sets, had ranks from 1 to 2 and was first on 80.0 % of them.",
        "Of the 3, one system had one and the same rank on every subset.",
        "The analysis was done with Deadheat.",
    ]
    assert any("10 random subsets" in each for each in said(documents.ranking(design="free")))


def test_seeds_say_who_the_best_is_told_apart_from() -> None:
    runs = {"A": (5, 0.900, 0.02), "B": (5, 0.890, 0.01), "C": (5, 0.850, 0.01), "D": (1, 0.840, None)}
    p = {("A", "B"): 0.3, ("A", "C"): 0.02, ("A", "D"): 0.4, ("B", "C"): 0.02, ("B", "D"): 0.4, ("C", "D"): 0.4}
    assert said(documents.seeds(runs, p)) == [
        "Over 1 to 5 runs each, we compared the distributions of f1 of 4 systems (A, B, C and D) (Reimers and "
        "Gurevych, 2017).",
        "Mann-Whitney's test of runs (Mann and Whitney, 1947) was used at alpha 0.05, with p-values corrected by "
        "Holm's method for 6 tests (Holm, 1979).",
        "A (90.00 %, SD 2.00) had the highest mean, followed by B (89.00 %, SD 1.00), C (85.00 %, SD 1.00) and D "
        "(84.00 %, one run).",
        "A was significantly better than C (p = 0.0200).",
        "A was not told apart from B (p = 0.3000).",
        "A had too few runs to be told apart from D (p = 0.4000).",
        "Of all 6 pairs, 2 differ.",
        "The analysis was done with Deadheat.",
    ]


def test_one_system_over_seeds_is_compared_with_nobody() -> None:
    told = said(documents.seeds({"A": (5, 0.9, 0.02)}, {}))
    assert told[0].startswith("Over 5 runs, we compared the distributions of f1 of 1 system (A)")
    assert told[1] == "A (90.00 %, SD 2.00)."


def test_contrasts_say_which_option_wins_and_against_which() -> None:
    told = said(documents.contrasts())
    assert told[0].startswith(
        "The options of decoder (CRF, Soft_max and none) were compared by f1 over runs that agree in dropout"
    )
    assert told[1] == (
        "On ner, CRF won 55.0 % of 20 configurations, not significantly more than Soft_max (p = 0.2000; at the median "
        "0.12 points higher) and significantly more than none (p = 0.0040; at the median 2.00 points higher)."
    )


def test_sizes_say_what_is_enough_and_what_is_not_known() -> None:
    told = said(documents.sizes())
    assert "by weighted tau (Vigna, 2015; van der Goot et al., 2024)" in told[0]
    assert told[1] == "Of velani-test (900 words), enough were 500 words by rand (by seq: one sample only)."


def test_scores_say_what_intervals_they_have() -> None:
    told = said(documents.scores({"a": 0.8, "b": 0.75}))
    assert told[:2] == [
        "We scored 2 predictions by LAS.",
        "By LAS, a has 80.00 % [70.00, 90.00] and b has 75.00 % [65.00, 85.00].",
    ]
    assert (
        "Intervals are 95 % and Wilson's, or by bootstrap where a score is no proportion (Wilson, 1927; Efron, 1979)."
        in told
    )


def test_power_and_splits_are_told() -> None:
    power = {"kind": "power", "difference": 0.002, "units": 25000, "alpha": 0.05, "power": 0.609}
    assert said(power)[0] == "At alpha 0.05, 25,000 units give a power of 0.61 to find a difference of 0.20 points."
    made = {
        "kind": "split",
        "corpus": "velani",
        "sentences": 1,
        "words": 20,
        "strategy": "kfold.v1(folds=5)",
        "times": 5,
        "seed": 3,
    }
    assert (
        said(made)[0]
        == "We made 5 splits of 5-fold cross-validation by sentence (seed 3) of velani (1 sentence, 20 words)."
    )


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        (
            [LOOK],
            "the test set velani-test was evaluated 6 times with 2 systems up to now, what is reported here included.",
        ),
        ([LOOK | {"looks": 1, "systems": ["A"]}], "was evaluated once with 1 system up to now"),
        ([LOOK | {"over_budget": 2}], "what is reported here included, 2 of them past the budget."),
        (
            [LOOK, LOOK | {"test_set": "other", "looks": 4}],
            "the 2 test sets were evaluated 10 times in all up to now, none more than 6 times, what is reported",
        ),
    ],
)
def test_how_often_test_sets_were_looked_at_is_told(looks: list[Document], expected: str) -> None:
    in_result = said(documents.scores({"a": 0.8}) | {"looks": looks})
    in_ledger = said(documents.scores({"a": 0.8}), {"kind": "ledger", "test_sets": looks})
    for told in (in_result, in_ledger):
        (found,) = [each for each in told if "ledger" in each]
        assert expected in found


def test_the_latest_count_of_a_test_set_is_told_once() -> None:
    first, later = (documents.scores({"a": 0.8}) | {"looks": [LOOK | {"looks": n}]} for n in (2, 9))
    assert sum("9 times" in each for each in said(later, first)) == 1
    assert not any("2 times" in each for each in said(later, first))


def test_without_a_ledger_nothing_is_said_of_looks() -> None:
    assert not any("ledger" in each for each in said(twenty_splits()))


def test_versions_come_from_what_was_run() -> None:
    assert said(twenty_splits(), provenance=[{"deadheat": "0.2.0"}])[-1] == "The analysis was done with Deadheat 0.2.0."


def test_latex_says_the_same_and_cites_by_keys() -> None:
    found = paragraph([twenty_splits()])
    assert r"95.07 \% (SD 0.21 over 20 runs)" in found.latex
    assert r"\citep{mcnemar-1947,fagerland-etal-2013}" in found.latex
    assert "(McNemar, 1947" not in found.latex
    assert len(found.latex.splitlines()) == len(found.sentences)
    check(found.latex)


def test_every_publication_that_is_cited_has_an_entry_and_no_other() -> None:
    found = paragraph([twenty_splits()])
    entries = found.bibtex()
    assert set(found.keys) == {
        "tsuruoka-etal-2011", "toutanova-etal-2003", "gorman-bedrick-2019", "mcnemar-1947", "fagerland-etal-2013",
    }  # fmt: skip
    assert entries.count("\n@") + entries.startswith("@") == len(found.keys)
    assert all(f"{{{key}," in entries for key in found.keys)


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_hostile_names_do_no_harm_in_the_paragraph(kind: str, hostile: str) -> None:
    used = ("A", "a_b", "graph", "Soft_max", "velani", "velani-test", "decoder", "LAS", "ner")
    check(paragraph([renamed(DOCUMENTS[kind], dict.fromkeys(used, hostile))]).latex)


def test_nothing_is_said_of_nothing() -> None:
    assert paragraph([]).text == ""


def test_a_document_of_unknown_kind_is_refused() -> None:
    with pytest.raises(NameUnknown, match="kind of document 'studies' is unknown; did you mean 'study'"):
        paragraph([{"kind": "studies"}])
