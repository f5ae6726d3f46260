"""What is in the file, without a browser."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import stat
from base64 import b64decode
from functools import partial
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from deadheat.charts.chart import WIDE, Chart, Datum, Layout
from deadheat.charts.chart import Figure as Drawing
from deadheat.cli.pages import check_target, write_file
from deadheat.errors import InputError
from deadheat.reporting.html import LIMIT, Page, column_text, csv_link, fragment, page_html, words
from deadheat.reporting.model import Cell, Column, Figure, Heading, Table, Verdict
from deadheat.results.format import COUNT, P_VALUE
from deadheat.screen import spreadsheet_cell
from tests.charts.svg_reading import FunctionPlot
from tests.reporting.browsing import HOSTILE, drawn, sample, stretched

EMPTY = Page("Nothing", ())


class Outline(HTMLParser):
    """Elements that are not closed in their order, attributes that are there twice, and all text by element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        self.faults += [f"{tag} is open at the end" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"{tag} has an attribute twice")
        self.attributes.append((tag, dict(attrs)))
        if tag not in {"meta", "link"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"{tag} closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))


def decoded(link: str) -> bytes:
    """What an address of data holds."""
    head, _, body = link.partition(",")
    return b64decode(body) if head.endswith(";base64") else unquote(body).encode()


def charted(rows: tuple[tuple[Datum, ...], ...], header: tuple[str, ...] = ("name", "value")) -> Chart:
    return Chart("Title", "Words.", 20, 20, "", header, rows)


@pytest.mark.parametrize("page", [EMPTY, sample(), sample(HOSTILE)], ids=["empty", "usual", "hostile"])
def test_elements_are_closed_in_order_and_attributes_are_there_once(page: Page) -> None:
    outline = Outline(page_html(page))
    assert outline.faults == []
    assert [tag for tag, _ in outline.attributes].count("main") == 1


def test_the_outline_finds_faults() -> None:
    assert Outline("<p><b></p>").faults == ["p closes ['b']", "p is open at the end", "b is open at the end"]
    assert Outline('<p a="1" a="2"></p>').faults == ["p has an attribute twice"]


def test_nothing_on_a_page_is_an_address_outside_it() -> None:
    links = [
        value
        for _, attributes in Outline(page_html(sample(HOSTILE))).attributes
        for name, value in attributes.items()
        if name in {"href", "src", "action", "srcset", "xlink:href", "style"} or name.startswith("on")
    ]
    assert links
    assert all(link and link.startswith(("#", "data:text/csv", "data:image/svg")) for link in links)
    assert "@import" not in page_html(sample())
    assert re.findall(r"url\([^)]*", page_html(sample())) == []


def test_the_policy_names_every_script_and_style_by_its_hash() -> None:
    text = page_html(sample(HOSTILE))
    policy = next(
        attributes["content"] or ""
        for tag, attributes in Outline(text).attributes
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert allowed["default-src"] == "'none'"
    for kind in ("script", "style"):
        contents = [content for _, content in re.findall(rf"<{kind}( [^>]*)?>(.*?)</{kind}>", text, re.DOTALL)]
        hashes = {b64decode(digest[8:-1]) for digest in allowed[f"{kind}-src"].split()}
        assert len(contents) == 2
        assert {sha256(content.encode()).digest() for content in contents} == hashes


def test_names_are_text_wherever_they_stand() -> None:
    outline = Outline(page_html(sample(HOSTILE)))
    tags = [tag for tag, _ in outline.attributes]
    assert (tags.count("script"), tags.count("img")) == (2, 0)
    cells = [text for tag, text in outline.texts if tag == "th"]
    assert cells.count(HOSTILE[0]) >= 2
    assert cells.count(HOSTILE[1]) >= 2


def test_what_no_page_can_show_is_replaced() -> None:
    text = page_html(Page("a\x00b\x1bc\ud800d\u202ee", (Verdict("f"),)))
    assert "<h1>a\ufffdb\ufffdc\ufffdd\ufffde</h1>" in text
    assert text.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("אבג: 83.2", "<bdi>אבג</bdi>: 83.2"),
        ("than מנתח תחבירי, 84.1", "than <bdi>מנתח תחבירי</bdi>, 84.1"),
        ("محلل & b", "<bdi>محلل</bdi> &amp; b"),
        ("plain <b>", "plain &lt;b&gt;"),
        ("汉字", "汉字"),
    ],
)
def test_words_that_run_leftward_keep_to_themselves(text: str, shown: str) -> None:
    assert words(text) == shown


