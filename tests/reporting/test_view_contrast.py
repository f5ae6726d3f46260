"""What a reader sees of options compared over configurations."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deadheat.charts.chart import WIDE
from deadheat.questions.contrast import EMPTY, contrast
from deadheat.reporting.html import fragment
from deadheat.reporting.model import DAGGER, DOUBLE_DAGGER, Figure, Table, as_cell
from deadheat.reporting.views import headline, view
from deadheat.results.base import from_json
from deadheat.results.runs import Contrast
from tests.reporting.latex_checker import check


def write(path: Path, options: list[str], *, sizes: int = 9, repeats: int = 1) -> Path:
    rng = np.random.default_rng(0)
    lines = [
        f"{option}\t{size}\t{rng.normal(0.8 + 0.02 * i, 0.01):.4f}\n"
        for size in range(sizes)
        for i, option in enumerate(options)
        for _ in range(repeats)
    ]
    path.write_text("decoder\tsize\tf1\n" + "".join(lines), encoding="utf-8")
    return path


def tables(result: Contrast) -> list[Table]:
    return [block for block in view(result) if isinstance(block, Table)]


def drawings(result: Contrast) -> dict[str, Figure]:
    return {block.drawing.name: block for block in view(result) if isinstance(block, Figure)}


@pytest.fixture
def result(tmp_path: Path) -> Contrast:
    return contrast(write(tmp_path / "runs.tsv", ["none", "cnn", "lstm"]), factor="decoder", score="f1")


def test_options_have_wins_differences_and_tests_best_first(result: Contrast) -> None:
    comparison = result[""]
    options = tables(result)[0]
    assert [row[0] for row in options.rows] == ["lstm", "cnn", "none"]
    wins, marks = zip(*((as_cell(row[1]).value, as_cell(row[1]).mark) for row in options.rows), strict=True)
    assert wins == tuple(comparison[name].wins for name in ("lstm", "cnn", "none"))
    assert marks == ("", "", "")
    pair = comparison.pair("lstm", "none")
    row = options.rows[2]
    assert row[2:5] == (comparison["none"].median_difference, comparison["none"].median, comparison["none"].sd)
    assert row[5:] == (pair.sign_p_corrected, pair.wilcoxon_p_corrected, pair.spread_p_corrected)
    (latex,) = check(result.to_latex()).tables
    assert latex[3][1] == "0%"
    assert latex[3][2] == f"{100 * comparison['none'].median_difference:+.2f}"
    assert headline(result) == "lstm has the best f1 and is shown to be better than both others."
    assert from_json(result.to_json()) == result


def test_too_few_configurations_are_marked_otherwise_than_no_difference(tmp_path: Path) -> None:
    few = contrast(write(tmp_path / "few.tsv", ["a", "b"], sizes=4), factor="decoder", score="f1", settings=["size"])
    assert headline(few).endswith("but there are too few settings to tell whether it is better.")
    path = tmp_path / "even.csv"
    path.write_text(
        "opt,size,f1\n" + "".join(f"{o},{k},{0.5 + 0.1 * ((o == 'a') == k % 2)}\n" for o in "ab" for k in range(8))
    )
    even = contrast(path, factor="opt", score="f1", settings=["size"])
    assert "not told apart" in headline(even)
    for found, mark in ((few, DOUBLE_DAGGER), (even, DAGGER)):
        assert [as_cell(row[1]).mark for row in tables(found)[0].rows] == ["", mark]
        assert f"alpha {found.alpha:g}" in str(found).split(f"\n{mark} ")[1].split("\n")[0]


def test_the_figure_has_the_median_and_the_middle_of_the_differences(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.tsv", ["none", "lstm"])
    scores = np.loadtxt(path, delimiter="\t", skiprows=1, usecols=2).reshape(-1, 2)
    found = contrast(path, factor="decoder", score="f1")
    ((name, *numbers),) = drawings(found)["contrast-decoder"].drawing.draw(WIDE).rows
    gaps = 100 * (scores[:, 0] - scores[:, 1])
    assert name == "none"
    assert numbers == pytest.approx([np.median(gaps), *np.quantile(gaps, [0.05, 0.95])], abs=1e-6)


def test_levels_are_columns_and_one_configuration_has_no_spread(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "task,decoder,size,f1\npos,crf,1,90\npos,softmax,1,88\npos,crf,2,80\npos,softmax,2,81\n"
        "ner,crf,1,72\nner,softmax,1,69\nchunk,crf,1,50\n"
    )
    found = contrast(path, factor="decoder", score="f1", by="task", second="size", settings=["size"])
    (latex,) = check(found.to_latex()).tables
    assert [row[:3] for row in latex[:3]] == [["task", "size", "decoder"], ["pos", "1", "crf"], ["pos", "1", "softmax"]]
    assert latex[6][:2] == ["ner", "1"]
    assert latex[6][-1] == "-"
    assert "too few settings to tell on 3" in headline(found)
    assert "in percent" not in str(found)
    assert found.notes[0] in fragment(view(found))


def test_the_last_rows_are_averages_over_the_levels(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "task,decoder,size,f1\npos,crf,1,90\npos,softmax,1,88\npos,crf,2,80\npos,softmax,2,81\n"
        "ner,crf,1,72\nner,softmax,1,69\nner,crf,2,72\nner,softmax,2,69\n"
    )
    found = contrast(path, factor="decoder", score="f1", by="task", settings=["size"])
    (latex,) = check(found.to_latex()).tables
    assert [row[:3] for row in latex[-2:]] == [["average", "crf", "75.0%"], ["average", "softmax", "25.0%"]]
    assert set(latex[-1][3:]) == {"-"}
    assert [as_cell(row[2]).strong for row in tables(found)[0].rows[-2:]] == [True, False]
    for shown in (str(found), found.to_markdown(), fragment(view(found))):
        assert "Average: mean over all levels of task." in shown
    assert from_json(found.to_json()) == found


def test_settings_that_matter_are_listed_and_drawn(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.tsv", ["none", "cnn"], repeats=2)
    found = contrast(path, score="f1", settings=["size"], importance=True)
    shares = {share.factors[0]: share.share for share in found.importance[""].main}
    noise = {"noise between runs of the same settings": found.importance[""].noise}
    (listed,) = tables(found)
    assert {str(row[0]): row[1] for row in listed.rows} == pytest.approx(shares | noise | {
        " x ".join(pair.factors): pair.share for pair in found.importance[""].pairs if pair.share >= 0.005
    })  # fmt: skip
    drawn = {row[0]: row[1] for row in drawings(found)["contrast-importance"].drawing.draw(WIDE).rows}
    assert {name: drawn[name] for name in shares} == {name: 100 * share for name, share in shares.items()}
    assert headline(found).startswith(
        f"Setting that explains the largest share of the variance of f1: {max(shares, key=shares.__getitem__)} ("
    )
    assert "every combination was run equally often" in str(found)
    forest = replace(found.importance[""], method="forest", explained=-0.1, noise=float("nan"))
    vain = replace(found, importance={"": forest})
    assert "shares of all settings are chance" in headline(vain)
    assert "explains -10.0% of the variance of unseen runs: the shares are chance" in str(vain)


def test_runs_that_are_paired_each_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.tsv", ["none", "cnn"], repeats=2)
    found = contrast(path, factor="decoder", score="f1", settings=["size"], repeats="each")
    assert tables(found)[1].rows[0][:2] == (9, 18)
    assert "Tests use the means of configurations" in str(found)


def test_options_of_any_name_are_text(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "a_b & 50%", "|x|", "汉字", ""]
    found = contrast(write(tmp_path / "runs.tsv", names), factor="decoder", score="f1")
    (latex,) = check(found.to_latex()).tables
    assert {row[0] for row in latex[1:]} == {*names[:-1], EMPTY}
    assert "<script>" not in fragment(view(found))


def test_published_runs_are_shown(shared_data: Path) -> None:
    path = shared_data / "scores" / "reimers2017_runs.tsv.gz"
    where = ["Dataset=ace.pkl", "Dataset=conll2003_ner.pkl", "Decoder=CRF", "Decoder=Softmax"]
    result = contrast(path, score="Test_F1", factor="Decoder", by="Dataset", where=where)
    assert all(len(rows) > 2 for rows in check(result.to_latex()).tables)
    assert fragment(view(result)).count("<svg") >= 4
    assert from_json(result.to_json()) == result
