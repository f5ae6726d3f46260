"""A bidirectional log-linear tagger (Tsuruoka and Tsujii 2005).

Four models give the probability of a tag: given no tag beside it, the one before, the one after, and both (which is
that of Toutanova, Klein, Manning and Singer 2003). A sentence gets the tags that are most probable if, for every two
neighbours, either is chosen given the other. `docs/design/taggers.md` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Indices, recode
from deadheat.errors import InputError
from deadheat.kernels.loglinear import N_POWERS, add_to_weights, list_weights, score_cases, tag_by_decompositions
from deadheat.systems.features import EncodedCorpus, Encoder, Templates, training_tags
from deadheat.systems.system import SYSTEMS, System, check_at_least

Floats = NDArray[np.float64]

TEMPLATES = Templates(
    pairs=((-1, 0), (0, 1)), prefixes=6, suffixes=6, shapes=("digit", "hyphen", "upper", "capitals"), normal=True
)
BLOCK = 1 << 11  # words whose scores are in memory at a time
MAX_TAGS = 1000  # in training every word has a score for every tag
CANDIDATES = 24  # tags of a word that are looked at: those with the highest scores
CONTEXTS = ((), (0, 3), (1, 4), (0, 1, 2, 3, 4))  # columns of `rows_beside` that each of the four models sees


@dataclass(frozen=True, slots=True, eq=False)
class RowWeights:
    """Weights of features with the tags they were seen with: those of row r from starts[r] to starts[r + 1]."""

    starts: Codes
    tags: Codes
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LoglinearTagger:
    """A trained log-linear model."""

    encoder: Encoder
    weights: RowWeights  # of the four models, one after the other

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with the tags that are most probable under any decomposition."""
        forms = recode(corpus.column("form"), self.encoder.index.forms)
        tags = best_tags(self.encoder, self.encoder.encode(corpus), forms, self.weights)
        return with_labels(corpus, self.encoder.column, Column(tags, self.encoder.tags))


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """Every word with every tag: its weights are at `places`, those of case i from bounds[i] to bounds[i + 1]."""

    gold: Codes
    n_tags: int
    bounds: Indices
    places: Codes

    def loss(self, weights: Floats, variance: float) -> tuple[float, Floats]:
        """Minus the log-likelihood of the gold tags and of a Gaussian prior, and its gradient."""
        loss = float(np.sum(weights * weights)) / (2 * variance)  # a product by BLAS depends on its threads
        gradient = weights / variance
        for start in range(0, len(self.gold), BLOCK):
            gold = self.gold[start : start + BLOCK]
            bounds = self.bounds[start * self.n_tags : (start + len(gold)) * self.n_tags + 1]
            scores = np.empty((len(gold), self.n_tags))
            score_cases(bounds, self.places, weights, scores.ravel())
            scores -= scores.max(axis=1, keepdims=True)
            words = np.arange(len(gold))
            loss -= float(scores[words, gold].sum())
            chances = np.exp(scores, out=scores)
            totals = chances.sum(axis=1, keepdims=True)
            loss += float(np.log(totals).sum())
            chances /= totals
            chances[words, gold] -= 1
            add_to_weights(bounds, self.places, chances.ravel(), gradient)
        return loss, gradient


