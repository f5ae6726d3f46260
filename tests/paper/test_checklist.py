"""The checklist says what is known, and names what is not."""

import re
from dataclasses import replace
from typing import cast

import pytest

import deadheat
from deadheat.corpus import Corpus
from deadheat.paper.checklist import UNKNOWN, Item, checklist
from deadheat.results.base import Result
from deadheat.results.compare import Comparison
from deadheat.results.ledger import Tally
from deadheat.results.rank import Ranking
from deadheat.results.score import Scores
from deadheat.results.study import FailedCell, Provenance, RunOverview, TestSet
from tests.paper.cases import study, twenty_splits
from tests.paper.test_corpora_paragraph import joint, several_corpora
from tests.reporting.test_latex import HOSTILE, NAMES
from tests.reporting.test_view_search import two_setups
from tests.results.samples import FAIR, GOLD, GOOD, POOR, all_samples, renamed

VERSIONS = {"deadheat": "0.1.0", "python": "3.12.1", "numpy": "2.1.0"}
MACHINE = Provenance("secret-machine", "somebody", "Linux-6.1-x86_64", 8, VERSIONS, "abc123", changed=True)
EQUAL = "two one-sided tests of being equal, within 0.50 points, by the same confidence intervals"
OVERVIEW = RunOverview(40, 39, 7200.0, 9000.0, 512.0, "", ())


def items(*results: Result) -> dict[str, Item]:
    return {item.topic: item for item in checklist(results).items}


def test_a_study_answers_what_it_knows_and_names_no_person_or_machine() -> None:
    note = "test was used in training lookahead, so that scores on it are too good to compare by"
    failed = FailedCell("", "lookahead", "velani", "random.v1", 0, 0, "timed out", "ran past 10 s")
    test_set = TestSet("velani, random 0, test", "0123456789abcdef")
    result = twenty_splits(
        missing=1, failed=(failed,), test_sets=(test_set,), notes=(note,), provenance=(MACHINE,), runs=OVERVIEW
    )
    answers = {topic: item.known for topic, item in items(result).items()}
    assert not re.search(f"{MACHINE.host}|{MACHINE.user}", checklist([result]).markdown)
    holm = "p-values corrected by Holm's method for 20 splits"
    assert answers == {
        "Data": ("velani: 600 sentences, 9,544 words", "test set velani, random 0, test: hash 0123456789ab"),
        "Splits": (
            "velani: 20 random splits by document (80/10/10 by words, stratified by genre; seed 0) "
            "(random.v1(unit='document', stratify='genre'))",
        ),
        "Preprocessing": (),
        "Systems": tuple(
            f"{name}: {name}.v1, all other settings at their defaults" for name in ("lookahead", "loglinear")
        ),
        "Seeds": ("lookahead: seed 0", "loglinear: seed 0"),
        "Runs": (
            "40 runs planned, 1 without a result",
            "velani, random(unit='document', stratify='genre'), test: runs of lookahead 20, loglinear 20",
        ),
        "Selection": (note,),
        "Metrics": ("Accuracy (upos) (accuracy.v1)", f"signature: {result.signature}"),
        "Variation": ("velani, test: mean, standard deviation, minimum and maximum over runs",),
        "Tests": (
            "the corrected resampled t-test of Nadeau and Bengio (2003) over splits, alpha 0.05, p-values of a single "
            "pair",
            f"on each split, the clustered t-test on sentences, alpha 0.05, {holm}",
            EQUAL,
        ),
        "Compute": (
            "39 runs: 2 h 0 min of CPU time",
            "2 h 30 min if run one after the other",
            "at most 512 MB of memory per run",
            "Linux-6.1-x86_64, 8 processors",
        ),
        "Software": ("deadheat 0.1.0, python 3.12.1, numpy 2.1.0",),
        "Code": ("revision abc123, with uncommitted changes",),
        "Test sets": (),
        "Left out": ("1 run without a result", "lookahead on velani: timed out (ran past 10 s)"),
    }


def test_what_is_not_known_is_left_to_the_authors() -> None:
    answers = items()
    assert all(not item.known and item.unknown for item in answers.values())
    assert checklist([]).markdown.count(f"- *{UNKNOWN}*: ") == len(answers) == 15
    answers = items(twenty_splits(runs=OVERVIEW))
    complete = ("Splits", "Systems", "Seeds", "Runs", "Metrics", "Tests", "Compute")
    assert not any(answers[topic].unknown for topic in complete)
    assert all(answers[topic].unknown for topic in ("Data", "Preprocessing", "Selection", "Test sets", "Code"))


def test_how_given_predictions_were_made_is_not_known() -> None:
    tally = Tally("velani-test", "e62ec0ccdf948bfec05b", 6, ("A", "B"), 2)
    answers = items(replace(cast(Comparison, all_samples()["compare"]), evaluations=(tally,)))
    assert answers["Systems"].known == ("predictions or scores of good, fair and poor",)
    assert answers["Systems"].unknown == "how these were made, with all their settings"
    assert answers["Preprocessing"].known == ("words of gold and predictions were aligned by text",)
    assert answers["Tests"].known == (
        "the clustered t-test on sentences, alpha 0.05, p-values corrected by Holm's method for 3 tests",
        EQUAL,
    )
    assert answers["Runs"].known == ("runs of good 1, fair 1, poor 1",)
    assert answers["Variation"].known == ("confidence intervals of scores and of differences",)
    assert not answers["Seeds"].known  # nothing was drawn
    assert "velani-test has been evaluated 6 times" in answers["Test sets"].known[0]
    assert answers["Data"].known == ("test set velani-test: hash e62ec0ccdf94",)


