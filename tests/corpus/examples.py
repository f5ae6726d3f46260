"""Small corpora for tests, what Deadheat says of them, and what the official evaluator says."""

import io
from collections.abc import Iterable
from typing import Any

import pytest
from udtools.udeval import load_conllu

from deadheat.corpus import read
from deadheat.errors import CorpusError, Fault


def row(
    number: object, form: str = "a", head: object = 0, deprel: str = "root", *, deps: str = "_", misc: str = "_"
) -> str:
    """A line of CoNLL-U without its end."""
    return "\t".join([str(number), form, "_", "X", "_", "_", str(head), deprel, deps, misc])


def extra(number: str, form: str = "ab", head: str = "_") -> str:
    """A multiword token or an empty node."""
    return "\t".join([number, form, "_", "_", "_", "_", head, "_", "_", "_"])


def sentence(*lines: str) -> str:
    return "".join(line + "\n" for line in lines) + "\n"


ONE = sentence(row(1))
"""The shortest corpus there is: one word."""


def faults_of(text: str, *, format: str = "conllu", lenient: Iterable[str] = ()) -> tuple[Fault, ...]:
    """What is wrong with a text, all of which is listed."""
    with pytest.raises(CorpusError) as caught:
        read(text=text, format=format, lenient=lenient)
    assert not caught.value.more
    return caught.value.faults


def fault_of(text: str, *, format: str = "conllu", lenient: Iterable[str] = ()) -> tuple[int, str]:
    """The line and the message of the one thing that is wrong with a text."""
    (fault,) = faults_of(text, format=format, lenient=lenient)
    assert fault.path == "text"
    return fault.line, fault.message


def official(text: str, **options: bool) -> Any:
    """The official evaluator's reading of a text, with the line ends that it would find in a file."""
    return load_conllu(io.StringIO(text, newline=None), "x", options)
