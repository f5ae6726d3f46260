"""The bytes of corpus files: lines and their errors, distinct strings and their codes, and rows to write.

Every distinct string of a column gets a code. Eight bytes are compared at a time: a string of up to seven bytes is one
number, a longer one is hashed and compared word by word. The strings are not copied: an entry is the position in the
file where the string first occurred. The hash tables of all columns lie in `table`, `capacity` slots each, of which
`masks` says how many are used, so that a table starts small, stays in the processor's cache, and grows in place. Entry
0 of every column is `_`. `tables` is a tuple of the arrays of `intern`.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel, load64

TAB, NEWLINE, RETURN, SPACE, UNDERSCORE, ZERO, NINE = 9, 10, 13, 32, 95, 48, 57
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
def find_byte(data, at, byte):
    """Where the next `byte`, or the end of the line, stands."""
    while data[at] != byte and data[at] != NEWLINE:
        at += 1
    return at


@helper
def starts_with(data, at, prefix):
    for i in range(len(prefix)):
        if data[at + i] != prefix[i]:
            return False
    return True


@helper
def only_spaces(data, start, end):
    """Whether a form has nothing but characters of Unicode category Zs (true of the empty form too)."""
    i = start
    while i < end:
        a = np.int64(data[i])
        if a == SPACE:
            i += 1
        elif a == 0xC2 and i + 1 < end and data[i + 1] == 0xA0:
            i += 2
        elif i + 2 < end and (a == 0xE1 or a == 0xE2 or a == 0xE3):
            point = ((a & 15) << 12) | ((np.int64(data[i + 1]) & 63) << 6) | (np.int64(data[i + 2]) & 63)
            en_to_hair = point >= 0x2000 and point <= 0x200A
            if not (en_to_hair or point == 0x202F or point == 0x205F or point == 0x3000 or point == 0x1680):
                return False
            i += 3
        else:
            return False
    return True


@helper
def only_blanks(data, at):
    """Whether a line is empty, but for spaces and tabs: somebody's end of a sentence."""
    while data[at] == SPACE or data[at] == TAB:
        at += 1
    return data[at] == NEWLINE or (data[at] == RETURN and data[at + 1] == NEWLINE)


@helper
def count_separators(data, at, separator):
    """How often a byte occurs in the rest of a line."""
    number = 0
    while data[at] != NEWLINE:
        number += data[at] == separator
        at += 1
    return number


@helper
def has_lone_return(data, at):
    """Whether a line has a carriage return that does not belong to its end."""
    at = find_byte(data, at, RETURN)
    return data[at] == RETURN and data[at + 1] != NEWLINE


@helper
def read_number(data, at):
    """Digits from `at` on: where they end, and their value, or -1 if there are none, too many, or a leading 0."""
    value = np.int64(0)
    start = at
    while data[at] >= ZERO and data[at] <= NINE and at - start < 10:
        value = value * 10 + (np.int64(data[at]) - ZERO)
        at += 1
    if at == start or at - start > 9 or (data[start] == ZERO and at - start > 1):
        return at, np.int64(-1)
    return at, value


@helper
def grow(column, tables, size):
    """Double a column's table, in place, and put its entries back in."""
    table, capacity, masks, _, _, _, hashes, entries = tables
    mask = masks[column] * 2 + 1
    masks[column] = mask
    base = column * capacity
    table[base : base + mask + 1] = 0
    for code in range(1, size):
        slot = np.int64(hashes[column * entries + code]) & mask
        while table[base + slot] != 0:
            slot = (slot + 1) & mask
        table[base + slot] = code
    return 0


@helper
def intern(data, start, end, column, tables):
    """Return the code of `data[start:end]` in a column, giving it the next one if it is new."""
    length = end - start
    if length == 1 and data[start] == UNDERSCORE:
        return np.int64(0)
    table, capacity, masks, sizes, starts, lengths, hashes, entries = tables
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
        grow(column, tables, code + 1)
    return code


@helper
def put(into, at, blob, start, end):
    for i in range(start, end):
        into[at] = blob[i]
        at += 1
    return at


