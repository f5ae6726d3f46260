"""The first study file of a user, written for the corpora that they name."""

from __future__ import annotations

import json
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
from deadheat.splits import STRATEGIES, Partition
from deadheat.splits.strategy import Material
from deadheat.systems import SYSTEMS

TIMES, SIZES = 20, "80/10/10"
BARE_KEY = frozenset(string.ascii_letters + string.digits + "_-")  # characters of TOML keys without quotes
TEXT = """\
# A study: every system, with every setting and seed, on every split of every corpus.
#   deadheat run {file} --plan     what will run
#   deadheat run {file}            run it; if it is stopped or killed, run it again to continue
name = {name}

# Files or folders, relative to this file. Also: format, columns, separator, lenient, documents.
{corpora}
# The split strategy with its settings ('deadheat split --help'): {strategies}.
# For several strategies, use [[splits]] instead of [splits].
[splits]
{splits}

# Systems: {systems}; any other program: command.
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

# On each split every pair of systems is tested; p-values are corrected for the number of splits.
[compare]
correction = "bonferroni"
alpha = 0.05

[engine]
workers = 0        # one per core
# limit = 3600     # seconds per cell
"""


def starter_study(corpora: Sequence[tuple[str, Corpus]], target: Path, options: Mapping[str, Any] = {}) -> str:
    """The text of a study file for some corpora, each with its path, all read with the same options."""
    entries: dict[str, list[str]] = {}
    option_lines = [f"{key} = {quote_toml(value)}" for key, value in options.items() if value and value != "auto"]
    for path, _ in corpora:
        base = (
            "".join(c if c in BARE_KEY else "-" for c in Path(path).name.split(".")[0].replace("-ud", "")) or "corpus"
        )
        copies = (base if copy == 1 else f"{base}-{copy}" for copy in count(1))
        name = next(name for name in copies if name not in entries)
        entries[name] = [
            f"[corpora.{name}]",
            f"files = {quote_toml(os.path.relpath(path, target.parent))}",
            *option_lines,
            "",
        ]
    read = [corpus for _, corpus in corpora]
    return TEXT.format(
        file=shlex.quote(target.name) if target.name.isprintable() else "STUDY.toml",
        name=quote_toml(target.stem),
        corpora="\n".join(line for entry in entries.values() for line in entry),
        strategies=_base_names(STRATEGIES),
        splits=_split_lines(read),
        systems=_base_names(name for name in SYSTEMS if not name.startswith("command.")),
        column=quote_toml(_label_column(read)),
    )


def _base_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name.partition(".v")[0] for name in names))


def quote_toml(value: str | Sequence[str]) -> str:
    r"""Write a string, or a list of strings, as TOML."""
    if not isinstance(value, str):
        return f"[{', '.join(map(quote_toml, value))}]"
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{value!r}: a name that is not valid Unicode; expected one that a study file can hold"
        ) from None
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


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


def _split_lines(corpora: Sequence[Corpus]) -> str:
    """Random splits, by whole documents if there are enough; the files' own parts as a comment."""
    problems = {unit: _split_problem(corpora, unit) for unit in ("document", "sentence")}
    if all(problems.values()):
        raise InputError(f"{problems['sentence']}; expected a corpus that is large enough to be split")
    lines = ['strategy = "random"', f"times = {TIMES}", f"sizes = {quote_toml(SIZES)}"]
    lines += [] if problems["document"] else ['unit = "document"']
    if all(part_from_name(part.path) for corpus in corpora for part in corpus.parts):
        lines.append("# strategy = 'standard'     # the files' own parts, instead of the lines above")
    return "\n".join(lines)


def _split_problem(corpora: Sequence[Corpus], unit: str) -> str:
    """Why the corpora cannot be split by this unit; empty if they can."""
    strategy = STRATEGIES.make("random", sizes=SIZES, unit=unit)
    for corpus in corpora:
        material = Material(corpus)
        try:
            for number in range(TIMES):
                Partition(str(number), strategy.draw(material, 0, number).parts, corpus.sentences)
        except InputError as error:
            return f"{corpus.name}: {error}" if corpus.name not in str(error) else str(error)
    return ""
