"""Scan column files (a word per line) and tagged text (a sentence per line), and write corpora in all formats."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.conllu import (
    COLUMNS,
    EMPTY_FORM,
    EMPTY_SENTENCE,
    LINES,
    LONE_RETURN,
    OPEN,
    SENTENCES,
    SPOILED,
    TAIL,
    UNFINISHED,
    WORDS,
    only_spaces,
    report,
    skip_line,
)
from deadheat.kernels.interning import NEWLINE, RETURN, UNDERSCORE, intern
from deadheat.kernels.native import helper, kernel

NO_TAG = 40
DOCSTART = np.frombuffer(b"-DOCSTART-", np.uint8)


@helper
def starts_document(data, at):
    for i in range(len(DOCSTART)):
        if data[at + i] != DOCSTART[i]:
            return False
    return True


@helper
def find_byte(data, at, byte):
    """Where the next `byte`, or the end of the line, stands."""
    while data[at] != byte and data[at] != NEWLINE:
        at += 1
    return at


@helper
def close_sentence(before, before_end, started, ends, comments, newdoc, out):
    """End a sentence; `before` to `before_end` is what stood between it and the one before."""
    sentence = out[SENTENCES]
    ends[sentence] = out[WORDS]
    comments[2 * sentence] = before
    comments[2 * sentence + 1] = before_end
    newdoc[sentence] = started
    out[SENTENCES] = sentence + 1
    out[SPOILED] = 0
    out[OPEN] = 0
    return 0


@kernel("u1 int int i4 int i4 int i8 i8 i8 i4 u4 i8 i8 u1 i8 i8")
def scan_columns(data, separator, width, codes, rows, table, capacity, masks, sizes, starts, lengths, hashes,
                 ends, comments, newdoc, faults, out):  # fmt: skip
    """Fill `width` columns from a file whose last byte is a newline; a `-DOCSTART-` line opens a document."""
    at = np.int64(0)
    before = np.int64(0)
    before_end = np.int64(0)
    started = np.uint8(0)
    while at < len(data):
        out[LINES] += 1
        start = at
        if data[at] == NEWLINE or (data[at] == RETURN and data[at + 1] == NEWLINE):
            at = skip_line(data, at, out)
            if out[OPEN]:
                close_sentence(before, before_end, started, ends, comments, newdoc, out)
                before = at
                before_end = at
                started = np.uint8(0)
            elif started and before_end == start:
                before_end = at
            else:
                report(EMPTY_SENTENCE, out[LINES], start, 0, 0, faults, out)
                out[SPOILED] = 0
            continue
        if not out[OPEN] and starts_document(data, at):
            before = before if started else start
            at = skip_line(data, at, out)
            before_end = at
            started = np.uint8(1)
            continue
        out[OPEN] = 1
        fault = np.int64(0)
        column = np.int64(0)
        while True:
            begin = at
            at = find_byte(data, at, separator)
            end = at - (data[at] == NEWLINE and at > begin and data[at - 1] == RETURN)
            if column == 0 and only_spaces(data, begin, end):
                fault = np.int64(EMPTY_FORM)
            if column < width:
                codes[column * rows + out[WORDS]] = intern(data, begin, end, column, table, capacity, masks, sizes,
                                                           starts, lengths, hashes, rows)  # fmt: skip
            column += 1
            for i in range(begin, end):
                if data[i] == RETURN:
                    fault = np.int64(LONE_RETURN)
            if data[at] == NEWLINE:
                break
            at += 1
        if column != width:
            fault = np.int64(COLUMNS)
        if fault != 0:
            report(fault, out[LINES], start, column, width, faults, out)
        out[WORDS] += 1
        at = skip_line(data, start, out)
    out[TAIL] = before if not out[OPEN] else len(data)
    out[UNFINISHED] = out[OPEN]
    return 0


@kernel("u1 int i4 int i4 int i8 i8 i8 i4 u4 i8 i8 u1 i8 i8")
def scan_tagged(data, mark, codes, rows, table, capacity, masks, sizes, starts, lengths, hashes,
                ends, comments, newdoc, faults, out):  # fmt: skip
    """Fill the two columns of `word_TAG word_TAG` lines; the last `mark` of a token parts word and tag."""
    at = np.int64(0)
    while at < len(data):
        out[LINES] += 1
        start = at
        line_end = find_byte(data, at, NEWLINE)
        stop = line_end - (line_end > at and data[line_end - 1] == RETURN)
        if stop == at:
            report(EMPTY_SENTENCE, out[LINES], start, 0, 0, faults, out)
        if find_byte(data, at, RETURN) < stop:
            report(LONE_RETURN, out[LINES], start, 0, 0, faults, out)
        token = np.int64(0)
        while at < stop:
            token += 1
            end = at
            while end < stop and data[end] != 32:
                end += 1
            split = end - 1
            while split > at and data[split] != mark:
                split -= 1
            if split <= at or split == end - 1 or only_spaces(data, at, split):
                report(NO_TAG, out[LINES], start, token, at, faults, out)
            else:
                word = out[WORDS]
                codes[word] = intern(data, at, split, 0, table, capacity, masks, sizes, starts, lengths, hashes, rows)
                codes[rows + word] = intern(data, split + 1, end, 1, table, capacity, masks, sizes, starts, lengths,
                                            hashes, rows)  # fmt: skip
                out[WORDS] = word + 1
            if end == stop - 1 and end > at:
                report(NO_TAG, out[LINES], start, token + 1, end, faults, out)
            at = end + 1
        close_sentence(start, start, np.uint8(0), ends, comments, newdoc, out)
        at = skip_line(data, start, out)
    out[TAIL] = len(data)
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
