"""Figures as files: SVG with embedded fonts, PDF and PNG of the exact width of a column or a page, and their data.

Fonts are looked up on the machine and reduced to the characters that are used.
"""

from __future__ import annotations

import base64
import io
import os
import re
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from html import escape, unescape
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from deadheat.charts.chart import COLUMN, Figure, Layout, unique
from deadheat.charts.drawing import FONT, PRINT
from deadheat.charts.drawing import style as chart_style
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, NameUnknown, reason
from deadheat.text import slug

FORMATS = ("svg", "pdf", "png")
INCHES = {"column": 3.3, "page": 6.3}
PPI = 300.0
POINTS = 72  # an inch
EXTRA = "pip install 'deadheat[figures]'"
PACKAGES = {"fontTools.subset": "fonttools", "vl_convert": "vl-convert-python"}  # of the extra, by module
FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
DEFAULT = "Liberation Sans"  # its letters are as wide as Arial's
# Families that can replace it, with the names of their files, regular and bold.
FAMILIES = {
    DEFAULT: ("liberationsans-regular.ttf", "liberationsans-bold.ttf"),
    "Arial": ("arial.ttf", "arial bold.ttf", "arialbd.ttf", "arial_bold.ttf"),
    "DejaVu Sans": ("dejavusans.ttf", "dejavusans-bold.ttf"),
    "Noto Sans": ("notosans-regular.ttf", "notosans-bold.ttf"),
}
# Files of families for other scripts.
OTHER_SCRIPTS = re.compile(
    r"(notosans.*-regular|notosanscjk.*-regular|freesans|arial unicode|unifont|droidsansfallback.*)\.(ttf|otf|ttc)"
)
NOT_EMBEDDABLE = 0x0002 | 0x0100 | 0x0200  # flags of OS/2: no embedding, no subsetting, bitmaps only

_TEXT = re.compile(r"<text\b([^>]*)>(.*?)</text>", re.DOTALL)
_MARKUP = re.compile(r"<title>.*?</title>|<[^>]*>", re.DOTALL)
_BOLD = frozenset(re.findall(r"\.chart \.(\w+)\{[^}]*font-weight:bold", chart_style(PRINT, 10)))


def write_figures(
    figures: Sequence[Figure],
    folder: str | os.PathLike[str],
    *,
    formats: Iterable[str] = FORMATS,
    layout: Layout = COLUMN,
    ppi: float = PPI,
) -> list[Path]:
    """Write every figure in every format, and the data of each as CSV beside it.

    Nothing is written unless all can be drawn, and each file is written whole or not at all. A file of the same name is
    replaced.

    Parameters
    ----------
    formats
        Some of `svg`, `pdf` and `png`. The last two need the extra `deadheat[figures]`.
    layout
        `COLUMN` makes charts 3.3 inches wide, and `FULL` 6.3.
    ppi
        Pixels per inch of PNG.

    Returns
    -------
    list of Path
        The files, in the order of the figures.
    """
    files = figure_files(figures, formats=formats, layout=layout, ppi=ppi)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be created ({reason(error)})") from error
    for name, data in files.items():
        write_bytes(target / name, data)
    return [target / name for name in files]


def figure_files(
    figures: Sequence[Figure], *, formats: Iterable[str] = FORMATS, layout: Layout = COLUMN, ppi: float = PPI
) -> dict[str, bytes]:
    """Draw every figure in every format; see `write_figures`."""
    formats = list(dict.fromkeys(formats))
    for kind in formats:
        if kind not in FORMATS:
            raise NameUnknown("format of figures", kind, FORMATS)
    if not 1 <= ppi <= 10_000:
        raise InputError(f"{ppi:g} pixels per inch; expected 1 to 10,000")
    _check_extra([kind.upper() for kind in formats if kind != "svg"])
    inches = INCHES.get(layout.name, layout.width / 96) / layout.width  # per pixel
    files: dict[str, bytes] = {}
    for figure in unique([replace(figure, name=_safe(figure.name)) for figure in figures]):
        chart = figure.draw(layout)
        fonts = embed_fonts(chart.marks)
        chart = replace(chart, marks=fonts.marks)
        for kind in formats:
            if kind == "svg":
                note = f"<!-- {fonts.note.replace('--', '- -')} -->\n" if fonts.note else ""
                data = (chart.svg(font=layout.font, fonts=fonts.rules, scale=inches, unit="in") + note).encode()
            else:
                import vl_convert

                svg = chart.svg(font=layout.font, scale=POINTS * inches)  # the converter takes a pixel for a point
                data = vl_convert.svg_to_pdf(svg) if kind == "pdf" else vl_convert.svg_to_png(svg, ppi=ppi)
            files[f"{figure.name}.{kind}"] = data
        files[f"{figure.name}.csv"] = chart.csv().encode()
    return files


def _safe(name: str) -> str:
    return name if re.fullmatch(r"\w[\w.-]*", name) else slug(name) or "figure"


def _check_extra(formats: Sequence[str]) -> None:
    """Refuse formats other than SVG where the extra is not installed."""
    missing = [package for module, package in PACKAGES.items() if _module(module) is None]
    if formats and missing:
        problem = f"figures as {' and '.join(formats)}: {' and '.join(missing)} not installed"
        raise InputError(f"{problem}; expected {EXTRA} (SVG needs neither)")


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


