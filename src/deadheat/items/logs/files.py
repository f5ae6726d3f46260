"""Files of logs: found in folders, and told apart by their first bytes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from deadheat.compression import GZIP, XZ, ZSTD, DecompressionError, decompress_pieces
from deadheat.errors import InputError, reason
from deadheat.files import FileError, read_bytes

HEAD = 1 << 16  # bytes that tell the format of a file
BLOCK = 1 << 17  # bytes that compressed data has to be read in, at most
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:]')
DEPTH = 3  # of the keys that tell one JSON file from another


@dataclass(frozen=True, eq=False)
class LogFile:
    """A file, its first bytes (decompressed), and the keys near the top if it is JSON."""

    path: str
    head: bytes

    @classmethod
    def open(cls, path: str) -> LogFile:
        """Look into a file; what is no regular file has no content here."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return cls(path, b"")
            with open(path, "rb") as file:
                head = file.read(HEAD)
                if head.startswith((GZIP, XZ, ZSTD)):
                    head += file.read(BLOCK)
        except (OSError, ValueError) as error:
            problem = reason(error) if isinstance(error, OSError) else str(error)
            raise FileError(path, f"cannot be read ({problem})") from error
        return cls(path, _decompressed(head).removeprefix(b"\xef\xbb\xbf"))

    @property
    def name(self) -> str:
        return _text(os.path.basename(self.path))

    @property
    def folders(self) -> list[str]:
        """The names of the folders that the file is in, the innermost last."""
        return [_text(name) for name in os.path.dirname(os.path.abspath(self.path)).split(os.sep) if name]

    @cached_property
    def keys(self) -> dict[int, set[str]]:
        """The keys of the first JSON value by depth, as far as they are in the head."""
        keys: dict[int, set[str]] = {depth: set() for depth in range(1, DEPTH + 1)}
        if self.head[:1024].lstrip()[:1] not in (b"{", b"["):
            return keys
        depth, text = 0, b""
        for match in TOKEN.finditer(self.head):
            token = match[0]
            if token in b"{[":
                depth += 1
            elif token in b"}]":
                depth -= 1
                if depth <= 0:
                    break
            elif token == b":":
                if depth in keys:
                    keys[depth].add(text[1:-1].decode(errors="replace"))
            else:
                text = token
        return keys

    def lines(self) -> list[str]:
        """The whole lines of the head."""
        text = self.head.decode(errors="replace")
        whole = text if len(self.head) < HEAD else text[: text.rfind("\n") + 1]
        return whole.splitlines()

    def sibling(self, *parts: str) -> str:
        """The path of a file beside this one; "" if there is none."""
        path = os.path.normpath(os.path.join(os.path.dirname(self.path), *parts))
        return path if os.path.isfile(path) else ""

    def read(self) -> memoryview:
        """The whole content, decompressed."""
        content = read_bytes(self.path).data
        return content[3:] if bytes(content[:3]) == b"\xef\xbb\xbf" else content

    def text(self) -> str:
        """The whole content as text."""
        try:
            return bytes(self.read()).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path}: not UTF-8 (byte {error.start:,}); expected a log of text") from error


def _decompressed(head: bytes) -> bytes:
    """The first bytes of the content. The compressed bytes end somewhere, or are corrupt, which reading them tells."""
    content = b""
    try:
        for piece in decompress_pieces([head]):
            content += piece
            if len(content) >= HEAD:
                break
    except DecompressionError:
        pass
    return content[:HEAD]


def _text(name: str) -> str:
    """The name of a file, which need not be UTF-8."""
    return os.fsencode(name).decode(errors="replace")


def walk(path: str) -> Iterator[str]:
    """A file, or the files of a folder and its subfolders in the order of their names; hidden ones are left out."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, subfolders, files in os.walk(path):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(files) if not name.startswith("."))
