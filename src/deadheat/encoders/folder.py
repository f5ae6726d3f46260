"""The folder of an encoder in Hugging Face's layout: what must be in it, and the hash of what decides its vectors.

Nothing here imports a package for networks. Code in the folder is never run, and pickles are never loaded.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
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
DECODERS = re.compile(r"gpt|llama|mistral|opt$|bloom|falcon|phi|mamba|rwkv")  # kinds that read from left to right
HUB_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?\Z")
BLOCK = 1 << 22
FOLDER = "the folder of an encoder in Hugging Face's layout"


def find_folder(name: str, base: str | os.PathLike[str] = "") -> str:
    """The folder of an encoder: relative to `base`, or where huggingface_hub keeps the encoder of that name.

    Raises
    ------
    InputError
        If there is no such folder, and no such encoder can be downloaded.
    """
    path = os.path.join(base, name)
    return path if os.path.isdir(path) else _download(name)


@cache
def _download(name: str) -> str:
    if not HUB_NAME.match(name):
        raise InputError(f"{name}: no such folder; expected {FOLDER}")
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ModuleNotFoundError:
        missing = "the package huggingface_hub, which downloads encoders by name, is not installed"
        raise InputError(f"{name}: no such folder, and {missing}; expected {FOLDER}") from None
    try:
        return str(hub.snapshot_download(name, allow_patterns=list(HASHED)))
    except Exception as error:  # of the hub's client, and of the libraries that it uses
        problem = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise InputError(f"{name}: no such folder, and not downloaded ({problem}); expected {FOLDER}") from error


def check_folder(folder: str) -> Mapping[str, Any]:
    """The configuration of an encoder; an error if its folder lacks a file, or if its model is of another kind.

    Raises
    ------
    InputError
        If there is no configuration, if there are no weights or only pickled ones, if there is no tokenizer, if the
        model needs code of its own, or if it does not see both sides of a word.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{folder}: no such folder; expected {FOLDER}")
    config = read_config(folder)
    if not any((path / name).is_file() for name in WEIGHTS):
        pickles = sorted(file.name for pattern in PICKLES for file in path.glob(pattern))
        problem = f"its weights are a pickle, {pickles[0]}, which can run code" if pickles else "no weights"
        raise InputError(f"{folder}: {problem}; expected {WEIGHTS[0]}")
    weight_files(folder)
    if not any((path / name).is_file() for name in TOKENIZERS):
        raise InputError(f"{folder}: no tokenizer; expected {TOKENIZERS[0]} or {TOKENIZERS[1]}")
    if "auto_map" in config:
        raise InputError(f"{folder}: its model needs Python code of its own, which is not run; expected none")
    kind = str(config["model_type"])
    architectures = config.get("architectures")
    names = list(map(str, architectures)) if isinstance(architectures, list) else []
    if config.get("is_encoder_decoder"):
        raise InputError(f"{folder}: {kind} is an encoder with a decoder; expected an encoder such as BERT")
    if config.get("is_decoder") or DECODERS.match(kind) or any(name.endswith("ForCausalLM") for name in names):
        raise InputError(f"{folder}: {kind} reads from left to right only; expected an encoder such as BERT")
    return config


def read_config(folder: str) -> Mapping[str, Any]:
    """The encoder's config.json."""
    path = Path(folder) / CONFIG
    if not path.exists():
        raise InputError(f"{folder}: no {CONFIG}; expected {FOLDER}")
    config = read_json(path)
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise InputError(f"{path}: no model_type; expected the configuration of an encoder")
    return config


def read_json(path: Path) -> Any:
    """A file of JSON in the folder of an encoder."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}); expected JSON") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON; expected a file as Hugging Face's libraries write it") from error


def weight_files(folder: str) -> list[Path]:
    """The files of the weights, one or several."""
    path = Path(folder)
    single, index = (path / name for name in WEIGHTS)
    if single.is_file():
        return [single]
    content = read_json(index)
    shards = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(shards, dict) or not shards:
        raise InputError(f"{index}: no weight_map; expected the names of all files of the weights")
    names = sorted(set(map(str, shards.values())))
    for name in names:
        if Path(name).name != name or not (path / name).is_file():
            raise InputError(f"{folder}: no file {name}, which {index.name} names; expected all files of the weights")
    return [path / name for name in names]


def hash_folder(folder: str) -> str:
    """A hash of configuration, tokenizer and weights, whatever the folder is called."""
    try:
        return _hash(tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in folder_files(folder)))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({reason(error)}); expected {FOLDER}") from error


def folder_files(folder: str) -> list[Path]:
    """The files that an encoder consists of."""
    return sorted({file for pattern in HASHED for file in Path(folder).glob(pattern) if file.is_file()})


@cache
def _hash(states: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for name, size, _ in states:
        digest.update(f"{Path(name).name}\0{size}\0".encode())
        with open(name, "rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()[:32]
