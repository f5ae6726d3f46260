"""Column files that have gold and predicted labels side by side, as conlleval reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, TypeAlias

import numpy as np

from deadheat.arguments import Argument
from deadheat.corpus import Corpus
from deadheat.corpus.corpus import UNNAMED
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import InputError
from deadheat.metrics import Pair
from deadheat.questions import inputs
from deadheat.questions.designs import Prediction
from deadheat.text import join_names

PredictedColumns: TypeAlias = Annotated[
    Iterable[str],
    Argument(
        "a column of predictions, by name or number (-1 is the last); without a file of gold, gold labels are a column "
        "of the same file",
        flag="--predicted",
        metavar="COLUMN",
        repeat=True,
    ),
]
GoldColumn: TypeAlias = Annotated[
    str,
    Argument("with --predicted: the column of gold labels (default: that before it)", flag="--gold", metavar="COLUMN"),
]
LABEL = "tag"  # what a column of labels is called whose name nobody gave
NO_LABELS = {"O", UNNAMED, "-"}
SHARED = 0.5  # of the labels of the column with fewer; with more, one column could be a prediction of the other
_NUMBER = re.compile(r"-?\d{1,9}")


def split_columns(
    predictions: Sequence[Prediction], predicted: Sequence[str], gold: str, reading: ReadingOptions
) -> list[Prediction]:
    """Predictions of which gold and predicted labels are columns; those without a gold file have it in their own.

    All of them have the same gold labels. Several predicted columns are several systems.
    """
    sources = {
        inputs.key_of(source): source for item in predictions for source in (item.gold, item.predicted) if source != ""
    }
    corpora = dict(zip(sources, inputs.open_corpora(list(sources.values()), reading), strict=True))
    named, first, rows = reading.get("columns") is not None, None, list[Prediction]()
    for prediction in predictions:
        corpus = corpora[inputs.key_of(prediction.predicted)]
        chosen = [_find(corpus, column) for column in predicted]
        twice = next((name for name in chosen if chosen.count(name) > 1), None)
        if twice:
            raise InputError(f"{_path(corpus)}: column {_number(corpus, twice)} twice; expected every column once")
        has_gold = prediction.gold != ""
        if has_gold:
            with_gold = corpora[inputs.key_of(prediction.gold)]
            column = _find(with_gold, gold) if gold else _only_labels(with_gold, reading)
        else:
            with_gold, column = corpus, _find(corpus, gold) if gold else _before(corpus, chosen)
            if column in chosen:
                problem = f"column {_number(corpus, column)} as gold and as prediction"
                raise InputError(f"{_path(corpus)}: {problem}; expected different columns")
        label = column if named or has_gold else LABEL
        labelled = _with_label(with_gold, column, label)
        if first is not None:
            _check_same(first, labelled, label)
        first = first or labelled
        for name in chosen:
            title = name if named else f"column {_number(corpus, name)}"
            system = prediction.system
            if len(chosen) > 1:
                system = title if len(predictions) == 1 else f"{system} {title}"
            guess = replace(_with_label(corpus, name, label), name=system)
            rows.append(replace(prediction, gold=first, system=system, predicted=guess))
    return rows


def corpora_of_columns(
    gold: inputs.CorpusSources,
    files: Sequence[inputs.CorpusSource],
    predicted: Sequence[str],
    gold_column: str,
    reading: ReadingOptions,
) -> list[Corpus]:
    """Gold and predictions, by the names of their files, where labels are columns."""
    if not predicted:
        raise InputError("--gold without --predicted; expected both, or none")
    own = [Prediction("", gold, str(file), "1", file) for file in files]
    rows = split_columns(
        own or [Prediction("", "", str(file), "1", file) for file in inputs.sources_of(gold)],
        predicted,
        gold_column,
        reading,
    )
    return [rows[0].gold, *(row.predicted for row in rows)]  # type: ignore[list-item]


def _with_label(corpus: Corpus, column: str, label: str) -> Corpus:
    return replace(corpus, columns={"form": corpus.column("form"), label: corpus.column(column)})


def _find(corpus: Corpus, wanted: str) -> str:
    """The name of a column of labels that is given by name or number."""
    if corpus.layout.format != "columns":
        raise InputError(f"{_path(corpus)}: --predicted with the format {corpus.layout.format}; expected a column file")
    names = list(corpus.columns)
    name = wanted
    if _NUMBER.fullmatch(wanted) and wanted not in names:
        number, width = int(wanted), len(names)
        if not 1 <= abs(number) <= width:
            raise InputError(f"{_path(corpus)}: column {wanted}; expected 1 to {width}, or -1 to -{width} from the end")
        name = names[number - 1 if number > 0 else number]
    corpus.column(name)
    if name == "form":
        raise InputError(f"{_path(corpus)}: column {wanted} has the words; expected a column of labels")
    return name


def _before(corpus: Corpus, chosen: Sequence[str]) -> str:
    """The column before the first prediction."""
    names = list(corpus.columns)
    at = min(map(names.index, chosen)) - 1
    if at < 0 or names[at] == "form":
        problem = f"no column of gold labels before column {at + 2}"
        raise InputError(f"{_path(corpus)}: {problem}; expected --gold to name it")
    return names[at]


def _only_labels(corpus: Corpus, reading: ReadingOptions) -> str:
    """The last column of a file of gold labels alone."""
    _check_alone(corpus, reading, "--gold to name the column of gold labels")
    return list(corpus.columns)[-1]


def _number(corpus: Corpus, name: str) -> int:
    return list(corpus.columns).index(name) + 1


def _path(corpus: Corpus) -> str:
    return corpus.files[0][0]


def _check_same(first: Corpus, other: Corpus, label: str) -> None:
    """Raise unless two files have the same words and gold labels."""
    if not np.array_equal(first.offsets, other.offsets):
        problem = f"other sentences than {_path(first)}"
        raise InputError(f"{_path(other)}: {problem}; expected the same ones in all files")
    for column, what in (("form", "word {!r}"), (label, "gold label {}")):
        here, there = other.column(column), first.column(column)
        codes = there.vocabulary.codes_of(here.vocabulary)[here.codes]
        wrong = np.flatnonzero(codes != there.codes)
        if len(wrong):
            word = int(wrong[0])
            (path, line), (first_path, first_line) = other.line_of_word(word), first.line_of_word(word)
            found, expected = (side.vocabulary.strings[side.codes[word]] for side in (here, there))
            wanted = what.format(expected).removeprefix("gold label ").removeprefix("word ")
            raise InputError(f"{path}:{line}: {what.format(found)}; expected {wanted} as in {first_path}:{first_line}")


def check_columns(pair: Pair, reading: ReadingOptions) -> None:
    """Refuse files in which a column could be a prediction, unless the columns were named."""
    ask = "--predicted to name the predicted column, or --columns to name all"
    for corpus in (pair.predicted, pair.gold):
        _check_alone(corpus, reading, ask)
    gold, predicted = list(pair.gold.columns), list(pair.predicted.columns)
    if not _unnamed(pair.predicted, reading) or gold != predicted[: len(gold)] or len(gold) == len(predicted):
        return
    if gold[1:] and pair.gold.words and pair.equal(gold[-1]).all():
        problem = f"{len(predicted)} columns, of which {len(gold)} are those of {_path(pair.gold)}"
        raise InputError(f"{_path(pair.predicted)}: {problem}; expected {ask}")


def _check_alone(corpus: Corpus, reading: ReadingOptions, expected: str) -> None:
    """Raise if two columns of labels share most of their labels, and nobody said what they are."""
    if not _unnamed(corpus, reading):
        return
    labels = {
        name: {text for text, times in zip(column.vocabulary.strings, column.frequencies(), strict=True) if times}
        for name, column in corpus.columns.items()
        if name != "form"
    }
    for first, second in combinations(labels, 2):
        shared = labels[first] & labels[second] - NO_LABELS
        if len(shared) > SHARED * min(len(labels[name] - NO_LABELS) for name in (first, second)):
            numbers = f"columns {_number(corpus, first)} and {_number(corpus, second)}"
            listed = join_names(sorted(shared), limit=3)
            raise InputError(f"{_path(corpus)}: {numbers} share labels ({listed}); expected {expected}")


def _unnamed(corpus: Corpus, reading: ReadingOptions) -> bool:
    return corpus.layout.format == "columns" and reading.get("columns") is None
