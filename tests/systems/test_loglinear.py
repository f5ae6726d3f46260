"""The log-linear tagger: gradient by differences, optimum by scikit-learn, decoding by enumeration, real accuracy."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from deadheat.corpus import Corpus, read, take
from deadheat.corpus.vocabulary import recode
from deadheat.errors import InputError
from deadheat.kernels import loglinear as kernels
from deadheat.questions.score import score
from deadheat.systems import loglinear as module
from deadheat.systems.features import Encoder, Templates, training_tags
from deadheat.systems.loglinear import (
    CONTEXTS,
    Cases,
    LoglinearTagger,
    RowWeights,
    best_tags,
    joined,
    make_cases,
    minimize,
)
from deadheat.systems.system import SYSTEMS

TEXT = """the_D can_N can_V rust_V
a_D can_N
rust_N
can_V the_D old_A rust_N
old_N dogs_N bark_V
the_D old_V the_D young_A
they_N dog_V the_D cat_N
"""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read(text=TEXT, format="tagged")


def encoder_of(corpus: Corpus, *, least: int) -> Encoder:
    tags = training_tags(corpus, "tag", "test", most=9)
    return Encoder.of(corpus, tags, "tag", Templates(prefixes=1, suffixes=2, pairs=((-1, 0),)), least=least)


class Plain:
    """The models as they are defined: the chance of each tag of a word, given tags beside it or none."""

    def __init__(self, encoder: Encoder, corpus: Corpus, models: Sequence[RowWeights]) -> None:
        self.encoder, self.corpus, self.models = encoder, corpus, models
        self.text = encoder.encode(corpus)
        self.forms = recode(corpus.column("form"), encoder.index.forms).tolist()
        self.chances = cache(self._chances)

    def product(self, begin: int, tags: tuple[int, ...], arrows: tuple[bool, ...] = ()) -> float:
        """Of the chances of all tags of a sentence; `arrows` says between which words the first sees the second's tag.

        Without arrows, every word sees both.
        """
        start, result = len(self.encoder.tags), 1.0
        around = (start, *tags, start)
        inner = (False, *arrows, True)  # what stands around the sentence is seen
        for at, tag in enumerate(tags):
            before = around[at] if (not arrows and not self._is_decomposed) or not inner[at] else None
            after = around[at + 2] if (not arrows and not self._is_decomposed) or inner[at + 1] else None
            result *= self.chances(begin + at, before, after)[tag]
        return result

    @property
    def _is_decomposed(self) -> bool:
        return len(self.models) == 4

    def best(self, begin: int, tags: tuple[int, ...]) -> float:
        """The largest product under any decomposition."""
        return max(
            self.product(begin, tags, arrows) for arrows in itertools.product((False, True), repeat=len(tags) - 1)
        )

    def _chances(self, word: int, before: int | None, after: int | None) -> list[float]:
        index, dictionary, form = self.encoder.index, self.encoder.dictionary, self.forms[word]
        sides, first = len(self.encoder.tags) + 1, index.size
        with_word = first + 2 * sides + sides * sides
        rows = [int(row) for row in self.text.rows[word * index.width : (word + 1) * index.width]]
        if before is not None:
            rows += [first + before, *([with_word + form * sides + before] if form >= 0 else [])]
        if after is not None:
            rows += [
                first + sides + after,
                *([with_word + (len(index.forms) + form) * sides + after] if form >= 0 else []),
            ]
        if before is not None and after is not None:
            rows.append(first + 2 * sides + before * sides + after)
        model = (
            self.models[-1] if not self._is_decomposed else self.models[(before is not None) + 2 * (after is not None)]
        )
        scores = [0.0] * len(self.encoder.tags)
        for row in rows:
            for place in range(model.starts[row], model.starts[row + 1]):
                scores[model.tags[place]] += float(model.weights[place])
        bounds = dictionary.starts[self.text.lists[word]], dictionary.starts[self.text.lists[word] + 1]
        may = {int(tag) for tag in dictionary.tags[slice(*bounds)]}
        exponentials = [math.exp(score) if tag in may else 0.0 for tag, score in enumerate(scores)]
        return [each / sum(exponentials) for each in exponentials]


@pytest.mark.parametrize("least", [0, 2])
def test_decoding_finds_the_largest_product_of_all_sequences_and_decompositions(corpus: Corpus, least: int) -> None:
    encoder = encoder_of(corpus, least=least)
    starts = [make_cases(encoder, corpus, 1, context)[0] for context in CONTEXTS]
    unseen = read(text="the_? new_? can_? dogs_?\nnew_?\nrust_? rust_? the_?\nold_? can_?\n", format="tagged")
    rng = np.random.default_rng(least)
    for text in (corpus, unseen):
        forms = recode(text.column("form"), encoder.index.forms)
        for _ in range(3):
            models = [replace(start, weights=2 * rng.normal(size=len(start.weights))) for start in starts]
            found = best_tags(encoder, encoder.encode(text), forms, joined(models)).tolist()
            plain = Plain(encoder, text, models)
            for begin, end in itertools.pairwise(text.offsets.tolist()):
                every = itertools.product(range(len(encoder.tags)), repeat=end - begin)
                best = max(plain.best(begin, tags) for tags in every)
                assert plain.best(begin, tuple(found[begin:end])) == pytest.approx(best, rel=1e-12)


def test_only_the_best_tags_of_a_word_are_looked_at(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SYSTEMS.make("loglinear", column="tag", dictionary=0).train(corpus, None, 0)
    assert isinstance(model, LoglinearTagger)
    every = model.predict(corpus).column("tag").strings()
    monkeypatch.setattr(module, "CANDIDATES", 3)
    assert model.predict(corpus).column("tag").strings() == every
    monkeypatch.setattr(module, "CANDIDATES", 1)
    alone = Plain(
        model.encoder, corpus, [RowWeights(model.weights.starts, model.weights.tags, model.weights.weights)] * 4
    )
    best = [int(np.argmax(alone.chances(word, None, None))) for word in range(corpus.words)]
    assert model.predict(corpus).column("tag").strings() == [list(model.encoder.tags)[tag] for tag in best]


def test_neighbours_do_not_support_each_other_in_what_is_rare() -> None:
    """Of 11 sentences 4 are B B and 3 A A. But A is certain beside A, and B beside B is not: (4/6)^2 is less than 1."""
    train = read(text="x_A x_A\n" * 3 + "x_B x_B\n" * 4 + "x_B x_C\n" * 2 + "x_C x_B\n" * 2, format="tagged")
    model = SYSTEMS.make("loglinear", column="tag").train(train, None, 0)
    assert model.predict(read(text="x_? x_?\n", format="tagged")).column("tag").strings() == ["B", "B"]


def test_the_loss_is_that_of_the_local_models_with_gold_tags_beside(corpus: Corpus) -> None:
    encoder = encoder_of(corpus, least=0)
    start, cases = make_cases(encoder, corpus, 1, CONTEXTS[3])
    weights = np.random.default_rng(1).normal(size=len(start.weights))
    plain = Plain(encoder, corpus, [replace(start, weights=weights)])
    gold = [int(tag) for tag in encoder.gold(corpus)]
    by_hand = -sum(
        math.log(plain.product(begin, tuple(gold[begin:end]))) for begin, end in itertools.pairwise(corpus.offsets)
    )
    prior = sum(weight**2 for weight in weights.tolist()) / (2 * 0.7)
    assert cases.loss(weights, 0.7)[0] == pytest.approx(by_hand + prior, rel=1e-12)


def test_the_gradient_is_what_differences_of_the_loss_say(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 5)
    start, cases = make_cases(encoder_of(corpus, least=0), corpus, 1, CONTEXTS[3])
    rng = np.random.default_rng(2)
    weights = rng.normal(size=len(start.weights))
    _, gradient = cases.loss(weights, 0.7)
    for direction in rng.normal(size=(20, len(weights))):
        ahead, behind = (cases.loss(weights + step * direction, 0.7)[0] for step in (1e-5, -1e-5))
        assert (ahead - behind) / 2e-5 == pytest.approx(float(gradient @ direction), rel=1e-6, abs=1e-6)


def test_block_sizes_change_nothing_but_the_last_digits(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    start, cases = make_cases(encoder_of(corpus, least=0), corpus, 1, CONTEXTS[3])
    weights = np.random.default_rng(3).normal(size=len(start.weights))
    loss, gradient = cases.loss(weights, 1.0)
    monkeypatch.setattr(module, "BLOCK", 3)
    other_loss, other_gradient = cases.loss(weights, 1.0)
    assert other_loss == pytest.approx(loss, rel=1e-13)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-11, atol=1e-12)


def test_the_optimum_is_that_of_scikit_learn() -> None:
    """Multinomial regression with a weight for every feature and class, no intercept, C the variance."""
    rng = np.random.default_rng(4)
    features, tags = 6, 3
    table = rng.random((80, features)) < 0.5
    gold = rng.integers(0, tags, 80).astype(np.int32)
    gold[table[:, 0]] = 0
    bounds, places = [0], []
    for row in table:
        for tag in range(tags):
            places += [int(feature) * tags + tag for feature in np.flatnonzero(row)]
            bounds.append(len(places))
    cases = Cases(gold, tags, np.array(bounds), np.array(places, np.int32))
    found = minimize(lambda weights: cases.loss(weights, 1.7), np.zeros(features * tags), 1000)
    theirs = LogisticRegression(C=1.7, fit_intercept=False, tol=1e-10, max_iter=10000).fit(table, gold)
    np.testing.assert_allclose(found.reshape(features, tags).T, theirs.coef_, atol=2e-4)
    at_theirs = cases.loss(np.ascontiguousarray(theirs.coef_.T).ravel(), 1.7)[0]
    assert cases.loss(found, 1.7)[0] == pytest.approx(at_theirs, rel=1e-9)


def test_weights_exist_for_what_was_seen_often_enough(corpus: Corpus) -> None:
    encoder = encoder_of(corpus, least=0)
    first = encoder.index.size  # of the rows of the tag before the word
    tags, gold = list(encoder.tags), corpus.column("tag").strings()
    before = {tag: set[str]() for tag in tags}
    for sentence in TEXT.splitlines():
        labels = [token.split("_")[1] for token in sentence.split()]
        for left, label in itertools.pairwise(labels):
            before[left].add(label)
    weights, _ = make_cases(encoder, corpus, 1, CONTEXTS[3])
    for row, tag in enumerate(tags):
        places = slice(weights.starts[first + row], weights.starts[first + row + 1])
        assert {tags[each] for each in weights.tags[places]} == before[tag]
    fewer, _ = make_cases(encoder, corpus, 3, CONTEXTS[3])
    assert len(fewer.weights) < len(weights.weights) / 2
    assert gold.count("A") == 2
    assert [tags[tag] for tag in fewer.tags].count("A") == 0


def test_exponentials_are_right_to_the_last_digits() -> None:
    values = -np.concatenate([np.linspace(0, 50, 20001), np.linspace(50, 699.9, 20001), [0.0, 1e-300, 1e-9]])
    powers = 0.5 ** np.arange(kernels.N_POWERS)
    np.testing.assert_allclose([kernels.exponential(value, powers) for value in values], np.exp(values), rtol=8e-16)
    assert [kernels.exponential(value, powers) for value in (-701.0, -1e9)] == [0.0, 0.0]


def test_the_kernels_find_the_same_in_plain_python(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    system = SYSTEMS.make("loglinear", column="tag", iterations=5, dictionary=2)
    native = system.train(corpus, None, 0)
    for name in ("list_weights", "score_cases", "add_to_weights", "tag_by_decompositions"):
        monkeypatch.setattr(module, name, getattr(kernels, name).python)
    plain = system.train(corpus, None, 0)
    assert isinstance(native, LoglinearTagger)
    assert isinstance(plain, LoglinearTagger)
    np.testing.assert_allclose(plain.weights.weights, native.weights.weights, rtol=1e-9, atol=1e-12)
    assert plain.predict(corpus).column("tag").strings() == native.predict(corpus).column("tag").strings()


def test_a_long_sentence_of_unlikely_words_does_not_run_out_of_numbers() -> None:
    train = read(text="a_A b_B\nb_A a_B\na_A a_A\nb_B b_B\n" * 5, format="tagged")
    model = SYSTEMS.make("loglinear", column="tag", dictionary=0).train(train, None, 0)
    words = " ".join(f"{word}_?" for word in "aabb" * 1000)
    found = model.predict(read(text=words + "\n", format="tagged")).column("tag").strings()
    assert set(found) == {"A", "B"}
    assert found[2000:2004] == found[2400:2404]  # far from both ends, the same words have the same tags


def test_the_seed_changes_nothing(corpus: Corpus) -> None:
    system = SYSTEMS.make("loglinear", column="tag")
    one, two = system.train(corpus, None, 1), system.train(corpus, corpus, 2)
    assert isinstance(one, LoglinearTagger)
    assert isinstance(two, LoglinearTagger)
    assert one.weights.weights.tobytes() == two.weights.weights.tobytes()
    assert not system.seeded


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("variance=0.0", "loglinear.v2: variance=0.0; expected a number above 0"),
        ("iterations=0", "loglinear.v2: iterations=0; expected at least 1"),
        ("cutoff=0", "loglinear.v2: cutoff=0; expected at least 1"),
        ("dictionary=-1", "loglinear.v2: dictionary=-1; expected at least 0"),
    ],
)
def test_wrong_settings_are_refused(settings: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        SYSTEMS.make(f"loglinear({settings})")


@pytest.mark.slow
def test_english_is_tagged_as_well_as_by_a_conditional_random_field(shared_data: Path) -> None:
    """CRFsuite, trained on the same text, has 94.44 on dev."""
    folder = shared_data / "treebanks" / "en_ewt"
    train, dev = read(folder / "en_ewt-ud-train.conllu"), read(folder / "en_ewt-ud-dev.conllu")
    found = SYSTEMS.make("loglinear").train(train, None, 0).predict(dev).column("upos").strings()
    assert np.mean([a == b for a, b in zip(found, dev.column("upos").strings(), strict=True)]) >= 0.9444


@pytest.mark.slow
def test_chunks_are_found_nearly_as_well_as_by_the_perceptron_with_lookahead(shared_data: Path) -> None:
    """Of 1,500 sentences it learns chunks with F1 of 86.4; the product of all probabilities given both sides, 80.5."""
    folder = shared_data / "chunking" / "conll2000"
    train, test = take(read(folder / "train.txt"), np.arange(1500)), read(folder / "test.txt")
    found = SYSTEMS.make("loglinear", column="chunk").train(train, None, 0).predict(test)
    assert score(test, found, metrics=["chunks"])["chunks"].value >= 0.86
