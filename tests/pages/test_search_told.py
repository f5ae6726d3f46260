"""What is said of final networks: how they were trained, and what of those that failed."""

from __future__ import annotations

import pytest
from deadheat.pages.report import report
from deadheat.pages.search import sections
from deadheat.pages.search_told import trained_again, verdict

from deadheat.report.views.search import protocol
from tests.pages.search_documents import (
    Document,
    data_set,
    lacking,
    one_setup,
    search,
    spread,
    study,
    two_setups,
    winner,
)
from tests.pages.section_checks import check, section

MORE = "on train and tune with dev to pick the epoch"
AGAIN = "The winners were then trained once more"
TESTED = "All networks of the search were scored on test"
CASES = [
    (["tune"], {}, ["tune"], f"{AGAIN}, {MORE}, and only then scored on test."),
    (["tune"], {"final": "train"}, ["tune"], f"{AGAIN}, as in the search, and only then scored on test."),
    (["dev"], {}, ["dev"], f"{AGAIN}, as in the search, and only then scored on test."),
    (
        ["tune", "dev"],
        {},
        ["tune", "dev"],
        f"{AGAIN}, those of setup tune {MORE} and those of setup dev as in the search, and only then scored on test.",
    ),
    (
        ["tune", "dev"],
        {"final": "train"},
        ["tune", "dev"],
        f"{AGAIN}, as in the search, and only then scored on test.",
    ),
    (
        ["tune"],
        {"tested": "all"},
        ["tune"],
        f"{TESTED}; the winners were then trained once more, {MORE}, and scored on test too.",
    ),
    (
        ["tune"],
        {"tested": "all", "final": "train"},
        [],
        f"{TESTED}, and those of the winners are the final ones.",
    ),
    (["dev"], {"tested": "all"}, [], f"{TESTED}, and those of the winners are the final ones."),
    (
        ["dev", "tune"],
        {"tested": "all", "final": "train", "method": "optuna"},
        [],
        f"{TESTED}, and those of the winners are the final ones.",
    ),
    (
        ["tune", "dev"],
        {"tested": "all"},
        [],
        f"{TESTED}, and those of the winners are the final ones; of winners of setup tune, the networks that have the "
        "same settings in setup dev.",
    ),
    (
        ["tune", "dev"],
        {"tested": "all", "method": "optuna"},
        ["tune"],
        f"{TESTED}, and those of the winners of setup dev are the final ones; the winners of setup tune were then "
        f"trained once more, {MORE}, and scored on test too.",
    ),
]


def of_setups(setups: list[str], **more: str) -> Document:
    """A search of one data set on which all setups have a winner."""
    winners = [winner(setup, 1, searched=0.9, dev=0.92, test=0.91) for setup in setups]
    tested = [0.7, 0.8, 0.75] if more.get("tested") == "all" else None
    spreads = [spread(setup, [0.8, 0.9, 0.7], tested) for setup in setups]
    return search([data_set("north", winners, spreads)], setups, **more)


@pytest.mark.parametrize(("setups", "more", "again", "expected"), CASES)
@pytest.mark.parametrize("without", ["", "tested"])  # which results of older versions do not have
def test_a_page_says_how_final_networks_were_trained(
    setups: list[str], more: dict[str, str], again: list[str], expected: str, without: str
) -> None:
    document = of_setups(setups, **more)
    document.pop(without, None)
    *_, last = protocol(document)
    assert last.endswith(f"picked the epoch. {expected}")
    assert trained_again(document) == again
    (ran,) = [each for each in report(study([document])).page.sections if each.heading == "What was run"]
    assert ran.said[0].endswith("and then those of its winners." if again else "12 networks of 3 settings.")


def test_nothing_is_said_of_final_networks_where_nothing_won() -> None:
    document = search([data_set("north", [], [spread("tune", [])])], ["tune"], trained=0, failed=3, looks=0)
    *_, last = protocol(document)
    assert last == "In setup tune, networks learned from train, and tune picked the epoch."
    assert trained_again(document) == []


def test_a_data_set_without_a_score_on_test_is_not_one_that_setups_were_compared_on() -> None:
    said = verdict(lacking(two_setups(), "dev", failed_finals=1, looks=3))
    assert (
        "the settings that won differ on 1 of 2 data sets, and their scores on test significantly on none of 1 with "
        "scores of both, with or without bonferroni (" in said[0]
    )
    assert said[-1] == (
        "What the search of tagger cost: 12 networks for 3 settings; 3 networks scored on test, 1 final network failed."
    )
    document = lacking(two_setups(), "tune")
    document["datasets"][0] |= {"p": 0.03, "p_corrected": 0.03}
    first, *_ = verdict(document)
    assert "significantly on 1 of 1 with scores of both, and after correction (bonferroni) on 1 (" in first


def test_final_networks_that_failed_are_told_where_runs_are() -> None:
    made = report(study([lacking(two_setups(), "dev", failed_finals=2)]))
    assert section(made.page.sections, "What was run").said[0] == (
        "The search of tagger took 12 networks of 3 settings, and then those of its winners, 2 final networks failed."
    )


def test_where_no_final_network_has_a_score_nothing_is_said_of_test() -> None:
    document = one_setup()
    document["datasets"] = document["datasets"][1:]
    assert verdict(document)[0] == (
        "The settings of tagger were picked on dev, out of 3 settings; no winner has a score on test."
    )
    document["datasets"] *= 2
    table = section(check(sections, document), "tagger: which settings won").tables[0]
    assert table.rows[-1] == ("mean", "", "80.00", "80.00", "-")
