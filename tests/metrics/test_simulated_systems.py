"""Whole treebanks with other tokens and sentences, as parsers of raw text give them, beside the evaluator."""

from itertools import pairwise

import pytest

from deadheat.metrics import align
from deadheat.testbed import LANGUAGES, SimulatedSystem, generate, simulate
from tests.metrics.oracle import NAMES, official, ours, parsed, sentences_of

SYSTEM = SimulatedSystem("raw", tokens=0.93, sentences=0.8, multiple_roots=True)


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_other_tokens_and_sentences_have_the_evaluators_counts(language: str) -> None:
    gold = generate(language, sentences=150, seed=4)
    predicted = simulate(gold, SYSTEM, seed=2)
    pair = align(parsed(gold), parsed(predicted))
    result = ours(pair)
    assert result == official(gold, predicted)
    assert pair.units.name == "block"
    assert 1 < len(pair.units) < pair.gold.sentences
    for name in NAMES[:13]:  # enhanced edges are not predicted
        assert 0 < result[name][0] < result[name][1], name


def test_each_document_has_the_counts_that_the_evaluator_gives_to_it_alone() -> None:
    gold = generate("velani", sentences=60, seed=5)
    predicted = simulate(gold, SimulatedSystem("tagger", tokens=0.95), seed=1)
    pair = align(parsed(gold), parsed(predicted), unit="document")
    assert pair.units.name == "document"
    sides = [sentences_of(text) for text in (gold, predicted)]
    marks = [i for i, sentence in enumerate(sides[0]) if "# newdoc" in sentence]
    assert len(pair.units) == len(marks) > 3
    for unit, (first, last) in enumerate(pairwise([*marks, len(sides[0])])):
        assert ours(pair, unit) == official(*("".join(side[first:last]) for side in sides))
