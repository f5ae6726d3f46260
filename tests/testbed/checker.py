"""A second opinion on CoNLL-U: reads it line by line and shares no code with the testbed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    number: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: dict[str, str]
    head: int
    relation: str
    deps: str


@dataclass(frozen=True)
class Block:
    comments: dict[str, str]
    tokens: list[tuple[str, list[str], bool]]  # surface, forms of the words, space after
    rows: list[Row]
    empty: list[str]

    @property
    def heads(self) -> list[int]:
        return [row.head for row in self.rows]

    @property
    def text(self) -> str:
        return "".join(surface + " " * spaced for surface, _, spaced in self.tokens).rstrip()


def read(text: str) -> list[Block]:
    """All sentences, each checked as far as a single line can be."""
    assert text.endswith("\n\n")
    assert "\n\n\n" not in text
    return [_block(part.split("\n")) for part in text[:-2].split("\n\n")]


def _block(lines: list[str]) -> Block:
    comments: dict[str, str] = {}
    tokens: list[tuple[str, list[str], bool]] = []
    rows: list[Row] = []
    empty: list[str] = []
    covered = 0
    for line in lines:
        if line.startswith("# "):
            assert not rows
            key, _, value = line[2:].partition(" = ")
            assert key not in comments
            comments[key] = value
            continue
        columns = line.split("\t")
        assert len(columns) == 10
        assert all(columns), line
        name, form, lemma, upos, xpos, feats, head, relation, deps, misc = columns
        spaced = misc != "SpaceAfter=No"
        if re.fullmatch(r"\d+\.1", name):
            assert int(name[:-2]) == len(rows)
            assert (head, relation) == ("_", "_")
            empty.append(name)
        elif "-" in name:
            first, last = map(int, name.split("-"))
            assert first == len(rows) + 1 > covered
            assert last > first
            assert [upos, xpos, feats, head, relation, deps] == ["_"] * 6
            covered = last
            tokens.append((form, [], spaced))
        else:
            assert int(name) == len(rows) + 1
            names = [feature.split("=")[0] for feature in feats.split("|")]
            assert names == sorted(names, key=str.lower)
            values = {} if feats == "_" else dict(feature.split("=") for feature in feats.split("|"))
            rows.append(Row(int(name), form, lemma, upos, xpos, values, int(head), relation, deps))
            if int(name) > covered:
                tokens.append((form, [], spaced))
            tokens[-1][1].append(form)
    assert covered <= len(rows)
    return Block(comments, tokens, rows, empty)


def faults(block: Block, *, multiple_roots: bool = False) -> list[str]:
    """What is wrong with the tree of a sentence and with its text."""
    result = []
    roots = [row.number for row in block.rows if row.head == 0]
    if not roots or (len(roots) > 1 and not multiple_roots):
        result.append(f"roots {roots}")
    if any((row.head == 0) != (row.relation == "root") for row in block.rows):
        result.append("root relation")
    if any(not 0 <= row.head <= len(block.rows) for row in block.rows):
        return [*result, "head outside"]
    for row in block.rows:
        seen, node = set(), row.number
        while node and node not in seen:
            seen.add(node)
            node = block.rows[node - 1].head
        if node:
            result.append(f"cycle at {row.number}")
    if block.comments["text"] != block.text:
        result.append("text")
    return result


def crossings(heads: list[int]) -> bool:
    """Whether a word stands between a head and its dependent without being below the head."""
    for number, head in enumerate(heads, start=1):
        for between in range(min(number, head) + 1, max(number, head)):
            node = between
            while node not in (0, head):
                node = heads[node - 1]
            if node != head:
                return True
    return False


def characters(blocks: list[Block]) -> str:
    """All characters of the tokens, without spaces."""
    return "".join(surface.replace(" ", "") for block in blocks for surface, _, _ in block.tokens)


def token_spans(blocks: list[Block]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where each token stands in these characters, with its words."""
    start = 0
    for block in blocks:
        for surface, words, _ in block.tokens:
            end = start + len(surface.replace(" ", ""))
            yield start, end, tuple(word.lower() for word in words)
            start = end


def sentence_spans(blocks: list[Block]) -> Iterator[tuple[int, int]]:
    """Where each sentence stands in these characters."""
    start = 0
    for block in blocks:
        end = start + sum(len(surface.replace(" ", "")) for surface, _, _ in block.tokens)
        yield start, end
        start = end
