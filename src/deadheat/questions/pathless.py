"""Results without the folders of those who made them, which tell who they are.

Texts keep the base names of paths. Why a run failed is a text of somebody else's program: it goes as a whole where it
may hold a path or a name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

ERROR = "error"  # why a run failed
OF_CORPORA = frozenset(("words", "gold"))  # what is a corpus's own
NAMES = ("system", "corpus", "split")  # columns of frames
FILES = ("place", "file", "path")  # that begin with the name of a file
_STEP = r"""[^\\/\s'"=,;]+(?: [^\\/\s'"=,;-][^\\/\s'"=,;]*)*"""  # a folder, whose name may have spaces
_START = r"(?<![\w/\\<])(?<!http:)(?<!https:)(?:file:)?(?:[A-Za-z]:)?"
_HOME = re.compile(rf"{_START}[\\/]+(?:home|Users)[\\/]+[^\\/\s'\"=,;:]+[\\/]?(?![^\s'\"=,;:])")
_FOLDERS = re.compile(rf"(?:{_START}|(?<![\w/\\<])(?:~\w*|\.\.?))[\\/]+(?:{_STEP}[\\/]+)*")
_ANY_FOLDERS = re.compile(r"""(?<![^\s'"=(,;])(?!https?://)[^\s'"=(,;]*/""")  # also such as begin where one stands


class Pathless:
    """Texts without folders. Two that differ only in these stay two: the second gets a number.

    Examples
    --------
    >>> told = Pathless()
    >>> told.text("read /home/ana/x.conllu:7"), told.text("sign/wilcoxon"), told.text("in /home/ana")
    ('read x.conllu:7', 'sign/wilcoxon', 'in ~')
    >>> told.text("/home/ana/a.txt"), told.text("/home/bo/a.txt"), told.text("/home/ana/a.txt")
    ('a.txt', 'a.txt (2)', 'a.txt')
    """

    def __init__(self, hidden: Collection[str] = ()) -> None:
        """`hidden` are names of machines and of users."""
        names = "|".join(re.escape(each) for each in hidden if each)
        self._hidden = re.compile(rf"(?<!\w)(?:{names})(?!\w)") if names else None
        self._texts: dict[str, str] = {}
        self._taken: set[str] = set()

    def text(self, text: str, *, strict: bool = False) -> str:
        """A text with base names for paths; `strict` where a slash can be nothing else but a part of one."""
        if "/" not in text and "\\" not in text:
            return text
        if text in self._texts:
            return self._texts[text]
        found = _FOLDERS.sub("", _HOME.sub("~", text))
        found = _ANY_FOLDERS.sub("", found) if strict else found
        if found != text:
            base, number = found, 1
            while found in self._taken:
                number += 1
                found = f"{base} ({number})"
            self._taken.add(found)
        self._texts[text] = found
        return found

    def error(self, text: str) -> str:
        """Why a run failed, or nothing where that may tell who ran it."""
        told = "/" in text or "\\" in text or (self._hidden is not None and self._hidden.search(text))
        return "" if told else text

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A result with all its texts, but for the words and labels of sentences."""
        known = document.get("systems")
        if isinstance(known, Mapping):  # names with settings, by which frames call systems too
            for name in known:
                self.text(str(name), strict=True)
        return {key: self._value(key, value) for key, value in document.items()}

    def frame(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows of runs or of scores."""
        import polars as pl

        changed: list[pl.Expr | pl.Series] = []
        for column in NAMES:
            if column in frame.columns:
                names = [name for name in frame[column].unique(maintain_order=True).to_list() if name is not None]
                told = {name: self.text(name, strict=column == "system") for name in names}
                changed.append(pl.col(column).replace(told))
        if ERROR in frame.columns:
            changed.append(pl.Series(ERROR, [self.error(each or "") for each in frame[ERROR].to_list()]))
        return frame.with_columns(changed)

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self.error(value) if key == ERROR else self.text(value, strict=key in FILES)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self._value(str(name), each) for name, each in value.items()}
        if isinstance(value, list | tuple) and key not in OF_CORPORA:
            return [self._value(key, each) for each in value]
        return value
