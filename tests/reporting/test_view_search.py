"""A search as blocks: tables and figures by hand, how final networks were trained, and what the verdict says."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from deadheat.questions.search import search_verdict
from deadheat.reporting.model import Verdict
from deadheat.reporting.plan import search_plan
from deadheat.reporting.terminal import render
from deadheat.reporting.views import headline, view
from deadheat.reporting.views.search import LISTED, protocol
from deadheat.results.search import Candidate, SearchDataset, SearchResult, SettingScores, SetupDifference, Winner
from deadheat.results.study import StudyResult
from deadheat.results.verdict import State
from tests.reporting.blocks import column, data, drawn, headings, rows, section, tables, texts
from tests.results.samples import study_with_search
from tests.study.search_cases import FOUR, search_of

NAN = math.nan
CANDIDATES = tuple(Candidate(f"tagger.v1(epochs={n})", {"epochs": str(n), "order": str(2 + n % 2)}) for n in (1, 2, 3))


def winner(setup: str, number: int, search_dev: float, dev: float, test: float) -> Winner:
    return Winner(setup, CANDIDATES[number].system, CANDIDATES[number].settings, 3, search_dev, dev, test)


def setting_scores(setup: str, dev: tuple[float, ...], test: tuple[float, ...] = ()) -> SettingScores:
    more = (0.25, False, 0.5) if test else (NAN, None, NAN)
    return SettingScores(setup, tuple(range(len(dev))), dev, test, 0.625, *more)


def dataset(
    name: str, winners: list[Winner], scores: list[SettingScores], differing: int | None = None, p: float = NAN
) -> SearchDataset:
    corrected = min(1.0, 2 * p)
    return SearchDataset(name, name, "random.v1", 0, 0, tuple(winners), tuple(scores), differing, p, corrected)


def search(datasets: list[SearchDataset], setups: tuple[str, ...], **more: object) -> SearchResult:
    """A search of three settings."""
    settings: dict[str, object] = {
        "system": "tagger", "metric": "accuracy.v1", "metric_name": "Accuracy", "method": "grid", "setups": setups,
        "varied": ("epochs", "order"), "candidates": CANDIDATES, "seeds": (0,), "trained": 12, "failed": 0,
        "failed_finals": 0, "tested_networks": 4, "selected_on": "dev", "final": "train+tune", "all_tested": False,
        "alpha": 0.05, "correction": "bonferroni", "datasets": tuple(datasets), "differences": (),
    }  # fmt: skip
    return SearchResult(**settings | more)  # type: ignore[arg-type]


def two_setups(p: float = 0.03, **more: object) -> SearchResult:
    """On `north` both setups pick the second settings; on `south` tune picks the third and dev the first."""
    north = dataset(
        "north", [winner("tune", 1, 0.90, 0.93, 0.91), winner("dev", 1, 0.93, 0.93, 0.91)],
        [setting_scores("tune", (0.88, 0.90, 0.89)), setting_scores("dev", (0.91, 0.93, 0.92))], 0, 1.0,
    )  # fmt: skip
    south = dataset(
        "south", [winner("tune", 2, 0.80, 0.84, 0.83), winner("dev", 0, 0.85, 0.85, 0.81)],
        [setting_scores("tune", (0.78, 0.79, 0.80)), setting_scores("dev", (0.85, 0.82, 0.84))], 2, p,
    )  # fmt: skip
    over = tuple(
        SetupDifference(quantity, first, second, first - second, 2, NAN, NAN)
        for quantity, first, second in (("test", 0.87, 0.86), ("gap", 0.02, -0.03), ("optimism", 0.015, 0.03))
    )
    return search([north, south], ("tune", "dev"), **({"differences": over} | more))


def one_setup(**more: object) -> SearchResult:
    """Two splits of one corpus; the second has no score on test."""
    sets = [
        dataset("north 0", [winner("tune", 1, 0.9, 0.92, 0.91)], [setting_scores("tune", (0.88, 0.9, 0.89))]),
        dataset("north 1", [winner("tune", 0, 0.8, 0.8, NAN)], [setting_scores("tune", (0.8, 0.79))]),
    ]
    return search(sets, ("tune",), **({"tested_networks": 1, "trained": 5, "failed": 1} | more))


def remarks(result: SearchResult) -> list[str]:
    (verdict,) = [block for block in view(result) if isinstance(block, Verdict)]
    return list(map(str, verdict.remarks))


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.5, "is not shown to make a difference on test on any of 2 data sets."),
        (0.03, "is not shown to make a difference on test on any of 2 data sets; before correction on 1."),
        (0.01, "is shown to make a difference on test on 1 of 2 data sets."),
    ],
)
def test_the_verdict_of_two_setups(p: float, said: str) -> None:
    result = two_setups(p)
    assert headline(result) == f"Whether tune or dev picks the epochs of tagger {said}"
    assert remarks(result) == [
        "The winning settings differ on 1 of 2 data sets.",
        "Test minus dev of the search, on average: +2.00 where tune picked epochs and -3.00 where dev picked epochs.",
        "Dev minus test of the final network, on average: +1.50 where tune picked epochs and +3.00 where dev picked "
        "epochs.",
        "Cost: 12 networks for 3 settings; 4 networks scored on test.",
    ]


@pytest.mark.parametrize(("p", "state"), [(NAN, State.TOO_FEW), (0.2, State.NOT_SHOWN), (0.02, State.SHOWN)])
def test_over_data_sets_the_better_setup_is_a_claim(p: float, state: State) -> None:
    rows_ = tuple(replace(row, p=p, p_bootstrap=p, datasets=6) for row in two_setups().differences)
    result = two_setups(differences=rows_)
    (claim,) = search_verdict(result).claims
    assert (claim.better, claim.worse) == ("tagger (tune picks epochs)", "tagger (dev picks epochs)")
    assert [(item.source, item.state) for item in claim.evidence] == [("data sets", state)]
    assert claim.evidence[0].difference == pytest.approx(0.01)
    if not math.isnan(p):
        sure = "significant" if p <= 0.05 else "not significant"
        assert f"the difference of +5.00 is {sure} over 6 data sets (p = {p:.4f})." in remarks(result)[1]


def test_one_setup_is_compared_with_none() -> None:
    result = one_setup()
    assert headline(result) == (
        "The best of 3 settings of tagger on dev have a mean Accuracy of 90.00 on dev in the search and of 91.00 on "
        "test "
        "(1 data set; 1 data set more without a score on test)."
    )
    assert remarks(result)[-1] == "Cost: 5 networks for 3 settings, 1 failed; 1 network scored on test."
    table = tables(section(view(result), "tagger: winning settings"))[0]
    assert rows(table) == [
        ["north 0", "epochs=2, order=2", "90.00", "92.00", "91.00"],
        ["north 1", "epochs=1, order=3", "80.00", "80.00", "-"],
        ["mean of 1 data set with test", "", "90.00", "92.00", "91.00"],
    ]
    alone = replace(result, datasets=result.datasets[1:])
    assert headline(alone) == "3 settings of tagger were searched, but no winner has a score on test."


def test_a_search_without_a_winner_says_so() -> None:
    sets = [dataset("north", [], [setting_scores("tune", ())])]
    result = search(sets, ("tune",), trained=0, failed=3, notes=("a note",))
    assert headline(result) == "The search of tagger has no winner: none of its networks has a score."
    assert headings(view(result)) == ["tagger: no settings won"]
    assert "A note." in texts(view(result))
    assert list(protocol(result))[-1].pieces == (
        "In setup tune, networks learned from train, and tune picked the epoch.",
    )


def test_setups_without_scores_on_test_cannot_be_compared() -> None:
    sets = [
        replace(row, p=NAN, p_corrected=NAN, winners=tuple(replace(w, test=NAN) for w in row.winners))
        for row in two_setups().datasets
    ]
    result = replace(two_setups(), datasets=tuple(sets), differences=())
    assert headline(result) == "Setups of tagger cannot be compared: no data set has test scores of both."
    assert "unknown where tune picked epochs" in remarks(result)[1]
    assert not search_verdict(result)


def test_the_tables_are_like_those_of_the_paper() -> None:
    blocks = view(two_setups())
    table = tables(section(blocks, "tagger: winning settings"))[0]
    assert [item.heading for item in table.columns] == [
        "data set", "winner, tune", "winner, dev", "differing", "test, tune", "test, dev", "difference", "p",
        "p (bonferroni)",
    ]  # fmt: skip
    assert rows(table) == [
        ["north", "epochs=2, order=2", "epochs=2, order=2", "0 of 2", "91.00", "91.00", "+0.00", "1.0000", "1.0000"],
        ["south", "epochs=3, order=3", "epochs=1, order=3", "2 of 2", "83.00", "81.00", "+2.00", "0.0300", "0.0600"],
        ["over data sets", "", "", "", "87.00", "86.00", "+1.00", "-", "-"],
    ]
    scores, gaps = tables(section(blocks, "tagger: dev and test"))
    assert rows(scores)[0] == ["north", "tune", "90.00", "93.00", "91.00", "+1.00", "+2.00"]
    assert rows(gaps) == [
        ["north", "+1.00", "-2.00", "+2.00", "+2.00"],
        ["south", "+3.00", "-4.00", "+1.00", "+4.00"],
        ["mean", "+2.00", "-3.00", "+1.50", "+3.00"],
        ["p of the difference", "-", "-", "-", "-"],
        ["p by bootstrap", "-", "-", "-", "-"],
    ]
    assert [table.name for table in tables(blocks) if table.name] == ["search-tagger", "search-tagger-gaps"]


def test_dev_is_called_too_good_only_where_it_picked() -> None:
    by_dev, by_tune = (
        texts(section(view(one_setup(selected_on=part)), "tagger: dev and test"))[0] for part in ("dev", "tune")
    )
    assert "makes dev look better than it is" in by_dev
    assert "dev is a fair estimate" in by_tune


def all_tested() -> SearchResult:
    result = two_setups(all_tested=True)
    tested = tuple(
        replace(row, scores=tuple(setting_scores(s.setup, s.dev, (0.7, 0.8, 0.75)) for s in row.scores))
        for row in result.datasets
    )
    return replace(result, datasets=tested)


def test_every_setting_is_drawn_with_the_winner_among_them() -> None:
    charts = drawn(view(two_setups()))
    assert list(charts) == ["search-tagger-dev"]  # not all were tested
    points = data(charts["search-tagger-dev"])
    values = [float(str(row["value"])) for row in points if row["name"] == "south, by dev"]
    assert values == pytest.approx([85, 82, 84])
    assert {(row["name"], row["label"]) for row in points if row["selected"]} == {
        ("north, by tune", "epochs=2, order=2"),
        ("north, by dev", "epochs=2, order=2"),
        ("south, by tune", "epochs=3, order=3"),
        ("south, by dev", "epochs=1, order=3"),
    }
    blocks = view(all_tested())
    assert list(drawn(blocks)) == ["search-tagger-dev", "search-tagger-test"]
    (table,) = tables(section(blocks, "tagger: how far settings lie apart"))
    assert rows(table)[0] == [
        "north", "tune", "3", "88.00", "89.00", "90.00", "62.5%", "70.00", "75.00", "80.00", "25.0%", "no", "0.50",
    ]  # fmt: skip


def test_every_setting_is_listed() -> None:
    north, south = tables(section(view(two_setups()), "tagger: every setting"))
    assert rows(south) == [
        ["1", "3", "78.00", "85.00", "dev"],
        ["3", "3", "80.00", "84.00", "tune"],
        ["2", "2", "79.00", "82.00", ""],
    ]
    assert [row[-1] for row in rows(north)] == ["tune, dev", "", ""]
    _, second = tables(section(view(one_setup()), "tagger: every setting"))
    assert column(second, "won") == {"1": "yes", "2": ""}  # the third failed
    number = LISTED // 2 + 1
    candidates = tuple(Candidate(f"s{i}", {"epochs": str(i), "order": "2"}) for i in range(number))
    scores = [setting_scores("tune", (0.9,) * number)]
    sets = [dataset(name, [winner("tune", 0, 0.9, 0.9, 0.9)], scores) for name in ("north", "south")]
    blocks = section(view(search(sets, ("tune",), candidates=candidates)), "tagger: every setting")
    assert len(tables(blocks)) == 1
    assert texts(blocks)[1] == "Listed for 1 of 2 data sets."


MORE = "on train and tune, with dev to pick the epoch"
AGAIN = "The winners were then trained once more"
TESTED = "All networks of the search were scored on test"


@pytest.mark.parametrize(
    ("setups", "more", "retrained", "expected"),
    [
        ("tune", {}, "tune", f"{AGAIN}, {MORE}, and only then scored on test."),
        ("tune", {"final": "train"}, "tune", f"{AGAIN}, as in the search, and only then scored on test."),
        ("dev", {}, "dev", f"{AGAIN}, as in the search, and only then scored on test."),
        (
            "tune dev",
            {},
            "tune dev",
            f"{AGAIN}, those of setup tune {MORE} and those of setup dev as in the search, and only then scored on "
            "test.",
        ),
        ("tune dev", {"final": "train"}, "tune dev", f"{AGAIN}, as in the search, and only then scored on test."),
        (
            "tune",
            {"all_tested": True},
            "tune",
            f"{TESTED}; the winners were then trained once more, {MORE}, and scored on test too.",
        ),
        ("tune", {"all_tested": True, "final": "train"}, "", f"{TESTED}, and those of the winners are the final ones."),
        ("dev", {"all_tested": True}, "", f"{TESTED}, and those of the winners are the final ones."),
        (
            "tune dev",
            {"all_tested": True},
            "",
            f"{TESTED}, and those of the winners are the final ones; for setup tune they are the networks with the "
            "same settings in setup dev.",
        ),
        (
            "tune dev",
            {"all_tested": True, "method": "optuna"},
            "tune",
            f"{TESTED}, and those of the winners of setup dev are the final ones; the winners of setup tune were then "
            f"trained once more, {MORE}, and scored on test too.",
        ),
    ],
)
def test_a_page_says_how_final_networks_were_trained(
    setups: str, more: dict[str, object], retrained: str, expected: str
) -> None:
    winners = [winner(setup, 1, 0.9, 0.92, 0.91) for setup in setups.split()]
    tested = (0.7, 0.8, 0.75) if "all_tested" in more else ()
    scores = [setting_scores(setup, (0.8, 0.9, 0.7), tested) for setup in setups.split()]
    result = search([dataset("north", winners, scores)], tuple(setups.split()), **more)
    *_, last = protocol(result)
    assert str(last).endswith(f"picked the epoch. {expected}")
    assert result.retrained == tuple(retrained.split())
    study = StudyResult("mine", (), {}, searches=(replace(result, failed_finals=2),))
    ran = texts(section(view(study), "What was run"))[0]
    assert "12 networks for 3 settings, 2 final networks failed" in ran
    assert ran.endswith("the final networks of its winners.") == bool(retrained)


def test_a_study_shows_its_systems_and_then_its_searches() -> None:
    study = study_with_search()
    blocks = view(study)
    assert sum(isinstance(block, Verdict) for block in blocks) == 2
    assert headings(blocks).index("Settings searched") < headings(blocks).index("perceptron: winning settings")
    systems = tables(section(blocks, "What was run"))[2]
    assert column(systems, "done")["perceptron, searched"] == str(len(study.searches[0].keys))
    alone = view(replace(study, blocks=(), systems=(), cells=0))
    assert headings(alone) == [
        "perceptron: winning settings",
        "perceptron: dev and test",
        "perceptron: how far settings lie apart",
        "perceptron: every setting",
        "What was run",
    ]
    assert render(alone).startswith("Whether tune or dev picks the epochs of perceptron is ")


def test_a_plan_says_what_a_search_will_cost(tmp_path: Path) -> None:
    text = f"{FOUR}epoch = ['tune', 'dev']\nseeds = 3\ntested = 'all'\n"
    assert str(search_plan(search_of(tmp_path, text, times=2))) == (
        "Search of perceptron: 4 settings of epochs, order (grid), on 2 data sets, 3 seeds, epochs picked by tune "
        "and dev: "
        "48 trainings. Then the winners by Accuracy (upos) on dev: at most 0 trainings on train+tune, 48 evaluations "
        "of "
        "test sets."
    )
    once = search_of(tmp_path, f"{FOUR}final = 'train'\nmethod = 'optuna'\nsamples = 8\n")
    assert "(optuna), on 1 data set, 1 seed, epochs picked by tune: at most" in str(search_plan(once))
    assert str(search_plan(once)).endswith("at most 1 training on train, 1 evaluation of test sets.")
