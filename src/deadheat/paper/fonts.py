"""Fonts that are embedded into drawings: looked up on the machine, reduced to the characters that are used."""

from __future__ import annotations

import base64
import io
import os
import re
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

from deadheat.charts.drawing import FONT, PRINT
from deadheat.charts.drawing import style as chart_style

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
# Families for other scripts.
OTHER_SCRIPTS = re.compile(
    r"(notosans.*-regular|notosanscjk.*-regular|freesans|arial unicode|unifont|droidsansfallback.*)\.\w+"
)
ENDINGS = (".ttf", ".otf", ".ttc")
NOT_EMBEDDABLE = 0x0002 | 0x0100 | 0x0200  # flags of OS/2: no embedding, no subsetting, bitmaps only

_TEXT = re.compile(r"<text\b([^>]*)>(.*?)</text>", re.DOTALL)
_CLASSES = re.compile(r'\bclass="([^"]*)"')
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_BOLD = frozenset(re.findall(r"\.chart \.(\w+)\{[^}]*font-weight:bold", chart_style(PRINT, 10)))


@dataclass(frozen=True, slots=True)
class Face:
    """A family with its files; without a bold one, the regular one is used."""

    family: str
    regular: Path
    bold: Path | None = None

    def path(self, *, bold: bool) -> Path:
        """The file for a weight."""
        return self.bold or self.regular if bold else self.regular


@dataclass(frozen=True, slots=True)
class Typeset:
    """Marks whose texts name a font with their characters, CSS rules that embed the fonts, and what is missing."""

    marks: str
    rules: str
    note: str = ""


def typeset(marks: str) -> Typeset:
    """Find fonts for the texts of a drawing.

    Every text is set in one font: the first that has all its characters, or the one that has most. Programs that make
    PDF set the whole of a text in whatever font they happen to find if one character is missing.
    """
    texts = [_content(match[2]) for match in _TEXT.finditer(marks)]
    if not _has_fonttools():
        return Typeset(
            marks, "", "fonts are not embedded: fonttools is not installed (pip install 'deadheat[figures]')"
        )
    faces = installed_faces()
    if not faces:
        return Typeset(marks, "", f"fonts are not embedded: none of {', '.join(FAMILIES)} was found on this machine")
    used: dict[tuple[Face, bool], set[str]] = {}

    def set_text(match: re.Match[str]) -> str:
        needed = characters(_content(match[2]))
        face = _best(faces, needed)
        used.setdefault((face, _is_bold(match[1])), set()).update(needed)
        if face is faces[0]:
            return match[0]
        return f"<text{_with_family(match[1], face.family)}>{match[2]}</text>"

    done = _TEXT.sub(set_text, marks)
    rules = "".join(
        _rule(DEFAULT if face is faces[0] else face.family, face.path(bold=bold), letters, bold=bold)
        for (face, bold), letters in sorted(used.items(), key=lambda item: (faces.index(item[0][0]), item[0][1]))
    )
    missing = sorted({c for text in texts for c in characters(text) if not any(ord(c) in coverage(f) for f in faces)})
    note = f"no font on this machine has {' '.join(missing)}; the reader's will be used" if missing else ""
    return Typeset(done, rules, note)


def characters(text: str) -> set[str]:
    """The characters of a text that are drawn."""
    return {c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Zs") and not "\ufe00" <= c <= "\ufe0f"}


def _content(content: str) -> str:
    return unescape(_TAG.sub("", _TITLE.sub("", content)))


def _is_bold(attributes: str) -> bool:
    classes = _CLASSES.search(attributes)
    return classes is not None and not _BOLD.isdisjoint(classes[1].split())


def _with_family(attributes: str, family: str) -> str:
    style = escape(f"font-family:'{family}',{FONT}", quote=False)
    if ' style="' in attributes:
        return attributes.replace(' style="', f' style="{style};', 1)
    return f'{attributes} style="{style}"'


def _best(faces: Sequence[Face], needed: set[str]) -> Face:
    return max(faces, key=lambda face: sum(ord(c) in coverage(face) for c in needed))  # the first of equals


def installed_faces() -> tuple[Face, ...]:
    """The fonts of this machine that drawings are set in, in order of preference."""
    return _faces(tuple(str(Path(folder).expanduser()) for folder in FOLDERS))


@cache
def _faces(folders: tuple[str, ...]) -> tuple[Face, ...]:
    files = {path.name.lower(): path for folder in folders for path in _font_files(folder)}
    return tuple(_candidates({name: path for name, path in files.items() if _is_known(name) and _is_usable(path)}))


def _is_known(name: str) -> bool:
    return any(name in names for names in FAMILIES.values()) or OTHER_SCRIPTS.fullmatch(name) is not None


def _candidates(files: Mapping[str, Path]) -> Iterator[Face]:
    for family, (regular, *bold) in FAMILIES.items():
        if regular in files:
            yield Face(family, files[regular], next((files[name] for name in bold if name in files), None))
    listed = {name for names in FAMILIES.values() for name in names}
    for name in sorted(files):
        if name not in listed:
            yield Face(_family_of(files[name]), files[name])


def _font_files(folder: str) -> Iterator[Path]:
    for path, _, names in os.walk(folder):
        yield from (Path(path, name) for name in sorted(names) if name.lower().endswith(ENDINGS))


def coverage(face: Face) -> frozenset[int]:
    """The characters that a font has."""
    return _coverage(face.regular)


@cache
def _coverage(path: Path) -> frozenset[int]:
    with _opened(path) as font:
        return frozenset(font.getBestCmap() or ())


def _family_of(path: Path) -> str:
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


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from fontTools.ttLib import TTFont

    # The file is ours to close, for a font that is broken does not.
    with path.open("rb") as file, TTFont(file, fontNumber=0, lazy=True, recalcTimestamp=False) as font:
        yield font


def _rule(family: str, path: Path, used: set[str], *, bold: bool) -> str:
    data = base64.b64encode(subset(path, used)).decode()
    weight = "bold" if bold else "normal"
    source = f"url(data:font/woff;base64,{data}) format('woff')"
    return f"@font-face{{font-family:'{family}';font-weight:{weight};src:{source}}}"


def subset(path: Path, used: set[str]) -> bytes:
    """A font with these characters alone, as WOFF; the same bytes every time."""
    from fontTools.subset import Options, Subsetter

    options = Options(hinting=False, notdef_outline=True, legacy_kern=False, ignore_missing_unicodes=True)
    options.drop_tables += ["FFTM"]
    with _opened(path) as font:
        cutter = Subsetter(options)
        cutter.populate(unicodes=[ord(c) for c in used] + [ord(" ")])
        cutter.subset(font)
        font.flavor = "woff"
        written = io.BytesIO()
        font.save(written)
    return written.getvalue()


def _has_fonttools() -> bool:
    try:
        import fontTools.subset
    except ImportError:
        return False
    return bool(fontTools.subset)
