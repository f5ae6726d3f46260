"""Which words correspond: by text as the official evaluation has it, or by position."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import read
from deadheat.errors import AlignmentError, InputError, NameUnknown
from deadheat.kernels.alignment import align_words
from deadheat.metrics import align, pair
from tests.metrics.examples import conllu, corpus, pair_of, total
from tests.metrics.oracle import differences, parsed
from tests.metrics.random_pairs import random_pair


def aligned(gold: str, predicted: str) -> list[tuple[int, int]]:
    """Pairs of words, counted from 0. Trees do not matter: every word hangs on the root."""
    sides = [conllu(_flat(item)) for item in (gold, predicted)]
    assert differences(*sides) == {}
    result = align(*(parsed(item) for item in sides))
    return list(zip(result.gold_words.tolist(), result.predicted_words.tolist(), strict=True))


def _flat(words: str) -> str:
    return " ".join(word if "=" in word else f"{word}/0/root" for word in words.split(" "))


def test_equal_spans_are_aligned() -> None:
    assert aligned("ab c d", "a b c d") == [(1, 2), (2, 3)]
    assert aligned("a b c", "ab c") == [(2, 1)]
    assert aligned("ab cd", "a bc d") == []


@pytest.mark.slow
def test_every_way_to_cut_five_letters_is_aligned_where_the_spans_are_the_same() -> None:
    strategies = [cuts for size in range(5) for cuts in combinations(range(1, 5), size)]
    for gold, predicted in product(strategies, repeat=2):
        sides = [list(zip((0, *cuts), (*cuts, 5), strict=True)) for cuts in (gold, predicted)]
        forms = [" ".join("abcde"[a:b] for a, b in side) for side in sides]
        both = [span for span in sides[0] if span in sides[1]]
        assert aligned(*forms) == [(sides[0].index(span), sides[1].index(span)) for span in both]


def test_words_of_multiword_tokens_are_aligned_by_form_whatever_their_case() -> None:
    assert aligned("1-2=du de le chat", "1-2=du De LE chat") == [(0, 0), (1, 1), (2, 2)]
    assert aligned("1-2=du de le chat", "du chat") == [(2, 1)]
    assert aligned("1-2=du de le chat", "1-2=du le de chat") == [(1, 0), (2, 2)]


def test_a_multiword_span_grows_over_words_that_begin_inside_it() -> None:
    # ab|cd against a|bc|d, all of it one span, for ab reaches into bc and bc into cd.
    assert aligned("1-2=ab x y 3-4=cd u v", "1-1=a x 2-3=bc y u 4-4=d v") == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_a_plain_word_that_ends_behind_a_multiword_token_is_not_among_its_words() -> None:
    # The token ab has a word `bc`; the plain word bc of the prediction begins inside of it, but ends later.
    assert aligned("1-2=ab x bc c", "a bc") == []


def test_one_plain_word_that_begins_before_a_multiword_token_is_left_out() -> None:
    # The plain `ab` begins before the token `bc` and is skipped; then `c` is found among the token's words.
    assert aligned("a 2-3=bc b c", "ab c") == [(2, 1)]


def test_spaces_count_in_the_words_of_a_multiword_token_only() -> None:
    # `b c` is plain in the one and `bc` is in a token of the other: the official evaluation takes out the space.
    nbsp = "\u00a0"
    assert aligned(f"a{nbsp}b 2-2=c c", "1-1=ab ab c") == [(0, 0), (1, 1)]
    assert aligned(f"1-2=ab a{nbsp}b x", "1-2=ab ab x") == [(1, 1)]


def test_the_longest_common_subsequence_is_the_longest_of_all_subsequences() -> None:
    words = [letters for size in (1, 2, 3) for letters in product("ab", repeat=size)]
    subsequences = {word: {c for size in range(4) for c in combinations(word, size)} for word in words}
    for gold, predicted in product(words, repeat=2):
        sides = [" ".join([f"1-{len(word)}=x", *word]) for word in (gold, predicted)]
        longest = max(map(len, subsequences[gold] & subsequences[predicted]))
        result = aligned(*sides)
        assert len(result) == longest
        assert all(gold[g] == predicted[p] for g, p in result)
        assert result == sorted(set(result))


def test_a_token_of_hundreds_of_words_needs_more_room_and_gets_it() -> None:
    # 301 x 301 cells are more than the 2^14 that are tried first.
    gold = [f"w{i}" for i in range(300)]
    predicted = gold[150:] + gold[:150]
    text = " ".join(["1-300=x", *gold]), " ".join(["1-300=x", *predicted])
    assert len(aligned(*text)) == 150


def test_the_kernel_does_the_same_in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [random_pair(seed) for seed in range(60)]
    compiled = [align(parsed(gold), parsed(predicted)) for gold, predicted in texts]
    monkeypatch.setattr(pair, "align_words", align_words.python)
    for (gold, predicted), other in zip(texts, compiled, strict=True):
        result = align(parsed(gold), parsed(predicted))
        assert np.array_equal(result.gold_words, other.gold_words)
        assert np.array_equal(result.predicted_words, other.predicted_words)
    assert sum(not item.same_words for item in compiled) > 30


def test_a_head_is_right_if_it_is_aligned_to_the_gold_head() -> None:
    # Word 3 of gold is word 4 of the prediction, and its head 1 is aligned to nothing there.
    pair = pair_of("ab/2/det c/0/root d/1/obj e/2/obj", "a/3/det b/3/det c/0/root d/1/obj e/3/obj")
    assert pair.heads_equal.tolist() == [True, False, True]
    assert total(pair, "uas") == [2, 4, 5, 3]


def test_alignment_by_position_does_not_look_at_the_words() -> None:
    gold, predicted = corpus("a/0/root b/1/obj"), corpus("x/0/root 2-2=yy y/1/obj")
    with pytest.raises(AlignmentError):
        align(gold, predicted)
    pair = align(gold, predicted, by="position")
    assert (pair.same_words, pair.alignment, pair.units.name) == (True, "position", "sentence")
    assert total(pair, "uas") == [2, 2, 2, 2]


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def failure(tmp_path: Path, gold: str, predicted: str, by: str = "text") -> str:
    """What is said of two files that cannot be aligned."""
    sides = [read(write(tmp_path / name, item)) for name, item in (("g.conllu", gold), ("p.conllu", predicted))]
    with pytest.raises(AlignmentError) as caught:
        align(*sides, by=by)
    return str(caught.value).replace(f"{tmp_path}/", "")


SAME = "expected the same characters, apart from spaces (--align position does not compare words)"


def test_other_text_is_reported_with_both_positions_and_their_text(tmp_path: Path) -> None:
    gold = conllu("# one\n# two\n1-2=du de/3/case le/3/det chat/0/root", "noir/0/root il/1/expl")
    predicted = conllu("du/2/det chat/0/root", "# three\n0.1=x noIr/0/root il/1/expl")
    assert failure(tmp_path, gold, predicted) == (
        f"p.conllu:6: the text differs from g.conllu:8: 'Iril' instead of 'iril'; {SAME}"
    )


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ("a/0/root b/1/obj", "a/0/root", "p.conllu:1: the text differs from g.conllu:2: '' instead of 'b'"),
        ("a/0/root", "a/0/root b/1/obj", "p.conllu:2: the text differs from g.conllu:1: 'b' instead of ''"),
        ("é/0/root", "e\u0301/0/root", "p.conllu:1: the text differs from g.conllu:1: 'e\u0301' instead of 'é'"),
    ],
    ids=["too short", "too long", "another normal form"],
)
def test_the_first_difference_is_found_at_the_ends_too(tmp_path: Path, gold: str, predicted: str, message: str) -> None:
    assert failure(tmp_path, conllu(gold), conllu(predicted)) == f"{message}; {SAME}"


def test_an_empty_prediction_is_reported_as_empty(tmp_path: Path) -> None:
    result = failure(tmp_path, conllu("a/0/root"), "")
    assert result == f"p.conllu (empty): the text differs from g.conllu:1: '' instead of 'a'; {SAME}"


def test_two_empty_files_are_aligned() -> None:
    nothing = read(text="", format="conllu")
    assert total(align(nothing, nothing), "las") == [0, 0, 0, 0]


def test_by_position_another_number_of_words_is_reported_with_its_sentence(tmp_path: Path) -> None:
    gold = conllu("a/0/root", "b/0/root c/1/obj", "d/0/root")
    predicted = conllu("a/0/root", "# x\n0.1=x b/0/root", "d/0/root e/1/obj")
    assert failure(tmp_path, gold, predicted, by="position") == (
        "p.conllu:5: sentence 2 has 1 word; expected 2 as in g.conllu, to align by position"
    )


def test_by_position_another_number_of_sentences_is_reported(tmp_path: Path) -> None:
    gold, predicted = conllu("a/0/root", "b/0/root"), conllu("a/0/root b/1/obj")
    assert failure(tmp_path, gold, predicted, by="position") == (
        "p.conllu: 1 sentence; expected 2 as in g.conllu, to align by position"
    )


def test_unknown_alignments_and_units_name_the_nearest() -> None:
    one = corpus("a/0/root")
    with pytest.raises(NameUnknown, match="alignment 'positions' is unknown; did you mean 'position'"):
        align(one, one, by="positions")
    with pytest.raises(NameUnknown, match="unit 'documents' is unknown; did you mean 'document'"):
        align(one, one, unit="documents")


@pytest.mark.parametrize("metric", ["accuracy", "sentence-accuracy", "las-supar", "ucm-supar", "chunks(column='upos')"])
def test_metrics_of_gold_words_refuse_other_words(metric: str) -> None:
    pair = pair_of("ab/0/root", "a/0/root b/1/obj")
    with pytest.raises(InputError, match="expected the gold words"):
        total(pair, metric)
