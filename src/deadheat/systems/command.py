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
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.writing import write
from deadheat.errors import InputError, NameUnknown
from deadheat.systems.baselines import sorted_labels
from deadheat.systems.command_files import (
    FORMATS,
    blank_in,
    check_same_words,
    in_format,
    label_column,
    read_back,
    suffix_of,
    without_labels,
)
from deadheat.systems.system import SYSTEMS, System, training_labels

TRAIN, PREDICT = ("train", "tune", "model", "seed"), ("input", "output", "train", "tune", "model", "seed")
LAST_LINES, LAST_BYTES = 10, 1 << 14
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


@SYSTEMS.add("command.v1")
def command(
    *,
    train: str = "",
    predict: str = "",
    column: str = "upos",
    format: str = "auto",
    environment: dict[str, str] = {},  # noqa: B006 - the registry takes the type of a setting from its default
    limit: int = 0,
    shell: bool = False,
) -> System:
    r"""Any program that learns from a file and writes its predictions to one.

    Parameters
    ----------
    train
        The command that trains, with `{train}`, `{tune}`, `{model}` and `{seed}` where the names of files and the seed
        belong. What stands at `{model}` when it ends, a file or a folder, is the model. Empty for a program that
        needs no training.
    predict
        The command that predicts, with `{input}`, `{output}`, `{model}` and the like. Without `{input}` the program
        gets its input as standard input, without `{output}` its standard output is taken.
    column
        The column to predict. In what the program gets as input it is `_` (in tagged text `-`) on every word.
    format
        `conllu`, `columns`, `tagged`, or `auto`: as the corpus is. Where that is another one, words and labels alone
        are written.
    environment
        More variables of the environment; placeholders are filled in here, too.
    limit
        Seconds after which a command is ended, with all that it started; 0 for no limit.
    shell
        Give the command lines to a shell. Otherwise they are split into arguments as a shell would, before names are
        filled in, and no shell sees them.

    Notes
    -----
    Programs run in the current folder. A program that fails, takes too long, or writes other words than it was given
    is an error that names the command. The result depends on a seed where a command or the environment has `{seed}`.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> system = SYSTEMS.make("command(predict='sed s/-$/NN/', column='tag')")
    >>> model = system.train(read(text="the_DT heat_NN\n"), None, 0)
    >>> to_bytes(model.predict(read(text="heat_?\n")))
    b'heat_NN\n'
    """
    if not predict.strip():
        raise InputError(
            "command.v1: no predict command; expected one such as predict='tagger {model} {input} {output}'"
        )
    if limit < 0:
        raise InputError(f"command.v1: limit={limit}; expected seconds, or 0 for no limit")
    if format not in FORMATS:
        raise NameUnknown("command.v1: format", format, FORMATS)
    for name, value in dict[Any, Any](environment).items():
        if not isinstance(value, str) or not isinstance(name, str) or "=" in name:
            raise InputError(f"command.v1: environment={environment!r}; expected names and values as strings")
    trainer = Program("train", train, environment, limit, shell=shell) if train.strip() else None
    predictor = Program("predict", predict, environment, limit, shell=shell)

    def train_program(train: Corpus, tune: Corpus | None, seed: int) -> TrainedProgram:
        labels = training_labels(train, column, "command.v1")
        if tune is None and any(program.uses("tune") for program in (trainer, predictor) if program):
            raise InputError("command.v1: a command has {tune}, but there is no corpus to tune on; expected one")
        model = TrainedProgram(column, format, predictor, Folder(), seed, labels=frozenset(sorted_labels(labels)[0]))
        try:
            for part, corpus in (("train", train), ("tune", tune)):
                if corpus is not None:
                    model.write(part, corpus)
            if trainer:
                trainer.run(model.values, model.folder.path)
        except BaseException:
            model.close()
            raise
        return model

    programs = [program for program in (trainer, predictor) if program]
    seeded, tuned = (any(program.uses(name) for program in programs) for name in ("seed", "tune"))
    return System("command.v1", train_program, seeded=seeded, tuned=tuned)


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
                raise NameUnknown(f"command.v1: placeholder of the {self.which} command", name, allowed)
        try:
            if not self.shell:
                shlex.split(self.line)
        except ValueError as error:
            reason = str(error).lower()
            raise InputError(f"command.v1: {self.which}={self.line!r}: {reason}; expected a command line") from None

    def uses(self, name: str) -> bool:
        return any(f"{{{name}}}" in text for text in (self.line, *self.environment.values()))

    def run(self, values: Mapping[str, str], folder: Path, *, source: Path | None = None) -> Path:
        """Run the command to its end; where its standard output is."""
        arguments = self.arguments(values)
        variables = {name: _fill(value, values) for name, value in self.environment.items()}
        output, errors = folder / f"{self.which}.stdout", folder / f"{self.which}.stderr"
        with ExitStack() as files:
            stdin = files.enter_context(open(source or os.devnull, "rb"))
            stdout, stderr = (files.enter_context(open(path, "wb")) for path in (output, errors))
            try:
                process = subprocess.Popen(arguments, stdin=stdin, stdout=stdout, stderr=stderr,
                                           env={**os.environ, **variables}, start_new_session=True)  # fmt: skip
            except (OSError, ValueError) as error:
                reason = (getattr(error, "strerror", None) or str(error)).lower()
                raise InputError(f"{self.describe(values)}\n  cannot be started ({reason})") from error
            try:
                code = process.wait(timeout=self.limit or None)
            except subprocess.TimeoutExpired:
                raise InputError(f"{self.describe(values)}\n  took more than {self.limit} s and was ended") from None
            finally:
                if process.returncode is None:  # too late, or we are ourselves being stopped
                    _end(process)
        if code:
            raise InputError(f"{self.describe(values)}\n  {_outcome(code)}" + _last_lines(errors, output))
        return output

    def arguments(self, values: Mapping[str, str]) -> list[str]:
        """What is started. Names are filled in after splitting, so a space or `;` in them is only a character."""
        if self.shell:
            for value in values.values():
                if shlex.quote(value) != value:  # how to quote it depends on where in the line it will stand
                    raise InputError(f"command.v1: {value!r} means something to a shell; expected another $TMPDIR")
            return ["/bin/sh", "-c", _fill(self.line, values)]
        return [_fill(argument, values) for argument in shlex.split(self.line)]

    def describe(self, values: Mapping[str, str]) -> str:
        """The command as it was started, for errors."""
        arguments = self.arguments(values)
        return f"command.v1: {self.which} command: {arguments[2] if self.shell else shlex.join(arguments)}"


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was not waited for, and all that it started in its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _outcome(code: int) -> str:
    if code > 0:
        return f"failed with exit code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _last_lines(*paths: Path) -> str:
    """The last lines of the first of some files that has any, each on a line of its own."""
    for path in paths:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - LAST_BYTES))
            lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        if lines:
            return "".join(f"\n  | {line}" for line in lines[-LAST_LINES:])
    return ", and printed nothing"


