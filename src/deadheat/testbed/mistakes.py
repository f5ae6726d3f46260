"""Plausible errors of simulated systems: wrong labels, and wrong heads that still form a tree.

Not every set of words can have wrong heads while all others are right: not the root alone (another word must become the
root), and not exactly the children of the root (one of them must stay). If one of these two sets is drawn, it loses or
gains a word, with equal probability, so that the expected number of errors stays the same. A sentence of one word is
always right; the other sentences have more errors to make up for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deadheat.testbed.conllu import Word
from deadheat.testbed.rng import Rng, Weighted, weighted


def _parse_weights(table: Mapping[str, str]) -> Mapping[str, Weighted[str]]:
    """Parse weights such as `NOUN 5, VERB 2`."""
    pairs = {name: [part.split() for part in line.split(",")] for name, line in table.items()}
    return {
        name: weighted([value for value, _ in parts], [float(weight) for _, weight in parts])
        for name, parts in pairs.items()
    }


CONFUSABLE_UPOS = _parse_weights(
    {
        "ADJ": "NOUN 4, VERB 3, ADV 2, PROPN 1",
        "ADP": "SCONJ 3, ADV 3, PART 2",
        "ADV": "ADJ 3, ADP 3, NOUN 1, SCONJ 1",
        "AUX": "VERB 9, PART 1",
        "CCONJ": "ADV 2, SCONJ 1, DET 1",
        "DET": "PRON 6, ADV 1, ADJ 1",
        "INTJ": "NOUN 2, PROPN 2, ADV 2",
        "NOUN": "PROPN 5, VERB 3, ADJ 3",
        "NUM": "NOUN 3, PROPN 2, X 1",
        "PART": "ADP 3, ADV 3, SCONJ 1",
        "PRON": "DET 5, SCONJ 3, NOUN 1",
        "PROPN": "NOUN 6, ADJ 2, X 1",
        "PUNCT": "SYM 3, X 1",
        "SCONJ": "ADP 4, PRON 3, ADV 2",
        "SYM": "PUNCT 3, NOUN 1",
        "VERB": "NOUN 4, AUX 3, ADJ 3",
        "X": "PROPN 4, NOUN 3",
    }
)

CONFUSABLE_RELATIONS = _parse_weights(
    {
        "acl": "advcl 4, amod 2, nmod 1",
        "advcl": "acl 3, ccomp 3, conj 2, parataxis 2",
        "advmod": "obl 2, amod 2, mark 2, discourse 1",
        "amod": "nmod 3, compound 3, advmod 2, nummod 1",
        "appos": "nmod 2, conj 2, flat 2, parataxis 1",
        "aux": "cop 5, mark 1",
        "case": "mark 4, advmod 3, fixed 1",
        "cc": "advmod 2, mark 1",
        "ccomp": "advcl 3, parataxis 3, xcomp 2",
        "compound": "amod 3, nmod 3, flat 3",
        "conj": "parataxis 2, nmod 2, appos 2, obj 1",
        "cop": "aux 6, advmod 1",
        "det": "nmod 2, amod 1, nsubj 1",
        "discourse": "advmod 3, vocative 1",
        "flat": "compound 4, appos 2, nmod 1",
        "iobj": "obj 5, obl 2",
        "mark": "case 3, advmod 3, nsubj 1",
        "nmod": "obl 5, appos 1, compound 1, amod 1",
        "nsubj": "obj 5, obl 1, nmod 1",
        "nummod": "nmod 2, amod 2, compound 1",
        "obj": "nsubj 4, obl 4, iobj 1, xcomp 1",
        "obl": "nmod 5, obj 3, advmod 1",
        "orphan": "obj 2, nmod 1, appos 1",
        "parataxis": "conj 3, ccomp 2, advcl 2",
        "punct": "dep 1, discourse 1",
        "root": "conj 3, ccomp 2, parataxis 2, advcl 1",
        "vocative": "nsubj 2, discourse 1, parataxis 1",
        "xcomp": "ccomp 3, advcl 2, obj 2",
    }
)

DEFAULT_UPOS = weighted(["X"], [1.0])
DEFAULT_RELATION = weighted(["dep"], [1.0])

# The features that the official evaluation compares.
COMPARED_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite".split()
)


@dataclass(frozen=True, slots=True)
class Inventory:
    """The tags of each class and the values of each feature in a text."""

    xpos: Mapping[str, Weighted[str]]
    values: Mapping[str, tuple[str, ...]]


def make_inventory(words: Iterable[Word]) -> Inventory:
    """Collect the tags and feature values of some words."""
    xpos: defaultdict[str, Counter[str]] = defaultdict(Counter)
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (upos, tag, feats), count in Counter((word.upos, word.xpos, word.feats) for word in words).items():
        xpos[upos][tag] += count
        for feature in _split(feats):
            name, _, value = feature.partition("=")
            values[name][value] += count
    return Inventory(
        {upos: weighted(tags.keys(), tags.values()) for upos, tags in xpos.items()},
        {name: tuple(sorted(counts)) for name, counts in values.items()},
    )


def wrong_upos(rng: Rng, upos: str) -> str:
    """Draw another part of speech."""
    return rng.draw(CONFUSABLE_UPOS.get(upos, DEFAULT_UPOS))


def wrong_relation(rng: Rng, relation: str) -> str:
    """Draw another main relation."""
    return rng.draw(CONFUSABLE_RELATIONS.get(relation.split(":")[0], DEFAULT_RELATION))


def wrong_xpos(rng: Rng, word: Word, inventory: Inventory) -> str:
    """Draw another tag of the same class by frequency, or else one of a confusable class."""
    for upos in (word.upos, word.upos, wrong_upos(rng, word.upos)):
        tags = inventory.xpos.get(upos)
        if tags:
            tag = rng.draw(tags)
            if tag != word.xpos:
                return tag
    return "X" if word.xpos != "X" else "Y"


def wrong_feats(rng: Rng, word: Word, inventory: Inventory) -> str:
    """Change, remove or add one feature."""
    features = _split(word.feats)
    compared = [i for i, feature in enumerate(features) if feature.split("=")[0] in COMPARED_FEATURES]
    if not compared:
        return "|".join(sorted([*features, rng.choose(("Number=Sing", "Degree=Pos", "Foreign=Yes"))]))
    i = rng.choose(compared)
    name, _, value = features[i].partition("=")
    others = [other for other in inventory.values.get(name, ()) if other != value]
    if others and rng.happens(0.75):
        features[i] = f"{name}={rng.choose(others)}"
    else:
        del features[i]
    return "|".join(features) or "_"


def wrong_lemma(rng: Rng, word: Word) -> str:
    """Draw a wrong lemma: the form, or the lemma with a letter more or less."""
    lemma = word.lemma
    guesses = [word.form, lemma[:-1], lemma + lemma[-1:], lemma.lower()]
    return rng.choose([guess for guess in guesses if guess not in ("", "_", lemma)])


def _split(feats: str) -> list[str]:
    return [] if feats == "_" else feats.split("|")


# Attempts to find a wrong head nearby; after that, one that is always possible is used.
TRIES = 8

# Where several roots are allowed, this share of the wrong heads is a root.
ROOTS_AMONG_ERRORS = 0.15


def error_rate(sizes: Sequence[int], uas: float) -> float:
    """Return the error rate in sentences of two words or more that gives this UAS over all sentences."""
    movable = sum(size for size in sizes if size > 1)
    return min(1.0, (1 - uas) * sum(sizes) / movable) if movable else 0.0


def possible_errors(heads: Sequence[int], hardness: Sequence[float], threshold: float, rng: Rng) -> frozenset[int]:
    """Return the numbers of the wrong words: those below the threshold, or one more or fewer."""
    if len(heads) == 1:
        return frozenset()
    drawn = frozenset(number for number, latent in enumerate(hardness, start=1) if latent < threshold)
    root = heads.index(0) + 1
    children = frozenset(number for number, head in enumerate(heads, start=1) if head == root)
    if drawn == {root}:
        others = [number for number in range(1, len(heads) + 1) if number != root]
        hardest = min(others, key=lambda number: hardness[number - 1])
        return drawn | {hardest} if rng.happens(0.5) else frozenset()
    if drawn == children:
        easiest = max(sorted(children), key=lambda number: hardness[number - 1])
        return drawn | {root} if rng.happens(0.5) else drawn - {easiest}
    return drawn


def reattach(heads: Sequence[int], wrong: frozenset[int], rng: Rng, *, multiple_roots: bool = False) -> list[int]:
    """Return the heads of a tree in which exactly these words have another head."""
    new_heads = list(heads)
    if not wrong:
        return new_heads
    old_root = heads.index(0) + 1
    if old_root in wrong:
        # Another wrong word becomes the root and the head of the old root.
        candidates = sorted(wrong - {old_root})
        near = [number for number in candidates if heads[number - 1] == old_root]
        root, anchor = rng.choose(near or candidates), old_root
        new_heads[root - 1], new_heads[anchor - 1] = 0, root
    else:
        root = old_root
        kept = [number for number, head in enumerate(heads, start=1) if head == root and number not in wrong]
        deeper = [number for number in sorted(wrong) if heads[number - 1] != root]
        anchor = kept[0] if kept else rng.choose(deeper)
        new_heads[anchor - 1] = root
    for number in sorted(wrong - {root, anchor}):
        if multiple_roots and rng.happens(ROOTS_AMONG_ERRORS):
            new_heads[number - 1] = 0
        else:
            # The root is above every word, and the anchor stays a child of the root: one of them is possible.
            free = root if heads[number - 1] != root else anchor
            new_heads[number - 1] = _wrong_head(new_heads, heads[number - 1], number, rng) or free
    return new_heads


def _wrong_head(heads: Sequence[int], right: int, number: int, rng: Rng) -> int:
    """Draw a possible head near a word or near its right head; 0 if none is found."""
    for _ in range(TRIES):
        around = number if rng.happens(0.5) else right
        distance = 1
        while rng.happens(0.5):
            distance += 1
        head = around + distance if rng.happens(0.5) else around - distance
        if 1 <= head <= len(heads) and head not in (number, right) and not _above(heads, number, head):
            return head
    return 0


def _above(heads: Sequence[int], upper: int, lower: int) -> bool:
    """Return whether a word is an ancestor of another."""
    while lower and lower != upper:
        lower = heads[lower - 1]
    return lower == upper
