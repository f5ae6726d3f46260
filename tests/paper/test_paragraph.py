"""Statements about results of every kind, each worked out from the result beside it."""

import math
import re
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import deadheat
from deadheat.paper.methods import (
    OF_CORRECTIONS,
    OF_SYSTEMS,
    OF_TESTS,
    REFERENCES,
    authors_and_year,
    bibtex,
    split_words,
)
from deadheat.paper.paragraph import paragraph
from deadheat.reporting.model import p_value
from deadheat.reporting.views import headline
from deadheat.results.compare import Comparison
from deadheat.results.ledger import LedgerReport, Tally
from deadheat.results.rank import Ranking, SizeStudy
from deadheat.results.runs import Contrast, Seeds
from deadheat.results.score import Scores
from deadheat.results.study import Provenance
from deadheat.stats.corrections import CORRECTIONS
from deadheat.stats.paired import TESTS
from deadheat.systems import SYSTEMS
from tests.paper.cases import sentences, twenty_splits
from tests.results.samples import FAIR, GOLD, GOOD, TABLE, all_samples, compared_datasets

REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "book": {"author", "title", "publisher", "year"},
}
TALLY = Tally("velani-test", "e62ec0ccdf948bfec05b", 6, ("A", "B"), 2)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return cast(Comparison, all_samples()["compare"])


def with_p(result: Comparison, *ps: float, test: str = "clustered-t", direction: float = 1.0) -> Comparison:
    """The comparison with other corrected p-values, and intervals that agree with them."""
    pairs = []
    for pair, p in zip(result.pairs, ps, strict=True):
        reach = 0.1 if p <= 0.05 else 0.9
        interval = replace(pair.interval, low=pair.difference - reach, high=pair.difference + reach)
        if math.isnan(p):
            interval = replace(pair.interval, low=p, high=p)
        pairs.append(replace(pair, interval=interval, p_corrected=p, test=test, direction=direction))
    return replace(result, pairs=tuple(pairs), settings=replace(result.settings, test=test))


ERROR = (
    "that of the jackknife over {} (Miller, 1974), on the degrees of freedom of their effective number (Kish, 1965)."
)
EQUAL = (
    "By two one-sided tests (Schuirmann, 1987), two systems are equal if the interval of their difference is within "
    "0.50 points."
)
THESE_MODELS = "Each system has one run: what is shown is shown of these trained models."


def test_a_comparison_says_who_is_better_and_for_whom_that_is_not_shown(comparison: Comparison) -> None:
    """Of 20 sentences with 64 words, good has 52 right (81.25%), fair 40 (62.50%) and poor 20 (31.25%)."""
    fair, poor = (f"[{gap - 90:+.2f}, {gap + 90:+.2f}]" for gap in (18.75, 50))
    assert sentences(with_p(comparison, 0.2, 0.01, 0.03)) == [
        "We compared 3 systems (good, fair and poor) by Accuracy (tag) on 20 sentences with the clustered t-test on "
        "sentences at alpha 0.05, with p-values corrected by Holm's method for 3 tests (Holm, 1979), and intervals "
        "widened likewise.",
        f"The standard error of a difference is {ERROR.format('sentences')}",
        EQUAL,
        THESE_MODELS,
        "good had the highest Accuracy (tag) (81.25).",
        "good was significantly better than poor (+50.00 points, 95% CI [+40.00, +60.00], p = 0.0100).",
        f"good was not told apart from fair (+18.75 points, 95% CI {fair}, p = 0.2000).",
        "Of all 3 pairs, 2 differ significantly.",
    ]
    unshown = sentences(with_p(comparison, 0.2, 0.3, 0.4))
    assert unshown[-2].endswith(f"or poor (+50.00 points, 95% CI {poor}, p = 0.3000).")
    assert unshown[-1] == "Of all 3 pairs, none differs significantly."
    assert sentences(comparison)[-1] == "All 3 pairs differ significantly."


