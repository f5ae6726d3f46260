"""The biaffine parser in PyTorch: its own LSTM (cuDNN's on a GPU), everything else in whole batches. To compare with.

It computes what `biaffine.v1` does by default (`python -m benchmarks.parsers_cpu --check` compares losses and
gradients): outputs of layers are dropped, recurrent units are not, which PyTorch's LSTM does not know.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.networks_torch import Layers, Training, batches_of, spelled_at, whole
from deadheat.corpus.vocabulary import Indices
from deadheat.neural import batches
from deadheat.neural.config import AttentionShape, HyperParams, ParserConfig
from deadheat.neural.text import LONGEST_WORD, UNKNOWN, Encoding

FORBIDDEN, LEAK = -1e9, 0.1
NO_WORD = -100  # gold behind the end of a sentence: PyTorch's loss leaves it out


class Parser(nn.Module):
    """Words, characters and tags into BiLSTM layers, whose states score each other as heads."""

    def __init__(self, shape: AttentionShape, hyper: HyperParams, encoding: Encoding, *, packed: bool) -> None:
        super().__init__()
        self.replaced, self.omitted = float(hyper.replaced), float(hyper.omitted)
        self.words = nn.Embedding(len(encoding.words), shape.word_size)
        self.characters = nn.Embedding(len(encoding.characters) + 1, shape.character_size, padding_idx=0)
        self.filters = nn.Conv1d(shape.character_size, shape.filters, shape.width, padding=shape.width // 2)
        self.tags = nn.Embedding(len(encoding.tags), shape.tag_size)
        self.root = nn.Parameter(torch.zeros(shape.inputs))
        self.layers = Layers(shape, float(hyper.drop), packed=packed)
        self.sizes = [shape.arc_size, shape.arc_size, shape.relation_size, shape.relation_size]
        self.views = nn.Linear(self.layers.outputs, sum(self.sizes))  # all four at once
        self.arcs = nn.Linear(shape.arc_size, shape.arc_size)  # the bias stands for the one behind a dependent
        side = shape.relation_size + 1
        self.relations = nn.Parameter(torch.zeros(len(encoding.labels), side, side))
        nn.init.zeros_(self.arcs.weight)
        nn.init.zeros_(self.arcs.bias)

    def forward(
        self, words: Tensor, rare: Tensor, spellings: Tensor, tags: Tensor, lengths: Tensor, heads: Tensor, gold: Tensor
    ) -> Tensor:
        x = self.word_vectors(words, rare, spellings, tags)
        root = self.root.expand(len(x), 1, -1)
        states = self.layers(torch.cat([root, x], dim=1), lengths + 1)
        seen = self.layers.dropped(nn.functional.leaky_relu(self.views(states), LEAK))
        dependents, governors, related, relating = torch.split(seen, self.sizes, dim=2)
        arcs = self.arc_scores(dependents, governors, lengths)
        relations = self.relation_scores(related[:, 1:], relating, heads.clamp(min=0))
        of_heads = nn.functional.cross_entropy(arcs.flatten(0, 1), heads.flatten(), ignore_index=NO_WORD)
        return of_heads + nn.functional.cross_entropy(relations.flatten(0, 1), gold.flatten(), ignore_index=NO_WORD)

    def word_vectors(self, words: Tensor, rare: Tensor, spellings: Tensor, tags: Tensor) -> Tensor:
        if self.training:
            words = words.masked_fill(rare & (torch.rand(words.shape, device=words.device) < self.replaced), UNKNOWN)
        spellings = spellings.view(-1, LONGEST_WORD)
        shapes = self.filters(self.characters(spellings).transpose(1, 2))
        shapes = shapes.masked_fill((spellings == 0)[:, None], FORBIDDEN).amax(dim=2).view(*words.shape, -1)
        parts = [self.words(words), shapes, self.tags(tags)]
        if self.training and self.omitted:
            there = torch.rand((len(parts), *words.shape, 1), device=words.device) >= self.omitted
            scale = there * (len(parts) / there.sum(dim=0).clamp(min=1))
            parts = [part * own for part, own in zip(parts, scale, strict=True)]
        return torch.cat(parts, dim=2)

    def arc_scores(self, dependents: Tensor, governors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of the heads of all words, without the root as a dependent."""
        scores = torch.bmm(self.arcs(dependents[:, 1:]), governors.transpose(1, 2))
        places = torch.arange(scores.shape[2], device=scores.device)
        forbidden = (places > lengths[:, None])[:, None] | (places[1:, None] == places)
        return scores.masked_fill(forbidden, FORBIDDEN)

    def relation_scores(self, dependents: Tensor, governors: Tensor, heads: Tensor) -> Tensor:
        """Scores of all relations of each word to its gold head: one product for all, then sums."""
        governors = governors.gather(1, heads[:, :, None].expand(-1, -1, governors.shape[2]))
        one = dependents.new_ones(*heads.shape, 1)
        weights = self.relations.transpose(0, 1).flatten(1)
        met = (torch.cat([dependents, one], dim=2) @ weights).view(*heads.shape, len(self.relations), -1)
        return (met * torch.cat([governors, one], dim=2)[:, :, None]).sum(dim=3)


