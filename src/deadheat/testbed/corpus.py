"""Documents, corpora and treebanks of an invented language."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import NamedTuple

from deadheat.errors import InputError
from deadheat.testbed.chance import Chance, Weighted, weighted
from deadheat.testbed.conllu import EmptyNode, Sentence, Word, render, text_of
from deadheat.testbed.grammar import sentence
from deadheat.testbed.language import Genre, Language, language_named
from deadheat.testbed.lexicon import Voice, lexicon
from deadheat.testbed.morphology import Features, Lexeme, WordForm, morphology
from deadheat.testbed.phrases import capitalize, displace, linearize, spell

Node = tuple[int, int]
"""The number of a word and 0, or of the word before an empty node and 1."""


MARKERS = {"nmod": "case", "obl": "case", "conj": "cc", "advcl": "mark"}
"""The relation of the function word that marks the role of a phrase."""


class Edge(NamedTuple):
    """A dependent's head and its role there."""

    head: Node
    role: str


Edges = list[set[Edge]]
"""The edges to each word, by position from 0."""


def enhanced(words: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[EmptyNode, ...]]:
    """Return the words with enhanced dependencies, and the empty nodes that these need."""
    children: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, word in enumerate(words, start=1):
        children[word.head].append(number)
    edges: Edges = [
        {Edge((word.head, 0), _role(words, children, number))} for number, word in enumerate(words, start=1)
    ]
    empty = _fill_gaps(words, children, edges)
    _share_dependents(words, children, edges)
    _tie_relatives(words, children, edges)
    new_words = tuple(
        word._replace(deps=_deps_field(word_edges)) for word, word_edges in zip(words, edges, strict=True)
    )
    return new_words, empty


def _role(words: Sequence[Word], children: Sequence[Sequence[int]], number: int) -> str:
    """Return the relation of a word with the function word or case that marks it."""
    word = words[number - 1]
    marker = MARKERS.get(word.relation)
    if marker is None:
        return word.relation
    for child in children[number]:
        if words[child - 1].relation == marker:
            return f"{word.relation}:{words[child - 1].lemma}"
    if marker == "case" and "Case=" in word.feats:
        return f"{word.relation}:{word.feats.split('Case=')[1][:3].lower()}"
    return word.relation


def _fill_gaps(words: Sequence[Word], children: Sequence[Sequence[int]], edges: Edges) -> tuple[EmptyNode, ...]:
    """Give gapped clauses a copy of the missing verb, between subject and orphan."""
    empty = []
    for number, word in enumerate(words, start=1):
        orphans = [child for child in children[number] if words[child - 1].relation == "orphan"]
        if not orphans or word.relation != "conj":
            continue
        verb = words[word.head - 1]
        gap: Node = (_first_of(children, orphans[0]) - 1, 1)
        conjunction = edges[number - 1]
        copy = verb._replace(head=-1, relation="_", deps=_deps_field(conjunction))
        empty.append(EmptyNode(gap[0], copy))
        edges[number - 1] = {Edge(gap, "nsubj")}
        for child in children[number]:
            if child in orphans:
                edges[child - 1] = {Edge(gap, "obj")}
            elif words[child - 1].relation in ("cc", "punct"):
                edges[child - 1] = {Edge(gap, words[child - 1].relation)}
    return tuple(empty)


def _first_of(children: Sequence[Sequence[int]], number: int) -> int:
    """Return the first word of a phrase."""
    return min([number, *(_first_of(children, child) for child in children[number])])


def _share_dependents(words: Sequence[Word], children: Sequence[Sequence[int]], edges: Edges) -> None:
    """Give conjuncts the head of the first one, and conjuncts and infinitives the subject of the verb above."""
    for number, word in enumerate(words, start=1):
        if word.head == 0 or word.relation not in ("conj", "xcomp"):
            continue
        above = words[word.head - 1]
        gapped = any(words[child - 1].relation == "orphan" for child in children[number])
        if word.relation == "conj" and not gapped and above.head:
            edges[number - 1].add(Edge((above.head, 0), _role(words, children, word.head)))
        has_subject = any(words[child - 1].relation.startswith("nsubj") for child in children[number])
        if not has_subject and word.upos == "VERB" and above.upos == "VERB":
            role = "nsubj" if word.relation == "conj" else "nsubj:xsubj"
            for child in children[word.head]:
                if words[child - 1].relation == "nsubj":
                    edges[child - 1].add(Edge((number, 0), role))


def _tie_relatives(words: Sequence[Word], children: Sequence[Sequence[int]], edges: Edges) -> None:
    """Add the role of a noun in its relative clause; the pronoun refers to the noun."""
    for number, word in enumerate(words, start=1):
        if word.relation == "acl:relcl":
            for child in children[number]:
                if "PronType=Rel" in words[child - 1].feats:
                    edges[word.head - 1].add(Edge((number, 0), words[child - 1].relation))
                    edges[child - 1] = {Edge((word.head, 0), "ref")}


def _deps_field(edges: set[Edge]) -> str:
    return "|".join(f"{number}.{copy}:{role}" if copy else f"{number}:{role}" for (number, copy), role in sorted(edges))


