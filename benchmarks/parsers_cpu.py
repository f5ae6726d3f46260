"""Words a CPU second in training: one biaffine parser on one core, ours and the same in PyTorch.

    python -m benchmarks.parsers_cpu --data FOLDER [--size small] [--sentences 1500] [--rounds 5]
    python -m benchmarks.parsers_cpu --data FOLDER --check

FOLDER holds the train part of a treebank in CoNLL-U. Contenders take turns as in networks_cpu.py: a process and a
thread each, freed memory kept, batches of the same lengths; compiling and first epochs are not counted. With --check,
both are given the same weights, and how far their losses and gradients are from each other is printed.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from benchmarks.networks_cpu import OURS, PACKED, Ready, epochs_of, take_turns
from benchmarks.parsers import Task, arguments, recipe_of

NEAR = 1e-4  # how far apart losses may be, as a share


def main() -> None:
    parser = arguments()
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        check(task_of(given))
    else:
        take_turns(partial(contender, given), given.rounds)


def task_of(given: argparse.Namespace) -> Task:
    """What the arguments ask for, without dev."""
    return Task.of(recipe_of(given), given.data, given.sentences, look=False)


def contender(given: argparse.Namespace, name: str) -> Ready:
    """A parser of ours or of PyTorch's."""
    task = task_of(given)
    if name == OURS:
        from deadheat.neural.config import TrainSchedule
        from deadheat.neural.stack import StackJob

        return task.words, epochs_of(task.stack(1), StackJob(task.config.hyper, 0, 0, TrainSchedule(10**6, 10**6)))
    import torch

    from benchmarks.parsers_torch import train_parser

    torch.set_num_threads(1)
    training = train_parser(task.config, task.learning.encoding, task.train, packed=name == PACKED)
    return task.words, training.epoch


def check(task: Task) -> None:
    """Compare losses and gradients of both parsers on one batch of each length; no weight that they share is 0."""
    import jax
    import jax.numpy as jnp
    import torch

    from benchmarks.parsers_torch import Parser, loss_and_slopes, named_weights, steps_of
    from deadheat.neural import attention, batches
    from deadheat.neural.config import AttentionShape
    from deadheat.neural.encoder import make_batch
    from deadheat.neural.rng import make_key

    shape, encoding, data = task.config.shape, task.learning.encoding, task.stack(1).data
    assert isinstance(shape, AttentionShape)
    rng = np.random.default_rng(0)
    weights = attention.init_weights(make_key(0, 1), shape, data.hashes)
    weights = jax.tree.map(lambda each: each + jnp.asarray(rng.normal(0, 0.1, each.shape), each.dtype), weights)
    model = Parser(shape, task.config.hyper, encoding, packed=True)
    epoch = batches.epoch_batches(task.groups, shape.batch, 0, 0)
    steps = steps_of(encoding, task.train, task.groups, shape.batch)
    tried = {slot.words: at for at, slot in enumerate(epoch)}
    for at in tried.values():
        slot, rows = list(epoch.items())[at]
        batch = make_batch(data.text, jnp.int32(0), jnp.asarray(rows, jnp.int32), slot.words)
        loss, gradients = jax.value_and_grad(attention.loss)(weights, shape, batch, task.config.hyper, None)
        theirs, found = loss_and_slopes(task.config, encoding, weights, steps[at])
        own = named_weights(gradients, model)
        apart = {name: float(torch.dist(own[name], found[name]) / torch.norm(own[name])) for name in own}
        worst = max(apart, key=lambda name: apart[name])
        far = abs(theirs / float(loss) - 1)
        print(f"{slot.words} words: losses {float(loss):.6f} and {theirs:.6f}, {far:.1e} apart; "
              f"gradients at most {apart[worst]:.1e} ({worst})")  # fmt: skip
        if not far < NEAR:
            raise SystemExit(f"{slot.words} words: the losses are too far apart; expected less than {NEAR:g}")


if __name__ == "__main__":
    main()
