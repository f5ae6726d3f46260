"""What a reader sees of distributions over seeds."""

from pathlib import Path

import numpy as np
import pytest

from deadheat.charts.chart import WIDE
from deadheat.charts.distributions import ViolinPlot
from deadheat.questions.seeds import MAX_SCORES, seeds
from deadheat.reporting.html import fragment
from deadheat.reporting.model import DAGGER, DOUBLE_DAGGER, EQUALS, Figure, Table, as_cell
from deadheat.reporting.views import headline, view
from deadheat.reporting.views.seeds import POINTS
from deadheat.results.base import from_json
from deadheat.results.runs import Seeds
from tests.reporting.latex_checker import check

HOSTILE = ["<script>alert(1)</script>", "a_b & 50%", "|x|", "汉字"]


def write(path: Path, scores: dict[str, list[float]], *, dev: bool = False) -> Path:
    rows = [
        f"{name}\t{seed}\t{score}" + (f"\t{score + seed}" if dev else "")
        for name, values in scores.items()
        for seed, score in enumerate(values)
    ]
    path.write_text("\n".join(["system\tseed\tf1" + "\tdev" * dev, *rows]) + "\n", encoding="utf-8")
    return path


def table(result: Seeds, heading: str) -> Table:
    """The table with a column of this heading."""
    tables = [block for block in view(result) if isinstance(block, Table)]
    return next(found for found in tables if any(column.heading == heading for column in found.columns))


def column(found: Table, heading: str) -> list[object]:
    at = [column.heading for column in found.columns].index(heading)
    return [as_cell(row[at]).value for row in found.rows]


NORTH, SOUTH = [90.31, 90.62, 90.55, 90.81, 90.47], [91.88, 91.74, 92.02, 91.95, 91.69]


def test_latex_has_the_numbers_of_the_summaries_and_tests(tmp_path: Path) -> None:
    result = seeds(write(tmp_path / "runs.tsv", {"north": NORTH, "south": SOUTH}), score="f1")
    systems, pairs = check(result.to_latex()).tables
    assert systems[1] == ["south", "5", "91.69", "91.88", "92.02", "91.86", "0.14"]
    assert systems[2] == ["north", "5", "90.31", "90.55", "90.81", "90.55", "0.18"]
    # scipy.stats.ttest_ind(north, south, equal_var=False): p = 2.8e-06, interval [-1.546, -1.062].
    assert pairs[1][:2] == ["north - south", "-1.30"]
    assert pairs[1][-1] == "south scores higher"
    assert headline(result) == (
        "On this test set, south scores higher than north by 1.30 in f1 (95% CI [+1.06, +1.55], p = 2.8e-06)."
    )


def test_what_runs_show_is_said_of_this_test_set_only(tmp_path: Path) -> None:
    cases: dict[str, tuple[dict[str, list[float]], str, str]] = {
        "On this test set, B scores higher than A by 10.00 in f1 (95% CI [+7.73, +12.27], p = 0.0003).": (
            {"A": [1, 2, 3], "B": [11, 12, 13]}, "", "B scores higher",
        ),
        "On this test set, B is ahead of A by 10.00 in f1, but there are too few runs to tell whether it is better.": (
            {"A": [2], "B": [11, 12, 13]}, DOUBLE_DAGGER, "cannot be shown with so few",
        ),
        "On this test set, B and A are not told apart: B is ahead": (
            {"A": NORTH, "B": [*NORTH[1:], 90.32]}, DAGGER, "not told apart",
        ),
        "A dead heat: on this test set, A and B are equal within 0.50 points of f1": (
            {"A": [0.9, 0.901, 0.902], "B": [0.9, 0.901, 0.902]}, EQUALS, "equal within the margin",
        ),
    }  # fmt: skip
    for sentence, (scores, mark, outcome) in cases.items():
        result = seeds(write(tmp_path / "runs.tsv", scores), score="f1")
        assert headline(result).startswith(sentence)
        at = [column.heading for column in table(result, "mean").columns].index("mean")
        assert [as_cell(row[at]).mark for row in table(result, "mean").rows] == ["", mark]
        assert [str(value) for value in column(table(result, "outcome"), "outcome")] == [outcome]
        assert "cannot tell whether a difference would hold on another" in str(result)
        assert "is better than" not in str(result)


def test_headlines_of_several_systems_and_test_sets(tmp_path: Path) -> None:
    scores = {"A": NORTH, "B": SOUTH, "C": [SOUTH[0]], "D": [score - 0.01 for score in SOUTH]}
    result = seeds(write(tmp_path / "runs.tsv", scores), score="f1", margin=0.5)
    assert headline(result) == (
        "On this test set, C has the highest mean f1: too few runs to tell it from that of B, D and A."
    )
    del scores["C"]
    result = seeds(write(tmp_path / "runs.tsv", scores), score="f1", margin=0.5)
    assert headline(result) == (
        "On this test set, B has the highest mean f1: shown to be higher than that of A; "
        "equal within 0.50 to that of D."
    )
    path = tmp_path / "tasks.tsv"
    rows = [
        f"{task}\t{name}\t{k + i / 9}"
        for task in "xyz"
        for k, name in enumerate("AB")
        for i in range(1 + (task != "z"))
    ]
    path.write_text("\n".join(["task\tsystem\tf1", *rows]))
    sentence = headline(seeds(path, score="f1", by="task"))
    assert sentence == "B scores higher than A on 2 of 3 test sets; too few runs to tell on 1."
    rows += [f"{task}\tC\t{9 + i / 9}" for task in "xy" for i in range(5)]
    path.write_text("\n".join(["task\tsystem\tf1", *rows]))
    sentence = headline(seeds(path, score="f1", by="task"))
    assert sentence == "C is shown to score higher than all others on 2 of 3 test sets; too few runs to tell on 1."


