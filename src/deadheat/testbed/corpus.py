"""Word order and spelling of sentences, and documents, corpora and treebanks of an invented language."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count

from deadheat.errors import InputError
from deadheat.testbed.conllu import Sentence, Token, Word, enhanced, render, text_of
from deadheat.testbed.grammar import sentence
from deadheat.testbed.language import Language, language_named
from deadheat.testbed.lexicon import DocumentContext, lexicon, morphology
from deadheat.testbed.phrases import Tree
from deadheat.testbed.rng import Rng, weighted

MOVABLE = frozenset({"acl", "acl:relcl", "advcl", "amod", "nmod", "obl", "obj", "nummod"})
"""Relations whose phrases may leave the phrase of their head."""

OPENERS = frozenset({"punct", "mark", "cc", "case"})
"""Relations that stay first in their phrase."""


def linearize(tree: Tree) -> list[Word]:
    """List the words of a tree from left to right."""
    nodes: list[Tree] = []
    heads: list[int] = []

    def visit(node: Tree) -> int:
        left = [visit(child) for child in node.left]
        nodes.append(node)
        heads.append(0)
        number = len(nodes)
        for child in left + [visit(child) for child in node.right]:
            heads[child - 1] = number
        return number

    visit(tree)
    return [Word(*node.word, head, node.relation) for node, head in zip(nodes, heads, strict=True)]


def displace(words: list[Word], rng: Rng) -> list[Word]:
    """Move one phrase away from its head so that the tree is not projective, where possible."""
    candidates = [
        (number, to_the_right)
        for number, word in enumerate(words, start=1)
        if word.relation in MOVABLE and word.head and words[word.head - 1].head
        for to_the_right in (True, False)
    ]
    while candidates:
        number, to_the_right = candidates.pop(rng.below(len(candidates)))
        order = _order_after_move(words, number, to_the_right=to_the_right)
        if order:
            new_number = {old: new for new, old in enumerate([0, *order])}
            return [words[old - 1]._replace(head=new_number[words[old - 1].head]) for old in order]
    return words


def _order_after_move(words: list[Word], number: int, *, to_the_right: bool) -> list[int] | None:
    """Return the word order after moving a phrase to the edge of the phrase around its head's phrase."""
    head = words[number - 1].head
    inner = phrase_of(words, head)
    around = sorted(phrase_of(words, words[head - 1].head) - inner)
    if to_the_right:
        crossed = [i for i in around if i > max(inner) and words[i - 1].relation != "punct"]
    else:
        crossed = [i for i in around if i < min(inner) and words[i - 1].relation not in OPENERS]
    if not crossed:
        return None
    cut = crossed[-1] + 1 if to_the_right else crossed[0]
    moving = phrase_of(words, number)
    staying = [i for i in range(1, len(words) + 1) if i not in moving]
    return [i for i in staying if i < cut] + sorted(moving) + [i for i in staying if i >= cut]


def phrase_of(words: list[Word], number: int) -> set[int]:
    """Return the numbers of a word and all its descendants."""
    numbers = {number}
    waiting = [number]
    while waiting:
        head = waiting.pop()
        below = [i for i, word in enumerate(words, start=1) if word.head == head]
        numbers.update(below)
        waiting += below
    return numbers


CLOSING = frozenset(",.?!;:”)")
OPENING = frozenset("“(")


def spell(language: Language, rng: Rng, words: list[Word]) -> tuple[Token, ...]:
    """Turn words into tokens: contractions, clitics and spaces."""
    tokens: list[Token] = []
    i, end = 0, len(words)
    while i < end:
        word = words[i]
        joined = i + 1 < end and _is_joined(language, rng, words, i)
        surface = word.form
        if joined:  # contractions lose letters in the middle, clitics do not
            following = words[i + 1].form
            surface = surface + following if word.upos == "VERB" else surface[:-1] + following[1:]
        i += 1 + joined
        glued = i < end and (words[i].form in CLOSING or surface in OPENING)
        tokens.append(Token(surface, 1 + joined, not glued))
    return tuple(tokens)


