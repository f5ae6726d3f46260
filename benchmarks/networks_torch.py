"""The same tagger in PyTorch: its own LSTM (cuDNN's on a GPU), a random field that loops over words. To compare with.

It lacks the dropout of recurrent units, which PyTorch's LSTM does not know, and does not take rare words for unknown:
it does a little less.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from torch import Tensor, nn

from deadheat.neural import batches
from deadheat.neural.shape import CASES, Shape
from deadheat.neural.text import LONGEST_WORD, Encoding

DROP, RATE, NORM = 0.25, 0.002, 1.0


class Tagger(nn.Module):
    """Words, casing and characters into two BiLSTM layers and a random field."""

    def __init__(self, shape: Shape, encoding: Encoding, *, packed: bool) -> None:
        super().__init__()
        self.packed = packed
        self.words = nn.Embedding(len(encoding.words), shape.word_size)
        self.cases = nn.Embedding(CASES, shape.case_size)
        self.characters = nn.Embedding(len(encoding.characters) + 1, shape.character_size, padding_idx=0)
        self.filters = nn.Conv1d(shape.character_size, shape.filters, shape.width, padding=shape.width // 2)
        sizes = [shape.inputs, *(2 * units for units in shape.units)]
        self.layers = nn.ModuleList(
            nn.LSTM(size, units, batch_first=True, bidirectional=True)
            for size, units in zip(sizes, shape.units, strict=False)
        )
        labels = len(encoding.labels)
        self.output = nn.Linear(sizes[-1], labels)
        self.moves = nn.Parameter(torch.zeros(labels, labels))
        self.first, self.last = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))

    def dropped(self, x: Tensor) -> Tensor:
        keep = 1 - DROP
        return x * torch.bernoulli(torch.full((x.shape[0], 1, x.shape[2]), keep, device=x.device)) / keep

    def forward(self, words: Tensor, cases: Tensor, spelled: Tensor, lengths: Tensor, gold: Tensor) -> Tensor:
        sentences, longest = words.shape
        letters = self.characters(spelled.view(-1, LONGEST_WORD)).transpose(1, 2)
        shapes = self.filters(letters).amax(dim=2).view(sentences, longest, -1)
        x = self.dropped(torch.cat([self.words(words), self.cases(cases), shapes], dim=2))
        for layer in self.layers:
            if self.packed:
                packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
                x, _ = nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=longest)
            else:  # quicker, though the way back then begins in the padding
                x, _ = layer(x)
            x = self.dropped(x)
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

    def __init__(self, encoding: Encoding, shape: Shape, groups: dict[int, batches.Indices], *, packed: bool) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Tagger(shape, encoding, packed=packed).to(self.device)
        self.optimizer = torch.optim.NAdam(self.model.parameters(), lr=RATE)
        arrays = {name: np.asarray(each) for name, each in encoding.arrays.items()}
        self.batches = []
        for slot, rows in batches.epoch(groups, shape.batch, 0, 0).items():
            rows = rows[rows >= 0]
            lengths = arrays["lengths"][rows]
            at = np.arange(slot.words)
            places = np.where(at < lengths[:, None], arrays["starts"][rows][:, None] + at, 0)
            spelled = arrays["spelled"][arrays["forms"][places]] + 1
            parts = (arrays["words"][places], arrays["cases"][places], spelled, lengths, arrays["labels"][places])
            self.batches.append([torch.as_tensor(np.asarray(each, np.int64), device=self.device) for each in parts])

    def epoch(self, most: int | None = None) -> float:
        """Train on all batches, or on the first few; the mean loss."""
        losses = [self.step(batch) for batch in self.batches[:most]]
        return float(torch.stack(losses).mean())

    def step(self, batch: list[Tensor]) -> Tensor:
        """One update; its loss."""
        self.optimizer.zero_grad(set_to_none=True)
        loss: Tensor = self.model(*batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), NORM)
        self.optimizer.step()
        return loss.detach()


def train_epochs(
    encoding: Encoding, shape: Shape, groups: dict[int, batches.Indices], epochs: int, *, packed: bool
) -> float:
    """Seconds of so many epochs of one network, after a few steps to warm up: CPU seconds on a CPU."""
    training = Training(encoding, shape, groups, packed=packed)
    clock = time.perf_counter if training.device.type == "cuda" else time.process_time
    training.epoch(10)  # waits for the device, as it gives a number
    began = clock()
    for _ in range(epochs):
        training.epoch()
    return clock() - began
