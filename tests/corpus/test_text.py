"""Files that are not text, or hardly: binary, other encodings, endless lines, nothing but newlines."""

from pathlib import Path

import pytest

from deadheat.corpus import read, to_bytes
from deadheat.errors import CorpusError, Fault, InputError, NameUnknown
from tests.corpus.examples import ONE, fault_of, row, sentence


def faults_of_file(path: Path, data: bytes) -> tuple[Fault, ...]:
    path.write_bytes(data)
    with pytest.raises(CorpusError) as caught:
        read(path)
    return caught.value.faults


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(bytes(range(256)), id="all bytes"),
        pytest.param(ONE.encode("utf-16"), id="UTF-16"),
        pytest.param(ONE.encode("utf-32-le"), id="UTF-32"),
        pytest.param(b"\x7fELF\x02\x01\x01\0\0", id="a program"),
    ],
)
def test_a_binary_file_is_refused_in_one_line(data: bytes, tmp_path: Path) -> None:
    (fault,) = faults_of_file(tmp_path / "x.conllu", data)
    assert (fault.line, fault.message) == (0, "a binary file; expected text")


@pytest.mark.parametrize("lines", [1, 10_000])
def test_a_nul_byte_is_refused_wherever_it_is(lines: int) -> None:
    text = ONE * lines + sentence(row(1, "a\0b"))
    line, message = fault_of(text)
    expected = (0, "a binary file; expected text") if lines == 1 else (20_001, "a NUL byte; expected text")
    assert (line, message) == expected


@pytest.mark.parametrize("before", [0, 1, 7, 60_000])
@pytest.mark.parametrize(
    ("bad", "byte", "reason"),
    [
        (b"\xe9", 0xE9, "invalid continuation byte"),
        (b"\xff", 0xFF, "invalid start byte"),
        (b"\xc0\xaf", 0xC0, "invalid start byte"),
        (b"\xed\xa0\x80", 0xED, "invalid continuation byte"),
        (b"\xe2\x82", 0xE2, "invalid continuation byte"),
    ],
)
def test_bytes_that_are_not_utf8_are_refused_with_their_line(
    before: int, bad: bytes, byte: int, reason: str, tmp_path: Path
) -> None:
    data = ONE.encode() * before + ONE.encode().replace(b"a", b"a" + bad, 1)
    (fault,) = faults_of_file(tmp_path / "x.conllu", data)
    assert fault.line == 2 * before + 1
    assert fault.message == f"byte 0x{byte:02x} is not UTF-8 text ({reason})"


def test_a_character_cut_off_at_the_end_is_refused_with_its_line(tmp_path: Path) -> None:
    (fault,) = faults_of_file(tmp_path / "x.conllu", ONE.encode() + "é".encode()[:1])
    assert (fault.line, fault.message) == (3, "byte 0xc3 is not UTF-8 text (unexpected end of data)")


def test_a_character_across_the_blocks_that_are_checked_is_no_fault(tmp_path: Path) -> None:
    block = 1 << 20
    for shift in range(5):
        comment = "# " + "x" * (block - 2 - shift) + "\U0001f600\n"
        assert len(comment.encode()) == block - shift + 5
        (tmp_path / "x.conllu").write_text(comment + ONE)
        assert to_bytes(read(tmp_path / "x.conllu")) == (comment + ONE).encode()


def test_a_bad_byte_across_the_blocks_that_are_checked_has_its_line(tmp_path: Path) -> None:
    comment = b"# " + b"x" * ((1 << 20) - 4) + b"\n"
    (fault,) = faults_of_file(tmp_path / "x.conllu", comment + b"\xf0\x9f\x98x\n")
    assert (fault.line, fault.message.split("(")[0]) == (2, "byte 0xf0 is not UTF-8 text ")


def test_half_of_a_surrogate_pair_in_a_given_text_is_refused() -> None:
    assert fault_of(sentence(row(1, "\ud800")))[1].startswith("byte 0xed is not UTF-8 text")


@pytest.mark.slow
def test_a_line_of_fifty_megabytes_gives_one_short_message(tmp_path: Path) -> None:
    size = 50_000_000
    for data in (b"a" * size, b"\t" * size + b"\n", ONE.encode().replace(b"\t0\t", b"\t" + b"9" * size + b"\t")):
        faults = faults_of_file(tmp_path / "x.conllu", data)
        assert all(len(fault.message) < 160 for fault in faults)
        assert len(faults) <= 2


