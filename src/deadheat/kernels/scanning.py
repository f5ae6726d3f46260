"""One pass over the bytes of a corpus file: codes, heads, sentence ends, and every fault with its line.

CoNLL-U and CoNLL-X, column files (one word per line), and tagged text (one sentence per line).
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.strings import (
    NEWLINE,
    RETURN,
    SPACE,
    TAB,
    UNDERSCORE,
    count_separators,
    find_byte,
    find_end,
    has_lone_return,
    intern,
    only_blanks,
    only_spaces,
    read_number,
    starts_with,
)

STRING_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")

# What can be wrong with a line; `deadheat.corpus.formats` has a message for each.
(
    COLUMNS, WORD_ID, WORD_ORDER, HEAD_SYNTAX, HEAD_RANGE, CYCLE, ROOTS, EMPTY_FORM, EMPTY_SENTENCE, COMMENT_INSIDE,
    RANGE_ID, RANGE_ORDER, RANGE_UNFINISHED, EMPTY_NODE_ID, LONE_RETURN, SOME_HEADS, EXTRA_HEAD, NO_TAG,
) = range(1, 19)  # fmt: skip

# Slots of the `out` array: totals, then where in a sentence the scan is.
WORDS, EXTRAS, SENTENCES, FAULTS, CRLF, LINES, TAIL, UNFINISHED = range(8)
FIRST_WORD, FIRST_EXTRA, FIRST_LINE, EXPECTED, RANGE_END, SPOILED, OPEN = range(8, 15)
LISTED, KINDS = 15, 16  # faults in the array; from `KINDS` on, how many there are of each kind
OUT_SIZE = KINDS + 19
# A fault is five numbers: its kind, its line, where that line starts in the file, and two details.
FAULT_SIZE = 5
LISTED_PER_KIND = 3
FAULTS_SIZE = FAULT_SIZE * LISTED_PER_KIND * 19
# Bits of the `lenient` argument.
MULTIPLE_ROOTS, MISSING_HEADS = 1, 2

HASH, MINUS, DOT = 35, 45, 46
DOCSTART = np.frombuffer(b"-DOCSTART-", np.uint8)
NEWDOC = np.frombuffer(b"newdoc", np.uint8)


@helper
def report(kind, line, start, detail, more, faults, out):
    """List a fault if it is one of the first of its kind, and count it."""
    out[FAULTS] += 1
    out[KINDS + kind] += 1
    out[SPOILED] = 1
    if out[KINDS + kind] <= LISTED_PER_KIND:
        at = out[LISTED] * FAULT_SIZE
        out[LISTED] += 1
        faults[at], faults[at + 1], faults[at + 2] = kind, line, start
        faults[at + 3], faults[at + 4] = detail, more
    return 0


@helper
def skip_line(data, at, out):
    """Where the next line starts; lines that end in CR LF are counted."""
    at = find_byte(data, at, NEWLINE)
    out[CRLF] += at > 0 and data[at - 1] == RETURN
    return at + 1


@helper
def is_newdoc(data, at):
    """Whether the comment whose `#` stands before `at` reads `newdoc` or `newdoc id = ...`."""
    while data[at] == SPACE:
        at += 1
    return starts_with(data, at, NEWDOC) and (data[at + 6] <= SPACE or data[at + 6] == 61)


@helper
def close_sentence(before, before_end, starts_document, sentences, out):
    """End a sentence; `before` to `before_end` is what stood between it and the one before."""
    ends, comments, newdoc = sentences
    sentence = out[SENTENCES]
    ends[sentence] = out[WORDS]
    comments[2 * sentence], comments[2 * sentence + 1] = before, before_end
    newdoc[sentence] = starts_document
    out[SENTENCES] = sentence + 1
    out[SPOILED], out[OPEN] = 0, 0
    return 0


@helper
def read_id(data, at, extra_at, extra_span, out):
    """The id of a line: where it ends, its fault or 0, and its span.

    A span is 0 for a word, the number of words of a multiword token, or minus the second number of an empty node.
    """
    start = at
    expected = out[EXPECTED]
    at, number = read_number(data, at)
    if data[at] == TAB:
        if number == expected:
            out[EXPECTED] = number + 1
            return at, np.int64(0), np.int64(0)
        if number < 1:
            return at, np.int64(WORD_ID), np.int64(0)
        out[EXPECTED] = number + 1
        return at, np.int64(WORD_ORDER), expected
    if data[at] == MINUS and at > start:
        at, last = read_number(data, at + 1)
        if number < 1 or last < 1 or data[at] != TAB:
            return at, np.int64(RANGE_ID), np.int64(0)
        if number != expected or last < number or number <= out[RANGE_END]:
            return at, np.int64(RANGE_ORDER), expected
        out[RANGE_END] = last
        return at, np.int64(0), last - number + 1
    if data[at] == DOT and at > start:
        at, minor = read_number(data, at + 1)
        previous = np.int64(0)
        for i in range(out[FIRST_EXTRA], out[EXTRAS]):
            if extra_at[i] == out[WORDS] and extra_span[i] < 0:
                previous = -np.int64(extra_span[i])
        if minor < 1 or data[at] != TAB or number != expected - 1 or minor <= previous:
            return at, np.int64(EMPTY_NODE_ID), (expected - 1) * 1000000000 + previous
        return at, np.int64(0), -minor
    return at, np.int64(WORD_ID), np.int64(0)


@helper
def read_head(data, at, span, lenient):
    """The HEAD column: where it ends, its value (-1 for `_`), and its fault or 0."""
    if data[at] == UNDERSCORE and data[at + 1] == TAB:
        missing = span == 0 and not lenient & MISSING_HEADS
        return at + 1, np.int64(-1), np.int64(HEAD_SYNTAX if missing else 0)
    at, head = read_number(data, at)
    fault = np.int64(HEAD_SYNTAX if head < 0 or data[at] != TAB else 0)
    if span != 0:
        fault = np.int64(EXTRA_HEAD)
    while data[at] != TAB and data[at] != NEWLINE:
        at += 1
    return at, head, fault


@helper
def check_tree(first, words, heads, marks, position):
    """Return 0 if the heads of words first..words-1 make a tree, else the fault; `position` gets word and detail."""
    size = words - first
    roots, second, missing = 0, first, 0
    for i in range(first, words):
        head = heads[i]
        if head > size:
            position[0], position[1] = i, head
            return HEAD_RANGE
        if head == 0:
            roots += 1
            if roots == 2:
                second = i
        missing += head < 0
        marks[i] = -1
    if missing:
        position[0], position[1] = first, missing
        return SOME_HEADS if missing < size else 0
    for i in range(first, words):
        at = i
        while marks[at] < 0:
            marks[at] = i
            if heads[at] == 0:
                break
            at = first + heads[at] - 1
        if marks[at] == i and heads[at] != 0:
            position[0], position[1] = at, heads[at]
            return CYCLE
    if roots > 1:
        position[0], position[1] = second, roots
        return ROOTS
    return 0


@helper
def end_sentence(at, lenient, heads, marks, extra_at, faults, out):
    """Check a sentence that a blank line at `at` ends."""
    first, words, line = out[FIRST_WORD], out[WORDS], out[LINES]
    size = words - first
    if size == 0:
        report(EMPTY_SENTENCE, line, at, out[OPEN], 0, faults, out)
    elif out[RANGE_END] > size:
        report(RANGE_UNFINISHED, line, at, out[RANGE_END], size, faults, out)
    else:
        position = marks[len(marks) - 2 :]
        kind = check_tree(first, words, heads, marks, position)
        if kind != 0 and not (kind == ROOTS and lenient & MULTIPLE_ROOTS):
            word = position[0]
            line = out[FIRST_LINE] + word - first
            for i in range(out[FIRST_EXTRA], out[EXTRAS]):
                line += extra_at[i] <= word
            detail = np.int64(position[1])
            if kind == HEAD_RANGE:
                detail = detail * 1000000000 + size
            report(kind, line, at, word - first + 1, detail, faults, out)
    return 0


@helper
def read_fields(data, at, row, span, rows, lenient, codes, heads, tables):
    """Columns 2 to 10 of a line from `at` on: where they end, and a fault or 0."""
    column, fault = 0, np.int64(0)
    for field in range(1, 10):
        if field == 6:
            at, head, wrong = read_head(data, at, span, lenient)
            heads[row] = head
            if wrong != 0 and fault == 0:
                fault = wrong
        else:
            begin = at
            at = find_end(data, at)
            if field == 1 and only_spaces(data, begin, at):
                fault = np.int64(EMPTY_FORM)
            codes[column * rows + row] = intern(data, begin, at, column, tables)
            column += 1
        if field < 9:
            if data[at] != TAB:
                return at, np.int64(COLUMNS)
            at += 1
    if data[at] == RETURN:
        at += 1
    return at, fault if data[at] == NEWLINE else np.int64(COLUMNS)


@kernel("u1 int i4 i4 int i4 int i8 i8 i8 i4 u4 i8 i4 i8 i8 i8 u1 i4 i8 i8")
def scan(data, lenient, codes, heads, rows, table, capacity, masks, sizes, starts, lengths, hashes,
         extra_at, extra_span, extra_ends, ends, comments, newdoc, marks, faults, out):  # fmt: skip
    """Fill the columns from a CoNLL-U file whose last byte is a newline.

    Words take rows 0, 1, ... of `codes` and `heads`; multiword tokens and empty nodes ("extras") take the last
    row, the one before it, and so on, so that the words lie together. `extra_at` is the word an extra stands
    before.
    """
    tables = (table, capacity, masks, sizes, starts, lengths, hashes, rows)
    at, comment_start, comment_end = np.int64(0), np.int64(-1), np.int64(0)
    doc = np.uint8(0)
    out[EXPECTED] = 1
    while at < len(data):
        out[LINES] += 1
        start = at
        if data[at] <= SPACE and only_blanks(data, at):
            if data[at] != NEWLINE and data[at] != RETURN:
                report(COLUMNS, out[LINES], start, count_separators(data, start, TAB) + 1, 0, faults, out)
            if not out[SPOILED]:
                end_sentence(at, lenient, heads, marks, extra_at, faults, out)
            at = skip_line(data, at, out)
            extra_ends[out[SENTENCES]] = out[EXTRAS]
            if comment_start < 0:
                comment_start, comment_end = start, start
            close_sentence(comment_start, comment_end, doc, (ends, comments, newdoc), out)
            out[FIRST_WORD] = out[WORDS]
            out[FIRST_EXTRA] = out[EXTRAS]
            out[EXPECTED] = 1
            out[RANGE_END] = 0
            comment_start = np.int64(-1)
            doc = np.uint8(0)
            continue
        if data[at] == HASH:
            if out[OPEN]:
                report(COMMENT_INSIDE, out[LINES], start, 0, 0, faults, out)
            elif is_newdoc(data, at + 1):
                doc = np.uint8(1)
            at = skip_line(data, at, out)
            if not out[OPEN]:
                comment_start = start if comment_start < 0 else comment_start
                comment_end = at
            continue
        if not out[OPEN]:
            out[OPEN] = 1
            out[FIRST_LINE] = out[LINES]
        at, fault, span = read_id(data, at, extra_at, extra_span, out)
        if fault == 0:
            row = out[WORDS] if span == 0 else rows - 1 - out[EXTRAS]
            at, fault = read_fields(data, at + 1, row, span, rows, lenient, codes, heads, tables)
            if span == 0:
                out[WORDS] += 1
            else:
                extra_at[out[EXTRAS]] = out[WORDS]
                extra_span[out[EXTRAS]] = span
                out[EXTRAS] += 1
        if fault != 0:
            columns = count_separators(data, start, TAB) + 1
            if has_lone_return(data, start):
                fault = np.int64(LONE_RETURN)
            elif columns != 10:
                fault = np.int64(COLUMNS)
            report(fault, out[LINES], start, columns, span, faults, out)
            at = skip_line(data, start, out)
        else:
            out[CRLF] += data[at - 1] == RETURN
            at += 1
    out[TAIL] = comment_start if comment_start >= 0 and not out[OPEN] else len(data)
    out[UNFINISHED] = out[OPEN]
    return 0


@kernel("u1 int int i4 int i4 int i8 i8 i8 i4 u4 i8 i8 u1 i8 i8")
def scan_columns(data, separator, width, codes, rows, table, capacity, masks, sizes, starts, lengths, hashes,
                 ends, comments, newdoc, faults, out):  # fmt: skip
    """Fill `width` columns from a file whose last byte is a newline; a `-DOCSTART-` line opens a document.

    A line before a sentence that starts with # is a comment, unless it has as many columns as the others.
    """
    tables = (table, capacity, masks, sizes, starts, lengths, hashes, rows)
    at, before, before_end = np.int64(0), np.int64(0), np.int64(0)
    started = np.uint8(0)
    while at < len(data):
        out[LINES] += 1
        start = at
        if data[at] == NEWLINE or (data[at] == RETURN and data[at + 1] == NEWLINE):
            at = skip_line(data, at, out)
            if out[OPEN]:
                close_sentence(before, before_end, started, (ends, comments, newdoc), out)
                before, before_end = at, at
                started = np.uint8(0)
            elif started and before_end == start:
                before_end = at
            else:
                report(EMPTY_SENTENCE, out[LINES], start, 0, 0, faults, out)
                out[SPOILED] = 0
            continue
        document = starts_with(data, at, DOCSTART)
        if not out[OPEN] and (document or (data[at] == HASH and count_separators(data, at, separator) != width - 1)):
            before = before if before_end == start else start
            at = skip_line(data, at, out)
            before_end = at
            started = np.uint8(started or document)
            continue
        out[OPEN] = 1
        fault, column = np.int64(0), np.int64(0)
        while True:
            begin = at
            at = find_byte(data, at, separator)
            end = at - (data[at] == NEWLINE and at > begin and data[at - 1] == RETURN)
            if column == 0 and only_spaces(data, begin, end):
                fault = np.int64(EMPTY_FORM)
            if column < width:
                codes[column * rows + out[WORDS]] = intern(data, begin, end, column, tables)
            column += 1
            if data[at] == NEWLINE:
                break
            at += 1
        if has_lone_return(data, start):
            fault = np.int64(LONE_RETURN)
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
    """Fill the two columns of `word_TAG word_TAG` lines; the last `mark` of a token separates word and tag."""
    tables = (table, capacity, masks, sizes, starts, lengths, hashes, rows)
    at = np.int64(0)
    while at < len(data):
        out[LINES] += 1
        start = at
        line_end = find_byte(data, at, NEWLINE)
        stop = line_end - (line_end > at and data[line_end - 1] == RETURN)
        if stop == at:
            report(EMPTY_SENTENCE, out[LINES], start, 0, 0, faults, out)
        if has_lone_return(data, at):
            report(LONE_RETURN, out[LINES], start, 0, 0, faults, out)
        token = np.int64(0)
        while at < stop:
            token += 1
            end = at
            while end < stop and data[end] != SPACE:
                end += 1
            split = end - 1
            while split > at and data[split] != mark:
                split -= 1
            if split <= at or split == end - 1 or only_spaces(data, at, split):
                report(NO_TAG, out[LINES], start, token, at, faults, out)
            else:
                codes[out[WORDS]] = intern(data, at, split, 0, tables)
                codes[rows + out[WORDS]] = intern(data, split + 1, end, 1, tables)
                out[WORDS] += 1
            if end == stop - 1 and end > at:
                report(NO_TAG, out[LINES], start, token + 1, end, faults, out)
            at = end + 1
        close_sentence(start, start, np.uint8(0), (ends, comments, newdoc), out)
        at = skip_line(data, start, out)
    out[TAIL] = len(data)
    return 0
