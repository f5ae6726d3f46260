"""Wrong parameters stop at the door."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from deadheat.errors import InputError
from deadheat.testbed import LANGUAGES, Genre, SimulatedSystem, generate, treebank

VELANI = LANGUAGES["velani"]

BAD_LANGUAGES: list[tuple[dict[str, Any], str]] = [
    ({"name": "two words"}, "invalid name"),
    ({"name": ""}, "invalid name"),
    ({"zipf": 0.0}, "zipf is 0.0; expected 0.1 or more"),
    ({"ambiguity": 1.5}, "ambiguity is 1.5; expected a number from 0 to 1"),
    ({"nonprojectivity": -0.1}, "nonprojectivity is -0.1"),
    ({"mean_length": float("nan")}, "mean_length is nan; expected 2.0 or more"),
    ({"document_length": 0.5}, "document_length is 0.5"),
    ({"lexicon": 10}, "lexicon is 10; expected 500 or more"),
    ({"vowels": "a"}, "vowels are 'a'; expected three or more letters"),
    ({"consonants": "p t k"}, "consonants are"),
    ({"cases": ("Nom", "Nom")}, "cases has a value twice"),
    ({"tenses": ()}, "no tenses or no genres"),
    ({"genres": ()}, "no tenses or no genres"),
    ({"adposition": "around"}, "adposition is 'around'; expected 'before' or 'after'"),
    ({"arrangements": ()}, "expected some of SVO"),
    ({"arrangements": (("SV", 1.0),)}, "expected some of SVO"),
    ({"arrangements": (("SVO", 0.0),)}, "expected some of SVO"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_LANGUAGES)
def test_a_language_with_a_bad_parameter_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(VELANI, **changes)


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(InputError) as caught:
        replace(VELANI, zipf=-1.0, topics=0, clitics=2.0)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("changes", [{"name": "a-b"}, {"weight": 0.0}, {"past": 2.0}, {"length": -1.0}])
def test_a_bad_genre_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="genre"):
        replace(Genre(name="news"), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"upos": 1.1}, "upos is 1.1; expected a number from 0 to 1"),
        ({"uas": -0.1}, "uas is -0.1"),
        ({"label": float("nan")}, "label is nan"),
        ({"seed_sd": -1.0}, "seed_sd is -1.0; expected 0.0 or more"),
        ({"tokens": 2.0}, "tokens is 2.0"),
        ({"name": "a/b"}, "invalid name"),
        ({"correlation": 0.05}, "expected document_effect\\*\\*2 <= correlation"),
    ],
)
def test_a_bad_system_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(SimulatedSystem("fine"), **changes)


def test_an_unknown_language_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean 'velani'"):
        generate("velany", sentences=1, seed=0)


def test_a_corpus_needs_a_sentence_and_a_treebank_documents() -> None:
    with pytest.raises(InputError, match="sentences: 0; expected 1 or more"):
        generate("velani", sentences=0, seed=0)
    with pytest.raises(InputError, match="sentences: 5 are fewer than three documents; expected more"):
        treebank("velani", sentences=5, seed=0)
