"""Schemes of chunks: by hand, for every short sequence, beside seqeval, and F1 beside the metric itself."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deadheat.corpus import Corpus, read
from deadheat.errors import InputError
from deadheat.metrics import align
from deadheat.neural.schemes import TARGETS, f1_of, recode, scheme_of
from tests.metrics.examples import chunked, value
from tests.metrics.test_chunking import Chunk, of_seqeval, written

ANY = ["O", *(f"{prefix}-{kind}" for prefix in "BIESLU" for kind in "XY")]
BY_HAND = {
    "bio": "O B-X I-X I-X B-X B-Y I-Y O B-Y",
    "iob1": "O I-X I-X I-X B-X I-Y I-Y O I-Y",
    "iobes": "O B-X I-X E-X S-X B-Y E-Y O S-Y",
    "bilou": "O B-X I-X L-X U-X B-Y L-Y O U-Y",
}


def to_scheme(labels: list[str], offsets: list[int], *, target: str) -> list[str]:
    """Labels as strings in another scheme."""
    names = list(dict.fromkeys(labels))
    index = {name: code for code, name in enumerate(names)}
    codes, new_names = recode(np.array([index[label] for label in labels], np.int32), names, offsets, target=target)
    return [new_names[code] for code in codes.tolist()]


def chunks(labels: list[str]) -> list[Chunk]:
    """The chunks of one sentence as seqeval finds them by conlleval's rules."""
    return of_seqeval([label.replace("L-", "E-").replace("U-", "S-") for label in labels], "conlleval")


def joined(sentences: list[list[str]]) -> tuple[list[str], list[int]]:
    """Labels of all words, and where sentences begin."""
    return [label for each in sentences for label in each], [0, *np.cumsum([len(each) for each in sentences]).tolist()]


def cut(labels: list[str], offsets: list[int]) -> list[list[str]]:
    return [labels[a:b] for a, b in pairwise(offsets)]


@pytest.mark.parametrize("source", BY_HAND)
@pytest.mark.parametrize("target", BY_HAND)
def test_the_same_chunks_are_written_as_each_scheme_has_them(source: str, target: str) -> None:
    labels = BY_HAND[source].split()
    assert to_scheme(labels, [0, len(labels)], target=target) == BY_HAND[target].split()


@pytest.mark.parametrize(
    ("broken", "target", "mended"),
    [
        ("I-X I-X", "bio", "B-X I-X"),
        ("O I-X I-Y", "bio", "O B-X B-Y"),
        ("B-X I-Y", "iobes", "S-X S-Y"),
        ("B-X I-X", "iob1", "I-X I-X"),
        ("E-X E-X", "iobes", "S-X S-X"),
        ("S-X I-X", "iobes", "S-X S-X"),
        ("B-X B-X", "iob1", "I-X B-X"),
    ],
)
def test_broken_sequences_are_mended_as_conlleval_reads_them(broken: str, target: str, mended: str) -> None:
    assert to_scheme(broken.split(), [0, 2 + (broken[0] == "O")], target=target) == mended.split()


def test_a_chunk_never_goes_over_the_end_of_a_sentence() -> None:
    labels = ["B-X", "I-X", "I-X"]
    assert to_scheme(labels, [0, 1, 3], target="iobes") == ["S-X", "B-X", "E-X"]
    assert to_scheme(labels, [0, 1, 3], target="iob1") == ["I-X", "I-X", "I-X"]
    assert to_scheme(labels, [0, 0, 1, 1, 3, 3], target="iobes") == ["S-X", "B-X", "E-X"]
    assert to_scheme([], [0], target="bio") == to_scheme([], [0, 0], target="bio") == []


@pytest.mark.parametrize("target", TARGETS)
def test_every_short_sequence_keeps_its_chunks_and_is_written_properly(target: str) -> None:
    short = [list(labels) for size in (1, 2, 3) for labels in product(ANY, repeat=size)]
    longer = [list(labels) for size in (4, 5) for labels in product(["O", "B-X", "I-X", "I-Y"], repeat=size)]
    sentences = short + longer
    labels, offsets = joined(sentences)
    made = cut(to_scheme(labels, offsets, target=target), offsets)
    for before, after in zip(sentences, made, strict=True):
        there = chunks(before)
        assert chunks(after) == there
        assert after == written(there, len(before), target)
    assert [of_seqeval(each, target) for each in made] == [chunks(each) for each in made]


any_sentences = st.lists(st.lists(st.sampled_from(ANY), min_size=1, max_size=12), min_size=1, max_size=4)


