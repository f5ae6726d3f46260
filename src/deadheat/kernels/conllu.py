"""One pass over the bytes of a CoNLL-U file: codes, heads, sentence ends, and every fault with its line."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.interning import NEWLINE, RETURN, SPACE, TAB, UNDERSCORE, find_end, intern
from deadheat.kernels.native import helper, kernel

STRING_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")

# What can be wrong with a line; `deadheat.corpus.parse_errors` has the words for each.
(
    COLUMNS,
    WORD_ID,
    WORD_ORDER,
    HEAD_SYNTAX,
    HEAD_RANGE,
    CYCLE,
    ROOTS,
    EMPTY_FORM,
    EMPTY_SENTENCE,
    COMMENT_INSIDE,
    RANGE_ID,
    RANGE_ORDER,
    RANGE_UNFINISHED,
    EMPTY_NODE_ID,
    LONE_RETURN,
    SOME_HEADS,
    EXTRA_HEAD,
) = range(1, 18)

# Slots of the `out` array: what was found, then where in a sentence the scan is.
WORDS, EXTRAS, SENTENCES, FAULTS, CRLF, LINES, TAIL, UNFINISHED = range(8)
FIRST_WORD, FIRST_EXTRA, FIRST_LINE, EXPECTED, RANGE_END, NODES, SPOILED, OPEN = range(8, 16)
OUT_SIZE = 16
# A fault is five numbers: its kind, its line, where that line starts in the file, and two details.
FAULT_SIZE = 5
# Bits of the `lenient` argument.
MULTIPLE_ROOTS, MISSING_HEADS = 1, 2

ZERO, NINE, HASH, MINUS, DOT = 48, 57, 35, 45, 46


@helper
def report(kind, line, start, detail, more, faults, out):
    """Note a fault; past the end of the array only their number is kept."""
    at = out[FAULTS] * FAULT_SIZE
    out[FAULTS] += 1
    out[SPOILED] = 1
    if at < len(faults):
        faults[at] = kind
        faults[at + 1] = line
        faults[at + 2] = start
        faults[at + 3] = detail
        faults[at + 4] = more
    return 0


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
def count_columns(data, at):
    columns = 1
    while data[at] != NEWLINE:
        columns += data[at] == TAB
        at += 1
    return columns


@helper
def only_blanks(data, at):
    """Whether a line is empty, but for spaces and tabs: somebody's end of a sentence."""
    while data[at] == SPACE or data[at] == TAB:
        at += 1
    return data[at] == NEWLINE or (data[at] == RETURN and data[at + 1] == NEWLINE)


@helper
def has_lone_return(data, at):
    """Whether a line has a carriage return that does not belong to its end."""
    while data[at] != NEWLINE:
        if data[at] == RETURN and data[at + 1] != NEWLINE:
            return True
        at += 1
    return False


@helper
def skip_line(data, at, out):
    """Where the next line starts; lines that end in CR LF are counted."""
    while data[at] != NEWLINE:
        at += 1
    out[CRLF] += at > 0 and data[at - 1] == RETURN
    return at + 1


@helper
def is_newdoc(data, at):
    """Whether the comment whose `#` stands before `at` reads `newdoc` or `newdoc id = ...`."""
    while data[at] == SPACE:
        at += 1
    for letter in (110, 101, 119, 100, 111, 99):
        if data[at] != letter:
            return False
        at += 1
    return data[at] <= SPACE or data[at] == 61


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
        extras = out[EXTRAS]
        previous = np.int64(0)
        if extras > out[FIRST_EXTRA]:
            for i in range(out[FIRST_EXTRA], extras):
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
    fault = np.int64(0)
    if head < 0 or data[at] != TAB:
        fault = np.int64(HEAD_SYNTAX)
    if span != 0:
        fault = np.int64(EXTRA_HEAD)
    while data[at] != TAB and data[at] != NEWLINE:
        at += 1
    return at, head, fault


