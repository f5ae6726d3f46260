"""Lookahead: search and learning against a plain recursion over all leaves, and real accuracy."""

import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import Corpus, read
from deadheat.errors import InputError
from deadheat.kernels import lookahead as kernels
from deadheat.systems import perceptron as module
from deadheat.systems.features import Encoder, Templates, training_tags
from deadheat.systems.perceptron import Learner, Lookahead, TaggerWeights, Triples, epoch_orders
from deadheat.systems.system import SYSTEMS, Model
from deadheat.testbed import generate

Weights = Counter[tuple[int, ...]]
Leaf = tuple[int, ...]

TEXT = """the_D can_N can_V rust_V
a_D can_N
rust_N
can_V the_D old_A rust_N can_V ?_P
old_N dogs_N bark_V ._P
the_D old_V the_D young_A
they_N dog_V the_D cat_N ._P
"""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read(text=TEXT, format="tagged")


@pytest.fixture(scope="module")
def encoder(corpus: Corpus) -> Encoder:
    tags = training_tags(corpus, "tag", "test", most=9)
    return Encoder.of(corpus, tags, "tag", Templates(prefixes=1, suffixes=2), least=0)


class Plain:
    """The tagger as one would first write it: weights by name, and every leaf looked at."""

    def __init__(self, encoder: Encoder, corpus: Corpus, weights: Weights) -> None:
        self.rows = encoder.encode(corpus).rows.reshape(corpus.words, -1).tolist()
        self.tags = len(encoder.tags)
        self.weights = weights

    def features(self, word: int, x: int, y: int, leaf: Leaf) -> Weights:
        """The features of a leaf that begins at a word after the tags x, y: (row, tag), (1, y, z), (2, x, y, z)."""
        found: Weights = Counter()
        for ahead, tag in enumerate(leaf):
            found.update((row, tag) for row in self.rows[word + ahead] if row > 0)
            found[1, y, tag] += 1
            found[2, x, y, tag] += 1
            x, y = y, tag
        return found

    def best(self, word: int, last: int, x: int, y: int, *, firsts: range | None = None) -> tuple[float, Leaf]:
        """The best leaf for the words up to `last`, the first tag being one of some; of equals the first."""
        if word > last:
            return 0.0, ()
        winner: tuple[float, Leaf] | None = None
        for tag in firsts if firsts is not None else range(self.tags):
            rest, leaf = self.best(word + 1, last, y, tag)
            own = sum(self.weights[key] * times for key, times in self.features(word, x, y, (tag,)).items())
            if winner is None or own + rest > winner[0]:
                winner = own + rest, (tag, *leaf)
        assert winner is not None
        return winner


def as_arrays(encoder: Encoder, weights: dict[tuple[int, ...], float]) -> TaggerWeights:
    tags = len(encoder.tags)
    stride = Lookahead(0).stride(tags)
    features = np.zeros((encoder.index.size, stride), np.float32)
    pairs = np.zeros((tags, stride), np.float32)  # z, y
    triples: dict[tuple[int, ...], float] = {}
    for key, weight in weights.items():
        match key:
            case (row, tag):
                features[row, tag] += weight
            case (1, y, z):
                pairs[z, y] += weight
            case (2, x, y, z):
                triples[x, y, z] = weight
    # A number for every triple that has a weight, the sum of that of its pair and its own.
    numbers = [kernels.key_of(x, y, z, tags) for x, y, z in triples]
    table = Triples.empty(1 << max(4, (2 * len(numbers)).bit_length()), pairs.ravel().copy())
    slots = np.empty(len(numbers), np.int64)
    kernels.insert_keys(np.array(numbers, np.int64), table.keys, slots)
    for slot, ((_, y, z), weight) in zip(slots.tolist(), triples.items(), strict=True):
        table.weights[slot] = pairs[z, y] + weight
        table.bounds[z * stride + y] = max(table.bounds[z * stride + y], table.weights[slot])
    return TaggerWeights(np.arange(encoder.index.size, dtype=np.int32), features.ravel(), pairs.ravel(), table)