def train_parser(config: ParserConfig, encoding: Encoding, train: Indices, *, packed: bool) -> Training:
    """A parser, ready to train on the batches of one epoch."""
    shape, hyper = config.shape, config.hyper
    assert isinstance(shape, AttentionShape)
    lengths = np.asarray(encoding.arrays["lengths"])
    groups = batches.group_by_length(lengths, train, shape.batch)
    model = Parser(shape, hyper, encoding, packed=packed)
    adam = partial(torch.optim.Adam, lr=float(hyper.rate), fused=True)
    return Training(model, adam, float(hyper.norm), steps_of(encoding, train, groups, shape.batch))


def steps_of(
    encoding: Encoding, train: Indices, groups: dict[int, Indices], size: int
) -> list[list[NDArray[np.generic]]]:
    """What `Parser` takes, batch by batch."""
    arrays = {name: np.asarray(each) for name, each in (*encoding.arrays.items(), *encoding.extra.items())}
    once = encoding.knowledge([train])["train_counts"][0] == 1
    steps: list[list[NDArray[np.generic]]] = []
    for places, lengths in batches_of(arrays, groups, size):
        words = whole(arrays["words"][places])
        inside = np.arange(places.shape[1]) < lengths[:, None]
        gold = [whole(np.where(inside, arrays[name][places], NO_WORD)) for name in ("heads", "labels")]
        tags = whole(arrays["tags"][places])
        steps.append([words, once[words], spelled_at(arrays, places), tags, whole(lengths), *gold])
    return steps


def named_weights(weights: dict[str, Any], model: Parser) -> dict[str, Tensor]:
    """Our weights, or what is like them (their gradients), under the names and in the form of PyTorch's.

    An LSTM of PyTorch's has two biases of which only the sum matters: the second is left out.
    """
    ours = {
        "words.weight": weights["words"],
        "characters.weight": np.pad(weights["characters"]["table"], ((1, 0), (0, 0))),
        "filters.weight": np.transpose(weights["characters"]["filters"], (2, 1, 0)),
        "filters.bias": weights["characters"]["bias"],
        "tags.weight": weights["tags"],
        "root": weights["root"],
        "views.weight": np.concatenate([np.transpose(weight) for weight, _ in weights["views"]]),
        "views.bias": np.concatenate([bias for _, bias in weights["views"]]),
        "arcs.weight": np.transpose(weights["arcs"][:-1]),
        "arcs.bias": weights["arcs"][-1],
        "relations": weights["relations"],
    }
    for at in range(len(model.layers.layers)):
        layer = weights[f"layer{at}"]
        for way, suffix in enumerate(("", "_reverse")):
            name = f"layers.layers.{at}.{{}}_l0{suffix}"
            ours[name.format("weight_ih")] = np.transpose(layer.inputs[way])
            ours[name.format("weight_hh")] = np.transpose(layer.recurrent[way])
            ours[name.format("bias_ih")] = layer.bias[way]
    sizes = {name: len(own) for name, own in model.named_parameters()}  # our tables are filled up
    return {name: torch.tensor(np.asarray(own)[: sizes[name]]) for name, own in ours.items()}


def loss_and_slopes(
    config: ParserConfig, encoding: Encoding, weights: dict[str, Any], step: list[NDArray[np.generic]]
) -> tuple[float, dict[str, Tensor]]:
    """The loss of a parser with our weights on one batch, and the gradient of each, without dropout."""
    assert isinstance(config.shape, AttentionShape)
    model = Parser(config.shape, config.hyper, encoding, packed=True).eval()
    given = named_weights(weights, model)
    unused = {name: torch.zeros_like(own) for name, own in model.named_parameters() if name not in given}
    model.load_state_dict(given | unused)
    loss = model(*map(torch.as_tensor, step))
    loss.backward()
    return float(loss.detach()), {name: own.grad for name, own in model.named_parameters() if own.grad is not None}
