"""LaTeX for results."""

from __future__ import annotations

from collections.abc import Sequence

_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def escape(text: str) -> str:
    r"""Text with the characters that mean something to LaTeX made plain.

    Examples
    --------
    >>> escape("a_b 5 %")
    'a\\_b 5 \\%'
    """
    return text.translate(_SPECIAL)


def booktabs(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular for the booktabs package: the first column to the left, the others to the right."""
    lines = [r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}", r"\toprule"]
    lines += [" & ".join(map(escape, header)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(escape, row)) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])
