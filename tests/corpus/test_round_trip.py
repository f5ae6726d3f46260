"""Reading and writing gives the same bytes back, whatever they are."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.corpus import read, to_bytes, write
from deadheat.errors import InputError
from tests.corpus import strategies
from tests.corpus.examples import ONE, extra, fault_of, row, sentence


def test_every_treebank_comes_back_as_it_was(shared_data: Path) -> None:
    files = sorted(shared_data.glob("treebanks/*/*.conllu"))
    assert len(files) > 40
    changed = [path.name for path in files if to_bytes(read(path)) != path.read_bytes()]
    assert changed == []


@pytest.mark.slow
def test_every_prediction_comes_back_as_it_was(shared_data: Path) -> None:
    files = sorted(shared_data.glob("predictions/*/*/*.conll.gz"))
    assert len(files) > 100
    changed = [
        path.name
        for path in files
        if to_bytes(read(path, lenient=["multiple-roots"])) != gzip.decompress(path.read_bytes())
    ]
    assert changed == []


def test_chunking_data_come_back_as_they_were(shared_data: Path) -> None:
    files = sorted(shared_data.glob("chunking/*/*.txt"))
    assert len(files) == 3
    for path in files:
        corpus = read(path)
        assert list(corpus.columns) == ["form", "xpos", "chunk"]
        assert to_bytes(corpus) == path.read_bytes()


@given(strategies.conllu())
def test_well_formed_conllu_comes_back_as_it_was(text: str) -> None:
    assert to_bytes(read(text=text, format="conllu")) == text.encode()


@given(st.data())
def test_a_file_that_ends_too_early_comes_back_as_it_was_or_mended_on_request(data: st.DataObject) -> None:
    whole = data.draw(strategies.conllu().filter(lambda text: text.endswith(("\n\n", "\r\n\r\n"))))
    cut = data.draw(strategies.without_end(whole))
    corpus = read(text=cut, format="conllu", lenient=["final-newline"])
    assert to_bytes(corpus) == cut.encode()
    if "\r" not in cut:  # one line without an end does not say which kind its file had
        whole = whole.replace("\r\n", "\n")
    assert to_bytes(corpus, mend=True) == whole.encode()


def test_a_file_that_ends_too_early_is_refused_unless_asked() -> None:
    for cut in (ONE[:-1], ONE[:-2]):
        assert fault_of(cut) == (1, "no empty line at the end of the file; expected one after the last sentence")


def test_the_end_is_not_mended_where_nothing_is_missing() -> None:
    assert to_bytes(read(text=ONE), mend=True) == ONE.encode()


def test_a_last_comment_without_a_newline_comes_back_as_it_was() -> None:
    corpus = read(text=ONE + "# the end")
    assert to_bytes(corpus) == (ONE + "# the end").encode()
    assert to_bytes(corpus, mend=True) == (ONE + "# the end\n").encode()


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((extra("0.1"), extra("0.2"), row(1)), id="before the first word"),
        pytest.param((row(1), extra("1.1"), extra("1.7")), id="after the last word"),
        pytest.param((extra("1-2"), row(1), extra("1.1"), row(2, head=1)), id="inside a multiword token"),
        pytest.param((extra("0.1"), extra("1-1"), row(1)), id="before a multiword token"),
        pytest.param((extra("1-2"), extra("0.1"), row(1), row(2, head=1)), id="at the start of one"),
        pytest.param((extra("1-2"), row(1), row(2, head=1), extra("2.1")), id="after one"),
    ],
)
def test_empty_nodes_come_back_where_they_were(lines: tuple[str, ...]) -> None:
    text = sentence(*lines) * 2
    assert to_bytes(read(text=text)) == text.encode()


def test_conllx_comes_back_with_its_roots_and_without_its_last_empty_line() -> None:
    text = sentence(row(1), row(2, "b", 0)) + row(1)
    corpus = read(text=text, format="conllx")
    assert corpus.layout.format == "conllx"
    assert to_bytes(corpus) == text.encode()


def test_sentences_without_heads_come_back_beside_those_with_heads() -> None:
    text = ONE + sentence(row(1, head="_"), row(2, "b", "_")) + ONE
    corpus = read(text=text, lenient=["missing-heads"])
    assert to_bytes(corpus) == text.encode()
    with pytest.raises(InputError, match="text: words without heads; expected a tree for every sentence"):
        _ = corpus.trees


@given(strategies.column_files())
def test_column_files_come_back_as_they_were(made: tuple[str, str, list[list[tuple[str, ...]]]]) -> None:
    text, separator, expected = made
    corpus = read(text=text, format="columns", separator=separator)
    assert to_bytes(corpus) == text.encode()
    strings = [column.strings() for column in corpus.columns.values()]
    assert list(zip(*strings, strict=True)) == [tuple(fields) for rows in expected for fields in rows]
    assert [len(rows) for rows in expected] == (corpus.offsets[1:] - corpus.offsets[:-1]).tolist()


@given(strategies.column_files())
def test_column_files_are_mended_on_request(made: tuple[str, str, object]) -> None:
    text, separator, _ = made
    mended = to_bytes(read(text=text, format="columns", separator=separator), mend=True).decode()
    assert mended.startswith(text)
    assert mended.endswith(("\n\n", "\r\n\r\n"))
    again = read(text=mended, format="columns", separator=separator)
    assert again.layout.missing_end == b""


@given(strategies.tagged_files())
def test_tagged_text_comes_back_as_it_was(made: tuple[str, str, list[list[tuple[str, str]]]]) -> None:
    text, mark, expected = made
    corpus = read(text=text, format="tagged", separator=mark)
    assert to_bytes(corpus) == text.encode()
    pairs = zip(corpus.column("form").strings(), corpus.column("tag").strings(), strict=True)
    assert list(pairs) == [token for tokens in expected for token in tokens]
    assert corpus.offsets.tolist()[1:] == [sum(map(len, expected[:i])) for i in range(1, len(expected) + 1)]


@pytest.mark.parametrize("name", ["plain.conllu", "a.conllu.gz", "b.conllu.xz", "c.conllu.zst"])
def test_a_written_file_can_be_read_again(name: str, tmp_path: Path) -> None:
    corpus = read(text=sentence("# text = a", extra("1-2"), row(1), row(2, "é", 1)))
    write(corpus, tmp_path / name)
    assert to_bytes(read(tmp_path / name)) == to_bytes(corpus)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (to_bytes(corpus) == (tmp_path / name).read_bytes()) == (name == "plain.conllu")


def test_writing_where_one_cannot_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no-folder/x\.conllu: cannot be written \(no such file or directory\)"):
        write(read(text=ONE), tmp_path / "no-folder" / "x.conllu")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"folder: cannot be written \(is a directory\)"):
        write(read(text=ONE), tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
