"""The system as users see it: settings, what is refused in one line, a study from its file to its scores."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from deadheat.errors import InputError, NameUnknown
from deadheat.finetuning.network import load_encoder, longest_input
from deadheat.systems import SYSTEMS, System
from tests.finetuning.tiny import corpus_of, text_of, write_encoder

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"encoder_rate": 2e-3, "rate": 1e-2, "batch": 8, "drop": 0.0, "epochs": 6}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture
def copy(encoder: Path, tmp_path: Path) -> Path:
    """The tiny encoder, to be spoilt."""
    return Path(shutil.copytree(encoder, tmp_path / "copy"))


def tagger(folder: Path, **settings: Any) -> System:
    return SYSTEMS.make("transformer.v1", encoder=str(folder), finetune=True, **settings)


def parser(folder: Path, **settings: Any) -> System:
    return SYSTEMS.make("transformer-parser.v1", encoder=str(folder), finetune=True, **settings)


def change_config(folder: Path, **changed: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def drop_weight(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights.pop("encoder.layer.1.output.dense.weight")
    save_file(weights, folder / "model.safetensors")


def pickle_weights(folder: Path) -> None:
    torch.save({"a": torch.zeros(1)}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def remove_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)


def few_pieces(folder: Path) -> None:
    """Weights of an encoder with fewer pieces than the tokenizer has."""
    config = transformers.BertConfig(
        vocab_size=8, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "no such folder"),
    "no configuration": (lambda folder: (folder / "config.json").unlink(), "no config.json"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "no weights; expected model.safetensors"),
    "a pickle": (pickle_weights, "a pickle, pytorch_model.bin"),
    "no tokenizer": (remove_tokenizer, "no tokenizer"),
    "a weight less": (drop_weight, "lack encoder.layer.1.output.dense.weight"),
    "other sizes": (lambda folder: change_config(folder, intermediate_size=48), "cannot be loaded|lack"),
    "broken weights": (lambda folder: (folder / "model.safetensors").write_bytes(b"no weights"), "cannot be loaded"),
    "an unknown kind": (lambda folder: change_config(folder, model_type="nothing"), "cannot be loaded"),
    "a decoder": (lambda folder: change_config(folder, architectures=["LlamaForCausalLM"]), "left to right"),
    "code": (lambda folder: change_config(folder, auto_map={"AutoModel": "mine.Model"}), "which is not run"),
    "both": (lambda folder: change_config(folder, is_encoder_decoder=True), "encoder with a decoder"),
    "few pieces": (few_pieces, "has no vector, of 8; expected the tokenizer that belongs to the weights"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_a_folder_that_cannot_be_used_is_refused_in_one_line(copy: Path, case: str) -> None:
    spoil, message = SPOILT[case]
    spoil(copy)
    with pytest.raises(InputError, match=message) as refused:
        tagger(copy, epochs=1).train(corpus_of(5), None, 0)
    assert "\n" not in str(refused.value)


def test_code_in_a_folder_is_not_run(copy: Path, tmp_path: Path) -> None:
    change_config(copy, model_type="mine", auto_map={"AutoConfig": "mine.Config", "AutoModel": "mine.Model"})
    (copy / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(InputError, match="expected none"):
        tagger(copy).train(corpus_of(5), None, 0)
    with pytest.raises(InputError, match="cannot be loaded"):
        load_encoder(str(copy))
    assert not (tmp_path / "ran").exists()


def test_how_much_an_encoder_takes_is_read_from_its_positions(encoder: Path) -> None:
    assert longest_input(load_encoder(str(encoder))) == 32
    config = transformers.RobertaConfig(
        vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=34, pad_token_id=1,
    )  # fmt: skip
    assert longest_input(transformers.RobertaModel(config)) == 32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pieces": "last"}, "pieces 'last' is unknown"),
        ({"classifier": "hmm"}, "classifier 'hmm' is unknown"),
        ({"scheme": "bilou"}, "scheme 'bilou' is unknown"),
        ({"precision": "float16"}, "precision 'float16' is unknown"),
        ({"batch": 0}, "batch=0; expected at least 1"),
        ({"threads": 0}, "threads=0; expected at least 1"),
        ({"epochs": 0}, "epochs=0; expected at least 1"),
        ({"encoder_rate": 0.0}, "encoder_rate=0; expected a number above 0"),
        ({"warmup": 1.0}, "warmup=1; expected a share from 0 to less than 1"),
        ({"drop": -0.1}, "drop=-0.1; expected a share"),
        ({"norm": -1.0}, "norm=-1; expected a number above 0, or 0 for none"),
        ({"units": "100"}, "units='100' is for encoders that stay as they are"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, NameUnknown), match=message) as refused:
        tagger(Path("somewhere"), **settings)
    assert "\n" not in str(refused.value)


def test_settings_of_fine_tuning_are_refused_where_the_encoder_is_frozen() -> None:
    with pytest.raises(InputError, match=r"warmup=0\.3 is for fine-tuning; expected finetune=True"):
        SYSTEMS.make("transformer.v1", encoder="somewhere", warmup=0.3)


def test_sentences_that_are_no_trees_are_refused_or_skipped(encoder: Path) -> None:
    corpus = corpus_of(20)
    heads = corpus.trees.copy()
    heads[corpus.offsets[3] : corpus.offsets[4]] = 0  # several roots
    corpus = replace(corpus, heads=heads)
    with pytest.raises(InputError, match="root"):
        parser(encoder, epochs=1).train(corpus, None, 0)
    assert parser(encoder, epochs=1, bad_trees="skip").train(corpus, None, 0).predict(corpus).words == corpus.words


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, encoder: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else find(name))
    from deadheat.neural.config import missing_package

    system = tagger(encoder)
    assert system.batch_trainer is not None
    assert missing_package("transformer.v1", system.batch_trainer.extra) == (
        "transformer.v1: the package torch is not installed; expected deadheat[finetuning] "
        "(pip install 'deadheat[finetuning]')"
    )


@pytest.mark.slow
def test_torch_is_imported_only_to_train(encoder: Path) -> None:
    code = f"""