def moves_of(weights: TaggerWeights, tags: int) -> np.ndarray:
    """The weight of every tag z after every two tags x, y."""
    triples, stride = weights.triples, Lookahead(0).stride(tags)
    assert triples is not None
    model = (weights.moves, triples.bounds, triples.keys, triples.weights, 0)
    before = range(tags + 1)
    return np.array([kernels.move(x, y, z, tags, stride, model) for x in before for y in before for z in range(tags)])


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
def test_search_takes_the_first_tag_of_the_best_leaf(corpus: Corpus, encoder: Encoder, depth: int) -> None:
    rng = np.random.default_rng(depth)
    tags = len(encoder.tags)
    weights: Weights = Counter()
    names = [(row, tag) for row in range(1, encoder.index.size) for tag in range(tags)]
    names_of_moves: list[tuple[int, ...]] = [(1, y, z) for y in range(tags + 1) for z in range(tags)]
    names_of_moves += [(2, x, y, z) for x in range(tags + 1) for y in range(tags + 1) for z in range(tags)]
    weights.update({name: int(rng.integers(-99, 99)) for name in names})
    weights.update({name: int(rng.integers(-299, 299)) for name in names_of_moves})
    plain = Plain(encoder, corpus, weights)
    arrays = as_arrays(encoder, dict(weights))
    found = Lookahead(depth).tags(encoder, encoder.encode(corpus), arrays).tolist()
    for begin, end in zip(corpus.offsets[:-1].tolist(), corpus.offsets[1:].tolist(), strict=True):
        x, y = tags, tags
        for word in range(begin, end):
            _, leaf = plain.best(word, min(word + depth, end - 1), x, y)
            assert found[word] == leaf[0]
            x, y = y, leaf[0]