def test_a_named_test_is_cited_and_its_intervals_are_said_to_be_others(comparison: Comparison) -> None:
    lines = sentences(with_p(comparison, 0.2, 0.01, 0.03, test="wilcoxon"))
    assert "with Wilcoxon's signed-rank test (Wilcoxon, 1945) on sentences at alpha 0.05" in lines[0]
    opening = "Intervals of differences are by Student's t, with the standard error"
    assert lines[1] == f"{opening} {ERROR.format('sentences')}"


def test_of_one_run_each_only_the_models_are_compared(comparison: Comparison) -> None:
    first, *others = comparison.pairs
    partly = replace(comparison, pairs=(first, *(replace(pair, about_runs=False) for pair in others)))
    assert "Where both systems have one run, what is shown is shown of these trained models." in sentences(partly)
    never = replace(comparison, pairs=tuple(replace(pair, about_runs=False) for pair in comparison.pairs))
    assert "trained models" not in " ".join(sentences(never))


def test_other_margins_and_none(comparison: Comparison) -> None:
    for margin, expected in ((2, [EQUAL.replace("0.50", "2.00")]), (0, [])):
        lines = sentences(replace(comparison, settings=replace(comparison.settings, margin=margin)))
        assert [line for line in lines if "one-sided" in line] == expected


def test_too_few_units_are_never_called_no_difference(comparison: Comparison) -> None:
    nan = math.nan
    lines = sentences(with_p(comparison, nan, nan, nan))
    assert lines[-2:] == [
        "There were too few sentences to tell whether good is better than fair (+18.75 points) or poor (+50.00 "
        "points).",
        "For all 3 pairs, there were too few sentences to tell.",
    ]


def test_a_test_that_favours_the_lower_score_is_not_called_better(comparison: Comparison) -> None:
    lines = sentences(with_p(comparison, 0.01, 0.2, 0.2, test="sign", direction=-1.0))
    favoured = (
        "good had the higher score, but the test favours fair (+18.75 points, 95% CI [+8.75, +28.75], p = 0.0100)."
    )
    assert favoured in lines


def test_several_data_sets_and_runs_have_two_scopes() -> None:
    several = compared_datasets()
    lines = sentences(several)
    assert lines[0].startswith(
        "We compared 3 systems (A, C and B), with 1 to 3 runs each, by Accuracy (tag) on 4 data sets (en, de, fi and "
        "ta) with the clustered t-test on sentences at alpha 0.05, with p-values corrected by Holm's method for 3 tests"
    )
    assert lines[1] == (
        "The standard error of a difference is that of the jackknife over sentences (Miller, 1974) and of the variance "
        "over runs, on Satterthwaite's degrees of freedom (Satterthwaite, 1946), with those of the effective number of "
        "sentences (Kish, 1965)."
    )
    assert lines[3].startswith(
        "Differences were averaged over data sets, each with the same weight. For data sets like"
    )
    assert "partial conjunctions (Benjamini and Heller, 2008; Dror et al., 2017)" in lines[4]
    best = f"{100 * several.ranked[0].value:.2f}"
    complete = "On the 3 data sets with scores of all systems"  # C has none on the last
    assert lines[5] == f"{complete}, A had the highest mean Accuracy (tag) ({best})."
    text = " ".join(lines)
    for pair in several.pairs:
        if "A" in (pair.a, pair.b):
            forward = pair if pair.a == "A" else pair.turned()
            assert forward.elsewhere is not None
            for bounds, p in (
                (forward.interval, forward.p_corrected),
                (forward.elsewhere.interval, forward.elsewhere.p_corrected),
            ):
                low, high = (f"{100 * bound:+.2f}" for bound in bounds.bounds)
                numbers = f"{100 * forward.difference:+.2f} points, 95% CI [{low}, {high}], {p_value(p)}"
                assert f"{forward.b} ({numbers}" in text
            counts = f"higher on {forward.ahead_on} of {len(forward.by_dataset)} data sets, better on at least"
            assert f"{counts} {forward.shown_on}" in text
    assert {len(pair.by_dataset) for pair in several.pairs} == {3, 4}
    assert "For data sets like these, A was" in text or "For data sets like these, there were too few" in text
    keys = {"miller-1974", "satterthwaite-1946", "kish-1965", "schuirmann-1987", "holm-1979", "dror-etal-2017"}
    assert keys <= set(paragraph([several]).keys)


