"""What LaTeX would stumble over: braces, environments, rows with other columns than the table, special characters."""

import re
from dataclasses import dataclass, field

_BEGIN_END = re.compile(r"\\(begin|end)\{([^{}]*)\}(?:\{([^{}]*)\})?")


@dataclass
class Read:
    """Plain text of the cells of every row of every tabular, marks and emphasis taken away."""

    tables: list[list[list[str]]] = field(default_factory=list)


def check(source: str) -> Read:
    """Read a piece of LaTeX as far as our tables go; anything else is an AssertionError."""
    body = "\n".join(_without_comment(line) for line in source.splitlines())
    _check_characters(body)
    stack: list[str] = []
    found = Read()
    for each in _BEGIN_END.finditer(body):
        if each[1] == "begin":
            stack.append(each[2])
            if each[2] == "tabular":
                end = body.index(r"\end{tabular}", each.end())
                found.tables.append(_rows(body[each.end() : end], len(each[3])))
        else:
            assert stack, f"{each[0]} without its beginning"
            assert stack.pop() == each[2]
    assert not stack, f"{stack} not ended"
    return found


def _without_comment(line: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*)%.*", r"\1", line)


def _check_characters(body: str) -> None:
    """Braces balance, and characters with a meaning have it: `$` in pairs, `_`, `^` within them, no other at all."""
    depth, math, at = 0, False, 0
    while at < len(body):
        c = body[at]
        if c == "\\":
            at += 2
            continue
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            assert depth >= 0, f"brace closed twice: {body[max(0, at - 40) : at + 1]}"
        elif c == "$":
            math = not math
        elif c in "_^":
            assert math, f"{c} outside of a formula: {body[max(0, at - 40) : at + 1]}"
        else:
            assert c not in "#~", f"{c} has a meaning: {body[max(0, at - 40) : at + 1]}"
            assert c in "\n\t" or c.isprintable() or ord(c) > 0x9F, f"control character {c!r}"
        at += 1
    assert depth == 0, "braces left open"
    assert not math, "formula left open"


def _rows(body: str, columns: int) -> list[list[str]]:
    rows = []
    for line in _split(body, r"\\"):
        assert not re.match(r"\s*[\[*]", line), f"read as an option of the row before: {line!r}"
        cells = _split(re.sub(r"\\(top|mid|bottom)rule\b", "", line), "&")
        if [cell.strip() for cell in cells] == [""]:
            continue
        assert len(cells) == columns, f"{len(cells)} cells in a table of {columns} columns: {line!r}"
        rows.append([plain(cell) for cell in cells])
    return rows


def _split(body: str, at: str) -> list[str]:
    """Cut at what is neither escaped nor within braces."""
    pieces, depth, start, i = [], 0, 0, 0
    while i < len(body):
        if depth == 0 and body.startswith(at, i):
            pieces.append(body[start:i])
            i += len(at)
            start = i
            continue
        if body[i] == "\\":
            i += 2
            continue
        depth += (body[i] == "{") - (body[i] == "}")
        i += 1
    return [*pieces, body[start:]]


def plain(cell: str) -> str:
    """What a reader sees of a cell, without marks."""
    shown = re.sub(r"\\rlap\{\$\^\{[^}]*\}\$\}", "", cell.strip())
    shown = re.sub(r"\\textbf\{(.*)\}", r"\1", shown).replace("$-$", "-")
    for command, character in {
        r"\textbackslash{}": "\x00", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
        r"\textgreater{}": ">", r"\textbar{}": "|", r"\char34{}": '"', r"\char96{}": "`",
    }.items():  # fmt: skip
        shown = shown.replace(command, character)
    shown = re.sub(r"(?<!\\)[{}]", "", shown)
    return re.sub(r"\\([&%$#_{}])", r"\1", shown).replace("\x00", "\\")


def cell_of(source: str, text: str) -> str:
    """The only cell that shows a text, as it stands in the source."""
    cells = [cell for line in source.splitlines() for cell in _split(line.removesuffix(r" \\"), "&")]
    (found,) = [cell.strip() for cell in cells if plain(cell) == text]
    return found
