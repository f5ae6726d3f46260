"""Views: one module for each kind of result, whose function `view` turns the result into blocks."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from deadheat.report.model import Verdict, View, brief
from deadheat.results.base import Result


class _ViewModule(Protocol):
    def view(self, result: Result) -> View: ...


def view(result: Result) -> View:
    """What a result has to show, the verdict first."""
    module = cast(_ViewModule, import_module(f"deadheat.report.views.{result.kind}"))
    return module.view(result)


def brief_view(result: Result) -> View:
    """What a terminal has room for; kinds that must be shown fast make it without the rest."""
    module = import_module(f"deadheat.report.views.{result.kind}")
    return module.brief_view(result) if hasattr(module, "brief_view") else tuple(brief(view(result)))


def headline(result: Result) -> str:
    """The verdict of a result in one sentence."""
    verdict = next((block for block in view(result) if isinstance(block, Verdict)), None)
    return str(verdict.headline) if verdict is not None else result.kind
