"""The site is built from docs/: whole, without a broken link, and without anything that is loaded from elsewhere."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

import deadheat
from deadheat.cli.main import COMMANDS, command_parser
from docs.assets import gallery

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
COMMAND_PAGE = DOCS / "reference" / "commands.md"
LOADED = {"audio": "src", "iframe": "src", "img": "src", "link": "href", "script": "src", "source": "src"}
# What a block of CSS would load; addresses of our own files and of data inside the sheet are not meant.
FROM_ELSEWHERE = re.compile(r"""(?:url\(|@import)\s*["']?(?P<address>(?:https?:)?//[^"')]+)""")
HELP_WIDTH = "100"
# Blocks whose text is wider than they are and cannot be scrolled to.
CUT_OFF = """[...document.querySelectorAll("pre, pre > code, table, p, li, h1, h2")].filter(one => {
  const style = getComputedStyle(one), scrolls = one.closest("pre, .md-typeset__scrollwrap, .scroll") !== null;
  return one.scrollWidth > one.clientWidth + 1 && one.clientWidth && style.overflowX === "hidden" && !scrolls;
}).map(one => one.outerHTML.slice(0, 80))"""


@dataclass(slots=True, repr=False)
class Seen(HTMLParser):
    """What a page links to, what it loads, and the names of places in it."""

    text: str
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    navigation: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    depth: int = 0  # inside the navigation of the site

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "nav" and (self.depth or "md-nav--primary" in given.get("class", "")):
            self.depth += 1
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            self.navigation += [given["href"]] if self.depth else []
        if given.get(LOADED.get(tag, "")):
            self.loads.append(given[LOADED[tag]])
        self.loads += [found["address"] for found in FROM_ELSEWHERE.finditer(given.get("style", ""))]

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "nav" and self.depth > 0


def elsewhere(address: str) -> bool:
    """Whether an address lies outside the site."""
    return bool(urlsplit(address).scheme) or address.startswith("//")


def target(page: Path, address: str) -> tuple[Path, str]:
    """The file of the site that a link of a page leads to, and the place in it."""
    parts = urlsplit(address)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def broken_links(pages: dict[Path, Seen]) -> Iterator[str]:
    """Links to files or places that are not there."""
    for page, seen in pages.items():
        for address in [*seen.links, *seen.loads]:
            if elsewhere(address):
                continue
            file, place = target(page, address)
            if not file.is_file():
                yield f"{page.name}: {address} leads nowhere"
            elif place and file in pages and place not in pages[file].places:
                yield f"{page.name}: {address} names a place that is not there"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it, in a folder of its own; once for all processes that run tests."""
    common = tmp_path_factory.getbasetemp()
    common = common.parent if "PYTEST_XDIST_WORKER" in os.environ else common
    with (common / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (common / "built").exists():
            build(common / "project")
            (common / "built").touch()
    return common / "project" / "site"


def build(folder: Path) -> None:
    """Build a copy of the pages: the site has to lie inside the project."""
    shutil.rmtree(folder, ignore_errors=True)
    if not gallery.FOLDER.exists():  # as where nobody has built the site yet
        gallery.main()
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    built = subprocess.run(
        [Path(sys.prefix) / "bin" / "zensical", "build", "--strict"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, re.sub(r"\x1b\[[\d;]*m", "", built.stdout)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Seen]:
    return {page.resolve(): Seen(page.read_text()) for page in sorted(site.rglob("*.html"))}


def built_pages(site: Path) -> set[Path]:
    """Where the pages of docs/ are in the site."""
    return {(site / page.relative_to(DOCS)).with_suffix(".html").resolve() for page in DOCS.rglob("*.md")}


def test_every_page_is_in_the_navigation_of_every_other(site: Path, pages: dict[Path, Seen]) -> None:
    expected = built_pages(site)
    assert len(expected) > 30
    for page in expected:
        found = {target(page, address)[0] for address in pages[page].navigation if not elsewhere(address)}
        assert found >= expected


def test_no_link_is_broken(pages: dict[Path, Seen]) -> None:
    assert sum(len(seen.links) for seen in pages.values()) > 1000
    # 404.html is for servers, which show it in any folder: its links start at the root of the server.
    assert list(broken_links({page: seen for page, seen in pages.items() if page.name != "404.html"})) == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Seen]) -> None:
    loaded = {address for seen in pages.values() for address in seen.loads}
    assert any(address.endswith(".css") for address in loaded)
    assert any(address.endswith(".js") for address in loaded)
    assert [address for address in loaded if elsewhere(address) and not address.startswith("data:")] == []
    sheets = [sheet.read_text() for sheet in site.rglob("*.css")]
    assert [found["address"] for sheet in sheets for found in FROM_ELSEWHERE.finditer(sheet)] == []


@pytest.mark.parametrize("name", vars(deadheat)["__all__"])
def test_every_public_name_is_in_the_reference(name: str, site: Path, pages: dict[Path, Seen]) -> None:
    reference = pages[(site / "reference" / "python.html").resolve()]
    assert f"deadheat.{name}" in reference.places


def test_the_search_knows_every_page_without_a_server(site: Path) -> None:
    index = (site / "search.js").read_text()
    for page in built_pages(site):
        assert f'"location":"{page.relative_to(site.resolve()).as_posix()}' in index


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index.html", "gallery.html", "gallery/parsers.html", "gallery/study.html"])
def test_nothing_is_cut_off_on_a_desk_or_a_phone_by_day_or_night(page: str, site: Path, browser: "Browser") -> None:
    backgrounds = []
    for width, scheme in ((1280, "light"), (375, "light"), (1280, "dark"), (375, "dark")):
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        tab.goto((site / page).as_uri())
        assert tab.locator("h1, .verdict").first.is_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        # What is wider than the screen can be scrolled, and pictures are there.
        assert tab.evaluate(CUT_OFF) == []
        assert tab.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
        backgrounds.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
        tab.close()
    assert backgrounds[0] == backgrounds[1] != backgrounds[2] == backgrounds[3]


@pytest.mark.slow
def test_the_search_works_on_pages_opened_from_disk(site: Path, browser: "Browser") -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "seeds.html").as_uri())
    page.wait_for_function("document.documentElement.classList.contains('js')")  # its scripts have run
    page.locator(".md-search__button").click()
    box = page.locator("input[placeholder=Search]")
    box.press_sequentially("hypergeometric")
    page.get_by_text("Where a system does unusually well or badly").first.wait_for()
    assert box.input_value() == "hypergeometric"
    page.close()
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


def help_of(command: str) -> str:
    """What a command prints with --help, a hundred columns wide."""
    return command_parser(command).format_help().rstrip()


def with_helps(page: str) -> str:
    """The page of commands with the help of each as it is now; commands that it lacks are put at its end."""
    for command in COMMANDS:
        heading, shown = f"## `deadheat {command}`\n", f"```text\n{help_of(command)}\n```\n"
        before, found, section = page.partition(heading)
        if not found:
            page += f"\n{heading}\n{shown}"
            continue
        prose, _, rest = section.partition("```text\n")
        page = before + heading + prose + shown + rest.partition("```\n")[2]
    return page


def laid_out_alike(text: str) -> str:
    """Text without what versions of argparse differ in: line breaks, and whether an option's value is named twice."""
    return " ".join(re.sub(r"(-\w) ([A-Z]+), (--[\w-]+ \2)", r"\1, \3", text).split())


def test_the_page_of_commands_shows_the_help_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", HELP_WIDTH)
    page = COMMAND_PAGE.read_text()
    assert laid_out_alike(page) == laid_out_alike(with_helps(page)), "python -m tests.test_site writes it anew"
    assert sorted(re.findall(r"^## `deadheat ([\w-]+)`", page, re.M)) == sorted(COMMANDS)


def test_a_help_that_changed_is_found_and_mended() -> None:
    info = f"## `deadheat info`\n\n```text\n{help_of('info')}\n```\n"
    mended = with_helps(f"# Commands\n\n## `deadheat demo`\n\nProse.\n\n```text\nan older text\n```\n\n{info}")
    assert "an older text" not in mended
    assert mended.startswith(f"# Commands\n\n## `deadheat demo`\n\nProse.\n\n```text\n{help_of('demo')}\n```\n\n{info}")
    assert mended.count("## `deadheat info`") == 1
    assert laid_out_alike("-m NAME, --metric NAME\n      a metric") == laid_out_alike("-m, --metric NAME  a metric")
    assert laid_out_alike("--metric NAME") != laid_out_alike("--metrics NAME")


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("b.html", None),
        ("b.html#here", None),
        ("#there", None),
        ("https://elsewhere.example/x", None),
        ("c.html", "a.html: c.html leads nowhere"),
        ("b.html#there", "a.html: b.html#there names a place that is not there"),
        ("#nowhere", "a.html: #nowhere names a place that is not there"),
    ],
)
def test_broken_links_are_found(link: str, told: str | None, tmp_path: Path) -> None:
    texts = {"a.html": f'<h1 id="there">A</h1><a href="{link}">b</a>', "b.html": '<h1 id="here">B</h1>'}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert list(broken_links({tmp_path / name: Seen(text) for name, text in texts.items()})) == ([told] if told else [])


def test_what_a_page_loads_is_found() -> None:
    seen = Seen(
        '<link href="a.css"><script src="https://x.example/b.js"></script><script>no()</script>'
        '<img src="//c.example/c.png">'
        '<p style="background: url(https://d.example/d.png)"><a href="https://e.example">e</a>'
        '<nav class="md-nav md-nav--primary"><a href="f.html">f</a><nav><a href="g.html">g</a></nav></nav>'
        '<a href="h.html">h</a>'
    )
    assert seen.loads == ["a.css", "https://x.example/b.js", "//c.example/c.png", "https://d.example/d.png"]
    assert [address for address in seen.loads if elsewhere(address)] == seen.loads[1:]
    assert seen.navigation == ["f.html", "g.html"]


if __name__ == "__main__":
    os.environ["COLUMNS"] = HELP_WIDTH
    COMMAND_PAGE.write_text(with_helps(COMMAND_PAGE.read_text()))
