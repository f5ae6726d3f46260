"""Read corpora: one call for all formats, from files, folders or standard input, plain or compressed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

from deadheat.compression import without_suffix
from deadheat.corpus.corpus import UNNAMED, Corpus
from deadheat.corpus.formats import PADDING, REMEDIES, SEPARATORS, read_columns, read_conllu, read_tagged
from deadheat.corpus.readers import Reader, find_reader
from deadheat.corpus.transforms import concatenate
from deadheat.corpus.vocabulary import Bytes
from deadheat.errors import CorpusError, Fault, InputError, NameUnknown, Remedy, reason
from deadheat.files import STDIN, FileError, padded, read_bytes

SUFFIXES = (".conllu", ".conll", ".conllx", ".conll06", ".txt", ".tsv", ".pos", ".tagged", ".iob", ".bio", ".iob2")


def expand(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """List the files of one or more paths; the files of a folder are sorted by name."""
    items: Sequence[str | os.PathLike[str]] = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[str] = []
    for item in items:
        path = os.fspath(item)
        files += _in_folder(path) if path != STDIN and os.path.isdir(path) else [path]
    if not files:
        raise InputError("no files; expected at least one")
    return files


def _in_folder(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({reason(error)})") from error
    plain = {name: without_suffix(name) for name in names}
    # A release of Universal Dependencies has the raw text and the licence as .txt beside its .conllu files.
    conllu = [name for name in names if plain[name].endswith(SUFFIXES[0])]
    chosen = conllu or [name for name in names if plain[name].endswith(SUFFIXES)]
    if not chosen:
        raise InputError(
            f"{folder}: no corpus files in this folder; expected names ending in {', '.join(SUFFIXES[:4])} ..."
        )
    return [str(Path(folder) / name) for name in chosen]


LENIENT_MODES = tuple(REMEDIES)
_NUMBERED_LINE = re.compile(rb"\d+([-.]\d+)?\t")
CONLLU_WIDTH = 10


def read(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    text: str | None = None,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    lenient: Iterable[str] = (),
) -> Corpus:
    r"""Read files or folders as one corpus; `-` is standard input.

    Parameters
    ----------
    paths
        Files may be compressed by gzip, xz or zstd. Of a folder, all corpus files are read, sorted by name.
    text
        The text of the corpus, instead of paths.
    format
        `conllu`, `conllx`, `columns` (one word per line, any columns), `tagged` (`word_TAG`), a reader of your own
        (`mine.py:reader`), or `auto`: detected from the name and the first lines.
    columns
        Column names of a column file; one of them must be `form`, and `_` stands for columns that are not needed.
    separator
        Column separator (`tab`, `space` or a character), or separator of word and tag in tagged text (default `_`).
    lenient
        Errors to accept: `multiple-roots`, `missing-heads` (`_` as head), `final-newline` (no empty line at the end).

    Raises
    ------
    CorpusError
        With the first errors of each kind in every file, with line numbers.

    Examples
    --------
    >>> read(text="The_DT heat_NN is_VBZ dead_JJ\n").column("tag").strings()
    ['DT', 'NN', 'VBZ', 'JJ']
    """
    reader, modes = find_reader(format), _checked(lenient)
    if reader is None:
        read_one = partial(_read_one, format=format, columns=columns, separator=separator, lenient=modes)
    elif columns or separator or modes:
        raise InputError(f"format {format!r} with columns, separator or lenient; expected its settings in its name")
    else:
        read_one = partial(_read_by, reader)
    if text is not None:
        return read_one("text", padded(text.encode(errors="surrogatepass"), PADDING))
    corpora: list[Corpus] = []
    errors: list[CorpusError] = []
    for path in expand(paths):
        try:
            corpora.append(read_one(path, read_bytes(path, padding=PADDING)))
        except CorpusError as error:
            errors.append(error)
        except FileError as error:
            errors.append(CorpusError([Fault(error.path, 0, error.problem)]))
    if errors:
        raise CorpusError.combine(errors)
    return corpora[0] if len(corpora) == 1 else concatenate(corpora)


class ReadingOptions(TypedDict, total=False):
    """How `read` reads files: its keyword arguments, as other functions pass them on."""

    format: str
    columns: Sequence[str] | None
    separator: str | None
    lenient: Iterable[str]


def reading_options(corpus: Corpus) -> ReadingOptions:
    """Return the arguments with which `read` reads files written in the format of a corpus."""
    layout = corpus.layout
    if layout.format in ("conllu", "conllx"):
        return {"format": layout.format, "lenient": ["multiple-roots", "missing-heads"]}
    options: ReadingOptions = {"format": layout.format, "separator": layout.separator}
    return {**options, "columns": list(corpus.columns)} if layout.format == "columns" else options


def _checked(lenient: Iterable[str]) -> frozenset[str]:
    modes = frozenset([lenient] if isinstance(lenient, str) else lenient)
    for mode in modes:
        if mode not in LENIENT_MODES:
            raise NameUnknown("lenient mode", mode, LENIENT_MODES)
    return modes


def _read_by(reader: Reader, path: str, buffer: Bytes) -> Corpus:
    return reader.read_file(path, buffer[: len(buffer) - PADDING].tobytes())


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
    if format == "conllx":  # it allows several roots, and files often lack the last empty line
        return read_conllu(path, buffer, lenient=lenient | {"multiple-roots", "final-newline"}, format=format)
    mark = SEPARATORS.get(separator or "", separator)
    if mark is not None and len(mark.encode()) != 1:
        raise InputError(f"separator {separator!r}; expected tab, space, or one character")
    if format == "tagged":
        return read_tagged(path, buffer, mark=mark or "_")
    if columns is not None and "form" not in columns:
        raise InputError(f"columns {','.join(columns)}; expected one of them to be 'form'")
    if columns is not None:
        columns = [f"{UNNAMED}{i}" if name == UNNAMED else name for i, name in enumerate(columns, start=1)]
        if len(set(columns)) < len(columns):
            raise InputError(f"columns {','.join(columns)}; expected each name once")
    return read_columns(path, buffer, names=columns, separator=mark)


def _guess(path: str, buffer: Bytes) -> str:
    """Guess the format of a file by its name or else by its first lines."""
    base = os.path.basename(path)
    if ".conllu" in base or ".conllx" in base:
        return "conllu" if ".conllu" in base else "conllx"
    start = buffer[: min(len(buffer) - PADDING, 1 << 16)].tobytes().removeprefix(b"\xef\xbb\xbf")
    lines = [line for line in start.split(b"\n") if line.strip()]
    first = next((line for line in lines if not line.startswith(b"#")), lines[0] if lines else b"")
    if _NUMBERED_LINE.match(first):
        _check_width(path, lines)
        return "conllu"
    if not lines:
        return "conllu"
    tokens = first.split()
    if b"\t" not in first and all(0 < token.rfind(b"_") < len(token) - 1 for token in tokens):
        return "tagged"
    return "columns"


def _check_width(path: str, lines: Sequence[bytes]) -> None:
    """Raise if lines are numbered as in CoNLL-U, but all of the first have the same other number of columns."""
    widths = {line.count(b"\t") + 1 for line in [*filter(_NUMBERED_LINE.match, lines)][:20]}
    width = widths.pop()
    if not widths and 3 <= width != CONLLU_WIDTH:
        line = next(i for i, line in enumerate(lines, start=1) if _NUMBERED_LINE.match(line))
        names = [UNNAMED, "form", "tag", *[UNNAMED] * (width - 3)]
        remedy = Remedy(
            f"--columns {','.join(names)}", f"columns={names}", "would read the words and one column of tags"
        )
        raise CorpusError([Fault(path, line, f"{width} columns; expected 10, or names for them")], remedies=[remedy])
