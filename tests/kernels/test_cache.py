"""Compiled programs are executed, so only files that nobody else could have written are loaded."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from deadheat.kernels import cache
from deadheat.kernels.cache import create_folder, distrust, read_cached, trim_folder, write_cached

ANOTHER_USER = 54_321


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a cache with one file."""
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cache")
    write_cached("kernels", "code.o", b"machine code")
    assert read_cached("kernels", "code.o") == b"machine code"
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def give_away(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Make a file or folder belong to another user."""
    if os.geteuid() == 0:
        return lambda path: os.chown(path, ANOTHER_USER, -1)
    real = cache._distrust
    given: set[int] = set()

    def pretend(status: os.stat_result) -> str:
        return "belongs to another user" if status.st_ino in given else real(status)

    monkeypatch.setattr(cache, "_distrust", pretend)
    return lambda path: given.add(path.stat().st_ino)


@pytest.mark.parametrize("planted", ["code.o", ".", ".."], ids=["file", "folder", "cache"])
def test_what_another_user_owns_is_not_loaded(planted: str, folder: Path, give_away: Callable[[Path], None]) -> None:
    give_away(folder / planted)
    assert read_cached("kernels", "code.o") is None


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o1777])
@pytest.mark.parametrize("open_to_all", ["code.o", ".", ".."], ids=["file", "folder", "cache"])
def test_what_others_can_write_is_not_loaded(open_to_all: str, mode: int, folder: Path) -> None:
    (folder / open_to_all).chmod(mode)
    assert read_cached("kernels", "code.o") is None


def test_what_root_provides_for_all_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make files of root")
    monkeypatch.setattr(os, "geteuid", lambda: ANOTHER_USER)
    for path in (folder.parent, folder, folder / "code.o"):
        path.chmod(0o755)
    assert read_cached("kernels", "code.o") == b"machine code"


def test_nothing_is_written_to_a_folder_of_another_user(folder: Path, give_away: Callable[[Path], None]) -> None:
    give_away(folder)
    write_cached("kernels", "more.o", b"machine code")
    assert [path.name for path in folder.iterdir()] == ["code.o"]
    assert create_folder("kernels") is None
    assert distrust("kernels") == f"{folder} belongs to another user"


def test_a_link_is_not_followed(folder: Path) -> None:
    (folder / "code.o").rename(folder / "elsewhere")
    (folder / "code.o").symlink_to(folder / "elsewhere")
    assert read_cached("kernels", "code.o") is None


def test_a_pipe_in_the_cache_does_not_hang(folder: Path) -> None:
    os.mkfifo(folder / "pipe.o", 0o600)
    assert read_cached("kernels", "pipe.o") is None


def test_the_cache_is_private_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "home" / "cache")
    before = os.umask(0)
    try:
        write_cached("kernels", "code.o", b"machine code")
        created = create_folder("networks")
    finally:
        os.umask(before)
    assert created == tmp_path / "home" / "cache" / "networks"
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in [created, created.parent, created.parent / "kernels", *(created.parent / "kernels").iterdir()]
    }
    assert modes == {"networks": 0o700, "cache": 0o700, "kernels": 0o700, "code.o": 0o600}
    assert read_cached("kernels", "code.o") == b"machine code"
    assert distrust("kernels") == distrust("networks") == ""


def test_a_folder_above_its_limit_loses_what_was_used_longest_ago(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    files = [tmp_path / "old", tmp_path / "inner" / "older", tmp_path / "read", tmp_path / "new"]
    for path, (used, written) in zip(files, [(200, 200), (100, 100), (300, 50), (250, 400)], strict=True):
        path.write_bytes(b"x" * 10)
        os.utime(path, (used, written))
    assert trim_folder(tmp_path, 40) == 40
    assert all(path.exists() for path in files)
    assert trim_folder(tmp_path, 25) == 20
    assert [path.name for path in files if path.exists()] == ["read", "new"]
    assert trim_folder(tmp_path, 0) == 0
    assert trim_folder(tmp_path / "missing", 0) == 0


def test_trimming_deletes_links_and_not_what_they_lead_to(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"x" * 10)
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "link").symlink_to(target)
    trim_folder(folder, 0)
    assert target.exists()
    assert not any(folder.iterdir())
