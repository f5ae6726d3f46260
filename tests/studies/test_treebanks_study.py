"""The study of three parsers on six treebanks: its files are what its script makes."""

from pathlib import Path

import pytest

from deadheat.errors import InputError
from studies.treebanks.make import FOLDER, KEPT, make, write_scores

FILES = ("scores.csv", *KEPT.values())


@pytest.mark.slow
def test_the_files_are_those_that_the_script_makes(shared_data: Path, tmp_path: Path) -> None:
    make(shared_data / "predictions" / "predicted-pos", tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_text("utf-8") == (FOLDER / name).read_text("utf-8"), name
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Three parsers on six treebanks" in page
    assert str(shared_data) not in page


def test_tables_and_figures_are_of_the_same_scores() -> None:
    """The table for a paper rounds what the CSV file has; the figure has the differences of the same scores."""
    rows = [line.split(",") for line in (FOLDER / "scores.csv").read_text("utf-8").splitlines()]
    assert rows[0] == ["metric", "treebank", "system", "score"]
    scores = {(treebank, system): float(score) for _, treebank, system, score in rows[1:]}
    assert len(scores) == 18
    table = (FOLDER / "scores.tex").read_text("utf-8")
    for treebank, _ in scores:
        (line,) = [text for text in table.splitlines() if text.startswith(treebank.replace("_", r"\_"))]
        cells = line.split("&")[1:]
        for cell, system in zip(cells, ("biaffine", "pointer", "bracketing"), strict=True):
            assert f"{scores[treebank, system]:.2f} (" in cell
    lines = (FOLDER / "differences.csv").read_text("utf-8").splitlines()[1:]
    differences = {name: float(value) for name, value, *_ in (line.split(",") for line in lines)}
    treebanks = sorted({treebank for treebank, _ in scores})
    for treebank in treebanks:
        expected = scores[treebank, "biaffine"] - scores[treebank, "pointer"]
        assert differences[treebank] == pytest.approx(expected, abs=2e-4)
    mean = sum(differences[treebank] for treebank in treebanks) / 6
    assert differences["these data sets"] == pytest.approx(mean)


def test_only_a_result_becomes_a_table_of_scores(tmp_path: Path) -> None:
    (tmp_path / "compare.json").write_text("{}")
    with pytest.raises(InputError, match="not a result of Deadheat"):
        write_scores(tmp_path / "compare.json", tmp_path / "scores.csv")
    assert not (tmp_path / "scores.csv").exists()
