"""Input that the official evaluator refuses: Deadheat refuses it too, and says where and why."""

from dataclasses import dataclass

import pytest
from udtools.udeval import UDError

from deadheat.corpus import read, to_bytes
from tests.corpus.examples import ONE, extra, fault_of, official, row, sentence


@dataclass(frozen=True)
class Bad:
    text: str
    line: int
    says: str
    official: str


NO_WORDS = "a sentence with no words (two empty lines in a row, or comments alone); expected at least one word"
NO_END = "no empty line at the end of the file; expected one after the last sentence"
BOM = "starts with a byte order mark; expected plain UTF-8"
ONE_ROOT = "expected one root per sentence"
WHITE = "a line of white space; expected an empty line after a sentence"
COMMENTS = "expected comments before its first word"
PLAIN = "expected a plain number from 1 on"
HEAD = "expected 0 or the number of a word"
TWO_NUMBERS = "expected two numbers as 3-4"
ON_CYCLE = "is on a cycle; expected a tree"

# What the evaluator says.
ZERO_TOKENS = r"sentence with 0 tokens .* at line "
TEN = r"does not contain 10 tab-separated columns at line "
UNENDED = "The CoNLL-U file does not end with empty line"
CYCLE = "There is a cycle in the sentence that ends at line "


def wrong_id(number: int, form: str, expected: int, line: int) -> str:
    return f"Incorrect word ID '{number}' for word '{form}', expected '{expected}' at line {line}"


def unreadable(kind: str, value: str, line: int) -> str:
    return f"Cannot parse {kind} '{value}' at line {line}"


def outside(head: int, end: int) -> str:
    return f"HEAD '{head}' points outside of the sentence that ends at line {end}"


