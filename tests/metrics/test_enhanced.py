"""ELAS and EULAS: edges are a set, and with `official=True` the evaluator's counts, faults and all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deadheat.corpus import Corpus, read
from deadheat.errors import CorpusError
from deadheat.metrics import align
from tests.metrics.examples import conllu, corpus, pair_of, total, value
from tests.metrics.oracle import official, parsed
from tests.metrics.random_pairs import random_pair


def sentence(*deps: str) -> str:
    """A sentence of as many words, all on the first one."""
    words = [f"{'abc'[i]}/{min(i, 1)}/{'obj' if i else 'root'}" for i in range(len(deps))]
    return " ".join(f"{word}/_/_/_/_/{edges}" for word, edges in zip(words, deps, strict=True))


def counts(gold: str, predicted: str, metric: str) -> list[int]:
    return total(pair_of(gold, predicted), metric)


def test_edges_are_right_with_the_right_head_and_the_whole_label() -> None:
    gold = sentence("0:root", "1:obj|3:nmod:of", "1:conj")
    predicted = sentence("0:root", "1:obj|3:nmod:in", "2:conj|1:conj")
    assert counts(gold, predicted, "elas") == [3, 4, 5]
    assert counts(gold, predicted, "eulas") == [4, 4, 5]


def test_two_subtypes_of_one_relation_are_one_edge_without_subtypes() -> None:
    # The evaluator compares each with each: 1 + 2 * 2 right of 3.
    both = sentence("0:root", "1:nmod:of|1:nmod:in")
    assert counts(both, both, "eulas(official=True)") == [5, 3, 3]
    assert list(official(conllu(both), conllu(both))["EULAS"][:3]) == [5, 3, 3]
    assert counts(both, both, "eulas") == [2, 2, 2]
    assert counts(both, both, "elas") == [3, 3, 3]


def test_an_edge_that_is_written_three_times_is_one_edge() -> None:
    gold, predicted = sentence("0:root", "1:obj"), sentence("0:root|0:root|0:root", "1:obj|1:obj|1:obj")
    assert counts(gold, predicted, "elas(official=True)") == [6, 2, 6]
    assert list(official(conllu(gold), conllu(predicted))["ELAS"][:3]) == [6, 2, 6]
    assert counts(gold, predicted, "elas") == [2, 2, 2]
    assert value(pair_of(gold, predicted), "elas") == 1.0


def test_edges_to_empty_nodes_count_nowhere() -> None:
    gold, predicted = sentence("0:root", "1.1:obj|1:obj"), sentence("0:root|1.1:x", "1:obj")
    assert counts(gold, predicted, "elas") == [2, 2, 2]


def test_the_root_is_no_word_that_could_be_unaligned() -> None:
    # The predicted head of c, a, is aligned to nothing; that does not make it the root, which is c's head in gold.
    gold = "ab/2/obj c/0/root/_/_/_/_/0:root"
    predicted = "a/0/root b/1/obj c/1/root/_/_/_/_/1:root"
    assert counts(gold, predicted, "elas") == [0, 1, 1]
    assert counts(gold, predicted, "elas(official=True)") == [0, 1, 1]
    assert list(official(conllu(gold), conllu(predicted))["ELAS"][:3]) == [0, 1, 1]


@pytest.mark.parametrize("deps", ["obj", "x:obj", "3:obj", "-1:obj", "1:obj|", "1.x:obj", "+1:obj", "\u0661:obj", ""])
@pytest.mark.parametrize("side", [0, 1])
def test_unreadable_edges_are_refused_with_their_line(tmp_path: Path, deps: str, side: int) -> None:
    good = conllu("a/0/root", sentence("0:root", "1:obj"))
    file = tmp_path / "bad.conllu"
    file.write_text(conllu("# x\na/0/root", sentence("0:root", deps)))
    sides = [read(text=good), read(text=good)]
    sides[side] = read(file)
    with pytest.raises(CorpusError) as caught:
        total(align(*sides), "elas")
    assert str(caught.value) == f"{file}:5: DEPS {deps!r}; expected head:relation|... with heads in the sentence"


def edges(side: Corpus, cut: Callable[[str], str]) -> list[set[tuple[int, str]]]:
    """The edges of each word, in the obvious way."""
    result = []
    for deps in side.column("deps").strings():
        pairs = (edge.split(":", 1) for edge in deps.split("|") if deps != "_")
        result.append({(int(head), cut(label)) for head, label in pairs if "." not in head})
    return result


def test_the_mended_counts_are_those_of_sets() -> None:
    several = 0
    for seed in range(150):
        gold, predicted = (parsed(item) for item in random_pair(seed, same_words=True))
        pair = align(gold, predicted)
        for metric, cut in (("elas", str), ("eulas", lambda label: label.split(":")[0])):
            sides = [edges(side, cut) for side in (gold, predicted)]
            common = sum(len(a & b) for a, b in zip(*sides, strict=True))
            assert total(pair, metric) == [common, *(sum(map(len, side)) for side in sides)]
            several += total(pair, metric) != total(pair, f"{metric}(official=True)")
    assert several > 50


def test_the_mended_counts_never_have_more_right_than_there_is() -> None:
    find_chunks = 0
    for seed in range(150):
        pair = align(*(parsed(item) for item in random_pair(seed)))
        for metric in ("elas", "eulas"):
            correct, gold, predicted = total(pair, metric)
            assert correct <= min(gold, predicted)
            find_chunks += total(pair, f"{metric}(official=True)")[0] > correct
    assert find_chunks > 10


def test_a_corpus_without_enhanced_edges_has_nothing_to_get_right() -> None:
    plain = corpus("a/0/root b/1/obj")
    assert total(align(plain, plain), "elas") == [0, 0, 0]
    assert value(align(plain, plain), "elas") == 0.0