@dataclass(frozen=True, slots=True)
class Face:
    """A font family with its files; without a bold one, the regular one is used."""

    family: str
    regular: Path
    bold: Path | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedFonts:
    """Marks whose texts name a font with their characters, CSS rules that embed the fonts, and what is missing."""

    marks: str
    rules: str = ""
    note: str = ""


def embed_fonts(marks: str) -> EmbeddedFonts:
    """Find fonts for the texts of a drawing.

    Every text is set in one font: the first that has all its characters, or the one that has most. Programs that make
    PDF set the whole of a text in whatever font they happen to find if one character is missing.
    """
    if _module("fontTools.subset") is None:
        return EmbeddedFonts(marks, note=f"fonts are not embedded: fonttools is not installed ({EXTRA})")
    faces = installed_faces(tuple(str(Path(folder).expanduser()) for folder in FOLDERS))
    if not faces:
        note = f"fonts are not embedded: none of {', '.join(FAMILIES)} was found on this machine"
        return EmbeddedFonts(marks, note=note)
    used: dict[tuple[int, bool], set[str]] = {}  # characters by the index of a face and whether it is bold

    def set_text(match: re.Match[str]) -> str:
        attributes, needed = match[1], _characters(match[2])
        best = max(range(len(faces)), key=lambda i: len(needed & _coverage(faces[i].regular)))  # the first of equals
        classes = re.search(r'\bclass="([^"]*)"', attributes)
        bold = classes is not None and not _BOLD.isdisjoint(classes[1].split())
        used.setdefault((best, bold), set()).update(needed)
        if best == 0:
            return match[0]
        family = escape(f"font-family:'{faces[best].family}',{FONT}", quote=False)
        return f'<text{attributes} style="{family}">{match[2]}</text>'

    marks = _TEXT.sub(set_text, marks)
    rules = []
    for (i, bold), characters in sorted(used.items(), key=lambda item: item[0]):
        face = faces[i]
        path = face.bold if bold and face.bold is not None else face.regular
        rules.append(_rule(face.family if i else DEFAULT, "bold" if bold else "normal", _subset(path, characters)))
    covered = frozenset().union(*(_coverage(face.regular) for face in faces))
    missing = sorted(set().union(*used.values()) - covered)
    note = f"no font on this machine has {' '.join(missing)}; the reader's will be used" if missing else ""
    return EmbeddedFonts(marks, "".join(rules), note)


def _characters(content: str) -> set[str]:
    """The characters of an SVG text that are drawn."""
    text = unescape(_MARKUP.sub("", content))
    return {c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Zs") and not "\ufe00" <= c <= "\ufe0f"}


def _rule(family: str, weight: str, font: bytes) -> str:
    source = f"url(data:font/woff;base64,{base64.b64encode(font).decode()}) format('woff')"
    return f"@font-face{{font-family:'{family}';font-weight:{weight};src:{source}}}"


@cache
def installed_faces(folders: tuple[str, ...]) -> tuple[Face, ...]:
    """The fonts in some folders that drawings can be set in, in order of preference."""
    listed = {name for names in FAMILIES.values() for name in names}
    files: dict[str, Path] = {}
    for folder in folders:
        for path, _, names in os.walk(folder):
            files |= {name.lower(): Path(path, name) for name in sorted(names)}
    files = {
        name: path
        for name, path in files.items()
        if (name in listed or OTHER_SCRIPTS.fullmatch(name)) and _is_usable(path)
    }
    faces = [
        Face(family, files[regular], next((files[name] for name in bold if name in files), None))
        for family, (regular, *bold) in FAMILIES.items()
        if regular in files
    ]
    return (*faces, *(Face(_family(files[name]), files[name]) for name in sorted(files.keys() - listed)))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from fontTools.ttLib import TTFont

    # The file is ours to close, for a font that is broken does not.
    with path.open("rb") as file, TTFont(file, fontNumber=0, lazy=True, recalcTimestamp=False) as font:
        yield font


@cache
def _coverage(path: Path) -> frozenset[str]:
    with _opened(path) as font:
        return frozenset(map(chr, font.getBestCmap() or ()))


def _family(path: Path) -> str:
    with _opened(path) as font:
        return re.sub(r"[^\w .-]", "", font["name"].getBestFamilyName() or path.stem)


def _is_usable(path: Path) -> bool:
    """Whether the font can be read, and says that it may be embedded."""
    from fontTools.ttLib import TTLibError

    try:
        with _opened(path) as font:
            return not (font["OS/2"].fsType & NOT_EMBEDDABLE) and bool(font.getBestCmap()) and "name" in font
    except (TTLibError, OSError, LookupError, ValueError, AttributeError, AssertionError, struct.error):
        return False


def _subset(path: Path, used: set[str]) -> bytes:
    """A font with these characters alone, as WOFF; the same bytes every time."""
    from fontTools.subset import Options, Subsetter

    options = Options(hinting=False, notdef_outline=True, legacy_kern=False, ignore_missing_unicodes=True)
    options.drop_tables += ["FFTM"]
    with _opened(path) as font:
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=[ord(c) for c in used] + [ord(" ")])
        subsetter.subset(font)
        font.flavor = "woff"
        written = io.BytesIO()
        font.save(written)
    return written.getvalue()
