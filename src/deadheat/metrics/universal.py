"""Metrics of Universal Dependencies: the thirteen of the CoNLL 2018 shared task, ELAS and EULAS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import CorpusError, Fault, InputError
from deadheat.metrics.metric import FIELDS, METRICS, Counts, Metric, f1
from deadheat.metrics.pair import Flags, Pair, Surface

CONTENT = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl amod "
    "conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
FUNCTIONAL = frozenset("aux cop mark det clf case cc".split())
FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite".split()
)
OFFICIAL = (
    "tokens", "sentences", "words", "upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las", "clas", "mlas", "blex",
)  # fmt: skip
ALIGNED_FIELDS = (*FIELDS, "aligned")
CONTENT_METRICS = ("clas", "mlas", "blex")


def main_label(relation: str) -> str:
    """A relation without its subtype."""
    return relation.partition(":")[0]


def universal_features(feats: str) -> str:
    """Return the 21 features that the official evaluation compares, sorted."""
    kept = [feature for feature in feats.split("|") if feature.partition("=")[0] in FEATURES]
    return "|".join(sorted(kept))


@dataclass(frozen=True, eq=False)
class Words:
    """Which aligned words are right in which respect, and which words are content words."""

    pair: Pair

    @cached_property
    def upos(self) -> Flags:
        return self.pair.equal("upos")

    @cached_property
    def xpos(self) -> Flags:
        return self.pair.equal("xpos")

    @cached_property
    def feats(self) -> Flags:
        return self.pair.equal("feats", universal_features)

    @cached_property
    def lemma(self) -> Flags:
        """Right if equal, or if gold has no lemma."""
        codes, vocabulary = self.pair.gold.column("lemma").codes, self.pair.gold.column("lemma").vocabulary
        return np.asarray(self.pair.equal("lemma") | (self.pair.at_gold(codes) == vocabulary.find("_")))

    @cached_property
    def label(self) -> Flags:
        return self.pair.equal("deprel", main_label)

    @cached_property
    def attached(self) -> Flags:
        return self.pair.heads_equal & self.label

    def relation_in(self, labels: frozenset[str]) -> tuple[Flags, Flags]:
        """Flag gold and predicted words with one of these main relations."""
        columns = self.pair.gold.column("deprel"), self.pair.predicted.column("deprel")
        gold, predicted = (c.vocabulary.which(lambda r: main_label(r) in labels)[c.codes] for c in columns)
        return gold, predicted

    @cached_property
    def content(self) -> tuple[Flags, Flags]:
        return self.relation_in(CONTENT)

    @cached_property
    def children_right(self) -> Flags:
        """For aligned words, whether both have the same function words with the same relation, tag and features.

        A function word that differs makes both its gold parent and its predicted parent wrong.
        """
        pair = self.pair
        right = self.attached & self.upos & self.feats
        wrong_parents = []
        sides = ((pair.gold, pair.gold_words), (pair.predicted, pair.predicted_words))
        for (corpus, aligned), functional in zip(sides, self.relation_in(FUNCTIONAL), strict=True):
            wrong = functional.copy()
            wrong[aligned] &= ~right
            parents = corpus.head_words[wrong]
            bad = np.zeros(corpus.words, bool)
            bad[parents[parents >= 0]] = True
            wrong_parents.append(bad[aligned])
        return ~(wrong_parents[0] | wrong_parents[1])


def word_totals(pair: Pair) -> Counts:
    """Count gold, predicted and aligned words per unit."""
    units = pair.units
    gold = np.diff(units.gold, append=pair.gold.words)
    predicted = np.diff(units.predicted, append=pair.predicted.words)
    aligned = gold if pair.same_words else units.of_gold(pair.on_gold(np.ones(len(pair.gold_words), bool)))
    return np.stack([gold, predicted, aligned], axis=1)


def aligned_counts(pair: Pair, right: Flags, within: tuple[Flags, Flags] | None = None) -> Counts:
    """Count correct, gold, predicted and aligned words per unit, of all words or of those flagged in `within`."""
    units = pair.units
    if within is None:
        correct = units.of_gold(pair.on_gold(right))
        return np.column_stack([correct, pair.once(word_totals)])
    gold, predicted = within
    in_gold = np.asarray(pair.at_gold(gold))
    correct, total = units.of_gold(pair.on_gold(right & in_gold)), units.of_gold(gold)
    aligned = total if pair.same_words else units.of_gold(pair.on_gold(in_gold))
    return np.stack([correct, total, units.of_predicted(predicted), aligned], axis=1)


def _word_metric(name: str, label: str, compares: str, description: str, right: Callable[[Words], Flags]) -> None:
    def maker() -> Metric:
        def counts(pair: Pair) -> Counts:
            words = pair.once(Words)
            return aligned_counts(pair, right(words), words.content if name in CONTENT_METRICS else None)

        return Metric(f"{name}.v1", label, counts, f1, ALIGNED_FIELDS, compares)

    maker.__doc__ = description
    METRICS.add(f"{name}.v1")(maker)


# fmt: off
for _metric in (
    ("upos", "UPOS", "upos", "Universal tag.", lambda w: w.upos),
    ("xpos", "XPOS", "xpos", "Language-specific tag.", lambda w: w.xpos),
    ("ufeats", "UFeats", "feats", "The 21 universal features.", lambda w: w.feats),
    ("alltags", "AllTags", "upos", "UPOS, XPOS and universal features.", lambda w: w.upos & w.xpos & w.feats),
    ("lemmas", "Lemmas", "lemma", "Lemma; any lemma is right where gold has none.", lambda w: w.lemma),
    ("uas", "UAS", "head", "Head.", lambda w: w.pair.heads_equal),
    ("clas", "CLAS", "tree", "Head and relation of content words.", lambda w: w.attached),
    ("mlas", "MLAS", "tree", "Head, relation, tag, features and function words of content words.",
     lambda w: w.attached & w.upos & w.feats & w.children_right),
    ("blex", "BLEX", "tree", "Head, relation and lemma of content words.", lambda w: w.attached & w.lemma),
):
    _word_metric(*_metric)
# fmt: on


@METRICS.add("las.v1")
def las(*, subtypes: bool = False) -> Metric:
    """Head and relation, including punctuation; relations without subtypes unless `subtypes=True`."""

    def counts(pair: Pair) -> Counts:
        words = pair.once(Words)
        label = pair.equal("deprel") if subtypes else words.label
        return aligned_counts(pair, pair.heads_equal & label)

    label = "LAS (full labels)" if subtypes else "LAS"
    return Metric("las.v1", label, counts, f1, ALIGNED_FIELDS, "tree")


@METRICS.add("words.v1")
def words() -> Metric:
    """Words that are aligned."""
    return Metric(
        "words.v1", "Words", lambda pair: aligned_counts(pair, np.ones(len(pair.gold_words), bool))[:, :3], f1
    )


@METRICS.add("tokens.v1")
def tokens() -> Metric:
    """Tokens with the same span: multiword tokens, and words outside of them."""

    def counts(pair: Pair) -> Counts:
        units = pair.units
        if pair.surfaces is None:
            return np.stack([_tokens_in_units(pair)] * 3, axis=1)
        gold, predicted = pair.surfaces
        spans = [_spans(side.token_starts, side.token_ends) for side in (gold, predicted)]
        limits = [side.starts[first] for side, first in ((gold, units.gold), (predicted, units.predicted))]
        return _span_counts(spans, [side.token_starts for side in (gold, predicted)], limits)

    return Metric("tokens.v1", "Tokens", counts, f1)


@METRICS.add("sentences.v1")
def sentences() -> Metric:
    """Sentences with the same span."""

    def counts(pair: Pair) -> Counts:
        units = pair.units
        if units.name == "token":
            raise InputError("sentences.v1: units are tokens; expected sentences or documents as units")
        if pair.surfaces is None:
            every = np.diff(units.gold_sentences, append=pair.gold.sentences)
            return np.stack([every] * 3, axis=1)
        sides: tuple[Surface, Surface] = pair.surfaces
        spans = [_spans(side.sentence_starts, side.sentence_ends) for side in sides]
        limits = [side.starts[first] for side, first in zip(sides, (units.gold, units.predicted), strict=True)]
        return _span_counts(spans, [side.sentence_starts for side in sides], limits)

    return Metric("sentences.v1", "Sentences", counts, f1)


def _tokens_in_units(pair: Pair) -> NDArray[np.int64]:
    """Count tokens per unit; a multiword token belongs to the unit of its first word."""
    starts = np.ones(pair.gold.words, np.int64)
    extras = pair.gold.extras
    multiword = extras.span > 0
    at, rest = extras.at[multiword] + 1, extras.span[multiword] - 1
    starts[np.repeat(at, rest) + np.arange(rest.sum()) - np.repeat(np.cumsum(rest) - rest, rest)] = 0
    return pair.units.of_gold(starts)


def _spans(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Encode start and end as one number."""
    return (starts << 32) | ends


