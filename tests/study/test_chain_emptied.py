"""Ledgers that lost their lines together with the head file, which is all that tells them from new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.study.ledger.hash_chain import HashChain
from tests.study.test_chain import REPAIR, add, head_of, numbers
from tests.study.test_chain import chain as chain


def lock_of(chain: HashChain) -> Path:
    return chain.path.with_name("ledger.jsonl.lock")


def test_a_ledger_that_lost_its_lines_and_its_head_is_not_new(chain: HashChain) -> None:
    add(chain, 1, 2)
    chain.path.write_bytes(b"")
    head_of(chain).unlink()
    (fault,) = chain.verify().faults
    assert fault.message == "empty and without its head file, but it has been in use; its lines were deleted"
    assert any("recorded" in note for note in add(chain, 3))
    (fault,) = chain.verify().faults
    assert "lines before it may have been deleted" in fault.message
    assert numbers(chain) == [3]


def test_an_empty_file_is_a_new_ledger(chain: HashChain) -> None:
    chain.path.parent.mkdir()
    chain.path.touch()
    check = chain.verify()
    assert not check.faults
    assert "it was emptied and its head and lock files were deleted" in check.notes[0]
    assert str(check) == f"{chain.path}: no lines"
    with pytest.raises(ZeroDivisionError):  # as an evaluation that is refused
        chain.append(lambda _: [{"n": 1 // 0}], repair=REPAIR)
    assert not chain.verify().faults
    assert add(chain, 1) == ()
    assert not chain.verify().faults
    assert not chain.verify().notes


def test_without_its_lock_file_an_emptied_ledger_looks_new_which_is_said(chain: HashChain) -> None:
    add(chain, 1)
    chain.path.write_bytes(b"")
    for file in (head_of(chain), lock_of(chain)):
        file.unlink()
    assert "emptied" in chain.verify().notes[0]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_lines_that_are_dropped_with_the_head_stay_a_fault_after_the_next_look(kept: int, chain: HashChain) -> None:
    add(chain, 1, 2, 3)
    lines = chain.path.read_bytes().splitlines(keepends=True)
    chain.path.write_bytes(b"".join(lines[:kept]))
    head_of(chain).unlink()
    add(chain, 4)
    assert [fault.line for fault in chain.verify().faults] == [kept + 1]
    add(chain, 5)
    assert chain.verify(parse=False).warning
