"""Raw text: of corpora, with the places of words, and of files."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import read, take
from deadheat.errors import InputError
from deadheat.neural.raw_text import RawSentences, read_text

CONLLU = """\
# text = I don't, du bois.
1	I	_	PRON	_	_	3	nsubj	_	_
2-3	don't	_	_	_	_	_	_	_	SpaceAfter=No
2	do	_	AUX	_	_	3	aux	_	_
3	n't	_	PART	_	_	0	root	_	_
4	,	_	PUNCT	_	_	3	punct	_	_
5-6	du	_	_	_	_	_	_	_	_
5	de	_	ADP	_	_	7	case	_	_
6	le	_	DET	_	_	7	det	_	_
6.1	x	_	X	_	_	_	_	_	_
7	bois	_	NOUN	_	_	3	obl	_	Ref=1|SpaceAfter=No
8	.	_	PUNCT	_	_	3	punct	_	_

1	Oui	_	INTJ	_	_	0	root	_	SpaceAfter=No

"""


def test_words_are_joined_as_the_corpus_says() -> None:
    raw = RawSentences.of(read(text=CONLLU))
    assert raw.sentences == ("I don't, de le bois.", "Oui")
    words = [
        raw.sentences[0][start:end] for start, end in zip(raw.starts[:8].tolist(), raw.ends[:8].tolist(), strict=True)
    ]
    assert words == ["I", "do", "n't", ",", "de", "le", "bois", "."]
    assert (raw.starts[8], raw.ends[8]) == (0, 3)


def test_words_of_a_corpus_without_spacing_have_spaces_between_them() -> None:
    raw = RawSentences.of(read(text="the\tD\ndog\tN\n.\t.\n\nhi\tU\n\n", format="columns", columns=["form", "tag"]))
    assert raw.sentences == ("the dog .", "hi")
    assert raw.starts.tolist() == [0, 4, 8, 0]


def test_the_text_of_some_sentences_has_no_other() -> None:
    raw = RawSentences.of(read(text=CONLLU))
    assert raw.text(np.array([1])) == "Oui"
    assert raw.text(np.array([0, 1])) == "I don't, de le bois.\nOui"


def test_the_hash_depends_on_text_and_places() -> None:
    corpus = read(text=CONLLU)
    hashes = [
        RawSentences.of(each).hash
        for each in (corpus, take(corpus, np.array([0])), read(text=CONLLU.replace("Oui", "Non")))
    ]
    assert len(set(hashes)) == 3
    assert RawSentences.of(read(text=CONLLU.replace("INTJ", "X"))).hash == hashes[0]


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "some.txt"
    path.write_text("one line\r\n\n   another line  \n" * 60)
    return path


def test_a_text_has_no_empty_lines_and_no_spaces_around_lines(text_file: Path) -> None:
    assert read_text(text_file) == "\n".join(["one line", "another line"] * 60)
    packed = text_file.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(text_file.read_bytes()))
    assert read_text(packed) == read_text(text_file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"too short\n", "9 characters; expected a text of at least 1,000"),
        (b"", "0 characters; expected a text of at least 1,000"),
        (b"fine\n" * 300 + b"caf\xe9\n", ":301: byte 0xe9 is not UTF-8; expected a text"),
        (b"a\0b" * 1000, "a binary file; expected a text"),
        (gzip.compress(b"word " * 1000)[:-20], "corrupt compressed data"),
    ],
    ids=["short", "empty", "latin-1", "binary", "cut"],
)
def test_a_text_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_text(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_file_is_refused_in_one_line(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "is a directory"),
        (tmp_path / "none.txt", "no such file"),
        (Path("/dev/zero"), "it is a device; expected a file"),
        (Path("a\0b"), "null"),
    ):
        with pytest.raises(InputError, match=message):
            read_text(path)


def test_a_text_larger_than_the_limit_is_refused(text_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", str(os.stat(text_file).st_size - 1))
    with pytest.raises(InputError, match="--max-size sets the limit"):
        read_text(text_file)
