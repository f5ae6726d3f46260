"""Where bytes come from: files, folders, standard input, compressed or not, whole or broken."""

import gzip
import io
import lzma
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

import pytest
import zstandard

from deadheat.corpus import read, to_bytes
from deadheat.errors import CorpusError, InputError
from tests.corpus.examples import ONE, row, sentence

MakeFile: TypeAlias = Callable[[bytes], Path]
Compress: TypeAlias = Callable[[bytes], bytes]

TEXT = "".join(sentence(f"# sent_id = {i}", row(1, f"word{i * 7919 % 1000}")) for i in range(2000)).encode()


def compress_zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


COMPRESSORS = {"gzip": gzip.compress, "xz": lzma.compress, "zstd": compress_zstd}


def refusal(path: Path | str) -> str:
    """The one line that is said of a file."""
    with pytest.raises(CorpusError) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert str(fault) == f"{path}{f':{fault.line}' if fault.line else ''}: {fault.message}"
    return fault.message if not fault.line else f"{fault.line}: {fault.message}"


@pytest.fixture
def file(tmp_path: Path) -> MakeFile:
    def make(data: bytes) -> Path:
        path = tmp_path / "file.conllu"
        path.write_bytes(data)
        return path

    return make


@pytest.fixture(params=list(COMPRESSORS.values()), ids=list(COMPRESSORS))
def compress(request: pytest.FixtureRequest) -> Compress:
    compressor: Compress = request.param
    return compressor


def test_a_compressed_file_is_read_whatever_its_name(compress: Compress, file: MakeFile) -> None:
    assert to_bytes(read(file(compress(TEXT)))) == TEXT


def test_nothing_compressed_is_an_empty_corpus(compress: Compress, file: MakeFile) -> None:
    assert read(file(compress(b""))).sentences == 0


def test_compressed_files_put_behind_each_other_are_read_to_the_end(compress: Compress, file: MakeFile) -> None:
    half = TEXT.index(b"\n\n", len(TEXT) // 2) + 2
    assert to_bytes(read(file(compress(TEXT[:half]) + compress(TEXT[half:])))) == TEXT


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99, "all but four bytes", "all but one byte"])
def test_a_compressed_file_that_was_cut_off_is_refused(kept: float | str, compress: Compress, file: MakeFile) -> None:
    data = compress(TEXT)
    size = len(data) - (4 if "four" in kept else 1) if isinstance(kept, str) else int(kept * len(data))
    assert "corrupt compressed data (compressed " in refusal(file(data[:size]))


def test_a_second_part_that_was_cut_off_and_rubbish_at_the_end_are_refused(compress: Compress, file: MakeFile) -> None:
    for more in (compress(TEXT)[:-5], b"rubbish"):
        assert "corrupt compressed data" in refusal(file(compress(TEXT) + more))


@pytest.mark.parametrize("position", [0.3, 0.6, 0.9])
def test_a_changed_byte_of_a_compressed_file_is_noticed(position: float, compress: Compress, file: MakeFile) -> None:
    data = bytearray(compress(TEXT))
    data[int(position * len(data))] ^= 0xFF
    assert "corrupt compressed data" in refusal(file(bytes(data)))


def test_xz_may_be_padded_with_zeros_between_and_after_its_streams(file: MakeFile) -> None:
    data = lzma.compress(TEXT) + bytes(8) + lzma.compress(ONE.encode()) + bytes(4)
    assert to_bytes(read(file(data))) == TEXT + ONE.encode()


def test_zstd_without_a_size_in_its_header_is_read(file: MakeFile) -> None:
    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    assert to_bytes(read(file(stream.compress(TEXT) + stream.flush()))) == TEXT


@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input_is_a_file(compressed: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    data = gzip.compress(TEXT) if compressed else TEXT
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    corpus = read("-")
    assert corpus.name == "-"
    assert to_bytes(corpus) == TEXT


def test_faults_of_standard_input_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"1\tx\n\n")))
    assert refusal("-").startswith("1: 2 tab-separated columns")


def test_a_pipe_is_read_to_its_end() -> None:
    reader, writer = os.pipe()
    os.write(writer, ONE.encode() * 3)
    os.close(writer)
    try:
        assert read(f"/dev/fd/{reader}", format="conllu").sentences == 3
    finally:
        os.close(reader)


def test_a_folder_stands_for_its_corpus_files_by_name(tmp_path: Path) -> None:
    for name, form in [("b.conllu.gz", "b"), ("a.conllu", "a"), ("c.conllu.zst", "c"), ("notes.md", "x")]:
        data = sentence(row(1, form)).encode()
        compressors = {".gz": gzip.compress, ".zst": compress_zstd}
        (tmp_path / name).write_bytes(compressors.get(Path(name).suffix, bytes)(data))
    assert read(tmp_path).column("form").strings() == ["a", "b", "c"]


def test_text_and_licence_beside_treebank_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "xx-ud-test.conllu").write_text(ONE)
    (tmp_path / "xx-ud-test.txt").write_text("a\n")
    (tmp_path / "LICENSE.txt").write_text("Do what you like.\n")
    corpus = read(tmp_path)
    assert [part.path for part in corpus.parts] == [str(tmp_path / "xx-ud-test.conllu")]


def test_a_folder_without_corpus_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    text_shown = f"{tmp_path}: no corpus files in this folder; expected names ending in .conllu, "
    with pytest.raises(InputError, match=re.escape(text_shown)):
        read(tmp_path)


def test_a_folder_that_cannot_be_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: str) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", forbidden)
    with pytest.raises(InputError, match=rf"^{tmp_path}: cannot be read \(permission denied\)$"):
        read(tmp_path)


def test_no_file_at_all_is_refused() -> None:
    with pytest.raises(InputError, match=r"^no files; expected at least one$"):
        read([])


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.conllu") == "cannot be read (no such file or directory)"


def test_a_file_under_a_file_is_refused(file: MakeFile) -> None:
    assert refusal(file(b"") / "x.conllu") == "cannot be read (not a directory)"


def test_a_file_that_may_not_be_opened_is_refused(file: MakeFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied")

    path = file(TEXT)
    monkeypatch.setattr("builtins.open", forbidden)
    assert refusal(path) == "cannot be read (permission denied)"


def test_a_file_that_shrinks_while_it_is_read_is_refused(file: MakeFile, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(TEXT)
    result = os.stat(path)
    grown = os.stat_result((*result[:6], result.st_size + 1, *result[7:10]))
    monkeypatch.setattr(os, "fstat", lambda _: grown)
    shrunk = f"file shrank while being read, from {len(TEXT) + 1} bytes to {len(TEXT)}"
    assert refusal(path) == f"cannot be read ({shrunk})"
