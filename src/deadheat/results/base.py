"""What all results have in common, and how they become JSON and results again.

A result is a frozen dataclass of plain values: strings, numbers, booleans, tuples, mappings, other such dataclasses,
and None for what does not exist. JSON is made and read by msgspec from the types of the fields, with `kind` (which
type) and `schema` (which version of it) in front. Numbers that are not finite travel as the strings "NaN", "Infinity"
and "-Infinity", as in the JSON mapping of Protocol Buffers; null means "does not exist".
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

from deadheat.errors import InputError, NameUnknown
from deadheat.version import __version__

# Where the type of each kind of result is defined: adding a kind adds a line here and a module in `reporting/views`.
KINDS = {
    "score": "deadheat.results.score:Scores",
    "compare": "deadheat.results.compare:Comparison",
    "power": "deadheat.results.data:Power",
    "seeds": "deadheat.results.runs:Seeds",
    "contrast": "deadheat.results.runs:Contrast",
    "rank": "deadheat.results.rank:Ranking",
    "battles": "deadheat.results.battles:BattleRanking",
    "size": "deadheat.results.rank:SizeStudy",
    "split": "deadheat.results.data:SplitReport",
    "treebanks": "deadheat.results.data:TreebankSizes",
    "ledger": "deadheat.results.ledger:LedgerReport",
    "table": "deadheat.results.score:ScoreTable",
    "study": "deadheat.results.study:StudyResult",
    "search": "deadheat.results.search:SearchResult",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """Base of all results: JSON, LaTeX, Markdown, and how a result prints.

    A subclass is a dataclass with `frozen=True, slots=True, eq=False, repr=False`. Results are equal if their JSON is.
    """

    kind: ClassVar[str]
    schema: ClassVar[int] = 1  # raised by every change that an older reader could not cope with

    version: str = field(default=__version__, kw_only=True)  # of the Deadheat that made the result
    notes: tuple[str, ...] = field(default=(), kw_only=True)  # what a reader should keep in mind

    @property
    def signature(self) -> str:
        """All that the numbers depend on, to quote in a paper; made from fields, never read."""
        return " | ".join([f"deadheat {self.version}", *filter(None, self.signature_parts())])

    def signature_parts(self) -> Iterable[str]:
        """Settings and sizes, in the order in which they are quoted; empty ones are left out."""
        raise NotImplementedError

    def to_json(self, *, indent: int | None = None) -> str:
        """One JSON object, which `deadheat.from_json` turns into the same result again."""
        return json.dumps(to_document(self), ensure_ascii=False, allow_nan=False, indent=indent)

    def to_latex(self) -> str:
        """The tables of the result for a paper; they need the booktabs package."""
        from deadheat.reporting.latex import result_latex

        return result_latex(self)

    def to_markdown(self) -> str:
        """Verdict, tables and notes for a pull request or a README file."""
        from deadheat.reporting.markdown import markdown
        from deadheat.reporting.views import view

        return markdown(view(self), notes=self.notes)

    def _repr_html_(self) -> str:
        from deadheat.reporting.html import notebook_html

        return notebook_html(self)

    def __str__(self) -> str:
        from deadheat.reporting.terminal import render
        from deadheat.reporting.views import brief_view

        return render(brief_view(self))

    def __repr__(self) -> str:
        from deadheat.reporting.views import headline

        return f"<{type(self).__name__}: {headline(self)}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Result)
        return to_document(self) == to_document(other)

    def __hash__(self) -> int:
        return hash((self.kind, self.signature))  # JSON may write one number in two ways: 1 and 1.0


def to_document(result: Result) -> dict[str, Any]:
    """A result as JSON has it."""
    import msgspec

    fields = _jsonable(msgspec.to_builtins(result, enc_hook=_encode))
    return {"kind": result.kind, "schema": result.schema, **fields}


def from_json(text: str | bytes, *, source: str = "the result") -> Result:
    """The result that `to_json` wrote.

    Parameters
    ----------
    source
        Where the text comes from, for error messages.

    Raises
    ------
    InputError
        If the text is no result, or lacks a field or has one of the wrong type, or is of a later version.
    """
    expected = "expected what a command printed with --json"
    try:
        text = text.decode(json.detect_encoding(text)) if isinstance(text, bytes) else text
        document = json.loads(text)
        if "\\u" in text:
            json.dumps(document, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except RecursionError:
        raise InputError(f"{source}: JSON is nested too deeply; {expected}") from None
    except ValueError as error:  # also bytes that are not text
        problem = str(error).partition(":")[0].partition(" in position")[0].lower()
        raise InputError(f"{source}: not JSON ({problem}); {expected}") from None
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise InputError(f"{source}: not a result of Deadheat (no field 'kind'); {expected}")
    return from_document(document, source=source)


def from_document(document: Mapping[str, Any], *, source: str = "the result") -> Result:
    """A result from parsed JSON."""
    import msgspec

    kind, schema = document["kind"], document.get("schema")
    if kind not in KINDS:
        raise NameUnknown(f"{source}: kind of result", str(kind), KINDS)
    wanted = result_type(kind)
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise InputError(
            f"{source}: field 'schema' is missing: written by Deadheat 0.1; expected it to be computed again"
        )
    if schema > wanted.schema:
        reads = f"this version reads {kind} results up to schema {wanted.schema}"
        raise InputError(f"{source}: schema {schema} is from a later version of Deadheat; {reads}")
    try:
        return msgspec.convert(document, wanted, strict=False)
    except (msgspec.ValidationError, OverflowError) as error:
        problem, _, path = str(error).partition(" - at `$")
        name = path.rstrip("`").lstrip(".")
        problem = f"{problem[:1].lower()}{problem[1:]}"
        problem = f"field {name!r}: {problem}" if name else problem
        expected = f"expected a {kind} result as this version of Deadheat writes it"
        raise InputError(f"{source}: {problem}; {expected}") from None


def result_type(kind: str) -> type[Result]:
    """The type of a kind of result."""
    module, _, name = KINDS[kind].partition(":")
    wanted: type[Result] = getattr(import_module(module), name)
    return wanted


def _encode(value: Any) -> Any:
    """Numbers of numpy as those of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a result holds {type(value).__name__}; expected plain values")


def _jsonable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value