class Folder:
    """A temporary folder that is removed when it is closed, or when nobody has it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="deadheat-"))
        self._finalizer = weakref.finalize(self, _remove, self.path, os.getpid())

    @property
    def closed(self) -> bool:
        return not self._finalizer.alive

    def close(self) -> None:
        self._finalizer()


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has a copy of the object, but not the folder
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedProgram:
    """A trained program. Its folder holds the training files and the model."""

    column: str
    format: str
    program: Program
    folder: Folder
    seed: int
    labels: frozenset[str]  # of the training corpus
    values: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.values.update(model=str(self.folder.path / "model"), seed=str(self.seed))

    def close(self) -> None:
        """Remove the folder with the model."""
        self.folder.close()

    def write(self, part: str, corpus: Corpus) -> None:
        """Put a corpus where the commands find it."""
        written = in_format(corpus, self.column, self.format)
        self.values[part] = str(self.folder.path / f"{part}{suffix_of(written)}")
        write(written, self.values[part], mend=True)

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with what the program wrote."""
        if self.folder.closed:
            raise InputError("command.v1: the model was closed; expected one whose folder is still there")
        corpus.column(self.column)
        if not corpus.words:
            return corpus
        blank = blank_in(corpus, self.format)
        request = in_format(without_labels(corpus, self.column, blank), self.column, self.format)
        with tempfile.TemporaryDirectory(prefix="predict-", dir=self.folder.path) as name:
            folder, suffix = Path(name), suffix_of(request)
            source, output = folder / f"input{suffix}", folder / f"output{suffix}"
            write(request, source, mend=True)
            values = {**self.values, "input": str(source), "output": str(output)}
            by_stdin = not self.program.uses("input")
            stdout = self.program.run(values, folder, source=source if by_stdin else None)
            if not self.program.uses("output"):
                stdout.replace(output)
            try:
                response = read_back(output, request)
                check_same_words(request, response)
                labels = response.column(label_column(request, self.column))
                if set(sorted_labels(labels)[0]) == {blank} - self.labels:
                    raise InputError(f"{output}: no word has a label; expected one on every word")
            except InputError as error:
                raise InputError(f"{error}\n  written by {self.program.describe(values)}") from error
        return with_labels(corpus, self.column, labels)
