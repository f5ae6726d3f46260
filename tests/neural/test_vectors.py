"""Word vectors from files: every format by hand, against a plain reader, and every fault with its line."""

import bz2
import io
import math
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.compression import compress
from deadheat.errors import InputError
from deadheat.neural import vectors as module
from deadheat.neural.vectors import Rows, read_vectors

LINES = ["the 0.5 -1 2e-1", "Heat 1 2 3", "dead 0 0 -7.25"]
GLOVE = "".join(f"{line}\n" for line in LINES)
FORMATS = {
    "GloVe": GLOVE,
    "fastText": "3 3\n" + GLOVE,
    "word2vec, with a space at the end of lines": "3 3\n" + GLOVE.replace("\n", " \n"),
    "tabs": GLOVE.replace(" ", "\t"),
    "a tab after the word": "".join(line.replace(" ", "\t", 1) + "\n" for line in LINES),
    "lines of Windows": "3 3\r\n" + GLOVE.replace("\n", "\r\n"),
    "no end of the last line": GLOVE.removesuffix("\n"),
    "a byte order mark": "\ufeff3 3\n" + GLOVE,
    "a byte order mark and no header": "\ufeff" + GLOVE,
}


def found(tmp_path: Path, text: str | bytes, wanted: list[str]) -> dict[str, list[float]]:
    """The vectors of the words that were found."""
    vectors = of(tmp_path, text, wanted)
    return {word: row.tolist() for word, row in zip(wanted, vectors, strict=True) if not np.isnan(row).any()}


def of(tmp_path: Path, text: str | bytes, wanted: list[str], name: str = "v.txt") -> Rows:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_vectors(path, wanted)


def complaint(tmp_path: Path, text: str | bytes, wanted: list[str] | None = None) -> str:
    with pytest.raises(InputError) as caught:
        of(tmp_path, text, ["the"] if wanted is None else wanted)
    return str(caught.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS)
def test_every_format_gives_the_same_vectors(tmp_path: Path, text: str) -> None:
    vectors = of(tmp_path, text, ["dead", "none", "the"])
    expected = [[0, 0, -7.25], [math.nan] * 3, [0.5, -1, 0.2]]
    np.testing.assert_array_equal(vectors, np.array(expected, np.float32))
    assert np.isnan(vectors).any(axis=1).tolist() == [False, True, False]
    assert vectors.dtype == np.float32


def test_a_word_is_looked_up_as_it_is_and_else_in_lower_case(tmp_path: Path) -> None:
    text = "the 1\nThe 2\nHeat 3\nÉté 4\nété 5\n"
    wanted = ["The", "the", "THE", "heat", "Heat", "HEAT", "ÉTÉ", "Été"]
    assert found(tmp_path, text, wanted) == {
        "The": [2], "the": [1], "THE": [1], "Heat": [3], "ÉTÉ": [5], "Été": [4],
    }  # fmt: skip
    assert found(tmp_path, "The 2\nthe 1\n", ["THE", "The"]) == {"THE": [1], "The": [2]}


def test_of_a_word_that_stands_there_twice_the_first_counts(tmp_path: Path) -> None:
    assert found(tmp_path, "a 1\nb 2\na 3\nb x\n", ["a", "b"]) == {"a": [1], "b": [2]}
    assert of(tmp_path, "a 1\na 3\n", ["a", "a"]).tolist() == [[1], [1]]


def test_words_may_have_spaces_in_them(tmp_path: Path) -> None:
    text = "the .1 .2\n. . . .3 .4\nat name@domain.com .5 .6\napollo 11 .7 .8\nto infinity .9 1\n.5 l 1 2\n"
    expected = {
        ". . .": [0.3, 0.4],
        "at name@domain.com": [0.5, 0.6],
        "apollo 11": [0.7, 0.8],
        "to infinity": [0.9, 1],
        ".5 l": [1, 2],
    }
    wanted = [*expected, ".", "apollo", ".5"]
    assert found(tmp_path, text, wanted) == {word: np.array(row, np.float32).tolist() for word, row in expected.items()}
    lines = text.splitlines(keepends=True)
    assert found(tmp_path, lines[1] + lines[0], [". . .", "the"]).keys() == {". . .", "the"}


