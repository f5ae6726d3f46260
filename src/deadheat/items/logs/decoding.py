"""JSON of logs as typed values, and scores as numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from deadheat.errors import InputError
from deadheat.files import FileError

T = TypeVar("T")
CHUNK = 1 << 24  # bytes of lines that are decoded at once
WRONG_TYPE = re.compile(r"Expected `(.*?)`, got `(.*?)`(?: - at `(.*)`)?$")
ABSENT = re.compile(r"Object missing required field `(.*?)`(?: - at `(.*)`)?$")
INFINITE = "some of its values are infinite"
HIGH, LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
LONE_SURROGATE, REPLACEMENT = re.compile(rf"{HIGH}(?!{LOW})|(?<!{HIGH}){LOW}"), r"\\ufffd"
TEXTS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


class NotANumber(Exception):
    """Values that are no scores; the message says why."""


def decode(data: bytes | memoryview, kind: type[T], where: str) -> T:
    """Decode JSON. What Python writes and is no JSON is read too: NaN, Infinity, and halves of surrogate pairs."""
    return decode_with(msgspec.json.Decoder(kind), data, where)


def decode_with(decoder: msgspec.json.Decoder[T], data: bytes | memoryview, where: str) -> T:
    """Decode JSON with a decoder that is made already."""
    try:
        try:
            return decoder.decode(data)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            return msgspec.convert(json.loads(LONE_SURROGATE.sub(REPLACEMENT, bytes(data).decode())), decoder.type)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {_problem(str(error))}") from error
    except RecursionError as error:
        raise InputError(f"{where}: too deeply nested; expected the JSON of a log") from error
    except MemoryError as error:
        raise FileError(where, "not enough memory to decode it") from error
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        problem = str(error).removeprefix("JSON is malformed: ")[:100]
        raise InputError(f"{where}: corrupt or incomplete JSON ({problem[:1].lower() + problem[1:]})") from error


def decode_lines(data: memoryview, kind: type[T], path: str) -> Iterator[list[T]]:
    """Decode one JSON value per line, in pieces of many lines; errors have the number of the line."""
    decoder = msgspec.json.Decoder(kind)
    start = 0
    while start < len(data):
        end = min(start + CHUNK, len(data))
        while end < len(data) and data[end - 1] != 10:
            rest = bytes(data[end : end + CHUNK])
            newline = rest.find(b"\n")
            end += newline + 1 if newline >= 0 else len(rest)
        piece = bytes(data[start:end])
        try:
            yield decoder.decode_lines(piece)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # NaN, or an error in some line
            lines = enumerate(piece.split(b"\n"), start=1 + bytes(data[:start]).count(b"\n"))
            yield [decode_with(decoder, text, f"{path}:{number}") for number, text in lines if text.strip()]
        start = end


def number_of(value: Any) -> float | None:
    """A score as a number; None for null and NaN, which stand for an item that was not scored.

    Anything else is not a score: it raises `NotANumber`.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value = TEXTS.get(value.strip().lower(), value)
    if isinstance(value, bool | int | float | str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            raise NotANumber(f"its values are not numbers, such as {str(value)[:40]!r}") from None
        if math.isinf(number):
            raise NotANumber(INFINITE)
        return None if math.isnan(number) else number
    raise NotANumber(f"its values are not numbers, but of type {type(value).__name__}")


def text_of(value: Any, limit: int = 100) -> str | None:
    """A value as the name of a cluster or of an item, with a hash for what is cut off; None for what has no name."""
    if value is None or isinstance(value, bool | float | list | dict):
        return None
    text = str(value) if isinstance(value, str) or abs(value) < 10**30 else ""
    return shorten(text, limit) or None


def shorten(text: str, limit: int = 100) -> str:
    """A text of at most so many characters; a hash makes up for what is cut off."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 20]}... {digest(text)}"


def digest(*texts: str) -> str:
    """A short hash of texts."""
    from hashlib import blake2b

    content = "\0".join(texts).encode(errors="surrogatepass")
    return blake2b(content, digest_size=8).hexdigest()


def _problem(message: str) -> str:
    """What msgspec says about a value of the wrong type, as other errors are worded."""
    wrong = WRONG_TYPE.match(message)
    if wrong:
        return f"{wrong[2]}{_place(wrong[3])}; expected {wrong[1]}"
    absent = ABSENT.match(message)
    if absent:
        return f"no {absent[1]}{_place(absent[2])}; expected one"
    return message.replace("`", "")[:200]


def _place(path: str | None) -> str:
    return f" in {path}" if path and path != "$" else ""
