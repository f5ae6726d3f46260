"""Everything the testbed writes is CoNLL-U that others accept."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from udtools.udeval import UDError, evaluate, load_conllu
from udtools.validator import Validator

from deadheat.testbed import DEFAULT_SYSTEMS, LANGUAGES, SimulatedSystem, simulate
from tests.testbed.checker import Block, characters, faults, read

MESSY = SimulatedSystem("messy", upos=0.7, uas=0.5, label=0.6, tokens=0.6, sentences=0.4)
SYSTEMS = [*DEFAULT_SYSTEMS[-2:], MESSY, SimulatedSystem("hopeless", upos=0.0, feats=0.0, uas=0.0, label=0.0)]


VALIDATOR = Validator(lang="ud", level=3, output=None)


def incidents(text: str) -> list[str]:
    state = VALIDATOR.validate_file_handle(io.StringIO(text))
    return [incident.testid for incident in state.error_tracker]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_a_tree_over_its_text(language: str, blocks: dict[str, list[Block]]) -> None:
    assert [block.comments["sent_id"] for block in blocks[language] if faults(block)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_validator_of_universal_dependencies_finds_nothing(language: str, texts: dict[str, str]) -> None:
    assert incidents(texts[language]) == []


def test_the_validator_does_find_mistakes(texts: dict[str, str]) -> None:
    assert "rel-upos-det" in incidents(texts["velani"].replace("\tpunct\t", "\tdet\t"))
    assert "unknown-eudeprel" in incidents(texts["elisque"].replace("conj:", "canj:"))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_prediction_is_a_tree_over_the_same_characters(
    language: str, system: SimulatedSystem, texts: dict[str, str], blocks: dict[str, list[Block]]
) -> None:
    predicted = read(simulate(texts[language], system, seed=1))
    assert [block.comments["sent_id"] for block in predicted if faults(block)] == []
    assert characters(predicted) == characters(blocks[language])
    names = [block.comments["sent_id"] for block in predicted]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_official_evaluator_accepts_gold_and_predictions(language: str, texts: dict[str, str]) -> None:
    gold = load_conllu(io.StringIO(texts[language]), "gold", {})
    same = evaluate(gold, gold)
    assert same["LAS"].f1 == same["Sentences"].f1 == 1
    for system in (DEFAULT_SYSTEMS[1], MESSY):
        predicted = load_conllu(io.StringIO(simulate(texts[language], system, seed=2)), "predicted", {})
        scores = evaluate(gold, predicted)
        assert 0 < scores["LAS"].f1 < 0.95
        assert (scores["Tokens"].f1 == 1) == (system.tokens == 1)
        assert (scores["Sentences"].f1 == 1) == (system.sentences == 1)


def test_several_roots_come_only_where_they_are_allowed(texts: dict[str, str]) -> None:
    system = SimulatedSystem("rooted", uas=0.7, multiple_roots=True)
    text = simulate(texts["velani"], system, seed=1)
    predicted = read(text)
    assert any(len([head for head in block.heads if head == 0]) > 1 for block in predicted)
    assert all(faults(block, multiple_roots=True) == [] for block in predicted)
    with pytest.raises(UDError, match="multiple roots"):
        load_conllu(io.StringIO(text), "predicted", {})
    assert load_conllu(io.StringIO(text), "predicted", {"multiple_roots_okay": True})
    single = simulate(texts["velani"], replace(system, multiple_roots=False), seed=1)
    assert load_conllu(io.StringIO(single), "predicted", {})