@helper
def check_tree(first, words, heads, marks, position):
    """Return 0 if heads make a tree over words first..words-1, else the fault; `place` gets the word and a detail."""
    size = words - first
    roots = 0
    second = first
    missing = 0
    for i in range(first, words):
        head = heads[i]
        if head > size:
            position[0] = i
            position[1] = head
            return HEAD_RANGE
        if head == 0:
            roots += 1
            if roots == 2:
                second = i
        missing += head < 0
        marks[i] = -1
    if missing:
        position[0] = first
        position[1] = missing
        return SOME_HEADS if missing < size else 0
    for i in range(first, words):
        at = i
        while marks[at] < 0:
            marks[at] = i
            if heads[at] == 0:
                break
            at = first + heads[at] - 1
        if marks[at] == i and heads[at] != 0:
            position[0] = at
            position[1] = heads[at]
            return CYCLE
    if roots > 1:
        position[0] = second
        position[1] = roots
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
def read_fields(data, at, row, span, rows, lenient, codes, heads, table, capacity, masks, sizes, starts,
                lengths, hashes):  # fmt: skip
    """Columns 2 to 10 of a line from `at` on: where they end, and a fault or 0."""
    column = 0
    fault = np.int64(0)
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
            code = intern(data, begin, at, column, table, capacity, masks, sizes, starts, lengths, hashes, rows)
            codes[column * rows + row] = code
            column += 1
        if field < 9:
            if data[at] != TAB:
                return at, np.int64(COLUMNS)
            at += 1
    if data[at] == RETURN:
        at += 1
    if data[at] == TAB:
        return at, np.int64(COLUMNS)
    if data[at] != NEWLINE:
        return at, np.int64(LONE_RETURN)
    return at, fault


@kernel("u1 int i4 i4 int i4 int i8 i8 i8 i4 u4 i8 i4 i8 i8 i8 u1 i4 i8 i8")
def scan(data, lenient, codes, heads, rows, table, capacity, masks, sizes, starts, lengths, hashes,
         extra_at, extra_span, extra_ends, ends, comments, newdoc, marks, faults, out):  # fmt: skip
    """Fill the columns from a file whose last byte is a newline.

    Words take rows 0, 1, ... of `codes` and `heads`; multiword tokens and empty nodes ("extras") take the last
    row, the one before it, and so on, so that the words lie together. `extra_at` is the word an extra stands
    before.
    """
    at = np.int64(0)
    comment_start = np.int64(-1)
    comment_end = np.int64(0)
    doc = np.uint8(0)
    out[EXPECTED] = 1
    while at < len(data):
        out[LINES] += 1
        start = at
        blanks = data[at] <= SPACE and only_blanks(data, at)
        if blanks and data[at] != NEWLINE and data[at] != RETURN:
            report(COLUMNS, out[LINES], start, count_columns(data, start), 0, faults, out)
        if blanks:
            if not out[SPOILED]:
                end_sentence(at, lenient, heads, marks, extra_at, faults, out)
            at = skip_line(data, at, out)
            sentence = out[SENTENCES]
            ends[sentence] = out[WORDS]
            extra_ends[sentence] = out[EXTRAS]
            comments[2 * sentence] = comment_start if comment_start >= 0 else start
            comments[2 * sentence + 1] = comment_end if comment_start >= 0 else start
            newdoc[sentence] = doc
            out[SENTENCES] = sentence + 1
            out[FIRST_WORD] = out[WORDS]
            out[FIRST_EXTRA] = out[EXTRAS]
            out[EXPECTED] = 1
            out[RANGE_END] = 0
            out[SPOILED] = 0
            out[OPEN] = 0
            comment_start = -1
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
        row = out[WORDS] if span == 0 else rows - 1 - out[EXTRAS]
        if fault == 0:
            at, fault = read_fields(data, at + 1, row, span, rows, lenient, codes, heads, table, capacity, masks,
                                    sizes, starts, lengths, hashes)  # fmt: skip
            if span == 0:
                out[WORDS] += 1
            else:
                extra_at[out[EXTRAS]] = out[WORDS]
                extra_span[out[EXTRAS]] = span
                out[EXTRAS] += 1
        if fault != 0:
            columns = count_columns(data, start)
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