def test_the_test_set_is_named_in_every_sentence_where_the_ledger_knows_it(comparison: Comparison) -> None:
    lines = sentences(replace(comparison, evaluations=(TALLY,)))
    assert "on 20 sentences of velani-test with" in lines[0]
    assert all(line.startswith("On velani-test, ") for line in lines[4:-1])
    assert lines[4] == "On velani-test, good had the highest Accuracy (tag) (81.25)."


def test_one_test_is_not_corrected_and_a_comparison_without_correction_says_so(comparison: Comparison) -> None:
    two = deadheat.compare(GOLD, {"good": GOOD, "fair": FAIR})
    assert sentences(two)[0].endswith("with p-values of a single test.")
    uncorrected = replace(comparison, settings=replace(comparison.settings, correction="none"))
    assert sentences(uncorrected)[0].endswith("with p-values not corrected for 3 tests.")


def test_scores_on_data_sets_are_compared_by_students_test() -> None:
    result = cast(Comparison, all_samples()["compare_scores"])
    lines = sentences(result)
    assert "on 8 data sets with Student's paired t-test on data sets at alpha 0.05" in lines[0]
    assert not any("jackknife" in line or "one run" in line for line in lines)
    gaps = [100 * (a - b) for a, b in zip(TABLE["A"].values(), TABLE["C"].values(), strict=True)]
    by_scipy = ttest_1samp(gaps, 0)
    pair = next(pair for pair in result.pairs if (pair.a, pair.b) == ("A", "C"))
    assert pair.p == pytest.approx(by_scipy.pvalue)
    assert 100 * pair.difference == pytest.approx(np.mean(gaps))
    assert f"A was significantly better than C ({100 * pair.difference:+.2f} points, 95% CI [" in " ".join(lines)


def test_ranks_over_data_sets_cite_demsar() -> None:
    result = cast(Comparison, all_samples()["compare_scores"])
    assert result.ranks is not None
    p, difference = f"{result.ranks.friedman_p:.4f}", f"{result.ranks.critical_difference:.2f}"
    assert sentences(result)[-1] == (
        f"By Friedman's test the ranks over 8 data sets differ (p = {p}); by Nemenyi's test (critical difference "
        f"{difference}), the ranks of A and B and those of B and C do not differ significantly (Demšar, 2006)."
    )


def test_a_ranking_says_how_far_it_depends_on_the_data_sets() -> None:
    result = cast(Ranking, all_samples()["rank_with_everything"])
    lines = sentences(result)
    assert lines[0] == ("We ranked 4 systems on 8 data sets, and on all 56 subsets of 3 (Alonso-Alonso et al., 2022).")
    assert lines[1] == (
        "Mean differences over data sets were tested with Student's t-test at alpha 0.05, with p-values corrected by "
        "Holm's method for 6 tests (Holm, 1979)."
    )
    assert lines[2] == headline(result)
    tau = result.tau
    assert lines[3].endswith(f"is {tau.mean:.3f} on average (SD {tau.sd:.3f}, minimum {tau.min:.3f}).")


def test_runs_say_whom_the_best_is_better_than() -> None:
    result = cast(Seeds, all_samples()["seeds"])
    lines = sentences(result)
    assert lines[0] == (
        "Over 12 runs each, we compared the distributions of f1 of 3 systems (A, B and C) (Reimers and Gurevych, 2017)."
    )
    a, b, c = (result.blocks[0][name].summary for name in "ABC")
    assert lines[2] == (
        f"On ner, A ({100 * a.mean:.2f}, SD {100 * a.sd:.2f}) had the highest mean, followed by C "
        f"({100 * c.mean:.2f}, SD {100 * c.sd:.2f}) and B ({100 * b.mean:.2f}, SD {100 * b.sd:.2f})."
    )
    pair = result.blocks[0].pair("A", "B")
    gap = f"{100 * (a.mean - b.mean):+.2f}"
    p = p_value(pair.means.p_corrected)
    assert lines[3] == f"On ner, A scored significantly higher than B ({gap} points, {p})."
    assert lines[5] == "On ner, of all 3 pairs, 2 differ significantly."


