"""Damage bytes in the ways that files are damaged, by accident or on purpose."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence

import numpy as np
import zstandard

Mutation = Callable[[bytes, np.random.Generator], bytes]
LONGEST = 1 << 21  # bytes of a mutated file

NUMBERS = (
    b"0",
    b"-1",
    b"-0",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"nan",
    b"inf",
    b"-inf",
    b"1_0",
    b"0x10",
    b"007",
    b"1e5000",
    b"9" * 25,
    b"9" * 5000,
    b"18446744073709551616",
    b"9223372036854775807",
    b"2147483648",
    b"1000000000000",
    b"0.1.2",
    b"\xd9\xa1",
    b"true",
    b"null",
    b"",
)
TOKENS = (
    b"\0",
    b"\r",
    b"\r\n",
    b"\n",
    b"\n\n",
    b"\t",
    b" ",
    b'"',
    b"'",
    b",",
    b";",
    b"=",
    b"#",
    b"{",
    b"}",
    b"[",
    b"]",
    b"_",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"\\ud800",
    b"\\u0000",
    b"%s%n{}{0}",
    b"../../etc/passwd",
    b"=cmd|' /C calc'!A0",
    b"<script>",
    b"-",
    b"--json",
    b"metric\nlas",
    b"PAR1",
    b"PK\x03\x04",
    b"SQLite format 3\0",
    b"\x1f\x8b",
    b"(\xb5/\xfd",
    b"a" * 5000,
    b"x" * 140_000,
    b"[" * 2000,
    b"[" * 100_000,
    b"{" * 3000,
    b'{"a":' * 3000,
    b"a." * 20_000 + b"a = 1\n",
    b"[" + b"'a'." * 300 + b"a]\n",
    b"\n" * 5000,
    b"," * 3000,
    b"\t" * 3000,
    b"O",
    b"B-X",
    b"1-2",
    b"1.1",
    b"0:root|0:root",
    b"0:root|" * 3000,
)


def _spot(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(len(data) + 1))


def _span(data: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = _spot(data, rng)
    return start, min(len(data), start + int(rng.geometric(0.02)))


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if changed else 0):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def delete_span(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def repeat_span(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * int(rng.choice([1, 2, 50])) + data[end:]


def insert_noise(data: bytes, rng: np.random.Generator) -> bytes:
    at = _spot(data, rng)
    return data[:at] + rng.bytes(int(rng.integers(1, 20))) + data[at:]


def insert_token(data: bytes, rng: np.random.Generator) -> bytes:
    at = _spot(data, rng)
    return data[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + data[at:]


def replace_field(data: bytes, rng: np.random.Generator) -> bytes:
    """Replace one cell, word or value by a token or a number."""
    fields = list(re.finditer(rb"[^\s,;:=|\"'\[\]{}()]+", data[:LONGEST]))
    if not fields:
        return insert_token(data, rng)
    field = fields[int(rng.integers(len(fields)))]
    values = NUMBERS if rng.random() < 0.6 else TOKENS
    return data[: field.start()] + values[int(rng.integers(len(values)))] + data[field.end() :]


def replace_numbers(data: bytes, rng: np.random.Generator) -> bytes:
    """Replace many numbers by one."""
    value = NUMBERS[int(rng.integers(len(NUMBERS)))]
    share = rng.choice([0.02, 0.3, 1.0])
    return re.sub(rb"-?\d+(\.\d+)?", lambda match: value if rng.random() < share else match[0], data[:200_000])


def truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _spot(data, rng)]


def _on_lines(change: Callable[[list[bytes], np.random.Generator], list[bytes]]) -> Mutation:
    def mutate(data: bytes, rng: np.random.Generator) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join(change(lines, rng)) if len(lines) > 1 else repeat_span(data, rng)

    return mutate


def swap_lines(lines: list[bytes], rng: np.random.Generator) -> list[bytes]:
    first, second = rng.integers(len(lines), size=2)
    lines[first], lines[second] = lines[second], lines[first]
    return lines


def drop_line(lines: list[bytes], rng: np.random.Generator) -> list[bytes]:
    del lines[int(rng.integers(len(lines)))]
    return lines


def repeat_line(lines: list[bytes], rng: np.random.Generator) -> list[bytes]:
    at = int(rng.integers(len(lines)))
    return lines[:at] + [lines[at]] * int(rng.choice([2, 3, 200])) + lines[at + 1 :]


def drop_column(lines: list[bytes], rng: np.random.Generator) -> list[bytes]:
    separator = b"\t" if b"\t" in lines[0] + lines[1] else b","
    width = max(line.count(separator) for line in lines) + 1
    column = int(rng.integers(width))
    return [separator.join(cell for i, cell in enumerate(line.split(separator)) if i != column) for line in lines]


def keep_columns(data: bytes, rng: np.random.Generator) -> bytes:
    """Keep one column of a table, or two."""
    lines = data.split(b"\n")
    separator = b"\t" if b"\t" in lines[0] else b","
    kept = rng.integers(lines[0].count(separator) + 1, size=int(rng.integers(1, 3)))
    rows = [line.split(separator) for line in lines]
    return b"\n".join(separator.join(row[i] for i in kept if i < len(row)) for row in rows)


def line_ends(data: bytes, rng: np.random.Generator) -> bytes:
    return data.replace(b"\n", (b"\r", b"\r\n", b"\n\r", b"\0", b"\xe2\x80\xa8")[int(rng.integers(5))])


def paste_again(data: bytes, rng: np.random.Generator) -> bytes:
    return data * int(rng.choice([2, 8]))


def compress(data: bytes, rng: np.random.Generator) -> bytes:
    packed = gzip.compress(data, mtime=0) if rng.random() < 0.5 else zstandard.compress(data)
    return flip_bits(packed, rng) if rng.random() < 0.6 else packed


def inflate(data: bytes, rng: np.random.Generator) -> bytes:
    """A small file that decompresses to a gigabyte."""
    return BOMB


def nothing(data: bytes, rng: np.random.Generator) -> bytes:
    return b"\n" * int(rng.integers(3))


def _bomb() -> bytes:
    frame = zstandard.compress(bytes(1 << 26))
    return frame * 16


BOMB = _bomb()
MUTATIONS: Sequence[tuple[Mutation, float]] = (
    (flip_bits, 4),
    (delete_span, 3),
    (repeat_span, 2),
    (insert_noise, 2),
    (insert_token, 5),
    (replace_field, 8),
    (replace_numbers, 3),
    (truncate, 2),
    (_on_lines(swap_lines), 2),
    (_on_lines(drop_line), 2),
    (_on_lines(repeat_line), 2),
    (_on_lines(drop_column), 1),
    (keep_columns, 1),
    (line_ends, 1),
    (paste_again, 1),
    (compress, 1),
    (inflate, 0.2),
    (nothing, 0.3),
)


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """Apply one mutation, or sometimes several."""
    weights = np.array([weight for _, weight in MUTATIONS])
    for choice in rng.choice(len(MUTATIONS), size=min(int(rng.geometric(0.55)), 5), p=weights / weights.sum()):
        data = MUTATIONS[choice][0](data, rng)[:LONGEST]
    return data
