from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from itertools import permutations
from pathlib import Path

import pytest

from deadheat.study.ledger.hash_chain import HashChain, parse_events
from deadheat.study.ledger.verification import START

REPAIR = {"event": "repair"}


@pytest.fixture
def chain(tmp_path: Path) -> HashChain:
    return HashChain(tmp_path / "deep" / "ledger.jsonl")


def add(chain: HashChain, *numbers: int) -> tuple[str, ...]:
    return chain.append(lambda _: [{"event": "look", "n": number} for number in numbers], repair=REPAIR)


def numbers(chain: HashChain) -> list[int]:
    return [event["n"] for event in parse_events(chain.read()) if event["event"] == "look"]


def head_of(chain: HashChain) -> Path:
    return chain.path.with_name("ledger.jsonl.head")


def test_each_line_has_the_hash_of_the_line_before(chain: HashChain) -> None:
    add(chain, 1)
    add(chain, 2, 3)
    lines = chain.path.read_bytes().splitlines()
    assert [json.loads(line)["n"] for line in lines] == [1, 2, 3]
    hashes = [hashlib.sha256(line).hexdigest() for line in lines]
    assert [json.loads(line)["previous"] for line in lines] == [START, *hashes[:-1]]
    assert head_of(chain).read_text() == f"3 {hashes[-1]}\n"
    verification = chain.verify()
    assert not verification.faults
    assert [verification.find(start) for start in (*(digest[:10] for digest in hashes), "ffff")] == [1, 2, 3, 0]


def test_every_change_of_a_byte_is_detected(chain: HashChain) -> None:
    add(chain, 1, 2, 3)
    good = chain.path.read_bytes()
    for at in range(len(good)):
        changed = bytearray(good)
        changed[at] ^= 1
        chain.path.write_bytes(changed)
        assert chain.verify().faults, at
    chain.path.write_bytes(good)
    assert not chain.verify().faults


def test_every_dropped_and_every_reordered_line_is_detected(chain: HashChain) -> None:
    add(chain, 1, 2, 3, 4)
    good = chain.path.read_bytes().splitlines(keepends=True)
    for size in range(5):
        for chosen in permutations(range(4), size):
            chain.path.write_bytes(b"".join(good[i] for i in chosen))
            assert bool(chain.verify().faults) is (chosen != (0, 1, 2, 3)), chosen


def test_a_broken_place_is_told_with_its_line(chain: HashChain) -> None:
    add(chain, 1, 2, 3, 4)
    lines = chain.path.read_bytes().splitlines(keepends=True)
    chain.path.write_bytes(b"".join([lines[0], lines[1].replace(b'"n":2', b'"n":7'), lines[2], b"what\n"]))
    places = [str(fault).partition("ledger.jsonl:")[2].partition(":")[0] for fault in chain.verify().faults]
    assert places == ["3", "4", " line 4 is not the one of the head file; it was edited or replaced"]


@pytest.mark.parametrize("damage", ["drop the last", "edit the last", "drop all"])
def test_what_is_written_after_tampering_does_not_hide_it(chain: HashChain, damage: str) -> None:
    add(chain, 1, 2, 3)
    lines = chain.path.read_bytes().splitlines(keepends=True)
    changed = {"drop the last": lines[:2], "edit the last": [*lines[:2], lines[2].replace(b"3", b"4")], "drop all": []}
    chain.path.write_bytes(b"".join(changed[damage]))
    add(chain, 5)
    add(chain, 6)
    assert numbers(chain)[-2:] == [5, 6]
    assert chain.verify().faults


def test_a_missing_head_is_told_and_recorded(chain: HashChain) -> None:
    add(chain, 1)
    head_of(chain).unlink()
    assert "head file is missing" in str(chain.verify())
    assert "head file was missing" in add(chain, 2)[0]
    assert [fault.line for fault in chain.verify().faults] == [2]
    assert [event.get("reason") for event in parse_events(chain.read())] == [None, "no head", None]


def test_a_ledger_that_is_ahead_of_its_head_is_in_order(chain: HashChain) -> None:
    add(chain, 1)
    behind = head_of(chain).read_bytes()
    add(chain, 2, 3)
    head_of(chain).write_bytes(behind)  # as if the writer had been killed after the lines
    assert not chain.verify().faults
    assert add(chain, 4) == ()
    assert not chain.verify().faults


def test_a_torn_last_line_is_cut_off_kept_and_told(chain: HashChain) -> None:
    add(chain, 1)
    with chain.path.open("ab") as file:
        file.write(b'{"event":"look","n":2,"pre')
    assert numbers(chain) == [1]
    found = chain.verify()
    assert not found.faults
    assert "an incomplete last line" in found.notes[0]
    assert "the last line was incomplete" in add(chain, 3)[0]
    assert [event.get("torn") for event in parse_events(chain.read())] == [None, '{"event":"look","n":2,"pre', None]
    assert not chain.verify().faults


