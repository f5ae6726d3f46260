"""The trigram tagger against a plain one, by hand, by enumeration, and against another program."""

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.corpus import Corpus, Vocabulary, read
from deadheat.errors import InputError
from deadheat.kernels import hmm as kernels
from deadheat.systems import SYSTEMS, hmm
from deadheat.systems.hmm import Trigrams, begin_with_capital
from tests.systems.plain_hmm import BOUNDARY, PlainHmm, State, Word

FORMS = ["a", "b", "Ab", "bab", "aab", "Bab", "é", "Éa", "bé", "日本", "x日本"]
words = st.tuples(st.sampled_from(FORMS), st.sampled_from("XYZ"))
sentence = st.lists(words, min_size=1, max_size=5)
few = settings(max_examples=60)


def corpus_of(sentences: list[list[Word]]) -> Corpus:
    return read(text="".join(" ".join(f"{form}_{label}" for form, label in each) + "\n" for each in sentences))


def trained(sentences: list[list[Word]], **more: object) -> Trigrams:
    model = SYSTEMS.make("hmm.v1", column="tag", **more).train(corpus_of(sentences), None, 0)
    assert isinstance(model, Trigrams)
    return model


def tags(model: Trigrams, forms: list[str]) -> list[str]:
    return model.predict(corpus_of([[(form, "?") for form in forms]])).column("tag").strings()


def state_names(model: Trigrams, plain: PlainHmm) -> list[State]:
    """The states of a model by number: sorted by label, then by capital."""
    names = sorted(plain.states)
    assert [model.labels[label] for label in model.states.labels.tolist()] == [label for label, _ in names]
    return [*names, BOUNDARY]


def step(model: Trigrams, a: int, b: int, c: int) -> float:
    """log P(c | a, b) as the tagger has it."""
    sequences = model.sequences
    base = sequences.boundary + 1
    slots = np.flatnonzero(sequences.keys == (a * base + b) * base + c)
    return float(sequences.trigrams[slots[0]] if len(slots) else sequences.bigrams[b * base + c])


@few
@given(st.lists(sentence, min_size=1, max_size=6), st.booleans())
def test_steps_are_those_of_the_plain_tagger(sentences: list[list[Word]], capitals: bool) -> None:  # noqa: FBT001
    plain, model = PlainHmm(sentences, capitals), trained(sentences, capitals=capitals)
    assert model.sequences.weights == pytest.approx([float(weight) for weight in plain.weights], abs=1e-12)
    names = state_names(model, plain)
    for a, b, c in itertools.product(range(len(names)), repeat=3):
        chance = plain.follows(names[a], names[b], names[c])
        expected = math.log(chance) if chance else hmm.IMPOSSIBLE
        assert step(model, a, b, c) == pytest.approx(expected, abs=1e-9)


@few
@given(st.lists(sentence, min_size=1, max_size=6))
def test_chances_of_what_follows_a_pair_sum_to_one(sentences: list[list[Word]]) -> None:
    # After a pair that was never seen nothing is known of trigrams, and their weight is missing (Brants 2000).
    plain, model = PlainHmm(sentences), trained(sentences)
    names = state_names(model, plain)
    for a, b in itertools.product(range(len(names)), repeat=2):
        if not plain.contexts[1][names[b]]:
            continue
        steps = [step(model, a, b, c) for c in range(len(names))]
        total = sum(math.exp(each) for each in steps)
        missing = 0.0 if plain.contexts[2][names[a], names[b]] else model.sequences.weights[2]
        assert total == pytest.approx(1 - missing, abs=1e-9)


def test_weights_by_hand() -> None:
    # B B X Y E and B B X X E. Of 6 outcomes: X 3, Y 1, E 2. With each trigram's own count taken away:
    #   B B X (2): X 2/5, after B 1/1, after B B 1/1      -> bigrams and trigrams 1 each
    #   B X Y (1): Y 0/5, after X 0/2, after B X 0/1      -> all three 1/3
    #   X Y E (1): E 1/5, after Y 0/0, after X Y 0/0      -> unigrams 1
    #   B X X (1): X 2/5, after X 0/2, after B X 0/1      -> unigrams 1
    #   X X E (1): E 1/5, after X 0/2, after X X 0/0      -> unigrams 1
    sentences = [[("a", "X"), ("b", "Y")], [("a", "X"), ("c", "X")]]
    expected = [Fraction(10, 18), Fraction(4, 18), Fraction(4, 18)]
    assert PlainHmm(sentences).weights == tuple(expected)
    model = trained(sentences)
    assert model.sequences.weights == pytest.approx([float(each) for each in expected])
    # P(Y | B, X) = 10/18 * 1/6 + 4/18 * 1/3 + 4/18 * 1/2
    assert step(model, 2, 0, 1) == pytest.approx(math.log(Fraction(5, 18)))


