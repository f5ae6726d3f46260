"""Give every distinct string of a column a number, while scanning the bytes of a file.

Eight bytes are looked at together. A string of up to seven bytes is one such word and is compared as one number;
a longer one is hashed and compared word by word. The strings are not copied: an entry is where in the file the
string first stood. Each column has a hash table in its own stretch of `table`, used only as far as `masks` says,
so that it starts small, stays in the processor's cache, and grows in place. Entry 0 of every column is `_`.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel, load64

TAB, NEWLINE, RETURN, SPACE, UNDERSCORE = 9, 10, 13, 32, 95
FIRST_MASK = 255
ONE, SEVEN, HIGH = np.uint64(1), np.uint64(7), np.uint64(0x8080808080808080)
FOURTEENS = np.uint64(0x0E0E0E0E0E0E0E0E)
BYTE_INDEX = np.uint64(0x0001020304050607)
TOP_BYTE, HALF = np.uint64(56), np.uint64(32)
MIX = np.uint64(0x9E3779B97F4A7C15)


@helper
def first_control(word):
    """Which of eight bytes is the first below 14 (tab, line feed and return among them); 8 if none is."""
    hits = (word - FOURTEENS) & ~word & HIGH
    if hits == np.uint64(0):
        return np.int64(8)
    lowest = (hits & (~hits + ONE)) >> SEVEN
    return np.int64((lowest * BYTE_INDEX) >> TOP_BYTE)


@helper
def low_bytes(word, count):
    """The first `count` (0 to 7) of eight bytes, the others zero."""
    return word & ((ONE << np.uint64(8 * count)) - ONE)


@helper
def stir(h, word):
    h = (h ^ word) * MIX
    return h ^ (h >> HALF)


@helper
def hash_bytes(data, start, end):
    """Hash of some bytes, eight at a time; the array reaches seven bytes past them."""
    h = np.uint64(end - start)
    while end - start >= 8:
        h = stir(h, load64(data, start))
        start += 8
    return stir(h, low_bytes(load64(data, start), end - start))


@helper
def same_bytes(some, a, other, b, length):
    """Whether two stretches of bytes are equal; both arrays reach seven bytes past them."""
    while length >= 8:
        if load64(some, a) != load64(other, b):
            return False
        a += 8
        b += 8
        length -= 8
    return low_bytes(load64(some, a), length) == low_bytes(load64(other, b), length)


@helper
def find_end(data, at):
    """Where the field that begins at `at` ends: at a tab, a line feed or a return."""
    while True:
        at += first_control(load64(data, at))
        byte = data[at]
        if byte == TAB or byte == NEWLINE or byte == RETURN:
            return at
        at += byte < 14


@helper
def grow(column, table, capacity, masks, hashes, entries, size):
    """Double a column's table, in place, and put its entries back in."""
    mask = masks[column] * 2 + 1
    masks[column] = mask
    base = column * capacity
    for i in range(base, base + mask + 1):
        table[i] = 0
    for code in range(1, size):
        slot = np.int64(hashes[column * entries + code]) & mask
        while table[base + slot] != 0:
            slot = (slot + 1) & mask
        table[base + slot] = code
    return 0


@helper
def intern(data, start, end, column, table, capacity, masks, sizes, starts, lengths, hashes, entries):
    """Return the code of `data[start:end]` in a column, giving it the next one if it is new."""
    length = end - start
    if length == 1 and data[start] == UNDERSCORE:
        return np.int64(0)
    short = np.uint32(hash_bytes(data, start, end))
    mask = masks[column]
    base, first = column * capacity, column * entries
    slot = np.int64(short) & mask
    while True:
        code = np.int64(table[base + slot])
        if code == 0:
            break
        at = first + code
        if hashes[at] == short and lengths[at] == length and same_bytes(data, starts[at], data, start, length):
            return code
        slot = (slot + 1) & mask
    code = sizes[column]
    sizes[column] = code + 1
    starts[first + code] = start
    lengths[first + code] = length
    hashes[first + code] = short
    table[base + slot] = code
    if (code + 1) * 2 > mask and (mask + 1) * 2 <= capacity:
        grow(column, table, capacity, masks, hashes, entries, code + 1)
    return code


@kernel("u1 i8 i4 int u1 i8")
def gather(data, starts, lengths, size, blob, offsets):
    """Copy the strings of a vocabulary out of the file; entry 0 is `_`."""
    blob[0] = UNDERSCORE
    offsets[0] = 0
    at = 1
    for code in range(1, size):
        offsets[code] = at
        start = starts[code]
        for i in range(lengths[code]):
            blob[at + i] = data[start + i]
        at += lengths[code]
    offsets[size] = at
    return at


@kernel("u1 i8 u1 i8 i4 i4")
def match(vocabulary, vocabulary_offsets, queries, query_offsets, table, codes):
    """For each query string its code in a vocabulary, or -1. The table is zeroed, a power of two long."""
    mask = len(table) - 1
    for code in range(len(vocabulary_offsets) - 1):
        slot = (
            np.int64(np.uint32(hash_bytes(vocabulary, vocabulary_offsets[code], vocabulary_offsets[code + 1]))) & mask
        )
        while table[slot] != 0:
            slot = (slot + 1) & mask
        table[slot] = code + 1
    for code in range(len(query_offsets) - 1):
        start = query_offsets[code]
        length = query_offsets[code + 1] - start
        slot = np.int64(np.uint32(hash_bytes(queries, start, start + length))) & mask
        codes[code] = -1
        while table[slot] != 0:
            other = table[slot] - 1
            at = vocabulary_offsets[other]
            if vocabulary_offsets[other + 1] - at == length and same_bytes(vocabulary, at, queries, start, length):
                codes[code] = other
                break
            slot = (slot + 1) & mask
    return 0
