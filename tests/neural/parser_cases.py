"""Five sentences with trees for networks that parse, and an encoder in plain numpy."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from deadheat.corpus import Corpus, read
from deadheat.neural import rng
from deadheat.neural.config import HyperParams, Shape
from deadheat.neural.encoder import Batch, make_batch
from deadheat.neural.programs import DeviceData
from deadheat.neural.text import UNKNOWN, Encoding, encode_corpora

# The head of the very first word is further away than short sentences are long; arcs of the third sentence cross.
TREES = [
    ("today the old dog sleeps", [5, 4, 4, 5, 0], ["obl", "det", "amod", "nsubj", "root"]),
    ("Dogs bark", [2, 0], ["nsubj", "root"]),
    ("what we saw did", [3, 4, 0, 3], ["obj", "nsubj", "root", "aux"]),
    ("Stop", [0], ["root"]),
    ("she saw the dog", [2, 0, 4, 2], ["nsubj", "root", "det", "obj"]),
]
LENGTHS = np.array([len(heads) for _, heads, _ in TREES])
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
HEADS = np.concatenate([heads for _, heads, _ in TREES]).astype(np.int32)


def corpus() -> Corpus:
    lines = []
    for words, heads, relations in TREES:
        for at, (word, head, relation) in enumerate(zip(words.split(), heads, relations, strict=True), 1):
            lines.append(f"{at}\t{word}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n")
        lines.append("\n")
    return read(text="".join(lines))


def encoding() -> Encoding:
    """Words, relations and heads of the five sentences."""
    text = corpus()
    names = sorted({relation for _, _, relations in TREES for relation in relations})
    codes = np.array([names.index(each) for each in text.column("deprel").strings()], np.int32)
    return replace(encode_corpora([text], codes, names), extra={"heads": HEADS})


def batch_of(data: DeviceData, sentences: Sequence[int], words: int, split: int = 0) -> Batch:
    return make_batch(data.text, jnp.int32(split), jnp.asarray(sentences, jnp.int32), words)


def begun(network: Any, data: DeviceData, *, seed: int) -> Any:
    """A network before training."""
    return jax.jit(lambda hashes: network.init_weights(rng.make_key(0, seed), data.shape, hashes))(data.hashes)


def random_weights(begin: Callable[..., Any], data: DeviceData, seed: int = 0, spread: float = 0.5) -> Any:
    """Weights of a network all of which are by chance, also those that are zeros before training."""
    rng = np.random.default_rng(seed)
    first = jax.eval_shape(lambda hashes: begin(jnp.uint32(0), data.shape, hashes), data.hashes)
    return jax.tree.map(lambda each: jnp.asarray(spread * rng.normal(size=each.shape), each.dtype), first)


def loss_of(network: Any, data: DeviceData, batch: Batch, hyper: HyperParams, key: Any = None) -> Any:
    """The loss as a function of the weights, compiled as one program: on a CPU that is quicker than part by part."""
    return jax.jit(lambda weights: network.loss(weights, data.shape, batch, hyper, key))


def outputs_of(network: Any, data: DeviceData, weights: Any, batch: Batch) -> Any:
    """What a network makes of a batch, as it comes to the host."""
    made = jax.jit(lambda weights: network.outputs(weights, data.shape, batch))
    return jax.tree.map(np.asarray, made(weights))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def lstm_by_hand(w: Any, u: Any, b: Any, x: np.ndarray) -> np.ndarray:
    """An LSTM over the words of one sentence."""
    h, c, out = np.zeros(len(u)), np.zeros(len(u)), []
    for word in x:
        i, f, g, o = np.split(word @ w + b + h @ u, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.array(out)


def states_by_hand(weights: Any, shape: Shape, vectors: np.ndarray) -> np.ndarray:
    """What BiLSTM layers make of the vectors of one sentence."""
    for at in range(len(shape.units)):
        w, u, b = (np.asarray(each, float) for each in weights[f"layer{at}"])
        onward = lstm_by_hand(w[0], u[0], b[0], vectors)
        back = lstm_by_hand(w[1], u[1], b[1], vectors[::-1])[::-1]
        vectors = np.concatenate([onward, back], axis=1)
    return vectors


def vectors_by_hand(weights: Any, data: DeviceData, sentence: int, split: int = 0) -> np.ndarray:
    """Word vectors of a sentence, for networks that look at nothing else."""
    codes = np.asarray(data.text.words)[OFFSETS[sentence] : OFFSETS[sentence + 1]]
    seen = np.asarray(data.text.train_counts)[split][codes]
    return np.asarray(weights["words"], float)[np.where(seen > 0, codes, UNKNOWN)]


def in_double(tree: Any) -> Any:
    """The same with all real numbers in double precision."""
    return jax.tree.map(
        lambda each: each.astype(jnp.float64) if jnp.issubdtype(each.dtype, jnp.floating) else each, tree
    )


def overfitted(network: Any, data: DeviceData, *, steps: int, rate: float = 0.02) -> tuple[Any, Batch]:
    """A network after so many steps over all five sentences, and these."""
    weights = begun(network, data, seed=1)
    batch = batch_of(data, range(len(TREES)), 5)
    method = optax.adam(rate)

    @jax.jit
    def step(weights: Any, state: Any, count: Any) -> Any:
        key = rng.make_key(1, count)
        gradients = jax.grad(network.loss)(weights, data.shape, batch, HyperParams(rate, 0.1), key)
        updates, state = method.update(gradients, state)
        return optax.apply_updates(weights, updates), state

    state = method.init(weights)
    for count in range(steps):
        weights, state = step(weights, state, jnp.uint32(count))
    return weights, batch