def test_tables_say_what_their_cells_are_and_words_stand_left() -> None:
    columns = (Column("system"), Column("p", P_VALUE), Column("verdict"))
    html = fragment([Table(columns, (("a", 0.01, Cell("better", tone="good")), ("b", None, "-")), caption="Pairs")])
    assert "<caption><span>Pairs</span></caption>" in html
    assert '<th scope="col">system</th><th scope="col">p</th><th class="t" scope="col">verdict</th>' in html
    assert '<tr><th scope="row">a</th><td>0.0100</td><td class="t good">better</td></tr>' in html
    assert '<tr><th scope="row">b</th><td>-</td><td class="t">-</td></tr>' in html


def test_columns_that_label_rows_stand_left_even_when_they_hold_numbers() -> None:
    columns = (Column("a"), Column("year", COUNT))
    assert '<td class="t">7</td>' in fragment([Table(columns, (("x", 7),), labels=2)])
    assert "<td>7</td>" in fragment([Table(columns, (("x", 7),))])


def test_an_uneven_table_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="uneven"):
        Table((Column("a"), Column("b")), (("x",),))


def test_a_table_without_rows_has_its_headings() -> None:
    assert "<thead><tr>" in fragment([Table((Column("a"), Column("b")), ())])


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        ("=1+1", "'=1+1"), ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"), ("-2+3", "'-2+3"), ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\\t=1"), ("\r=1", "'\\r=1"), ("\uff1d1+1", "'\uff1d1+1"),
        ("a\x1b[31mb\x9b\u202e", "a\\x1b[31mb\\x9b\\u202e"),
        ("\ud800", "\\ud800"),
        ("=\n1+1", "'=\n1+1"), ("\n=1", "'\n=1"), ("-", "-"), ("-0.53", "-0.53"), ("+1,234.5 %", "+1,234.5 %"),
        ("-1e-05", "-1e-05"),
        ("- dash", "'- dash"), ("a=b", "a=b"), ("", ""), (-0.5, -0.5), (-3, -3), (None, None),
    ],
)  # fmt: skip
def test_no_cell_is_a_formula_and_no_number_is_touched(cell: Datum, kept: Datum) -> None:
    assert spreadsheet_cell(cell) == kept


def test_the_data_come_back_from_the_link_as_they_were() -> None:
    rows = (("a,b", 0.1), ('q"uote', -2), ("l\nl", None), ("汉字 %41 #&?+", math.nan), ("=x", 1e-300))
    chart = charted(rows, ("na&me", "value"))
    content = decoded(csv_link(chart)).decode()
    assert list(csv.reader(io.StringIO(content))) == [
        ["na&me", "value"], ["a,b", "0.1"], ['q"uote', "-2"], ["l\nl", ""], ["汉字 %41 #&?+", ""], ["'=x", "1e-300"]
    ]  # fmt: skip
    assert csv_link(chart).isascii()


def test_a_link_takes_the_shorter_way_to_write_data() -> None:
    plain, foreign = charted((("a", 1.5),) * 20), charted((("汉字", 1.5),) * 20)
    assert ";base64," not in csv_link(plain)
    assert ";base64," in csv_link(foreign)
    for chart in (plain, foreign):
        assert decoded(csv_link(chart)).decode() == chart.csv()


