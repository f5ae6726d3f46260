"""The folder of an encoder in Hugging Face's layout: what must be in it, and the hash of what decides its vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from deadheat.errors import InputError, reason

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
# What vectors depend on; other files of a folder, such as README.md, may change.
HASHED = ("*.json", "*.txt", "*.model", "*.safetensors")
BLOCK = 1 << 22


def check_folder(folder: str) -> None:
    """Refuse a folder that lacks a file, or whose model needs code of its own or does not see both sides of a word."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{folder}: no such folder; expected that of an encoder, with {CONFIG}, weights and tokenizer")
    config = read_config(folder)
    if not any((path / name).is_file() for name in WEIGHTS):
        pickles = sorted(found.name for pattern in PICKLES for found in path.glob(pattern))
        problem = f"its weights are a pickle, {pickles[0]}, which can run code" if pickles else "no weights"
        raise InputError(f"{folder}: {problem}; expected {WEIGHTS[0]}")
    for name in missing_shards(path):
        raise InputError(f"{folder}: no file {name}, which {WEIGHTS[1]} names; expected all files of the weights")
    if not any((path / name).is_file() for name in TOKENIZERS):
        raise InputError(f"{folder}: no tokenizer; expected {TOKENIZERS[0]} or {TOKENIZERS[1]}")
    if "auto_map" in config:
        raise InputError(
            f"{folder}: the model needs Python code of its own, which is not run; expected one that does not"
        )
    kinds = ", ".join(map(str, config.get("architectures") or [config.get("model_type", "")]))
    if config.get("is_encoder_decoder"):
        raise InputError(f"{folder}: {kinds} is an encoder with a decoder; expected an encoder such as BERT")
    if config.get("is_decoder") or (kinds.endswith("ForCausalLM") or kinds.startswith("GPT")):
        raise InputError(f"{folder}: {kinds} reads from left to right only; expected an encoder such as BERT")


def read_config(folder: str) -> Mapping[str, Any]:
    """The encoder's config.json."""
    path = Path(folder) / CONFIG
    try:
        config = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{folder}: no {CONFIG}; expected the folder of an encoder in Hugging Face's layout") from None
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}; expected the configuration of an encoder") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON; expected the configuration of an encoder") from error
    if not isinstance(config, dict) or "model_type" not in config:
        raise InputError(f"{path}: no model_type; expected the configuration of an encoder")
    return config


def missing_shards(path: Path) -> list[str]:
    """Files of weights that the index names and that are not there."""
    index = path / WEIGHTS[1]
    if (path / WEIGHTS[0]).is_file() or not index.is_file():
        return []
    try:
        names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{index}: not an index of weights; expected one with weight_map") from error
    return [name for name in names if Path(name).name != name or not (path / name).is_file()]


def hash_folder(folder: str) -> str:
    """A hash of configuration, tokenizer and weights, whatever the folder is called."""
    path = Path(folder)
    try:
        files = sorted({found for pattern in HASHED for found in path.glob(pattern) if found.is_file()})
        states = tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
        return _hash(states)
    except OSError as error:
        raise InputError(f"{folder}: {reason(error)}; expected the folder of an encoder") from error


@cache
def _hash(states: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for name, size, _ in states:
        digest.update(f"{Path(name).name}\0{size}\0".encode())
        with open(name, "rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()[:32]