CAST_SIZE = 6

# Once a phrase is moved, another one is with this probability.
MOVED_AGAIN = 0.3

PARTS = {"train": 0.8, "dev": 0.1, "test": 0.1}


class Document(NamedTuple):
    """Sentences about one topic, in one genre."""

    name: str
    genre: str
    topic: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Treebank:
    """The parts of a treebank as CoNLL-U, split at document boundaries."""

    language: str
    train: str
    dev: str
    test: str


def generate(language: str | Language, *, sentences: int, seed: int) -> str:
    """Generate a corpus in CoNLL-U; a longer one begins with the shorter one.

    Parameters
    ----------
    language
        Name of one of `LANGUAGES`, or another language.
    sentences
        Number of sentences.
    seed
        Another seed gives another corpus of the same language.

    Examples
    --------
    >>> text = generate("velani", sentences=2, seed=1)
    >>> generate("velani", sentences=20, seed=1).startswith(text)
    True
    """
    parts = _first_documents(language_named(language), sentences, seed)
    return "".join(render(sentence) for document in parts for sentence in document.sentences)


def treebank(language: str | Language, *, sentences: int, seed: int) -> Treebank:
    """Generate a corpus split at document boundaries: about 80 % of the words in train, 10 % each in dev and test."""
    language = language_named(language)
    texts: dict[str, list[str]] = {part: [] for part in PARTS}
    words = dict.fromkeys(PARTS, 0)
    for document in _first_documents(language, sentences, seed):
        neediest = min(PARTS, key=lambda part: words[part] / PARTS[part])
        words[neediest] += sum(len(sentence.words) for sentence in document.sentences)
        texts[neediest] += [render(sentence) for sentence in document.sentences]
    if not all(texts.values()):
        raise InputError(f"sentences: {sentences} are fewer than three documents; expected more")
    return Treebank(language.name, *("".join(texts[part]) for part in PARTS))


def documents(language: str | Language, *, seed: int) -> Iterator[Document]:
    """Generate an endless series of documents; document i depends on the language, the seed and i only."""
    language = language_named(language)
    return (_document(language, seed, index) for index in count())


def _first_documents(language: Language, sentences: int, seed: int) -> Iterator[Document]:
    """Generate documents up to this number of sentences; the last one is cut."""
    if sentences < 1:
        raise InputError(f"sentences: {sentences}; expected 1 or more")
    for document in documents(language, seed=seed):
        yield document._replace(sentences=document.sentences[:sentences])
        sentences -= len(document.sentences)
        if sentences <= 0:
            return


def _document(language: Language, seed: int, index: int) -> Document:
    chance = Chance(language.name, seed, "document", index)
    genre = chance.draw(_genres(language))
    topic = chance.below(language.topics)
    voice = _voice(language, chance, genre, topic)
    name = f"{genre.name}-{language.name}{index:05d}"
    # A geometric distribution of lengths: many short documents and a few long ones.
    going_on = 1 - 1 / language.document_length
    sentences = [_make_sentence(voice, name, 1)]
    while chance.happens(going_on):
        sentences.append(_make_sentence(voice, name, len(sentences) + 1))
    return Document(name, genre.name, topic, tuple(sentences))


@cache
def _genres(language: Language) -> Weighted[Genre]:
    return weighted(language.genres, [genre.weight for genre in language.genres])


def _voice(language: Language, chance: Chance, genre: Genre, topic: int) -> Voice:
    words = lexicon(language)
    cast = tuple(chance.draw(words.words["name"]) for _ in range(CAST_SIZE))
    forms = morphology(language)
    return Voice(language, words, forms, _inflector(language), chance, genre, topic, cast)


@cache
def _inflector(language: Language) -> Callable[[Lexeme, Features], WordForm]:
    return cache(morphology(language).inflect)


def _make_sentence(voice: Voice, document: str, number: int) -> Sentence:
    """Generate the next sentence of a document."""
    language, chance = voice.language, voice.chance
    layout = linearize(sentence(voice, _length(voice)))
    moving = language.nonprojectivity
    while chance.happens(moving):
        layout = displace(layout, chance)
        moving *= MOVED_AGAIN
    if language.capitals:
        layout = capitalize(layout)
    tokens = spell(language, chance, layout)
    words = tuple(
        Word(*word, head + 1, relation)
        for word, relation, head in zip(layout.words, layout.relations, layout.heads, strict=True)
    )
    described, empty = enhanced(words) if language.enhanced else (words, ())
    opening = (f"# newdoc id = {document}", f"# genre = {voice.genre.name}") if number == 1 else ()
    comments = (*opening, f"# sent_id = {document}-{number:04d}", f"# text = {text_of(tokens)}")
    return Sentence(comments, tokens, described, empty)


def _length(voice: Voice) -> int:
    """Draw a log-normal sentence length."""
    language = voice.language
    spread = language.length_spread
    middle = math.log(language.mean_length * voice.genre.length) - spread**2 / 2
    return min(language.longest, max(1, round(math.exp(middle + spread * voice.chance.normal()))))
