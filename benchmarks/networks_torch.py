"""The same tagger in PyTorch: its own LSTM (cuDNN's on a GPU), a random field that loops over words. To compare with.

It lacks the dropout of recurrent units, which PyTorch's LSTM does not know, and does not take rare words for unknown:
it does a little less. What all networks in PyTorch need stands here too: the layers, training, and batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deadheat.corpus.vocabulary import Indices
from deadheat.neural import batches
from deadheat.neural.config import CASES, Shape
from deadheat.neural.text import LONGEST_WORD, Encoding

DROP, RATE, NORM = 0.25, 0.002, 1.0


class Layers(nn.Module):
    """Bidirectional LSTMs, one above the other; what enters the first and what each gives is dropped."""

    def __init__(self, shape: Shape, drop: float, *, packed: bool) -> None:
        super().__init__()
        self.drop, self.packed = drop, packed
        sizes = [shape.inputs, *(2 * units for units in shape.units)]
        self.layers = nn.ModuleList(
            nn.LSTM(size, units, batch_first=True, bidirectional=True)
            for size, units in zip(sizes, shape.units, strict=False)
        )
        self.outputs = sizes[-1]

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        longest = x.shape[1]
        known = lengths.cpu() if self.packed else lengths
        x = self.dropped(x)
        for layer in self.layers:
            if self.packed:
                packed = nn.utils.rnn.pack_padded_sequence(x, known, batch_first=True, enforce_sorted=False)
                x, _ = nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=longest)
            else:  # quicker, though the way back then begins in the padding
                x, _ = layer(x)
            x = self.dropped(x)
        return x

    def dropped(self, x: Tensor) -> Tensor:
        """The same part is dropped in the whole sentence."""
        if not self.training:
            return x
        return x * nn.functional.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), self.drop)


class Tagger(nn.Module):
    """Words, casing and characters into two BiLSTM layers and a random field."""

    def __init__(self, shape: Shape, encoding: Encoding, *, packed: bool) -> None:
        super().__init__()
        self.words = nn.Embedding(len(encoding.words), shape.word_size)
        self.cases = nn.Embedding(CASES, shape.case_size)
        self.characters = nn.Embedding(len(encoding.characters) + 1, shape.character_size, padding_idx=0)
        self.filters = nn.Conv1d(shape.character_size, shape.filters, shape.width, padding=shape.width // 2)
        self.layers = Layers(shape, DROP, packed=packed)
        labels = len(encoding.labels)
        self.output = nn.Linear(self.layers.outputs, labels)
        self.moves = nn.Parameter(torch.zeros(labels, labels))
        self.first, self.last = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))

    def forward(self, words: Tensor, cases: Tensor, spellings: Tensor, lengths: Tensor, gold: Tensor) -> Tensor:
        sentences, longest = words.shape
        letters = self.characters(spellings.view(-1, LONGEST_WORD)).transpose(1, 2)
        shapes = self.filters(letters).amax(dim=2).view(sentences, longest, -1)
        x = self.layers(torch.cat([self.words(words), self.cases(cases), shapes], dim=2), lengths)
        return self.unlikely(self.output(x), lengths, gold) / lengths.sum()

    def unlikely(self, scores: Tensor, lengths: Tensor, gold: Tensor) -> Tensor:
        reached = self.first + scores[:, 0]
        inside = torch.arange(scores.shape[1], device=scores.device) < lengths[:, None]
        for at in range(1, scores.shape[1]):
            new = torch.logsumexp(reached[:, :, None] + self.moves, dim=1) + scores[:, at]
            reached = torch.where(inside[:, at, None], new, reached)
        total = torch.logsumexp(reached + self.last, dim=1)
        emitted = (scores.gather(2, gold[:, :, None])[:, :, 0] * inside).sum(1)
        moved = (self.moves[gold[:, :-1], gold[:, 1:]] * inside[:, 1:]).sum(1)
        end = gold.gather(1, (lengths - 1)[:, None])[:, 0]
        return (total - emitted - moved - self.first[gold[:, 0]] - self.last[end]).sum()


class Training:
    """One network, and the batches of an epoch where it trains."""

    warm: int | None = 10

    def __init__(
        self,
        model: nn.Module,
        optimizer: Callable[..., torch.optim.Optimizer],
        norm: float,
        steps: Sequence[Sequence[NDArray[Any]]],
    ) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self.device.type == "cuda":
            torch.set_float32_matmul_precision("high")  # products as our programs have them there
        self.model = model.to(self.device)
        self.optimizer, self.norm = optimizer(self.model.parameters()), norm
        self.batches = [[torch.as_tensor(part, device=self.device) for part in step] for step in steps]

    def epoch(self, most: int | None = None) -> float:
        """Train on all batches, or on the first few; the mean loss."""
        losses = [self.step(batch) for batch in self.batches[:most]]
        return float(torch.stack(losses).mean())

    def step(self, batch: list[Tensor]) -> Tensor:
        """One update; its loss."""
        self.optimizer.zero_grad(set_to_none=True)
        loss: Tensor = self.model(*batch)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), self.norm)
        self.optimizer.step()
        return loss.detach()


class GraphTraining(Training):
    """Whole updates as CUDA graphs, one for each size of a batch: nothing is launched operation by operation."""

    warm = None  # steps before the clock starts: an epoch, in which graphs are captured

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.graphs: dict[Any, Any] = {}

    def step(self, batch: list[Tensor]) -> Tensor:
        """One update; its loss."""
        sizes = tuple(part.shape for part in batch)
        if sizes not in self.graphs:
            self.graphs[sizes] = self.capture([part.clone() for part in batch])
        graph, inputs, loss = self.graphs[sizes]
        for part, given in zip(inputs, batch, strict=True):
            part.copy_(given)
        graph.replay()
        return loss.clone()

    def capture(self, inputs: list[Tensor]) -> tuple[Any, list[Tensor], Tensor]:
        """The graph of an update, its inputs and its loss; as PyTorch asks, the update runs before it is captured."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.update(inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self.update(inputs)
        return graph, inputs, loss

    def update(self, inputs: list[Tensor]) -> Tensor:
        self.optimizer.zero_grad(set_to_none=False)
        loss: Tensor = self.model(*inputs)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), self.norm)
        self.optimizer.step()
        return loss.detach()