@kernel("u1 i8 i4 int u1 i8")
def gather(data, starts, lengths, size, blob, offsets):
    """Copy the strings of a vocabulary out of the file; entry 0 is `_`."""
    blob[0] = UNDERSCORE
    offsets[0] = 0
    at = np.int64(1)
    for code in range(1, size):
        offsets[code] = at
        at = put(blob, at, data, starts[code], starts[code] + lengths[code])
    offsets[size] = at
    return at


@kernel("u1 i8 u1 i8 i4 i4")
def match(vocabulary, vocabulary_offsets, queries, query_offsets, table, codes):
    """For each query string its code in a vocabulary, or -1. The table is zeroed, a power of two long."""
    mask = len(table) - 1
    for code in range(len(vocabulary_offsets) - 1):
        short = np.uint32(hash_bytes(vocabulary, vocabulary_offsets[code], vocabulary_offsets[code + 1]))
        slot = np.int64(short) & mask
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


@helper
def put_number(into, at, number):
    digits = np.int64(1)
    power = np.int64(10)
    while number >= power:
        digits += 1
        power *= 10
    for i in range(digits):
        into[at + digits - 1 - i] = 48 + number % 10
        number //= 10
    return at + digits


@helper
def put_newline(into, at, crlf):
    if crlf:
        into[at] = RETURN
        at += 1
    into[at] = NEWLINE
    return at + 1


@helper
def put_row(into, at, row, rows, width, numbered, head, separator, codes, strings):
    """The string columns of a row, with HEAD in seventh place where rows are numbered."""
    blobs, blob_starts, offsets, offset_starts = strings
    for column in range(width):
        if numbered and column == 5:
            if head < 0:
                into[at] = UNDERSCORE
                at += 1
            else:
                at = put_number(into, at, np.int64(head))
            into[at] = separator
            at += 1
        first = offset_starts[column] + codes[column * rows + row]
        base = blob_starts[column]
        at = put(into, at, blobs, base + offsets[first], base + offsets[first + 1])
        if column < width - 1:
            into[at] = separator
            at += 1
    return at


@kernel("i4 int int int int int i4 u1 i8 i8 i8 i8 i8 i8 i4 u1 i8 u1")
def write_rows(codes, rows, width, numbered, separator, crlf, heads, blobs, blob_starts, offsets, offset_starts,
               ends, extra_ends, extra_at, extra_span, comments, comment_offsets, into):  # fmt: skip
    """Write one word per line; words are the first rows, extras the last ones, backwards. Returns the bytes written."""
    strings = (blobs, blob_starts, offsets, offset_starts)
    at, word, extra = np.int64(0), np.int64(0), np.int64(0)
    for sentence in range(len(ends)):
        at = put(into, at, comments, comment_offsets[sentence], comment_offsets[sentence + 1])
        first = word
        while word < ends[sentence] or extra < extra_ends[sentence]:
            row = word
            head = np.int64(-1)
            number = word - first + 1
            if extra < extra_ends[sentence] and extra_at[extra] == word:
                span = np.int64(extra_span[extra])
                at = put_number(into, at, number if span > 0 else number - 1)
                into[at] = 45 if span > 0 else 46
                at = put_number(into, at + 1, number + span - 1 if span > 0 else -span)
                row = rows - 1 - extra
                extra += 1
            else:
                if numbered:
                    at = put_number(into, at, number)
                    head = np.int64(heads[word])
                word += 1
            if numbered:
                into[at] = separator
                at += 1
            at = put_row(into, at, row, rows, width, numbered, head, separator, codes, strings)
            at = put_newline(into, at, crlf)
        at = put_newline(into, at, crlf)
    return at


@kernel("i4 int int int u1 i8 i8 i8 i8 u1")
def write_tagged(codes, rows, mark, crlf, blobs, blob_starts, offsets, offset_starts, ends, into):
    """Write one sentence per line, as `word_TAG word_TAG`. Returns the bytes written."""
    strings = (blobs, blob_starts, offsets, offset_starts)
    at, first = np.int64(0), np.int64(0)
    for end in ends:
        for word in range(first, end):
            if word > first:
                into[at] = SPACE
                at += 1
            at = put_row(into, at, word, rows, 2, 0, -1, mark, codes, strings)
        at = put_newline(into, at, crlf)
        first = end
    return at
