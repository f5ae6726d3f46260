"""Where reading differs from the official evaluator on purpose; each test runs both."""

from pathlib import Path

import pytest
from udtools.udeval import UDError, load_conllu

from deadheat.corpus import read, to_bytes
from deadheat.errors import CorpusError
from tests.corpus.examples import ONE, extra, fault_of, faults_of, official, row, sentence

ARABIC_TWO = "\u0662"
SLOPPY_TWOS = {"leading zero": "02", "plus": "+2", "spaces": " 2 ", "Arabic digit": ARABIC_TWO}


@pytest.mark.parametrize("two", SLOPPY_TWOS.values(), ids=SLOPPY_TWOS)
def test_numbers_that_only_python_reads_are_no_heads_though_the_evaluator_takes_them(two: str) -> None:
    text = sentence(row(1, head=two), row(2, "b", 0))
    assert fault_of(text) == (1, f"HEAD {two!r} of word '1'; expected 0 or the number of a word")
    assert official(text).words[0].parent.columns[1] == "b"


PLAIN = "expected a plain number from 1 on"
MIXED = "line ends in LF and CR LF are mixed; expected one of them throughout"
LATE_TOKENS = {"2-1": 2, "5-6": 3, "1-2": 3}  # backwards, elsewhere, too late; with the words of the sentence
STRANGE_NODES = ("1.x", "1.0", "1.01", "1.", "2.1", "0.1", "1.1.1", "1.9999999999")
# What is refused though the evaluator takes it or does not look: text, line, message, and the evaluator's words.
TAKEN: list[tuple[str, int, str, int]] = [
    *((sentence(row(1), row(two, "b", 1)), 2, f"word id {two!r}; {PLAIN}", 2) for two in SLOPPY_TWOS.values()),
    *(
        (
            sentence(row(1), extra(token), *(row(i, "b", 1) for i in range(2, words + 1))),
            2,
            f"multiword token {token!r} out of order or overlapping; expected one from 2 on",
            words,
        )
        for token, words in LATE_TOKENS.items()
    ),
    (sentence(extra("1-2"), row(1), row(7, "b", 1)), 3, "word id '7' out of order; expected 2", 2),
    *(
        (sentence(extra("1-2"), row(1), row(2, form, 1)), 3, "empty FORM of '2'; expected a word", 2)
        for form in ("", " ", "\u3000")
    ),
    *(
        (
            sentence(extra(number, head=head), row(1), row(2, "b", 1)),
            1,
            f"HEAD {head!r} of {number!r}, which is no word; expected '_'",
            2,
        )
        for number in ("1-2", "0.1")
        for head in ("0", "1", "x", "")
    ),
    *(
        (sentence(row(1), extra(number), row(2, "b", 1)), 2, f"empty node id {number!r}; expected 1.1", 2)
        for number in STRANGE_NODES
    ),
    *(
        (sentence(row(1), extra("1.2"), extra(second)), 3, f"empty node id {second!r}; expected 1.3", 1)
        for second in ("1.1", "1.2")
    ),
    (sentence(row(1), extra(".1")), 2, f"word id '.1'; {PLAIN}", 1),
    (sentence(row(1), extra("1.1", form="")), 2, "empty FORM of '1.1'; expected a word", 1),
    (ONE + ONE.replace("\n", "\r\n") + ONE, 3, MIXED, 3),
    ("# a\r\n" + ONE, 2, MIXED, 1),
]


@pytest.mark.parametrize(("text", "line", "message", "words"), TAKEN, ids=[case[2] for case in TAKEN])
def test_what_the_evaluator_takes_or_does_not_look_at_is_refused(
    text: str, line: int, message: str, words: int
) -> None:
    assert fault_of(text) == (line, message)
    assert len(official(text).words) == words


def test_digits_parted_by_underscores_are_no_number_though_the_evaluator_takes_them() -> None:
    ten = [row(i, head=min(i - 1, 1)) for i in range(1, 11)]
    text = sentence(*ten, row("1_1", "k", "1_0"))
    assert fault_of(text) == (11, "word id '1_1'; expected a plain number from 1 on")
    words = official(text).words
    assert words[10].parent is words[9]


@pytest.mark.parametrize("digits", [10, 19, 20, 400])
def test_a_head_of_very_many_digits_is_no_number_and_does_not_wrap_around(digits: int) -> None:
    text = sentence(row(1, head="1" + "0" * (digits - 1)))
    line, message = fault_of(text)
    assert line == 1
    assert message.startswith("HEAD '1000000")
    assert len(message) < 120
    with pytest.raises(UDError, match="points outside"):
        official(text)


