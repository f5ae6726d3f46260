"""Views: one module for each kind of result, whose function `view` turns the result into blocks.

A module leaves out what all kinds have in common, the notes and the signature at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol, cast

from deadheat.reporting import model as m
from deadheat.results.base import Result


class _ViewModule(Protocol):
    def view(self, result: Result) -> Iterable[m.Block]: ...


def view(result: Result) -> m.View:
    """What a result has to show, the verdict first."""
    return (*_module_of(result).view(result), *map(m.note, result.notes), m.Signature(result.signature))


def _module_of(result: Result) -> _ViewModule:
    return cast(_ViewModule, import_module(f"deadheat.reporting.views.{result.kind}"))


def brief_view(result: Result, *, full: bool = True) -> m.View:
    """What a terminal has room for; kinds that must be shown fast make it without the rest.

    Without `full`, a kind may leave details out of a result that is long.
    """
    module = import_module(f"deadheat.reporting.views.{result.kind}")
    if hasattr(module, "brief_view"):
        return (*module.brief_view(result, full=full), m.Signature(result.signature))
    return tuple(m.brief(view(result)))


def headline(result: Result) -> str:
    """The verdict of a result in one sentence."""
    blocks = _module_of(result).view(result)
    return next(str(block.headline) for block in blocks if isinstance(block, m.Verdict))
