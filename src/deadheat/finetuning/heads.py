"""What is put on an encoder: a tagger with a softmax or a random field, or a biaffine parser (Dozat & Manning 2017).

Shapes: B sentences, T words, H sizes of vectors, L labels; arcs are (B, T + 1, T + 1), dependent by head, with the root
as number 0. The names of weights are those of `deadheat.neural.attention`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from torch import nn

from deadheat.corpus.vocabulary import offsets_of
from deadheat.finetuning.config import FinetuningConfig
from deadheat.trees import best_projective_trees, best_trees

Tensor: TypeAlias = Any  # of torch, which need not be installed where types are checked

FORBIDDEN = -1e9
LEAK = 0.1  # slope of the leaky rectifier below 0


def inside(lengths: Tensor, words: int) -> Tensor:
    """Which positions are words, (B, T)."""
    return torch.arange(words, device=lengths.device) < lengths[:, None]


class TaggerHead(nn.Module):
    """Scores of labels; those that training has not seen are never predicted."""

    def __init__(self, config: FinetuningConfig, size: int, known: Tensor) -> None:
        super().__init__()
        labels = len(known)
        self.dropout = nn.Dropout(config.drop)
        self.output = nn.Linear(size, labels)
        self.register_buffer("mask", torch.where(known, 0.0, FORBIDDEN), persistent=False)
        self.field = config.classifier == "crf"
        if self.field:
            self.moves = nn.Parameter(torch.zeros(labels, labels))
            self.first, self.last = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))

    def forward(self, vectors: Tensor) -> Tensor:
        return self.output(self.dropout(vectors)) + self.mask

    def loss(self, vectors: Tensor, lengths: Tensor, gold: dict[str, Tensor]) -> Tensor:
        """The negative log-likelihood of the gold labels per word."""
        scores, labels = self(vectors), gold["labels"]
        words = inside(lengths, scores.shape[1])
        if not self.field:
            return nn.functional.cross_entropy(scores[words], labels[words])
        return (self.log_partition(scores, words) - self.sequence_score(scores, lengths, labels)).sum() / words.sum()

    def log_partition(self, scores: Tensor, words: Tensor) -> Tensor:
        """The logarithm of the sum over all label sequences of each sentence: (B,)."""
        total = self.first + scores[:, 0]
        for at in range(1, scores.shape[1]):
            new = torch.logsumexp(total[:, :, None] + self.moves, dim=1) + scores[:, at]
            total = torch.where(words[:, at, None], new, total)
        return torch.logsumexp(total + self.last, dim=1)

    def sequence_score(self, scores: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
        """The score of one label sequence per sentence: (B,)."""
        words = inside(lengths, scores.shape[1])
        emitted = scores.gather(2, labels[:, :, None])[:, :, 0]
        moved = self.moves[labels[:, :-1], labels[:, 1:]]
        end = labels.gather(1, lengths[:, None] - 1)[:, 0]
        return (emitted * words).sum(1) + (moved * words[:, 1:]).sum(1) + self.first[labels[:, 0]] + self.last[end]

    def decode(self, vectors: Tensor, lengths: Tensor) -> np.ndarray:
        """The label of each word, (N, 1), sentence by sentence."""
        scores = self(vectors)
        words = inside(lengths, scores.shape[1])
        labels = self._best_sequences(scores, words, lengths) if self.field else scores.argmax(-1)
        return labels[words].cpu().numpy()[:, None].astype(np.int32)  # type: ignore[no-any-return]

    def _best_sequences(self, scores: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """The best label sequence of each sentence (Viterbi): (B, T)."""
        best, origins = self.first + scores[:, 0], []
        same = torch.arange(scores.shape[2], device=scores.device).expand_as(best)
        for at in range(1, scores.shape[1]):
            values, origin = (best[:, :, None] + self.moves).max(dim=1)
            word = words[:, at, None]
            best = torch.where(word, values + scores[:, at], best)
            origins.append(torch.where(word, origin, same))
        labels = [(best + self.last).argmax(-1)]
        for origin in reversed(origins):
            labels.append(origin.gather(1, labels[-1][:, None])[:, 0])
        return torch.stack(labels[::-1], dim=1)


class ParserHead(nn.Module):
    """Scores of every word as the head of every other, and of relations; a learned vector stands for the root."""

    def __init__(self, config: FinetuningConfig, size: int, known: Tensor) -> None:
        super().__init__()
        self.find_trees = best_projective_trees if config.trees == "projective" else best_trees
        self.dropout = nn.Dropout(config.drop)
        self.root = nn.Parameter(torch.empty(size).uniform_(-1, 1) * (3.0 / size) ** 0.5)
        self.views = nn.ModuleList(
            nn.Linear(size, width) for width in (config.arc_size,) * 2 + (config.relation_size,) * 2
        )
        for view in self.views:
            nn.init.orthogonal_(view.weight)
            nn.init.zeros_(view.bias)
        self.arcs = nn.Parameter(torch.zeros(config.arc_size + 1, config.arc_size))
        self.relations = nn.Parameter(torch.zeros(len(known), config.relation_size + 1, config.relation_size + 1))
        self.register_buffer("mask", torch.where(known, 0.0, FORBIDDEN), persistent=False)

    def forward(self, vectors: Tensor) -> list[Tensor]:
        """Vectors of the root and all words as dependents and as heads, for arcs and for relations."""
        states = torch.cat([self.root.expand(len(vectors), 1, -1), vectors], dim=1)
        states = self.dropout(states)
        return [self.dropout(nn.functional.leaky_relu(view(states), LEAK)) for view in self.views]

    def arc_scores(self, views: list[Tensor], lengths: Tensor) -> Tensor:
        """Scores of all arcs; no word is its own head, and padding is no head."""
        scores = append_one(views[0]) @ self.arcs @ views[1].transpose(1, 2)
        size = scores.shape[1]
        allowed = inside(lengths + 1, size)[:, None, :] & ~torch.eye(size, dtype=torch.bool, device=scores.device)
        return torch.where(allowed, scores, FORBIDDEN)

    def relation_scores(self, views: list[Tensor], heads: Tensor) -> Tensor:
        """Scores of relations between all words and these heads, (B, T, L)."""
        dependents = append_one(views[2])[:, 1:]
        governors = append_one(views[3])
        governors = governors.gather(1, heads[:, :, None].expand(-1, -1, governors.shape[2]))
        products = torch.einsum("bti,lij->btlj", dependents, self.relations)
        return torch.einsum("btlj,btj->btl", products, governors) + self.mask

    def loss(self, vectors: Tensor, lengths: Tensor, gold: dict[str, Tensor]) -> Tensor:
        """The negative log-likelihood of the gold head, and of the gold relation given that head, per word."""
        views, words = self(vectors), inside(lengths, vectors.shape[1])
        arcs = self.arc_scores(views, lengths)[:, 1:]
        relations = self.relation_scores(views, gold["heads"])
        cross_entropy = nn.functional.cross_entropy
        return cross_entropy(arcs[words], gold["heads"][words]) + cross_entropy(relations[words], gold["labels"][words])

    def decode(self, vectors: Tensor, lengths: Tensor) -> np.ndarray:
        """The head and the relation of each word, (N, 2), of the best tree with one root, sentence by sentence."""
        views = self(vectors)
        words = inside(lengths, vectors.shape[1])
        offsets = offsets_of(lengths.cpu().numpy())
        found = self.find_trees(self.arc_scores(views, lengths).float().cpu().numpy(), offsets)
        heads = torch.zeros(words.shape, dtype=torch.int64, device=vectors.device)
        heads[words] = torch.as_tensor(found, dtype=torch.int64, device=vectors.device)
        relations = self.relation_scores(views, heads).argmax(-1)
        return np.stack([found, relations[words].cpu().numpy().astype(np.int32)], axis=1)


def append_one(x: Tensor) -> Tensor:
    """Vectors with a last component of 1, which stands for a bias."""
    return nn.functional.pad(x, (0, 1), value=1.0)
