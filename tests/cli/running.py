"""Run commands as a person would, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from deadheat.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class Commands:
    """`commands("score", gold, pred)` gives the exit code and what was printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Outcome:
        self._capsys.readouterr()
        given: Sequence[str] = [str(each) for each in arguments]
        try:
            code = main(given)
        except SystemExit as stop:  # argparse ends so after --help
            code = int(stop.code or 0)
        printed = self._capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    def refused(self, *arguments: object) -> str:
        """The single line that wrong input gives; fails unless it is one line and exit code 2."""
        outcome = self(*arguments)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.count("\n") == 1, outcome.err
        return outcome.err.rstrip("\n")