def test_false_alarms_of_aso_and_ranges_of_runs_are_beside_the_numbers(tmp_path: Path) -> None:
    scores = {name: [score + k / 100 for score in NORTH] for k, name in enumerate("ABCDE")}
    result = seeds(write(tmp_path / "runs.tsv", scores), score="f1", resamples=10)
    rates = result[""].aso_false_alarms
    assert rates is not None
    caption = str(table(result, "ASO A").caption)
    words = f"some bound would be below 0.2 in about {100 * rates.below_02:.0f}% of tables"
    assert f"if 5 systems with 5 runs each were equal, {words}" in caption
    assert words in str(result)
    assert words in fragment(view(result))
    ranges = table(result, "best - worst")
    assert column(ranges, "best - worst") == pytest.approx([max(NORTH) - min(NORTH)] * 5)
    sd = result[""]["A"].summary.sd
    assert column(ranges, "expected") == pytest.approx([2.326 * sd] * 5, rel=0.001)


def test_pairs_have_p_values_and_the_seeds_they_need(tmp_path: Path) -> None:
    result = seeds(write(tmp_path / "runs.tsv", {"A": NORTH, "B": SOUTH, "C": [1.0]}), score="f1", difference=0.2)
    pairs, shapes, power = table(result, "outcome"), table(result, "p (MW)"), table(result, "seeds needed")
    for i, pair in enumerate(result[""].pairs):
        assert column(pairs, "p")[i] == pytest.approx(pair.means.p_corrected, nan_ok=True)
        assert column(pairs, "95% CI")[i] == pytest.approx(pair.means.interval.bounds, nan_ok=True)
        assert column(shapes, "p (MW)")[i] == pytest.approx(pair.mann_whitney_p_corrected)
        assert column(shapes, "ASO A")[i] == pytest.approx(pair.aso_a.bound, nan_ok=True)
        assert column(power, "difference")[i] == 0.2
        assert column(power, "power now")[i] == pytest.approx(pair.power.power_now, nan_ok=True)
    first = str(result).split("seeds needed")[1].split("\n")[1]
    assert f"{result[''].pairs[0].power.seeds:.0f}  [" in first
    assert "corrected by Holm's method for 3 pairs" in str(pairs.caption)
    assert "alpha 0.05 / 3" in str(power.caption)
    assert "too many" in str(seeds(write(tmp_path / "r.tsv", {"A": NORTH, "B": SOUTH}), score="f1", difference=1e-9))


def test_one_system_has_a_headline_about_its_seeds(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("size,seed,f1\n1,1,0.5\n1,2,0.52\n2,1,0.7\n")
    result = seeds(path, score="f1", settings=["size"])
    assert headline(result) == "Two runs of the same configuration differ by a median of 2.00 points of f1."
    assert column(table(result, "difference between"), "median") == pytest.approx([0.02, 0.02])
    path.write_text("size,f1\n1,0.5\n2,0.52\n1,0.6\n")
    single = seeds(path, score="f1", where=["size=2"])
    assert headline(single) == "There are no two systems to compare, and no configuration was run twice."


def test_figures_are_drawn_from_the_runs_themselves(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(90, 1, n).tolist() for name, n in (("A", 900), ("B", MAX_SCORES + 500), ("C", 7))}
    result = seeds(write(tmp_path / "runs.tsv", scores, dev=True), score="f1", dev="dev", resamples=2)
    drawings = {block.drawing.name: block.drawing for block in view(result) if isinstance(block, Figure)}
    assert list(drawings) == ["seeds", "seeds-dev-test", "seeds-pairs"]
    plot = drawings["seeds"].plot
    assert isinstance(plot, ViolinPlot)
    samples = {sample.name: sample.values for sample in plot.samples}
    assert list(samples["A"]) == pytest.approx(scores["A"])
    assert len(samples["B"]) == MAX_SCORES + 500
    assert np.quantile(samples["B"], [0, 0.3, 1]) == pytest.approx(np.quantile(scores["B"], [0, 0.3, 1]), abs=0.02)
    assert result[""]["B"].scores == ()
    points = drawings["seeds-dev-test"].draw(WIDE).rows
    assert {row[0] for row in points} == {"A", "C"}  # there are too many dev scores of B to keep
    assert len(points) == POINTS // 2 + 7
    assert from_json(result.to_json()) == result


def test_levels_are_a_column_and_names_are_text(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    rows = [f"{task}\t{name}\t{k + i / 10}" for task in "xy" for k, name in enumerate(HOSTILE) for i in range(3)]
    path.write_text("\n".join(["task\tsystem\tf1", *rows]), encoding="utf-8")
    result = seeds(path, score="f1", by="task", resamples=2)
    systems, pairs = check(result.to_latex()).tables
    assert [row[0] for row in systems] == ["task", *"xxxxyyyy"]
    assert len(pairs) == 1 + 2 * 6
    page = fragment(view(result))
    assert "<script>" not in page
    assert "a_b &amp; 50%" in page


def test_published_runs_are_shown(shared_data: Path) -> None:
    path = shared_data / "scores" / "reimers2017_runs.tsv.gz"
    where = ["Dataset=ace.pkl", "Dataset=conll2003_ner.pkl", "Decoder=CRF", "Decoder=Softmax"]
    result = seeds(path, score="Test_F1", dev="Dev_F1", by="Dataset", system="Decoder", where=where, resamples=2)
    assert all(len(rows) > 2 for rows in check(result.to_latex()).tables)
    assert fragment(view(result)).count("<svg") >= 4
    assert from_json(result.to_json()) == result
