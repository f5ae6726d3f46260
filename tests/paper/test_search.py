"""What a paper says of a search: how settings were picked, how many networks saw test, and tables like the paper's."""

from __future__ import annotations

import re

import pytest

from deadheat.errors import InputError
from deadheat.paper.checklist import checklist
from deadheat.paper.kit import kit_files
from deadheat.paper.paragraph import paragraph
from deadheat.paper.kit import latex_tables
from tests.pages.search_documents import (
    Document,
    between,
    data_set,
    lacking,
    one_setup,
    search,
    spread,
    study,
    two_setups,
)
from tests.paper.checker import check
from tests.paper.documents import block, over_splits, said, standing

SPLIT = "one random split by sentence (80/10/10 by sentences; seed 0) (Gorman and Bedrick, 2019)"
LAST = "The analysis was done with Deadheat."


def test_two_setups_in_sentences() -> None:
    assert said(two_setups()) == [
        "We tried 3 settings of tagger (all combinations, of epochs and order; 1 seed each) on "
        f"{SPLIT} of each of north and south, and picked those with the highest Accuracy (upos) on dev of each split.",
        "Epochs were picked in two ways: on tune, a part of its own, after training on train; and on dev, which picked "
        "settings too, after training on train and tune (van der Goot, 2021).",
        "The winners were then trained once more, those of the first way on train and tune with dev to pick the epoch "
        "and those of the second way as in the search, and only then scored on test.",
        "The search trained 12 networks, and 4 networks of it and of its winners were scored on test.",
        "The settings that won in the two ways differ on 1 of 2 data sets.",
        "On test, with means of 87.00 % and 86.00 %, the two differ significantly on 1 of 2 data sets by the paired "
        "bootstrap (Efron, 1979) on sentences at alpha 0.05, and on none with p-values corrected by Bonferroni's "
        "method for 2 data sets.",
        "Test minus dev of the search was +2.00 points on average in the first way and -3.00 in the second; there were "
        "too few data sets to test the difference.",
        LAST,
    ]


def test_one_setup_in_sentences() -> None:
    assert said(one_setup(method="optuna", seeds=[0, 1, 2])) == [
        "We tried 3 settings of tagger (proposed by Optuna, of epochs and order; 3 seeds each) on "
        f"{SPLIT.replace('one random split', '2 random splits')} of north, and picked those with the highest Accuracy "
        "(upos) on dev of each split.",
        "Epochs were picked on tune, a part of its own, after training on train (van der Goot, 2021).",
        "The winners were then trained once more, on train and tune with dev to pick the epoch, and only then scored "
        "on test.",
        "The search trained 5 networks (1 more failed), and 1 network of it and of its winners was scored on test.",
        "On average the winners had Accuracy (upos) 90.00 % on dev in the search, and 91.00 % on test; 1 data set "
        "more has no score on test.",
        LAST,
    ]


def test_a_gap_that_was_tested_has_its_p_value() -> None:
    told = said(two_setups(between=[between("gap", 2.0, -3.0, 0.0078)], setups=["dev", "tune"]))
    assert "those of the first way as in the search and those of the second way on train and tune with" in told[2]
    assert told[-2].endswith("and -3.00 in the second (p = 0.0078 by a permutation test over data sets).")


def test_the_networks_of_the_search_are_the_final_ones_where_all_were_tested() -> None:
    told = said(two_setups(tested="all"))
    assert told[2] == (
        "All networks of the search were scored on test, and those of the winners are the final ones; of winners of "
        "the first way, the networks that have the same settings in the second way."
    )


def test_final_networks_that_failed_are_told_and_their_data_sets_not_counted() -> None:
    document = lacking(two_setups(), "dev", failed_finals=1, looks=3)
    told = said(document)
    assert (
        "The search trained 12 networks, and 3 networks of it and of its winners were scored on test, 1 final network "
        "failed." in told
    )
    assert "The settings that won in the two ways differ on 1 of 2 data sets." in told
    (tested,) = [each for each in told if each.startswith("On test, with means of 91.00 % and 91.00 %, ")]
    assert "differ significantly on none of 1 data set by" in tested
    items = {item.topic: item for item in checklist([document]).items}
    assert items["Runs"].known == ("search of tagger: 12 networks, 1 final network failed",)
    assert items["Tests"].known[0].endswith("p-values of a single data set")


def test_winners_without_scores_on_test_are_not_compared() -> None:
    document = lacking(two_setups(), "dev")
    document["datasets"] = document["datasets"][1:]
    assert "On test they cannot be compared: no data set has scores of both." in said(document)
    alone = one_setup()
    alone["datasets"] = alone["datasets"][1:]
    assert "No winner has a score on test." in said(alone)


