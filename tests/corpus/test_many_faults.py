"""All that is wrong is said at once: the first faults of each kind, of every file, each mistake once."""

from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.errors import CorpusError
from tests.corpus.examples import ONE, extra, fault_of, faults_of, row, sentence

LATE = "no empty line at the end of the file; expected one after the last sentence"


def error_of(*paths: Path) -> CorpusError:
    with pytest.raises(CorpusError) as caught:
        read(paths)
    return caught.value


def test_faults_of_several_kinds_are_all_listed_in_the_order_of_their_lines() -> None:
    text = (
        sentence(row(1, head="x"), row(2, "b", 1), row(4, "c", "y"))
        + sentence(row(1, head=2), row(2, head=1))
        + "\n"
        + sentence(extra("1-x"), "# c", row(1, ""))
        + sentence(row(1), row(2))
        + "1\n"
    )
    assert [fault.line for fault in faults_of(text)] == [1, 3, 5, 8, 9, 10, 11, 14, 16, 16]
    assert str(faults_of(text)[0]) == "text:1: HEAD 'x' of word '1'; expected 0 or the number of a word"


def test_a_file_that_ends_too_early_is_reported_with_its_other_faults() -> None:
    text = sentence(row(1, head="x")) + sentence(row(1), row(2)).removesuffix("\n")
    assert [(fault.line, fault.message.split(";")[0]) for fault in faults_of(text)] == [
        (1, "HEAD 'x' of word '1'"),
        (4, "word 2 is a second root of 2"),
        (4, LATE.split(";")[0]),
    ]


def test_a_gap_in_the_ids_or_a_repeated_id_is_one_fault() -> None:
    gap, repeated = ([row(i, head=min(i - 1, 1)) for i in ids] for ids in ((1, 2, 3, 5, 6, 7, 8), (1, 2, 2, 3, 4)))
    assert fault_of(sentence(*gap)) == (4, "word id '5' out of order; expected 4")
    assert fault_of(sentence(*repeated)) == (3, "word id '2' out of order; expected 3")


def test_heads_of_a_sentence_with_faulty_lines_are_not_held_against_it() -> None:
    assert fault_of(sentence(row(1), "2\tb", row(3, "c", 3))) == (2, r"2 tab-separated columns; expected 10 in '2\tb'")


def test_a_line_of_blanks_for_an_empty_line_does_not_make_the_next_sentence_wrong() -> None:
    blanks = " \n".join(["# a\n" + row(1) + "\n"] * 3) + "\n"
    assert [(fault.line, fault.message.split(";")[0]) for fault in faults_of(blanks)] == [
        (3, "a line of white space"),
        (6, "a line of white space"),
    ]


@pytest.mark.parametrize("blanks", [" ", "\t", "\t" * 9, "  \t "])
def test_blanks_and_tabs_alone_are_a_line_of_blanks(blanks: str) -> None:
    assert fault_of(row(1) + "\n" + blanks + "\n" + ONE)[1].startswith("a line of white space")


def test_three_faults_of_a_kind_are_all_listed() -> None:
    assert len(faults_of(sentence(row(1, head="x")) * 3)) == 3


