"""Ledgers that somebody damaged, by accident or on purpose: every command ends with a result or with one line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deadheat.study.ledger.hash_chain import HashChain
from tests.cli.running import Commands
from tests.fuzz.mutations import mutate

TREES = "# newdoc id = d{0}\n1\ta{0}\ta\tNOUN\t_\t_\t0\troot\t_\t_\n2\tb{0}\tb\tVERB\t_\t_\t1\tobj\t_\t_\n\n"
MUTANTS = 40
DEEP = ("[" * 100_000, '{"a":' * 100_000, "[" * 900 + "]" * 900)
VALUES: tuple[object, ...] = (
    None, True, -1, 10**400, 1 << 70, 1e308, "", "\ud800", "\x1b[2J\u202e", "x" * 10_000, [], [[[]]], {}, {"a": 1},
    [None], {"format": "columns"}, {"format": "conllu", "separator": 5}, {"columns": [1]}, {"lenient": ["x"]},
    "9999-99-99T99:99:99Z", "0000-00-00", "-5", "=1+1", ["\ud800", 5, None, [1]],
)  # fmt: skip
FIELDS = (
    "test_set", "name", "time", "budget", "reading", "also", "includes", "text", "sentences", "words", "metrics",
    "event", "look", "system", "content", "over_budget", "purpose", "user", "prediction", "labels", "reason",
)  # fmt: skip


class Bench:
    """A ledger with every kind of line, and the commands that read it."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.folder, self.commands, self.ledger = folder, commands, folder / "ledger.jsonl"
        self.gold, self.copy = folder / "en-test.conllu", folder / "copy.conllu"
        self.other, self.guess = folder / "other-test.conllu", folder / "guess.conllu"
        self.gold.write_text("".join(TREES.format(i) for i in range(12)))
        self.other.write_text("".join(TREES.format(i) for i in range(20, 32)))
        self.guess.write_text(self.gold.read_text().replace("NOUN", "VERB", 3))
        half = folder / "half.conllu"
        half.write_text("".join(TREES.format(i) for i in range(6)))
        self.run("score", self.gold, self.guess, "-m", "upos", "--purpose", "first")
        self.run("ledger", "guard", self.other, "--budget", 5)
        self.run("ledger", "seal", self.gold, "--out", self.copy, "--budget", 900)
        self.run("score", half, half.rename(folder / "half.txt"), "-m", "upos")
        self.run("compare", self.gold, f"a={self.guess}", f"b={self.other}", "-m", "upos")
        self.hash = str(json.loads(self.ledger.read_text().partition("\n")[0])["test_set"])
        self.files = {path: path.read_bytes() for path in folder.iterdir() if path.name.startswith("ledger.")}

    def run(self, *arguments: object) -> tuple[int, str]:
        outcome = self.commands(*arguments, "--ledger", self.ledger)
        return outcome.code, outcome.err

    def restore(self) -> None:
        for path in self.folder.glob("ledger.*"):
            path.unlink()
        for path, data in self.files.items():
            path.write_bytes(data)

    def all_commands(self) -> Iterator[tuple[object, ...]]:
        yield ("ledger",)
        yield "ledger", "--json"
        yield "ledger", "--by", "year"
        yield "ledger", "--by", "month", "--json"
        yield "ledger", "--verify"
        yield "ledger", "--verify", "--json", "--head", self.hash
        yield "ledger", "show", self.gold
        yield "ledger", "show", self.hash[:8], "--json"
        yield "score", self.gold, self.guess, "-m", "upos", "--json"
        yield "score", self.copy, self.guess, "-m", "upos", "--missing-heads"
        yield "compare", self.gold, f"a={self.guess}", f"b={self.guess}", "-m", "upos", "--json"
        yield "ledger", "guard", self.other, "--budget", 7
        yield "ledger", "seal", self.gold, "--out", self.folder / "copy2.conllu"
        yield "ledger", "repair", "--reason", "a test"
        yield "score", self.gold, self.guess, "-m", "upos"
        yield "ledger", "--verify"

    def check(self, label: object) -> None:
        """Run all commands in their order; the later ones meet what the earlier ones wrote."""
        for arguments in self.all_commands():
            code, errors = self.run(*arguments)
            assert code in (0, 2), (label, arguments, errors)
            assert "Traceback" not in errors, (label, arguments)
            lines = [line for line in errors.splitlines() if not line.startswith("note: ")]
            limit = 12 if "--verify" in arguments else 1
            assert len(lines) <= limit, (label, arguments, errors)
            assert len(lines) >= (code == 2), (label, arguments, errors)
        (self.folder / "copy2.conllu").unlink(missing_ok=True)


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, Commands(capsys))


