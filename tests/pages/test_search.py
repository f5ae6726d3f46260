"""A search as a chapter of a page: the verdict in words, tables by hand, and stores that hold searches."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from deadheat.pages.report import Report, report
from deadheat.pages.search import MOST_LISTED, sections
from deadheat.pages.search_told import names_of, verdict
from deadheat.questions.stored import stored
from deadheat.questions.stored_search import setups_of

from deadheat.documents import to_json
from deadheat.errors import InputError
from deadheat.questions.run import KEYS, conduct
from deadheat.report.report import CHAPTERS
from deadheat.study.engine.running import run_study
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store
from tests.pages.search_documents import (
    Document,
    between,
    data_set,
    one_setup,
    search,
    spread,
    study,
    two_setups,
    winner,
)
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, texts
from tests.study.search_cases import FOUR, search_file
from tests.study.study_cases import serial


def test_the_verdict_of_two_setups_by_hand() -> None:
    # On test south differs before correction (0.03), and not after it (0.06). Test minus dev: 1 and 3, -2 and -4.
    assert verdict(two_setups()) == [
        "tagger with epochs picked by tune and by dev is a dead heat on test: the settings that won differ on 1 of 2 "
        "data sets, and their scores on test significantly on 1 of 2, and after correction (bonferroni) on none "
        "(paired bootstrap over sentences, alpha 0.05).",
        "Test minus dev of the search, on average: +2.00 points where tune picked epochs and -3.00 points where dev "
        "picked epochs; whether that differs cannot be tested on 2 data sets.",
        "Dev minus test of the final networks, on average: +1.50 points in setup tune and +3.00 points in setup dev.",
        "What the search of tagger cost: 12 networks for 3 settings; 4 networks scored on test.",
    ]


def test_a_difference_that_holds_after_correction_is_told_as_one() -> None:
    document = two_setups()
    document["datasets"][1] |= {"p": 0.001, "p_corrected": 0.002}
    document["between"] = [between("test", 87.0, 86.0, 0.04), between("gap", 2.0, -3.0, 0.2)]
    said = verdict(document)
    assert said[0].startswith("It matters on test whether tune or dev picks epochs of tagger: the settings that won")
    assert "significantly on 1 of 2, and after correction (bonferroni) on 1 (" in said[0]
    assert said[0].endswith("; over data sets the difference is +1.00 points (p = 0.0400).")
    assert said[1].endswith("; the difference of +5.00 points is not significant over 2 data sets (p = 0.2000).")


def test_nothing_significant_is_said_once() -> None:
    document = two_setups()
    document["datasets"][1] |= {"p": 0.5, "p_corrected": 1.0}
    assert "their scores on test significantly on none, with or without bonferroni (" in verdict(document)[0]


def test_one_setup_is_compared_with_none() -> None:
    assert verdict(one_setup()) == [
        "The settings of tagger were picked on dev: of 3 settings, those that won on 1 data set have 90.00 on dev in "
        "the search and 91.00 on test, on average; 1 data set more has no score on test.",
        "Test minus dev of the search, on average: +1.00 points where tune picked epochs.",
        "Dev minus test of the final networks, on average: +1.00 points.",
        "What the search of tagger cost: 5 networks for 3 settings, 1 failed; 1 network scored on test.",
    ]


def test_a_search_without_a_winner_says_so() -> None:
    document = search([data_set("north", [], [spread("tune", [])])], ["tune"], trained=0, failed=3, looks=0)
    assert verdict(document) == ["The search of tagger has no winner: no network of it has a score."]
    (made,) = check(sections, document)
    assert made.heading == "tagger: no settings won"
    assert "A note of the search." in made.notes


def test_winners_without_scores_on_test_cannot_be_compared() -> None:
    document = two_setups()
    for each in document["datasets"]:
        each |= {"p": None, "p_corrected": None}
        for own in each["winners"]:
            own |= {"test": None, "gap": None, "optimism": None}
    said = verdict(document)
    assert said[0].endswith("cannot be compared: no data set has scores of both on test.")
    assert "unknown where tune picked epochs" in said[1]
    check(sections, document)


def test_the_first_table_is_like_the_first_of_the_paper() -> None:
    made = check(sections, two_setups())
    table = section(made, "tagger: which settings won").tables[0]
    assert table.header == (
        "data set", "winner by tune", "winner by dev", "differ", "test, tune", "test, dev", "difference", "p",
        "p (bonferroni)",
    )  # fmt: skip
    assert table.rows == (
        ("north", "epochs=2, order=2", "epochs=2, order=2", "0 of 2", "91.00", "91.00", "+0.00", "1.0000", "1.0000"),
        ("south", "epochs=3, order=3", "epochs=1, order=3", "2 of 2", "83.00", "81.00", "+2.00", "0.0300", "0.0600"),
        ("over data sets", "", "", "", "87.00", "86.00", "+1.00", "-", ""),
    )
    said = " ".join(section(made, "tagger: which settings won").said)
    assert "Tried were 3 settings of epochs and order (grid) on 2 data sets, each with 1 seed" in said
    assert "In setup tune, networks learned from train, and tune picked the epoch; in setup dev, " in said
    assert "those of setup tune on train and tune with dev to pick the epoch and those of setup dev as in the" in said


def test_the_second_table_is_like_the_third_of_the_paper() -> None:
    table = section(check(sections, two_setups()), "tagger: dev against test").tables[0]
    assert table.header[:3] == ("data set", "test - dev of the search, tune", "test - dev of the search, dev")
    assert table.rows == (
        ("north", "+1.00", "-2.00", "+2.00", "+2.00"),
        ("south", "+3.00", "-4.00", "+1.00", "+4.00"),
        ("mean", "+2.00", "-3.00", "+1.50", "+3.00"),
        ("p of the difference", "", "-", "", "-"),
        ("p by bootstrap", "", "-", "", "-"),
    )
    document = two_setups(between=[between("gap", 2.0, -3.0, 0.0078), between("optimism", 1.5, 3.0, 0.5)])
    table = section(sections(document), "tagger: dev against test").tables[0]
    assert table.rows[-2] == ("p of the difference", "", "0.0078", "", "0.5000")
    assert table.rows[-1] == ("p by bootstrap", "", "0.0039", "", "0.2500")


def test_dev_is_said_to_flatter_only_where_it_picked() -> None:
    by_dev, by_tune = (
        " ".join(section(check(sections, one_setup(setting=part)), "tagger: dev against test").said)
        for part in ("dev", "tune")
    )
    assert "Picking the best of many on dev flatters dev" in by_dev
    assert "dev does not flatter the networks of the search" in by_tune
    assert "flatters dev" not in by_tune


def test_every_setting_is_drawn_with_the_winner_among_them() -> None:
    charts = drawn(sections(two_setups()))
    assert list(charts) == ["search-tagger-dev"]  # not all were tested
    data = rows(charts["search-tagger-dev"])
    assert [row["value"] for row in data if row["name"] == "south, by dev"] == pytest.approx([85, 82, 84])
    assert {(row["name"], row["label"]) for row in data if row["selected"]} == {
        ("north, by tune", "epochs=2, order=2"),
        ("north, by dev", "epochs=2, order=2"),
        ("south, by tune", "epochs=3, order=3"),
        ("south, by dev", "epochs=1, order=3"),
    }


def all_tested() -> Document:
    """Both data sets with scores on test of all settings."""
    document = two_setups()
    for each in document["datasets"]:
        for own in each["spreads"]:
            own |= {"test": [0.7, 0.8, 0.75], "kept": 0.25, "same": False, "rho": 0.5}
    return document


def test_where_all_were_tested_test_is_drawn_and_listed_too() -> None:
    made = check(sections, all_tested())
    charts = drawn(made)
    assert list(charts) == ["search-tagger-dev", "search-tagger-test"]
    own = [row for row in rows(charts["search-tagger-test"]) if row["name"] == "south, by tune"]
    assert [(row["value"], row["selected"]) for row in own] == [
        (pytest.approx(70), ""), (pytest.approx(80), ""), (pytest.approx(75), "yes")
    ]  # fmt: skip
    table = section(made, "tagger: how far settings lie apart").tables[0]
    assert table.header[-6:] == ("test: least", "test: median", "test: most", "wins test", "did", "rho")
    assert table.rows[0] == (
        "north", "tune", "3", "88.00", "89.00", "90.00", "62.5 %", "70.00", "75.00", "80.00", "25.0 %", "no", "0.50",
    )  # fmt: skip


def test_every_setting_is_listed_under_a_fold() -> None:
    (made,) = [each for each in sections(two_setups()) if each.heading == "tagger: every setting"]
    north, south = made.tables
    assert north.folded
    assert south.folded
    assert south.header == ("epochs", "order", "dev, tune", "dev, dev", "won, epochs by")
    assert south.rows == (
        ("1", "3", "78.00", "85.00", "dev"),
        ("3", "3", "80.00", "84.00", "tune"),
        ("2", "2", "79.00", "82.00", ""),
    )
    assert [row[-1] for row in north.rows] == ["tune, dev", "", ""]


def test_a_setting_that_failed_is_not_listed() -> None:
    made = sections(one_setup())
    first, second = section(made, "tagger: every setting").tables
    assert (len(first.rows), len(second.rows)) == (3, 2)
    assert second.caption == "north 1: every setting, accuracy in percent."
    assert column(second, "won") == {"1": "yes", "2": ""}
    table = section(made, "tagger: which settings won").tables[0]
    assert table.rows == (
        ("north 0", "epochs=2, order=2", "90.00", "92.00", "91.00"),
        ("north 1", "epochs=1, order=3", "80.00", "80.00", "-"),
        ("mean of 1 with test", "", "90.00", "92.00", "91.00"),
    )


def test_very_many_settings_are_not_all_listed() -> None:
    number = MOST_LISTED // 2 + 1
    tried = [{"system": f"s{i}", "settings": {"epochs": i, "order": 2}} for i in range(number)]
    won = {**winner("tune", 0, searched=0.9, dev=0.9, test=0.9), "system": "s0"}
    sets = [data_set(name, [won], [spread("tune", [0.9] * number)]) for name in ("north", "south")]
    made = sections(search(sets, ["tune"], tried=tried, settings=number))
    every = section(made, "tagger: every setting")
    assert len(every.tables) == 1
    assert every.said[1] == "Listed are 1 data set of 2."


def test_data_sets_are_named_by_what_tells_them_apart() -> None:
    places = [("a", "random.v1", 0, 0), ("b", "random.v1", 0, 0), ("b", "random.v1", 0, 1)]
    places += [("c", "random.v1", 0, 0), ("c", "random.v1", 3, 0), ("c", "tune.v1(tune=5)", 0, 0)]
    sets = [data_set(corpus, [], [], split=way, seed=seed, number=n) for corpus, way, seed, n in places]
    assert names_of(search(sets, ["tune"])) == [
        "a", "b 0", "b 1", "c random 0", "c random seed 3 0", "c tune 0",
    ]  # fmt: skip


def test_names_and_values_are_words_and_nothing_else() -> None:
    text = json.dumps(all_tested())
    for at, name in enumerate(HOSTILE):
        made = deepcopy(json.loads(text))
        made |= {"label": name, "varied": [name, "order"], "notes": [name]}
        made["datasets"][0]["corpus"] = name
        for own in made["tried"]:
            own["settings"] = {name: own["settings"]["epochs"], "order": name}
        check(sections, made)
        page = report(study([made])).html()
        assert "<script>alert" not in page
        assert "<img" not in page, at


def headings(made: Report) -> list[tuple[str, str]]:
    return [(section.chapter, section.heading) for section in made.page.sections]


def test_a_study_of_nothing_but_a_search_has_no_empty_chapter() -> None:
    made = report(study([two_setups()]))
    assert headings(made) == [
        ("", "tagger: which settings won"),
        ("", "tagger: dev against test"),
        ("", "tagger: how far settings lie apart"),
        ("", "tagger: every setting"),
        ("", "What was run"),
    ]
    assert made.page.verdicts == tuple(verdict(two_setups()))
    ran = made.page.sections[-1]
    assert ran.said == ("The search of tagger took 12 networks of 3 settings, and then those of its winners.",)
    assert not [text for text in texts(made.page.sections) if "0 cells" in text]
    assert "tagger, searched" in [row[0] for table in ran.tables for row in table.rows]


def test_a_search_stands_on_a_page_by_itself(tmp_path: Path) -> None:
    (tmp_path / "search.json").write_text(to_json(two_setups()))
    made = report(tmp_path / "search.json")
    assert made.page.verdicts == tuple(verdict(two_setups()))
    assert {chapter for chapter, _ in headings(made)} == {""}


def test_a_document_that_lacks_something_is_refused_in_one_line(tmp_path: Path) -> None:
    broken = two_setups()
    del broken["tried"]
    (tmp_path / "search.json").write_text(to_json(broken))
    with pytest.raises(InputError, match=r"search.json: a result of search that cannot be shown \(KeyError: 'tried'\)"):
        report(tmp_path / "search.json")


def test_networks_of_a_search_that_failed_are_not_cells_of_systems() -> None:
    failed = {
        "key": "", "system": "tagger.v1(epochs=3)", "corpus": "north", "split": "random.v1", "number": 0, "seed": 0,
        "status": "failed", "error": "no",
    }  # fmt: skip
    made = report(study([one_setup()], failed=[failed]))
    assert not [said for said in made.page.verdicts if "of 0 cells" in said]
    assert any("1 failed; 1 network scored on test" in said for said in made.page.verdicts)
    tables = section(made.page.sections, "What was run").tables
    assert any(table.caption == "Cells that failed." and len(table.rows) == 1 for table in tables)


BOTH = """[[systems]]
name = "unigram"
[[systems]]
name = "hmm"
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a study of two systems and a search."""
    path = search_file(tmp_path_factory.mktemp("ran"), f"{FOUR}epoch = ['tune', 'dev']\n{BOTH}", times=2)
    plan = Plan.of(path)
    conduct(plan, executor=lambda own, place: serial_at(own, place))
    return plan.store_path


def serial_at(plan: Plan, place: Path):  # type: ignore[no-untyped-def]
    """Cells one by one, for a store that is open elsewhere."""
    with Store.read(place) as store:
        return serial(plan, store)


def test_a_store_shows_systems_first_and_then_the_search(ran: Path) -> None:
    found = stored(ran)
    assert found.notes == (), "networks of the search are taken for those of another study"
    # 2 systems on 2 splits; 4 settings in 2 setups on 2 splits, and the winners of both once more.
    assert set(found.scores["system"].to_list()) == {"unigram", "hmm"}
    counts = dict(found.runs.group_by("system").len().iter_rows())
    assert (counts["unigram"], counts["hmm"]) == (2, 2)
    assert counts["perceptron, searched"] == 20
    made = report(ran)
    chapters = list(dict.fromkeys(chapter for chapter, _ in headings(made)))
    assert chapters[:2] == [CHAPTERS["study"], CHAPTERS["search"]]
    assert "unigram" in made.page.verdicts[0]
    assert sum(said.startswith("What the search of perceptron cost: 16 networks") for said in made.page.verdicts) == 1
    assert made.took.runs == found.runs.height


def test_cells_of_another_study_are_still_told(ran: Path, tmp_path: Path) -> None:
    shutil.copytree(ran.parent, tmp_path / "copy")
    with Store.open(tmp_path / "copy" / ran.name) as store:
        document = store.result()
        assert document is not None
        del document["searches"][0][KEYS]  # as in results of older versions
        document["searches"][0]["datasets"].pop()  # as if the search had been of one split
        store.set_result(document)
    assert stored(tmp_path / "copy" / ran.name).notes == (
        "the store has 10 cells more: of another study, or run since this one's end; nothing here is about them",
    )


def unfinished(folder: Path, text: str, cells: int) -> Path:
    """A store in which only the first networks of a search are."""
    plan = Plan.of(search_file(folder, text))
    (search_now,) = searches_of(plan)
    some = replace(plan, chosen=(*plan.cells, *search_now.first_cells()[:cells]))
    with Store.open(plan.store_path, create=True) as store:
        store.set_study(plan.text)
        run_study(some, store, executor=serial(some, store))
    return plan.store_path


@pytest.mark.parametrize("more", ["", BOTH])
def test_a_search_that_was_not_run_to_its_end_is_told_as_such(tmp_path: Path, more: str) -> None:
    store = unfinished(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\n{more}", 5)
    made = report(store)
    assert made.page.verdicts[0].startswith(
        f"The study has not come to its end: {7 if more else 5} cells done; no test was made"
    )
    last = made.page.sections[-1]
    assert last.heading == "What is left out"
    assert last.notes == (
        "A search has 5 networks so far, whose scores are not shown: settings are picked when all of them are there.",
    )
    shown = {row[0] for each in made.page.sections for table in each.tables for row in table.rows}
    assert not [name for name in shown if name.startswith("perceptron")]
    assert ("hmm.v1" in shown) == bool(more)
    assert made.html()


def test_setups_are_named_as_stores_name_them(ran: Path) -> None:
    with Store.read(ran) as store:
        there = set(store.runs()["setup"].unique().to_list()) - {""}
    assert there == set(setups_of(["tune", "dev"], "train+tune")) == {
        "train, epoch by tune", "train+tune, epoch by dev", "train+tune, epoch by dev, final"
    }  # fmt: skip
    assert setups_of(["tune"], "train") == ["train, epoch by tune", "train, epoch by tune, final"]
    assert setups_of(["tune"], "train+tune") == [
        "train, epoch by tune", "train+tune, epoch by dev", "train+tune, epoch by dev, final"
    ]  # fmt: skip


def test_an_older_result_of_a_search_is_refused_in_one_line(ran: Path, tmp_path: Path) -> None:
    with Store.read(ran) as store:
        document = store.result() or {}
    del document["searches"][0]["tried"]
    with Store.open(tmp_path / "old.sqlite", create=True) as store:
        store.set_result(document)
    with pytest.raises(InputError, match=r"a search of its result has no tried; expected deadheat run to be run once"):
        report(tmp_path / "old.sqlite")


def test_an_anonymous_page_has_the_search_too(ran: Path) -> None:
    made = report(ran, anonymous=True)
    assert [each.heading for each in made.page.sections if each.heading.startswith("perceptron: ")]
