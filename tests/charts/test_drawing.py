"""Marks of SVG, and how much room words take."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.charts.drawing import (
    DASHES,
    ELLIPSIS,
    SERIES,
    circle,
    label,
    line,
    number,
    path,
    polygon,
    polyline,
    rect,
    shape,
    shorten,
    text,
    text_width,
    triangle,
    xml_text,
)
from tests.charts.svg_reading import AWKWARD

SAMPLES = ["LAS in %", "Kendall's tau (τ)", "+1.25 [−0.50, 3.00]", "bi-LSTM_CRF {v2}", "Ünïcödé Éàç", "WWW | @@"]


def font_width(words: str, style: str) -> float:
    """The sum of the advances that the font itself gives, at a size of 12."""
    from fontTools.ttLib import TTFont

    files = sorted(Path("/usr/share/fonts").rglob(f"LiberationSans-{style}.ttf"))
    if not files:
        pytest.skip("Liberation Sans is not installed")
    font = TTFont(files[0])
    names, advances = font.getBestCmap(), font["hmtx"]
    return float(sum(advances[names[ord(c)]][0] for c in words)) * 12 / float(font["head"].unitsPerEm)


@pytest.mark.parametrize("words", SAMPLES)
def test_text_is_as_wide_as_the_font_says_and_bold_text_is_never_wider_than_assumed(words: str) -> None:
    assert text_width(words, 12) == pytest.approx(font_width(words, "Regular"), rel=0.011)
    assert font_width(words, "Bold") <= 1.01 * text_width(words, 12, bold=True)


@pytest.mark.parametrize("words", ["Привет мир", "ΑΒΓ αβγδ", "СИНТАКСИС"])
def test_other_alphabets_are_about_as_wide_as_assumed(words: str) -> None:
    assert text_width(words, 12) == pytest.approx(font_width(words, "Regular"), rel=0.2)


def test_marks_on_letters_and_signs_without_width_take_no_room() -> None:
    assert text_width("e\u0301", 10) == text_width("e", 10) == text_width("é", 10)
    assert text_width("a\u202eb\u200d", 10) == text_width("ab", 10)


def _is_cut(name: str, head: str, tail: str) -> bool:
    return name.startswith(head) and name.endswith(tail) and len(head) + len(tail) < len(name)


@given(st.text(max_size=60) | st.text(f"ab{ELLIPSIS}", max_size=60), st.floats(0, 300), st.floats(6, 20))
def test_a_shortened_name_fits_or_is_only_dots(name: str, room: float, font: float) -> None:
    shown = shorten(name, room, font)
    assert text_width(shown, font) <= room or shown == ELLIPSIS or shown == name == ""
    if shown != name:
        places = [at for at, sign in enumerate(shown) if sign == ELLIPSIS]
        assert any(len(shown) <= len(name) and _is_cut(name, shown[:at], shown[at + 1 :]) for at in places)
        assert text_width(name, font) > room


@given(st.text("abcdefghij-", min_size=20, max_size=60), st.floats(60, 120))
def test_a_shortened_name_keeps_its_beginning_and_its_end_and_uses_the_room(name: str, room: float) -> None:
    shown = shorten(name, room, 10)
    if shown != name:
        head, _, tail = shown.partition(ELLIPSIS)
        assert name.startswith(head)
        assert name.endswith(tail)
        assert 0 <= len(head) - len(tail) <= 1
        assert room - text_width(shown, 10) < 2 * 10


def test_a_mark_is_not_put_onto_the_dots() -> None:
    assert shorten("aaaaaaaaaaaae\u0301\u0301\u0301", 40, 10).partition(ELLIPSIS)[2][:1] != "\u0301"


@given(st.text(max_size=30))
def test_any_words_come_back_from_the_file_as_they_were(words: str) -> None:
    words = words.replace("\r", "")  # every parser of XML makes a line end of it
    element = ElementTree.fromstring(text(1, 2, words, tooltip="x"))
    assert (element.text or "") == xml_text(words)
    assert len(xml_text(words)) == len(words)


def test_what_xml_cannot_hold_is_shown_as_what_cannot_be_shown() -> None:
    assert xml_text("a\x00b\ud800c\ufffed\U0001f600") == "a\ufffdb\ufffdc\ufffdd\U0001f600"


@pytest.mark.parametrize("name", AWKWARD)
def test_a_label_that_is_cut_tells_the_whole_name(name: str) -> None:
    element = ElementTree.fromstring(label(0, 0, name, 60, 10))
    whole = element.findtext("title") or element.text
    assert whole == xml_text(name)
    assert text_width(element.text or "", 10) <= 60
    assert not list(element.iter("script"))


@given(st.floats(-1e6, 1e6))
def test_a_coordinate_is_right_to_a_hundredth_and_short(value: float) -> None:
    written = number(value)
    assert float(written) == pytest.approx(value, abs=0.005001)
    assert re.fullmatch(r"-?\d+(\.\d{1,2})?", written)
    assert written != "-0"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_mark_without_a_place_is_our_mistake(value: float) -> None:
    with pytest.raises(AssertionError, match="no position"):
        number(value)


@pytest.mark.parametrize(
    ("mark", "element"),
    [
        (line("a", 1, 2, 3, 4, dash="2 1"), '<line class="a" x1="1" y1="2" x2="3" y2="4" stroke-dasharray="2 1"/>'),
        (rect("a", 1, 2, -3, 4, "t"), '<rect class="a" x="1" y="2" width="0" height="4"><title>t</title></rect>'),
        (rect("a", 1, 2, 3, 4, opacity=0.25), '<rect class="a" x="1" y="2" width="3" height="4" fill-opacity="0.25"/>'),
        (circle("a", 1, 2, 3, "<&>"), '<circle class="a" cx="1" cy="2" r="3"><title>&lt;&amp;&gt;</title></circle>'),
        (path("a", "M0 0H1"), '<path class="a" d="M0 0H1"/>'),
        (polyline("a", [1, 2], [3, 4]), '<polyline class="a" points="1,3 2,4"/>'),
        (polygon("a", [1, 2, 3], [3, 4, 5]), '<polygon class="a" points="1,3 2,4 3,5"/>'),
        (
            text(1, 2, "a", kind="soft", anchor="end", rotate=-90),
            '<text class="soft" x="1" y="2" text-anchor="end" transform="rotate(-90 1 2)">a</text>',
        ),
    ],
)
def test_marks_are_the_elements_they_are_named_after(mark: str, element: str) -> None:
    assert mark == element


def test_a_line_needs_as_many_places_across_as_down() -> None:
    with pytest.raises(ValueError, match="zip"):
        polyline("l0", [1, 2], [3])


def test_every_series_has_a_shape_and_a_dash_of_its_own() -> None:
    outlines = {re.sub(r'class="f\d"', "", shape(i, 0, 0, 10)) for i in range(SERIES)}
    assert len(outlines) == SERIES
    assert shape(SERIES, 0, 0, 10) == shape(0, 0, 0, 10)
    assert len(set(DASHES)) == len(DASHES) == SERIES


def test_a_triangle_points_where_it_is_told_to() -> None:
    for up, tip in ((True, min), (False, max)):
        (points,) = re.findall(r'points="([^"]+)"', triangle("ink", 0, 0, 5, up=up))
        ys = [float(pair.split(",")[1]) for pair in points.split()]
        assert ys.count(tip(ys)) == 1
