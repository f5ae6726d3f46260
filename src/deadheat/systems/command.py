"""Any program as a system: a command line that trains, one that predicts, and files between them and us."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.writing import write
from deadheat.errors import InputError, NameUnknown
from deadheat.systems.baselines import sorted_labels
from deadheat.systems.process import Output, TooMuchOutput, run_program
from deadheat.systems.program_files import Exchange, suffix_of
from deadheat.systems.system import SYSTEMS, TREES, System, check_at_least, training_labels
from deadheat.text import format_size

NAME = "command.v2"
TRAIN = ("train", "tune", "model", "folder", "seed", "threads")
PREDICT = ("input", "output", *TRAIN)
LAST_LINES, LAST_BYTES = 10, 1 << 14
MIN_OUTPUT, OUTPUT_RATIO = 64 << 20, 100  # a prediction may have so many bytes, or so many times those of the input
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


@SYSTEMS.add(NAME)
def command(  # noqa: PLR0913 - settings
    *,
    train: str = "",
    predict: str = "",
    column: str = "upos",
    reads: str = "",
    rows: str = "tokens",
    input: str = "blank",
    format: str = "auto",
    threads: int = 1,
    environment: dict[str, str] = {},  # noqa: B006 - the registry takes the type of a setting from its default
    limit: int = 0,
    shell: bool = False,
    randomness: str = "",
) -> System:
    r"""Any program that learns from a file and writes its predictions to one.

    Parameters
    ----------
    train
        The command that trains. What stands at `{model}` when it ends, a file or a folder, is the model. Empty for a
        program that needs no training.
    predict
        The command that predicts. Without `{input}` the program gets its input as standard input, without `{output}`
        its standard output is taken.
    column
        What it predicts: a column, or several with commas; `trees` stands for heads and relations.
    reads
        What it may read of the annotation of the text to label, with commas: columns, `head`, `trees`, `comments`, or
        `all` that it does not predict. Of everything else it gets what belongs to the text only: words, the spacing
        in MISC, and the comments `sent_id`, `text`, `newdoc` and `newpar`. Files for training have all columns.
    rows
        Which rows CoNLL-U files have: `words`, `tokens` (also multiword tokens), or `all` (also empty nodes). The
        prediction has all rows of the corpus in any case.
    input
        What stands for annotation in the text to label. `blank`: `_`, and in tagged text `-`. `chain`: blanks, but
        every word hangs from the one before it, for programs that fail without trees. `words`: nothing; the file has
        a word per line, or in tagged text a sentence per line.
    format
        `conllu`, `columns`, `tagged`, or `auto`: as the corpus is. Where that is another one, `columns` have words,
        what is read and what is predicted, and tagged text has words and labels.
    threads
        What `{threads}` stands for. A study gives cells so many cores only if `needs` says so.
    environment
        More variables of the environment; placeholders are filled in here, too.
    limit
        Seconds after which a command is ended, with all that it started; 0 for no limit.
    shell
        Give the command lines to a shell. Otherwise they are split into arguments as a shell would, before names are
        filled in, and no shell sees them.
    randomness
        What a seed does: it decides the result (`seed`), the result varies even with the same seed (`noise`), the
        program's own seed is fixed (`fixed`), or there is no chance in it (`none`). By default `seed` if a command or
        the environment has `{seed}`, or else `none`.

    Notes
    -----
    Names in braces are filled in:

    - `{train}`, `{tune}`: the files to learn from.
    - `{input}`, `{output}`: the text to label, and the file to write; in `predict` only.
    - `{model}`: where the model belongs. Nothing is there before training.
    - `{folder}`: a folder that is there, empty before training, for whatever the program needs until it has predicted.
    - `{seed}`, `{threads}`: the seed, and the number of threads.

    Programs run in the current folder. A predicted tree must be one, with a single root unless trees of training have
    several. A program that fails, takes too long, or writes other words than it was given
    is an error that names the command. So is a prediction on standard output that is longer than 64 MB and than a
    hundred times its input. Of other output, the end is kept.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> system = SYSTEMS.make("command(predict='sed s/-$/NN/', column='tag')")
    >>> model = system.train(read(text="the_DT heat_NN\n"), None, 0)
    >>> to_bytes(model.predict(read(text="heat_?\n")))
    b'heat_NN\n'
    """
    if not predict.strip():
        example = "predict='tagger {model} {input} {output}'"
        raise InputError(f"{NAME}: no predict command; expected one such as {example}")
    check_at_least(NAME, 1, threads=threads)
    if limit < 0:
        raise InputError(f"{NAME}: limit={limit}; expected seconds, or 0 for no limit")
    try:
        exchange = Exchange.of(column, reads, rows=rows, input=input, format=format)
    except InputError as error:
        raise InputError(f"{NAME}: {error}") from None
    for name, value in dict[Any, Any](environment).items():
        if not isinstance(value, str) or not isinstance(name, str) or "=" in name:
            raise InputError(f"{NAME}: environment={environment!r}; expected names and values as strings")
    trainer = Program("train", train, environment, limit, shell=shell) if train.strip() else None
    predictor = Program("predict", predict, environment, limit, shell=shell)
    programs = [program for program in (trainer, predictor) if program]
    seeded, tuned, threaded = (any(program.uses(name) for program in programs) for name in ("seed", "tune", "threads"))
    if threads > 1 and not threaded:
        raise InputError(f"{NAME}: threads={threads}, and no command has {{threads}}; expected one to have it")

    def train_program(train: Corpus, tune: Corpus | None, seed: int) -> TrainedProgram:
        exchange.check(train)
        labels = {name: training_labels(train, name, NAME) for name in exchange.columns}
        if tune is None and tuned:
            raise InputError(f"{NAME}: a command has {{tune}}, but there is no corpus to tune on; expected one")
        seen = {name: frozenset(sorted_labels(column)[0]) for name, column in labels.items()}
        model = TrainedProgram(exchange, predictor, {"seed": str(seed), "threads": str(threads)}, seen,
                               roots=TREES in exchange.predicts and _has_many_roots(train))  # fmt: skip
        try:
            model.write("train", train)
            if tune is not None:
                model.write("tune", tune)
            if trainer:
                trainer.run(model.values, model.folder)
        except BaseException:
            model.close()
            raise
        return model

    randomness = randomness or ("seed" if seeded else "none")
    lines = tuple(program.line for program in programs)
    trees = TREES in exchange.predicts
    return System(NAME, train_program, randomness, tuned, trees, column=column, commands=lines)


def _has_many_roots(corpus: Corpus) -> bool:
    """Whether the tree of a sentence has several roots."""
    return bool(np.bincount(corpus.sentence_of_word[corpus.trees == 0]).max() > 1)


@dataclass(frozen=True, slots=True)
class Program:
    """A command line with placeholders. Which of the two it is decides which placeholders it may have."""

    which: str
    line: str
    environment: Mapping[str, str]
    limit: int
    shell: bool = field(kw_only=True)

    def __post_init__(self) -> None:
        from difflib import get_close_matches

        allowed = TRAIN if self.which == "train" else PREDICT
        for name in _PLACEHOLDER.findall(self.line):
            # Braces mean other things to other programs: only what looks like one of ours is taken for a mistake.
            if name not in allowed and get_close_matches(name.lower(), PREDICT, n=1, cutoff=0.75):
                raise NameUnknown(f"{NAME}: placeholder of the {self.which} command", name, allowed)
        try:
            if not self.shell:
                shlex.split(self.line)
        except ValueError as error:
            reason = str(error).lower()
            raise InputError(f"{NAME}: {self.which}={self.line!r}: {reason}; expected a command line") from None

    def uses(self, name: str) -> bool:
        return any(f"{{{name}}}" in text for text in (self.line, *self.environment.values()))

    def run(self, values: Mapping[str, str], folder: Path, *, source: Path | None = None) -> Path:
        """Run the command to its end; where its standard output is."""
        arguments = self.arguments(values)
        variables = {name: _fill(value, values) for name, value in self.environment.items()}
        # Standard output is the prediction, unless the command has a file for it; then it is a log, as errors are.
        is_log = self.which == "train" or self.uses("output")
        given = source or (Path(values["input"]) if "input" in values else None)
        limit = None if is_log or given is None else max(MIN_OUTPUT, OUTPUT_RATIO * given.stat().st_size)
        output, errors = Output(folder / f"{self.which}.stdout", limit), Output(folder / f"{self.which}.stderr")
        try:
            code = run_program(arguments, stdin=source, outputs=(output, errors),
                               environment={**os.environ, **variables}, limit_s=self.limit or None)  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"{self.describe(values)}\n  took more than {self.limit} s and was ended") from None
        except TooMuchOutput:
            problem = f"printed more than {format_size(limit or 0)} and was ended; expected the input with labels"
            raise InputError(f"{self.describe(values)}\n  {problem}") from None
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise InputError(f"{self.describe(values)}\n  cannot be started ({reason})") from error
        if code:
            raise InputError(f"{self.describe(values)}\n  {_outcome(code)}{_last_lines(errors, output)}")
        return output.path

    def arguments(self, values: Mapping[str, str]) -> list[str]:
        """What is started. Names are filled in after splitting, so a space or `;` in them is only a character."""
        if self.shell:
            for value in values.values():
                if shlex.quote(value) != value:  # how to quote it depends on where in the line it will stand
                    raise InputError(f"{NAME}: {value!r} means something to a shell; expected another $TMPDIR")
            return ["/bin/sh", "-c", _fill(self.line, values)]
        return [_fill(argument, values) for argument in shlex.split(self.line)]

    def describe(self, values: Mapping[str, str]) -> str:
        """The command as it was started, for errors."""
        arguments = self.arguments(values)
        return f"{NAME}: {self.which} command: {arguments[2] if self.shell else shlex.join(arguments)}"


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _outcome(code: int) -> str:
    if code > 0:
        return f"failed with exit code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _last_lines(*outputs: Output) -> str:
    """The last lines of the first output that has any, each on a line of its own."""
    for output in outputs:
        with open(output.path, "rb") as file:
            file.seek(max(0, output.path.stat().st_size - LAST_BYTES))
            lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        if lines:
            dropped = f" ({output.dropped:,} bytes of output before its end were dropped)" if output.dropped else ""
            return dropped + "".join(f"\n  | {line}" for line in lines[-LAST_LINES:])
    return ", and printed nothing"


class TrainedProgram:
    """A trained program, and a folder for its training files and the model.

    The folder is removed when the program is closed, or when nobody has it any more.
    """

    def __init__(
        self,
        exchange: Exchange,
        program: Program,
        values: Mapping[str, str],
        labels: Mapping[str, frozenset[str]],
        *,
        roots: bool,
    ) -> None:
        self.exchange, self.program = exchange, program
        self.labels, self.roots = labels, roots  # of the training corpus, by column; whether trees have several roots
        self.folder = Path(tempfile.mkdtemp(prefix="deadheat-"))
        self.values = {"model": str(self.folder / "model"), "folder": str(self.folder / "folder"), **values}
        self._finalizer = weakref.finalize(self, _remove, self.folder, os.getpid())
        Path(self.values["folder"]).mkdir()

    def close(self) -> None:
        """Remove the folder with the model."""
        self._finalizer()

    def write(self, part: str, corpus: Corpus) -> None:
        """Put a corpus where the commands find it."""
        written = self.exchange.for_training(corpus)
        self.values[part] = str(self.folder / f"{part}{suffix_of(written)}")
        write(written, self.values[part], mend=True)

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with what the program wrote."""
        if not self._finalizer.alive:
            raise InputError(f"{NAME}: the model was closed; expected one whose folder is still there")
        for column in self.exchange.columns:
            corpus.column(column)
        if not corpus.words:
            return corpus
        request = self.exchange.request(corpus)
        with tempfile.TemporaryDirectory(prefix="predict-", dir=self.folder) as name:
            folder, suffix = Path(name), suffix_of(request)
            source, output = folder / f"input{suffix}", folder / f"output{suffix}"
            self.exchange.write_request(request, source)
            values = {**self.values, "input": str(source), "output": str(output)}
            stdout = self.program.run(values, folder, source=None if self.program.uses("input") else source)
            if not self.program.uses("output"):
                stdout.replace(output)
            try:
                response = self.exchange.read_back(output, request, self.labels, roots=self.roots)
            except InputError as error:
                raise InputError(f"{error}\n  written by {self.program.describe(values)}") from error
        return self.exchange.apply(response, corpus)


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has a copy of the object, but not the folder
        shutil.rmtree(path, ignore_errors=True)
