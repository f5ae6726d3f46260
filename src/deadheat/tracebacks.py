"""Errors in one line, with the file and line of a user's code that they come from."""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb

from deadheat.errors import DeadheatError

PACKAGE = Path(__file__).parent
USERS_MODULE = "__deadheat_digest__"  # the attribute of imported modules of users that holds the hash of their code


def describe_error(error: BaseException) -> str:
    """An exception in one line: the line of a user's code that led to it, its type, and its message.

    Errors of Deadheat say what is wrong by themselves: their type is left out, and lines that they arrange are kept.
    """
    try:
        message = str(error)
    except Exception:
        message = ""
    if isinstance(error, DeadheatError):
        text = message or type(error).__name__
    else:
        text = " ".join(f"{type(error).__name__}: {message}".split()).rstrip(": ")
    where = users_line(error)
    return f"{where}: {text}" if where else text


def users_line(error: BaseException) -> str:
    """The last line of a user's files that led to an error, as `mine.py line 12`; empty if there is none."""
    frames = [(Path(frame.f_code.co_filename), line, frame.f_globals) for frame, line in walk_tb(error.__traceback__)]
    folders = {file.parent for file, _, names in frames if USERS_MODULE in names}
    lines = [f"{file.name} line {line}" for file, line, _ in frames if _is_users(file, folders)]
    return lines[-1] if lines else ""


def _is_users(file: Path, folders: set[Path]) -> bool:
    """Whether a file is in one of some folders, or in a package there; an environment of Python is not."""
    if file.is_relative_to(PACKAGE):
        return False
    return any(
        file.is_relative_to(folder) and "site-packages" not in file.relative_to(folder).parts for folder in folders
    )
