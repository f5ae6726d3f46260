"""A study file to begin with, written for the corpora it is pointed at."""

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
NAMED = frozenset(string.ascii_letters + string.digits + "_-")  # what names need no quotes
TEXT = """\
# A study: every system, with every setting and seed, on every split of every corpus.
#   deadheat run {file} --plan     what will run
#   deadheat run {file}            run it; stopped or killed, it goes on where it was
name = {name}

# Files or folders, relative to this file. Also: format, columns, separator, lenient, documents.
{corpora}
# How corpora are split, with settings ('deadheat split --help'): {strategies}.
# Several: [[splits]] in place of [splits].
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
# seeds = 5        # seeds 0 to 4 for this system alone

# On each split every two systems are tested; p-values are corrected for the number of splits.
[compare]
correction = "bonferroni"
alpha = 0.05

[engine]
workers = 0        # as many as there are cores
# limit = 3600     # seconds a cell
"""


def starting_study(corpora: Sequence[tuple[str, Corpus]], target: Path, options: Mapping[str, Any] = {}) -> str:
    """The text of a study file for some corpora, each given by its path, all read with the same options."""
    entries: dict[str, list[str]] = {}
    read_so = [f"{key} = {quoted(value)}" for key, value in options.items() if value and value != "auto"]
    for path, _ in corpora:
        base = "".join(c if c in NAMED else "-" for c in Path(path).name.split(".")[0].replace("-ud", "")) or "corpus"
        copies = (base if copy == 1 else f"{base}-{copy}" for copy in count(1))
        name = next(name for name in copies if name not in entries)
        entries[name] = [f"[corpora.{name}]", f"files = {quoted(os.path.relpath(path, target.parent))}", *read_so, ""]
    read = [corpus for _, corpus in corpora]
    return TEXT.format(
        file=shlex.quote(target.name) if target.name.isprintable() else "STUDY.toml",
        name=quoted(target.stem),
        corpora="\n".join(line for entry in entries.values() for line in entry),
        strategies=_listed(STRATEGIES),
        splits=_splits(read),
        systems=_listed(name for name in SYSTEMS if not name.startswith("command.")),
        column=quoted(_column(read)),
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name.partition(".v")[0] for name in names))


def quoted(value: str | Sequence[str]) -> str:
    r"""A string, or a list of them, as TOML has it.

    Examples
    --------
    >>> print(quoted('a "b" \\ c'), quoted(["form", "tag"]))
    "a \"b\" \\ c" ["form", "tag"]
    """
    if not isinstance(value, str):
        return f"[{', '.join(map(quoted, value))}]"
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{value!r}: a name that is not Unicode; a study file expected one that is") from None
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _column(corpora: Sequence[Corpus]) -> str:
    """What there is to learn in all of the corpora: tags if there are any, else the last column with several labels."""
    first = corpora[0]
    others = ["xpos", "feats"] if first.layout.format in ("conllu", "conllx") else list(first.columns)[::-1]
    for name in ["upos", *others]:
        if name != "form" and all(_labels(corpus, name) > 1 for corpus in corpora):
            return name
    told = first.name if len(corpora) == 1 else f"{first.name} and others"
    raise InputError(f"{told}: no column with several labels; expected one to learn")


def _labels(corpus: Corpus, name: str) -> int:
    return int(np.count_nonzero(corpus.columns[name].frequencies())) if name in corpus.columns else 0


def _splits(corpora: Sequence[Corpus]) -> str:
    """Random splits, by whole documents where there are enough; how to keep to the files' own parts stands beside."""
    problems = {unit: _problem(corpora, unit) for unit in ("document", "sentence")}
    if all(problems.values()):
        raise InputError(f"{problems['sentence']}; expected a corpus that is large enough to be split")
    lines = ['strategy = "random"', f"times = {TIMES}", f"sizes = {quoted(SIZES)}"]
    lines += [] if problems["document"] else ['unit = "document"']
    if all(part_from_name(part.path) for corpus in corpora for part in corpus.parts):
        lines.append("# strategy = 'standard'     # the files' own parts, in place of the lines above")
    return "\n".join(lines)


def _problem(corpora: Sequence[Corpus], unit: str) -> str:
    """Why the corpora cannot be split by this unit; nothing if they can."""
    strategy = STRATEGIES.make("random", sizes=SIZES, unit=unit)
    for corpus in corpora:
        material = Material(corpus)
        try:
            for number in range(TIMES):
                Partition(str(number), strategy.draw(material, 0, number).parts, corpus.sentences)
        except InputError as error:
            return f"{corpus.name}: {error}" if corpus.name not in str(error) else str(error)
    return ""