@given(any_sentences, st.lists(st.sampled_from(TARGETS), min_size=1, max_size=5))
def test_no_way_through_the_schemes_changes_the_chunks(sentences: list[list[str]], way: list[str]) -> None:
    labels, offsets = joined(sentences)
    for target in way:
        labels = to_scheme(labels, offsets, target=target)
        assert [chunks(each) for each in cut(labels, offsets)] == [chunks(each) for each in sentences]


@given(any_sentences, st.sampled_from(TARGETS), st.sampled_from(TARGETS))
def test_there_and_back_is_where_we_were(sentences: list[list[str]], home: str, away: str) -> None:
    valid = [written(chunks(each), len(each), home) for each in sentences]
    labels, offsets = joined(valid)
    assert to_scheme(labels, offsets, target=home) == labels
    there = to_scheme(labels, offsets, target=away)
    assert to_scheme(there, offsets, target=home) == labels


def test_types_are_all_after_the_first_hyphen_and_may_be_missing() -> None:
    assert to_scheme(["B-X-Y", "I-X-Y", "O"], [0, 3], target="iobes") == ["B-X-Y", "E-X-Y", "O"]
    assert to_scheme(["B", "I", "O", "B"], [0, 4], target="iobes") == ["B", "E", "O", "S"]
    assert to_scheme(["I-É", "I-日", "I-日"], [0, 3], target="bio") == ["B-É", "B-日", "I-日"]


def test_codes_are_of_labels_that_occur_with_o_first_and_then_by_type() -> None:
    names = ["_", "I-b", "B-a", "O", "B-b", "I-a"]
    codes, new_names = recode(np.array([4, 1, 3, 2, 5, 5, 4]), names, [0, 7], target="iobes")
    assert new_names == ("O", "B-a", "I-a", "E-a", "B-b", "E-b", "S-b")
    assert [new_names[code] for code in codes] == ["B-b", "E-b", "O", "B-a", "I-a", "E-a", "S-b"]
    assert recode(np.array([2, 5]), names, [0, 2], target="bio")[1] == ("B-a", "I-a")
    # The same labels have the same codes, however they were numbered before.
    other = recode(np.array([0, 1, 2, 3, 4, 4, 0]), ["B-b", "I-b", "O", "B-a", "I-a"], [0, 7], target="iobes")
    assert (other[1], other[0].tolist()) == (new_names, codes.tolist())


def test_a_label_that_is_no_chunk_is_refused() -> None:
    with pytest.raises(InputError, match=r"^word 2: label 'NN'; expected O, B-TYPE, I-TYPE, E-TYPE, S-TYPE, L-TYPE, U"):
        to_scheme(["O", "NN"], [0, 2], target="bio")


@pytest.mark.parametrize(
    ("names", "scheme"),
    [
        ("O B-X I-X", "bio"),
        ("O B-X", "bio"),
        ("B-X I-X", "bio"),
        ("O I-X", "iob1"),
        ("O I-X I-Y B-Y", "iob1"),
        ("O B-X I-X E-X S-X", "iobes"),
        ("O S-X", "iobes"),
        ("O B-X E-X", "iobes"),
        ("O B-X I-X L-X U-X", "bilou"),
        ("O U-X", "bilou"),
        ("O B I", "bio"),
        ("O B I E S", "iobes"),
        ("O", None),
        ("", None),
        ("NN VB O", None),
        ("NOUN ADJ X", None),
        ("O B-X NN", None),
        ("B I S", None),  # tags of one letter
        ("O S", None),
        ("O O-X B-X", None),
        ("-LRB- -RRB- NN", None),
        ("O E-X L-X", None),  # of two schemes
        ("b-X i-X O", None),
    ],
)
def test_labels_show_their_scheme_or_that_they_are_plain_tags(names: str, scheme: str | None) -> None:
    words = names.split()
    assert scheme_of(words, np.arange(len(words)), [0, len(words)]) == scheme


def test_sequences_tell_bio_from_iob1() -> None:
    names = ["_", "O", "B-X", "I-X", "NN"]
    for scheme in ("bio", "iob1"):
        labels = 3 * BY_HAND[scheme].replace("Y", "X").split()
        codes = np.array([names.index(label) for label in labels])
        assert scheme_of(names, codes, [0, len(codes)]) == scheme
        # One slip of the annotators does not change it.
        codes[-1] = 2 if scheme == "iob1" else 3
        assert scheme_of(names, codes, [0, len(codes)]) == scheme
    assert scheme_of(names, np.array([1, 4, 2]), [0, 3]) is None
    assert scheme_of(names, np.array([1, 0, 2]), [0, 3]) is None
    assert scheme_of(names, np.array([3, 3]), [0, 2]) == "iob1"
    assert scheme_of(names, np.array([3, 2]), [0, 2]) == "iob1"
    assert scheme_of(names, np.array([3, 2]), [0, 1, 2]) == "bio"  # one word against it either way
    assert scheme_of(names, np.array([], int), [0]) is None


