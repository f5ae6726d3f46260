"""Sentences of the testbed, and their lines in CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from deadheat.errors import InputError


class Word(NamedTuple):
    """A syntactic word. Heads count the words of the sentence from 1; 0 is the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    deps: str = "_"


class Token(NamedTuple):
    """A token of the text and its number of words; two or more make a multiword token."""

    surface: str
    words: int = 1
    space_after: bool = True


class EmptyNode(NamedTuple):
    """An empty node after word number `after`."""

    after: int
    word: Word


class Sentence(NamedTuple):
    """A sentence; its tokens cover its words from left to right."""

    comments: tuple[str, ...]
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]
    empty: tuple[EmptyNode, ...] = ()


def text_of(tokens: Iterable[Token]) -> str:
    """Return the running text of some tokens."""
    return "".join(f"{token.surface} " if token.space_after else token.surface for token in tokens).rstrip()


def render(sentence: Sentence) -> str:
    """Return the lines of a sentence, including the empty line after it."""
    lines = list(sentence.comments)
    empty = {node.after: node.word for node in sentence.empty}
    if 0 in empty:
        lines.append(_word_line("0.1", empty[0], "_"))
    number = 0
    for surface, words, space_after in sentence.tokens:
        misc = "_" if space_after else "SpaceAfter=No"
        if words > 1:
            lines.append(f"{number + 1}-{number + words}\t{surface}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            misc = "_"
        for _ in range(words):
            word = sentence.words[number]
            number += 1
            lines.append(_word_line(str(number), word, misc))
            if number in empty:
                lines.append(_word_line(f"{number}.1", empty[number], "_"))
    lines.append("\n")
    return "\n".join(lines)


def _word_line(number: str, word: Word, misc: str) -> str:
    form, lemma, upos, xpos, feats, head, relation, deps = word
    arc = f"{head}\t{relation}" if head >= 0 else "_\t_"
    return f"{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{arc}\t{deps}\t{misc}"


def parse(text: str) -> list[Sentence]:
    """Parse a CoNLL-U text; empty nodes and enhanced dependencies are ignored."""
    return [_parse_sentence(first, lines) for first, lines in _blocks(text)]


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each sentence with the number of the first."""
    first, lines = 1, []
    *whole, rest = text.split("\n")
    for number, raw in enumerate(whole, start=1):
        line = raw.removesuffix("\r")
        if line:
            lines.append(line)
        elif lines:
            yield first, lines
            first, lines = number + 1, []
        else:
            first = number + 1
    if lines or rest:
        raise InputError(f"line {first}: no empty line after the last sentence; expected one")


def _parse_sentence(first: int, lines: Sequence[str]) -> Sentence:
    comments: list[str] = []
    tokens: list[Token] = []
    words: list[Word] = []
    covered = 0
    for number, line in enumerate(lines, start=first):
        if line.startswith("#") and not words and not tokens:
            comments.append(line)
            continue
        columns = line.split("\t")
        if len(columns) != 10:
            raise InputError(f"line {number}: {len(columns)} columns; expected 10")
        name, form, lemma, upos, xpos, feats, head, relation, _, misc = columns
        if "." in name:
            continue
        spaced = "SpaceAfter=No" not in misc
        try:
            if "-" in name:
                start, end = map(int, name.split("-"))
                tokens.append(Token(form, end - start + 1, spaced))
                covered = end
                continue
            words.append(Word(form, lemma, upos, xpos, feats, int(head), relation))
        except ValueError:
            raise InputError(f"line {number}: ID {name!r}, HEAD {head!r}; expected whole numbers") from None
        if len(words) > covered:
            tokens.append(Token(form, 1, spaced))
    _check_tree(first, [word.head for word in words], covered)
    return Sentence(tuple(comments), tuple(tokens), tuple(words))


def _check_tree(first: int, heads: Sequence[int], covered: int) -> None:
    """Raise unless the heads form a tree over all words."""
    size = len(heads)
    if size < max(covered, 1):
        raise InputError(f"line {first}: a sentence of {size} words; expected {max(covered, 1)} or more")
    for number, head in enumerate(heads, start=1):
        if not 0 <= head <= size:
            raise InputError(f"line {first}: word {number} has head {head}; the sentence has {size} words")
    if heads.count(0) != 1 or None in depths(heads):
        raise InputError(f"line {first}: the heads {list(heads)} are not a tree; expected one root and no cycle")


def depths(heads: Sequence[int]) -> list[int | None]:
    """Return the distance of each word from the root; None for words on or below a cycle."""
    depth_of: list[int | None] = [0 if head == 0 else None for head in heads]
    for start in range(len(heads)):
        path: list[int] = []
        node = start
        while depth_of[node] is None and node not in path:
            path.append(node)
            node = heads[node] - 1
        depth = depth_of[node]
        while path and depth is not None:
            depth += 1
            depth_of[path.pop()] = depth
    return depth_of
