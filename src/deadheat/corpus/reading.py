"""Read corpora: one call for all formats, from files, folders or standard input, plain or compressed."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.compression import BrokenError, decompress, without_suffix
from deadheat.corpus.corpus import Comments, Corpus, Extras, Part
from deadheat.corpus.formats import LENIENT, PADDING, SEPARATORS, read_columns, read_conllu, read_tagged
from deadheat.corpus.vocabulary import Bytes, Codes, Column, Vocabulary
from deadheat.errors import CorpusError, Fault, InputError, NameUnknown, reason

STDIN = "-"
SUFFIXES = (".conllu", ".conll", ".conllx", ".conll06", ".txt", ".tsv", ".pos", ".tagged", ".iob", ".bio", ".iob2")


def read_bytes(path: str) -> Bytes:
    """All bytes of a file or of standard input, decompressed, with room behind them."""
    try:
        raw = _stdin() if path == STDIN else _file(path)
    except OSError as error:
        raise CorpusError([Fault(path, 0, f"cannot be read ({reason(error)})")]) from error
    return _decompressed(path, raw)


def _stdin() -> Bytes:
    return _padded(sys.stdin.buffer.read())


def _file(path: str) -> Bytes:
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return _padded(file.readall())
        buffer = np.empty(status.st_size + PADDING, np.uint8)
        view, filled = buffer.data, 0
        while filled < status.st_size:
            got = file.readinto(view[filled : status.st_size])
            if not got:
                raise OSError(0, f"it shrank while it was read, from {status.st_size} bytes to {filled}")
            filled += got
        buffer[filled:] = 0
        return buffer


def _padded(raw: bytes) -> Bytes:
    buffer = np.zeros(len(raw) + PADDING, np.uint8)
    buffer[: len(raw)] = np.frombuffer(raw, np.uint8)
    return buffer


def _decompressed(path: str, buffer: Bytes) -> Bytes:
    try:
        found = decompress(buffer.data[: len(buffer) - PADDING])
    except BrokenError as error:
        raise CorpusError([Fault(path, 0, str(error))]) from error
    return buffer if found is None else _padded(found)


def expand(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Files that a path, a folder or several of them stand for; a folder's files come in the order of their names."""
    given: Sequence[str | os.PathLike[str]] = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[str] = []
    for each in given:
        path = os.fspath(each)
        files += _in_folder(path) if path != STDIN and os.path.isdir(path) else [path]
    if not files:
        raise InputError("no file was given; expected at least one")
    return files


