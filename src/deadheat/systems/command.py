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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Comments, Corpus, Extras, Layout
from deadheat.corpus.reading import LENIENT_MODES, read
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Vocabulary
from deadheat.corpus.writing import write
from deadheat.errors import AlignmentError, InputError, NameUnknown
from deadheat.kernels.scanning import STRING_COLUMNS
from deadheat.systems.baselines import sorted_labels
from deadheat.systems.process import Output, TooMuchOutput, run_program
from deadheat.systems.system import SYSTEMS, System, training_labels
from deadheat.text import format_size, pluralize

NAME = "command.v1"
FORMATS = ("auto", "conllu", "columns", "tagged")
SUFFIXES = {"columns": ".tsv", "tagged": ".tagged"}  # where they are not the name of the format
TRAIN, PREDICT = ("train", "tune", "model", "seed"), ("input", "output", "train", "tune", "model", "seed")
LAST_LINES, LAST_BYTES = 10, 1 << 14
MIN_OUTPUT, OUTPUT_RATIO = 64 << 20, 100  # a prediction may have so many bytes, or so many times those of the input
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


@SYSTEMS.add(NAME)
def command(  # noqa: PLR0913 - settings
    *,
    train: str = "",
    predict: str = "",
    column: str = "upos",
    format: str = "auto",
    environment: dict[str, str] = {},  # noqa: B006 - the registry takes the type of a setting from its default
    limit: int = 0,
    shell: bool = False,
    randomness: str = "",
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
    randomness
        What a seed does: it decides the result (`seed`), the result varies even with the same seed (`noise`), the
        program's own seed is fixed (`fixed`), or there is no chance in it (`none`). By default `seed` if a command or
        the environment has `{seed}`, or else `none`.

    Notes
    -----
    Programs run in the current folder. A program that fails, takes too long, or writes other words than it was given
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
    if limit < 0:
        raise InputError(f"{NAME}: limit={limit}; expected seconds, or 0 for no limit")
    if format not in FORMATS:
        raise NameUnknown(f"{NAME}: format", format, FORMATS)
    for name, value in dict[Any, Any](environment).items():
        if not isinstance(value, str) or not isinstance(name, str) or "=" in name:
            raise InputError(f"{NAME}: environment={environment!r}; expected names and values as strings")
    trainer = Program("train", train, environment, limit, shell=shell) if train.strip() else None
    predictor = Program("predict", predict, environment, limit, shell=shell)
    programs = [program for program in (trainer, predictor) if program]
    seeded, tuned = (any(program.uses(name) for program in programs) for name in ("seed", "tune"))

    def train_program(train: Corpus, tune: Corpus | None, seed: int) -> TrainedProgram:
        labels = training_labels(train, column, NAME)
        if tune is None and tuned:
            raise InputError(f"{NAME}: a command has {{tune}}, but there is no corpus to tune on; expected one")
        model = TrainedProgram(column, format, predictor, seed, frozenset(sorted_labels(labels)[0]))
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
    return System(NAME, train_program, randomness, tuned, column=column, commands=lines)


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

    def __init__(self, column: str, format: str, program: Program, seed: int, labels: frozenset[str]) -> None:
        self.column, self.format, self.program = column, format, program
        self.labels = labels  # of the training corpus
        self.folder = Path(tempfile.mkdtemp(prefix="deadheat-"))
        self.values = {"model": str(self.folder / "model"), "seed": str(seed)}
        self._finalizer = weakref.finalize(self, _remove, self.folder, os.getpid())

    def close(self) -> None:
        """Remove the folder with the model."""
        self._finalizer()

    def write(self, part: str, corpus: Corpus) -> None:
        """Put a corpus where the commands find it."""
        written = in_format(corpus, self.column, self.format)
        self.values[part] = str(self.folder / f"{part}{suffix_of(written)}")
        write(written, self.values[part], mend=True)

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with what the program wrote."""
        if not self._finalizer.alive:
            raise InputError(f"{NAME}: the model was closed; expected one whose folder is still there")
        corpus.column(self.column)
        if not corpus.words:
            return corpus
        blank = blank_in(corpus, self.format)
        request = in_format(without_labels(corpus, self.column, blank), self.column, self.format)
        with tempfile.TemporaryDirectory(prefix="predict-", dir=self.folder) as name:
            folder, suffix = Path(name), suffix_of(request)
            source, output = folder / f"input{suffix}", folder / f"output{suffix}"
            write(request, source, mend=True)
            values = {**self.values, "input": str(source), "output": str(output)}
            stdout = self.program.run(values, folder, source=None if self.program.uses("input") else source)
            if not self.program.uses("output"):
                stdout.replace(output)
            try:
                response = read_back(output, request)
                check_same_words(request, response)
                labels = response.column("tag" if request.layout.format == "tagged" else self.column)
                if set(sorted_labels(labels)[0]) == {blank} - self.labels:
                    raise InputError(f"{output}: no word has a label; expected one on every word")
            except InputError as error:
                raise InputError(f"{error}\n  written by {self.program.describe(values)}") from error
        return with_labels(corpus, self.column, labels)


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has a copy of the object, but not the folder
        shutil.rmtree(path, ignore_errors=True)


def suffix_of(corpus: Corpus) -> str:
    """How the name of a file with this corpus ends."""
    return SUFFIXES.get(corpus.layout.format, f".{corpus.layout.format}")


def in_format(corpus: Corpus, column: str, format: str) -> Corpus:
    """A corpus as it is if it has the format; else its words and one column of it in that format."""
    labels = corpus.column(column)
    if format in ("auto", corpus.layout.format):
        return corpus
    columns = {"form": corpus.column("form"), column: labels}
    layout = Layout(format, separator="_" if format == "tagged" else "\t")
    if format == "conllu":
        if column not in STRING_COLUMNS:
            raise NameUnknown(f"{NAME}: column of format='conllu'", column, STRING_COLUMNS)
        nothing = Column(np.zeros(corpus.words, np.int32), Vocabulary.of(["_"]))
        columns = {name: columns.get(name, nothing) for name in STRING_COLUMNS}
    if format == "tagged":
        _check_parts(corpus, columns)
        columns = {"form": columns["form"], "tag": labels}
    ends, codes = np.zeros(corpus.sentences, np.int64), np.empty((0, len(columns)), np.int32)
    extras = Extras(np.empty(0, np.int64), np.empty(0, np.int32), codes, ends)
    comments = Comments(np.empty(0, np.uint8), np.zeros(corpus.sentences + 1, np.int64))
    newdoc = np.zeros(corpus.sentences, bool)
    return replace(corpus, columns=columns, heads=None, extras=extras, comments=comments, newdoc=newdoc, layout=layout)


def _check_parts(corpus: Corpus, columns: dict[str, Column]) -> None:
    """Tagged text has spaces between words, and `_` between a word and its label."""
    for (name, column), forbidden in zip(columns.items(), (" \t", " \t_"), strict=True):
        frequencies = column.frequencies()
        for code, text in enumerate(column.vocabulary.strings):
            if frequencies[code] and (not text or not set(forbidden).isdisjoint(text)):
                path, line = corpus.line_of_word(int(np.argmax(column.codes == code)))
                expected = "no space in words and labels, and no `_` in labels"
                raise InputError(f"{path}:{line}: {name} {text!r}; expected {expected}, to write tagged text")


def blank_in(corpus: Corpus, format: str) -> str:
    """What stands for no label: `_`, but in tagged text, whose mark that is, it would read as a part of the word."""
    if corpus.layout.format == "tagged" and format in ("auto", "tagged"):
        return "-" if corpus.layout.separator == "_" else "_"
    return "-" if format == "tagged" else "_"


def without_labels(corpus: Corpus, column: str, blank: str) -> Corpus:
    """The corpus with no label on any word, multiword token or empty node."""
    codes = corpus.extras.codes.copy()
    codes[:, list(corpus.columns).index(column)] = 0
    nothing = Column(np.zeros(corpus.words, np.int32), Vocabulary.of([blank]))
    return replace(corpus, columns={**corpus.columns, column: nothing}, extras=replace(corpus.extras, codes=codes))


def read_back(path: Path, request: Corpus) -> Corpus:
    """What a program wrote, in the format of what it was given. Of trees nothing is asked: they are not looked at."""
    if not path.is_file():
        raise InputError(f"{path}: was not written; expected the words of the input with labels")
    format = request.layout.format
    if format in ("conllu", "conllx"):
        return read(path, format=format, lenient=LENIENT_MODES)
    columns = tuple(request.columns) if format == "columns" else None
    return read(path, format=format, columns=columns, separator=request.layout.separator)


def check_same_words(request: Corpus, response: Corpus) -> None:
    """Whether a program wrote the words it was given, in the same sentences."""
    forms, others = request.column("form"), response.column("form")
    renumbered: Codes = forms.vocabulary.codes_of(others.vocabulary)[others.codes]
    size = min(len(forms), len(others))
    different = np.flatnonzero(forms.codes[:size] != renumbered[:size])
    sentences = min(request.sentences, response.sentences)
    misaligned = np.flatnonzero(request.offsets[1 : sentences + 1] != response.offsets[1 : sentences + 1])
    ends = np.minimum(request.offsets[misaligned + 1], response.offsets[misaligned + 1])
    if len(different) and (not len(ends) or different[0] < ends[0]):
        word = int(different[0])
        path, line = response.line_of_word(word)
        wrong, right = others.vocabulary[int(others.codes[word])], forms.vocabulary[int(forms.codes[word])]
        raise AlignmentError(f"{path}:{line}: word {wrong!r}; expected {right!r} as in the input")
    if len(misaligned):
        sentence = int(misaligned[0])
        path, line = response.line_of_word(int(response.offsets[sentence]))
        actual, expected = (int(np.diff(corpus.offsets)[sentence]) for corpus in (response, request))
        has = f"sentence {sentence + 1} has {pluralize(actual, 'word')}"
        raise AlignmentError(f"{path}:{line}: {has}; expected {expected} as in the input")
    if request.sentences != response.sentences:
        has = pluralize(response.sentences, "sentence")
        raise AlignmentError(f"{response.name}: {has}; expected {request.sentences:,} as in the input")
