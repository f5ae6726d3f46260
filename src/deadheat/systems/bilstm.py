"""The BiLSTM-CNN-CRF tagger with every option of Reimers & Gurevych (2017, section 4.2); needs deadheat[neural]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError
from deadheat.neural.config import (
    Course,
    Numbers,
    Shape,
    TaggerRecipe,
    rate_of,
    scheme_named,
    share,
    sizes_of,
    threshold,
)
from deadheat.neural.jobs import Done, Order, Together, needed
from deadheat.systems.system import SYSTEMS, Model, System, check_at_least, checked_training

NAME = "bilstm.v1"


@SYSTEMS.add(NAME)
def bilstm(  # noqa: PLR0913 (each option of the paper is a setting)
    *,
    column: str = "upos",
    scheme: str = "as-is",
    units: str = "100,100",
    classifier: str = "crf",
    word_size: int = 100,
    vectors: str = "",
    frozen: bool = False,
    casing: int = 10,
    characters: str = "cnn",
    character_size: int = 30,
    filters: int = 30,
    dropout: str = "variational",
    dropped: str = "both",
    drop: float = 0.25,
    optimizer: str = "nadam",
    rate: float = 0.0,
    clip: float = 0.0,
    norm: float = 1.0,
    batch: int = 32,
    replaced: float = 0.5,
    epochs: int = 50,
    patience: int = 5,
) -> System:
    """A BiLSTM-CNN-CRF tagger for tags, chunks or entities. The best epoch is picked on tune.

    Parameters
    ----------
    column
        What to learn: any column of the corpus.
    scheme
        In which scheme chunks are learned: `bio`, `iob1`, `iobes`, or `as-is` as the corpus has them. What is predicted
        is in the scheme of the corpus, and sequences that cannot be are mended as conlleval reads them.
    units
        Units of each direction, layer by layer: `100`, `100,75`, `100,75,50`.
    classifier
        `crf` (labels of a sentence are chosen together) or `softmax` (each by itself).
    word_size
        Numbers a word is represented by, where no file of vectors says otherwise.
    vectors
        A file of word vectors: word2vec's text format, GloVe's, fastText's; plain, gzip, xz or zstd.
    frozen
        Whether training leaves word vectors as they are.
    casing
        Numbers for what a word looks like (lower case, digits, ...); 0 leaves it out.
    characters
        `none`, `cnn` (Ma & Hovy 2016) or `lstm` (Lample et al. 2016).
    character_size, filters
        Numbers a character is represented by; filters of the CNN, or units of each direction of the LSTM.
    dropout
        `none`, `naive` (other units at every word) or `variational` (the same in the whole sentence).
    dropped
        Where: on the `outputs` of layers, on `recurrent` units from word to word, or `both`.
    drop
        The share that is dropped.
    optimizer
        `sgd`, `adagrad`, `adadelta`, `rmsprop`, `adam` or `nadam`.
    rate
        The learning rate; 0 is the optimizer's usual one.
    clip, norm
        Components of the gradient are clipped to `clip`; then the whole is scaled down to the norm `norm`. 0 is off.
    batch
        Sentences an update, 1 to 64 in the paper.
    replaced
        How often a word that was seen once is taken for unknown, so that the unknown is learned.
    epochs, patience
        At most so many epochs, and no more than `patience` without a better score on tune: F1 of chunks, or accuracy.
    """
    check_at_least(
        NAME, 1, word_size=word_size, character_size=character_size, filters=filters, batch=batch, epochs=epochs,
        patience=patience,
    )  # fmt: skip
    try:
        if casing < 0:
            raise InputError(f"casing={casing}; expected a size, or 0 for none")
        shape = Shape(
            units=sizes_of(units), word_size=word_size, case_size=casing, characters=characters,
            character_size=character_size, filters=filters, classifier=classifier, optimizer=optimizer,
            dropout=dropout, dropped=dropped, batch=batch, fixed_words=frozen,
        )  # fmt: skip
        numbers = Numbers(
            rate_of(optimizer, rate), share("drop", drop), threshold("clip", clip), threshold("norm", norm),
            share("replaced", replaced),
        )  # fmt: skip
        recipe = TaggerRecipe(column, scheme_named(scheme), vectors, shape, numbers, Course(epochs, patience))
    except InputError as error:
        raise InputError(f"{NAME}: {error}") from error

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        checked_training(train, column, NAME)
        model: Model = _tagging().train_one(recipe, train, tune, seed)
        return model

    def train_many(corpus: Corpus, orders: Sequence[Order]) -> Iterator[tuple[int, Done]]:
        checked_training(corpus, column, NAME)
        yield from _tagging().train_orders(corpus, orders)

    return System(NAME, train, tuned=True, together=Together((NAME, recipe.group), recipe, train_many))


def _tagging() -> Any:
    return needed("deadheat.neural.tagging", NAME)
