"""Words as pieces of an encoder's vocabulary, and windows of sentences that are longer than the encoder takes."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices, offsets_of, ranges
from deadheat.encoders.folder import TOKENIZERS, read_json
from deadheat.errors import InputError
from deadheat.neural.text import distinct_forms, encode_columns

LONGEST_SHARE = 4  # a word has at most a fourth of the pieces that the encoder takes; the rest of it is not read
UNLIMITED = 10**6  # tokenizers give absurd numbers for encoders without a limit
USUAL_LIMIT = 512
UNKNOWN = ("[UNK]", "<unk>", "[MASK]", "<mask>", "[PAD]", "<pad>")  # stand for words without pieces; the first that is
STARTS, ENDS = ("[CLS]", "<s>"), ("[SEP]", "</s>")  # where the tokenizer does not say what is around a sentence


class Window(NamedTuple):
    """Words of a sentence that are read together, and those among them whose vectors are used."""

    first: int
    end: int
    used_first: int
    used_end: int


@dataclass(frozen=True, slots=True, eq=False)
class PieceText:
    """A text as pieces: those of word i are `pieces[bounds[i]:bounds[i + 1]]`; at least one each."""

    pieces: Indices
    bounds: Indices
    offsets: Indices  # of sentences, in words

    def windows(self, capacity: int) -> Iterator[Window]:
        """The windows of all sentences."""
        for first, end in pairwise(self.offsets.tolist()):
            if end > first:
                yield from self.windows_of(first, end, capacity)

    def windows_of(self, first: int, end: int, capacity: int) -> list[Window]:
        """The windows of a sentence: one, unless it has more pieces than the encoder takes.

        Neighbours share up to half of their words. The vector of a word comes from the window in which it is farther
        from an end that is not one of the sentence.
        """
        if self.bounds[end] - self.bounds[first] <= capacity:
            return [Window(first, end, first, end)]
        spans: list[tuple[int, int]] = []
        start = first
        while True:
            stop = min(int(np.searchsorted(self.bounds, self.bounds[start] + capacity, side="right")) - 1, end)
            spans.append((start, stop))
            if stop >= end:
                break
            half = int(np.searchsorted(self.bounds, self.bounds[start] + capacity // 2))
            start = min(max(half, start + 1), stop)
        limits = [first, *((before[1] + after[0]) // 2 for before, after in pairwise(spans)), end]
        return [Window(*span, *limits[number : number + 2]) for number, span in enumerate(spans)]


@dataclass(frozen=True, slots=True, eq=False)
class Tokenizer:
    """An encoder's tokenizer: the pieces of words, and what stands around a sentence."""

    tokenizer: Any
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    unknown: int  # for words without pieces
    capacity: int  # pieces of words that the encoder takes at once

    @classmethod
    def of(cls, folder: str, limit: int = 0) -> Tokenizer:
        """The tokenizer of an encoder that takes at most `limit` pieces; 0 where it has no limit.

        Raises
        ------
        InputError
            If the folder has none that can be read.
        """
        tokenizer = load_tokenizer(folder)
        prefix, suffix = _surroundings(tokenizer, folder)
        names = (tokenizer.token_to_id(name) for name in UNKNOWN)
        unknown = next((number for number in names if number is not None), 0)
        limits = [size for size in (limit, _announced_limit(folder)) if 0 < size < UNLIMITED]
        capacity = min(limits, default=USUAL_LIMIT) - len(prefix) - len(suffix)
        if capacity < LONGEST_SHARE:
            raise InputError(f"{folder}: the encoder takes {capacity} pieces; expected at least {LONGEST_SHARE}")
        return cls(tokenizer, prefix, suffix, unknown, capacity)

    def encode(self, corpora: Sequence[Corpus]) -> PieceText:
        """The pieces of concatenated corpora. Those of a word do not depend on its neighbours."""
        forms = distinct_forms(corpora)
        longest = self.capacity // LONGEST_SHARE
        of_forms = [(row or [self.unknown])[:longest] for row in self._pieces_of(forms)]
        lengths = np.array([len(row) for row in of_forms], np.int64)
        starts = offsets_of(lengths)[:-1]
        flat = np.array([piece for row in of_forms for piece in row], np.int64)
        codes = encode_columns([corpus.column("form") for corpus in corpora], forms)
        offsets = offsets_of(np.concatenate([np.diff(corpus.offsets) for corpus in corpora]))
        return PieceText(flat[ranges(starts[codes], lengths[codes])], offsets_of(lengths[codes]), offsets)

    def _pieces_of(self, forms: Sequence[str]) -> list[list[int]]:
        words = [[form.encode(errors="replace").decode()] for form in forms]  # lone surrogates are no text
        rows = self.tokenizer.encode_batch(words, is_pretokenized=True, add_special_tokens=False)
        return [list(row.ids) for row in rows]