def test_only_spaces_tabs_and_line_feeds_part_words(tmp_path: Path) -> None:
    odd = ["\xa0", "a\xa0b", "\u3000", "x\x85y", "\u2028", "\x1f", "12", "0.5", "_", "#"]
    text = "".join(f"{word} {at}.5\n" for at, word in enumerate(odd))
    assert found(tmp_path, text, odd) == {word: [at + 0.5] for at, word in enumerate(odd)}


def test_needless_spaces_around_a_word_are_no_part_of_it(tmp_path: Path) -> None:
    assert found(tmp_path, "the 1.5 2\nheat  3 4\n  dead 5 6\n", ["heat", "dead"]) == {"heat": [3, 4], "dead": [5, 6]}


def test_numbers_without_a_word_and_words_that_are_not_utf_8_are_passed_over(tmp_path: Path) -> None:
    assert found(tmp_path, b"the 1 2\n 3 4\n\xe9t\xe9 5 6\n", ["", "the", "été", "\udce9"]) == {"the": [1, 2]}


def test_nothing_wanted_is_nothing_found(tmp_path: Path) -> None:
    vectors = of(tmp_path, GLOVE, [])
    assert vectors.shape == (0, 3)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
@pytest.mark.parametrize("piece", [13, 1 << 19])
def test_compression_does_not_change_vectors(
    tmp_path: Path, suffix: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK_SIZE", piece)
    text = "".join(f"w{at} {at / 8} {-at}\n" for at in range(3000)).encode()
    cut = text.index(b"w1500")
    # Two streams one after the other are one file, as `cat a.gz b.gz` makes them.
    both = compress(text[:cut], suffix) + compress(text[cut:], suffix)
    vectors = of(tmp_path, both, ["w0", "w1499", "w1500", "w2999"], "v.txt" + suffix)
    assert vectors.tolist() == [[at / 8, -at] for at in (0, 1499, 1500, 2999)]
    if suffix:
        for broken in (both[:-3], both[: len(both) // 2], both + b"!", both[:50] + b"!!!!!!!!!!" + both[60:]):
            assert complaint(tmp_path, broken).startswith("v.txt: corrupt compressed data (")


def test_zeros_after_a_compressed_stream_are_no_fault(tmp_path: Path) -> None:
    for suffix in (".gz", ".xz"):
        assert np.isfinite(of(tmp_path, compress(GLOVE.encode(), suffix) + bytes(512), ["the"])).all()


FAULTS = {
    "too few": ("a 1 2\nb 1\n", "v.txt:2: 2 columns; expected 3, a word and 2 numbers, as on line 1"),
    "too many": ("a 1.5 2\nb .1 -2 3\nthe x y\n", "v.txt:2: 4 columns; expected 3, a word and 2 numbers, as on line 1"),
    "two spaces": ("a 1 2\nb 1.5  2\n", "v.txt:2: 4 columns; expected 3, a word and 2 numbers, as on line 1"),
    "a word alone": ("a 1\nb\n", "v.txt:2: 1 column; expected 2, a word and 1 number, as on line 1"),
    "an empty line": ("a 1\n\nb 1\n", "v.txt:2: an empty line; expected 2, a word and 1 number, as on line 1"),
    "empty lines at the end": ("a 1\r\n\r\n", "v.txt:2: an empty line; expected 2, a word and 1 number, as on line 1"),
    "other than the header": (
        "2 3\na 1.5 2\nb 1.5 2\n", "v.txt:2: 3 columns; expected 4, a word and 3 numbers, as the header says"),
    "fewer than the header": (
        "2 1\na 1.5 2\nb 1.5 2\n", "v.txt:2: 3 columns; expected 2, a word and 1 number, as the header says"),
    "no number": ("a 1 2\nthe 1 x\n", "v.txt:2: number 2 of 'the' is 'x'; expected a finite number"),
    "a decimal comma": ("the 0,5\n", "v.txt:1: '0,5' in column 2; expected a finite number"),
    "not a number": ("the nan 2\n", "v.txt:1: number 1 of 'the' is 'nan'; expected a finite number"),
    "infinite": ("a 1 2\nthe 1 -inf\n", "v.txt:2: number 2 of 'the' is '-inf'; expected a finite number"),
    "too large": ("a 1 2\nthe 1 1e39\n", "v.txt:2: number 2 of 'the' is '1e39'; expected a finite number"),
    "Python's underscores": ("a 1 2\nthe 1_0 1\n", "v.txt:2: number 1 of 'the' is '1_0'; expected a finite number"),
    "prose": ("It was a heat\n", "v.txt:1: 'was' in column 2; expected a finite number"),
    "a word among the numbers": ("the 0.5 x 1\n", "v.txt:1: 'x' in column 3; expected a finite number"),
    "two spaces at the end": ("the 0.5 1  \n", "v.txt:1: '' in column 4; expected a finite number"),
    "one column": ("the\n", "v.txt:1: 'the' alone; expected a word and its numbers on every line"),
    "an empty first line": ("\nthe 1\n", "v.txt:1: an empty line; expected a word and its numbers on every line"),
    "a byte order mark alone": ("\ufeff", "v.txt:1: an empty line; expected a word and its numbers on every line"),
    "an empty file": ("", "v.txt: an empty file; expected a word and its numbers on every line"),
    "a header alone": ("2 3\n", "v.txt:1: the header announces 2 words of 3 numbers; 0 follow"),
    "too few words": ("1500 1\nthe 1\n", "v.txt:1: the header announces 1,500 words of 1 number; 1 follow"),
    "too many words": ("1 2\nthe 1 2\na 1 2\n", "v.txt:1: the header announces 1 word of 2 numbers; 2 follow"),
    "no words": ("0 2\n", "v.txt:1: the header announces 0 words; expected some"),
    "no numbers": ("1 0\nthe\n", "v.txt:1: the header announces 0 numbers a word; expected some"),
    "more numbers than memory": (
        "1 999999999999\nthe 1\n",
        "v.txt:2: 2 columns; expected 1,000,000,000,000, a word and 999,999,999,999 numbers, as the header says"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("piece", [8, 1 << 19])
def test_a_fault_is_told_with_its_line(
    tmp_path: Path, text: str, message: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK_SIZE", piece)
    assert complaint(tmp_path, text) == message


@pytest.mark.parametrize("header", ["", "5000 4\n"])
@pytest.mark.parametrize("at", [0, 1, 2500, 4999])
@pytest.mark.parametrize("change", ["{} 1 1.5 2", "{} -1 1.5 2 3 4", "{} 1.5 2 3 4 5"])
def test_a_wrong_line_is_found_wherever_it_is(
    tmp_path: Path, header: str, at: int, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK_SIZE", 1000)
    lines = [f"w{number} 0.5 1.5 2 3" for number in range(5000)]
    lines[at] = change.format(f"w{at}")
    # Without a header the first line is right, and the second the first that is wrong.
    wrong, size = (at + 2, 5) if header else (max(at, 1) + 1, len(lines[0].split()))
    there = len(lines[wrong - 1 - bool(header)].split())
    expected = f"v.txt:{wrong}: {there} columns; expected {size}, a word and {size - 1} numbers, as "
    assert complaint(tmp_path, header + "\n".join(lines) + "\n").startswith(expected)


def test_the_first_fault_of_a_file_is_told_whatever_its_kind(tmp_path: Path) -> None:
    text = "a 1 2\nthe 1 x\nb 1\n"
    assert complaint(tmp_path, text).startswith("v.txt:2: number 2 of 'the'")
    assert complaint(tmp_path, text, ["b"]).startswith("v.txt:3: 2 columns")
    assert complaint(tmp_path, "a 1 2\nb 1\nthe 1 x\n").startswith("v.txt:2: 2 columns")


def word2vec_binary(values: float) -> bytes:
    words = (b"the ", b"heat ")
    return b"2 6\n" + b"".join(word + struct.pack("<6f", *[values] * 6) + b"\n" for word in words)


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros((3, 4)))
    return file.getvalue()


BINARY = {
    "word2vec": word2vec_binary(0.5),
    "word2vec without a zero byte": word2vec_binary(-0.123456789),
    "fastText's model": struct.pack("<ii", 793712314, 12) + bytes(100),
    "numpy's array": npy(),
}


@pytest.mark.parametrize("content", BINARY.values(), ids=BINARY)
def test_a_binary_file_is_refused_for_what_it_is(tmp_path: Path, content: bytes) -> None:
    expected = "v.txt: a binary file; expected the text format, a word and its numbers on every line"
    assert complaint(tmp_path, content) == expected


def test_one_binary_example_has_no_zero_byte() -> None:
    assert b"\0" not in BINARY["word2vec without a zero byte"]


def test_archives_and_other_compressions_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as archive:
        archive.writestr("glove.txt", GLOVE)
    told = complaint(tmp_path, (tmp_path / "glove.zip").read_bytes())
    assert told == "v.txt: a zip archive; expected the text file in it, plain or compressed by gzip, xz or zstd"
    assert complaint(tmp_path, bz2.compress(GLOVE.encode())).startswith("v.txt")


def test_files_that_cannot_be_read_and_endless_lines_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read \(no such file or directory\)"):
        read_vectors(tmp_path / "none.txt", ["the"])
    with pytest.raises(InputError, match=r"cannot be read \(is a directory\)"):
        read_vectors(tmp_path, ["the"])
    monkeypatch.setattr(module, "LONGEST_LINE", 1 << 20)
    told = complaint(tmp_path, "1 " * (1 << 20))
    assert told == "v.txt: a line of more than 1 MB; expected a word and its numbers on every line"


words = st.text(
    st.characters(exclude_characters=" \t\n\0\ufeff", exclude_categories=["Cs"]), min_size=1, max_size=6
).map(lambda word: word.rstrip("\r") or "w")
numbers = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=50)
@given(st.data(), st.lists(words, min_size=1, max_size=12), st.integers(2, 4), st.integers(8, 40))
def test_any_file_is_read_as_a_plain_reader_does(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, own: list[str], size: int, piece: int
) -> None:
    rows = [data.draw(st.lists(numbers, min_size=size, max_size=size)) for _ in own]
    end = data.draw(st.sampled_from(["\n", "\r\n", " \n", "\t\r\n"]))
    text = f"{len(own)} {size}{end}" if data.draw(st.booleans()) else ""
    text += "".join(f"{word} {' '.join(map(repr, row))}{end}" for word, row in zip(own, rows, strict=True))
    first = dict(reversed(list(zip(own, rows, strict=True))))
    wanted = data.draw(st.lists(st.one_of(st.sampled_from(own), st.sampled_from(own).map(str.upper), words)))
    expected = [first.get(word, first.get(word.lower(), [math.nan] * size)) for word in wanted]
    suffix = data.draw(st.sampled_from(["", ".gz", ".zst"]))
    path = tmp_path_factory.getbasetemp() / f"any.txt{suffix}"
    path.write_bytes(compress(text.encode(), suffix))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_SIZE", piece)
        vectors = read_vectors(path, wanted)
    np.testing.assert_array_equal(vectors, np.array(expected, np.float32).reshape(-1, size))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.vec"
    tail = " 0.125" * 300
    with path.open("w") as file:
        file.write("20000 300\n")
        file.writelines(f"w{at}{tail}\n" for at in range(20000))
    tracemalloc.start()
    vectors = read_vectors(path, [f"w{at}" for at in range(0, 20000, 100)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 36e6
    assert not np.isnan(vectors).any()
    assert vectors.shape == (200, 300)
    assert peak < 6e6


def test_neither_jax_nor_libraries_for_tables_and_terminals_are_needed() -> None:
    source = (
        "import sys, deadheat.neural.vectors, deadheat.neural.schemes;"
        "print({'jax', 'polars', 'pydantic', 'rich', 'typer', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True, timeout=600)
    assert done.stdout == "set()\n"