CASES = {
    "no final empty line": Bad(ONE + row(1) + "\n", 3, NO_END, UNENDED),
    "no final newline": Bad(ONE + row(1), 3, NO_END, UNENDED),
    "two empty lines": Bad(ONE + "\n" + ONE, 3, NO_WORDS, ZERO_TOKENS + "3"),
    "an empty line at the start": Bad("\n" + ONE, 1, NO_WORDS, ZERO_TOKENS + "1"),
    "a file of one empty line": Bad("\n", 1, NO_WORDS, ZERO_TOKENS + "1"),
    "comments alone": Bad("# text = a\n\n" + ONE, 2, NO_WORDS, ZERO_TOKENS + "2"),
    "only empty nodes": Bad(
        sentence(extra("0.1"), extra("0.2")) + ONE,
        3,
        "a sentence with only empty nodes; expected at least one word",
        ZERO_TOKENS + "3",
    ),
    "a comment inside a sentence": Bad(
        sentence(row(1), "# text = a b", row(2, head=1)),
        2,
        f"a comment inside a sentence, '# text = a b'; {COMMENTS}",
        TEN + "2",
    ),
    "a comment inside a multiword token": Bad(
        sentence(extra("1-2"), "# b", row(1), row(2, head=1)),
        2,
        f"a comment inside a sentence, '# b'; {COMMENTS}",
        TEN + "2",
    ),
    "nine columns": Bad(
        sentence("1\ta\t_\t_\t_\t_\t0\troot\t_"),
        1,
        r"9 tab-separated columns; expected 10 in '1\ta\t_\t_\t_\t_\t0\troot\t_'",
        TEN + "1",
    ),
    "eleven columns": Bad(
        sentence(row(1) + "\tx"),
        1,
        r"11 tab-separated columns; expected 10 in '1\ta\t_\tX\t_\t_\t0\troot\t_\t_\tx'",
        TEN + "1",
    ),
    "spaces for tabs": Bad(
        sentence(row(1).replace("\t", " ")),
        1,
        "1 tab-separated column; expected 10 in '1 a _ X _ _ 0 root _ _'",
        TEN + "1",
    ),
    "a line of one space between sentences": Bad(row(1) + "\n \n" + ONE, 2, WHITE, TEN + "2"),
    "a line of many spaces between sentences": Bad(row(1) + "\n    \n" + ONE, 2, WHITE, TEN + "2"),
    "a byte order mark before a comment": Bad("\ufeff# text = a\n" + ONE, 1, BOM, TEN + "1"),
    "a byte order mark before a word": Bad("\ufeff" + ONE, 1, BOM, r"Cannot parse word ID '.1' at line 1"),
    "an id that is not a number": Bad(sentence(row("x")), 1, f"word id 'x'; {PLAIN}", unreadable("word ID", "x", 1)),
    "an empty id": Bad(sentence(row("")), 1, f"word id ''; {PLAIN}", unreadable("word ID", "", 1)),
    "id zero": Bad(sentence(row(0)), 1, f"word id '0'; {PLAIN}", wrong_id(0, "a", 1, 1)),
    "a gap in the ids": Bad(
        sentence(row(1), row(3, "b", 1)), 2, "word id '3' out of order; expected 2", wrong_id(3, "b", 2, 2)
    ),
    "an id twice": Bad(
        sentence(row(1), row(1, "b", 1)), 2, "word id '1' out of order; expected 2", wrong_id(1, "b", 2, 2)
    ),
    "a sentence that starts at 2": Bad(
        sentence(row(2)), 1, "word id '2' out of order; expected 1", wrong_id(2, "a", 1, 1)
    ),
    "no head": Bad(sentence(row(1), row(2, "b", "_")), 2, f"HEAD '_' of word '2'; {HEAD}", unreadable("HEAD", "_", 2)),
    "an empty head": Bad(sentence(row(1, head="")), 1, f"HEAD '' of word '1'; {HEAD}", unreadable("HEAD", "", 1)),
    "a head with a decimal point": Bad(
        sentence(row(1, head="0.0")), 1, f"HEAD '0.0' of word '1'; {HEAD}", unreadable("HEAD", "0.0", 1)
    ),
    "a negative head": Bad(
        sentence(row(1), row(2, "b", -1)), 2, f"HEAD '-1' of word '2'; {HEAD}", "HEAD cannot be negative at line 2"
    ),
    "a head outside the sentence": Bad(
        sentence("# text = a b", row(1), row(2, "b", 9)),
        3,
        "word 2 has head 9; the sentence has 2 words",
        outside(9, 4),
    ),
    "a head outside the sentence after an empty node": Bad(
        sentence(row(1), extra("1.1"), row(2, "b", 3)), 3, "word 2 has head 3; the sentence has 2 words", outside(3, 4)
    ),
    "a cycle": Bad(sentence(row(1), row(2, "b", 3), row(3, "c", 2)), 2, f"word 2 (head 3) {ON_CYCLE}", CYCLE + "4"),
    "a word that leads into a cycle": Bad(
        sentence(row(1), row(2, "b", 3), row(3, "c", 4), row(4, "d", 3)), 3, f"word 3 (head 4) {ON_CYCLE}", CYCLE + "5"
    ),
    "a word that is its own head": Bad(sentence(row(1), row(2, "b", 2)), 2, f"word 2 (head 2) {ON_CYCLE}", CYCLE + "3"),
    "no root": Bad(sentence(row(1, head=2), row(2, "b", 1)), 1, f"word 1 (head 2) {ON_CYCLE}", CYCLE + "3"),
    "two roots": Bad(
        sentence(row(1), row(2, "b", 1), row(3, "c", 0)),
        3,
        f"word 3 is a second root of 2; {ONE_ROOT}",
        "There are multiple roots in the sentence that ends at 4",
    ),
    "a multiword token with a letter": Bad(
        sentence(extra("1-x"), row(1)),
        1,
        f"multiword token id '1-x'; {TWO_NUMBERS}",
        unreadable("multi-word token ID", "1-x", 1),
    ),
    "a multiword token of three numbers": Bad(
        sentence(extra("1-2-3"), row(1)),
        1,
        f"multiword token id '1-2-3'; {TWO_NUMBERS}",
        unreadable("multi-word token ID", "1-2-3", 1),
    ),
    "a multiword token longer than its sentence": Bad(
        sentence(extra("1-3"), row(1), row(2, "b", 1)),
        4,
        "a multiword token reaches to word 3; the sentence has 2 words",
        "The CoNLL-U file ends in an unfinished MWT at line 3",
    ),
    "overlapping multiword tokens": Bad(
        sentence(extra("1-2"), row(1), extra("2-3"), row(2, "b", 1), row(3, "c", 1)),
        3,
        "multiword token '2-3' out of order or overlapping; expected one from 2 on",
        wrong_id(2, "b", 3, 4),
    ),
}
ZS = {
    "nothing": "",
    "space": " ",
    "no-break space": "\u00a0",
    "ogham space": "\u1680",
    "en quad": "\u2000",
    "hair space": "\u200a",
    "narrow no-break space": "\u202f",
    "mathematical space": "\u205f",
    "ideographic space": "\u3000",
    "several": " \u00a0\u3000\u2003",
}
NOT_ZS = {"zero width space": "\u200b", "hair space and more": "\u200a.", "\u1681": "\u1681", "\u3001": "\u3001"}


