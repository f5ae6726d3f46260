"""A study file to begin with, written for the corpora it is pointed at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.grouping import documents_by, part_of
from deadheat.errors import InputError

TEXT = """\
# A study: every system, with every setting and seed, on every split of every corpus.
#   deadheat run {file} --plan     what will run
#   deadheat run {file}            run it; stopped or killed, it goes on where it was
name = "{name}"

# Files or folders, relative to this file. Also: format, columns, separator, lenient, documents.
{corpora}
# How corpora are split: standard, random, kfold, ud, seq, rand, rand-seq, tune, ud-tune, biased, with their settings
# ('deadheat split --help'). Several: [[splits]] in place of [splits].
[splits]
{splits}

# Taggers: majority, unigram, hmm, perceptron, lookahead, loglinear; any other program: command.
# A list of values stands for each of them: epochs = [5, 10].
[[systems]]
name = "unigram"
column = "{column}"

[[systems]]
name = "hmm"
column = "{column}"

[[systems]]
name = "perceptron"
column = "{column}"
# seeds = 5        # seeds 0 to 4 for this system alone

# On each split every two systems are tested; p-values are corrected for the number of splits.
[compare]
correction = "bonferroni"
alpha = 0.05

[engine]
workers = 0        # as many as there are cores
# limit = 3600     # seconds a cell
"""


def starting_study(corpora: Sequence[tuple[str, Corpus]], target: Path) -> str:
    """The text of a study file for some corpora, each given by its path."""
    names: dict[str, str] = {}
    for path, _ in corpora:
        base = Path(path).name.split(".")[0].replace("-ud", "") or "corpus"
        base = "".join(c if c.isalnum() or c in "_-" else "-" for c in base)
        name, copy = base, 1
        while name in names:
            copy += 1
            name = f"{base}-{copy}"
        names[name] = os.path.relpath(path, target.parent)
    first = corpora[0][1]
    labels = ["upos"] if "upos" in first.columns else [name for name in first.columns if name != "form"]
    if not labels:
        raise InputError(f"{first.name}: words alone; expected a column of labels to learn")
    return TEXT.format(
        file=target.name,
        name=target.stem,
        corpora="\n".join(f'[corpora.{name}]\nfiles = "{path}"\n' for name, path in names.items()),
        splits=_splits(first),
        column=labels[-1],
    )


def _splits(corpus: Corpus) -> str:
    """Random splits, by whole documents where there are any; how to keep to the files' own parts stands beside."""
    own = all(part_of(part.path) for part in corpus.parts)
    lines = ['strategy = "random"', "times = 20", 'sizes = "80/10/10"']
    if documents_by(corpus) is not None:
        lines.append('unit = "document"')
    if own:
        lines.append("# strategy = 'standard'     # the files' own parts, in place of the lines above")
    return "\n".join(lines)