def train_tagger(
    encoding: Encoding, shape: Shape, groups: dict[int, Indices], *, packed: bool, graphs: bool = False
) -> Training:
    """A tagger, ready to train on the batches of one epoch."""
    model = Tagger(shape, encoding, packed=packed)
    arrays = {name: np.asarray(each) for name, each in encoding.arrays.items()}
    steps = []
    for places, lengths in batches_of(arrays, groups, shape.batch):
        codes = [whole(arrays[name][places]) for name in ("words", "cases")]
        steps.append([*codes, spelled_at(arrays, places), whole(lengths), whole(arrays["labels"][places])])
    if graphs:
        return GraphTraining(model, lambda weights: torch.optim.NAdam(weights, lr=RATE, capturable=True), NORM, steps)
    return Training(model, lambda weights: torch.optim.NAdam(weights, lr=RATE), NORM, steps)


def batches_of(
    arrays: Mapping[str, NDArray[Any]], groups: dict[int, Indices], size: int
) -> Iterator[tuple[Indices, NDArray[np.integer]]]:
    """Where the words of every batch of an epoch stand, 0 behind the end of a sentence, and how long sentences are."""
    for slot, rows in batches.epoch_batches(groups, size, 0, 0).items():
        rows = rows[rows >= 0]
        lengths = arrays["lengths"][rows]
        at = np.arange(slot.words)
        yield np.where(at < lengths[:, None], arrays["starts"][rows][:, None] + at, 0), lengths


def spelled_at(arrays: Mapping[str, NDArray[Any]], places: Indices) -> NDArray[np.int64]:
    """The characters of words, counted from 1: 0 is none."""
    return whole(arrays["spellings"][arrays["forms"][places]] + 1)


def whole(values: NDArray[Any]) -> NDArray[np.int64]:
    """HyperParams as PyTorch takes them to look rows up."""
    return np.asarray(values, np.int64)


def timed(training: Training, epochs: int) -> float:
    """Seconds of so many epochs of one network, after a few steps to warm up."""
    training.epoch(training.warm)  # waits for the device, as it gives a number
    began = time.perf_counter()
    for _ in range(epochs):
        training.epoch()
    return time.perf_counter() - began