@pytest.mark.parametrize("bad", CASES.values(), ids=CASES)
def test_what_the_official_evaluator_refuses_is_refused_with_its_line(bad: Bad) -> None:
    assert fault_of(bad.text) == (bad.line, bad.says)
    with pytest.raises(UDError, match=bad.official):
        official(bad.text)


@pytest.mark.parametrize("form", ZS.values(), ids=ZS)
def test_a_form_of_nothing_but_spaces_is_refused_as_the_official_evaluator_does(form: str) -> None:
    text = sentence(row(1), row(2, form, 1))
    assert fault_of(text) == (2, "empty FORM of '2'; expected a word")
    with pytest.raises(UDError, match="There is an empty FORM in the CoNLL-U file at line 2"):
        official(text)


@pytest.mark.parametrize("form", NOT_ZS.values(), ids=NOT_ZS)
def test_a_form_with_anything_but_spaces_is_a_word_as_the_official_evaluator_has_it(form: str) -> None:
    text = sentence(row(1, form))
    assert read(text=text).column("form").strings() == [form]
    assert len(official(text).words) == 1


def test_an_empty_file_is_a_corpus_without_words_as_the_official_evaluator_has_it() -> None:
    corpus = read(text="")
    assert (corpus.words, corpus.sentences, to_bytes(corpus)) == (0, 0, b"")
    assert official("").words == []


def test_two_roots_are_accepted_on_request_as_by_the_official_evaluator() -> None:
    text = sentence(row(1), row(2, "b", 0))
    assert read(text=text, lenient=["multiple-roots"]).trees.tolist() == [0, 0]
    assert len(official(text, multiple_roots_okay=True).words) == 2


def test_carriage_returns_before_newlines_are_accepted_as_by_the_official_evaluator() -> None:
    text = sentence("# text = ab", extra("1-2"), row(1), row(2, "b", 1)).replace("\n", "\r\n")
    corpus = read(text=text)
    assert corpus.column("misc").strings() == ["_", "_"]
    assert corpus.comments.of(0) == ["# text = ab"]
    assert to_bytes(corpus) == text.encode()
    assert [word.columns[9] for word in official(text).words] == ["_", "_"]


def test_an_empty_node_inside_a_multiword_token_is_accepted_as_by_the_official_evaluator() -> None:
    text = sentence(extra("1-2"), row(1), extra("1.1"), row(2, "b", 1))
    corpus = read(text=text)
    assert (corpus.words, len(corpus.extras)) == (2, 2)
    assert to_bytes(corpus) == text.encode()
    assert len(official(text).words) == 2


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((row(1, deprel="nsubj"),), id="head 0 without the label root"),
        pytest.param((row(1), row(2, "b", 1, "root")), id="the label root on another word"),
        pytest.param(("# a", "# a", "#", "# sent_id = 1", "# sent_id = 2", row(1)), id="a comment key twice"),
        pytest.param((row(1, misc="A=1|A=2"),), id="a key of MISC twice"),
        pytest.param((row(1).replace("_", "FEATS", 3),), id="features without an equals sign"),
        pytest.param(("\t".join(["1", "a", "", "", "", "", "0", "", "_", ""]),), id="empty columns"),
    ],
)
def test_what_nobody_refuses_is_kept_as_it_stands(lines: tuple[str, ...]) -> None:
    text = sentence(*lines)
    assert to_bytes(read(text=text)) == text.encode()
    assert official(text).words