def guessed(model: Trigrams, forms: list[str]) -> list[dict[str, float]]:
    vocabulary = Vocabulary.of(forms)
    chances = model.suffixes.chances(vocabulary, np.arange(len(forms)), begin_with_capital(vocabulary))
    return [dict(zip(model.labels, row.tolist(), strict=True)) for row in chances]


@few
@given(
    st.lists(sentence, min_size=1, max_size=6),
    st.lists(st.text(st.sampled_from("abAéÉ日本xX"), min_size=1, max_size=6), min_size=1, unique=True),
    st.integers(0, 4),
    st.integers(0, 3),
)
def test_endings_tell_what_they_tell_the_plain_tagger(
    sentences: list[list[Word]], forms: list[str], longest: int, rare: int
) -> None:
    plain = PlainHmm(sentences, rare=rare, longest=longest)
    model = trained(sentences, rare=rare, suffix_length=longest)
    assert model.suffixes.theta == pytest.approx(plain.theta, abs=1e-12)
    for form, chances in zip(forms, guessed(model, forms), strict=True):
        assert chances == pytest.approx(plain.guess(form), abs=1e-12)
        assert sum(chances.values()) == pytest.approx(1)


def test_endings_by_hand() -> None:
    # X 3 of 4, Y 1 of 4: theta is the root of (1/4)² + (1/4)², about 0.354. Of -b words one in two is X; -ab is Y.
    sentences = [[("bb", "X"), ("ab", "Y"), ("c", "X"), ("Ab", "X")]]
    theta = math.sqrt(1 / 8)
    one = (1 / 2 + theta * 3 / 4) / (1 + theta)
    two = (0 + theta * one) / (1 + theta)
    (found,) = guessed(trained(sentences), ["cab"])
    assert found == pytest.approx({"X": two, "Y": 1 - two})


def test_capitalised_words_have_endings_of_their_own() -> None:
    sentences = [[("Aing", "NAME"), ("being", "VERB")]] * 3
    capital, small = guessed(trained(sentences), ["Zing", "zing"])
    assert capital["NAME"] == small["VERB"] == 1.0  # theta is 0, as both labels are equally common
    assert trained(sentences).suffixes.theta == 0.0


def test_frequent_words_teach_no_endings() -> None:
    sentences = [[("ab", "X")]] * 4 + [[("cb", "Y")]] * 3
    (found,) = guessed(trained(sentences, rare=3), ["db"])
    assert found["Y"] > 0.9


@settings(max_examples=80)
@given(
    st.lists(sentence, min_size=1, max_size=6),
    st.lists(st.sampled_from([*FORMS, "zab", "Zab", "q"]), min_size=1, max_size=4),
    st.booleans(),
)
def test_the_best_of_all_sequences_is_found(sentences: list[list[Word]], forms: list[str], capitals: bool) -> None:  # noqa: FBT001
    plain, model = PlainHmm(sentences, capitals), trained(sentences, capitals=capitals, beam=0)
    assert found_score(plain, model, forms) == pytest.approx(plain.best_score(forms), abs=1e-8)


@settings(max_examples=80)
@given(
    st.lists(sentence, min_size=1, max_size=6),
    st.lists(st.sampled_from([*FORMS, "zab", "Zab", "q"]), min_size=1, max_size=5),
    st.sampled_from([2, 10, 1000]),
)
def test_a_beam_drops_what_it_drops_in_the_plain_tagger(
    sentences: list[list[Word]], forms: list[str], beam: int
) -> None:
    plain, model = PlainHmm(sentences), trained(sentences, beam=beam)
    assert found_score(plain, model, forms) == pytest.approx(plain.beam_score(forms, beam), abs=1e-8)