def _span_counts(
    spans: list[NDArray[np.int64]], starts: list[NDArray[np.int64]], limits: list[NDArray[np.int64]]
) -> Counts:
    gold_units, predicted_units = (
        np.searchsorted(limit, start, side="right") - 1 for limit, start in zip(limits, starts, strict=True)
    )
    same = np.isin(spans[0], spans[1])
    size = len(limits[0])
    correct, gold, predicted = (
        np.bincount(which, minlength=size) for which in (gold_units[same], gold_units, predicted_units)
    )
    return np.stack([correct, gold, predicted], axis=1).astype(np.int64)


# The official evaluator counts every pair of equal edges, so an edge that a system writes three times is right three
# times (recall 300 %), and two edges that differ only in subtypes count four times in EULAS. Here the edges of a word
# are a set; `official=True` counts as the evaluator does.
Edges = dict[tuple[int, int, str], int]  # (word, head or -1, label) -> how often


def edges_of(corpus: Corpus, label: Callable[[str], str]) -> Edges:
    """Collect the enhanced edges between words; edges to empty nodes are ignored."""
    column = corpus.column("deps")
    parsed = [_parse(deps) for deps in column.vocabulary.strings]
    starts, sizes = corpus.offsets.tolist(), np.diff(corpus.offsets).tolist()
    sentence_of_word = corpus.sentence_of_word.tolist()
    counts: Edges = Counter()
    for word, code in enumerate(column.codes.tolist()):
        sentence = sentence_of_word[word]
        edges = parsed[code]
        if edges is None or any(head > sizes[sentence] for head, _ in edges):
            path, line = corpus.line_of_word(word)
            text = column.vocabulary[code]
            raise CorpusError(
                [Fault(path, line, f"DEPS {text!r}; expected head:relation|... with heads in the sentence")]
            )
        for head, relation in edges:
            counts[word, starts[sentence] + head - 1 if head else -1, label(relation)] += 1
    return counts


