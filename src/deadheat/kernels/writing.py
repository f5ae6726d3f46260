"""Put the columns of a corpus back into bytes."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.interning import NEWLINE, RETURN, UNDERSCORE
from deadheat.kernels.native import helper, kernel


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
def put(into, at, blob, start, end):
    for i in range(start, end):
        into[at] = blob[i]
        at += 1
    return at


@helper
def put_newline(into, at, crlf):
    if crlf:
        into[at] = RETURN
        at += 1
    into[at] = NEWLINE
    return at + 1


@helper
def put_row(into, at, row, rows, width, numbered, head, separator, codes, blobs, blob_starts, offsets, offset_starts):
    """The string columns of a row, with HEAD in seventh place where rows are numbered."""
    for column in range(width):
        if numbered and column == 5:
            if head < 0:
                into[at] = UNDERSCORE
                at += 1
            else:
                at = put_number(into, at, np.int64(head))
            into[at] = separator
            at += 1
        code = codes[column * rows + row]
        first = offset_starts[column] + code
        base = blob_starts[column]
        at = put(into, at, blobs, base + offsets[first], base + offsets[first + 1])
        if column < width - 1:
            into[at] = separator
            at += 1
    return at


@kernel("i4 int int int int int i4 u1 i8 i8 i8 i8 i8 i8 i4 u1 i8 u1")
def write_rows(codes, rows, width, numbered, separator, crlf, heads, blobs, blob_starts, offsets, offset_starts,
               ends, extra_ends, extra_at, extra_span, comments, comment_offsets, into):  # fmt: skip
    """Write a word a line; words are the first rows, extras the last ones, backwards. Returns the bytes written."""
    at = np.int64(0)
    word = np.int64(0)
    extra = np.int64(0)
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
            at = put_row(into, at, row, rows, width, numbered, head, separator, codes, blobs, blob_starts,
                         offsets, offset_starts)  # fmt: skip
            at = put_newline(into, at, crlf)
        at = put_newline(into, at, crlf)
    return at


@kernel("i4 int int int u1 i8 i8 i8 i8 u1")
def write_tagged(codes, rows, mark, crlf, blobs, blob_starts, offsets, offset_starts, ends, into):
    """Write a sentence a line, as `word_TAG word_TAG`. Returns the bytes written."""
    at = np.int64(0)
    word = np.int64(0)
    for sentence in range(len(ends)):
        first = word
        while word < ends[sentence]:
            if word > first:
                into[at] = 32
                at += 1
            at = put_row(into, at, word, rows, 2, 0, -1, mark, codes, blobs, blob_starts, offsets, offset_starts)
            word += 1
        at = put_newline(into, at, crlf)
    return at