@pytest.mark.parametrize(("faults", "rest"), [(4, "1 more error"), (1003, "1,000 more errors")])
def test_past_three_faults_of_a_kind_the_others_are_counted(faults: int, rest: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read(text=sentence(row(1, head="x")) * faults + sentence(row(1, head=7)))
    error = caught.value
    assert [fault.line for fault in error.faults] == [1, 3, 5, 2 * faults + 1]
    assert error.more == {error.faults[0]: faults - 3}
    lines = str(error).split("\n")
    assert lines[3] == f"text:{2 * faults + 1}: word 1 has head 7; the sentence has 1 word"
    assert lines[4:] == [f"text: {rest} like that in line 1"]


ACCEPTED = {
    "multiple-roots": (sentence(row(1), row(2)) * 9, "sentences with several roots"),
    "missing-heads": (sentence(row(1, head="_")) * 9, "sentences with _ instead of heads"),
    "final-newline": (ONE * 9 + row(1), "files without an empty line at the end"),
}


@pytest.mark.parametrize("mode", ACCEPTED)
def test_what_accepts_faults_is_named_once_as_it_is_called_there(mode: str, tmp_path: Path) -> None:
    text, what = ACCEPTED[mode]
    first, second = tmp_path / "a.conllu", tmp_path / "b.conllu"
    first.write_text(text)
    second.write_text(text)
    error = error_of(first, second)
    assert str(error).split("\n")[-1] == f"lenient=[{mode!r}] accepts {what}"
    assert error.on_command_line().split("\n")[-1] == f"--{mode} accepts {what}"
    assert str(error).count(" accepts ") == error.on_command_line().count(" accepts ") == 1
    assert len(str(error).split("\n")) <= 9
    assert read([first, second], lenient=[mode]).sentences >= 18


def test_what_cannot_be_accepted_has_no_remedy() -> None:
    with pytest.raises(CorpusError) as caught:
        read(text=sentence(row(1, head="x")))
    assert caught.value.remedies == ()


def test_faults_of_several_files_are_reported_together(tmp_path: Path) -> None:
    first, good, second = (tmp_path / name for name in ("a.conllu", "b.conllu", "c.conllu"))
    first.write_text(ONE + sentence(row(1, head=7)))
    good.write_text(ONE)
    second.write_text("\n" + ONE)
    error = error_of(first, good, second)
    assert [(fault.path, fault.line) for fault in error.faults] == [(str(first), 3), (str(second), 1)]


def test_a_missing_file_is_reported_with_the_faults_of_the_others(tmp_path: Path) -> None:
    bad, missing = tmp_path / "a.conllu", tmp_path / "b.conllu"
    bad.write_text(ONE + "\n")
    error = error_of(missing, bad)
    assert str(error).split("\n")[0] == f"{missing}: cannot be read (no such file or directory)"
    assert [fault.path for fault in error.faults] == [str(missing), str(bad)]


def test_each_file_counts_the_faults_that_are_not_listed(tmp_path: Path) -> None:
    first, second = tmp_path / "a.conllu", tmp_path / "b.conllu"
    first.write_text(sentence(row(1, head="x")) * 21)
    second.write_text(sentence(row(1, head="x")) * 23)
    lines = str(error_of(first, second)).split("\n")
    assert lines[3] == f"{first}: 18 more errors like that in line 1"
    assert lines[7] == f"{second}: 20 more errors like that in line 1"
    assert len(lines) == 8


def test_column_files_list_their_faults() -> None:
    text = "a X\nb\nc X Y\n\n\n X\n"
    assert [(fault.line, fault.message) for fault in faults_of(text, format="columns")] == [
        (2, "1 column; expected 2 in 'b'"),
        (3, "3 columns; expected 2 in 'c X Y'"),
        (5, "a sentence without words; expected one empty line between sentences"),
        (6, "an empty word in ' X'; expected a word in column 1"),
    ]


def test_a_carriage_return_inside_a_line_of_columns_or_tagged_text_is_named() -> None:
    assert fault_of("a X\nb\rc Y\n\n", format="columns") == (2, "a carriage return inside the line 'b'; expected none")
    assert fault_of("a_X\nb\rc_Y\n", format="tagged") == (2, "a carriage return inside the line 'b'; expected none")


def test_tagged_text_lists_its_faults() -> None:
    text = "a_X b\n\n_X a_\n"
    assert [(fault.line, fault.message) for fault in faults_of(text, format="tagged")] == [
        (1, "token 2, 'b'; expected the form word_TAG"),
        (2, "an empty line; expected a sentence on every line"),
        (3, "token 1, '_X'; expected the form word_TAG"),
        (3, "token 2, 'a_'; expected the form word_TAG"),
    ]
    text = "a_X  b_Y\na_X \n's_X don't\n"
    assert [(fault.line, fault.message) for fault in faults_of(text, format="tagged")] == [
        (1, "token 2, ''; expected the form word_TAG"),
        (2, "token 2, ''; expected the form word_TAG"),
        (3, 'token 2, "don\'t"; expected the form word_TAG'),
    ]


def test_a_long_line_is_shown_in_part() -> None:
    assert fault_of("é" * 100 + "\n\n")[1] == f"1 tab-separated column; expected 10 in '{'é' * 40}...'"
    assert fault_of("\U0001f600" * 41 + "\n\n")[1].endswith(f"'{chr(0x1F600) * 40}...'")
    assert fault_of("\U0001f600" * 40 + "\n\n")[1].endswith(f"'{chr(0x1F600) * 40}'")
