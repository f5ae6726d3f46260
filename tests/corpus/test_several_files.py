"""Several files as one corpus: what each of them held, one after the other."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.corpus import Corpus, concatenate, read, to_bytes
from deadheat.errors import InputError
from tests.corpus import strategies
from tests.corpus.examples import ONE, extra, row, sentence
from tests.corpus.plain_reader import Plain, assert_same, read_plainly


def joined(plains: list[Plain]) -> Plain:
    """What the obvious reader finds in several files, chained."""
    whole = Plain()
    for plain in plains:
        words, extras = len(whole.words), len(whole.extras)
        whole.words += plain.words
        whole.offsets += [words + offset for offset in plain.offsets[1:]]
        whole.extras += plain.extras
        whole.extra_at += [words + at for at in plain.extra_at]
        whole.extra_ends += [extras + end for end in plain.extra_ends]
        whole.comments += plain.comments
        whole.newdoc += plain.newdoc
        whole.tail += plain.tail
    return whole


def named(text: str, name: str) -> Corpus:
    """A corpus from a text, as if it were a file of this name."""
    from deadheat.corpus.formats import PADDING, read_conllu

    buffer = np.frombuffer(bytearray(text.encode() + bytes(PADDING)), np.uint8)
    return read_conllu(name, buffer, lenient=frozenset({"missing-heads", "final-newline"}))


@settings(max_examples=15)
@given(st.lists(strategies.conllu(), min_size=2, max_size=3))
def test_several_files_are_read_as_a_plain_reader_reads_them(texts: list[str]) -> None:
    corpus = concatenate([named(text, f"{i}") for i, text in enumerate(texts)])
    assert_same(corpus, joined([read_plainly(text) for text in texts]))


@settings(max_examples=15)
@given(st.lists(strategies.conllu(), min_size=2, max_size=3))
def test_every_word_knows_its_file_and_line(texts: list[str]) -> None:
    corpus = concatenate([named(text, f"{i}") for i, text in enumerate(texts)])
    expected = [(f"{i}", line) for i, text in enumerate(texts) for line in read_plainly(text).lines]
    assert [corpus.line_of_word(word) for word in range(corpus.words)] == expected


@settings(max_examples=15)
@given(st.lists(strategies.conllu(), min_size=2, max_size=3))
def test_files_with_different_line_ends_are_written_with_one_kind(texts: list[str]) -> None:
    corpus = concatenate([named(text, f"{i}") for i, text in enumerate(texts)])
    again = read(text=to_bytes(corpus).decode(), format="conllu")
    whole = "".join(text for text in texts if text)
    newline = "\r\n" if whole.count("\n") == whole.count("\r\n") and whole else "\n"
    bodies = [text.replace("\r\n", "\n") for text in texts]
    tails = ["".join(f"{line}\n" for line in read_plainly(body).tail) for body in bodies]
    expected = "".join(body.removesuffix(tail) for body, tail in zip(bodies, tails, strict=True)) + "".join(tails)
    assert to_bytes(corpus).decode() == expected.replace("\n", newline)
    assert again.sentences == corpus.sentences


@given(strategies.tagged_files(), strategies.tagged_files())
def test_words_of_tagged_text_know_their_file_and_line(
    one: tuple[str, str, list[list[tuple[str, str]]]], other: tuple[str, str, list[list[tuple[str, str]]]]
) -> None:
    corpora = [read(text=text, format="tagged", separator=mark) for text, mark, _ in (one, other)]
    corpus = concatenate(corpora)
    lines = [line for _, _, result in (one, other) for line, tokens in enumerate(result, start=1) for _ in tokens]
    assert [corpus.line_of_word(word)[1] for word in range(corpus.words)] == lines


def test_files_given_together_are_one_corpus(tmp_path: Path) -> None:
    paths = [tmp_path / "b.conllu", tmp_path / "a.conllu"]
    for path in paths:
        path.write_text(sentence("# newdoc id = x", row(1, path.stem)) + ONE)
    corpus = read(paths)
    assert corpus.column("form").strings() == ["b", "a", "a", "a"]
    assert [part.path for part in corpus.parts] == [str(path) for path in paths]
    assert [part.first for part in corpus.parts] == [0, 2]
    assert repr(corpus) == f"<Corpus {paths[0]} and 1 more: 4 sentences, 4 words>"


def test_documents_end_where_files_end() -> None:
    marked = sentence("# newdoc", row(1))
    corpus = concatenate([named(ONE + marked + ONE, "a"), named(ONE + marked, "b"), named("", "c")])
    assert corpus.documents.tolist() == [0, 1, 1, 2, 3]
    assert corpus.has_documents
    assert not named(ONE, "a").has_documents


def test_an_empty_file_changes_nothing() -> None:
    corpus = concatenate([named("", "empty"), named(ONE, "full"), named("", "empty too")])
    assert corpus.line_of_word(0) == ("full", 1)
    assert to_bytes(corpus) == ONE.encode()


def test_heads_are_kept_beside_a_file_that_has_none() -> None:
    headless = sentence(row(1, head="_"), row(2, "b", "_"))
    corpus = concatenate([named(headless, "a"), named(ONE, "b"), named(headless + ONE, "c")])
    assert corpus.heads is not None
    assert corpus.heads.tolist() == [-1, -1, 0, -1, -1, 0]
    assert to_bytes(corpus) == (headless + ONE + headless + ONE).encode()
    assert concatenate([named(headless, "a"), named(headless, "b")]).heads is None


def test_a_missing_end_matters_only_at_the_end() -> None:
    cut = ONE.removesuffix("\n")
    assert to_bytes(concatenate([named(cut, "a"), named(ONE, "b")])) == (ONE + ONE).encode()
    assert to_bytes(concatenate([named(ONE, "a"), named(cut, "b")])) == (ONE + cut).encode()


def test_comments_after_the_last_sentence_of_a_file_come_last() -> None:
    corpus = concatenate([named(ONE + "# end of a\n", "a"), named("# b\n" + ONE + "# end of b\n", "b")])
    assert to_bytes(corpus).decode() == ONE + "# b\n" + ONE + "# end of a\n# end of b\n"
    assert corpus.line_of_word(1) == ("b", 2)


def test_extras_of_several_files_keep_their_places() -> None:
    texts = [
        sentence(extra("1-2", "xy"), row(1, "x"), row(2, "y", 1), extra("2.1", "z")),
        sentence(extra("0.1", "z"), row(1, "x")),
    ]
    corpus = concatenate([named(text, "t") for text in texts])
    assert to_bytes(corpus) == "".join(texts).encode()
    assert (corpus.extras.at.tolist(), corpus.extras.span.tolist()) == ([0, 2, 2], [2, -1, -1])
    assert corpus.extras.ends.tolist() == [2, 3]


def test_files_with_different_columns_are_refused() -> None:
    corpora = [read(text="a X\n\n"), read(text="a X Y\n\n")]
    with pytest.raises(InputError, match=r"^text: columns form, xpos, chunk; expected form, tag as in text$"):
        concatenate(corpora)


def test_files_of_different_formats_are_refused() -> None:
    with pytest.raises(InputError, match=r"^text: format tagged; expected columns as text is$"):
        concatenate([read(text="a X\n\n"), read(text="a_X\n")])


def test_a_treebank_in_several_files_is_read_as_one(shared_data: Path) -> None:
    folder = shared_data / "treebanks" / "lt_hse"
    whole = read(folder)
    parts = [read(path) for path in sorted(folder.glob("*.conllu"))]
    assert whole.words == sum(part.words for part in parts)
    assert to_bytes(whole) == b"".join(to_bytes(part) for part in parts)
