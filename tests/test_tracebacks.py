"""Errors in one line, with the last line of a user's files that led to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.errors import InputError
from deadheat.systems import SYSTEMS
from deadheat.tracebacks import describe_error

MINE = """
import deadheat
import json
import helper

def tagger(*, fails: str = "here"):
    def learn(train, tune, seed):
        if fails == "here":
            raise ValueError("bad\\nweights at 3")
        if fails == "in a package":
            json.loads("{")
        helper.load()
    return deadheat.tagger(learn, column="tag")
"""
CORPUS = read(text="the_DT heat_NN\n")


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        ("here", "mine.py line 9: ValueError: bad weights at 3"),
        ("in a package", "mine.py line 11: JSONDecodeError: Expecting property name"),
        ("beside", "helper.py line 2: KeyError: 'foo'"),
    ],
)
def test_the_last_line_of_the_users_files_is_named(own_code: Path, fails: str, expected: str) -> None:
    (own_code / "mine.py").write_text(MINE)
    (own_code / "helper.py").write_text("def load():\n    return {}['foo']\n")
    system = SYSTEMS.find(f"mine.py:tagger(fails={fails!r})", own_code)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each case has another
        system.train(CORPUS, None, 0)
    assert describe_error(caught.value).startswith(expected)


def test_errors_of_deadheat_need_no_type() -> None:
    assert describe_error(InputError("mine.py: no such file")) == "mine.py: no such file"
    assert describe_error(KeyError("a\nb")) == r"KeyError: 'a\nb'"
    assert describe_error(ValueError()) == "ValueError"
