"""Checks that the parameters of the testbed share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deadheat.errors import InputError


def not_shares(where: str, owner: object, names: Sequence[str]) -> Iterator[str]:
    """The mistakes among parameters that should lie between 0 and 1."""
    for name in names:
        value = getattr(owner, name)
        if not 0 <= value <= 1:
            yield f"{where}: {name} is {value}; expected a number from 0 to 1"


def too_small(where: str, owner: object, least: Mapping[str, float]) -> Iterator[str]:
    """The mistakes among parameters that should be finite and not below a bound."""
    for name, bound in least.items():
        value = getattr(owner, name)
        if not bound <= value < float("inf"):
            yield f"{where}: {name} is {value}; expected {bound} or more"


def not_a_name(where: str, name: str) -> Iterator[str]:
    """The mistake of a name that cannot be part of an identifier or of a file name."""
    if not name or any(not character.isalnum() and character != "_" for character in name):
        yield f"{where}: not a name; expected letters, digits and underscores"


def refuse(mistakes: Sequence[str]) -> None:
    """Raise all mistakes at once, one line each."""
    if mistakes:
        raise InputError("\n".join(mistakes))
