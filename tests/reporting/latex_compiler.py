"""Compile LaTeX with pdflatex, where it is installed (Debian: texlive-latex-recommended and lmodern).

pdflatex reads UTF-8. With `\\usepackage[T1]{fontenc}` it prints the letters of most languages in Latin script, and it
stops at other characters (Greek, Chinese, Arabic, emoji; also signs such as ≥ and −). So our own texts have to compile
as they are. Names come from users and may be in any script: authors who need those compile with XeLaTeX or LuaLaTeX.
Here `any_script=True` prints a bullet in their place, so that everything else is still checked. XeLaTeX is not used in
tests: it doubles the download, needs fonts for every script besides, and does not stop at a missing character.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_PREAMBLE = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{natbib}
"""
_ANY_SCRIPT = r"\makeatletter\def\UTFviii@undefined@err#1{\textbullet}\makeatother" + "\n"


def compile_latex(source: str, tmp_path: Path, *, any_script: bool = False) -> None:
    """Compile a document, or the part of one, in a two-column article; an error of LaTeX is an AssertionError."""
    program = shutil.which("pdflatex")
    if program is None:
        why = "no pdflatex (Debian: texlive-latex-recommended and lmodern)"
        if os.environ.get("CI") and shutil.which("apt-get"):
            pytest.fail(f"{why}; .ci/run installs it", pytrace=False)
        pytest.skip(why)
    preamble, document, body = source.rpartition(r"\begin{document}")
    if not document:
        preamble, body = _PREAMBLE, source + "\n" + r"\end{document}"
    hook = _ANY_SCRIPT if any_script else ""
    (tmp_path / "document.tex").write_text(f"{preamble}{hook}\\begin{{document}}\n{body}\n", encoding="utf-8")
    command = [program, "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "document.tex"]
    environment = os.environ | {"max_print_line": "1000"}  # no line breaks in the log
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    log = (tmp_path / "document.log").read_text(encoding="utf-8", errors="replace")
    problems = log[log.find("\n!") :] if done.returncode else ""
    assert done.returncode == 0, f"pdflatex stopped:{problems[:2000]}\nin\n{source}"
    missing = [line for line in log.splitlines() if line.startswith("Missing character")]
    assert not missing, "\n".join(missing)
