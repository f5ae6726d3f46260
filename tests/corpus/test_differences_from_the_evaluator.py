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


@pytest.mark.parametrize("two", SLOPPY_TWOS.values(), ids=SLOPPY_TWOS)
def test_numbers_that_only_python_reads_are_no_ids_though_the_evaluator_takes_them(two: str) -> None:
    text = sentence(row(1), row(two, "b", 1))
    assert fault_of(text) == (2, f"word id {two!r}; expected a plain number from 1 on")
    assert len(official(text).words) == 2


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


@pytest.mark.parametrize(
    ("token", "lines"),
    [
        pytest.param("2-1", (row(1), extra("2-1"), row(2, "b", 1)), id="backwards"),
        pytest.param("5-6", (row(1), extra("5-6"), row(2, "b", 1), row(3, "c", 1)), id="elsewhere"),
        pytest.param("1-2", (row(1), extra("1-2"), row(2, "b", 1), row(3, "c", 1)), id="too late"),
    ],
)
def test_a_multiword_token_out_of_place_is_refused_though_the_evaluator_takes_it(
    token: str, lines: tuple[str, ...]
) -> None:
    text = sentence(*lines)
    assert fault_of(text) == (2, f"multiword token {token!r} out of order or overlapping; expected one from 2 on")
    assert official(text).words


def test_wrong_ids_inside_a_multiword_token_are_refused_though_the_evaluator_takes_them() -> None:
    text = sentence(extra("1-2"), row(1), row(7, "b", 1))
    assert fault_of(text) == (3, "word id '7' out of order; expected 2")
    assert len(official(text).words) == 2


@pytest.mark.parametrize("form", ["", " ", "\u3000"])
def test_an_empty_form_inside_a_multiword_token_is_refused_though_the_evaluator_takes_it(form: str) -> None:
    text = sentence(extra("1-2"), row(1), row(2, form, 1))
    assert fault_of(text) == (3, "empty FORM of '2'; expected a word")
    assert len(official(text).words) == 2


def test_no_head_inside_a_multiword_token_is_a_fault_with_a_line_where_the_evaluator_breaks_down() -> None:
    text = sentence(extra("1-2"), row(1), row(2, "b", "_"))
    assert fault_of(text) == (3, "HEAD '_' of word '2'; expected 0 or the number of a word")
    with pytest.raises(ValueError, match="invalid literal for int"):
        official(text)


@pytest.mark.parametrize("head", ["0", "1", "x", ""])
@pytest.mark.parametrize("number", ["1-2", "0.1"])
def test_a_head_of_what_is_no_word_is_refused_though_the_evaluator_does_not_look(number: str, head: str) -> None:
    text = sentence(extra(number, head=head), row(1), row(2, "b", 1))
    assert fault_of(text) == (1, f"HEAD {head!r} of {number!r}, which is no word; expected '_'")
    assert len(official(text).words) == 2


@pytest.mark.parametrize("number", ["1.x", "1.0", "1.01", "1.", "2.1", "0.1", "1.1.1", "1.9999999999"])
def test_an_empty_node_with_a_strange_id_is_refused_though_the_evaluator_does_not_look(number: str) -> None:
    text = sentence(row(1), extra(number), row(2, "b", 1))
    assert fault_of(text) == (2, f"empty node id {number!r}; expected 1.1")
    assert len(official(text).words) == 2


@pytest.mark.parametrize("second", ["1.1", "1.2"])
def test_empty_nodes_out_of_order_or_twice_are_refused_though_the_evaluator_does_not_look(second: str) -> None:
    text = sentence(row(1), extra("1.2"), extra(second))
    assert fault_of(text) == (3, f"empty node id {second!r}; expected 1.3")
    assert len(official(text).words) == 1


def test_an_id_that_starts_with_a_dot_is_refused_though_the_evaluator_takes_it_for_an_empty_node() -> None:
    text = sentence(row(1), extra(".1"))
    assert fault_of(text) == (2, "word id '.1'; expected a plain number from 1 on")
    assert len(official(text).words) == 1


def test_an_empty_form_of_an_empty_node_is_refused_though_the_evaluator_does_not_look() -> None:
    text = sentence(row(1), extra("1.1", form=""))
    assert fault_of(text) == (2, "empty FORM of '1.1'; expected a word")
    assert len(official(text).words) == 1


def test_nine_columns_of_an_empty_node_are_refused_as_by_the_evaluator() -> None:
    text = sentence(row(1), extra("1.1").removesuffix("\t_"))
    assert fault_of(text)[0] == 2
    with pytest.raises(UDError, match="10 tab-separated columns at line 2"):
        official(text)


def test_line_ends_of_two_kinds_are_refused_though_the_evaluator_takes_them() -> None:
    text = ONE + ONE.replace("\n", "\r\n") + ONE
    assert fault_of(text) == (3, "line ends in LF and CR LF are mixed; expected one of them throughout")
    assert len(official(text).words) == 3


def test_a_comment_with_the_other_line_end_is_refused_though_the_evaluator_takes_it() -> None:
    text = "# a\r\n" + ONE
    assert fault_of(text) == (2, "line ends in LF and CR LF are mixed; expected one of them throughout")
    assert len(official(text).words) == 1


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
