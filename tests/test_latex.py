"""The LaTeX compiler of the tests stops where that of an author would."""

from pathlib import Path

import pytest

from tests.latex import compile_latex

TABLE = r"""\begin{table}
\begin{tabular}{lr}
\toprule
System & LAS \\
\midrule
%s & 90.10\rlap{$^{\dagger}$} \\
\bottomrule
\end{tabular}
\caption{Scores, as in \citet{someone}.}
\end{table}"""


@pytest.mark.parametrize("name", ["Gómez đ ğ ł ß “x” – € ±", r"a\_b \& 5\,\% \textbar{} \char34{}"])
def test_a_table_compiles(name: str, tmp_path: Path) -> None:
    compile_latex(TABLE % name, tmp_path)


def test_a_whole_document_compiles(tmp_path: Path) -> None:
    compile_latex("\\documentclass{article}\n\\begin{document}\nText.\n\\end{document}\n", tmp_path)


def test_names_in_any_script_compile_where_the_caller_allows_them(tmp_path: Path) -> None:
    compile_latex(TABLE % "汉字 שלום Ωμέγα 😀 ≥", tmp_path, any_script=True)


@pytest.mark.parametrize("name", ["a_b", "a & b & c", r"\undefined", "{", "汉字"])
def test_what_pdflatex_cannot_read_stops_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="pdflatex stopped"):
        compile_latex(TABLE % name, tmp_path)