@given(any_sentences, st.data())
def test_f1_is_that_of_the_metric(sentences: list[list[str]], data: st.DataObject) -> None:
    gold, offsets = joined(sentences)
    predicted = [data.draw(st.sampled_from([label, *ANY])) for label in gold]
    names = data.draw(st.permutations([*ANY, "NN", "_"]))
    codes = [np.array([names.index(label) for label in side]) for side in (gold, predicted)]
    sides = (chunked(*map(" ".join, cut(side, offsets))) for side in (gold, predicted))
    assert f1_of(codes[0], codes[1], names, offsets) == value(align(*sides), "chunks")


def test_f1_by_hand() -> None:
    names = ["O", "B-X", "I-X", "B-Y"]
    # GoldTrees: X 0-1, Y 2, X 4. Predicted: X 0-1 (right), X 2 (another type), X 3-4 (too long). 2 x 1 / (3 + 3).
    gold, predicted = np.array([1, 2, 3, 0, 1]), np.array([2, 2, 1, 1, 2])
    assert f1_of(gold, predicted, names, [0, 5]) == pytest.approx(1 / 3)
    # A new sentence at 4 ends the last one too early, and gives another that is right. 2 x 2 / (3 + 4).
    assert f1_of(gold, predicted, names, [0, 4, 5]) == pytest.approx(4 / 7)
    assert f1_of(gold, gold, names, [0, 5]) == 1.0
    assert f1_of(np.array([1, 2, 0]), np.array([1, 0, 0]), names, [0, 3]) == 0.0  # the same first word is not enough
    assert f1_of(np.zeros(3, int), np.zeros(3, int), names, [0, 3]) == 0.0
    assert f1_of(np.zeros(0, int), np.zeros(0, int), names, [0]) == 0.0


Spoiled = tuple[Corpus, NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]


@pytest.fixture(scope="module")
def spoiled(shared_data: Path) -> Spoiled:
    """Real chunks, 47,377 words, and codes of a copy with one label in fourteen drawn anew."""
    gold = read(shared_data / "chunking" / "conll2000" / "test.txt")
    column = gold.column("chunk")
    rng = np.random.default_rng(1)
    drawn = rng.choice(column.codes, len(column))
    return gold, column.codes, np.where(rng.random(len(drawn)) < 1 / 14, drawn, column.codes), column.vocabulary.strings


def test_f1_of_real_chunks_is_that_of_the_metric_in_every_scheme(spoiled: Spoiled) -> None:
    gold, codes, wrong, names = spoiled
    forms = gold.column("form").strings()
    predicted = [names[code] for code in wrong]
    rows = cut([f"{form} _ {label}\n" for form, label in zip(forms, predicted, strict=True)], gold.offsets.tolist())
    expected = value(align(gold, read(text="\n".join("".join(row) for row in rows))), "chunks")
    assert 0.5 < expected < 0.95
    assert f1_of(codes, wrong, names, gold.offsets) == expected
    for target in TARGETS:
        # Both sides in one call, so that they have common names.
        both = np.concatenate([gold.offsets[:-1], gold.offsets + gold.words])
        new, new_names = recode(np.concatenate([codes, wrong]), names, both, target=target)
        assert f1_of(new[: gold.words], new[gold.words :], new_names, gold.offsets) == expected


def test_the_scheme_of_real_chunks_is_told_and_every_way_back_is_the_identity(spoiled: Spoiled) -> None:
    gold, codes, wrong, names = spoiled
    labels = [names[code] for code in codes]
    for target in TARGETS:
        new, new_names = recode(codes, names, gold.offsets, target=target)
        assert scheme_of(new_names, new, gold.offsets) == target
        back, bio_names = recode(new, new_names, gold.offsets, target="bio")
        assert [bio_names[code] for code in back] == labels
    assert scheme_of(names, codes, gold.offsets) == "bio"
    xpos = gold.column("xpos")
    assert scheme_of(xpos.vocabulary.strings, xpos.codes, gold.offsets) is None
    repaired, repaired_names = recode(wrong, names, gold.offsets, target="bio")
    assert [repaired_names[code] for code in repaired] != [names[code] for code in wrong]
