"""Files of others are read within limits, and what cannot be read is said in one line."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zstandard
from numpy.typing import NDArray

from deadheat import compression
from deadheat.cli.main import COMMANDS, command_parser
from deadheat.cli.options import WITHOUT_FILES
from deadheat.compression import DecompressionError, decompress, decompress_pieces
from deadheat.files import DEFAULT_LIMIT, FileError, check_size, hash_content, read_bytes, read_content, size_limit
from tests.cli.running import Commands

MEGABYTE = 1 << 20


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def test_plain_and_compressed_files_have_the_same_content(tmp_path: Path) -> None:
    text = b"Dogs bark.\n" * 1000
    for name, data in {
        "plain": text,
        "gzip": gzip.compress(text),
        "xz": lzma.compress(text),
        "zstd": zstandard.compress(text),
        "two streams": gzip.compress(text[:11]) + gzip.compress(text[11:]),
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        assert read_content(path) == text
        assert read_bytes(path, padding=3).tobytes() == text + b"\0\0\0"


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": lambda: gzip.compress(bytes(70 * MEGABYTE), 9),
    "xz": lambda: lzma.compress(bytes(70 * MEGABYTE), preset=1),
    "zstd": lambda: zstandard.compress(bytes(70 * MEGABYTE)),
    "many streams": lambda: gzip.compress(bytes(MEGABYTE)) * 70,
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_does_not_become_a_large_one(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(BOMBS[kind]())
    with pytest.raises(FileError, match=r"bomb: decompresses to more than 64 MB; --max-size sets the limit"):
        read_bytes(path)


def test_decompression_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    bomb = zstandard.compress(bytes(2000 * MEGABYTE))

    def count(head: bytes) -> object:
        stream = zstandard.ZstdDecompressor().decompressobj()

        def step(data: bytes) -> bytes:
            nonlocal made
            output: bytes = stream.decompress(data)
            made += len(output)
            return output

        return lambda: SimpleNamespace(decompress=step, eof=False)

    monkeypatch.setattr(compression, "_decompressor", count)
    with pytest.raises(DecompressionError):
        list(decompress_pieces([bomb], limit=MEGABYTE))
    assert made <= 65 * MEGABYTE


def test_the_limit_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.gz"
    path.write_bytes(gzip.compress(bytes(70 * MEGABYTE), 9))
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", "100M")
    assert len(read_bytes(path)) == 70 * MEGABYTE
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", "1M")
    with pytest.raises(FileError, match="decompresses to more than 1 MB"):
        read_bytes(path)


def test_the_default_limit_depends_on_the_size_and_ends_somewhere() -> None:
    assert size_limit(10) == 64 * MEGABYTE
    assert size_limit(MEGABYTE) == 250 * MEGABYTE
    assert size_limit(1 << 40) == DEFAULT_LIMIT
    check_size("archive", MEGABYTE, 250 * MEGABYTE)
    with pytest.raises(FileError, match="archive: decompresses to more than 250 MB"):
        check_size("archive", MEGABYTE, 250 * MEGABYTE + 1)


def test_too_little_memory_is_not_called_corrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(data: bytes) -> bytes:
        raise MemoryError

    monkeypatch.setattr(compression, "_decompressor", lambda head: lambda: SimpleNamespace(decompress=fail, eof=False))
    (tmp_path / "file").write_bytes(b"anything")
    with pytest.raises(FileError, match="file: not enough memory to decompress it"):
        read_bytes(tmp_path / "file")


def test_corrupt_data_is_called_so() -> None:
    good = gzip.compress(b"Dogs bark.\n" * 100)
    for bad in (good[:-9], good[:20] + b"\xff\xff" + good[22:], good + b"rest"):
        with pytest.raises(DecompressionError, match="corrupt compressed data"):
            decompress(bad, limit=MEGABYTE)


def test_a_device_is_refused() -> None:
    with pytest.raises(FileError, match=r"/dev/zero: cannot be read \(it is a device; expected a file\)"):
        read_bytes("/dev/zero")


ENDLESS = {
    "run": "run {}",
    "plan": "run {} --plan",
    "report": "report {}",
    "report of two": "report {} {} --out page.html",
    "export": "export {}",
    "verify": "verify {}",
    "rank": "rank {}",
    "compare": "compare {} A={} B={}",
    "items": "compare {}",
    "split": "split {} --strategy random --out splits",
    "init": "init {}",
    "size": "size {}",
    "ledger": "ledger --ledger {}",
    "ledger show": "ledger show {}",
    "counts": "ledger --by year --counts {}",
    "subsets": "rank wide.csv --subsets {}",
    "attributes": "rank wide.csv --attributes {}",
    "sets": "compare --sets {}",
}


@pytest.mark.parametrize("suffix", [".toml", ".csv", ".json", ".conllu", ".parquet", ""])
@pytest.mark.parametrize("name", ENDLESS)
def test_no_command_reads_a_device(
    name: str, suffix: str, commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text("dataset,A,B\nx,1,2\ny,2,1\n")
    Path(f"endless{suffix}").symlink_to("/dev/zero")
    message = commands.refused(*ENDLESS[name].format(*[f"endless{suffix}"] * 3).split())
    assert f"endless{suffix}" in message
    assert "bug" not in message


def test_files_beside_others_are_no_devices_either(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("splits/manifest.json", "code.py", "page/.deadheat-kit.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).symlink_to("/dev/zero")
    assert "a device" in commands.refused("split", "--check", "splits")
    Path("a.conllu").write_text("1\tword\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    assert "a device" in commands.refused("info", "a.conllu", "--format", "code.py:read")
    Path("wide.csv").write_text("dataset,A,B\nx,1,2\ny,2,1\n")
    assert "a device" in commands("report", "wide.csv", "--paper", "page").err
    with pytest.raises(OSError, match="a device"):
        hash_content("/dev/zero")


def test_a_study_file_of_more_than_a_person_writes_is_refused(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b"#" * (5 * MEGABYTE))
    for command in (["run", path, "--plan"], ["report", path]):
        assert "cannot be read (more than 4 MB)" in commands.refused(*command)


BROKEN_TOML = {
    "brackets": ("a = " + "[" * 2000, "nested too deeply"),
    "digits": ("a = " + "9" * 5000, "not valid TOML"),
    "parts": (".".join("a" * 20_000) + " = 1", "a key of more than 20 parts in line 1"),
    "quoted parts": ("[[a" + '."b c"' * 200 + "]]", "a key of more than 20 parts in line 1"),
    "no text": ("\udcff", "not a text file"),
    "nothing": ("= 1", "not valid TOML"),
}


@pytest.mark.parametrize("name", BROKEN_TOML)
def test_every_command_reads_study_files_alike(name: str, commands: Commands, tmp_path: Path) -> None:
    path, (text, problem) = tmp_path / "study.toml", BROKEN_TOML[name]
    path.write_bytes(text.encode(errors="surrogateescape"))
    messages = [commands.refused(*command) for command in (["run", path, "--plan"], ["report", path])]
    assert messages[0] == messages[1]
    assert messages[0].startswith(f"{path}: {problem}")


def test_a_pipe_is_read_to_its_end_but_not_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write(data: bytes) -> None:
        with suppress(BrokenPipeError):
            pipe.write_bytes(data)

    def read(data: bytes) -> bytes:
        writer = threading.Thread(target=write, args=[data])
        writer.start()
        try:
            return read_content(pipe)
        finally:
            writer.join()

    assert read(zlib.compress(b"text", wbits=31)) == b"text"
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", "1M")
    with pytest.raises(FileError, match=r"pipe: cannot be read \(more than 1 MB; --max-size sets the limit\)"):
        read(bytes(8 * MEGABYTE))


def test_a_closed_standard_input_is_said_so(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    for command in (["rank", "-"], ["score", "-", "-"], ["info", "-"]):
        done = commands(*command)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("-: cannot be read (standard input is closed)")


def test_every_command_that_reads_files_has_the_option(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", "")
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(b"dataset,A,B\n" + b"".join(b"d%d,1,2\n" % i for i in range(200))))
    assert commands("rank", str(path)).code == 0
    done = commands("rank", str(path), "--max-size", "1K")
    assert (done.code, done.err) == (2, f"{path}: decompresses to more than 1 KB; --max-size sets the limit\n")
    done = commands("rank", str(path), "--max-size", "lots")
    assert done.code == 2
    assert "'lots'; expected a size such as 8G" in done.err
    for name in set(COMMANDS) - set(WITHOUT_FILES):
        assert "--max-size SIZE" in command_parser(name).format_help()


def save_npz(path: Path, **arrays: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    path.write_bytes(buffer.getvalue())


def test_saved_counts_do_not_become_large_either(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    save_npz(path, format=np.array("deadheat-counts.v1"), counts=np.zeros(9 * MEGABYTE))
    done = commands("size", str(path))
    assert (done.code, done.err) == (2, f"{path}: decompresses to more than 64 MB; --max-size sets the limit\n")


def test_an_array_that_announces_more_than_it_has_is_refused(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    save_npz(path, format=np.array("deadheat-counts.v1"), counts=np.zeros(10, np.int64))
    raw = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive, zipfile.ZipFile(path, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, archive.read(name).replace(b"(10,)", b"(10000000000000,)"))
    done = commands("size", str(path))
    assert done.code == 2
    assert "not saved counts" in done.err