def test_one_system_over_runs_is_compared_with_none() -> None:
    result = cast(Seeds, all_samples()["seeds"])
    block = replace(result.blocks[0], level="", systems=result.blocks[0].systems[:1], pairs=())
    lines = sentences(replace(result, blocks=(block,)))
    assert lines[0].startswith("Over 12 runs, we compared the distributions of f1 of 1 system (A)")
    assert lines[1].startswith("The mean f1 was A (85.")


def test_options_are_compared_over_configurations() -> None:
    result = cast(Contrast, all_samples()["contrast"])
    options = {option.option: option for option in result.blocks[0].comparison.options}
    lines = sentences(result)
    assert lines[0].startswith("We compared the options of system (A, B and C) by f1 over runs that agree in layers")
    assert lines[2] == f"On ner, A had the highest score in {100 * options['A'].wins:.1f}% of 12 configurations."
    gap = f"{-100 * options['B'].median_difference:+.2f}"
    assert lines[3].startswith(f"On ner, A was significantly better than B ({gap} points at the median, p = ")


def test_sizes_say_what_is_sufficient_and_what_cannot_be_told() -> None:
    result = cast(SizeStudy, all_samples()["size"])
    lines = sentences(result)
    assert "by weighted tau (Vigna, 2015; van der Goot et al., 2024)" in lines[0]
    sufficient = {curve.strategy: curve.sufficient for curve in result.sets[0].curves}
    assert lines[-1] == (
        "Of text (64 words): with samples by seq, one sample per size is too few to tell; with samples by rand, "
        f"{sufficient['rand']} words are sufficient; with samples by rand-seq, {sufficient['rand-seq']} words are "
        "sufficient."
    )


def test_scores_say_what_intervals_they_have() -> None:
    result = cast(Scores, all_samples()["score"])
    low, high = (f"{100 * bound:.2f}" for bound in result.rows[0].interval.bounds)
    lines = sentences(result)
    assert lines[0] == ("We scored 2 systems on 20 sentences (64 words) by Accuracy (tag) and Sentence accuracy (tag).")
    assert lines[1].startswith(f"By Accuracy (tag), text has 81.25 [{low}, {high}] and text has 31.25 [")
    jackknife = "the jackknife (Miller, 1974) over sentences"
    expected = {
        "clustered": f"Wilson's (Wilson, 1927) with the standard error of {jackknife}",
        "bootstrap": "by bootstrap of sentences (Efron, 1979)",
        "wilson": f"Wilson's (Wilson, 1927), or by {jackknife} where a score is not a proportion",
    }
    for method, how in expected.items():
        named = replace(result, settings=replace(result.settings, interval=method))
        assert sentences(named)[2] == f"Intervals are 95% confidence intervals, {how}."
    assert result.settings.interval == "clustered"


def test_power_and_splits() -> None:
    assert sentences(all_samples()["power"]) == [
        headline(all_samples()["power"]),
        "At alpha 0.05, the smallest detectable difference at a power of 80.0% is 0.25 points.",
    ]
    assert sentences(all_samples()["split"]) == [
        "We made 2 random splits by document (80/10/10 by words; seed 0) (Gorman and Bedrick, 2019) of text "
        "(60 sentences, 60 words)."
    ]
    assert str(split_words("kfold.v1(folds=5)", [5], 3)) == "5 splits of 5-fold cross-validation by sentence (seed 3)"


