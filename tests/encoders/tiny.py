"""Tiny encoders with random weights, about 50 thousand, and with tokenizers that are trained here."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIDDEN, INNER, LAYERS, HEADS, LIMIT = 32, 64, 2, 4, 64
NARROW = 16  # embeddings of ELECTRA
TEXT = ["the quick brown fox jumps over the lazy dog", "cats and dogs sleep all day", "the Big dog saw 3 cats run"]
KINDS = ("bert", "roberta", "xlm-roberta", "distilbert", "electra")
BYTES = ("roberta",)  # pieces of bytes
PREFIXES = {"roberta": "roberta.", "xlm-roberta": "", "bert": "", "distilbert": "distilbert.", "electra": "electra."}
DISTIL = {
    "attention.self.query": "attention.q_lin", "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin", "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm", "intermediate.dense": "ffn.lin1", "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}  # fmt: skip


def write_encoder(folder: Path, kind: str = "bert", *, seed: int = 0, text: Sequence[str] = (), **config: Any) -> Path:
    """The folder of an encoder of a type of Hugging Face's."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer(kind, [*TEXT, *text])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = config_of(kind, tokenizer.get_vocab_size()) | config
    (folder / "config.json").write_text(json.dumps(settings))
    save(folder / "model.safetensors", weights_of(kind, tokenizer.get_vocab_size(), seed))
    return folder


def save(path: Path, weights: dict[str, NDArray[np.generic]]) -> None:
    """Write weights."""
    library: Any = importlib.import_module("safetensors.numpy")
    library.save_file({name: np.ascontiguousarray(array) for name, array in weights.items()}, str(path))


def train_tokenizer(kind: str, text: Sequence[str]) -> Any:
    """WordPiece as BERT's, pieces of bytes as RoBERTa's, or Unigram as XLM-R's."""
    library: Any = importlib.import_module("tokenizers")
    trainers, pre = library.trainers, library.pre_tokenizers
    if kind in ("roberta", "xlm-roberta"):
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        if kind == "roberta":
            tokenizer = library.Tokenizer(library.models.BPE())
            tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=False)
            alphabet = pre.ByteLevel.alphabet()
            trainer = trainers.BpeTrainer(
                vocab_size=330, special_tokens=special, initial_alphabet=alphabet, show_progress=False
            )
        else:
            tokenizer = library.Tokenizer(library.models.Unigram())
            tokenizer.pre_tokenizer = pre.Metaspace()
            trainer = trainers.UnigramTrainer(
                vocab_size=120, special_tokens=special, unk_token="<unk>", show_progress=False
            )
        around, ends = "<s> $A </s>", [("<s>", 0), ("</s>", 2)]
    else:
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        tokenizer = library.Tokenizer(library.models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = library.normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
        around, ends = "[CLS] $A [SEP]", [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.train_from_iterator(text, trainer)
    tokenizer.post_processor = library.processors.TemplateProcessing(single=around, special_tokens=ends)
    return tokenizer


def config_of(kind: str, vocabulary: int) -> dict[str, Any]:
    """The configuration as Hugging Face writes it."""
    roberta = kind in ("roberta", "xlm-roberta")
    config: dict[str, Any] = {
        "model_type": kind, "vocab_size": vocabulary, "pad_token_id": 1 if roberta else 0,
        "max_position_embeddings": LIMIT + 2 * roberta,
    }  # fmt: skip
    if kind == "distilbert":
        return config | {"dim": HIDDEN, "n_heads": HEADS, "n_layers": LAYERS, "hidden_dim": INNER, "activation": "gelu"}
    if kind == "electra":
        config["embedding_size"] = NARROW
    return config | {
        "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "intermediate_size": INNER,
        "hidden_act": "gelu", "layer_norm_eps": 1e-5 if roberta else 1e-12, "type_vocab_size": 1 if roberta else 2,
    }  # fmt: skip


def weights_of(kind: str, vocabulary: int, seed: int = 0) -> dict[str, NDArray[np.generic]]:
    """Random weights under the names of a type; large enough that attention differs from an average."""
    rng = np.random.default_rng(seed)
    roberta, width = kind in ("roberta", "xlm-roberta"), NARROW if kind == "electra" else HIDDEN
    tables = {"word": vocabulary, "position": LIMIT + 2 * roberta, "token_type": 1 if roberta else 2}
    weights = {f"embeddings.{name}_embeddings.weight": rng.normal(size=(size, width)) for name, size in tables.items()}
    if kind == "distilbert":
        del weights["embeddings.token_type_embeddings.weight"]

    def add(name: str, *shape: int) -> None:
        weights[f"{name}.weight"] = rng.normal(size=shape) * shape[-1] ** -0.5 if len(shape) > 1 else rng.normal(
            loc=1.0, scale=0.2, size=shape)  # fmt: skip
        weights[f"{name}.bias"] = 0.2 * rng.normal(size=shape[0])

    add("embeddings.LayerNorm", width)
    if kind == "electra":
        add("embeddings_project", HIDDEN, NARROW)
    sizes = {"LayerNorm": (HIDDEN,), "intermediate.dense": (INNER, HIDDEN), "output.dense": (HIDDEN, INNER)}
    for layer in range(LAYERS):
        for name, distil in DISTIL.items():
            shape = next(
                (
                    size
                    for end, size in sizes.items()
                    if name == end or (name.endswith("LayerNorm") and end == "LayerNorm")
                ),
                (HIDDEN, HIDDEN),
            )
            stem = f"transformer.layer.{layer}.{distil}" if kind == "distilbert" else f"encoder.layer.{layer}.{name}"
            add(stem, *shape)
    return {PREFIXES[kind] + name: array.astype(np.float32) for name, array in weights.items()}
