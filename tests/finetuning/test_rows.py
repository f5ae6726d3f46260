"""Rows of pieces, windows of long sentences, and where the vectors of words come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from deadheat.corpus import Corpus, read
from deadheat.encoders.pieces import Tokenizer
from deadheat.finetuning.devices import reproducible
from deadheat.finetuning.network import load_encoder, longest_input
from deadheat.finetuning.rows import make_rows
from deadheat.finetuning.training import Model, train_one
from tests.finetuning.tiny import VOCABULARY, config_of, write_encoder

NUMBER = {piece: number for number, piece in enumerate(VOCABULARY)}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module")
def tokenizer(encoder: Path) -> Tokenizer:
    return Tokenizer.of(str(encoder), longest_input(load_encoder(str(encoder))))


def corpus(*sentences: str) -> Corpus:
    blocks = ["".join(f"{word}\tX\n" for word in sentence.split()) + "\n" for sentence in sentences]
    return read(text="".join(blocks), format="columns", columns=["form", "tag"], separator="\t")


def test_words_become_pieces_and_those_without_any_the_unknown_piece(tokenizer: Tokenizer) -> None:
    text = tokenizer.encode([corpus("the Cab \u00ad ☃"), corpus("dog")])
    pieces = [VOCABULARY[piece] for piece in text.pieces.tolist()]
    assert pieces == ["the", "c", "##a", "##b", "[UNK]", "[UNK]", "dog"]
    assert text.bounds.tolist() == [0, 1, 4, 5, 6, 7]
    assert text.offsets.tolist() == [0, 4, 5]


def test_what_stands_around_a_sentence_and_how_much_fits_between(tokenizer: Tokenizer) -> None:
    assert (tokenizer.prefix, tokenizer.suffix) == ((NUMBER["[CLS]"],), (NUMBER["[SEP]"],))
    assert tokenizer.capacity == 30


@pytest.mark.parametrize("mean", [False, True])
def test_vectors_of_words_come_from_their_first_piece_or_all(tokenizer: Tokenizer, *, mean: bool) -> None:
    text = tokenizer.encode([corpus("the cab", "dog")])
    rows = make_rows(text, tokenizer, np.array([1, 0]), mean=mean)
    cls, sep, pad = (NUMBER[name] for name in ("[CLS]", "[SEP]", "[PAD]"))
    cab = [NUMBER[piece] for piece in ("c", "##a", "##b")]
    assert rows.pieces.tolist() == [[cls, NUMBER["dog"], sep, pad, pad, pad], [cls, NUMBER["the"], *cab, sep]]
    assert rows.mask.tolist() == [[1, 1, 1, 0, 0, 0], [1] * 6]
    assert rows.sources.tolist() == ([1, 7, 8, 9, 10] if mean else [1, 7, 8])
    assert rows.words.tolist() == ([0, 2, 3, 3, 3] if mean else [0, 2, 3])
    assert rows.counts.tolist() == ([1, 1, 1, 3] if mean else [1, 1, 1, 1])


@pytest.fixture(scope="module")
def model(encoder: Path) -> Model:
    train = read(text="".join(f"{word}\t{tag}\n" for word, tag in (("the", "D"), ("dog", "N"))) * 3 + "\n",
                 format="columns", columns=["form", "tag"], separator="\t")  # fmt: skip
    return train_one(config_of(encoder, column="tag", epochs=1), train, None, 1)


def vectors_of(model: Model, sentence: str, other: str = "") -> np.ndarray:
    training = model.training
    text = training.tokenizer.encode([corpus(*filter(None, (sentence, other)))])
    training.network.eval()
    with torch.no_grad(), reproducible(training.config, torch.device("cpu")):
        vectors, lengths = training.network.vectors(text, training.tokenizer, np.arange(len(text.offsets) - 1))
    return vectors[0, : int(lengths[0])].numpy()  # type: ignore[no-any-return]


def test_vectors_of_a_long_sentence_are_those_of_its_windows(model: Model) -> None:
    words = np.random.default_rng(0).choice(["the", "dog", "big", "cats", "runs"], size=70).tolist()
    together = vectors_of(model, " ".join(words))
    text = model.training.tokenizer.encode([corpus(" ".join(words))])
    windows = text.windows_of(0, 70, 30)
    assert len(windows) > 2
    for window in windows:
        alone = vectors_of(model, " ".join(words[window.first : window.end]))
        used = slice(window.used_first, window.used_end)
        shifted = slice(window.used_first - window.first, window.used_end - window.first)
        np.testing.assert_allclose(together[used], alone[shifted], atol=2e-5)


def test_a_sentence_has_the_same_vectors_beside_a_longer_one(model: Model) -> None:
    alone, beside = vectors_of(model, "the big dog"), vectors_of(model, "the big dog", "the dog sees the big big cats")
    np.testing.assert_allclose(alone, beside, atol=2e-5)


def test_a_long_sentence_and_words_without_pieces_are_labelled(model: Model) -> None:
    predicted = model.predict(corpus("the dog " * 60, "\u00ad", "☃ the"))
    assert predicted.words == 123
    assert set(predicted.column("tag").strings()) <= {"D", "N"}