def found_score(plain: PlainHmm, model: Trigrams, forms: list[str]) -> float:
    """How likely the sequence is that the tagger found. Where a form allows one capital only, labels say it all."""
    choices = []
    for form, label in zip(forms, tags(model, forms), strict=True):
        choices.append([state for state in plain.emissions(form) if state[0] == label])
        assert choices[-1]
    return max(plain.score(forms, states) for states in itertools.product(*choices))


def test_a_narrow_beam_can_miss_the_best_sequence() -> None:
    # A sentence begins with `d` as Y in 5 of 14 cases, as X in 3; but Z, all that `f` can be, follows X alone.
    sentences = [[("d", "Y")]] * 5 + [[("d", "X"), ("f", "Z")]] * 3 + [[("g", "X"), ("f", "Z")]] * 6
    plain = PlainHmm(sentences)
    assert tags(trained(sentences, beam=0), ["d", "f"]) == ["X", "Z"]
    assert tags(trained(sentences, beam=1), ["d", "f"]) == ["Y", "Z"]
    scores = {beam: found_score(plain, trained(sentences, beam=beam), ["d", "f"]) for beam in (0, 1)}
    assert scores[0] == pytest.approx(plain.best_score(["d", "f"]))
    assert scores[1] < scores[0]


def test_impossible_steps_are_taken_where_there_are_no_others() -> None:
    # All weight goes to longer sequences, and `b a` has none of them.
    sentences = [[("a", "X"), ("b", "Y")]] * 4
    model = trained(sentences)
    assert model.sequences.weights[0] == 0
    assert tags(model, ["b", "a"]) == ["Y", "X"]


def test_any_initial_capacity_gives_the_same_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [[("a", "X"), ("b", "Y"), ("c", "Z")], [("b", "X"), ("a", "Z")]] * 3
    forms = ["q", "r", "a", "s", "b", "t", "u", "v"]
    model = trained(sentences, beam=0)
    expected = tags(model, forms)
    for capacity in (1, 5, 40):
        monkeypatch.setattr(hmm, "CAPACITY", capacity)
        assert tags(model, forms) == expected


@contextmanager
def plain_python() -> Iterator[None]:
    """Every kernel of the tagger replaced by the Python function it was made of."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for name in ("best_states", "file_keys", "grow_suffixes", "guess_labels"):
            assert getattr(hmm, name) is getattr(kernels, name)
            patch.setattr(hmm, name, getattr(kernels, name).python)
        yield


@settings(max_examples=25)
@given(st.lists(sentence, min_size=1, max_size=6), st.lists(st.sampled_from([*FORMS, "zab", "Q"]), min_size=1))
def test_machine_code_finds_what_plain_python_finds(sentences: list[list[Word]], forms: list[str]) -> None:
    with plain_python():
        expected = tags(trained(sentences), forms)
    assert tags(trained(sentences), forms) == expected


def test_a_capital_is_a_letter_that_is_upper_case() -> None:
    strings = ["A", "a", "Éa", "éA", "Z", "[", "1", "日", "Ω", "ω", "_"]
    assert begin_with_capital(Vocabulary.of(strings)).tolist() == [string[0].isupper() for string in strings]


@pytest.mark.parametrize("setting", ["suffix_length", "rare", "beam"])
def test_a_setting_below_zero_is_refused(setting: str) -> None:
    with pytest.raises(InputError, match=f"hmm.v1: {setting}=-1; expected at least 0"):
        SYSTEMS.make("hmm.v1", **{setting: -1})


# What nltk.tag.tnt.TnT(C=capitals) of NLTK 3.10.4 gets right on the same files, of 25,147 words:
# train(sentences), then tag(words) for each sentence of dev; benchmarks/bench_taggers_hmm.py does so.
@pytest.mark.parametrize(
    ("column", "capitals", "right"),
    [("upos", True, 23275), ("upos", False, 23205), ("xpos", True, 23258), ("xpos", False, 23186)],
)
def test_english_is_labelled_as_well_as_by_another_program(
    shared_data: Path, column: str, capitals: bool, right: int  # noqa: FBT001
) -> None:  # fmt: skip
    folder = shared_data / "treebanks" / "en_ewt"
    train, dev = (read(folder / f"en_ewt-ud-{part}.conllu") for part in ("train", "dev"))
    model = SYSTEMS.make("hmm.v1", column=column, capitals=capitals).train(train, None, 0)
    found, gold = model.predict(dev).column(column).strings(), dev.column(column).strings()
    assert sum(map(str.__eq__, found, gold)) == right
