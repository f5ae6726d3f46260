"""`deadheat.tagger`: a system from a function on sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import deadheat
from deadheat.errors import InputError, NameUnknown

TRAIN = deadheat.read(text="the_DT heat_NN\na_DT dead_JJ heat_NN\n")
TEST = deadheat.read(text="the_? dead_?\nheat_?\n")
Words = list[str]


def learned(predict: Callable[[Words], Sequence[Any]], **settings: Any) -> deadheat.Corpus:
    system = deadheat.tagger(lambda train, tune, seed: predict, column="tag", **settings)
    return system.train(TRAIN, None, 0).predict(TEST)


def test_it_learns_from_sentences_and_labels_sentence_by_sentence() -> None:
    seen: list[Any] = []

    def learn(train: Any, tune: Any, seed: int) -> Callable[[Words], Sequence[str]]:
        seen.extend((train, tune, seed))
        return lambda words: [word.upper() for word in words]

    system = deadheat.tagger(learn, column="tag", tuned=True)
    predicted = system.train(TRAIN, TEST, 7).predict(TEST)
    assert predicted.column("tag").strings() == ["THE", "DEAD", "HEAT"]
    assert predicted.column("form").strings() == TEST.column("form").strings()
    assert seen == [
        [(["the", "heat"], ["DT", "NN"]), (["a", "dead", "heat"], ["DT", "JJ", "NN"])],
        [(["the", "dead"], ["?", "?"]), (["heat"], ["?"])],
        7,
    ]
    assert (system.predicts, system.seeded, system.tuned) == (("tag",), True, True)


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda words: ["X"], r"1 label for the 2 words of sentence 1; expected one per word"),
        (lambda words: [1] * len(words), r"the label 1 is 'int'; expected a string"),
        (lambda words: [None] * len(words), r"the label None is 'NoneType'; expected a string"),
    ],
)
def test_wrong_labels_are_one_line(predict: Callable[[Words], Sequence[Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        learned(predict)


def test_a_learner_has_to_return_a_function() -> None:
    system = deadheat.tagger(lambda train, tune, seed: 5, column="tag")  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="learn returned 'int'; expected a function from words to labels"):
        system.train(TRAIN, None, 0)


def test_what_the_seed_does_is_one_of_four_words() -> None:
    with pytest.raises(NameUnknown, match="randomness 'fix' is unknown"):
        learned(lambda words: words, randomness="fix")
    for randomness, seeded in (("seed", True), ("noise", True), ("fixed", False), ("none", False)):
        system = deadheat.tagger(lambda train, tune, seed: lambda words: words, randomness=randomness)
        assert system.seeded is seeded