def test_the_commands_work_on_the_ledger_as_it_is(bench: Bench) -> None:
    events = [json.loads(line)["event"] for line in bench.ledger.read_text().splitlines()]
    assert {"look", "guard", "seal"} <= set(events)
    bench.check("intact")


def test_mutated_ledgers_are_results_or_one_line(bench: Bench) -> None:
    rng = np.random.default_rng(20)
    for number in range(MUTANTS):
        bench.restore()
        bench.ledger.write_bytes(mutate(bench.files[bench.ledger], rng)[: 1 << 19])
        bench.check(number)


def test_values_of_other_types_are_left_out(bench: Bench) -> None:
    """In a valid chain, so that nothing else protects from them."""
    rng = np.random.default_rng(21)
    for at in rng.choice(len(FIELDS) * len(VALUES), MUTANTS, replace=False).tolist():
        field, value = FIELDS[at % len(FIELDS)], VALUES[at // len(FIELDS)]
        bench.restore()
        rewrite(bench, [json.loads(line) | {field: value} for line in bench.ledger.read_text().splitlines()])
        bench.check((field, value))


@pytest.mark.parametrize(("field", "value"), [("test_set", "\ud800"), ("reading", None), ("also", ["\ud800", 5, None])])
def test_values_that_once_were_a_traceback(bench: Bench, field: str, value: object) -> None:
    rewrite(bench, [json.loads(line) | {field: value} for line in bench.ledger.read_text().splitlines()])
    bench.check((field, value))


def rewrite(bench: Bench, events: list[dict[str, object]]) -> None:
    bench.ledger.unlink()
    bench.ledger.with_name("ledger.jsonl.head").unlink()
    for event in events:
        del event["previous"]
    HashChain(bench.ledger).append(lambda _: events, repair={"event": "repair"})


@pytest.mark.parametrize("text", DEEP, ids=["brackets", "objects", "fewer brackets"])
def test_deep_nesting_is_no_line_of_a_ledger(bench: Bench, text: str) -> None:
    good = bench.files[bench.ledger]
    bench.ledger.write_bytes(good + f'{{"test_set":"{bench.hash}","look":{text},"previous":"x"}}\n'.encode() + good)
    bench.check("deep")


@pytest.mark.parametrize("kind", ["loop", "folder", "pipe", "device", "socket", "unreadable", "broken link"])
def test_what_is_no_file_is_no_ledger(bench: Bench, kind: str) -> None:
    for name in ("ledger.jsonl", "ledger.jsonl.head", "ledger.jsonl.lock"):
        bench.restore()
        path = bench.folder / name
        path.unlink()
        match kind:
            case "loop":
                path.symlink_to(path.name)
            case "folder":
                path.mkdir()
            case "pipe":
                os.mkfifo(path)
            case "device":
                path.symlink_to("/dev/zero")
            case "socket":
                import socket

                with socket.socket(socket.AF_UNIX) as server:
                    server.bind(str(path))
            case "unreadable":
                path.touch(0o000)
            case _:
                path.symlink_to("nowhere/at/all")
        bench.check((kind, name))
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
