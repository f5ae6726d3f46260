"""Reading against the obvious reader in `plain_reader`."""

from pathlib import Path

import pytest
from hypothesis import given

from deadheat.corpus import read
from tests.corpus import strategies
from tests.corpus.plain_reader import assert_same, read_plainly


@given(strategies.conllu())
def test_reading_finds_what_a_plain_reader_finds(text: str) -> None:
    assert_same(read(text=text, format="conllu"), read_plainly(text))


@given(strategies.conllu())
def test_every_word_knows_its_line(text: str) -> None:
    corpus = read(text=text, format="conllu")
    assert [corpus.line_of_word(i) for i in range(corpus.words)] == [
        ("text", line) for line in read_plainly(text).lines
    ]


@pytest.mark.parametrize(
    "name", ["cop_scriptorium", "en_ewt", "kk_ktb", "lt_hse", "mr_ufal", "mt_mudt", "te_mtg", "wo_wtb"]
)
def test_reading_real_files_finds_what_a_plain_reader_finds(name: str, shared_data: Path) -> None:
    path = shared_data / "treebanks" / name / f"{name}-ud-test.conllu"
    corpus, plain = read(path), read_plainly(path.read_bytes().decode())
    assert_same(corpus, plain)
    some = range(0, corpus.words, 97)
    assert [corpus.line_of_word(i) for i in some] == [(str(path), plain.lines[i]) for i in some]


@given(strategies.conllu())
def test_heads_as_words_of_the_corpus_are_the_words_that_heads_name(text: str) -> None:
    corpus = read(text=text, format="conllu")
    plain = read_plainly(text)
    for word, head in enumerate(corpus.head_words.tolist()):
        wanted = int(plain.words[word][6])
        assert (head == -1) == (wanted == 0)
        if wanted:
            assert plain.words[head][0] == str(wanted)
            assert corpus.sentence_of_word[head] == corpus.sentence_of_word[word]
