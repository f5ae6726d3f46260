"""States of language models as features of words: by hand, from the cache, alone and in company."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

from deadheat.corpus import Corpus, read, take
from deadheat.kernels import cache
from deadheat.neural import language_states
from deadheat.neural.contextual import ContextualStrings, LanguageModelSettings, LanguageText
from deadheat.neural.language_model import LanguageModel
from deadheat.neural.language_states import fill_states, language_model, language_models, word_states
from deadheat.neural.raw_text import RawSentences
from tests.neural.test_language_model import TEXT, plain_states, random_weights
from tests.neural.tiny import corpus_of, rows_of

SMALL = LanguageModelSettings(units=6, epochs=1, character_size=5)
CHARACTERS = ("", "\n", " ", "a", "b", "c", "d")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    cache.cache_folder.cache_clear()
    yield tmp_path / "cache"
    cache.cache_folder.cache_clear()


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The text and the direction of every training, which only makes up weights."""
    trainings: list[tuple[str, str]] = []

    def train(text: str, settings: LanguageModelSettings, direction: str) -> LanguageModel:
        trainings.append((text, direction))
        seed = sum(text.encode()) + settings.seed + len(trainings) * 1000
        weights = random_weights(seed, characters=len(CHARACTERS), size=settings.character_size, units=settings.units)
        return LanguageModel(direction, CHARACTERS, 2.5, weights)

    monkeypatch.setattr(language_states, "train_language_model", train)
    return trainings


def corpus(*sentences: str) -> Corpus:
    rows = ["".join(f"{word}\tX\n" for word in sentence.split()) + "\n" for sentence in sentences]
    return read(text="".join(rows), format="columns", columns=["form", "tag"])


def states(model: LanguageModel, text: Corpus) -> np.ndarray:
    found = np.zeros((text.words, len(model.weights.recurrent)), np.float16)
    fill_states(found, model, RawSentences.of(text))
    return found


def test_the_forward_state_is_the_one_after_the_last_character_of_a_word() -> None:
    weights = random_weights(characters=7)
    # The line is read as: new line, a, b, space, c. The words end at the third and the fifth character.
    read_so_far = plain_states(weights, [1, 3, 4, 2, 5])
    found = states(LanguageModel("forward", CHARACTERS, 0.0, weights), corpus("ab c"))
    assert found == pytest.approx(read_so_far[[2, 4]], abs=2e-3)


def test_the_backward_state_is_the_one_before_the_first_character_of_a_word() -> None:
    weights = random_weights(characters=7)
    # Read from the right: new line, c, space, b, a. "ab" begins where the fifth has been read, "c" at the second.
    read_so_far = plain_states(weights, [1, 5, 2, 4, 3])
    found = states(LanguageModel("backward", CHARACTERS, 0.0, weights), corpus("ab c"))
    assert found == pytest.approx(read_so_far[[4, 1]], abs=2e-3)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_sentence_has_the_same_states_whatever_is_beside_it(direction: str) -> None:
    model = LanguageModel(direction, CHARACTERS, 0.0, random_weights(characters=7))
    sentences = ["ab c", "d " * 40, "a b c d", "abcd" * 50, "x", "c ab"]
    everything = corpus(*sentences)
    whole = states(model, everything)
    for number, sentence in enumerate(sentences):
        first, last = everything.offsets[number : number + 2]
        assert np.array_equal(whole[first:last], states(model, corpus(sentence))), sentence


def test_features_are_both_states_of_all_corpora(trained: list[Any]) -> None:
    text = LanguageText.of("some text")
    both = [corpus("ab c", "d"), corpus("c")]
    found = word_states(text, SMALL, both)
    assert found.shape == (4, 1, 12)
    assert found.dtype == np.float16
    forward, backward = language_models(text, SMALL)
    for columns, model in ((slice(6), forward), (slice(6, 12), backward)):
        expected = np.concatenate([states(model, part) for part in both])
        assert np.array_equal(found[:, 0, columns], expected)
    assert trained == [("some text", "forward"), ("some text", "backward")]