def _parse(deps: str) -> list[tuple[int, str]] | None:
    """Parse a DEPS field; None if it is malformed."""
    edges = []
    for edge in deps.split("|") if deps != "_" else ():
        head, colon, relation = edge.partition(":")
        major, dot, minor = head.partition(".")
        if not colon or not (major.isascii() and major.isdigit()) or (dot and not minor.isdigit()):
            return None
        if not dot:
            edges.append((int(major), relation))
    return edges


def _edge_metric(name: str, label: str, description: str, cut: Callable[[str], str]) -> None:
    def maker(*, official: bool = False) -> Metric:
        def counts(pair: Pair) -> Counts:
            gold, predicted = edges_of(pair.gold, cut), edges_of(pair.predicted, cut)
            to_gold = pair.gold_of_predicted.tolist()
            same: Edges = Counter()
            for (word, head, relation), times in predicted.items():
                moved = (to_gold[word], to_gold[head] if head >= 0 else -1, relation)
                if moved[0] >= 0 and (moved[1] >= 0 or head < 0) and moved in gold:
                    same[moved] += times * gold[moved]
            columns = [
                pair.units.of_gold(_per_word(same, pair.gold.words, official=official)),
                pair.units.of_gold(_per_word(gold, pair.gold.words, official=official)),
                pair.units.of_predicted(_per_word(predicted, pair.predicted.words, official=official)),
            ]
            return np.stack(columns, axis=1)

        full_label = f"{label} (official)" if official else label
        return Metric(f"{name}.v1", full_label, counts, f1, compares="deps")

    maker.__doc__ = description
    METRICS.add(f"{name}.v1")(maker)


def _per_word(edges: Edges, words: int, *, official: bool) -> NDArray[np.int64]:
    counts: Indices = np.zeros(words, np.int64)
    for (word, _, _), times in edges.items():
        counts[word] += times if official else 1
    return counts


_edge_metric("elas", "ELAS", "Enhanced edges with full labels, each counted once.", str)
_edge_metric("eulas", "EULAS", "Enhanced edges with labels cut at the first colon, each counted once.", main_label)
