"""Folders of encoders: what is refused, and what the hash depends on."""

import builtins
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deadheat.encoders import folder as folders
from deadheat.encoders.folder import check_folder, find_folder, folder_files, hash_folder, weight_files
from deadheat.errors import InputError


def write_folder(path: Path, **config: Any) -> Path:
    """A folder with everything an encoder has, whatever is in its files."""
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps({"model_type": "bert"} | config))
    for name in ("tokenizer.json", "model.safetensors", "README.md"):
        (path / name).write_text(name)
    return path


def test_a_complete_folder_is_an_encoder(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "bert", architectures=["BertForMaskedLM"])
    assert check_folder(str(path))["model_type"] == "bert"
    assert find_folder(str(path)) == str(path)
    assert find_folder("bert", tmp_path) == str(path)
    assert weight_files(str(path)) == [path / "model.safetensors"]


def removed(name: str) -> Callable[[Path], object]:
    return lambda path: (path / name).unlink()


def pickled(path: Path) -> None:
    (path / "model.safetensors").rename(path / "pytorch_model.bin")


def text(name: str, content: str) -> Callable[[Path], object]:
    return lambda path: (path / name).write_text(content)


def sharded(content: str) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        (path / "model.safetensors").unlink()
        (path / "model.safetensors.index.json").write_text(content)

    return change


def config(**settings: Any) -> Callable[[Path], object]:
    return lambda path: write_folder(path, **settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (removed("config.json"), r"no config\.json; expected the folder of an encoder"),
        (text("config.json", "{"), r"config\.json: not JSON"),
        (text("config.json", "[" * 100_000), r"config\.json: not JSON"),
        (text("config.json", "[]"), "no model_type"),
        (text("config.json", '{"model_type": 3}'), "no model_type"),
        (removed("model.safetensors"), r"no weights; expected model\.safetensors"),
        (pickled, r"its weights are a pickle, pytorch_model\.bin, which can run code; expected model\.safetensors"),
        (removed("tokenizer.json"), r"no tokenizer; expected tokenizer\.json or vocab\.txt"),
        (sharded("{}"), "no weight_map"),
        (sharded('{"weight_map": {"a": "model-1.safetensors"}}'), r"no file model-1\.safetensors"),
        (sharded('{"weight_map": {"a": "../outside/model.safetensors"}}'), r"no file \.\./outside"),
        (config(auto_map={"AutoModel": "model.Model"}), "Python code of its own, which is not run"),
        (config(is_decoder=True), "reads from left to right only; expected an encoder such as BERT"),
        (config(model_type="gpt2"), "gpt2 reads from left to right only"),
        (config(model_type="llama", architectures=["LlamaForCausalLM"]), "llama reads from left to right only"),
        (config(model_type="new", architectures=["NewForCausalLM"]), "new reads from left to right only"),
        (config(model_type="t5", is_encoder_decoder=True), "t5 is an encoder with a decoder"),
    ],
)
def test_other_folders_are_refused_in_one_line(tmp_path: Path, change: Callable[[Path], object], message: str) -> None:
    path = write_folder(tmp_path / "bert")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "model.safetensors").write_text("")
    change(path)
    with pytest.raises(InputError, match=message) as error:
        check_folder(str(path))
    assert "\n" not in str(error.value)


def test_weights_may_be_in_several_files(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "bert")
    (path / "model.safetensors").rename(path / "model-2.safetensors")
    (path / "model-1.safetensors").write_text("")
    shards = {"a": "model-2.safetensors", "b": "model-1.safetensors", "c": "model-1.safetensors"}
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    check_folder(str(path))
    assert weight_files(str(path)) == [path / "model-1.safetensors", path / "model-2.safetensors"]


def test_the_hash_is_of_all_that_decides_vectors_and_of_nothing_else(tmp_path: Path) -> None:
    path, copy = write_folder(tmp_path / "bert"), write_folder(tmp_path / "copy")
    first = hash_folder(str(path))
    assert hash_folder(str(copy)) == first
    (copy / "README.md").write_text("new")
    assert hash_folder(str(copy)) == first
    hashes = {first}
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (path / name).write_text((path / name).read_text() + " ")
        hashes.add(hash_folder(str(path)))
    assert len(hashes) == 4
    assert {file.name for file in folder_files(str(path))} == {"config.json", "tokenizer.json", "model.safetensors"}


class TestNames:
    """Names of encoders that are no folders."""

    def test_a_name_is_looked_up_if_the_package_is_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []

        def download(name: str, *, allow_patterns: list[str]) -> str:
            asked.append((name, allow_patterns))
            return str(tmp_path)

        monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=download))  # type: ignore[misc]
        folders._download.cache_clear()
        assert find_folder("google/tiny-bert") == str(tmp_path)
        assert find_folder("google/tiny-bert") == str(tmp_path)
        assert asked == [("google/tiny-bert", list(folders.HASHED))]  # once, and no pickles and no code
        assert not any(pattern.endswith((".bin", ".py")) for pattern in folders.HASHED)
        folders._download.cache_clear()

    def test_without_a_network_there_is_one_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> str:
            raise ConnectionError("Cannot reach the hub.\nMore.")

        monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=fail))  # type: ignore[misc]
        expected = r"a/b: no such folder, and not downloaded \(Cannot reach the hub\); expected the folder"
        with pytest.raises(InputError, match=expected):
            find_folder("a/b")

    def test_without_the_package_there_is_one_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"a/b: no such folder, and the package huggingface_hub.*is not installed"):
            find_folder("a/b")

    @pytest.mark.parametrize("name", ["./missing", "/missing/bert", "a/b/c", "a b", "../bert"])
    def test_a_path_is_not_looked_up(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(builtins, "__import__", None)
        try:
            message = ""
            find_folder(name)
        except InputError as error:
            message = str(error)
        monkeypatch.undo()
        assert message == f"{name}: no such folder; expected {folders.FOLDER}"