@pytest.mark.parametrize(("depth", "margin"), [(0, 3), (1, 0), (2, 2), (2, 40), (3, 3)])
def test_learning_is_the_algorithm_written_out(corpus: Corpus, encoder: Encoder, depth: int, margin: int) -> None:
    gold, tags = encoder.gold(corpus).tolist(), len(encoder.tags)
    learner = Learner(encoder, Lookahead(depth, margin), corpus)
    sums: Weights = Counter()
    plain = Plain(encoder, corpus, Counter())
    visits, updates = 0, 0
    for sentences in epoch_orders(corpus.sentences, 3, 2, shuffle=True):
        learner.learn(sentences)
        for sentence in sentences:
            begin, end = int(corpus.offsets[sentence]), int(corpus.offsets[sentence + 1])
            x, y = tags, tags
            for word in range(begin, end):
                updates += _visit(plain, word, min(word + depth, end - 1), (x, y), gold[word], margin)
                x, y = y, gold[word]
                visits += 1
                sums.update(plain.weights)
    assert updates > 0
    assert updates < visits or margin == 40  # a margin that is never reached shows nothing of when to stop
    expected = as_arrays(encoder, {name: total / visits for name, total in sums.items()})
    averaged = learner.tagger().weights
    features = averaged.features.reshape(-1, Lookahead(0).stride(tags))[averaged.slots]
    np.testing.assert_allclose(features.ravel(), expected.features, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(moves_of(averaged, tags), moves_of(expected, tags), rtol=1e-5, atol=1e-5)
    assert averaged.triples is not None
    at_least = averaged.triples.bounds.reshape(tags, -1)[:, : tags + 1].T  # y, z
    assert (moves_of(averaged, tags).reshape(tags + 1, tags + 1, tags) <= at_least).all()


def _visit(plain: Plain, word: int, last: int, before: tuple[int, int], right: int, margin: int) -> bool:
    """Look at one word and learn from it; whether there was anything to learn."""
    gold_score, gold_leaf = plain.best(word, last, *before, firsts=range(right, right + 1))
    rivals = [plain.best(word, last, *before, firsts=range(tag, tag + 1)) for tag in range(plain.tags) if tag != right]
    rival_score, rival_leaf = max(rivals, key=lambda rival: rival[0])
    if rival_score + margin < gold_score:
        return False
    plain.weights.update(plain.features(word, *before, gold_leaf))
    plain.weights.subtract(plain.features(word, *before, rival_leaf))
    return True


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_kernels_find_the_same_in_plain_python(corpus: Corpus, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    system = SYSTEMS.make("lookahead", column="tag", depth=depth, epochs=2)
    native = system.train(corpus, None, 4)
    for name in ("learn_ahead", "tag_ahead", "insert_keys"):
        monkeypatch.setattr(module, name, getattr(kernels, name).python)
    plain = system.train(corpus, None, 4)
    assert isinstance(native, module.PerceptronTagger)
    assert isinstance(plain, module.PerceptronTagger)
    assert plain.weights.features.tobytes() == native.weights.features.tobytes()
    assert plain.weights.moves.tobytes() == native.weights.moves.tobytes()
    assert plain.weights.triples is not None
    assert native.weights.triples is not None
    assert plain.weights.triples.weights.tobytes() == native.weights.triples.weights.tobytes()
    assert plain.predict(corpus).column("tag").strings() == native.predict(corpus).column("tag").strings()


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    text = read(text=generate("velani", sentences=60, seed=3))

    def weights(seed: int) -> bytes:
        model = SYSTEMS.make("lookahead").train(text, None, seed)
        assert isinstance(model, module.PerceptronTagger)
        assert model.weights.triples is not None
        return model.weights.features.tobytes() + model.weights.triples.weights.tobytes()

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)


def test_room_for_weights_grows_and_changes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    text = read(text=generate("velani", sentences=60, seed=3))
    roomy, tight = list[Model](), list[Model]()
    for models, size in ((roomy, 1 << 16), (tight, 2)):
        monkeypatch.setattr(module, "FIRST_TRIPLES", size)
        models.append(SYSTEMS.make("lookahead").train(text, None, 1))
    one, other = roomy[0], tight[0]
    assert isinstance(one, module.PerceptronTagger)
    assert isinstance(other, module.PerceptronTagger)
    assert one.weights.features.tobytes() == other.weights.features.tobytes()
    tags = len(one.encoder.tags)
    np.testing.assert_array_equal(moves_of(one.weights, tags), moves_of(other.weights, tags))


def test_hundreds_of_labels_are_learned_and_hardly_slower() -> None:
    """Every word has its own suffix, and every suffix its label."""
    rng = np.random.default_rng(0)
    words = [f"{''.join(rng.choice(list('klmnop'), 3))}q{number}" for number in rng.integers(0, 400, 4000)]
    lines = [" ".join(f"{word}_L{word.split('q')[1]}" for word in words[at : at + 8]) for at in range(0, 4000, 8)]
    train, test = (read(text="\n".join(half) + "\n", format="tagged") for half in (lines[:400], lines[400:]))
    started = time.process_time()
    model = SYSTEMS.make("lookahead", column="tag").train(train, None, 0)
    found, gold = model.predict(test).column("tag").strings(), test.column("tag").strings()
    assert time.process_time() - started < 60  # every leaf for every word would take many minutes
    assert np.mean([a == b for a, b in zip(found, gold, strict=True)]) > 0.9


def test_one_label_is_learned_without_a_rival() -> None:
    train = read(text="a_X b_X\nc_X\n", format="tagged")
    model = SYSTEMS.make("lookahead", column="tag").train(train, None, 0)
    assert model.predict(read(text="z_Y a_Y\n", format="tagged")).column("tag").strings() == ["X", "X"]


def test_looking_ahead_sees_what_comes_after() -> None:
    """`x` is A before `a` and B before `b`, and it is only the tags of `a` and `b` that tell: they vary in form."""
    rng = np.random.default_rng(0)
    forms = ["".join(rng.choice(list("klmnop"), 5)) for _ in range(400)]
    lines = [f"x_{tag} {form}q{tag.lower()}_{tag}{tag}" for form, tag in zip(forms, "AB" * 200, strict=True)]
    train, test = (read(text="\n".join(half) + "\n", format="tagged") for half in (lines[:200], lines[200:]))

    def accuracy(depth: int) -> float:
        model = SYSTEMS.make("lookahead", column="tag", depth=depth).train(train, None, 0)
        found = model.predict(test).column("tag").strings()[::2]
        return float(np.mean([a == b for a, b in zip(found, test.column("tag").strings()[::2], strict=True)]))

    assert accuracy(0) < 0.8
    assert accuracy(1) > 0.95


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("depth=-1", "lookahead.v1: depth=-1; expected at least 0"),
        ("margin=-1", "lookahead.v1: margin=-1; expected at least 0"),
        ("epochs=0", "lookahead.v1: epochs=0; expected at least 1"),
    ],
)
def test_wrong_settings_are_refused(settings: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        SYSTEMS.make(f"lookahead({settings})")


@pytest.mark.slow
def test_english_is_tagged_as_well_as_by_the_original(shared_data: Path) -> None:
    """LAPOS, trained on the same text with seven passes, has 94.64 on dev, and 77.87 of the words it has not seen."""
    folder = shared_data / "treebanks" / "en_ewt"
    train, dev = read(folder / "en_ewt-ud-train.conllu"), read(folder / "en_ewt-ud-dev.conllu")
    found = SYSTEMS.make("lookahead").train(train, None, 0).predict(dev)
    right = np.array(found.column("upos").strings()) == np.array(dev.column("upos").strings())
    known = set(train.column("form").strings())
    unknown = np.array([form not in known for form in dev.column("form").strings()])
    assert right.mean() >= 0.9464
    assert right[unknown].mean() >= 0.7787