def test_what_is_in_the_cache_is_not_trained_again(trained: list[Any]) -> None:
    text = LanguageText.of("some text")
    first = np.array(word_states(text, SMALL, [corpus("ab c")]))
    assert len(trained) == 2
    assert np.array_equal(word_states(text, SMALL, [corpus("ab c")]), first)
    word_states(text, SMALL, [corpus("ab d")])  # other words, the same models
    models = language_models(text, SMALL)
    assert len(trained) == 2
    assert [model.direction for model in models] == ["forward", "backward"]
    assert (models[0].bits, models[0].characters) == (2.5, CHARACTERS)


def test_other_texts_settings_and_seeds_are_other_models(trained: list[Any]) -> None:
    words = [corpus("ab c")]
    variants = [
        (LanguageText.of("some text"), SMALL),
        (LanguageText.of("some text "), SMALL),
        (LanguageText.of("some text"), LanguageModelSettings(units=6, epochs=2, character_size=5)),
        (LanguageText.of("some text"), LanguageModelSettings(units=6, epochs=1, character_size=5, seed=1)),
    ]
    rows = [np.array(word_states(text, settings, words)).tobytes() for text, settings in variants]
    assert len(set(rows)) == len(variants)
    assert len(trained) == 2 * len(variants)


def test_a_model_that_was_damaged_is_trained_again(trained: list[Any], cache_folder: Path) -> None:
    text = LanguageText.of("some text")
    language_model(text, SMALL, "forward")
    (file,) = (path for path in (cache_folder / "language-models").iterdir() if path.suffix != ".lock")
    file.write_bytes(file.read_bytes()[:-10])
    language_model(text, SMALL, "forward")
    file.write_bytes(b"")
    language_model(text, SMALL, "forward")
    assert len(trained) == 3


def test_without_a_cache_models_are_trained(
    trained: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "file"))
    cache.cache_folder.cache_clear()
    text = LanguageText.of("some text")
    assert word_states(text, SMALL, [corpus("ab c")]).shape == (2, 1, 12)
    assert len(trained) == 2


def test_of_two_that_need_a_model_one_trains_and_the_other_waits(
    monkeypatch: pytest.MonkeyPatch, trained: list[Any]
) -> None:
    started, go_on = threading.Event(), threading.Event()
    train = vars(language_states)["train_language_model"]

    def slow(*args: Any) -> LanguageModel:
        started.set()
        assert go_on.wait(60)
        model: LanguageModel = train(*args)
        return model

    monkeypatch.setattr(language_states, "train_language_model", slow)
    models: list[LanguageModel] = []
    threads = [
        threading.Thread(target=lambda: models.append(language_model(LanguageText.of("text"), SMALL, "forward")))
        for _ in range(2)
    ]
    threads[0].start()
    assert started.wait(60)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert len(trained) == 1
    assert np.array_equal(models[0].weights.table, models[1].weights.table)


def test_only_training_sentences_are_in_the_text() -> None:
    whole = corpus_of(rows_of(6))
    source = ContextualStrings(SMALL).with_text(whole, np.array([4, 0, 2]))
    assert source.text is not None
    lines = [" ".join(take(whole, np.array([number])).column("form").strings()) for number in range(6)]
    assert source.text.text.split("\n") == [lines[0], lines[2], lines[4]]


def test_sources_of_equal_texts_are_equal_and_others_are_not() -> None:
    whole = corpus_of(rows_of(6))
    plain = ContextualStrings(SMALL)
    first, again, other = (plain.with_text(whole, np.array(rows)) for rows in ([0, 1], [1, 0], [0, 2]))
    assert first == again
    assert hash(first) == hash(again)
    assert first != other
    assert plain not in (first, other)
    assert (plain.size, plain.layers) == (12, 1)


def test_a_file_is_read_when_the_text_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    source = ContextualStrings(SMALL, str(path))
    path.write_text(f"{TEXT}\n{TEXT}\n")
    bound = source.with_text(corpus("ab"), np.array([0]))
    assert bound.text is not None
    assert bound.text.text == f"{TEXT}\n{TEXT}"


@pytest.mark.slow
def test_a_process_finds_the_models_of_another(cache_folder: Path) -> None:
    program = f"""
from deadheat.neural.contextual import LanguageModelSettings, LanguageText
from deadheat.neural.language_states import language_models
print([model.weights.table.sum() for model in language_models(LanguageText.of({TEXT!r}), {SMALL!r})])
"""
    first = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    broken = "import deadheat.neural.language_states as s; s.train_language_model = None\n" + program
    again = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=True, timeout=600)
    assert first.stdout == again.stdout != ""
