"""Fine-tune networks, one at a time: one that labels any corpus, or several that label parts of the corpus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from deadheat.corpus import Corpus, take
from deadheat.corpus.vocabulary import Indices
from deadheat.encoders.folder import check_folder, find_folder, hash_folder
from deadheat.encoders.pieces import PieceText, Tokenizer
from deadheat.errors import InputError
from deadheat.finetuning.batches import training_batches
from deadheat.finetuning.checkpoints import Checkpoint, checkpoint_key, open_checkpoint
from deadheat.finetuning.config import FinetuningConfig, slanted_triangle
from deadheat.finetuning.devices import find_device, reproducible, uses_bfloat16
from deadheat.finetuning.network import Network, check_pieces, load_encoder, longest_input, predict
from deadheat.finetuning.rows import piece_counts
from deadheat.finetuning.targets import Targets
from deadheat.neural.config import OnStep, TrainJob, TrainResult
from deadheat.neural.labels import Predicted
from deadheat.version import __version__

BETAS = (0.9, 0.99)
NO_MEMORY = "the device has too little memory; expected a smaller batch or encoder"


@dataclass(slots=True, eq=False)
class Progress:
    """How far a training has come."""

    epoch: int = 0
    updates: int = 0
    best_epoch: int = 0
    best: float = -math.inf
    curve: list[float] = field(default_factory=list)  # scores on tune, epoch by epoch
    losses: list[float] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def finished(self, config: FinetuningConfig) -> bool:
        """Whether all epochs are done, too many have brought no better score, or training has failed."""
        tuned = any(not math.isnan(score) for score in self.curve)
        waited = tuned and self.epoch - self.best_epoch >= config.schedule.patience
        return self.epoch >= config.schedule.epochs or waited or bool(self.failed)

    @property
    def failed(self) -> str:
        loss = self.losses[-1] if self.losses else 0.0
        return "" if math.isfinite(loss) else f"its loss is {loss} in epoch {self.epoch}"

    def add(self, loss: float, score: float) -> bool:
        """Count an epoch; whether it is the best so far, as the last one is without scores."""
        self.epoch += 1
        self.losses.append(loss)
        self.curve.append(score)
        better = math.isnan(score) or score > self.best
        if better:
            self.best, self.best_epoch = (self.best if math.isnan(score) else score), self.epoch
        return better


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """One network in training, on the CPU or a GPU."""

    config: FinetuningConfig
    seed: int
    network: Network
    tokenizer: Tokenizer
    text: PieceText
    targets: Targets
    train: Indices
    tune: Indices | None

    @classmethod
    def of(
        cls, config: FinetuningConfig, corpora: Sequence[Corpus], train: Indices, tune: Indices | None, seed: int
    ) -> Training:
        """A network with its initial weights: those of the encoder, and random ones of the head."""
        folder = find_folder(config.encoder)
        check_folder(folder)
        targets = Targets.of(config, corpora, train, tune)
        encoder = load_encoder(folder)
        tokenizer = Tokenizer.of(folder, longest_input(encoder))
        torch.manual_seed(_torch_seed(seed, 0))
        network = Network(config, encoder, torch.as_tensor(targets.known)).to(find_device())
        text = tokenizer.encode(corpora)
        check_pieces(text, encoder, folder)
        return cls(config, seed, network, tokenizer, text, targets, train, tune)

    def run(self, checkpoint: Checkpoint, on_step: OnStep | None = None) -> Progress:
        """Train from the checkpoint on; the network then has the weights of its best epoch."""
        optimizer = torch.optim.AdamW(self.network.parameter_groups(), betas=BETAS, fused=True)
        progress, best = Progress(), None
        if (saved := checkpoint.load()) is not None:
            progress, best = Progress(**saved[0]), saved[2]
            self._restore(optimizer, saved[1])
        updates = len(self._batches(0)) * self.config.schedule.epochs
        while not progress.finished(self.config):
            loss = self._run_epoch(optimizer, progress, updates, on_step)
            score = math.nan if self.tune is None else self.targets.score(self.predict(self.tune), self.tune)
            better = progress.add(loss, score)
            if better or best is None:
                best = {name: weight.cpu().clone() for name, weight in self.network.weights().items()}
            if not progress.failed:
                checkpoint.save(progress.to_dict(), self._state(optimizer), best if better else None)
        assert best is not None
        self.network.set_weights(best)
        return progress

    def predict(self, sentences: Indices) -> Predicted:
        """Predictions for the words of some sentences."""
        return predict(self.network, self.text, self.tokenizer, sentences)

    def _batches(self, epoch: int) -> list[Indices]:
        return training_batches(piece_counts(self.text, self.train), self.config.batch, self.seed & 0xFFFFFFFF, epoch)

    def _run_epoch(
        self, optimizer: torch.optim.AdamW, progress: Progress, updates: int, on_step: OnStep | None
    ) -> float:
        """One pass over the training sentences; returns the mean loss. An epoch has random numbers of its own."""
        torch.manual_seed(_torch_seed(self.seed, progress.epoch + 1))
        self.network.train()
        losses = []
        for batch in self._batches(progress.epoch):
            if on_step is not None:
                on_step(progress.epoch + 1, self.config.schedule.epochs)
            share = slanted_triangle(progress.updates, updates, self.config.warmup)
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * share
            losses.append(self._update(optimizer, self.train[batch]))
            progress.updates += 1
        return float(torch.stack(losses).mean())

    def _update(self, optimizer: torch.optim.AdamW, sentences: Indices) -> Any:
        vectors, lengths = self.network.vectors(self.text, self.tokenizer, sentences)
        gold = {
            name: torch.as_tensor(rows, device=vectors.device) for name, rows in self.targets.gold(sentences).items()
        }
        loss = self.network.head.loss(vectors, lengths, gold)
        optimizer.zero_grad()
        loss.backward()
        if self.config.norm:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.norm)
        optimizer.step()
        return loss.detach()

    def _state(self, optimizer: torch.optim.AdamW) -> dict[str, Any]:
        """Weights, and what the optimizer keeps for each."""
        names = {weight: name for name, weight in self.network.named_parameters()}
        moments = {
            f"{kind}/{names[weight]}": value
            for weight, state in optimizer.state.items() for kind, value in state.items()
        }  # fmt: skip
        return {**{f"weight/{name}": weight for name, weight in self.network.weights().items()}, **moments}

    def _restore(self, optimizer: torch.optim.AdamW, state: dict[str, Any]) -> None:
        parts = {name: dict[str, Any]() for name, _ in self.network.named_parameters()}
        for key, value in state.items():
            kind, _, name = key.partition("/")
            parts[name][kind] = value.to(self.network.device)
        self.network.set_weights({name: kinds.pop("weight") for name, kinds in parts.items()})
        for name, weight in self.network.named_parameters():
            if parts[name]:
                optimizer.state[weight] = parts[name]

    def key(self) -> str:
        """The name of the training's checkpoint."""
        device = self.network.device.type
        precision = "bfloat16" if uses_bfloat16(self.config, device=self.network.device) else "float32"
        digest = hash_folder(find_folder(self.config.encoder))
        facts = (__version__, torch.__version__, device, precision, digest, repr(self.config), repr(self.seed))
        text, targets = self.text, self.targets
        arrays = (self.train, self.tune, text.pieces, text.bounds, text.offsets, targets.labels.codes, targets.heads)
        return checkpoint_key([
            *(fact.encode() for fact in facts), "\0".join(targets.names.names).encode(),
            *(b"-" if array is None else np.ascontiguousarray(array).tobytes() for array in arrays),
        ])  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A fine-tuned network; it labels any corpus."""

    training: Training
    progress: Progress

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the network's labels."""
        training = self.training
        if not training.config.parses:
            corpus.column(training.config.column)
        text = training.tokenizer.encode([corpus])
        with reproducible(training.config, training.network.device):
            labels = predict(training.network, text, training.tokenizer, np.arange(corpus.sentences))
        return training.targets.write(corpus, labels)


