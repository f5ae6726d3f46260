"""Some sentences of a corpus: what they were, byte for byte, in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.corpus import Corpus, read, to_bytes
from deadheat.corpus.transforms import take
from deadheat.corpus.writing import stream
from deadheat.errors import InputError
from tests.corpus import strategies
from tests.corpus.examples import extra, row, sentence


def blocks(text: str, newline: str) -> list[str]:
    """The sentences of a file of rows, each with the empty line behind it and all that stands before it."""
    result, current = [], ""
    for line in text.split(newline)[:-1]:
        current += line + newline
        if line == "":
            result.append(current)
            current = ""
    return result


def taken(corpus: Corpus, chosen: list[int]) -> bytes:
    """The bytes of a selection, which are the same a block at a time."""
    whole = to_bytes(take(corpus, chosen))
    assert b"".join(stream(corpus, np.array(chosen, np.int64))) == whole
    return whole


@settings(max_examples=25)
@given(strategies.conllu(), st.data())
def test_conllu_comes_back_sentence_by_sentence(text: str, data: st.DataObject) -> None:
    newline = "\r\n" if "\r\n" in text else "\n"
    parts = blocks(text, newline)
    corpus = read(text=text, format="conllu")
    assert corpus.sentences == len(parts)
    chosen = data.draw(st.lists(st.integers(0, len(parts) - 1), max_size=6)) if parts else []
    assert taken(corpus, chosen).decode() == "".join(parts[item] for item in chosen)


@settings(max_examples=25)
@given(strategies.tagged_files(), st.data())
def test_tagged_text_comes_back_line_by_line(
    made: tuple[str, str, list[list[tuple[str, str]]]], data: st.DataObject
) -> None:
    text, mark, sentences = made
    corpus = read(text=text, format="tagged", separator=mark)
    chosen = data.draw(st.lists(st.integers(0, len(sentences) - 1), max_size=6))
    lines = [" ".join(word + mark + tag for word, tag in tokens) for tokens in sentences]
    end = "\r\n" if corpus.layout.crlf else "\n"
    assert taken(corpus, chosen).decode() == "".join(lines[item] + end for item in chosen)


@settings(max_examples=25)
@given(strategies.column_files(), st.data())
def test_column_files_come_back_with_their_document_marks(
    made: tuple[str, str, list[list[tuple[str, ...]]]], data: st.DataObject
) -> None:
    text, separator, sentences = made
    corpus = read(text=text, format="columns", separator=separator)
    chosen = data.draw(st.lists(st.integers(0, len(sentences) - 1), max_size=6))
    end = "\r\n" if corpus.layout.crlf else "\n"
    again = read(
        text=taken(corpus, chosen).decode(), format="columns", separator=separator, columns=list(corpus.columns)
    )
    forms = [[fields[0] for fields in sentences[item]] for item in chosen]
    result = again.column("form").strings()
    assert [result[a:b] for a, b in zip(again.offsets[:-1], again.offsets[1:], strict=True)] == forms
    assert again.newdoc.tolist() == [bool(corpus.newdoc[item]) for item in chosen]
    assert taken(corpus, list(range(corpus.sentences))) == text_with_end(text, end).encode()


def text_with_end(text: str, newline: str) -> str:
    """A file of rows with the line end and the empty line that it should end with."""
    stem = text.rstrip("\r\n")
    return stem + 2 * newline


def test_extras_go_with_their_sentence_and_words_keep_their_heads() -> None:
    first = sentence("# newdoc", extra("0.1"), extra("1-2"), row(1, "a", 3), extra("1.1"), row(2, "b", 1), row(3, "c"))
    second = sentence("# sent_id = x", row(1, "d"))
    third = sentence(extra("1-2", "ef"), row(1, "e"), row(2, "f", 1), extra("2.1", "g"))
    corpus = read(text=first + second + third)
    result = take(corpus, [2, 0, 2])
    assert to_bytes(result).decode() == third + first + third
    assert result.heads is not None
    assert result.heads.tolist() == [0, 1, 3, 1, 0, 0, 1]
    assert result.newdoc.tolist() == [False, True, False]
    assert result.parts == ()
    assert to_bytes(take(result, [1])).decode() == first


def test_codes_stay_what_they_were() -> None:
    corpus = read(text="a_X b_Y\nc_X\n")
    assert take(corpus, [1]).column("form").codes.tolist() == [corpus.column("form").vocabulary.find("c")]


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_selection_ends_as_a_file_should_whatever_the_file_did(end: str) -> None:
    corpus = read(text=f"a_X\nb_Y{end}")
    assert to_bytes(take(corpus, [1, 0])) == b"b_Y\na_X\n"


def test_lines_after_the_last_sentence_belong_to_none() -> None:
    corpus = read(text=sentence(row(1)) + "# the end\n")
    assert to_bytes(take(corpus, [0])).decode() == sentence(row(1))


def test_nothing_can_be_taken() -> None:
    result = take(read(text=sentence(row(1))), [])
    assert (result.sentences, result.words, to_bytes(result)) == (0, 0, b"")


def test_more_sentences_than_a_block_come_back() -> None:
    text = "".join(f"# number {i}\n{row(1, f'w{i}')}\n\n" for i in range(5000))
    corpus = read(text=text, format="conllu")
    assert taken(corpus, list(range(5000))).decode() == text
    assert taken(corpus, list(range(4999, -1, -1))).decode().startswith("# number 4999\n")


@pytest.mark.parametrize(("chosen", "worst"), [([0, 2], 2), ([-1], -1), ([-3, 5], 5)])
def test_sentences_that_are_not_there_are_refused(chosen: list[int], worst: int) -> None:
    with pytest.raises(InputError, match=f"text: sentence {worst}; expected 0 to 1"):
        take(read(text="a_X\nb_Y\n"), chosen)