@SYSTEMS.add("loglinear.v2")
def loglinear(
    *, column: str = "upos", variance: float = 2.0, iterations: int = 60, cutoff: int = 1, dictionary: int = 5
) -> System:
    """A bidirectional log-linear tagger. Neither tune nor the seed is used: its best weights are the only ones.

    Parameters
    ----------
    column
        What to learn.
    variance
        Of the Gaussian prior of each weight; the smaller, the closer weights stay to 0.
    iterations
        At most so many steps of L-BFGS for the model without tags beside; the others begin with its weights and
        take a third as many.
    cutoff
        Features seen less often with a tag have no weight for it.
    dictionary
        Words seen so often take only tags that they were seen with; 0 lets all words take all tags.
    """
    check_at_least("loglinear.v2", 1, iterations=iterations, cutoff=cutoff)
    check_at_least("loglinear.v2", 0, dictionary=dictionary)
    if not 0 < variance < float("inf"):
        raise InputError(f"loglinear.v2: variance={variance}; expected a number above 0")

    def train(train: Corpus, _tune: Corpus | None, _seed: int) -> LoglinearTagger:
        tags = training_tags(train, column, "loglinear.v2", most=MAX_TAGS)
        encoder = Encoder.of(train, tags, column, TEMPLATES, least=dictionary)
        models: list[RowWeights] = []
        for context in CONTEXTS:
            start, cases = make_cases(encoder, train, cutoff, context, models[0] if models else None)
            loss = partial(cases.loss, variance=variance)
            steps = max(1, iterations // 3) if models else iterations
            models.append(replace(start, weights=minimize(loss, start.weights, steps)))
        return LoglinearTagger(encoder, joined(models))

    return System("loglinear.v2", train, randomness="none", most_labels=MAX_TAGS)


def make_cases(
    encoder: Encoder, train: Corpus, cutoff: int, context: Sequence[int], begin: RowWeights | None = None
) -> tuple[RowWeights, Cases]:
    """All weights of a model that sees some of the tags beside a word, and the cases to learn them from.

    Weights are initially those of another model for the same rows and tags, and 0 where it has none.
    """
    gold, tags = encoder.gold(train), len(encoder.tags)
    beside = rows_beside(encoder, train)[:, list(context)]
    rows = np.concatenate([encoder.index.rows(train).reshape(len(gold), -1), beside], axis=1)
    keys = rows.astype(np.int64) * tags + gold[:, None]
    seen, times = np.unique(keys[rows > 0], return_counts=True)
    seen = seen[times >= cutoff]
    n_rows = encoder.index.size + n_rows_beside(encoder)
    starts = np.searchsorted(seen, np.arange(n_rows + 1) * tags).astype(np.int32)
    weight_tags = (seen % tags).astype(np.int32)
    layout = (rows.ravel(), rows.shape[1], tags, starts, weight_tags)
    bounds = np.zeros(len(gold) * tags + 1, np.int64)
    list_weights(*layout, 0, bounds[1:], np.empty(0, np.int32))
    np.cumsum(bounds, out=bounds)
    places = np.empty(int(bounds[-1]), np.int32)
    list_weights(*layout, 1, bounds[:-1].copy(), places)
    weights = np.zeros(len(seen))
    if begin is not None:
        known = np.repeat(np.arange(n_rows) * tags, np.diff(begin.starts)) + begin.tags
        weights[np.searchsorted(seen, known)] = begin.weights
    return RowWeights(starts, weight_tags, weights), Cases(gold, tags, bounds, places)


def joined(models: Sequence[RowWeights]) -> RowWeights:
    """The rows of several models one after the other."""
    firsts = np.cumsum([0, *(len(model.tags) for model in models)])
    starts = [model.starts[:-1] + first for model, first in zip(models, firsts[:-1], strict=True)]
    tags, weights = [model.tags for model in models], [model.weights for model in models]
    every = np.concatenate([*starts, firsts[-1:]]).astype(np.int32)
    return RowWeights(every, np.concatenate(tags), np.concatenate(weights))


def n_rows_beside(encoder: Encoder) -> int:
    """How many rows have tags: before, after, both, before with the word, after with the word."""
    sides = len(encoder.tags) + 1
    return 2 * sides + sides * sides + 2 * len(encoder.index.forms) * sides


def rows_beside(encoder: Encoder, train: Corpus) -> Codes:
    """The rows that each word of the training text has by the tags beside it; they follow those of words."""
    sides, first = len(encoder.tags) + 1, encoder.index.size
    forms, tags = recode(train.column("form"), encoder.index.forms), encoder.gold(train)
    before, after = (np.full(len(tags), sides - 1, np.int64) for _ in range(2))
    before[1:], after[:-1] = tags[:-1], tags[1:]
    before[train.offsets[:-1]] = after[train.offsets[1:] - 1] = sides - 1
    with_words = first + 2 * sides + sides * sides
    columns = (
        first + before,
        first + sides + after,
        first + 2 * sides + before * sides + after,
        with_words + forms * sides + before,
        with_words + (len(encoder.index.forms) + forms) * sides + after,
    )
    return np.stack(columns, axis=1).astype(np.int32)


def minimize(function: Callable[[Floats], tuple[float, Floats]], start: Floats, iterations: int) -> Floats:
    """The minimum of a function, by L-BFGS."""
    from scipy import optimize

    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 5}
    result = optimize.minimize(function, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(result.x, np.float64)


def best_tags(encoder: Encoder, text: EncodedCorpus, forms: Codes, weights: RowWeights) -> Codes:
    """The most probable tags of each sentence under any decomposition."""
    tags, words = len(encoder.tags), len(forms)
    most = min(CANDIDATES, tags)
    predicted, chosen, counts = (np.zeros(size, np.int32) for size in (words, words * most, words))
    scores, word_scores, left, right, chances, best = (
        np.zeros(size) for size in (tags, tags, most * tags, most * tags, 4 * most**3, 4 * most**2)
    )
    back = np.zeros(text.longest * 2 * most**2, np.int16)
    tag_by_decompositions(text.offsets, text.rows, encoder.index.width, forms, text.lists, encoder.dictionary.starts,
                          encoder.dictionary.tags, tags, len(encoder.index.forms), most, weights.starts, weights.tags,
                          weights.weights, 0.5 ** np.arange(N_POWERS), scores, word_scores, left, right, chances,
                          best, back, chosen, counts, predicted)  # fmt: skip
    return predicted
