"""Study files to start from: a general one for some corpora, and one for the experiment of each paper."""

from __future__ import annotations

import os
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import part_from_name
from deadheat.errors import InputError
from deadheat.registry import base_name
from deadheat.splits import STRATEGIES
from deadheat.splits.strategy import Material
from deadheat.study.plan.designs import DESIGNS, SIZES, TIMES, Design, comment, quote_toml, split_problem
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.systems import SYSTEMS
from deadheat.systems.recipe import RECIPES

BARE_KEY = frozenset(string.ascii_letters + string.digits + "_-")  # characters of TOML keys without quotes
HEADER = """\
#   deadheat run {file} --plan     what will run
#   deadheat run {file}            run it; if it is stopped or killed, run it again to continue
"""
GENERAL = """\
# A study: every system, with every setting and seed, on every split of every corpus.
{header}name = {name}

# Files or folders, relative to this file. Also: format, columns, separator, lenient, documents.
{corpora}
# The split strategy with its settings ('deadheat split --help'): {strategies}.
# For several strategies, use [[splits]] instead of [splits].
{splits}

# Systems: {systems}; other programs: deadheat systems, command.
# A list of values stands for each of them: epochs = [5, 10].
[[systems]]
name = "unigram"
column = {column}

[[systems]]
name = "hmm"
column = {column}

[[systems]]
name = "perceptron"
column = {column}
# seeds = 5        # seeds 0 to 4 for this system only

# Every pair of systems is tested; p-values are corrected for the number of pairs.
[compare]
correction = "holm"
alpha = 0.05
{engine}"""
PROTOCOL = """\
{about}
{header}#   deadheat report {file}         the page, with the tables and figures of the paper
name = {name}
protocol = {protocol}
{top}
# Files or folders, relative to this file. Also: format, columns, separator, lenient, documents.
{about_corpora}{corpora}
{tables}
{engine}"""
ENGINE = """
[engine]
workers = 0        # one per core
# limit = 3600     # seconds per cell
"""


def starter_study(
    corpora: Sequence[tuple[str, Corpus]], target: Path, options: Mapping[str, Any] = {}, protocol: str = ""
) -> str:
    """The text of a study file for some corpora, each with its path, all read with the same options.

    Parameters
    ----------
    corpora
        The paths, and what was read from them.
    target
        Where the file will be.
    options
        How the corpora were read.
    protocol
        The experiment of a paper to follow; without one, a study of three taggers on random splits.
    """
    names = _names(path for path, _ in corpora)
    option_lines = [f"{key} = {quote_toml(value)}" for key, value in options.items() if value and value != "auto"]
    entries = [
        "\n".join([f"[corpora.{name}]", f"files = {quote_toml(os.path.relpath(path, target.parent))}", *option_lines])
        for name, (path, _) in zip(names, corpora, strict=True)
    ]
    read = [corpus for _, corpus in corpora]
    column = quote_toml(_label_column(read))
    file = shlex.quote(target.name) if target.name.isprintable() else "STUDY.toml"
    common = {
        "file": file,
        "header": HEADER.format(file=file),
        "name": quote_toml(target.stem),
        "corpora": "".join(f"{entry}\n\n" for entry in entries).rstrip("\n") + "\n",
        "engine": ENGINE,
    }
    if protocol:
        materials = {name: Material(corpus) for name, corpus in zip(names, read, strict=True)}
        return _protocol_text(protocol, DESIGNS[protocol](materials, column), common)
    return GENERAL.format(
        **common,
        strategies=_base_names(STRATEGIES),
        splits=_split_tables(names, read),
        systems=_base_names(name for name in SYSTEMS if base_name(name) not in {"command", *RECIPES}),
        column=column,
    )


def _protocol_text(name: str, design: Design, common: Mapping[str, str]) -> str:
    protocol = PROTOCOLS[name]
    about = [
        f'The experiment of {protocol.paper}, "{protocol.title}", on other corpora with other systems.',
        protocol.question,
        f"In the paper: {protocol.original}.",
        f"To enlarge: {design.enlarge}",
    ]
    return PROTOCOL.format(
        **common,
        protocol=quote_toml(name),
        about="\n".join(map(comment, about)),
        about_corpora=f"{comment(design.about_corpora)}\n" if design.about_corpora else "",
        top="".join(f"{line}\n" for line in design.top),
        tables="\n\n".join(design.tables),
    )


def _names(paths: Iterable[str]) -> list[str]:
    """The names of corpora in the study, from those of their files or folders."""
    names: list[str] = []
    for path in paths:
        stem = Path(path).name.split(".")[0].replace("-ud", "")
        base = "".join(c if c in BARE_KEY else "-" for c in stem) or "corpus"
        copies = (base if copy == 1 else f"{base}-{copy}" for copy in count(1))
        names.append(next(name for name in copies if name not in names))
    return names


def _base_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name.partition(".v")[0] for name in names))


def _label_column(corpora: Sequence[Corpus]) -> str:
    """The column to predict: tags if there are any, else the last column with several labels in all corpora."""
    first = corpora[0]
    others = ["xpos", "feats"] if first.layout.format in ("conllu", "conllx") else list(first.columns)[::-1]
    for name in ["upos", *others]:
        if name != "form" and all(_labels(corpus, name) > 1 for corpus in corpora):
            return name
    names = first.name if len(corpora) == 1 else f"{first.name} and others"
    raise InputError(f"{names}: no column with several labels; expected one to predict")


def _labels(corpus: Corpus, name: str) -> int:
    return int(np.count_nonzero(corpus.columns[name].frequencies())) if name in corpus.columns else 0


def _split_tables(names: Sequence[str], corpora: Sequence[Corpus]) -> str:
    """Random splits, by whole documents where there are enough; the files' own parts as a comment."""
    if problem := split_problem(map(Material, corpora), "sentence"):
        raise InputError(f"{problem}; expected a corpus that is large enough to be split")
    problems = [split_problem([Material(corpus)], "document") for corpus in corpora]
    whole = [name for name, problem in zip(names, problems, strict=True) if not problem]
    others = [name for name in names if name not in whole]
    common = ['strategy = "random"', f"times = {TIMES}", f"sizes = {quote_toml(SIZES)}"]
    lines = [*common, 'unit = "document"'] if whole else common
    if all(part_from_name(part.path) for corpus in corpora for part in corpus.parts):
        lines = [*lines, "# strategy = 'standard'     # the files' own parts, instead of the lines above"]
    if not (whole and others):
        return "\n".join(["[splits]", *lines])
    first = ["[[splits]]", *lines, f"corpora = {quote_toml(whole)}", ""]
    reason = comment(f"By sentences: {next(filter(None, problems))}.")
    return "\n".join([*first, reason, "[[splits]]", *common, f"corpora = {quote_toml(others)}"])