@pytest.mark.slow
def test_a_form_of_fifty_megabytes_is_a_form(tmp_path: Path) -> None:
    text = sentence(row(1, "a" * 50_000_000))
    (tmp_path / "x.conllu").write_text(text)
    assert to_bytes(read(tmp_path / "x.conllu")) == text.encode()


@pytest.mark.slow
def test_a_wrong_head_after_a_form_of_fifty_megabytes_is_found(tmp_path: Path) -> None:
    text = sentence(row(1, "a" * 50_000_000, "x"))
    (fault,) = faults_of_file(tmp_path / "x.conllu", text.encode())
    assert fault.message == "HEAD 'x' of word '1'; expected 0 or the number of a word"


@pytest.mark.slow
def test_a_line_of_a_gigabyte_gives_one_short_message(tmp_path: Path) -> None:
    (fault, _) = faults_of_file(tmp_path / "x.conllu", b"a" * 1_000_000_000)
    assert fault.message == f"1 tab-separated column; expected 10 in '{'a' * 40}...'"
    (tmp_path / "x.conllu").unlink()


@pytest.mark.parametrize("name", ["x.conllu", "x.txt"])
def test_a_file_of_only_newlines_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("\n" * 1000)
    with pytest.raises(CorpusError) as caught:
        read(tmp_path / name)
    assert [fault.line for fault in caught.value.faults] == [1, 2, 3]
    assert caught.value.more == {caught.value.faults[0]: 997}


@pytest.mark.parametrize(
    ("text", "format", "columns"),
    [
        (ONE, "conllu", 8),
        ("# a comment\n" + ONE, "conllu", 8),
        ("", "conllu", 8),
        ("The DT B-NP\n\n", "columns", 3),
        ("The\tDT\n\n", "columns", 2),
        ("-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n\n", "columns", 4),
        ("The_DT heat_NN\n", "tagged", 2),
        ("a b c d e f\n", "columns", 6),
    ],
)
def test_the_format_is_known_from_the_first_lines(text: str, format: str, columns: int) -> None:
    corpus = read(text=text)
    assert (corpus.layout.format, len(corpus.columns)) == (format, columns)


def test_the_usual_columns_have_their_usual_names() -> None:
    assert list(read(text="EU NNP I-NP I-ORG\n\n").columns) == ["form", "xpos", "chunk", "ner"]
    assert list(read(text="EU\n\n").columns) == ["form"]
    assert list(read(text="a b c d e\n\n").columns) == ["form", "column2", "column3", "column4", "column5"]
    assert list(read(text="", format="columns").columns) == ["form"]


def test_columns_are_named_on_request() -> None:
    corpus = read(text="1 a X\n\n", columns=["id", "form", "tag"])
    assert corpus.column("form").strings() == ["a"]
    with pytest.raises(NameUnknown, match="text: column 'tags' is unknown; did you mean 'tag'"):
        corpus.column("tags")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["form", "a", "b"], r"^text:3: 2 columns; expected 3: form, a, b$"),
        (["word", "tag"], r"^columns word,tag; expected one of them to be 'form'$"),
        (["form", "form"], r"^columns form,form; expected each name once$"),
    ],
)
def test_names_that_do_not_fit_the_columns_are_refused(columns: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text="-DOCSTART- O\n\na X\n\n", columns=columns)


@pytest.mark.parametrize("separator", ["__", "é", "tabs"])
def test_a_separator_of_more_than_one_byte_is_refused(separator: str) -> None:
    with pytest.raises(InputError, match=f"separator '{separator}'; expected tab, space, or one character"):
        read(text="a_X\n", format="tagged", separator=separator)


@pytest.mark.parametrize("separator", ["space", "tab", "\n"])
def test_a_blank_cannot_part_words_and_tags(separator: str) -> None:
    with pytest.raises(InputError, match=r"tag separator .*; expected one character such as '_' or '/'"):
        read(text="a_X\n", format="tagged", separator=separator)


def test_unknown_formats_and_modes_are_refused_with_the_nearest() -> None:
    with pytest.raises(NameUnknown, match="format 'conlu' is unknown; did you mean 'conllu'"):
        read(text=ONE, format="conlu")
    with pytest.raises(NameUnknown, match="lenient mode 'multiple_roots' is unknown; did you mean 'multiple-roots'"):
        read(text=ONE, lenient="multiple_roots")
