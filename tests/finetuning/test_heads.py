"""Heads against slow, obvious versions: the random field over all label sequences, the schedule, the batches."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import torch

from deadheat.finetuning.batches import MOST_PIECES, prediction_batches, training_batches
from deadheat.finetuning.config import slanted_triangle
from deadheat.finetuning.heads import FORBIDDEN, ParserHead, TaggerHead
from tests.finetuning.tiny import config_of

LABELS, SIZE = 3, 5


def field() -> TaggerHead:
    head = TaggerHead(config_of(Path(), classifier="crf"), SIZE, torch.ones(LABELS, dtype=torch.bool))
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    head.eval().requires_grad_(requires_grad=False)
    return head


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_the_random_field_equals_the_sum_and_the_best_over_all_sequences() -> None:
    head, vectors, lengths = field(), torch.randn(3, 4, SIZE), torch.tensor([4, 1, 3])
    labels = torch.randint(0, LABELS, (3, 4))
    loss = head.loss(vectors, lengths, {"labels": labels})
    scores, decoded = head(vectors), head.decode(vectors, lengths)[:, 0].tolist()
    total = 0.0
    for row, length in enumerate(lengths.tolist()):

        def score(sequence: tuple[int, ...], row: int = row) -> float:
            emitted = sum(float(scores[row, at, label]) for at, label in enumerate(sequence))
            moved = sum(float(head.moves[a, b]) for a, b in pairwise(sequence))
            return emitted + moved + float(head.first[sequence[0]]) + float(head.last[sequence[-1]])

        every = list(product(range(LABELS), repeat=length))
        gold = tuple(labels[row, :length].tolist())
        total += float(np.logaddexp.reduce([score(sequence) for sequence in every])) - score(gold)
        assert tuple(decoded[:length]) == max(every, key=score)
        decoded = decoded[length:]
    assert float(loss) == pytest.approx(total / 8, rel=1e-5)


def test_padding_changes_neither_loss_nor_labels() -> None:
    heads = (field(), parser())
    gold = {"labels": torch.tensor([[1, 2]]), "heads": torch.tensor([[2, 0]])}
    vectors, lengths = torch.randn(1, 2, SIZE), torch.tensor([2])
    padded = torch.cat([vectors, torch.randn(1, 3, SIZE)], dim=1)
    padded_gold = {name: torch.nn.functional.pad(rows, (0, 3)) for name, rows in gold.items()}
    for head in heads:
        assert float(head.loss(vectors, lengths, gold)) == pytest.approx(
            float(head.loss(padded, lengths, padded_gold)), rel=1e-5
        )
        assert np.array_equal(head.decode(vectors, lengths), head.decode(padded, lengths))


def parser() -> ParserHead:
    head = ParserHead(config_of(Path(), task="trees"), SIZE, torch.tensor([True, True, True]))
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    head.eval().requires_grad_(requires_grad=False)
    return head


def test_trees_have_one_root_and_relations_are_the_best_of_their_arcs() -> None:
    head, vectors, lengths = parser(), torch.randn(2, 5, SIZE), torch.tensor([5, 3])
    decoded = head.decode(vectors, lengths)
    views = head(vectors)
    for row, (start, end) in enumerate(((0, 5), (5, 8))):
        heads, relations = decoded[start:end].T
        assert np.count_nonzero(heads == 0) == 1
        for word, (governor, relation) in enumerate(zip(heads.tolist(), relations.tolist(), strict=True), 1):
            dependent = torch.cat([views[2][row, word], torch.ones(1)])
            other = torch.cat([views[3][row, governor], torch.ones(1)])
            scores = [float(dependent @ head.relations[number] @ other) for number in range(3)]
            assert relation == int(np.argmax(scores))


def test_no_word_is_its_own_head_and_padding_is_no_head() -> None:
    head, lengths = parser(), torch.tensor([4, 2])
    arcs = head.arc_scores(head(torch.randn(2, 4, SIZE)), lengths)
    assert bool((arcs.diagonal(dim1=1, dim2=2) == FORBIDDEN).all())
    assert bool((arcs[1, :, 3:] == FORBIDDEN).all())
    assert bool((arcs[1, 1, [0, 2]] != FORBIDDEN).all())


def test_unknown_labels_are_never_the_best() -> None:
    head = TaggerHead(config_of(Path()), SIZE, torch.tensor([True, False, True]))
    head = head.eval().requires_grad_(requires_grad=False)
    torch.nn.init.constant_(head.output.bias, 1.0)
    head.output.bias.data[1] = 100.0
    assert 1 not in head.decode(torch.randn(4, 6, SIZE), torch.full((4,), 6))


def test_the_learning_rate_rises_falls_and_never_is_zero() -> None:
    rates = [slanted_triangle(update, 100, 0.3) for update in range(100)]
    top = int(np.argmax(rates))
    assert top == 30
    assert rates[0] == rates[-1] == 1 / 32
    assert all(a < b for a, b in pairwise(rates[: top + 1]))
    assert all(a > b for a, b in pairwise(rates[top:]))
    assert [slanted_triangle(0, 1, 0.3), slanted_triangle(0, 5, 0.0)] == [1.0, 1.0]


def test_every_sentence_is_in_one_batch_and_batches_are_small_enough() -> None:
    lengths = np.random.default_rng(0).integers(1, 900, size=333)
    batches = training_batches(lengths, 16, 1, 0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(333))
    assert all(len(batch) <= 16 for batch in batches)
    assert all(len(batch) * lengths[batch].max() <= MOST_PIECES for batch in batches)
    again, other = training_batches(lengths, 16, 1, 0), training_batches(lengths, 16, 1, 1)
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(batches, other, strict=False))


def test_a_sentence_longer_than_a_batch_may_be_is_a_batch_alone() -> None:
    lengths = np.array([5, MOST_PIECES + 1, 7, 40_000])
    for batches in (training_batches(lengths, 8, 1, 0), prediction_batches(lengths)):
        assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2, 3]
        assert [3] in [batch.tolist() for batch in batches]
