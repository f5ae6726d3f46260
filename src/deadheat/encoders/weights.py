"""The weights of encoders of BERT's family, under one set of names whatever their files call them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.encoders.folder import weight_files
from deadheat.errors import InputError

Weights: TypeAlias = dict[str, Any]
Arrays: TypeAlias = Mapping[str, NDArray[np.float32]]

BERT_LAYER = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "attention": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense", "outer": "output.dense", "outer_norm": "output.LayerNorm",
}  # fmt: skip
DISTILBERT_LAYER = {
    "query": "attention.q_lin", "key": "attention.k_lin", "value": "attention.v_lin",
    "attention": "attention.out_lin", "attention_norm": "sa_layer_norm",
    "inner": "ffn.lin1", "outer": "ffn.lin2", "outer_norm": "output_layer_norm",
}  # fmt: skip
KINDS = (
    "bert",
    "camembert",
    "distilbert",
    "electra",
    "roberta",
    "xlm-roberta",
)  # model types that we compute ourselves
ROBERTA = ("camembert", "roberta", "xlm-roberta")  # whose positions begin after that of padding
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish")
WORDS = "embeddings.word_embeddings.weight"
OLD_NAMES = {"gamma": "weight", "beta": "bias"}  # of layer normalizations, as in TensorFlow
READABLE = ("F64", "F32", "F16", "I64")  # types of numbers that numpy has


@dataclass(frozen=True, slots=True)
class Architecture:
    """All of an encoder's configuration that its forward pass depends on."""

    layers: int
    size: int  # of the vectors of words
    heads: int
    activation: str
    epsilon: float
    first_position: int  # the number of the first piece's position
    limit: int  # pieces that it takes

    @classmethod
    def of(cls, config: Mapping[str, Any], folder: str) -> Architecture | None:
        """The architecture of an encoder; None if it is not of BERT's family."""
        kind = config["model_type"]
        activation = str(config.get("activation" if kind == "distilbert" else "hidden_act", "gelu"))
        if kind not in KINDS or activation not in ACTIVATIONS:
            return None
        if config.get("position_embedding_type", "absolute") != "absolute":
            return None
        names = ("n_layers", "dim", "n_heads") if kind == "distilbert" else (
            "num_hidden_layers", "hidden_size", "num_attention_heads")  # fmt: skip
        layers, size, heads = (_number(config, name, folder) for name in names)
        first = _number(config, "pad_token_id", folder, 1, least=0) + 1 if kind in ROBERTA else 0
        if size % heads:
            raise InputError(f"{folder}: {heads} attention heads for vectors of {size}; expected a divisor")
        limit = _number(config, "max_position_embeddings", folder, 512) - first
        epsilon = config.get("layer_norm_eps", 1e-12)
        if kind == "distilbert" or not isinstance(epsilon, float):
            epsilon = 1e-12
        return cls(layers, size, heads, activation, epsilon, first, limit)


def encoder_size(config: Mapping[str, Any], folder: str) -> tuple[int, int]:
    """Layers of any encoder, and numbers per word."""
    layers = next(
        (name for name in ("num_hidden_layers", "n_layers", "n_layer") if name in config), "num_hidden_layers"
    )
    size = next((name for name in ("hidden_size", "dim", "d_model") if name in config), "hidden_size")
    return _number(config, layers, folder), _number(config, size, folder)


def _number(config: Mapping[str, Any], name: str, folder: str, default: Any = None, *, least: int = 1) -> int:
    value = config.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{folder}: config.json: {name}={value!r}; expected a whole number from {least} on")
    return value


def read_weights(folder: str, architecture: Architecture, kind: str) -> Weights:
    """The weights of an encoder: embeddings, and those of all layers stacked.

    Raises
    ------
    InputError
        If the files cannot be read, or lack a weight, or have one of another shape.
    """
    arrays = read_arrays(folder)
    words = min((name for name in arrays if name.endswith(WORDS)), key=len, default="")
    if not words:
        raise InputError(f"{folder}: its weights have no {WORDS}; expected those of an encoder of type {kind}")
    prefix = words.removesuffix(WORDS)
    distilled = kind == "distilbert"
    reader = _Reader(arrays, prefix, folder)
    table = reader.array(WORDS)
    width = table.shape[-1]
    weights: Weights = {
        "words": table,
        "positions": reader.array("embeddings.position_embeddings.weight", None, width),
        "norm": reader.pair("embeddings.LayerNorm", width),
    }
    if f"{prefix}embeddings.token_type_embeddings.weight" in arrays:
        weights["type"] = reader.array("embeddings.token_type_embeddings.weight", None, width)[0]
    size = architecture.size
    if width != size:
        weights["projection"] = reader.pair("embeddings_project", size, width)
    parts = DISTILBERT_LAYER if distilled else BERT_LAYER
    stem = "transformer.layer" if distilled else "encoder.layer"
    inner = reader.array(f"{stem}.0.{parts['inner']}.weight").shape[0]
    sizes = {"inner": (inner, size), "outer": (size, inner), "attention_norm": (size,), "outer_norm": (size,)}
    layers = [
        {part: reader.pair(f"{stem}.{number}.{name}", *sizes.get(part, (size, size))) for part, name in parts.items()}
        for number in range(architecture.layers)
    ]
    weights["layers"] = {
        part: tuple(np.stack([layer[part][at] for layer in layers]) for at in (0, 1)) for part in parts
    }
    if len(weights["positions"]) < architecture.first_position + architecture.limit:
        raise InputError(f"{folder}: {len(weights['positions'])} positions; expected those that config.json has")
    return weights


def read_arrays(folder: str) -> dict[str, NDArray[np.float32]]:
    """All weights in the files of a folder."""
    library = importlib.import_module("safetensors")
    arrays: dict[str, NDArray[np.float32]] = {}
    for path in weight_files(folder):
        try:
            with library.safe_open(str(path), framework="numpy") as file:
                for name in file.keys():  # noqa: SIM118 (it is no dictionary)
                    if file.get_slice(name).get_dtype() in READABLE:
                        head, _, last = name.rpartition(".")
                        arrays[f"{head}.{OLD_NAMES.get(last, last)}"] = np.asarray(file.get_tensor(name), np.float32)
                    else:
                        kind = file.get_slice(name).get_dtype()
                        raise InputError(f"{path}: {name} has numbers of type {kind}; expected F32 or F16")
        except (OSError, library.SafetensorError) as error:
            raise InputError(f"{path}: cannot be read ({error}); expected weights in safetensors") from error
    return arrays


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Takes weights by their names, and checks their shapes."""

    arrays: Arrays
    prefix: str
    folder: str

    def array(self, name: str, *shape: int | None) -> NDArray[np.float32]:
        """A weight; None stands for any size."""
        array = self.arrays.get(self.prefix + name)
        if array is None:
            raise InputError(
                f"{self.folder}: its weights have no {self.prefix}{name}; expected all that config.json has"
            )
        if shape and (
            array.ndim != len(shape) or any(a not in (None, b) for a, b in zip(shape, array.shape, strict=True))
        ):
            expected = " x ".join("any" if size is None else str(size) for size in shape)
            has = " x ".join(map(str, array.shape))
            raise InputError(f"{self.folder}: {self.prefix}{name} is {has}; expected {expected}, as config.json has it")
        return array

    def pair(self, name: str, *shape: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weight and bias of a linear layer, (inputs, outputs) and (outputs,), or of a normalization."""
        return self.array(f"{name}.weight", *shape).T, self.array(f"{name}.bias", shape[0])
