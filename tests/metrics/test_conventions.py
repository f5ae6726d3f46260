"""UAS and LAS as other tools count them: by hand, by a published-style table, and by an obvious version."""

from pathlib import Path

import pytest

from deadheat.corpus import Corpus, read
from deadheat.errors import NameUnknown
from deadheat.metrics import Pair, align
from tests.metrics.examples import corpus, pair_of, total, value
from tests.metrics.oracle import parsed
from tests.metrics.random_pairs import random_pair

# form/head/relation/UPOS/XPOS; every word differs from the prediction in one way or in none.
GOLD = (
    "He/2/nsubj/PRON/PRP said/0/root/VERB/VBD ,/2/punct/PUNCT/, `/2/punct/PUNCT/`` Go/2/ccomp:x/VERB/VB "
    "$/5/obj/SYM/$ -/5/dep/PUNCT/: --/5/punct/SYM/SYM"
)
PREDICTED = (
    "He/2/nsubj:pass/X/X said/0/root/X/X ,/5/punct/X/X `/2/obj/X/X Go/2/ccomp/X/X "
    "$/5/obj/X/X -/5/punct/X/X --/2/PUNCT/X/X"
)
# Heads right:        He said    `   Go  $  -      (wrong: , and --)
# main labels right:  He said        Go  $         (of those with the right head; - is dep)
# full labels right:     said            $
# Punctuation by form: , - --    (` and $ are symbols to Unicode)
# by UPOS: , ` -      by relation: , ` --      by Penn tag: , ` -
BY_HAND = {
    ("none", "counted"): (6, 8),
    ("main", "counted"): (4, 8),
    ("full", "counted"): (2, 8),
    ("none", "form"): (5, 5),
    ("main", "form"): (4, 5),
    ("full", "form"): (2, 5),
    ("none", "upos"): (4, 5),
    ("main", "upos"): (4, 5),
    ("full", "upos"): (2, 5),
    ("none", "deprel"): (5, 5),
    ("main", "deprel"): (4, 5),
    ("full", "deprel"): (2, 5),
    ("none", "penn"): (4, 5),
    ("main", "penn"): (4, 5),
    ("full", "penn"): (2, 5),
}


@pytest.fixture
def by_hand() -> Pair:
    return pair_of(GOLD, PREDICTED)


@pytest.mark.parametrize(("labels", "punctuation"), BY_HAND)
def test_each_convention_counts_its_words_and_labels(by_hand: Pair, labels: str, punctuation: str) -> None:
    correct, words = BY_HAND[labels, punctuation]
    name = f"attachment(labels={labels!r}, punctuation={punctuation!r})"
    assert total(by_hand, name) == [correct, words, words]
    assert value(by_hand, name) == correct / words


@pytest.mark.parametrize(
    ("tool", "punctuation"), [("supar", "form"), ("conllx", "form"), ("machamp", "counted"), ("ptb", "penn")]
)
def test_the_names_of_tools_are_conventions(by_hand: Pair, tool: str, punctuation: str) -> None:
    for metric, labels in (("uas", "none"), ("las", "full")):
        long = f"attachment(labels={labels!r}, punctuation={punctuation!r})"
        assert total(by_hand, f"{metric}-{tool}") == total(by_hand, long)


def test_the_official_las_counts_punctuation_and_cuts_labels_unless_asked_for_subtypes(by_hand: Pair) -> None:
    assert total(by_hand, "uas")[:3] == [6, 8, 8]
    assert total(by_hand, "las")[:3] == [4, 8, 8]
    assert total(by_hand, "las(subtypes=True)")[:3] == [2, 8, 8]


def test_label_accuracy_leaves_heads_aside(by_hand: Pair) -> None:
    # Of He said ` Go $ those with the right full label, whatever their heads: said $.
    assert total(by_hand, "label-conllx") == [2, 5, 5]
    other_heads = pair_of("a/0/root b/1/obj c/1/nmod", "a/2/root b/0/obj c/2/obj")
    assert total(other_heads, "label-conllx") == [2, 3, 3]


def test_whole_sentences_are_right_if_all_words_but_punctuation_are() -> None:
    gold = corpus("a/0/root ./1/punct", "b/0/root c/1/obj", "!/0/root", "d/0/root e/1/nmod:x")
    predicted = corpus("a/0/root ./1/dep", "b/2/obj c/0/root", "!/0/dep", "d/0/root e/1/nmod")
    pair = align(gold, predicted)
    assert total(pair, "ucm-supar") == [3, 4, 4]
    assert total(pair, "lcm-supar") == [2, 4, 4]


