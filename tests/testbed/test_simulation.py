"""Simulated systems are as good as they are said to be, and wrong where the others are."""

from __future__ import annotations

import io
import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from statistics import correlation, fmean, stdev

import pytest
from udtools.udeval import evaluate, load_conllu

from deadheat.errors import InputError
from deadheat.testbed import LANGUAGES, SimulatedSystem, generate, simulate, truth
from tests.testbed.checker import read, sentence_spans, token_spans

PLAIN = SimulatedSystem("plain", document_effect=0.0, seed_sd=0.0)


def words(text: str) -> list[list[str]]:
    """The columns of all words, without multiword tokens and empty nodes."""
    lines = (line.split("\t") for line in text.split("\n") if line[:1].isdigit())
    return [columns for columns in lines if columns[0].isdigit()]


def correct(gold: str, predicted: str) -> dict[str, list[bool]]:
    """Whether each word is right, by what is compared."""
    pairs = list(zip(words(gold), words(predicted), strict=True))
    heads = [right[6] == result[6] for right, result in pairs]
    labels = [right[7].split(":")[0] == result[7].split(":")[0] for right, result in pairs]
    return {
        "upos": [right[3] == result[3] for right, result in pairs],
        "xpos": [right[4] == result[4] for right, result in pairs],
        "feats": [right[5] == result[5] for right, result in pairs],
        "lemma": [right[2] == result[2] for right, result in pairs],
        "uas": heads,
        "las": [head and label for head, label in zip(heads, labels, strict=True)],
        "label": [label for head, label in zip(heads, labels, strict=True) if head],
    }


def document_numbers(text: str) -> list[int]:
    """The number of the document of each word."""
    documents = text.split("# newdoc")[1:]
    return [number for number, document in enumerate(documents) for _ in words(document)]


def phi(one: list[bool], other: list[bool]) -> float:
    """Correlation of two lists of truth values."""
    p, q = fmean(one), fmean(other)
    both = fmean(a and b for a, b in zip(one, other, strict=True))
    return (both - p * q) / math.sqrt(p * (1 - p) * q * (1 - q))


def dispersion(right: list[bool], documents: list[int]) -> float:
    """Variance between documents over what independent words would have: 1 where documents do not matter."""
    grouped = defaultdict(list)
    for value, document in zip(right, documents, strict=True):
        grouped[document].append(value)
    p = fmean(right)
    squares = [(sum(values) - p * len(values)) ** 2 / (len(values) * p * (1 - p)) for values in grouped.values()]
    return fmean(squares)


def worst_deviation(text: str, system: SimulatedSystem) -> float:
    """The largest difference between found and true accuracy, in standard errors."""
    true = truth(system, seed=8)
    deviations = []
    for name, right in correct(text, simulate(text, system, seed=8)).items():
        expected: float = getattr(true, name)
        error = math.sqrt(expected * (1 - expected) / len(right))
        deviations.append(abs(fmean(right) - expected) / error)
    return max(deviations)


@pytest.mark.slow
def test_the_accuracies_are_what_was_asked_for(large_text: str) -> None:
    assert worst_deviation(large_text, PLAIN) < 3


@pytest.mark.parametrize(
    "system",
    [
        replace(PLAIN, name="poor", upos=0.6, xpos=0.5, feats=0.4, lemma=0.7, uas=0.55, label=0.7),
        replace(PLAIN, name="varied", seed_sd=0.02, correlation=0.9),
        replace(PLAIN, name="rooted", uas=0.8, multiple_roots=True),
    ],
    ids=lambda system: system.name,
)
def test_other_accuracies_are_what_was_asked_for_too(system: SimulatedSystem, middle_text: str) -> None:
    assert worst_deviation(middle_text, system) < 3


def test_short_sentences_have_the_accuracies_asked_for_too() -> None:
    short = replace(LANGUAGES["velani"], mean_length=3.0)
    gold = generate(short, sentences=1500, seed=1)
    sizes = [len(block.rows) for block in read(gold)]
    assert min(sizes) == 1
    assert fmean(sizes) < 6
    right = correct(gold, simulate(gold, replace(PLAIN, uas=0.7), seed=2))
    for name, expected in {"uas": 0.7, "label": 0.94, "las": 0.7 * 0.94}.items():
        # Words of such a sentence are not independent: half of the standard error is added for that.
        error = 1.5 * math.sqrt(expected * (1 - expected) / len(right[name]))
        assert abs(fmean(right[name]) - expected) < 3 * error, name


def test_documents_move_the_accuracy_around_the_setting(middle_text: str) -> None:
    result = correct(middle_text, simulate(middle_text, replace(PLAIN, document_effect=0.5), seed=1))["uas"]
    spread = math.sqrt(dispersion(result, document_numbers(middle_text)))
    assert spread > 1.5
    assert abs(fmean(result) - 0.88) < 3 * spread * math.sqrt(0.88 * 0.12 / len(result))


def test_the_official_evaluator_measures_the_same(texts: dict[str, str]) -> None:
    text = texts["morelle"]
    predicted = simulate(text, SimulatedSystem("measured", uas=0.8), seed=3)
    scores = evaluate(*(load_conllu(io.StringIO(side), "text", {}) for side in (text, predicted)))
    right = correct(text, predicted)
    for ours, theirs in {"upos": "UPOS", "xpos": "XPOS", "lemma": "Lemmas", "uas": "UAS", "las": "LAS"}.items():
        assert sum(right[ours]) == scores[theirs].correct, ours
    assert scores["UFeats"].correct == sum(right["feats"])


