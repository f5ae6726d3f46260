"""Figures as files: sizes on paper, fonts that go along, and what happens without them."""

import base64
import io
import re
import struct
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from deadheat.charts.chart import COLUMN, FULL, WIDE, Chart, Figure, Layout
from deadheat.charts.drawing import circle, text
from deadheat.errors import InputError, NameUnknown
from deadheat.paper import figures
from deadheat.paper.figures import embed_fonts, figure_files, installed_faces, write_figures
from tests.charts.svg_reading import FunctionPlot

LATIN = "".join(map(chr, range(33, 127)))


def make_font(path: Path, family: str, characters: str, *, embedding: int = 0) -> None:
    """A font in which every character is a square."""
    names = {ord(c): f"g{ord(c):x}" for c in characters}
    order = [".notdef", "space", *names.values()]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap({32: "space", **names})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for point in ((0, 500), (500, 500), (500, 0)):
        pen.lineTo(point)
    pen.closePath()
    square = pen.glyph()
    builder.setupGlyf(dict.fromkeys(order, square))
    builder.setupHorizontalMetrics(dict.fromkeys(order, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2(fsType=embedding)
    builder.setupPost()
    builder.save(path)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with fonts of our own making: Latin in two weights, and one for Hebrew letters."""
    folder = tmp_path / "fonts" / "truetype"
    folder.mkdir(parents=True)
    make_font(folder / "LiberationSans-Regular.ttf", "Liberation Sans", LATIN)
    make_font(folder / "LiberationSans-Bold.ttf", "Liberation Sans", LATIN)
    make_font(folder / "DejaVuSans.ttf", "DejaVu Sans", LATIN + "שלום")
    monkeypatch.setattr(figures, "FOLDERS", (str(tmp_path / "fonts"), str(tmp_path / "nowhere")))
    return folder


def chart(layout: Layout, *texts: str, wide: float = 1.0) -> Chart:
    marks = circle("mark", 10, 10, 3, "a tip with ش in it")
    marks += "".join(text(20, 20 + 15 * i, content) for i, content in enumerate(texts or ("accuracy 91.2",)))
    return Chart("Dots", "One dot.", wide * layout.width, 60, marks, ("system", "score"), (("a", 1.5), ("b", None)))


def figure(*texts: str, name: str = "dots", wide: float = 1.0) -> Figure:
    return Figure(name, FunctionPlot(lambda layout: chart(layout, *texts, wide=wide)))


def embedded(svg: str) -> list[tuple[str, str, TTFont]]:
    """Family, weight and font of every rule that brings one."""
    rule = r"@font-face\{font-family:'([^']*)';font-weight:(\w+);src:url\(data:font/woff;base64,([^)]*)\)"
    return [(a, b, TTFont(io.BytesIO(base64.b64decode(data)))) for a, b, data in re.findall(rule, svg)]


def characters_of(font: TTFont) -> set[str]:
    return {chr(code) for code in font.getBestCmap()} - {" "}


def test_files_have_the_names_of_their_figures_and_data_beside_them(tmp_path: Path) -> None:
    written = write_figures([figure(), figure(name="other")], tmp_path / "new" / "folder")
    names = [f"{name}.{kind}" for name in ("dots", "other") for kind in ("svg", "pdf", "png", "csv")]
    assert [path.name for path in written] == names
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(names)
    assert written[3].read_text() == "system,score\na,1.5\nb,\n"


@pytest.mark.parametrize(("layout", "inches"), [(COLUMN, 3.3), (FULL, 6.3), (WIDE, 7.5)])
def test_a_chart_is_exactly_as_wide_as_its_place_in_the_paper(layout: Layout, inches: float) -> None:
    files = figure_files([figure()], layout=layout, ppi=200)
    assert files == figure_files([figure()], layout=layout, ppi=200), "the same bytes every time"
    (box,) = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", files["dots.pdf"])
    left, bottom, right, top = map(float, box.split())
    assert right - left == pytest.approx(72 * inches, abs=0.01)
    assert top - bottom == pytest.approx(72 * inches * 60 / layout.width, abs=0.01)
    width, height = struct.unpack(">II", files["dots.png"][16:24])
    assert width == pytest.approx(200 * inches, abs=1)
    assert height == pytest.approx(200 * inches * 60 / layout.width, abs=1)
    svg = ET.fromstring(files["dots.svg"])
    assert float(svg.attrib["width"].removesuffix("in")) == pytest.approx(inches, abs=1e-4)
    assert svg.attrib["viewBox"] == f"0 0 {layout.width:g} 60"


def test_a_chart_wider_than_its_layout_keeps_the_size_of_its_text() -> None:
    (box,) = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", figure_files([figure(wide=2.0)])["dots.pdf"])
    assert float(box.split()[2]) == pytest.approx(2 * 3.3 * 72, abs=0.01)


def test_pixels_of_png_are_300_an_inch_and_say_so() -> None:
    data = figure_files([figure()], formats=["png"])["dots.png"]
    assert struct.unpack(">II", data[16:24])[0] == 990
    at = data.index(b"pHYs") + 4
    across, down, unit = struct.unpack(">IIB", data[at : at + 9])
    assert (across, down, unit) == (11811, 11811, 1)  # a metre: 300 / 0.0254


def test_pdf_is_drawn_as_vectors_with_every_font_embedded() -> None:
    pdf = figure_files([figure("accuracy", "91.2 ± 0.3")], formats=["pdf"])["dots.pdf"]
    assert pdf.startswith(b"%PDF-")
    assert b"/Subtype /Image" not in pdf
    descriptors = re.findall(rb"/Type /FontDescriptor.*?>>", pdf, re.DOTALL)
    assert descriptors
    assert all(re.search(rb"/FontFile[23]? \d+ 0 R", each) for each in descriptors)
    assert b"LiberationSans" in pdf


def test_svg_brings_along_the_characters_that_it_uses_and_no_others(machine: Path) -> None:
    svg = figure_files([figure("accuracy", "ab & <c>")], formats=["svg"])["dots.svg"].decode()
    ((family, weight, font),) = embedded(svg)
    assert (family, weight) == ("Liberation Sans", "normal")
    assert characters_of(font) == set("accuracyab&<c>")  # neither the tip's nor the title's
    assert "<!--" not in svg


def test_bold_text_brings_the_bold_font(machine: Path) -> None:
    marks = text(1, 1, "xy") + text(1, 2, "zw", kind="soft strong") + text(1, 3, "v", kind="t3")
    found = embedded(embed_fonts(marks).rules)
    assert [(weight, characters_of(font)) for _, weight, font in found] == [("normal", set("xy")), ("bold", set("zwv"))]


def test_a_text_with_other_letters_is_set_in_a_font_that_has_them_all(machine: Path) -> None:
    found = embed_fonts(text(1, 1, "tagger") + text(1, 2, "שלום tagger"))
    assert {family: characters_of(font) for family, _, font in embedded(found.rules)} == {
        "Liberation Sans": set("tagger"),
        "DejaVu Sans": set("שלוםtagger"),
    }
    first, second = re.findall(r"<text[^>]*>", found.marks)
    assert "style" not in first
    assert "font-family:'DejaVu Sans','Liberation Sans'" in second
    assert not found.note


def test_a_font_for_another_script_is_found_by_its_file(machine: Path) -> None:
    make_font(machine / "NotoSansSC-Regular.otf", "Noto Sans SC", "汉字")
    installed_faces.cache_clear()
    found = embed_fonts(text(1, 1, "汉字"))
    assert [family for family, _, _ in embedded(found.rules)] == ["Noto Sans SC"]
    assert "font-family:'Noto Sans SC'" in found.marks


def test_characters_that_no_font_has_are_listed(machine: Path) -> None:
    files = figure_files([figure("汉字 tagger"), figure("更")])
    for name, missing in (("dots", "字 汉"), ("dots-2", "更")):
        svg = files[f"{name}.svg"].decode()
        assert f"<!-- no font on this machine has {missing}; the reader's will be used -->" in svg
        ET.fromstring(svg)


def test_without_fonts_the_list_of_families_stays_and_a_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FOLDERS", (str(tmp_path / "none"),))
    svg = figure_files([figure()], formats=["svg"])["dots.svg"].decode()
    assert "@font-face" not in svg
    assert "font-family:'Liberation Sans', Arial" in svg
    families = "Liberation Sans, Arial, DejaVu Sans, Noto Sans"
    assert f"<!-- fonts are not embedded: none of {families} was found on this machine -->" in svg


def test_a_font_that_may_not_be_embedded_is_not(machine: Path) -> None:
    for name in ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"):
        (machine / name).unlink()
    make_font(machine / "LiberationSans-Regular.ttf", "Liberation Sans", LATIN, embedding=0x0002)
    make_font(machine / "Arial.ttf", "Arial", LATIN, embedding=0x0008)
    installed_faces.cache_clear()
    assert [face.family for face in installed_faces(figures.FOLDERS)] == ["Arial", "DejaVu Sans"]
    # What stands in for the first font goes by its name, so that it is used wherever the drawing is read.
    ((family, _, _),) = embedded(embed_fonts(text(1, 1, "a")).rules)
    assert family == "Liberation Sans"


def test_a_file_that_is_no_font_is_passed_over(machine: Path) -> None:
    (machine / "LiberationSans-Regular.ttf").write_bytes(b"not a font")
    installed_faces.cache_clear()
    assert [face.family for face in installed_faces(figures.FOLDERS)] == ["DejaVu Sans"]


@pytest.mark.parametrize("missing", [["vl_convert"], ["fontTools.subset"], ["vl_convert", "fontTools.subset"]])
def test_pdf_without_the_extra_is_one_clear_line(
    missing: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    packages = {"vl_convert": "vl-convert-python", "fontTools.subset": "fonttools"}
    with pytest.raises(InputError) as caught:
        write_figures([figure()], tmp_path / "out", formats=["svg", "pdf"])
    told = " and ".join(packages[name] for name in reversed(missing))
    expected = "expected pip install 'deadheat[figures]' (SVG needs neither)"
    assert str(caught.value) == f"figures as PDF: {told} not installed; {expected}"
    assert not (tmp_path / "out").exists()


def test_svg_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vl_convert", "fontTools", "fontTools.subset"):
        monkeypatch.setitem(sys.modules, name, None)
    svg, data = write_figures([figure()], tmp_path, formats=["svg"])
    assert "fonttools is not installed (pip install 'deadheat[figures]')" in svg.read_text()
    assert "font-family:'Liberation Sans', Arial" in svg.read_text()
    assert data.name == "dots.csv"


def test_nothing_is_written_if_one_figure_cannot_be_drawn(tmp_path: Path) -> None:
    def refuse(_: Layout) -> Chart:
        raise InputError("no data; expected some")

    with pytest.raises(InputError, match="no data"):
        write_figures([figure(), Figure("bad", FunctionPlot(refuse))], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_stay_in_the_folder_and_differ(tmp_path: Path) -> None:
    some: list[Any] = [figure(name=name) for name in ("../up", "a b", "a-b", "..", "fine.v1")]
    written = write_figures(some, tmp_path / "out", formats=["svg"])
    assert [path.name for path in written if path.suffix == ".svg"] == [
        "up.svg", "a-b.svg", "a-b-2.svg", "figure.svg", "fine.v1.svg",
    ]  # fmt: skip
    assert all(path.parent == tmp_path / "out" for path in written)


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NameUnknown, match="format of figures 'pgn' is unknown; did you mean 'png'"):
        write_figures([figure()], tmp_path, formats=["pgn"])
    with pytest.raises(InputError, match="0 pixels per inch; expected 1 to 10,000"):
        write_figures([figure()], tmp_path, ppi=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file: cannot be created \("):
        write_figures([figure()], tmp_path / "file", formats=["svg"])
