"""Heads on an encoder as systems: they learn, and keep to the contract of systems."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")
pytest.importorskip("tokenizers", reason="deadheat[transformers] is not installed")
pytest.importorskip("safetensors", reason="deadheat[transformers] is not installed")

from deadheat.corpus import Corpus, read, take, to_bytes
from deadheat.kernels import cache
from deadheat.splits.splitting import Partition
from deadheat.systems import SYSTEMS
from deadheat.systems.system import train_many
from deadheat.testbed import generate
from tests.encoders.tiny import write_encoder

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    cache.cache_folder.cache_clear()
    yield
    cache.cache_folder.cache_clear()


def corpora() -> tuple[Corpus, Corpus, Corpus]:
    parts = (read(text=generate("morelle", sentences=size, seed=seed)) for seed, size in ((1, 80), (2, 12), (3, 25)))
    train, tune, test = parts
    return train, tune, test


def encoder_for(corpus: Corpus, folder: Path, kind: str = "bert") -> str:
    return str(write_encoder(folder, kind, text=[" ".join(corpus.column("form").strings())] * 3))


def accuracy(gold: Corpus, predicted: Corpus) -> float:
    pairs = zip(gold.column("upos").strings(), predicted.column("upos").strings(), strict=True)
    return float(np.mean([a == b for a, b in pairs]))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("bert", {}),
        ("roberta", {"classifier": "crf", "layers": "all", "pieces": "mean"}),
        ("bert", {"units": "16", "word_size": 16, "casing": 4}),
    ],
)
def test_a_tagger_learns_and_labels_a_sentence_alone_as_among_others(
    kind: str, settings: dict[str, str | int], tmp_path: Path
) -> None:
    train, tune, test = corpora()
    folder = encoder_for(train, tmp_path / "encoder", kind)
    system = SYSTEMS.make("transformer", encoder=folder, batch=8, epochs=10, rate=0.02, **settings)
    model = system.train(train, tune, 0)
    predicted = model.predict(test)
    most = max(np.bincount(test.column("upos").codes)) / test.words
    assert accuracy(test, predicted) > 2 * most
    assert to_bytes(model.predict(take(test, [3]))) == to_bytes(take(predicted, [3]))
    assert to_bytes(pickle.loads(pickle.dumps(model)).predict(test)) == to_bytes(predicted)
    assert to_bytes(system.train(train, tune, 0).predict(test)) == to_bytes(predicted)


def test_a_parser_learns(tmp_path: Path) -> None:
    """Its own training text: a random encoder knows too little of heads for others."""
    train, tune, _ = corpora()
    folder = encoder_for(train, tmp_path / "encoder")
    system = SYSTEMS.make(
        "transformer-parser", encoder=folder, batch=8, epochs=60, patience=60, rate=0.002, drop=0.0, arc_size=32,
        relation_size=16,
    )  # fmt: skip
    predicted = system.train(train, tune, 0).predict(train)
    before = np.arange(train.words) - np.repeat(train.offsets[:-1], np.diff(train.offsets))
    assert np.mean(predicted.trees == train.trees) > 2 * np.mean(before == train.trees)


def test_many_heads_train_on_features_that_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deadheat.encoders import source

    train, _, _ = corpora()
    folder, calls, encode = encoder_for(train, tmp_path / "encoder"), list[int](), source.encode_words

    def counted(*args: Any, mean: bool) -> None:
        calls.append(1)
        encode(*args, mean=mean)

    monkeypatch.setattr(source, "encode_words", counted)
    order = np.arange(train.sentences)
    splits = [Partition(str(first), {"train": order[first:60], "dev": order[60:]}, len(order)) for first in (0, 5)]
    settings = [{"encoder": folder, "epochs": 2, "batch": 8, "rate": rate} for rate in (0.01, 0.02)]
    networks = list(train_many(train, splits, [0, 1], settings, system="transformer"))
    assert len(networks) == 8
    assert not any(network.failed for network in networks)
    assert calls == [1]
