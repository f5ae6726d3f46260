"""The same kernels in plain Python: they find what the machine code finds, also in broken files."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.corpus import Corpus, Vocabulary, formats, read, to_bytes, vocabulary, writing
from deadheat.errors import InputError
from deadheat.kernels import scanning, strings
from tests.corpus import strategies
from tests.corpus.examples import extra, row, sentence

USES = [
    (scanning, "scan", scanning.scan),
    (scanning, "scan_columns", scanning.scan_columns),
    (scanning, "scan_tagged", scanning.scan_tagged),
    (formats, "gather", strings.gather),
    (vocabulary, "match", strings.match),
    (writing, "write_rows", strings.write_rows),
    (writing, "write_tagged", strings.write_tagged),
]
LENIENT = ("multiple-roots", "missing-heads", "final-newline")


@contextmanager
def plain_python() -> Iterator[None]:
    """Every kernel that reads or writes corpora replaced by the Python function it was made of."""
    # Hashes are meant to overflow, which numpy reports of single numbers.
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for module, name, kernel in USES:
            assert getattr(module, name) is kernel
            patch.setattr(module, name, kernel.python)
        yield


def everything_in(corpus: Corpus) -> tuple[object, ...]:
    extras, comments = corpus.extras, corpus.comments
    return (
        {name: (column.strings(), column.vocabulary.strings) for name, column in corpus.columns.items()},
        corpus.offsets.tolist(),
        None if corpus.heads is None else corpus.heads.tolist(),
        [extras.at.tolist(), extras.span.tolist(), extras.codes.tolist(), extras.ends.tolist()],
        [comments.blob.tolist(), comments.offsets.tolist(), comments.tail],
        corpus.newdoc.tolist(),
        corpus.layout,
        to_bytes(corpus),
    )


def outcome(text: str, format: str, lenient: tuple[str, ...] = ()) -> tuple[object, ...] | str:
    """All that reading gives, or all that is wrong."""
    try:
        return everything_in(read(text=text, format=format, lenient=lenient))
    except InputError as error:
        return str(error)


@st.composite
def spoiled(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A text with a few bytes put in, taken out or changed, mostly to ones that mean something."""
    text = draw(texts)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        out = draw(st.integers(0, 2))
        put = draw(st.text(st.sampled_from("\t\n\r #-._0129a\u00a0\u3000é"), max_size=2))
        text = text[:at] + put + text[at + out :]
    return text


column_texts = strategies.column_files().map(lambda made: made[0])
tagged_texts = strategies.tagged_files().map(lambda made: made[0])


@settings(max_examples=25)
@given(spoiled(strategies.conllu()), st.sets(st.sampled_from(LENIENT)).map(tuple))
def test_conllu_is_read_and_written_alike(text: str, lenient: tuple[str, ...]) -> None:
    with plain_python():
        expected = outcome(text, "conllu", lenient)
    assert outcome(text, "conllu", lenient) == expected


@settings(max_examples=25)
@given(spoiled(column_texts))
def test_column_files_are_read_and_written_alike(text: str) -> None:
    with plain_python():
        expected = outcome(text, "columns")
    assert outcome(text, "columns") == expected


@settings(max_examples=25)
@given(spoiled(tagged_texts))
def test_tagged_text_is_read_and_written_alike(text: str) -> None:
    with plain_python():
        expected = outcome(text, "tagged")
    assert outcome(text, "tagged") == expected


@settings(max_examples=25)
@given(
    st.one_of(spoiled(strategies.conllu()), spoiled(column_texts), spoiled(tagged_texts), st.text()),
    st.sampled_from(["auto", "conllu", "conllx", "columns", "tagged"]),
    st.sets(st.sampled_from(LENIENT)).map(tuple),
)
def test_any_text_is_refused_or_comes_back_as_it_was(text: str, format: str, lenient: tuple[str, ...]) -> None:
    try:
        corpus = read(text=text, format=format, lenient=lenient)
    except InputError:
        return
    assert to_bytes(corpus) == text.encode()


def test_a_vocabulary_that_outgrows_its_table_is_read_alike() -> None:
    text = "".join(f"w{i * 31 % 400}\tX{i}\n" for i in range(600)) + "\n"
    with plain_python():
        expected = outcome(text, "columns")
    assert outcome(text, "columns") == expected


def test_a_sentence_with_everything_in_it_is_read_and_written_alike() -> None:
    text = sentence(
        "# newdoc",
        extra("0.1"),
        extra("1-2"),
        row(1, "a longer word", 3),
        extra("1.1"),
        row(2, "é", 1),
        row(3, "日本語の単語"),
    )
    for whole in (text, text.replace("\n", "\r\n"), text.removesuffix("\n")):
        with plain_python():
            expected = outcome(whole, "conllu", LENIENT)
        assert not isinstance(expected, str)
        assert outcome(whole, "conllu", LENIENT) == expected


@settings(max_examples=25)
@given(st.lists(st.text(max_size=20), unique=True, max_size=8), st.lists(st.text(max_size=20), unique=True, max_size=8))
def test_strings_are_matched_alike(some: list[str], others: list[str]) -> None:
    strings = [[each.encode(errors="replace").decode() for each in many] for many in (some, others)]
    known, asked = (Vocabulary.of(list(dict.fromkeys(many))) for many in strings)
    with plain_python():
        expected = known.codes_of(asked).tolist()
    assert known.codes_of(asked).tolist() == expected
