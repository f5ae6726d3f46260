"""The vectors that encoders give to words: against Hugging Face's library, against stored numbers, and by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")
pytest.importorskip("tokenizers", reason="deadheat[transformers] is not installed")
pytest.importorskip("safetensors", reason="deadheat[transformers] is not installed")

from deadheat.corpus import Corpus, read, take
from deadheat.encoders import pieces, source
from deadheat.encoders.folder import hash_folder
from deadheat.encoders.pieces import PieceText, Tokenizer
from deadheat.encoders.source import EncoderFeatures, load_encoder
from deadheat.errors import InputError
from deadheat.kernels import cache
from tests.encoders.tiny import HIDDEN, KINDS, LAYERS, LIMIT, save, train_tokenizer, weights_of, write_encoder

SENTENCES = ["the quick brown fox", "cats and unquickly dogs sleep", "Big \u200b 3", "x", "jumps ! [SEP] the"]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    cache.cache_folder.cache_clear()
    load_encoder.cache_clear()
    yield
    cache.cache_folder.cache_clear()


def corpus_of(*sentences: str) -> Corpus:
    text = "".join("".join(f"{word}\tX\n" for word in sentence.split(" ")) + "\n" for sentence in sentences)
    return read(text=text, format="columns", columns=["form", "tag"], separator="\t")


def vectors(folder: Path, corpus: Corpus, **settings: Any) -> np.ndarray:
    return np.asarray(EncoderFeatures(str(folder), **settings).features([corpus]), np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    folder = str(write_encoder(tmp_path / kind, kind))
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer, encoder = load_encoder(folder, hash_folder(folder), every=True)
    rng = np.random.default_rng(0)
    lengths = [3, 9, 30, LIMIT]
    ids = rng.integers(5, encoder.vocabulary, size=(len(lengths), LIMIT)).astype(np.int32)
    present = np.arange(LIMIT) < np.array(lengths)[:, None]
    padded = np.where(present, ids, model.config.pad_token_id)
    mine = encoder(padded, present)
    with torch.inference_mode():
        states = model(
            input_ids=torch.as_tensor(padded).long(), attention_mask=torch.as_tensor(present).long(),
            output_hidden_states=True,
        ).hidden_states  # fmt: skip
    assert mine.shape == (len(lengths), LIMIT, LAYERS + 1, HIDDEN)
    for layer, expected in enumerate(states):
        assert np.abs(mine[:, :, layer] - expected.numpy())[present].max() < 1e-5
    assert np.abs(mine).max() > 1
    assert tokenizer.capacity == LIMIT - 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("pieces_of_word", ["first", "mean"])
def test_words_have_the_vectors_of_their_pieces(kind: str, pieces_of_word: str, tmp_path: Path) -> None:
    """The slow and obvious way: each sentence alone, its pieces put together here."""
    folder = str(write_encoder(tmp_path / kind, kind))
    corpus = corpus_of(*SENTENCES)
    found = vectors(Path(folder), corpus, pieces=pieces_of_word, used="all")
    tokenizer, encoder = load_encoder(folder, hash_folder(folder), every=True)
    start = 0
    for sentence in SENTENCES:
        of_words = [tokenizer._pieces_of([word])[0] or [tokenizer.unknown] for word in sentence.split(" ")]
        ids = [*tokenizer.prefix, *[piece for word in of_words for piece in word], *tokenizer.suffix]
        states = encoder(np.array([ids], np.int32), np.ones((1, len(ids)), bool))[0]
        at = len(tokenizer.prefix)
        for word in of_words:
            expected = states[at] if pieces_of_word == "first" else states[at : at + len(word)].mean(axis=0)
            assert found[start] == pytest.approx(expected, abs=5e-3)
            at, start = at + len(word), start + 1
    assert start == len(found)
    assert max(len(word) for word in tokenizer._pieces_of(["unquickly"])) > 1


# Computed by transformers 5.23 and torch 2.13: the last layer of the words "cats sleep" by `write_encoder(kind)`.
STORED = {"bert": [], "roberta": []}


@pytest.mark.parametrize("kind", sorted(STORED))
def test_vectors_are_the_stored_ones(kind: str, tmp_path: Path) -> None:
    found = vectors(write_encoder(tmp_path / kind, kind), corpus_of("cats sleep"))
    assert found[:, 0, :4].ravel() == pytest.approx(STORED[kind], abs=2e-3)


def test_a_sentence_has_the_same_vectors_alone_and_among_others(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    corpus = corpus_of(*SENTENCES * 9)
    together = vectors(folder, corpus)
    alone = vectors(folder, take(corpus, [1]))
    assert together[corpus.offsets[1] : corpus.offsets[2]] == pytest.approx(alone, abs=2e-3)


def test_vectors_of_several_corpora_follow_one_another(tmp_path: Path) -> None:
    folder = str(write_encoder(tmp_path / "bert"))
    one, other = corpus_of(*SENTENCES[:2]), corpus_of(*SENTENCES[2:])
    both = EncoderFeatures(folder).features([one, other])
    assert np.asarray(both, float) == pytest.approx(
        np.concatenate([EncoderFeatures(folder).features([part]) for part in (one, other)]).astype(float), abs=2e-3
    )


def test_long_sentences_are_read_in_windows(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    words = ["cats", "dogs", "fox", "the"] * 50  # four windows, since a piece each
    found = vectors(folder, corpus_of(" ".join(words)))
    tokenizer, _ = load_encoder(str(folder), hash_folder(str(folder)), every=False)
    text = tokenizer.encode([corpus_of(" ".join(words))])
    windows = text.windows_of(0, len(words), tokenizer.capacity)
    assert len(windows) > 3
    for window in windows:
        alone = vectors(folder, corpus_of(" ".join(words[window.first : window.end])))
        used = slice(window.used_first, window.used_end)
        inside = slice(window.used_first - window.first, window.used_end - window.first)
        assert found[used] == pytest.approx(alone[inside], abs=2e-3)


@pytest.mark.parametrize("seed", range(20))
def test_every_word_is_used_in_the_window_where_it_has_most_context(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, size=rng.integers(1, 80))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    text = PieceText(np.zeros(bounds[-1], np.int64), bounds, np.array([0, len(lengths)]))
    capacity = 20
    windows = text.windows_of(0, len(lengths), capacity)
    used = [word for window in windows for word in range(window.used_first, window.used_end)]
    assert used == list(range(len(lengths)))
    far = len(lengths)

    def context(word: int, first: int, end: int) -> int:
        left, right = (far if first == 0 else word - first), (far if end == len(lengths) else end - 1 - word)
        return min(left, right) if first <= word < end else -1

    for window in windows:
        assert bounds[window.end] - bounds[window.first] <= capacity
        assert window.first <= window.used_first <= window.used_end <= window.end
        for word in range(window.used_first, window.used_end):
            here = context(word, window.first, window.end)
            assert here >= max(context(word, other.first, other.end) for other in windows) - 1


def test_words_are_cut_where_they_have_too_many_pieces(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    tokenizer = Tokenizer.of(str(folder), LIMIT)
    text = tokenizer.encode([corpus_of("qxz" * 30 + " cats")])
    assert np.diff(text.bounds).tolist() == [(LIMIT - 2) // 4, 1] or np.diff(text.bounds).tolist() == [1, 1]


def test_words_without_pieces_are_unknown_and_special_names_are_text(tmp_path: Path) -> None:
    tokenizer = Tokenizer.of(str(write_encoder(tmp_path / "bert")), LIMIT)
    text = tokenizer.encode([corpus_of("\u200b [SEP] cats")])
    assert text.pieces[0] == tokenizer.tokenizer.token_to_id("[UNK]")
    assert tokenizer.suffix[0] not in text.pieces
    assert np.diff(text.bounds)[1] > 1


def test_a_word_of_bytes_begins_as_after_a_space(tmp_path: Path) -> None:
    tokenizer = Tokenizer.of(str(write_encoder(tmp_path / "roberta", "roberta")), LIMIT)
    text = tokenizer.encode([corpus_of("the the")])
    assert len(set(text.pieces.tolist())) == 1
    assert tokenizer.tokenizer.id_to_token(int(text.pieces[0])) == "\u0120the"


def test_a_tokenizer_may_be_a_list_of_pieces(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    expected = vectors(folder, corpus_of(*SENTENCES))
    vocabulary = train_tokenizer("bert", ["the quick brown fox jumps over the lazy dog"]).get_vocab()
    other = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    assert vocabulary != other
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(other, key=other.get)))
    (folder / "tokenizer.json").unlink()
    load_encoder.cache_clear()
    assert np.array_equal(vectors(folder, corpus_of(*SENTENCES)), expected)


def test_a_tokenizer_may_be_pieces_and_merges(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "roberta", "roberta")
    expected = vectors(folder, corpus_of(*SENTENCES[:2]))
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    (folder / "merges.txt").write_text("".join(" ".join(merge) + "\n" for merge in model["merges"]))
    (folder / "tokenizer.json").unlink()
    load_encoder.cache_clear()
    assert np.array_equal(vectors(folder, corpus_of(*SENTENCES[:2])), expected)


def test_weights_may_be_in_several_files_and_of_16_bits_and_have_old_names(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    expected = vectors(folder, corpus_of(*SENTENCES))
    weights = weights_of("bert", len(json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]))
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed = {}
    for name, array in weights.items():
        end = ".".join(name.split(".")[-2:])
        renamed["bert." + name.replace(end, old.get(end, end))] = array.astype(np.float16)
    names = sorted(renamed)
    files = {name: f"model-{1 + number % 2}.safetensors" for number, name in enumerate(names)}
    for file in set(files.values()):
        save(folder / file, {name: renamed[name] for name in names if files[name] == file})
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    load_encoder.cache_clear()
    assert vectors(folder, corpus_of(*SENTENCES)) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": 24}, "is 32 x 32; expected 24 x 24, as config.json has it|of any"),
        ({"num_hidden_layers": 3}, r"its weights have no encoder\.layer\.2"),
        ({"num_hidden_layers": "2"}, r"config\.json: num_hidden_layers='2'; expected a whole number from 1 on"),
        ({"num_attention_heads": 5}, "5 attention heads for vectors of 32; expected a divisor"),
        ({"max_position_embeddings": 1000}, "64 positions; expected those that config.json has"),
        ({"max_position_embeddings": 4}, "the encoder takes 2 pieces; expected at least 4"),
    ],
)
def test_a_configuration_of_another_encoder_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = write_encoder(tmp_path / "bert", **change)
    with pytest.raises(InputError, match=message) as error:
        vectors(folder, corpus_of("cats"))
    assert "\n" not in str(error.value)


def test_damaged_files_are_refused_in_one_line(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    weights = (folder / "model.safetensors").read_bytes()
    for damaged in (weights[:1000], b"", b"\xff" * 100):
        (folder / "model.safetensors").write_bytes(damaged)
        with pytest.raises(InputError, match=r"model\.safetensors: cannot be read \(.*\); expected weights"):
            vectors(folder, corpus_of("cats"))
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(InputError, match="tokenizer cannot be read") as error:
        vectors(folder, corpus_of("cats"))
    assert "\n" not in str(error.value)


def test_a_tokenizer_of_another_encoder_is_refused(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    save(folder / "model.safetensors", weights_of("bert", 20))
    with pytest.raises(InputError, match=r"piece \d+ of its tokenizer has no vector, of 20; expected the tokenizer"):
        vectors(folder, corpus_of("cats and dogs"))


def test_numbers_that_are_not_finite_are_refused_and_large_ones_kept_within_bounds(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    size = len(json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"])
    weights = weights_of("bert", size)
    name = "encoder.layer.1.output.LayerNorm.bias"
    for value, finite in ((np.nan, False), (1e6, True)):
        save(folder / "model.safetensors", weights | {name: np.full(HIDDEN, value, np.float32)})
        load_encoder.cache_clear()
        if finite:
            assert (vectors(folder, corpus_of("cats")) == np.finfo(np.float16).max).all()
        else:
            with pytest.raises(InputError, match="numbers that are not finite"):
                vectors(folder, corpus_of("cats"))


def test_another_encoder_in_the_same_folder_has_other_vectors(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert")
    first = vectors(folder, corpus_of("cats"))
    write_encoder(folder, seed=1)
    assert not np.array_equal(vectors(folder, corpus_of("cats")), first)
    write_encoder(folder)
    assert np.array_equal(vectors(folder, corpus_of("cats")), first)


def test_vectors_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_encoder(tmp_path / "bert")
    first = vectors(folder, corpus_of(*SENTENCES))
    monkeypatch.setattr(source, "encode_words", None)
    assert np.array_equal(vectors(folder, corpus_of(*SENTENCES)), first)


@pytest.mark.parametrize(("name", "value"), [("pieces", "last"), ("used", "first")])
def test_unknown_settings_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"'{value}' is unknown"):
        EncoderFeatures("folder", **{name: value})


def test_missing_packages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_encoder(tmp_path / "bert")
    monkeypatch.setattr(source, "PACKAGES", ("no_such_package",))
    expected = r"the package no_such_package is not installed; expected deadheat\[transformers\]"
    with pytest.raises(InputError, match=expected):
        vectors(folder, corpus_of("cats"))


def test_other_architectures_need_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    folder = write_encoder(tmp_path / "bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "deberta-v2"}))
    monkeypatch.setitem(sys.modules, "torch", None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="an encoder of type deberta-v2 needs the package torch, which is not"):
        vectors(folder, corpus_of("cats"))


@pytest.mark.slow
def test_other_architectures_go_through_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = write_encoder(tmp_path / "bert")
    expected = [vectors(folder, corpus_of(*SENTENCES), used=used) for used in ("last", "all")]
    monkeypatch.setattr(source.Architecture, "of", lambda *_: None)
    monkeypatch.setattr(source, "VERSION", 0)
    load_encoder.cache_clear()
    found = [vectors(folder, corpus_of(*SENTENCES), used=used) for used in ("last", "all")]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=5e-3)
    assert pieces.UNLIMITED > LIMIT
