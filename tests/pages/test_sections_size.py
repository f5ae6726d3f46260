from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from deadheat.pages.size import sections

from deadheat.corpus import Corpus, read
from deadheat.metrics import METRICS
from deadheat.paper.paragraph_tests import MOST_SETS
from deadheat.questions.size import size, size_of_sets, study
from deadheat.questions.size_counts import TestSet
from deadheat.ranking.size_samples import CountedSet, SizeSettings
from deadheat.results.size import SizeStudy
from deadheat.testbed import DEFAULT_SYSTEMS, generate, simulate
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section

SIZES = (50, 200, 500, 2000)


@pytest.fixture(scope="module")
def predictions() -> tuple[Corpus, dict[str, list[Corpus]]]:
    gold = generate("velani", sentences=300, seed=1)
    runs = {
        each.name: [read(text=simulate(gold, each, seed=seed)) for seed in (0, 1)]
        for each in DEFAULT_SYSTEMS
        if each.name in ("strong", "middle", "weak")
    }
    return read(text=gold), runs


@pytest.fixture(scope="module")
def found(predictions: tuple[Corpus, dict[str, list[Corpus]]]) -> SizeStudy:
    gold, runs = predictions
    return size(gold, runs, settings=SizeSettings(sizes=SIZES, draws=20))


def made_up(names: list[str], *, sets: int, seed: int = 0, runs: int = 1) -> SizeStudy:
    """Test sets of 200 sentences of ten words, on which each system is better than the next by some words."""
    rng = np.random.default_rng(seed)
    systems = [name for name in names for _ in range(runs)]
    made = []
    for place in range(sets):
        right = [rng.binomial(10, 0.9 - 0.03 * names.index(name), size=200) for name in systems]
        counts = np.stack([np.stack([each, np.full(200, 10), np.full(200, 10)], axis=1) for each in right])
        metric = METRICS.make("las")
        made.append(TestSet(CountedSet(f"set {place}", tuple(systems), np.full(200, 10), counts, metric)))
    return study(made, SizeSettings(sizes=(100, 500), draws=10))


def test_answers_are_those_of_the_result_and_stand_first(found: SizeStudy) -> None:
    (made,) = check(sections, found.to_dict())
    block = found.sets[0]
    assert made.said[0].startswith(
        f"{block.name} has {block.words:,} words in 300 sentences. On everything, las is: strong"
    )
    assert list(made.said[1:4]) == [f"{answer}." for answer in found.answers(block)]
    assert made.notes[0] == found.signature
    assert set(found.notes) <= set(made.notes)


def test_curves_are_the_means_and_bands_of_the_draws(found: SizeStudy) -> None:
    charts = drawn(sections(found.to_dict()))
    taus, significance = charts.values()
    shown = {(each["series"], each["x"]): [each[name] for name in ("y", "low", "high")] for each in rows(taus)}
    differing = {(each["series"], each["x"]): each["y"] for each in rows(significance)}
    points = [(curve, point) for curve in found.sets[0].curves for point in curve.points]
    smaller = [(curve, point) for curve, point in points if not point.whole]
    assert len(shown) == len(smaller) == len(points) - 3  # everything agrees with itself, and is no point of a curve
    for curve, point in smaller:
        low, high = (None, None) if curve.draws == 1 else point.interval(0.95).bounds
        assert shown[curve.way, point.size] == [pytest.approx(each) for each in (point.mean, low, high)]
        assert point.aso is not None
        assert differing[curve.way, point.size] == pytest.approx(100 * point.aso.disagreement)


def test_the_table_has_every_size_of_every_way(found: SizeStudy) -> None:
    (made,) = sections(found.to_dict())
    points = [(curve.way, point) for curve in found.sets[0].curves for point in curve.points]
    assert len(made.tables[0].rows) == len(points)
    for row, (way, point) in zip(made.tables[0].rows, points, strict=True):
        words = "all" if point.whole else f"{point.size:,}"
        assert row[:5] == (way, words, f"{point.units:,.0f}", str(len(point.tau_B)), f"{point.mean:.3f}")
    published = made.tables[1]
    assert column(published, "words") == {"another language than that of training": "2,000"}


def test_a_single_sample_makes_no_claim(found: SizeStudy) -> None:
    (made,) = sections(found.to_dict())
    assert made.said[1].startswith("seq: one sample only; no claim; ")
    assert "seq takes the last sentences" in made.said[4]


def test_several_sets_have_what_is_enough_everywhere_first() -> None:
    several = made_up(["a", "b", "c"], sets=2)
    made = check(sections, several.to_dict())
    assert [each.heading for each in made] == [
        "How much is enough everywhere",
        "How much of all test sets together is enough",
        "How much of set 0 is enough",
        "How much of set 1 is enough",
    ]
    document: dict[str, Any] = several.to_dict()
    for way, words in document["enough_in_every_set"].items():
        if words is not None:
            assert f"{way}: {words:,} words are enough in each of 2 test sets." in made[0].said
    assert several.between_DD is not None
    assert made[0].tables[1].rows[0] == ("set 0", "1.000", f"{several.between_DD[0, 1]:.3f}")
    assert [each.figures[0].name for each in made[1:]] == ["size-overall", "size-set-0", "size-set-1"]


def test_of_many_sets_the_hardest_are_shown_in_full() -> None:
    several = made_up(["a", "b", "c", "d"], sets=MOST_SETS + 3)
    made = check(sections, several.to_dict())
    assert len(made) == 2 + MOST_SETS
    shown = [each.heading.removeprefix("How much of ").removesuffix(" is enough") for each in made[2:]]
    least = {each["set"]: min(way["sizes"][-2]["share"] for way in each["ways"]) for each in several.to_dict()["sets"]}
    left_out = [name for name in least if name not in shown]
    assert len(left_out) == 3
    assert max(least[name] for name in shown) <= min(least[name] for name in left_out)
    assert len(made[0].tables[0].rows) == MOST_SETS + 3


def test_systems_that_are_level_have_no_tau_and_no_curve() -> None:
    gold = read(text="a_X b_Y\n" * 40)
    level = size(gold, {"a": gold, "b": gold}, settings=SizeSettings(sizes=(10, 20), ways=("rand",), draws=5))
    made = check(sections, level.to_dict())
    assert made[0].figures == ()
    assert any("all systems are level on everything" in note for note in made[0].notes)
    assert {row[4] for row in made[0].tables[0].rows} == {"-"}


def test_names_of_any_kind_are_shown_as_they_are() -> None:
    several = made_up(list(HOSTILE[:4]), sets=1, runs=2)
    (made,) = check(sections, several.to_dict())
    assert all(name in made.said[0] for name in HOSTILE[:4])


def test_sets_of_a_table_of_files_are_those_of_the_command(tmp_path: Any) -> None:
    gold = generate("dzari", sentences=60, seed=2)
    (tmp_path / "gold.conllu").write_text(gold)
    lines = ["set,gold,system,prediction"]
    for each in DEFAULT_SYSTEMS[:3]:
        (tmp_path / f"{each.name}.conllu").write_text(simulate(gold, each, seed=0))
        lines.append(f"one,gold.conllu,{each.name},{each.name}.conllu")
    (tmp_path / "sets.csv").write_text("\n".join(lines) + "\n")
    found = size_of_sets(tmp_path / "sets.csv", settings=SizeSettings(sizes=(50, 100), draws=5))
    made = check(sections, found.to_dict())
    assert section(made, "How much of one").said[1:4] == tuple(f"{each}." for each in found.answers(found.sets[0]))