@pytest.mark.parametrize(
    ("form", "gone"), [(".", True), ("...", True), ("“", True), ("、", True), ("$", False), ("+", False), (".a", False)]
)
def test_punctuation_by_form_is_what_unicode_calls_so(*, form: str, gone: bool) -> None:
    pair = pair_of(f"a/0/root {form}/1/punct", f"a/0/root {form}/1/punct")
    assert total(pair, "uas-supar")[1] == 2 - gone


def arcs(side: Corpus, *, labelled: bool) -> set[tuple[object, ...]]:
    """What spaCy's scorer collects: arcs whose lower-cased label is not ignored, as a set."""
    result: set[tuple[object, ...]] = set()
    rows = zip(side.head_words.tolist(), side.column("deprel").strings(), strict=True)
    for word, (head, label) in enumerate(rows):
        if label.lower() not in ("p", "punct"):
            result.add((word, head, label.lower()) if labelled else (word, head))
    return result


@pytest.mark.parametrize("labelled", [False, True], ids=["uas-spacy", "las-spacy"])
def test_spacy_is_f1_over_sets_of_arcs(*, labelled: bool) -> None:
    metric = "las-spacy" if labelled else "uas-spacy"
    compared = 0
    for seed in range(120):
        texts = [item.replace("foo", "PUNCT") for item in random_pair(seed, same_words=True)]
        gold, predicted = parsed(texts[0]), parsed(texts[1].replace("obj", "OBJ"))
        pair = align(gold, predicted)
        left, right = arcs(gold, labelled=labelled), arcs(predicted, labelled=labelled)
        assert total(pair, metric) == [len(left & right), len(left), len(right)]
        if left and right:
            precision, recall = len(left & right) / len(right), len(left & right) / len(left)
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
            assert value(pair, metric) == pytest.approx(f1, abs=1e-12)
        compared += len(left) != len(right)
    assert compared > 30


def test_spacy_drops_a_word_on_the_side_that_calls_it_punctuation(by_hand: Pair) -> None:
    # Gold drops , ` --; the prediction drops , - --. Right heads among the rest: He said Go $.
    assert total(by_hand, "uas-spacy") == [4, 5, 5]
    assert total(by_hand, "las-spacy") == [2, 5, 5]


def test_spacy_is_defined_for_other_words_too() -> None:
    pair = pair_of("ab/2/det c/0/root d/2/punct", "a/3/det b/3/det c/0/root d/3/obj")
    assert total(pair, "uas-spacy") == [1, 2, 4]


# Measured on the same files by the tools themselves: SuPar 1.1.4, eval.pl without and with -p, udtools, and a
# restatement of the other rules. Correct to two decimals of a percent, and the number of words.
EWT = {
    "uas": (90.75, 25_097),
    "las": (89.19, 25_097),
    "las(subtypes=True)": (89.07, 25_097),
    "uas-machamp": (90.75, 25_097),
    "las-machamp": (89.07, 25_097),
    "uas-supar": (91.52, 21_944),
    "las-supar": (89.61, 21_944),
    "uas-conllx": (91.52, 21_944),
    "las-conllx": (89.61, 21_944),
    "attachment(labels='main', punctuation='form')": (89.75, 21_944),
    "attachment(labels='none', punctuation='upos')": (91.47, 21_999),
    "attachment(punctuation='upos')": (89.56, 21_999),
    "attachment(labels='none', punctuation='deprel')": (91.48, 22_030),
    "attachment(punctuation='deprel')": (89.57, 22_030),
    "uas-ptb": (91.37, 22_389),
    "las-ptb": (89.49, 22_389),
}


def test_the_same_file_has_the_scores_that_each_tool_gives_it(shared_data: Path) -> None:
    folder = shared_data / "predictions" / "gold-pos" / "en_ewt"
    files = [folder / "gold.biaffine.conll.gz", folder / "biaffine.run1.conll.gz"]
    pair = align(*(read(file, format="conllu", lenient=["multiple-roots"]) for file in files))
    result = {name: (round(100 * value(pair, name), 2), total(pair, name)[1]) for name in EWT}
    assert result == EWT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("attachment(labels='fully')", "attachment.v1: labels 'fully' is unknown; did you mean 'full'?"),
        ("attachment(punctuation='forms')", "attachment.v1: punctuation 'forms' is unknown; did you mean 'form'?"),
    ],
)
def test_an_unknown_convention_names_the_nearest(by_hand: Pair, name: str, message: str) -> None:
    with pytest.raises(NameUnknown) as caught:
        total(by_hand, name)
    assert str(caught.value) == message
