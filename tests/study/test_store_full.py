"""A full disk and a folder that may not be written to: one clear line, and nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILL = """
import os, sys
from pathlib import Path
from deadheat.errors import InputError
from deadheat.study.store.recording import write_prediction
from deadheat.study.store.store import Store
from tests.study.store_outcomes import cell, outcome
folder = Path(sys.argv[1])
path = folder / "study.db"
{limit}
(folder / "ballast").write_bytes(os.urandom(500_000))
told, number = set(), 0
store = Store.open(path, create=True)
try:
    while number < 20_000:
        store.add(outcome(number, log=os.urandom(3000).hex()))
        told.add(cell(number).key)
        number += 1
    raise SystemExit("never full")
except InputError as error:
    print(error)
try:
    for other in range(10_000):
        write_prediction(store.predictions, cell(other).key, "test", os.urandom(100_000))
except InputError as error:
    print(error)
assert len(told) > 20
assert store.done() == told, "what was told is there"
unfinished = [each.name for each in (store.predictions / "unfinished").iterdir()]
assert not unfinished, unfinished
store.close()
{room}
with Store.open(path) as store:
    assert store.done() == told
    assert store.verify() == [], store.verify()
    assert store.add(outcome(number))
print("fine")
"""
LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))"
NO_LIMIT = "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))"
READ_ONLY = """
import subprocess, sys
from pathlib import Path
from deadheat.errors import InputError
from deadheat.study.store.recording import write_prediction
from deadheat.study.store.store import Store
from tests.study.store_outcomes import cell, outcome
folder = Path(sys.argv[1])
path = folder / "study.db"
with Store.open(path, create=True) as store:
    store.add(outcome(1))
if sys.argv[2] == "killed":  # leaves its log behind
    store = Store.open(path)
    store.add(outcome(2))
    (folder / "copy").mkdir()
    subprocess.run(["cp", path, f"{path}-wal", folder / "copy"], check=True)
    path = folder / "copy" / "study.db"
    store.close()
subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
for call in (lambda: Store.open(path), lambda: Store.open(folder / "new.db", create=True),
             lambda: write_prediction(folder / "p", "ab", "test", b"x")):
    try:
        call()
        raise SystemExit("written")
    except InputError as error:
        print(error)
try:
    with Store.read(path) as store:
        print(len(store.done()), store.counts([cell(1).key], part="test", metric="upos.v1").shape)
except InputError as error:
    print(error)
"""


def small_file_system(folder: Path, program: str, *arguments: str) -> list[str]:
    """What a program prints that has 2 MB of its own at a folder; skipped where one may not mount."""
    mount = f'mount -t tmpfs -o size=2m none "{folder}" 2>/dev/null || exit 77; exec "$@"'
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mounts of one's own here")
    command = ["unshare", "-rm", "sh", "-c", mount, "sh", sys.executable, "-c", program, str(folder), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    if done.returncode == 77:
        pytest.skip("no mounts of one's own here")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_full_disk_costs_only_what_is_not_told_yet(tmp_path: Path) -> None:
    room = "(folder / 'ballast').unlink()"
    store, prediction, end = small_file_system(tmp_path, FILL.format(limit="", room=room))
    assert store.startswith(f"{tmp_path / 'study.db'}: cannot be written or read (")
    assert store.endswith("); what was added before is kept")
    assert prediction.startswith(f"{tmp_path / 'study.db.predictions'}/")
    assert prediction.endswith("cannot be written (no space left on device)")
    assert end == "fine"


def test_a_limit_on_the_size_of_files_costs_only_what_is_not_told_yet(tmp_path: Path) -> None:
    program = FILL.format(limit=LIMIT, room=NO_LIMIT).replace("os.urandom(100_000)", "os.urandom(3_000_000)")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    store, prediction, end = done.stdout.splitlines()
    assert store.startswith(f"{tmp_path / 'study.db'}: cannot be written or read (")
    assert prediction.endswith("cannot be written (file too large)")
    assert end == "fine"


def test_a_store_on_a_file_system_that_is_read_only_can_be_read(tmp_path: Path) -> None:
    writing, making, predicting, reading = small_file_system(tmp_path, READ_ONLY, "closed")
    said = "cannot be written (read-only file system)"
    assert writing == f"{tmp_path / 'study.db'}.lock: {said}"
    assert making == f"{tmp_path / 'new.db'}.lock: {said}"
    assert predicting.endswith(f"p/ab/ab.test.zst: {said}")
    assert reading == "1 (1, 300, 3)"


def test_a_log_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    *_, reading = small_file_system(tmp_path, READ_ONLY, "killed")
    path = tmp_path / "copy" / "study.db"
    assert reading == "2 (1, 300, 3)" or reading.startswith(f"{path}: cannot be read together with study.db-wal")
