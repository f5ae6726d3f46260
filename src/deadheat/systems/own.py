"""A tagger of a user's own, from a function on sentences: words and labels instead of columns and codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Column
from deadheat.errors import InputError
from deadheat.systems.system import System, training_labels
from deadheat.text import pluralize

Words: TypeAlias = list[str]
Labels: TypeAlias = list[str]
Predict: TypeAlias = Callable[[Words], Sequence[str]]  # the labels of the words of a sentence
Learn: TypeAlias = Callable[[list[tuple[Words, Labels]], list[tuple[Words, Labels]], int], Predict]


def tagger(learn: Learn, *, column: str = "upos", randomness: str = "seed", tuned: bool = False) -> System:
    """Make a system of a function that learns to label the words of sentences.

    Parameters
    ----------
    learn
        Called with the sentences of train, those of tune, and a seed; a sentence is a pair of words and labels. It
        returns a function that gives the labels of a list of words. Tune is empty if there is none.
    column
        The column that is learned and predicted.
    randomness
        What the seed does; see `System`.
    tuned
        Whether `learn` looks at tune.

    Examples
    --------
    >>> import deadheat
    >>> def learn(train, tune, seed):
    ...     tag_of = {word: tag for words, tags in train for word, tag in zip(words, tags)}
    ...     return lambda words: [tag_of.get(word, "X") for word in words]
    >>> system = deadheat.tagger(learn, column="tag", randomness="none")
    >>> model = system.train(deadheat.read(text="the_DT heat_NN"), None, 0)
    >>> model.predict(deadheat.read(text="the_? cold_?")).column("tag").strings()
    ['DT', 'X']
    """

    def train(train: Corpus, tune: Corpus | None, seed: int) -> OwnTagger:
        training_labels(train, column, "tagger")
        predict = learn(_sentences(train, column), _sentences(tune, column) if tune is not None else [], seed)
        if not callable(predict):
            raise InputError(f"learn returned {type(predict).__name__!r}; expected a function from words to labels")
        return OwnTagger(column, predict)

    return System("tagger", train, randomness, tuned, column=column)


@dataclass(frozen=True, slots=True)
class OwnTagger:
    """What a user's function has learned."""

    column: str
    predict_labels: Predict

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the labels that the function gives to each sentence."""
        labels: list[Any] = []
        for number, words in enumerate(_pieces(corpus, "form"), start=1):
            predicted = list(self.predict_labels(words))
            if len(predicted) != len(words):
                has = f"{pluralize(len(predicted), 'label')} for the {pluralize(len(words), 'word')}"
                raise InputError(f"{corpus.name}: {has} of sentence {number}; expected one per word")
            labels += predicted
        for wrong in (label for label in labels if not isinstance(label, str)):
            raise InputError(f"{corpus.name}: the label {wrong!r} is {type(wrong).__name__!r}; expected a string")
        return with_labels(corpus, self.column, Column.of(labels))


def _sentences(corpus: Corpus, column: str) -> list[tuple[Words, Labels]]:
    return list(zip(_pieces(corpus, "form"), _pieces(corpus, column), strict=True))


def _pieces(corpus: Corpus, column: str) -> list[list[str]]:
    """The values of a column, sentence by sentence."""
    values, ends = corpus.column(column).strings(), corpus.offsets.tolist()
    return [values[start:end] for start, end in pairwise(ends)]
