r"""Tables of LaTeX for a paper, with captions that explain every mark, and labels.

They need `\usepackage{booktabs}` and nothing else. Names stay in whatever script they are written; LuaLaTeX and XeLaTeX
set them all, and pdfLaTeX those that its fonts have.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count

from deadheat.documents import Document
from deadheat.paper.documents import checked
from deadheat.paper.search_tables import search_tables
from deadheat.questions.latex import Tabular
from deadheat.questions.latex_runs import contrast_tables, seeds_tables
from deadheat.questions.latex_study import study_tables
from deadheat.questions.latex_tables import compare_tables, score_tables

PAGE_CHARACTERS = 100  # of small text that fit into the width of a page

MAKERS: Mapping[str, Callable[[Document], list[Tabular]]] = {
    "score": score_tables,
    "compare": compare_tables,
    "seeds": seeds_tables,
    "contrast": contrast_tables,
    "study": lambda study: [*study_tables(study), *_of_searches(study)],
    "search": search_tables,
}


def _of_searches(study: Document) -> list[Tabular]:
    return [table for each in study.get("searches") or [] for table in search_tables(each)]


def latex_tables(*documents: Document) -> dict[str, str]:
    r"""The tables of documents by their names, each ready to be put into a paper; the second of a name gets a number.

    Examples
    --------
    >>> rows = [{"file": name, "metric": "LAS", "value": value, "low": 0.7, "high": 0.9, "correct": 8, "gold": 10,
    ...          "predicted": 10} for name, value in (("a_b", 0.8), ("c", 0.75))]
    >>> print(latex_tables({"kind": "score", "scores": rows})["scores"])
    % Needs \usepackage{booktabs}.
    \begin{table}
    \centering
    \small
    \begin{tabular}{lrr}
    \toprule
    file & LAS & interval \\
    \midrule
    a\_b & \textbf{80.00} & {[}70.00, 90.00] \\
    c & 75.00 & {[}70.00, 90.00] \\
    \bottomrule
    \end{tabular}
    \caption{LAS in percent with intervals. The best is in bold; differences were not tested.}
    \label{tab:scores}
    \end{table}
    <BLANKLINE>
    """
    tables: dict[str, str] = {}
    for found in map(checked, documents):
        for table in MAKERS[found["kind"]](found) if found["kind"] in MAKERS else []:
            names = (table.name if number == 1 else f"{table.name}-{number}" for number in count(1))
            name = next(each for each in names if each not in tables)
            tables[name] = floating(replace(table, name=name), found.get("signature") or "")
    return tables


def floating(table: Tabular, signature: str = "") -> str:
    """A table that floats, over both columns where one is too narrow for it."""
    kind = "table*" if table.wide else "table"
    size = r"\scriptsize" if table.characters > PAGE_CHARACTERS else r"\small"
    lines = [f"% {_one_line(signature)}"] if signature else []
    lines.append(r"% Needs \usepackage{booktabs}.")
    if table.characters > PAGE_CHARACTERS:
        lines.append("% May be wider than a page: shorten names, or leave columns out.")
    if any(map(_is_right_to_left, table.texts)):
        lines.append(
            "% Has names written from right to left: set it with LuaLaTeX or XeLaTeX and babel or polyglossia."
        )
    lines += [f"\\begin{{{kind}}}", r"\centering", size, str(table)]
    lines += [f"\\caption{{{table.caption}}}", f"\\label{{tab:{table.name}}}", f"\\end{{{kind}}}", ""]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
