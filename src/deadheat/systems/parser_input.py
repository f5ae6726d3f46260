"""What parsers read and learn from: tags, gold or predicted, and training sentences that are trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.corpus import Column, Corpus, take
from deadheat.corpus.transforms import with_labels, with_trees
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.neural.orders import Done, Order, Trainer
from deadheat.systems.system import SYSTEMS, Model, System
from deadheat.trees import problems, require_trees

TAGS = ("gold", "predicted", "none")
BAD_TREES = ("refuse", "skip")
FOLDS = 5  # of the training part, each tagged by a tagger that learned from the others


@dataclass(frozen=True, slots=True)
class ParserInput:
    """Where tags come from, and what becomes of training sentences that are no trees."""

    tags: str
    tag_column: str
    tagger: str
    bad_trees: str

    @property
    def column(self) -> str:
        """The column that tags are read from; none if there are none."""
        return "" if self.tags == "none" else self.tag_column

    def check(self) -> None:
        """Refuse what cannot be."""
        if self.tags not in TAGS:
            raise NameUnknown("tags", self.tags, TAGS)
        if self.bad_trees not in BAD_TREES:
            raise NameUnknown("bad_trees", self.bad_trees, BAD_TREES)
        if self.tags == "predicted":
            self._tagger()

    def train(
        self, name: str, train: Corpus, tune: Corpus | None, learn: Callable[[Corpus, Corpus | None], Model]
    ) -> Model:
        """A parser that reads tags as it learned to."""
        if not train.words:
            raise InputError(f"{train.name}: no words; {name} expected some to learn from")
        train = take(train, self.sound(name, train, np.arange(train.sentences)))
        if self.tags != "predicted":
            return learn(train, tune)
        tagger = self._tagger().train(train, None, 0)
        tagged = None if tune is None else tagger.predict(tune)
        return TaggedFirst(tagger, learn(self._jackknifed(train), tagged))

    def train_many(
        self, name: str, corpus: Corpus, orders: Sequence[Order], learn: Trainer
    ) -> Iterator[tuple[int, Done]]:
        """Many parsers of one corpus; where tags are predicted, those of one training part at a time."""
        orders = [replace(order, train=self.sound(name, corpus, np.sort(order.train))) for order in orders]
        if self.tags != "predicted":
            yield from learn(corpus, orders)
            return
        groups: dict[bytes, list[int]] = {}
        for number, order in enumerate(orders):
            groups.setdefault(order.train.tobytes(), []).append(number)
        for numbers in groups.values():
            own = [orders[number] for number in numbers]
            for at, done in learn(self.tagged(corpus, own[0].train), own):
                parts = {
                    part: with_trees(take(corpus, np.sort(own[at].parts[part])), parsed.trees, parsed.column("deprel"))
                    for part, parsed in done.predictions.items()
                }
                yield numbers[at], replace(done, predictions=parts)

    def sound(self, name: str, corpus: Corpus, sentences: Indices) -> Indices:
        """The sentences that are trees with one root; others are refused by file and line, or left out."""
        sentences = sentences[np.diff(corpus.offsets)[sentences] > 0]
        own = take(corpus, sentences)
        if self.bad_trees == "refuse" or own.heads is None:
            require_trees(own)
            return sentences
        bad = sorted({problem.sentence for problem in problems(own.heads, own.offsets)})
        found = np.delete(sentences, bad)
        if not len(found):
            raise InputError(f"{corpus.name}: no sentence in train is a tree; {name} expected some to learn from")
        return found

    def _tagger(self) -> System:
        return SYSTEMS.make(self.tagger, column=self.tag_column)

    def _jackknifed(self, train: Corpus) -> Corpus:
        """The training part with tags of taggers that did not learn from the sentence."""
        fold = np.arange(train.sentences) % FOLDS
        tags = np.empty(train.words, object)
        word = np.repeat(fold, np.diff(train.offsets))
        for own in range(min(FOLDS, train.sentences)):
            others = take(train, np.flatnonzero(fold != own)) if train.sentences > 1 else train
            tagged = self._tagger().train(others, None, 0).predict(take(train, np.flatnonzero(fold == own)))
            tags[word == own] = tagged.column(self.tag_column).strings()
        return with_labels(train, self.tag_column, Column.of(tags.tolist()))

    def tagged(self, corpus: Corpus, train: Indices) -> Corpus:
        """The corpus with predicted tags: those of train jackknifed, all others by a tagger that learned from it."""
        own = take(corpus, train)
        tags = np.array(self._tagger().train(own, None, 0).predict(corpus).column(self.tag_column).strings(), object)
        inside = np.zeros(corpus.sentences, bool)
        inside[train] = True
        tags[np.repeat(inside, np.diff(corpus.offsets))] = self._jackknifed(own).column(self.tag_column).strings()
        return with_labels(corpus, self.tag_column, Column.of(tags.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class TaggedFirst:
    """A parser that reads the tags of a tagger; its predictions keep the tags of the corpus."""

    tagger: Model
    parser: Model

    def predict(self, corpus: Corpus) -> Corpus:
        parsed = self.parser.predict(self.tagger.predict(corpus))
        return with_trees(corpus, parsed.trees, parsed.column("deprel"))