def load_tokenizer(folder: str) -> Any:
    """The tokenizer of a folder; each word is a text of its own, and names of special pieces are ordinary text."""
    library = importlib.import_module("tokenizers")
    path = Path(folder)
    try:
        if (path / "tokenizer.json").is_file():
            tokenizer = library.Tokenizer.from_str(json.dumps(_word_by_word(read_json(path / "tokenizer.json"))))
        elif (path / "vocab.txt").is_file():
            tokenizer = _wordpiece(library, path)
        elif (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
            model = library.models.BPE.from_file(str(path / "vocab.json"), str(path / "merges.txt"))
            tokenizer = library.Tokenizer(model)
            tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=True)
        else:
            name = next((name for name in TOKENIZERS if (path / name).is_file()), "no file of one")
            raise InputError(
                f"{folder}: tokenizer: {name}; expected tokenizer.json, vocab.txt, or vocab.json and merges.txt"
            )
    except InputError:
        raise
    except Exception as error:  # the library raises nothing more specific
        problem = " ".join(str(error).split())
        raise InputError(
            f"{folder}: tokenizer cannot be read ({problem}); expected tokenizer.json or vocab.txt"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _word_by_word(content: Any) -> Any:
    """The description of a tokenizer that marks the beginning of every word, not only after a space."""
    if isinstance(content, list):
        return [_word_by_word(item) for item in content]
    if not isinstance(content, dict):
        return content
    changed = {key: value if key == "vocab" else _word_by_word(value) for key, value in content.items()}
    if changed.get("type") == "ByteLevel" and "add_prefix_space" in changed:
        changed["add_prefix_space"] = True
    if changed.get("type") == "Metaspace" and "prepend_scheme" in changed:
        changed["prepend_scheme"] = "always"
    return changed


def _wordpiece(library: Any, path: Path) -> Any:
    """BERT's own tokenizer, from its vocabulary and its settings."""
    settings = _settings(str(path))
    model = library.models.WordPiece.from_file(str(path / "vocab.txt"), unk_token="[UNK]")
    tokenizer = library.Tokenizer(model)
    tokenizer.normalizer = library.normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=bool(settings.get("tokenize_chinese_chars", True)),
        strip_accents=settings.get("strip_accents"),
        lowercase=bool(settings.get("do_lower_case", True)),
    )
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _surroundings(tokenizer: Any, folder: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pieces before and after a sentence."""
    plain = list(tokenizer.encode("a", add_special_tokens=False).ids)
    whole = list(tokenizer.encode("a").ids)
    starts = [at for at in range(len(whole) - len(plain) + 1) if whole[at : at + len(plain)] == plain]
    if not plain or not starts:
        raise InputError(f"{folder}: its tokenizer gives no pieces for the word 'a'; expected some")
    if whole != plain:
        return tuple(whole[: starts[0]]), tuple(whole[starts[0] + len(plain) :])
    around = [next((tokenizer.token_to_id(name) for name in names if tokenizer.token_to_id(name) is not None), None)
              for names in (STARTS, ENDS)]  # fmt: skip
    before, after = (() if number is None else (number,) for number in around)
    return before, after


def _settings(folder: str) -> Mapping[str, Any]:
    path = Path(folder) / "tokenizer_config.json"
    content = read_json(path) if path.is_file() else {}
    return content if isinstance(content, dict) else {}


def _announced_limit(folder: str) -> int:
    limit = _settings(folder).get("model_max_length", 0)
    return int(limit) if isinstance(limit, int | float) and limit == limit else 0