import sys
for name in ("polars", "pydantic", "typer", "rich"):
    sys.modules[name] = None
from deadheat.systems import SYSTEMS
SYSTEMS.make("transformer.v1", encoder={str(encoder)!r}, finetune=True)
assert "torch" not in sys.modules and "jax" not in sys.modules
import deadheat.finetuning.training
assert "jax" not in sys.modules
sys.modules["torch"] = None
sys.modules.pop("deadheat.finetuning.training")
from deadheat.corpus import read
from deadheat.errors import InputError
try:
    system = SYSTEMS.make("transformer.v1", encoder={str(encoder)!r}, finetune=True, column="tag")
    system.train(read(text="a_X\\n"), None, 0)
except InputError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("transformer.v1: the package torch is not installed; expected deadheat[finetuning]")


@pytest.mark.slow
def test_a_study_trains_both_and_finds_all_of_it_done_the_next_time(encoder: Path, tmp_path: Path) -> None:
    shutil.copytree(encoder, tmp_path / "tiny")
    for part, (sentences, seed) in {"train": (120, 1), "dev": (30, 2), "test": (40, 3)}.items():
        (tmp_path / f"toy-ud-{part}.conllu").write_text(text_of(sentences, seed))
    settings = "".join(f"{name} = {value}\n" for name, value in QUICK.items())
    entries = "".join(
        f'[[systems]]\nname = "{name}"\nencoder = "tiny"\nfinetune = true\n{settings}'
        for name in ("transformer.v1", "transformer-parser.v1")
    )
    (tmp_path / "toy.toml").write_text(f'[corpora]\ntoy = "toy-ud-*.conllu"\n{entries}[engine]\nworkers = 1\n')
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "DEADHEAT_LEDGER": str(tmp_path / "ledger.jsonl")}

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "deadheat", "run", "toy.toml", *more]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)

    done = run("--json")
    assert done.returncode == 0, done.stderr
    assert "2 done" in done.stderr or '"done": 2' in done.stdout, done.stderr + done.stdout
    again = run("--plan")
    assert "2 cells: 2 done" in again.stdout or "0 to run" in again.stdout, again.stdout
    path = tmp_path / "tiny" / "tokenizer_config.json"
    path.write_text(path.read_text() + "\n")
    assert "2 to run" in run("--plan").stdout