def test_a_search_without_a_winner_says_so() -> None:
    document = search([data_set("north", [], [spread("tune", [])])], ["tune"], trained=0, failed=3, looks=0)
    assert "No network of it has a score, and nothing was picked." in said(document)
    assert not [each for each in said(document) if "trained once more" in each]
    assert latex_tables(document) == {}
    assert kit_files([document])


def test_a_study_of_nothing_but_a_search_tells_of_it_once() -> None:
    assert said(study([two_setups()])) == said(two_setups())
    assert said(study([])) == ["The study has no results.", LAST]


def test_systems_come_before_searches() -> None:
    systems = [standing("A", 0.92, 1), standing("B", 0.90, 1)]
    pairs = [over_splits("A", "B", 0.02, splits=1, ahead=1, significant=1, p=0.0042)]
    labels = {"a.v1": "A", "b.v1": "B"}
    failed = {"system": "tagger.v1(epochs=3)", "corpus": "north", "status": "failed", "error": ""}
    found = study([one_setup()], blocks=[block(systems, pairs, splits=1)], systems=labels, cells=2, failed=[failed])
    told = said(found)
    assert told.index("A scored 2.00 points higher than B (p = 0.0042, significant).") < told.index(
        "The search trained 5 networks (1 more failed), and 1 network of it and of its winners was scored on test."
    )
    assert not [each for each in told if "left out" in each], "the search tells of its own failures"


def numbers(table: str) -> list[list[str]]:
    """The rows between the rules of a table."""
    body = table.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [row.removesuffix(" \\\\").split(" & ") for row in body.strip().split("\n")]


def test_tables_are_like_those_of_the_paper() -> None:
    tables = latex_tables(study([two_setups()]))
    assert list(tables) == ["search-tagger", "search-tagger-gaps"]
    assert numbers(tables["search-tagger"]) == [
        ["north", "0/2", "91.00", "91.00", "1.0000", "1.0000"],
        ["south", "2/2", "83.00", "81.00", "0.0300", "0.0600"],
    ]
    assert numbers(tables["search-tagger-gaps"]) == [
        ["north", "+1.00", "$-$2.00"],
        ["south", "+3.00", "$-$4.00"],
        ["mean", "+2.00", "$-$3.00"],
    ]
    tested = latex_tables(two_setups(between=[between("gap", 2.0, -3.0, 0.0078)]))
    assert "The difference has p = 0.0078 over data sets." in tested["search-tagger-gaps"]
    assert numbers(latex_tables(one_setup())["search-tagger"])[1] == ["north 1", "epochs=1, order=3", "80.00", "-"]


@pytest.mark.parametrize("document", [two_setups(), one_setup()], ids=["two", "one"])
def test_tables_and_sentences_are_sound_latex(document: Document) -> None:
    document = {**document, "label": "a_b & 50 % {x}", "varied": ["a_b", "order"]}
    for table in latex_tables(document).values():
        assert check(table).tables
    assert "a\\_b \\& 50 \\% \\{x\\}" in paragraph([document]).latex


def test_the_checklist_knows_how_settings_were_chosen() -> None:
    items = {item.topic: item for item in checklist([study([two_setups()])]).items}
    assert items["Selection"].known == (
        "tagger: 3 settings of epochs and order (grid), picked by Accuracy (upos) on dev; epochs by tune and dev",
    )
    assert items["Splits"].known == tuple(
        f"{name}: one random split by sentence (80/10/10 by sentences; seed 0) (random.v1)"
        for name in ("north", "south")
    )
    assert items["Systems"].known == tuple(f"tagger, which won on some split: tagger.v1(epochs={n})" for n in (2, 3, 1))
    assert items["Seeds"].known == ("tagger, every setting of the search: seed 0",)
    assert items["Runs"].known == ("search of tagger: 12 networks",)
    assert items["Metrics"].known == ("Accuracy (upos) (accuracy.v1)",)
    assert items["Tests"].known == (
        "search: the paired bootstrap on sentences, alpha 0.05, p-values corrected by Bonferroni's method for 2 data "
        "sets",
    )
    assert items["Test sets"].known == ("search of tagger: 4 networks scored on test",)
    assert "a note of the search" in items["Left out"].known
    alone = {item.topic: item for item in checklist([two_setups()]).items}
    assert alone["Selection"].known == items["Selection"].known
    assert alone["Left out"].known == ("a note of the search",)


def test_a_document_that_lacks_something_is_refused() -> None:
    broken = two_setups()
    del broken["looks"]
    told = "a document of kind search without looks; expected what deadheat run prints with --json"
    with pytest.raises(InputError, match=f"^{re.escape(told)}$"):
        paragraph([broken])
