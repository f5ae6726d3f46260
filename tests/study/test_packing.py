from __future__ import annotations

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.study.store.recording import (
    KINDS,
    column_bytes,
    compress,
    decompress,
    fingerprint,
    unpack,
)

Column = tuple[str, int, bytes]  # integer type, length, compressed bytes


def pack(column: NDArray[np.integer]) -> Column:
    kind, raw = column_bytes(column)
    return kind, len(column), compress(raw)


LIMITS = sorted({edge for kind in KINDS for edge in (int(np.iinfo(kind).min), int(np.iinfo(kind).max))})


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.sampled_from(LIMITS) | st.integers(0, 300)))
def test_whole_numbers_come_back(numbers: list[int]) -> None:
    column = np.array(numbers, np.int64)
    unpacked = unpack(*pack(column))
    assert unpacked.tolist() == numbers
    for kind in KINDS[: KINDS.index(unpacked.dtype.str)]:
        assert min(numbers) < np.iinfo(kind).min or max(numbers) > np.iinfo(kind).max


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (0, 255, "|u1"),
        (0, 256, "<u2"),
        (-1, 127, "|i1"),
        (-1, 128, "<i2"),
        (-129, 0, "<i2"),
        (0, 2**16, "<u4"),
        (-1, 2**16, "<i4"),
        (0, 2**32, "<i8"),
        (-(2**63), 2**63 - 1, "<i8"),
    ],
)
def test_the_smallest_kind_that_holds_both_ends_is_taken(low: int, high: int, kind: str) -> None:
    assert column_bytes(np.array([low, high, 0]))[0] == kind


def test_numbers_past_63_bits_are_refused() -> None:
    with pytest.raises(InputError, match=r"counts: 9,223,372,036,854,775,808 is too large"):
        pack(np.array([2**63], np.uint64))


def test_bytes_are_little_endian_whatever_the_array_is() -> None:
    kind, raw = column_bytes(np.array([1, 256], ">i4"))
    assert (kind, raw) == ("<u2", b"\x01\x00\x00\x01")


def test_what_is_unpacked_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        unpack(*pack(np.array([1, 2])))[0] = 3


def test_a_fingerprint_tells_kinds_apart() -> None:
    assert fingerprint("|u1", b"\1\0") != fingerprint("<u2", b"\1\0")


KIND, UNITS, DATA = pack(np.arange(2000) % 250)
BROKEN: dict[str, Column] = {
    "cut off": (KIND, UNITS, DATA[:-1]),
    "without its checksum": (KIND, UNITS, DATA[:-4]),
    "followed by more": (KIND, UNITS, DATA + b"x"),
    "two frames": (KIND, UNITS, DATA * 2),
    "empty": (KIND, UNITS, b""),
    "too few": (KIND, UNITS + 1, DATA),
    "too many": (KIND, UNITS - 1, DATA),
    "another width": ("<u2", UNITS, DATA),
    "Python objects": ("|O", UNITS, DATA),
    "floats": ("<f8", UNITS // 8, DATA),
    "no kind at all": ("", UNITS, DATA),
    "negative": (KIND, -1, DATA),
    "length not said": (KIND, 1, zstandard.ZstdCompressor(write_content_size=False).compress(b"1")),
}


@pytest.mark.parametrize("column", BROKEN.values(), ids=BROKEN)
def test_what_is_not_what_it_says_is_refused(column: Column) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(*column)


def test_every_changed_bit_is_detected() -> None:
    raw = bytes(range(256)) * 4
    frame = compress(raw)
    for bit in range(len(frame) * 8):
        changed = bytearray(frame)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            unpacked = decompress(bytes(changed), len(raw))
        except ValueError:
            continue
        assert unpacked == raw, bit  # a bit that means nothing


def test_memory_is_not_asked_for_before_the_length_is_known_to_be_right() -> None:
    bomb = compress(bytes(50_000_000))
    assert len(bomb) < 10_000
    with pytest.raises(ValueError, match="50,000,000 bytes; expected 2,000"):
        decompress(bomb, 2000)