def test_nothing_is_written_where_nothing_is_made(chain: HashChain) -> None:
    add(chain)
    assert not chain.path.exists()


def test_a_refusal_writes_nothing(chain: HashChain) -> None:
    add(chain, 1)
    before = chain.path.read_bytes()

    def refuse(_: bytes) -> list[dict[str, int]]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        chain.append(refuse, repair=REPAIR)
    assert chain.path.read_bytes() == before
    add(chain, 2)  # the lock was given back
    assert numbers(chain) == [1, 2]


def test_a_full_disk_leaves_the_file_as_it_was(chain: HashChain, monkeypatch: pytest.MonkeyPatch) -> None:
    add(chain, 1)
    before = chain.path.read_bytes()
    write, calls = os.write, []

    def half(file: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        add(chain, 2)
    monkeypatch.undo()
    assert len(calls) == 2
    assert chain.path.read_bytes() == before
    add(chain, 3)
    assert not chain.verify().faults


def test_a_head_that_cannot_be_written_takes_its_lines_with_it(chain: HashChain) -> None:
    add(chain, 1)
    before = chain.path.read_bytes()
    head_of(chain).with_name("ledger.jsonl.head.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        add(chain, 2)
    assert chain.path.read_bytes() == before
    assert not chain.verify().faults


def test_a_folder_or_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(OSError, match="not a plain file"):
            HashChain(path).read()


def test_lines_are_found_by_what_they_mention_and_broken_ones_are_passed_over() -> None:
    data = b'{"a":"x1"}\nx1 no json\n["x1"]\n{"a":"y"}\n{"a":"x1","b":"x1"}\n'
    assert list(parse_events(data, "x1")) == [{"a": "x1"}, {"a": "x1", "b": "x1"}]
    assert [event["a"] for event in parse_events(data)] == ["x1", "y", "x1"]
    assert list(parse_events(data, "z")) == []


def test_file_names_that_are_not_text_can_be_kept(chain: HashChain) -> None:
    chain.append(lambda _: [{"event": "look", "system": "a\udcff"}], repair=REPAIR)
    assert next(parse_events(chain.read()))["system"] == "a\udcff"
    assert not chain.verify().faults


WRITER = """
import sys
from pathlib import Path
from deadheat.study.ledger.hash_chain import HashChain
chain, name = HashChain(Path(sys.argv[1])), sys.argv[2]
for number in range(int(sys.argv[3])):
    chain.append(lambda _: [{"event": "look", "n": f"{name}-{number}"}], repair={"event": "repair"})
    print(number, flush=True)
"""


def writers(chain: HashChain, count: int, looks: int) -> list[subprocess.Popen[str]]:
    return [
        subprocess.Popen([sys.executable, "-c", WRITER, str(chain.path), f"w{i}", str(looks)], stdout=subprocess.PIPE,
                         text=True)
        for i in range(count)
    ]  # fmt: skip


def test_many_writers_at_once_lose_nothing(chain: HashChain) -> None:
    running = writers(chain, 8, 40)
    for each in running:
        each.communicate(timeout=600)
    assert [each.returncode for each in running] == [0] * 8
    found = [event["n"] for event in parse_events(chain.read())]
    assert sorted(found) == sorted(f"w{i}-{n}" for i in range(8) for n in range(40))
    for i in range(8):  # each writer's own looks are in order
        assert [each for each in found if each.startswith(f"w{i}-")] == [f"w{i}-{n}" for n in range(40)]
    assert not chain.verify().faults


def test_writers_that_are_killed_lose_nothing_that_was_written(chain: HashChain) -> None:
    running = writers(chain, 4, 10_000)
    done: dict[int, int] = {}
    for i, each in enumerate(running):
        assert each.stdout is not None
        each.stdout.readline()  # it is at work
        time.sleep(0.02 * (i + 1))
        os.kill(each.pid, signal.SIGKILL)
        done[i] = 1 + len(each.stdout.read().split())
        each.stdout.close()
        assert each.wait(timeout=600) == -signal.SIGKILL
    add(chain, -1)
    assert not chain.verify().faults
    found = [event["n"] for event in parse_events(chain.read()) if event["event"] == "look"]
    for i in range(4):
        own = [each for each in found if str(each).startswith(f"w{i}-")]
        assert own == [f"w{i}-{n}" for n in range(len(own))]
        assert len(own) in (done[i], done[i] + 1)  # the last one may be written and not yet told


TORN = """
import os, signal, sys
from pathlib import Path
from deadheat.study.ledger.hash_chain import HashChain
write = os.write
def killed(file, data):
    write(file, data[:len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
os.write = killed
HashChain(Path(sys.argv[1])).append(lambda _: [{"event": "look", "n": 2}], repair={"event": "repair"})
"""


def test_a_writer_killed_in_the_middle_of_a_write_is_mended_by_the_next(chain: HashChain) -> None:
    add(chain, 1)
    done = subprocess.run([sys.executable, "-c", TORN, str(chain.path)], timeout=600)
    assert done.returncode == -signal.SIGKILL
    assert not chain.path.read_bytes().endswith(b"\n")
    assert "incomplete" in add(chain, 3)[0]
    assert numbers(chain) == [1, 3]
    assert not chain.verify().faults


def changed(chain: HashChain, *lines: bytes) -> None:
    chain.path.write_bytes(b"".join(lines))


def test_lines_that_were_dropped_with_the_head_stay_a_fault(chain: HashChain) -> None:
    """A new head does not hide that nobody knows what came before it."""
    add(chain, 1, 2, 3)
    lines = chain.path.read_bytes().splitlines(keepends=True)
    changed(chain, *lines[:2])
    head_of(chain).unlink()
    for number in (5, 6):
        assert "deadheat ledger --verify" in add(chain, number)[0]
    assert [fault.line for fault in chain.verify().faults] == [3]
    assert "the head file was missing when this line was written" in str(chain.verify())


def test_every_later_line_warns_of_a_change(chain: HashChain) -> None:
    add(chain, 1, 2, 3)
    changed(chain, chain.path.read_bytes().replace(b'"n":1', b'"n":9'))
    for number in (4, 5):
        assert "ledger.jsonl:2: follows" in add(chain, number)[0]
    assert add(HashChain(chain.path.with_name("other.jsonl")), 1) == ()


def test_faults_of_a_kind_are_listed_three_at_a_time(chain: HashChain) -> None:
    add(chain, 1)
    chain.path.write_bytes(chain.path.read_bytes() + 50 * b"no json\n")
    lines = str(chain.verify()).splitlines()
    assert [line.rpartition("jsonl:")[2].partition(":")[0] for line in lines[:3]] == ["2", "3", "4"]
    assert lines[3].endswith("ledger.jsonl: 47 more errors like that in line 2")
    assert len(lines) == 4
    assert len(chain.verify().faults) == 50


def test_a_change_can_be_accepted_and_stays_reported(chain: HashChain) -> None:
    add(chain, 1, 2, 3)
    changed(chain, chain.path.read_bytes().replace(b'"n":1', b'"n":9'))
    accept(chain)
    found = chain.verify()
    assert not found.faults
    assert found.notes[0].endswith("jsonl:4: 1 fault before this line, accepted by ana on Monday: a reason")
    assert add(chain, 5) == ()
    assert not chain.verify().faults
    good = chain.path.read_bytes()
    for at in range(len(good)):  # what was accepted is as it was then
        changed(chain, good[:at], bytes([good[at] ^ 1]), good[at + 1 :])
        assert chain.verify().faults, at


@pytest.mark.parametrize("damage", ["deleted at the end", "head", "torn", "all"])
def test_whatever_is_wrong_can_be_accepted(chain: HashChain, damage: str) -> None:
    add(chain, 1, 2, 3)
    if damage in ("deleted at the end", "all"):
        changed(chain, *chain.path.read_bytes().splitlines(keepends=True)[:2])
    if damage in ("head", "all"):
        head_of(chain).unlink()
    if damage in ("torn", "all"):
        changed(chain, b"junk\n", chain.path.read_bytes(), b'{"ev')
    accept(chain)
    add(chain, 4)
    assert not chain.verify().faults
    assert not chain.verify(parse=False).faults


def accept(chain: HashChain) -> None:
    fields = {"user": "ana", "time": "Monday", "purpose": "a reason"}
    chain.append(lambda _: [{"event": "repair", "content": "", **fields}], repair=REPAIR)


@pytest.mark.parametrize("head", [b"", b"\xff", b"x y", b"-1 " + b"0" * 64, b"9" * 5000 + b" " + b"0" * 64, b"1 2 3"])
def test_a_head_that_is_none_is_a_missing_one(chain: HashChain, head: bytes) -> None:
    add(chain, 1, 2)
    head_of(chain).write_bytes(head)
    assert "its head file is missing or broken" in str(chain.verify())


def test_pipes_beside_a_ledger_are_refused_and_not_waited_for(chain: HashChain) -> None:
    add(chain, 1)
    head_of(chain).unlink()
    os.mkfifo(head_of(chain))
    with pytest.raises(OSError, match="not a plain file"):
        add(chain, 2)
    with pytest.raises(OSError, match="not a plain file"):
        chain.verify()
    head_of(chain).unlink()
    lock = chain.path.with_name("ledger.jsonl.lock")
    lock.unlink()
    os.mkfifo(lock)
    assert len(chain.verify().hashes) == 1