@pytest.mark.parametrize(
    ("tallies", "expected"),
    [
        ([TALLY], "the test set velani-test has been evaluated 6 times with 2 systems so far, this analysis included."),
        ([replace(TALLY, evaluations=1, systems=("A",))], "has been evaluated once with 1 system so far"),
        ([replace(TALLY, over_budget=2)], "this analysis included; 2 of these evaluations exceeded the budget."),
        (
            [TALLY, replace(TALLY, test_set="other", evaluations=4)],
            "the 2 test sets have been evaluated 10 times in all and each at most 6 times so far",
        ),
    ],
)
def test_evaluations_of_test_sets_are_counted(tallies: list[Tally], expected: str) -> None:
    score = cast(Scores, all_samples()["score"])
    in_result = sentences(replace(score, evaluations=tuple(tallies)))
    in_ledger = sentences(score, LedgerReport(tuple(tallies)))
    for lines in (in_result, in_ledger):
        (line,) = [line for line in lines if "ledger" in line]
        assert expected in line


def test_the_highest_count_of_a_test_set_is_reported_once() -> None:
    score = cast(Scores, all_samples()["score"])
    first, later = (replace(score, evaluations=(replace(TALLY, evaluations=count),)) for count in (2, 9))
    text = " ".join(sentences(later, first))
    assert text.count("9 times") == 1
    assert "2 times" not in text
    assert "ledger" not in " ".join(sentences(twenty_splits()))


def test_versions_come_from_what_was_run() -> None:
    machine = Provenance("host", "user", "Linux", 2, {"deadheat": "0.2.0"})
    last = paragraph([twenty_splits(provenance=(machine,))]).sentences[-1]
    assert str(last) == "The analysis was done with Deadheat 0.2.0."
    assert not paragraph([]).sentences


def test_latex_says_the_same_and_cites_by_keys() -> None:
    result = paragraph([twenty_splits()])
    assert r"95.07 (SD 0.21 over 20 runs)" in result.latex
    assert r"\citep{nadeau-bengio-2003}" in result.latex
    assert "(Nadeau and Bengio, 2003" not in result.latex
    assert len(result.latex.splitlines()) == len(result.sentences)


def test_every_publication_that_is_cited_has_an_entry_and_no_other() -> None:
    result = paragraph([twenty_splits()])
    assert set(result.keys) == {
        "tsuruoka-etal-2011", "toutanova-etal-2003", "gorman-bedrick-2019", "nadeau-bengio-2003", "holm-1979",
        "miller-1974", "kish-1965", "schuirmann-1987",
    }  # fmt: skip
    assert re.findall(r"^@\w+\{(.*),$", result.bibtex(), re.MULTILINE) == sorted(result.keys)


@pytest.mark.parametrize("key", REFERENCES)
def test_an_entry_has_what_its_kind_needs_and_is_cited_by_its_own_year(key: str) -> None:
    entry = REFERENCES[key]
    kind, name = re.match(r"@(\w+)\{([\w-]+),\n", entry).groups()  # type: ignore[union-attr]
    fields = dict(re.findall(r"(\w+) = \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", entry))
    assert name == key
    assert fields.keys() >= REQUIRED[kind]
    assert entry.count("{") == entry.count("}")
    year = authors_and_year(key).rpartition(", ")[2]
    assert fields["year"] == year == key.rpartition("-")[2]
    authors = fields["author"].split(" and ")
    names = authors_and_year(key).rpartition(", ")[0]
    assert names.count(" and ") == (len(authors) == 2)
    assert names.endswith(" et al.") == (len(authors) > 2)


def test_methods_that_are_cited_are_methods_there_are() -> None:
    assert OF_TESTS.keys() <= set(TESTS)
    assert OF_CORRECTIONS.keys() <= CORRECTIONS.keys()
    assert {SYSTEMS.make(name).name.partition(".v")[0] for name in OF_SYSTEMS} == OF_SYSTEMS.keys()
    cited = {key for keys in (*OF_TESTS.values(), *OF_CORRECTIONS.values()) for key in keys} | {*OF_SYSTEMS.values()}
    assert cited <= REFERENCES.keys()


def test_entries_are_written_once_and_in_order() -> None:
    text = bibtex(["wilson-1927", "holm-1979", "wilson-1927"])
    assert re.findall(r"^@\w+\{(.*),$", text, re.MULTILINE) == ["holm-1979", "wilson-1927"]
    assert bibtex([]) == ""