def test_what_was_drawn_has_a_seed() -> None:
    comparison, scores = cast(Comparison, all_samples()["compare"]), cast(Scores, all_samples()["score"])
    drawn = (
        replace(comparison, settings=replace(comparison.settings, test="randomization", seed=7)),
        replace(scores, settings=replace(scores.settings, interval="bootstrap", seed=7)),
    )
    assert not items(comparison, scores)["Seeds"].known
    for result in drawn:
        assert items(result)["Seeds"].known == ("resampling: seed 7",)
    none = replace(comparison, settings=replace(comparison.settings, margin=0))
    assert EQUAL not in items(none)["Tests"].known


def test_several_data_sets_are_listed_with_their_runs_and_tests() -> None:
    """Two data sets of 20 sentences; good has two runs on each, poor has one on the first and none on the second."""
    golds = {"en": GOLD, "de": GOLD}
    systems: dict[str, dict[str, list[Corpus]]] = {
        "good": {"en": [GOOD, FAIR], "de": [GOOD, GOOD]},
        "fair": {"en": [FAIR], "de": [FAIR]},
        "poor": {"en": [POOR]},
    }
    answers = {topic: item.known for topic, item in items(deadheat.compare(golds, systems)).items()}
    assert answers["Data"] == ("en: 20 sentences", "de: 20 sentences")
    assert answers["Runs"] == ("en: runs of good 2, fair 1, poor 1", "de: runs of good 2, fair 1")
    assert answers["Variation"] == (
        "standard deviations over runs",
        "confidence intervals of scores and of differences",
    )
    assert answers["Tests"] == (
        "the clustered t-test on sentences, alpha 0.05, p-values corrected by Holm's method for 3 tests",
        "Accuracy (tag), 2 data sets together, as they are and as a sample of others like them, alpha 0.05, p-values "
        "corrected by Holm's method for 3 pairs",
        "partial conjunctions of the tests on 2 data sets, for every pair",
        EQUAL,
    )


def test_a_study_over_corpora_with_a_planned_pair_says_so() -> None:
    together = joint(1, 2, 3, 2, planned=("A", "B"))
    result = replace(several_corpora(4), comparisons=(together,), hypothesis="A > B", margin=1)
    answers = items(result)
    assert answers["Tests"].known == (
        "the clustered t-test on sentences, alpha 0.05, p-values corrected by Holm's method for 4 pairs",
        "Accuracy (upos), 4 corpora together, as they are and as a sample of others like them, alpha 0.05, p-values of "
        "a single pair",
        "partial conjunctions of the tests on 4 corpora, for every pair",
        EQUAL.replace("0.50", "1.00"),
        "planned before the study ran: A > B",
    )
    assert answers["Variation"].known == tuple(f"bank{i}, test: 95% CI of scores" for i in range(4))


def test_a_finished_study_says_that_nothing_failed_and_notes_are_said_once() -> None:
    assert items(twenty_splits())["Left out"].known == ("every run that was planned has a result",)
    ranking = replace(cast(Ranking, all_samples()["rank"]), notes=("2 data sets left out",))
    assert items(ranking, ranking)["Left out"].known == ("2 data sets left out",)


@pytest.mark.parametrize("hostile", [*HOSTILE, "**bold**", "[x](javascript:alert(1))", "# head", "`code`", "&lt;"])
def test_hostile_names_mean_nothing_to_markdown(hostile: str) -> None:
    names = {name: f"{hostile}{i or ''}" for i, name in enumerate(NAMES)}
    markdown = checklist([renamed(result, names) for result in all_samples().values()]).markdown
    assert not re.search(r"(?<!\\)<", markdown)
    assert "**" not in markdown.replace(r"\*\*", "")
    lines = markdown.splitlines()
    assert sum(line.startswith("## ") for line in lines) == 15
    assert sum(line.startswith("# ") for line in lines) == 1
    for line in lines:
        assert line == "" or line.startswith(("# ", "## ", "- ", "*", "Answered"))


def test_a_search_says_how_settings_were_chosen() -> None:
    answers = items(study(searches=(two_setups(notes=("a note of the search",)),)))
    assert answers["Selection"].known == (
        "tagger: 3 settings of epochs and order (grid), picked by Accuracy on dev; epochs picked by tune and dev",
    )
    assert answers["Splits"].known == tuple(
        f"{name}: one random split by sentence (80/10/10 by sentences; seed 0) (random.v1)"
        for name in ("north", "south")
    )
    assert answers["Systems"].known == tuple(
        f"tagger, which won on some split: tagger.v1(epochs={n})" for n in (2, 3, 1)
    )
    assert answers["Seeds"].known == ("tagger, every setting of the search: seed 0",)
    assert answers["Runs"].known == ("search of tagger: 12 networks for 3 settings",)
    assert answers["Metrics"].known[0] == "Accuracy (accuracy.v1)"
    assert answers["Tests"].known == (
        "search: the paired bootstrap on sentences, alpha 0.05, p-values corrected by Bonferroni's method for 2 data "
        "sets",
    )
    assert answers["Test sets"].known == ("search of tagger: 4 networks scored on test",)
    assert answers["Left out"].known == ("a note of the search",)