def test_a_head_of_nine_digits_is_outside_the_sentence() -> None:
    assert fault_of(sentence(row(1, head=999_999_999))) == (1, "word 1 has head 999999999; the sentence has 1 word")


def test_no_head_inside_a_multiword_token_is_a_fault_with_a_line_where_the_evaluator_breaks_down() -> None:
    text = sentence(extra("1-2"), row(1), row(2, "b", "_"))
    assert fault_of(text) == (3, "HEAD '_' of word '2'; expected 0 or the number of a word")
    with pytest.raises(ValueError, match="invalid literal for int"):
        official(text)


def test_nine_columns_of_an_empty_node_are_refused_as_by_the_evaluator() -> None:
    text = sentence(row(1), extra("1.1").removesuffix("\t_"))
    assert fault_of(text)[0] == 2
    with pytest.raises(UDError, match="10 tab-separated columns at line 2"):
        official(text)


@pytest.mark.parametrize("column", range(10))
def test_a_lone_carriage_return_in_any_column_is_named_where_the_evaluator_sees_two_lines(column: int) -> None:
    fields = row(2, "b", 1).split("\t")
    fields[column] += "\rx"
    text = sentence(row(1), "\t".join(fields))
    line, message = fault_of(text)
    assert line == 2
    assert message.startswith("a carriage return inside the line '2")
    with pytest.raises(UDError, match="10 tab-separated columns"):
        official(text)


def test_a_lone_carriage_return_in_a_comment_is_kept_where_the_evaluator_sees_two_lines() -> None:
    text = "# text = a\rb\n" + ONE
    corpus = read(text=text)
    assert corpus.comments.of(0) == ["# text = a\rb"]
    assert to_bytes(corpus) == text.encode()
    with pytest.raises(UDError, match="10 tab-separated columns"):
        official(text)


def test_lines_that_end_in_a_carriage_return_alone_are_refused_though_the_evaluator_takes_them() -> None:
    text = ONE.replace("\n", "\r")
    messages = [fault.message for fault in faults_of(text)]
    assert messages[0].startswith("a carriage return inside the line")
    assert len(official(text).words) == 1


@pytest.mark.parametrize(
    ("deps", "error"), [("root", ValueError), ("x:root", ValueError), ("9:root", IndexError), ("0:root||", ValueError)]
)
def test_enhanced_dependencies_are_kept_unread_where_the_evaluator_breaks_down(
    deps: str, error: type[Exception]
) -> None:
    text = sentence(row(1, deps=deps))
    corpus = read(text=text)
    assert corpus.column("deps").strings() == [deps]
    assert to_bytes(corpus) == text.encode()
    with pytest.raises(error):
        official(text)


@pytest.mark.parametrize("words", [2_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_a_deep_chain_of_heads_is_a_tree_where_the_evaluator_runs_out_of_stack(words: int) -> None:
    text = sentence(*(row(i, head=(i + 1) % (words + 1)) for i in range(1, words + 1)))
    assert read(text=text).trees[-1] == 0
    with pytest.raises(RecursionError):
        official(text)


def test_text_that_is_not_utf8_is_a_fault_with_a_line_where_the_evaluator_breaks_down(tmp_path: Path) -> None:
    path = str(tmp_path / "latin.conllu")
    Path(path).write_bytes(ONE.encode() + sentence(row(1, "é")).encode("latin-1"))
    with pytest.raises(CorpusError) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert (fault.path, fault.line) == (path, 3)
    assert fault.message.startswith("byte 0xe9 is not UTF-8 text")
    with open(path, encoding="utf-8") as file, pytest.raises(UnicodeDecodeError):
        load_conllu(file, path, {})


def test_no_head_anywhere_is_accepted_on_request_which_the_evaluator_has_not() -> None:
    text = sentence(row(1, head="_"), extra("1.1"), row(2, "b", "_"))
    corpus = read(text=text, lenient=["missing-heads"])
    assert corpus.heads is None
    assert to_bytes(corpus) == text.encode()
    with pytest.raises(UDError, match="Cannot parse HEAD '_' at line 1"):
        official(text)


def test_heads_of_some_words_of_a_sentence_only_are_refused_even_then() -> None:
    text = ONE + sentence(row(1, head=2), row(2, head="_"))
    assert fault_of(text, lenient=["missing-heads"]) == (
        3,
        "1 word without a head; expected heads for all words of the sentence or for none",
    )
