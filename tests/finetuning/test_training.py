"""Fine-tuning: what is learned, the same seed, checkpoints, jobs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deadheat.corpus import Corpus, concatenate, to_bytes
from deadheat.errors import InputError
from deadheat.finetuning.checkpoints import Checkpoint
from deadheat.finetuning.config import FinetuningConfig
from deadheat.finetuning.devices import reproducible
from deadheat.finetuning.targets import Targets
from deadheat.finetuning.training import Training, train_jobs, train_one
from deadheat.kernels import cache
from deadheat.neural.config import TrainJob
from tests.finetuning.tiny import config_of, corpus_of, write_encoder

TRAIN, TUNE, TEST = corpus_of(120, 1), corpus_of(30, 2), corpus_of(40, 3)


class Killed(BaseException):
    """As if the process had been killed."""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cache")


def checkpoints(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache" / "finetuning").glob("*"))


def killed_in_epoch(epoch: int) -> Callable[[int, int], None]:
    def on_step(current: int, _: int) -> None:
        if current == epoch:
            raise Killed

    return on_step


def whole() -> tuple[Corpus, TrainJob]:
    """One corpus, and a job without its configuration."""
    corpus = concatenate([TRAIN, TUNE, TEST])
    first, second, third = np.split(np.arange(corpus.sentences), np.cumsum([TRAIN.sentences, TUNE.sentences]))
    return corpus, TrainJob(None, 3, first, second, {"dev": second, "test": third})


@pytest.mark.parametrize("settings", [{}, {"classifier": "crf"}, {"pieces": "mean"}], ids=str)
def test_a_tagger_learns_tags_that_depend_on_the_word_before(encoder: Path, settings: dict[str, Any]) -> None:
    predicted = train_one(config_of(encoder, **settings), TRAIN, TUNE, 1).predict(TEST)
    gold = TEST.column("upos").strings()
    assert np.mean([a == b for a, b in zip(predicted.column("upos").strings(), gold, strict=True)]) > 0.96
    assert np.array_equal(predicted.trees, TEST.trees)


def test_a_parser_learns_trees(encoder: Path) -> None:
    predicted = train_one(config_of(encoder, task="trees"), TRAIN, TUNE, 1).predict(TEST)
    assert np.mean(predicted.trees == TEST.trees) > 0.96
    relations = zip(predicted.column("deprel").strings(), TEST.column("deprel").strings(), strict=True)
    assert np.mean([a == b for a, b in relations]) > 0.96
    assert predicted.column("upos").strings() == TEST.column("upos").strings()


@pytest.mark.parametrize("task", ["tags", "trees"])
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(encoder: Path, task: str) -> None:
    config = config_of(encoder, task=task, epochs=2, drop=0.3)
    models = [train_one(config, TRAIN, TUNE, seed) for seed in (1, 1, 2)]
    losses = [model.progress.losses for model in models]
    assert losses[0] == losses[1] != losses[2]
    first, second, _ = (to_bytes(model.predict(TEST)) for model in models)
    assert first == second


def test_training_leaves_the_random_numbers_of_torch_alone(encoder: Path) -> None:
    before = torch.get_rng_state(), torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    train_one(config_of(encoder, epochs=1), TRAIN, None, 1)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:] == (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())


@pytest.mark.parametrize("task", ["tags", "trees"])
def test_a_training_that_was_killed_goes_on_and_ends_as_if_it_had_not_been(
    encoder: Path, tmp_path: Path, task: str
) -> None:
    corpus, job = whole()
    job = replace(job, config=config_of(encoder, task=task, epochs=4, drop=0.3))
    ((_, expected),) = train_jobs(corpus, [job])
    with pytest.raises(Killed):
        list(train_jobs(corpus, [job], killed_in_epoch(3)))
    (folder,) = checkpoints(tmp_path)
    assert {path.name for path in folder.iterdir()} >= {"state.safetensors"}
    epochs: list[int] = []
    ((_, result),) = train_jobs(corpus, [job], lambda epoch, _: epochs.append(epoch))
    assert set(epochs) == {3, 4}
    assert (result.curve, result.losses, result.epoch) == (expected.curve, expected.losses, expected.epoch)
    for part, predicted in result.predictions.items():
        assert to_bytes(predicted) == to_bytes(expected.predictions[part])
    assert checkpoints(tmp_path) == []


def test_a_training_that_is_finished_but_not_yet_used_is_not_repeated(encoder: Path, tmp_path: Path) -> None:
    corpus, job = whole()
    job = replace(job, config=config_of(encoder, epochs=2))
    results = train_jobs(corpus, [job])
    _, first = next(results)
    assert len(checkpoints(tmp_path)) == 1
    results.close()  # type: ignore[attr-defined]
    steps: list[int] = []
    ((_, again),) = train_jobs(corpus, [job], lambda epoch, _: steps.append(epoch))
    assert steps == []
    assert to_bytes(again.predictions["test"]) == to_bytes(first.predictions["test"])


@pytest.mark.parametrize("change", [{"seed": 4}, {"config": {"rate": 1e-3}}, {"labels": True}], ids=str)
def test_a_checkpoint_of_another_training_is_not_used(encoder: Path, change: dict[str, Any]) -> None:
    corpus, job = whole()
    job = replace(job, config=config_of(encoder, epochs=3))
    with pytest.raises(Killed):
        list(train_jobs(corpus, [job], killed_in_epoch(3)))
    if "labels" in change:
        corpus = concatenate([corpus_of(120, 9), TUNE, TEST])
    job = replace(job, seed=change.get("seed", job.seed), config=replace(job.config, **change.get("config", {})))
    epochs: list[int] = []
    list(train_jobs(corpus, [job], lambda epoch, _: epochs.append(epoch)))
    assert epochs[0] == 1


def test_a_damaged_checkpoint_is_not_used(encoder: Path, tmp_path: Path) -> None:
    corpus, job = whole()
    job = replace(job, config=config_of(encoder, epochs=3))
    with pytest.raises(Killed):
        list(train_jobs(corpus, [job], killed_in_epoch(3)))
    (folder,) = checkpoints(tmp_path)
    state = folder / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-100])
    epochs: list[int] = []
    list(train_jobs(corpus, [job], lambda epoch, _: epochs.append(epoch)))
    assert epochs[0] == 1


def test_without_a_cache_training_goes_on(encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "file" / "cache")
    assert train_one(config_of(encoder, epochs=1), TRAIN, TUNE, 1).progress.epoch == 1


def test_the_best_epoch_is_kept_and_patience_ends_training(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.5, 0.9, 0.8, 0.8, 0.8])
    weights: list[Any] = []

    def score(self: Targets, *_: object) -> float:
        return next(scores)

    saved = Checkpoint.save

    def save(self: Checkpoint, progress: Any, state: Any, best: Any) -> None:
        weights.append({name: value.clone() for name, value in state.items()})
        saved(self, progress, state, best)

    monkeypatch.setattr(Targets, "score", score)
    monkeypatch.setattr(Checkpoint, "save", save)
    model = train_one(config_of(encoder, epochs=9, patience=2), TRAIN, TUNE, 1)
    assert (model.progress.best_epoch, model.progress.epoch) == (2, 4)
    for name, value in model.training.network.weights().items():
        assert torch.equal(value, weights[1][f"weight/{name}"])
    assert any(not torch.equal(weights[1][name], weights[3][name]) for name in weights[1])


def test_without_tune_the_last_epoch_is_kept(encoder: Path) -> None:
    model = train_one(config_of(encoder, epochs=3, patience=1), TRAIN, None, 1)
    assert (model.progress.best_epoch, model.progress.epoch) == (3, 3)
    assert all(math.isnan(score) for score in model.progress.curve)


def test_a_loss_that_is_no_number_fails_in_one_line(encoder: Path) -> None:
    corpus, job = whole()
    job = replace(job, config=config_of(encoder, rate=1e30, encoder_rate=1e30, warmup=0.0))
    ((_, result),) = train_jobs(corpus, [job])
    assert "loss is nan" in result.failed or "loss is inf" in result.failed
    assert result.predictions == {}
    with pytest.raises(InputError, match="expected a smaller rate"):
        train_one(job.config, TRAIN, TUNE, 1)


def test_too_little_memory_fails_in_one_line(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Training, "run", run)
    corpus, job = whole()
    ((_, result),) = train_jobs(corpus, [replace(job, config=config_of(encoder))])
    assert "too little memory" in result.failed
    with pytest.raises(InputError, match="too little memory"):
        train_one(config_of(encoder), TRAIN, TUNE, 1)


def training_of(config: FinetuningConfig) -> Training:
    return Training.of(config, [TRAIN], np.arange(TRAIN.sentences), None, 1)


def test_encoder_and_head_have_learning_rates_of_their_own(encoder: Path) -> None:
    config = config_of(encoder, encoder_rate=1e-4, rate=1e-2, weight_decay=0.1)
    with reproducible(config, torch.device("cpu")):
        training = training_of(config)
    rates = {id(w): (g["rate"], g["weight_decay"]) for g in training.network.parameter_groups() for w in g["params"]}
    assert len(rates) == len(list(training.network.parameters()))
    for name, weight in training.network.named_parameters():
        rate = 1e-4 if name.startswith("encoder.") else 1e-2
        assert rates[id(weight)] == (rate, 0.1 if weight.ndim > 1 else 0.0)


def test_gradients_are_clipped_to_the_norm(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    norms: list[float] = []
    step = torch.optim.AdamW.step

    def spied(self: Any, *args: Any) -> Any:
        squares = [float((w.grad**2).sum()) for g in self.param_groups for w in g["params"] if w.grad is not None]
        norms.append(sum(squares) ** 0.5)
        return step(self, *args)

    monkeypatch.setattr(torch.optim.AdamW, "step", spied)
    train_one(config_of(encoder, epochs=1, norm=0.01), TRAIN, None, 1)
    assert max(norms) < 0.0101
    train_one(config_of(encoder, epochs=1, norm=0.0), TRAIN, None, 1)
    assert max(norms) > 0.1


def test_half_precision_learns_too(encoder: Path) -> None:
    model = train_one(config_of(encoder, precision="bfloat16"), TRAIN, TUNE, 1)
    assert model.progress.best > 0.95
    exact = train_one(config_of(encoder, precision="float32"), TRAIN, TUNE, 1)
    assert model.progress.losses != exact.progress.losses


def test_a_label_that_only_tune_has_is_never_predicted(encoder: Path) -> None:
    train = corpus_of(40, 1)
    text = to_bytes(TUNE).decode().replace("\tADJ\t", "\tNEW\t")
    from deadheat.corpus import read

    model = train_one(config_of(encoder, epochs=1), train, read(text=text), 1)
    assert "NEW" in model.training.targets.names.names
    assert "NEW" not in model.predict(TEST).column("upos").strings()
