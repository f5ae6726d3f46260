"""A folder that can be written again, and never over what somebody else wrote."""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.drawing import text
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.paper.kit import MANIFEST, latex_tables, write_kit
from deadheat.results.rank import Ranking
from tests.charts.svg_reading import FunctionPlot
from tests.paper.cases import twenty_splits
from tests.reporting.latex_checker import check
from tests.results.samples import all_samples


def ranking(datasets: int = 8) -> Ranking:
    return replace(cast(Ranking, all_samples()["rank"]), datasets=datasets)


def draw(layout: Layout) -> Chart:
    return Chart("Dots", "None.", layout.width, 30, text(5, 20, "dots"), ("x",), ((1,),))


FIGURES = [Figure("dots", FunctionPlot(draw))]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_kit_has_tables_paragraph_checklist_references_and_figures(tmp_path: Path) -> None:
    written = write_kit([twenty_splits(), ranking()], tmp_path / "kit", figures=FIGURES, formats=["svg", "pdf"])
    names = {
        "tables/study-velani-random-test.tex", "tables/study-pairs-velani-random-test.tex", "tables/ranks.tex",
        "tables/rank-differences.tex", "tables/borda.tex",
        "paragraph.txt", "paragraph.tex", "checklist.md", "refs.bib", "figures/dots.svg", "figures/dots.pdf",
        "figures/dots.csv",
    }  # fmt: skip
    assert {str(path.relative_to(tmp_path / "kit")) for path in written} == names
    assert set(contents(tmp_path / "kit")) == names | {MANIFEST}
    assert (tmp_path / "kit" / "paragraph.txt").read_text().startswith("We trained 2 systems")
    for path in written:
        if path.suffix == ".tex":
            check(path.read_text())
    cited = {key for line in (tmp_path / "kit" / "paragraph.tex").read_text().splitlines() for key in _keys(line)}
    assert cited
    assert all(f"{{{key}," in (tmp_path / "kit" / "refs.bib").read_text() for key in cited)


def _keys(line: str) -> list[str]:
    return [key for piece in line.split(r"\citep{")[1:] for key in piece.partition("}")[0].split(",")]


def test_every_kind_together_makes_one_kit(tmp_path: Path) -> None:
    results = list(all_samples().values())
    written = write_kit(results, tmp_path)
    tables = sum(len(latex_tables([result])) for result in results)
    assert sum(path.suffix == ".tex" for path in written) == tables + 1
    for path in written:
        if path.suffix == ".tex":
            check(path.read_text())


def test_the_same_kit_again_gives_the_same_files(tmp_path: Path) -> None:
    write_kit([twenty_splits()], tmp_path, figures=FIGURES)
    before = contents(tmp_path)
    write_kit([twenty_splits()], tmp_path, figures=FIGURES)
    assert contents(tmp_path) == before


def test_a_new_kit_replaces_the_old_one_and_leaves_other_files_alone(tmp_path: Path) -> None:
    write_kit([twenty_splits(), ranking()], tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "tables" / "mine.tex").write_text("mine")
    write_kit([ranking(6)], tmp_path)
    files = contents(tmp_path)
    assert files["notes.txt"] == files["tables/mine.tex"] == b"mine"
    assert "tables/study-velani-random-test.tex" not in files
    assert b"6 data sets" in files["tables/ranks.tex"]


def test_a_file_that_was_changed_stops_everything(tmp_path: Path) -> None:
    write_kit([ranking()], tmp_path)
    (tmp_path / "paragraph.tex").write_text("edited by the authors")
    before = contents(tmp_path)
    with pytest.raises(InputError) as caught:
        write_kit([ranking(6)], tmp_path)
    problem = f"{tmp_path}: 1 file would be overwritten (paragraph.tex: changed since the kit was written)"
    assert str(caught.value) == f"{problem}; expected another folder, or these files moved away"
    assert contents(tmp_path) == before
    write_kit([ranking(6)], tmp_path, overwrite=True)
    assert b"6 data sets" in contents(tmp_path)["paragraph.tex"]


def test_a_file_that_is_not_the_kits_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text("@article{mine}")
    with pytest.raises(InputError, match=r"\(refs.bib: not written by an earlier kit, or changed since\)"):
        write_kit([ranking()], tmp_path)
    assert contents(tmp_path) == {"refs.bib": b"@article{mine}"}


def test_a_changed_file_that_is_no_longer_part_of_the_kit_is_kept(tmp_path: Path) -> None:
    write_kit([twenty_splits()], tmp_path)
    edited = tmp_path / "tables" / "study-velani-random-test.tex"
    edited.write_text("edited")
    write_kit([ranking()], tmp_path)
    assert edited.read_text() == "edited"
    assert not (tmp_path / "tables" / "study-pairs-velani-random-test.tex").exists()


def test_a_kit_that_was_cut_short_can_be_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kit([ranking()], tmp_path)
    calls: list[Path] = []

    def fails(path: Path, data: bytes) -> None:
        calls.append(path)
        if len(calls) == 4:
            raise KeyboardInterrupt
        write_bytes(path, data)

    monkeypatch.setattr("deadheat.paper.kit.write_bytes", fails)
    with pytest.raises(KeyboardInterrupt):
        write_kit([ranking(6)], tmp_path)
    monkeypatch.undo()
    write_kit([ranking(7)], tmp_path)
    assert b"7 data sets" in contents(tmp_path)["tables/ranks.tex"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kit").write_text("")
    with pytest.raises(InputError, match="kit: a file; expected a folder, or nothing"):
        write_kit([ranking()], tmp_path / "kit")


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        '{"kind": "deadheat-kit.v1"}',
        '{"kind": "other", "files": {}}',
        json.dumps({"kind": "deadheat-kit.v1", "files": {"../outside.txt": ["x"]}}),
        json.dumps({"kind": "deadheat-kit.v1", "files": {"/etc/passwd": ["x"]}}),
    ],
)
def test_a_list_of_files_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(InputError, match="not a list of the files of a kit; expected it unchanged, or no such file"):
        write_kit([ranking()], tmp_path)
    assert list(contents(tmp_path)) == [MANIFEST]