def train_one(config: FinetuningConfig, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """Train a network; tune, where there is one, picks the epoch."""
    corpora = [train, tune] if tune is not None and tune.words else [train]
    ends = np.cumsum([corpus.sentences for corpus in corpora])
    tunes = np.arange(ends[0], ends[1]) if len(corpora) > 1 else None
    with reproducible(config, find_device()):
        training = Training.of(config, corpora, with_words(train, np.arange(ends[0])), tunes, seed)
        try:
            with open_checkpoint(training.key()) as checkpoint:
                progress = training.run(checkpoint)
                checkpoint.remove()
        except torch.OutOfMemoryError as error:
            raise InputError(f"{train.name}: training failed, {NO_MEMORY}") from error
    if progress.failed:
        raise InputError(f"{train.name}: training failed, {progress.failed}; expected a smaller rate or a norm")
    return Model(training, progress)


def train_jobs(
    corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
) -> Iterator[tuple[int, TrainResult]]:
    """Train networks that label parts of the corpus they learn from; yields the index of each job and its result."""
    for number, job in enumerate(jobs):
        with reproducible(job.config, find_device()):
            yield from ((number, result) for result in _train_job(corpus, job, on_step))


def _train_job(corpus: Corpus, job: TrainJob, on_step: OnStep | None) -> Iterator[TrainResult]:
    """One network; its checkpoint is deleted once its result has been received."""
    tune = None if job.tune is None or not len(job.tune) else np.sort(job.tune)
    try:
        training = Training.of(job.config, [corpus], with_words(corpus, np.sort(job.train)), tune, job.seed)
        with open_checkpoint(training.key()) as checkpoint:
            progress = training.run(checkpoint, on_step)
            predictions = {}
            for name, sentences in job.parts.items() if not progress.failed else ():
                labels = training.predict(np.sort(sentences))
                predictions[name] = training.targets.write(take(corpus, np.sort(sentences)), labels)
            score = progress.best if math.isfinite(progress.best) else math.nan
            yield TrainResult(
                predictions, progress.best_epoch, progress.epoch, score, tuple(progress.curve), tuple(progress.losses),
                progress.failed,
            )  # fmt: skip
            checkpoint.remove()
    except torch.OutOfMemoryError:
        yield TrainResult({}, 0, 0, math.nan, failed=NO_MEMORY)


def with_words(corpus: Corpus, sentences: Indices) -> Indices:
    """The sentences that are not empty; at least one."""
    usable = sentences[np.diff(corpus.offsets)[sentences] > 0]
    if not len(usable):
        raise InputError(f"{corpus.name}: no words in train; expected some to learn from")
    return usable


def _torch_seed(seed: int, epoch: int) -> int:
    """The seed of torch's random numbers in an epoch; those of the initial weights are number 0."""
    return int(
        np.random.SeedSequence(seed & 0xFFFFFFFFFFFFFFFF, spawn_key=(epoch,)).generate_state(1, np.uint64)[0]
        >> np.uint64(1)
    )
