"""Metrics of Universal Dependencies: the thirteen of the CoNLL 2018 shared task, ELAS and EULAS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import CorpusError, Fault, InputError
from deadheat.metrics.metric import ALIGNED_FIELDS, METRICS, Counts, Metric, f1, register
from deadheat.metrics.pair import Flags, Pair, Surface, multiword_tokens

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
CONTENT_METRICS = ("clas", "mlas", "blex")


def main_label(relation: str) -> str:
    """A relation without its subtype."""
    return relation.partition(":")[0]


def universal_features(feats: str) -> str:
    """Return the 21 features that the official evaluation compares, sorted."""
    kept = [feature for feature in feats.split("|") if feature.partition("=")[0] in FEATURES]
    return "|".join(sorted(kept))


def attached(pair: Pair) -> Flags:
    """Flag aligned words with the right head and main relation."""
    return pair.heads_equal & pair.equal("deprel", main_label)


def tagged(pair: Pair) -> Flags:
    """Flag aligned words with the right universal tag and features."""
    return pair.equal("upos") & pair.equal("feats", universal_features)


def lemmatized(pair: Pair) -> Flags:
    """Flag aligned words with the right lemma; any lemma is right where gold has none."""
    lemmas = pair.gold.column("lemma")
    return np.asarray(pair.equal("lemma") | (pair.at_gold(lemmas.codes) == lemmas.vocabulary.find("_")))


def relation_in(pair: Pair, labels: frozenset[str]) -> tuple[Flags, Flags]:
    """Flag gold and predicted words with one of these main relations."""
    return pair.which("deprel", lambda relation: main_label(relation) in labels)


def content_words(pair: Pair) -> tuple[Flags, Flags]:
    """Flag gold and predicted content words."""
    return relation_in(pair, CONTENT)


def children_right(pair: Pair) -> Flags:
    """Flag aligned words that have the same function words with the same relation, tag and features.

    A function word that differs makes both its gold parent and its predicted parent wrong.
    """
    right = attached(pair) & tagged(pair)
    parents_right = np.ones(len(right), bool)
    sides = ((pair.gold, pair.gold_words), (pair.predicted, pair.predicted_words))
    for (corpus, aligned), functional in zip(sides, relation_in(pair, FUNCTIONAL), strict=True):
        wrong = functional.copy()
        wrong[aligned] &= ~right
        parents = corpus.head_words[wrong]
        bad = np.zeros(corpus.words, bool)
        bad[parents[parents >= 0]] = True
        parents_right &= ~bad[aligned]
    return parents_right


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


def _word_metric(name: str, label: str, compares: str, description: str, right: Callable[[Pair], Flags]) -> None:
    def counts(pair: Pair) -> Counts:
        return aligned_counts(pair, right(pair), pair.once(content_words) if name in CONTENT_METRICS else None)

    register(description, Metric(f"{name}.v1", label, counts, f1, ALIGNED_FIELDS, compares))


# fmt: off
for _metric in (
    ("upos", "UPOS", "upos", "Universal tag.", lambda pair: pair.equal("upos")),
    ("xpos", "XPOS", "xpos", "Language-specific tag.", lambda pair: pair.equal("xpos")),
    ("ufeats", "UFeats", "feats", "The 21 universal features.", lambda pair: pair.equal("feats", universal_features)),
    ("alltags", "AllTags", "upos", "UPOS, XPOS and universal features.",
     lambda pair: tagged(pair) & pair.equal("xpos")),
    ("lemmas", "Lemmas", "lemma", "Lemma; any lemma is right where gold has none.", lemmatized),
    ("uas", "UAS", "head", "Head.", lambda pair: pair.heads_equal),
    ("clas", "CLAS", "tree", "Head and relation of content words.", attached),
    ("mlas", "MLAS", "tree", "Head, relation, tag, features and function words of content words.",
     lambda pair: attached(pair) & tagged(pair) & children_right(pair)),
    ("blex", "BLEX", "tree", "Head, relation and lemma of content words.",
     lambda pair: attached(pair) & lemmatized(pair)),
):
    _word_metric(*_metric)
# fmt: on


@METRICS.add("las.v1")
def las(*, subtypes: bool = False) -> Metric:
    """Head and relation, including punctuation; relations without subtypes unless `subtypes=True`."""

    def counts(pair: Pair) -> Counts:
        return aligned_counts(pair, pair.heads_equal & pair.equal("deprel", None if subtypes else main_label))

    label = "LAS (full labels)" if subtypes else "LAS"
    return Metric("las.v1", label, counts, f1, ALIGNED_FIELDS, "tree")


def _word_counts(pair: Pair) -> Counts:
    return aligned_counts(pair, np.ones(len(pair.gold_words), bool))[:, :3]


def _token_counts(pair: Pair) -> Counts:
    if pair.surfaces is None:
        first, _ = multiword_tokens(pair.gold)
        return np.stack([pair.units.of_gold(first)] * 3, axis=1)
    return _span_counts(pair, pair.surfaces, [(side.token_starts, side.token_ends) for side in pair.surfaces])


def _sentence_counts(pair: Pair) -> Counts:
    if pair.units.name == "token":
        raise InputError("sentences.v1: units are tokens; expected sentences or documents as units")
    if pair.surfaces is None:
        return np.stack([np.diff(pair.units.gold_sentences, append=pair.gold.sentences)] * 3, axis=1)
    return _span_counts(pair, pair.surfaces, [(side.sentence_starts, side.sentence_ends) for side in pair.surfaces])


for _description, _name, _counts in (
    ("Words that are aligned.", "words", _word_counts),
    ("Tokens with the same span: multiword tokens, and words outside of them.", "tokens", _token_counts),
    ("Sentences with the same span.", "sentences", _sentence_counts),
):
    register(_description, Metric(f"{_name}.v1", _name.title(), _counts, f1))


def _span_counts(pair: Pair, sides: tuple[Surface, Surface], bounds: Sequence[tuple[Indices, Indices]]) -> Counts:
    """Count spans per unit, from the starts and ends of gold and predicted ones."""
    firsts = pair.units.gold, pair.units.predicted
    gold, predicted = (
        np.searchsorted(side.starts[first], starts, side="right") - 1
        for side, first, (starts, _) in zip(sides, firsts, bounds, strict=True)
    )
    spans = [(starts << 32) | ends for starts, ends in bounds]  # start and end as one number
    same = np.isin(spans[0], spans[1])
    columns = [np.bincount(units, minlength=len(pair.units)) for units in (gold[same], gold, predicted)]
    return np.stack(columns, axis=1).astype(np.int64)


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