def _is_joined(language: Language, rng: Rng, words: list[Word], i: int) -> bool:
    """Return whether a word is written as one token with the next one."""
    if not (language.contractions or language.clitics):
        return False
    here, following = words[i], words[i + 1]
    if here.upos == "ADP" and following.upos == "DET" and "PronType=Art" in following.feats:
        return rng.happens(language.contractions)
    if here.upos == "VERB" and following.upos == "PRON" and following.head == i + 1:
        return "PronType=Prs" in following.feats and rng.happens(language.clitics)
    return False


CAST_SIZE = 6

# Once a phrase is moved, another one is with this probability.
MOVED_AGAIN = 0.3

PARTS = {"train": 0.8, "dev": 0.1, "test": 0.1}


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
    return "".join(render(sentence) for document in parts for sentence in document)


def treebank(language: str | Language, *, sentences: int, seed: int) -> Treebank:
    """Generate a corpus split at document boundaries: about 80 % of the words in train, 10 % each in dev and test."""
    language = language_named(language)
    texts: dict[str, list[str]] = {part: [] for part in PARTS}
    words = dict.fromkeys(PARTS, 0)
    for document in _first_documents(language, sentences, seed):
        neediest = min(PARTS, key=lambda part: words[part] / PARTS[part])
        words[neediest] += sum(len(sentence.words) for sentence in document)
        texts[neediest] += [render(sentence) for sentence in document]
    if not all(texts.values()):
        raise InputError(f"sentences: {sentences} are fewer than three documents; expected more")
    return Treebank(language.name, *("".join(texts[part]) for part in PARTS))


def documents(language: str | Language, *, seed: int) -> Iterator[list[Sentence]]:
    """Generate the sentences of endless documents; document i depends on the language, the seed and i only."""
    language = language_named(language)
    words, forms = lexicon(language), morphology(language)
    inflect = cache(forms.inflect)
    genres = weighted(language.genres, [genre.weight for genre in language.genres])
    for index in count():
        rng = Rng(language.name, seed, "document", index)
        genre = rng.draw(genres)
        topic = rng.below(language.topics)
        cast = tuple(rng.draw(words.words["name"]) for _ in range(CAST_SIZE))
        doc = DocumentContext(language, words, forms, inflect, rng, genre, topic, cast)
        name = f"{genre.name}-{language.name}{index:05d}"
        # A geometric distribution of lengths: many short documents and a few long ones.
        sentences = [_make_sentence(doc, name, 1)]
        while rng.happens(1 - 1 / language.document_length):
            sentences.append(_make_sentence(doc, name, len(sentences) + 1))
        yield sentences


def _first_documents(language: Language, sentences: int, seed: int) -> Iterator[list[Sentence]]:
    """Generate documents up to this number of sentences; the last one is cut."""
    if sentences < 1:
        raise InputError(f"sentences: {sentences}; expected 1 or more")
    for document in documents(language, seed=seed):
        yield document[:sentences]
        sentences -= len(document)
        if sentences <= 0:
            return


def _make_sentence(doc: DocumentContext, document: str, number: int) -> Sentence:
    """Generate the next sentence of a document."""
    language, rng = doc.language, doc.rng
    # Sentence lengths are log-normal.
    spread = language.length_spread
    middle = math.log(language.mean_length * doc.genre.length) - spread**2 / 2
    length = min(language.longest, max(1, round(math.exp(middle + spread * rng.normal()))))
    words = linearize(sentence(doc, length))
    moving = language.nonprojectivity
    while rng.happens(moving):
        words = displace(words, rng)
        moving *= MOVED_AGAIN
    if language.capitals:
        first = next(i for i, word in enumerate(words) if word.upos != "PUNCT")
        form = words[first].form
        words[first] = words[first]._replace(form=form[:1].upper() + form[1:])
    tokens = spell(language, rng, words)
    annotated, empty = enhanced(words) if language.enhanced else (tuple(words), ())
    opening = (f"# newdoc id = {document}", f"# genre = {doc.genre.name}") if number == 1 else ()
    comments = (*opening, f"# sent_id = {document}-{number:04d}", f"# text = {text_of(tokens)}")
    return Sentence(comments, tokens, annotated, empty)
