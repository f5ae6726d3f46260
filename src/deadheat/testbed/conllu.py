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


EmptyNodes = tuple[tuple[int, Word], ...]
"""Empty nodes, each with the number of the word before it."""


class Sentence(NamedTuple):
    """A sentence; its tokens cover its words from left to right."""

    comments: tuple[str, ...]
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]
    empty: EmptyNodes = ()


def text_of(tokens: Iterable[Token]) -> str:
    """Return the running text of some tokens."""
    return "".join(f"{token.surface} " if token.space_after else token.surface for token in tokens).rstrip()


def render(sentence: Sentence) -> str:
    """Return the lines of a sentence, including the empty line after it."""
    lines = list(sentence.comments)
    empty = dict(sentence.empty)
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
    *whole, rest = text.replace("\r\n", "\n").split("\n")
    lines: list[str] = []
    for number, line in enumerate(whole, start=1):
        if line:
            lines.append(line)
        elif lines:
            yield number - len(lines), lines
            lines = []
    if lines or rest:
        raise InputError(f"line {len(whole) + 1 - len(lines)}: no empty line after the last sentence; expected one")


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


Node = tuple[int, int]
"""The number of a word and 0, or of the word before an empty node and 1."""
Edges = list[set[tuple[Node, str]]]
"""The heads of each word, by position from 0, and its roles there."""
Children = Sequence[Sequence[int]]

MARKERS = {"nmod": "case", "obl": "case", "conj": "cc", "advcl": "mark"}
"""The relation of the function word that marks the role of a phrase."""


def enhanced(words: Sequence[Word]) -> tuple[tuple[Word, ...], EmptyNodes]:
    """Return the words with enhanced dependencies, and the empty nodes that these need."""
    children: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, word in enumerate(words, start=1):
        children[word.head].append(number)
    edges: Edges = [{((word.head, 0), _role(words, children, number))} for number, word in enumerate(words, start=1)]
    empty = _fill_gaps(words, children, edges)
    _share_dependents(words, children, edges)
    _tie_relatives(words, children, edges)
    return tuple(word._replace(deps=_deps(heads)) for word, heads in zip(words, edges, strict=True)), empty


def _role(words: Sequence[Word], children: Children, number: int) -> str:
    """Return the relation of a word with the function word or case that marks it."""
    word = words[number - 1]
    marker = MARKERS.get(word.relation)
    for child in children[number]:
        if words[child - 1].relation == marker:
            return f"{word.relation}:{words[child - 1].lemma}"
    if marker == "case" and "Case=" in word.feats:
        return f"{word.relation}:{word.feats.split('Case=')[1][:3].lower()}"
    return word.relation


def _fill_gaps(words: Sequence[Word], children: Children, edges: Edges) -> EmptyNodes:
    """Give gapped clauses a copy of the missing verb, between subject and orphan."""
    empty = []
    for number, word in enumerate(words, start=1):
        orphans = [child for child in children[number] if words[child - 1].relation == "orphan"]
        if not orphans or word.relation != "conj":
            continue
        gap: Node = (_first_of(children, orphans[0]) - 1, 1)
        empty.append((gap[0], words[word.head - 1]._replace(head=-1, relation="_", deps=_deps(edges[number - 1]))))
        edges[number - 1] = {(gap, "nsubj")}
        for child in children[number]:
            relation = words[child - 1].relation
            if relation in ("orphan", "cc", "punct"):
                edges[child - 1] = {(gap, "obj" if relation == "orphan" else relation)}
    return tuple(empty)


def _first_of(children: Children, number: int) -> int:
    """Return the first word of a phrase."""
    return min([number, *(_first_of(children, child) for child in children[number])])


def _share_dependents(words: Sequence[Word], children: Children, edges: Edges) -> None:
    """Give conjuncts the head of the first one, and conjuncts and infinitives the subject of the verb above."""
    for number, word in enumerate(words, start=1):
        if word.head == 0 or word.relation not in ("conj", "xcomp"):
            continue
        above = words[word.head - 1]
        relations = [words[child - 1].relation for child in children[number]]
        if word.relation == "conj" and "orphan" not in relations and above.head:
            edges[number - 1].add(((above.head, 0), _role(words, children, word.head)))
        has_subject = any(relation.startswith("nsubj") for relation in relations)
        if not has_subject and word.upos == "VERB" and above.upos == "VERB":
            role = "nsubj" if word.relation == "conj" else "nsubj:xsubj"
            for child in children[word.head]:
                if words[child - 1].relation == "nsubj":
                    edges[child - 1].add(((number, 0), role))


def _tie_relatives(words: Sequence[Word], children: Children, edges: Edges) -> None:
    """Add the role of a noun in its relative clause; the pronoun refers to the noun."""
    for number, word in enumerate(words, start=1):
        if word.relation == "acl:relcl":
            for child in children[number]:
                if "PronType=Rel" in words[child - 1].feats:
                    edges[word.head - 1].add(((number, 0), words[child - 1].relation))
                    edges[child - 1] = {((word.head, 0), "ref")}


def _deps(heads: set[tuple[Node, str]]) -> str:
    return "|".join(f"{number}.{copy}:{role}" if copy else f"{number}:{role}" for (number, copy), role in sorted(heads))
