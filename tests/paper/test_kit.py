"""A folder that can be written again, and never over what somebody else wrote."""

import json
from pathlib import Path

import pytest

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.drawing import text
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.paper.kit import LIST, write_kit
from tests.charts.svg_reading import FunctionPlot
from tests.paper import documents
from tests.paper.checker import check
from tests.paper.documents import twenty_splits
from tests.paper.test_tables import DOCUMENTS


def draw(layout: Layout) -> Chart:
    return Chart("Dots", "None.", layout.width, 30, text(5, 20, "dots"), ("x",), ((1,),))


FIGURES = [Figure("dots", FunctionPlot(draw))]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_kit_has_tables_paragraph_checklist_references_and_figures(tmp_path: Path) -> None:
    written = write_kit(
        [twenty_splits(), documents.ranking()], tmp_path / "kit", figures=FIGURES, formats=["svg", "pdf"]
    )
    names = {
        "tables/study-velani-random-test.tex", "tables/study-pairs-velani-random-test.tex", "tables/ranks.tex",
        "paragraph.txt", "paragraph.tex", "checklist.md", "refs.bib", "figures/dots.svg", "figures/dots.pdf",
        "figures/dots.csv",
    }  # fmt: skip
    assert {str(path.relative_to(tmp_path / "kit")) for path in written} == names
    assert set(contents(tmp_path / "kit")) == names | {LIST}
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
    written = write_kit(DOCUMENTS.values(), tmp_path)
    assert (
        sum(path.suffix == ".tex" for path in written) == 12
    )  # tables of 1, 2, 1, 2, 1, 1, 1 and 2, and the paragraph
    for path in written:
        if path.suffix == ".tex":
            check(path.read_text())


def test_the_same_kit_again_gives_the_same_files(tmp_path: Path) -> None:
    write_kit([twenty_splits()], tmp_path, figures=FIGURES)
    before = contents(tmp_path)
    write_kit([twenty_splits()], tmp_path, figures=FIGURES)
    assert contents(tmp_path) == before


def test_a_new_kit_replaces_the_old_one_and_leaves_other_files_alone(tmp_path: Path) -> None:
    write_kit([twenty_splits(), documents.ranking()], tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "tables" / "mine.tex").write_text("mine")
    write_kit([documents.ranking(data_sets=6)], tmp_path)
    found = contents(tmp_path)
    assert found["notes.txt"] == found["tables/mine.tex"] == b"mine"
    assert "tables/study-velani-random-test.tex" not in found
    assert b"6 data sets" in found["tables/ranks.tex"]


def test_a_file_that_was_changed_stops_everything(tmp_path: Path) -> None:
    write_kit([documents.ranking()], tmp_path)
    (tmp_path / "paragraph.tex").write_text("edited by the authors")
    before = contents(tmp_path)
    with pytest.raises(InputError) as caught:
        write_kit([documents.ranking(data_sets=6)], tmp_path)
    told = (
        f"{tmp_path}: 1 file in the way (paragraph.tex: was changed since it was written); expected another folder, or"
    )
    assert str(caught.value) == f"{told} them moved away"
    assert contents(tmp_path) == before
    write_kit([documents.ranking(data_sets=6)], tmp_path, overwrite=True)
    assert b"6 data sets" in contents(tmp_path)["paragraph.tex"]


def test_a_file_that_is_not_the_kits_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text("@article{mine}")
    with pytest.raises(
        InputError, match=r"1 file in the way \(refs.bib: not written by an earlier kit, or changed since\)"
    ):
        write_kit([documents.ranking()], tmp_path)
    assert contents(tmp_path) == {"refs.bib": b"@article{mine}"}


def test_a_changed_file_that_is_no_longer_part_of_the_kit_is_kept(tmp_path: Path) -> None:
    write_kit([twenty_splits()], tmp_path)
    edited = tmp_path / "tables" / "study-velani-random-test.tex"
    edited.write_text("edited")
    write_kit([documents.ranking()], tmp_path)
    assert edited.read_text() == "edited"
    assert not (tmp_path / "tables" / "study-pairs-velani-random-test.tex").exists()


def test_a_kit_that_was_cut_short_can_be_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kit([documents.ranking()], tmp_path)
    calls: list[Path] = []

    def fails(path: Path, data: bytes) -> None:
        calls.append(path)
        if len(calls) == 4:
            raise KeyboardInterrupt
        write_bytes(path, data)

    monkeypatch.setattr("deadheat.paper.kit.write_bytes", fails)
    with pytest.raises(KeyboardInterrupt):
        write_kit([documents.ranking(data_sets=6)], tmp_path)
    monkeypatch.undo()
    write_kit([documents.ranking(data_sets=7)], tmp_path)
    assert b"7 data sets" in contents(tmp_path)["tables/ranks.tex"]


def test_nothing_is_made_of_a_document_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_kit([documents.ranking(), {"kind": "nothing"}], tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kit").write_text("")
    with pytest.raises(InputError, match="kit: a file; expected a folder, or nothing"):
        write_kit([documents.ranking()], tmp_path / "kit")


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
    (tmp_path / LIST).write_text(text)
    with pytest.raises(InputError, match="not a list of the files of a kit; expected it unchanged, or gone"):
        write_kit([documents.ranking()], tmp_path)
    assert list(contents(tmp_path)) == [LIST]