def _in_folder(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({reason(error)})") from error
    plain = {name: without_suffix(name) for name in names}
    # A release of Universal Dependencies has the raw text and the licence as .txt beside its .conllu files.
    surely = [name for name in names if plain[name].endswith(SUFFIXES[0])]
    chosen = surely or [name for name in names if plain[name].endswith(SUFFIXES)]
    if not chosen:
        raise InputError(
            f"{folder}: a folder without corpus files; expected names ending in {', '.join(SUFFIXES[:4])} ..."
        )
    return [str(Path(folder) / name) for name in chosen]


FORMATS = ("conllu", "conllx", "columns", "tagged")
LENIENT_MODES = (*LENIENT, "final-newline")
_NUMBERED_LINE = re.compile(rb"\d+([-.]\d+)?\t")


def read(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    text: str | None = None,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    lenient: Iterable[str] = (),
) -> Corpus:
    r"""Read a file, a folder, or several of either as one corpus; `-` is standard input.

    Parameters
    ----------
    paths
        Files may be compressed by gzip, xz or zstd. A folder stands for the corpus files in it, by name.
    text
        The corpus itself, in place of paths.
    format
        `conllu`, `conllx`, `columns` (a word a line, any columns), `tagged` (`word_TAG`), or `auto`: from the
        first line.
    columns
        The names of the columns of a column file; one of them is `form`.
    separator
        What parts columns (`tab`, `space` or a character), or word and tag in tagged text (`_` unless given).
    lenient
        What to accept that is wrong: `multiple-roots`, `missing-heads` (`_` for a head), `final-newline` (a file
        that ends too early).

    Raises
    ------
    CorpusError
        With every fault of a file, up to twenty, each with its line.

    Examples
    --------
    >>> read(text="The_DT heat_NN is_VBZ dead_JJ\n").column("tag").strings()
    ['DT', 'NN', 'VBZ', 'JJ']
    """
    modes = _checked(format, lenient)
    one = partial(_read_one, format=format, columns=columns, separator=separator, lenient=modes)
    if text is not None:
        raw = text.encode(errors="surrogatepass")
        return one("text", np.frombuffer(bytearray(raw) + bytearray(PADDING), np.uint8))
    files = expand(paths)
    corpora: list[Corpus] = []
    errors: list[CorpusError] = []
    for path in files:
        try:
            corpora.append(one(path, read_bytes(path)))
        except CorpusError as error:
            errors.append(error)
    if errors:
        raise CorpusError.gathered(errors)
    return corpora[0] if len(corpora) == 1 else concatenate(corpora)


def as_read(corpus: Corpus) -> dict[str, Any]:
    """The arguments of `read` that read what was made of a corpus as it was read itself."""
    layout = corpus.layout
    if layout.format in ("conllu", "conllx"):
        return {"format": layout.format, "lenient": ["multiple-roots", "missing-heads"]}
    names = {"columns": list(corpus.columns)} if layout.format == "columns" else {}
    return {"format": layout.format, "separator": layout.separator, **names}


def _checked(format: str, lenient: Iterable[str]) -> frozenset[str]:
    if format not in ("auto", *FORMATS):
        raise NameUnknown("format", format, ("auto", *FORMATS))
    modes = frozenset([lenient] if isinstance(lenient, str) else lenient)
    for mode in modes:
        if mode not in LENIENT_MODES:
            raise NameUnknown("lenient mode", mode, LENIENT_MODES)
    return modes


def _read_one(
    path: str,
    buffer: Bytes,
    *,
    format: str,
    columns: Sequence[str] | None,
    separator: str | None,
    lenient: frozenset[str],
) -> Corpus:
    if format == "auto":
        format = "columns" if columns else _guess(path, buffer)
    if format == "conllu":
        return read_conllu(path, buffer, lenient=lenient)
    if format == "conllx":  # CoNLL-X allows several roots, and its files often lack the last empty line
        return read_conllu(path, buffer, lenient=lenient | {"multiple-roots", "final-newline"}, format=format)
    mark = SEPARATORS.get(separator or "", separator)
    if mark is not None and len(mark.encode()) != 1:
        raise InputError(f"separator {separator!r}; expected tab, space, or one character")
    if format == "tagged":
        return read_tagged(path, buffer, mark=mark or "_")
    if columns is not None and "form" not in columns:
        raise InputError(f"columns {','.join(columns)}; expected one of them to be 'form'")
    if columns is not None and len(set(columns)) < len(columns):
        raise InputError(f"columns {','.join(columns)}; expected each name once")
    return read_columns(path, buffer, names=columns, separator=mark)


def _guess(path: str, buffer: Bytes) -> str:
    """The format of a file, by its name if that says it, else by its first lines."""
    base = os.path.basename(path)
    if ".conllu" in base or ".conllx" in base:
        return "conllu" if ".conllu" in base else "conllx"
    start = buffer[: min(len(buffer) - PADDING, 1 << 16)].tobytes().removeprefix(b"\xef\xbb\xbf")
    lines = [line for line in start.split(b"\n") if line.strip()]
    first = next((line for line in lines if not line.startswith(b"#")), lines[0] if lines else b"")
    if not lines or _NUMBERED_LINE.match(first):
        return "conllu"
    tokens = first.split()
    if b"\t" not in first and all(0 < token.rfind(b"_") < len(token) - 1 for token in tokens):
        return "tagged"
    return "columns"


def concatenate(corpora: Sequence[Corpus]) -> Corpus:
    """Several corpora as one, in order; their columns must have the same names."""
    first = corpora[0]
    for other in corpora[1:]:
        if other.layout.format != first.layout.format:
            expected = f"{first.layout.format} as {first.name} is"
            raise InputError(f"{other.name}: format {other.layout.format}; expected {expected}")
        if list(other.columns) != list(first.columns):
            expected = f"{', '.join(first.columns)} as in {first.name}"
            raise InputError(f"{other.name}: columns {', '.join(other.columns)}; expected {expected}")
    columns, maps = {}, []
    for name in first.columns:
        column, per_corpus = _joined([corpus.columns[name] for corpus in corpora])
        columns[name] = column
        maps.append(per_corpus)
    crlf = all(corpus.layout.crlf for corpus in corpora if corpus.sentences or corpus.comments.tail)
    comments = [c.comments if c.layout.crlf == crlf else _without_returns(c.comments) for c in corpora]
    return replace(
        first,
        name=f"{first.name} and {len(corpora) - 1} more",
        columns=columns,
        offsets=_chained([corpus.offsets for corpus in corpora]),
        heads=_joined_heads(corpora),
        extras=_joined_extras(corpora, maps),
        comments=Comments(
            np.concatenate([each.blob for each in comments]),
            _chained([each.offsets for each in comments]),
            b"".join(each.tail for each in comments),
        ),
        newdoc=np.concatenate([corpus.newdoc for corpus in corpora]),
        layout=replace(first.layout, crlf=crlf, missing_end=corpora[-1].layout.missing_end),
        parts=tuple(
            Part(part.path, start + part.first)
            for corpus, start in zip(corpora, np.cumsum([0, *(c.sentences for c in corpora)]).tolist(), strict=False)
            for part in corpus.parts
        ),
    )


def _chained(offsets: Sequence[np.ndarray]) -> np.ndarray:
    ends = np.cumsum([0, *(each[-1] for each in offsets)])
    return np.concatenate([offsets[0][:1], *(each[1:] + end for each, end in zip(offsets, ends[:-1], strict=True))])


def _joined_heads(corpora: Sequence[Corpus]) -> Codes | None:
    if all(corpus.heads is None for corpus in corpora):
        return None
    none = np.int32(-1)
    return np.concatenate([np.full(c.words, none) if c.heads is None else c.heads for c in corpora])


def _without_returns(comments: Comments) -> Comments:
    """Comments whose lines ended in CR LF, ending in LF."""
    newlines = np.flatnonzero(comments.blob == 10)
    returns = newlines[comments.blob[newlines - 1] == 13] - 1
    offsets = comments.offsets - np.searchsorted(returns, comments.offsets)
    return Comments(np.delete(comments.blob, returns), offsets, comments.tail.replace(b"\r\n", b"\n"))


def _joined(columns: Sequence[Column]) -> tuple[Column, list[np.ndarray]]:
    """One column of several, and for each of them how its codes are renumbered."""
    number: dict[str, int] = {}
    maps = [
        np.array([number.setdefault(string, len(number)) for string in column.vocabulary.strings], np.int32)
        for column in columns
    ]
    codes = np.concatenate([new[column.codes] for new, column in zip(maps, columns, strict=True)])
    return Column(codes, Vocabulary.of(list(number))), maps


def _joined_extras(corpora: Sequence[Corpus], maps: Sequence[Sequence[np.ndarray]]) -> Extras:
    words = np.cumsum([0, *(corpus.words for corpus in corpora)])
    counts = np.cumsum([0, *(len(corpus.extras) for corpus in corpora)])
    codes = [
        np.stack([new[i][corpus.extras.codes[:, c]] for c, new in enumerate(maps)], axis=1).astype(np.int32)
        for i, corpus in enumerate(corpora)
    ]
    return Extras(
        np.concatenate([corpus.extras.at + words[i] for i, corpus in enumerate(corpora)]),
        np.concatenate([corpus.extras.span for corpus in corpora]),
        np.concatenate(codes),
        np.concatenate([corpus.extras.ends + counts[i] for i, corpus in enumerate(corpora)]),
    )