def test_a_long_table_of_data_says_how_much_more_there_is() -> None:
    text = page_html(Page("t", (Figure(Drawing("sentence", FunctionPlot(stretched))),)))
    assert "Data, 250 rows" in text
    assert "50 more rows in the CSV." in text
    assert text.count("<tr>") == 1 + LIMIT
    link = re.search(r'href="(data:text/csv[^"]*)"', text)
    assert link
    assert len(decoded(link[1]).splitlines()) == 251


def test_the_numbers_of_a_column_of_data_have_the_same_decimals() -> None:
    assert column_text([0.5, 0.123456, None, math.nan]) == ["0.5000", "0.1235", "-", "-"]
    assert column_text([0.00012345, 0.5]) == ["0.000123", "0.5"]
    assert column_text([3, 12]) == ["3", "12"]


def test_a_figure_without_data_is_a_figure_still() -> None:
    def bare(layout: Layout) -> Chart:
        return Chart("Bare", "Nothing.", layout.width, 20, "", ("a", "b"), ())

    outline = Outline(page_html(Page("t", (Figure(Drawing("bare", FunctionPlot(bare))),))))
    assert outline.faults == []
    assert [tag for tag, _ in outline.attributes].count("svg") == 2


def test_figures_of_one_name_and_sections_of_one_heading_get_different_names() -> None:
    twice = Heading("LAS"), Figure(Drawing("las", drawn())), Figure(Drawing("las", drawn(title="Again")))
    outline = Outline(page_html(Page("t", (*twice, *twice, Heading("main"), Heading("charts")))))
    names = [attributes["download"] for _, attributes in outline.attributes if "download" in attributes]
    assert names == ["las.csv", "las-2.csv", "las-3.csv", "las-4.csv"]
    ids = [attributes["id"] for _, attributes in outline.attributes if "id" in attributes]
    assert len(set(ids)) == len(ids)
    targets = [attributes["href"] for tag, attributes in outline.attributes if tag == "a"]
    assert {target[1:] for target in targets if target and target[0] == "#"} <= set(ids)


def test_a_page_of_one_section_has_no_contents() -> None:
    assert "<nav" not in page_html(Page("t", (Heading("One"),)))
    assert "<nav" in page_html(Page("t", (Heading("One"), Heading("Two"))))


def test_a_page_is_small_and_the_same_every_time() -> None:
    assert len(page_html(EMPTY)) < 22_000
    assert page_html(sample()) == page_html(sample())


def test_a_file_is_written_whole_and_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "page.html"
    assert write_file(path, "héllo\n") == path
    assert path.read_bytes() == "héllo\n".encode()
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    write_file(path, b"bytes")
    assert path.read_bytes() == b"bytes"
    assert list(path.parent.iterdir()) == [path]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    path.write_text("before")

    def full(self: Path, _: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match=r"page\.html: cannot be written \(no space left on device\)"):
        write_file(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "page.html", tmp_path / "link.html"
    path.write_text("before")
    link.symlink_to(path)
    write_file(link, "after")
    assert link.is_symlink()
    assert path.read_text() == "after"


@pytest.mark.parametrize("make", [check_target, partial(write_file, content="x")])
def test_a_target_that_is_not_a_file_is_refused(tmp_path: Path, make: partial[Path]) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(InputError, match="is a folder; expected the name of a file"):
        make(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is not an ordinary file; expected the name of one"):
        make(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"page\.html: .*/file is not a folder; expected a file in a folder"):
        make(tmp_path / "file" / "page.html")
    assert (tmp_path / "file").read_text() == "here"


def test_checking_a_good_target_writes_nothing(tmp_path: Path) -> None:
    check_target(tmp_path / "new" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_the_data_shown_are_those_of_the_wide_drawing() -> None:
    link = re.search(r'href="(data:text/csv[^"]*)"', page_html(sample()))
    assert link
    assert decoded(link[1]).decode() == drawn().draw(WIDE).csv()