def test_errors_of_two_systems_correlate_as_asked(small_text: str) -> None:
    result = []
    for asked in (0.0, 0.5, 0.9):
        system = replace(PLAIN, upos=0.8, correlation=asked)
        sides = [simulate(small_text, replace(system, name=name), seed=1) for name in ("one", "other")]
        result.append(phi(*(correct(small_text, side)["upos"] for side in sides)))
    assert abs(result[0]) < 0.04
    assert all(later - earlier > 0.1 for earlier, later in pairwise(result))


def test_another_shared_seed_makes_other_words_hard(small_text: str) -> None:
    system = replace(PLAIN, correlation=0.9)
    one = simulate(small_text, system, seed=1)
    other = simulate(small_text, replace(system, name="other"), seed=1, shared_seed=9)
    assert abs(phi(correct(small_text, one)["upos"], correct(small_text, other)["upos"])) < 0.04


def test_hard_documents_are_hard_for_all_systems(middle_text: str) -> None:
    numbers = document_numbers(middle_text)
    without = correct(middle_text, simulate(middle_text, PLAIN, seed=1))["upos"]
    assert 0.7 < dispersion(without, numbers) < 1.4
    errors = []
    for name in ("one", "other"):
        system = replace(PLAIN, name=name, document_effect=0.4)
        right = correct(middle_text, simulate(middle_text, system, seed=1))["upos"]
        assert dispersion(right, numbers) > 2
        grouped = defaultdict(list)
        for value, number in zip(right, numbers, strict=True):
            grouped[number].append(value)
        errors.append([fmean(values) for values in grouped.values() if len(values) > 100])
    assert correlation(*errors) > 0.6


def test_the_accuracy_varies_over_seeds_as_asked() -> None:
    system = SimulatedSystem("unsteady", uas=0.9, lemma=1.0, seed_sd=0.01)
    result = [truth(system, seed=seed) for seed in range(2000)]
    assert fmean(true.uas for true in result) == pytest.approx(0.9, abs=0.001)
    assert stdev(true.uas for true in result) == pytest.approx(0.01, rel=0.06)
    assert {true.lemma for true in result} == {1.0}
    assert all(true.las == true.uas * true.label for true in result)
    assert all(0 <= truth(replace(system, uas=0.99, seed_sd=0.5), seed=seed).uas <= 1 for seed in range(50))


@pytest.mark.parametrize("language", ["velani", "morelle", "dzari"])
def test_the_shares_of_correct_tokens_and_sentences_are_as_requested(language: str) -> None:
    gold_text = generate(language, sentences=300, seed=6)
    gold = read(gold_text)
    system = SimulatedSystem("raw", tokens=0.9, sentences=0.8)
    predicted = read(simulate(gold_text, system, seed=1))
    tokens = list(token_spans(gold))
    result = set(token_spans(predicted))
    share = fmean(token in result for token in tokens)
    assert abs(share - 0.9) < 3 * 1.5 * math.sqrt(0.9 * 0.1 / len(tokens))
    sentences = list(sentence_spans(gold))
    spans = set(sentence_spans(predicted))
    share = fmean(sentence in spans for sentence in sentences)
    assert abs(share - 0.8) < 3 * 1.5 * math.sqrt(0.8 * 0.2 / len(sentences))


def test_multiword_tokens_are_missed_and_invented() -> None:
    gold_text = generate("morelle", sentences=300, seed=1)
    gold = {(start, end): words for start, end, words in token_spans(read(gold_text))}
    raw = read(simulate(gold_text, SimulatedSystem("raw", tokens=0.7), seed=1))
    predicted = {(start, end): words for start, end, words in token_spans(raw)}
    common = gold.keys() & predicted.keys()
    assert any(len(gold[span]) == 2 and len(predicted[span]) == 1 for span in common)
    assert any(len(gold[span]) == 1 and len(predicted[span]) == 2 for span in common)
    assert any(len(gold[span]) == 2 for span in gold.keys() - common)


def test_a_perfect_system_repeats_the_gold_text(texts: dict[str, str]) -> None:
    perfect = SimulatedSystem("perfect", upos=1, xpos=1, feats=1, lemma=1, uas=1, label=1)
    assert simulate(texts["velani"], perfect, seed=0) == texts["velani"]


def test_a_text_without_documents_is_taken_sentence_by_sentence(texts: dict[str, str]) -> None:
    lines = [line for line in texts["velani"].split("\n") if not line.startswith(("# newdoc", "# genre"))]
    assert simulate("\n".join(lines), PLAIN, seed=0) != "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tword\n\n", "line 1: 2 columns; expected 10"),
        ("# sent_id = 1\n1" + "\ta" * 9 + "\n\n", "line 2: ID '1', HEAD 'a'; expected whole numbers"),
        ("1" + "\t_" * 5 + "\t7\troot\t_\t_\n\n", "line 1: word 1 has head 7; the sentence has 1 words"),
        ("1" + "\t_" * 5 + "\t1\troot\t_\t_\n\n", "expected one root and no cycle"),
        ("1" + "\t_" * 5 + "\t0\troot\t_\t_\n", "line 1: no empty line after the last sentence"),
    ],
)
def test_a_gold_text_that_is_wrong_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(text, PLAIN, seed=0)
