"""Words as rows of features: against features written out as strings, and whatever the vocabularies are."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.corpus import Column, Corpus, Vocabulary, read, take
from deadheat.corpus.vocabulary import recode
from deadheat.errors import InputError
from deadheat.systems.features import Encoder, FeatureIndex, TagDictionary, Templates, training_tags

EVERYTHING = Templates(
    words=(0, -1, 1, -2, 2),
    pairs=((-1, 0), (0, 1), (-1, 1), (-2, -1), (1, 2)),
    prefixes=3,
    suffixes=2,
    shapes=("digit", "hyphen", "upper", "capitals"),
    normal=True,
)

sentences = st.lists(
    st.lists(st.sampled_from(["a", "b", "Ab", "ABC", "x-1", "été", "12", "ab-Ab"]), min_size=1, max_size=6),
    min_size=1,
    max_size=6,
)


def corpus_of(text: list[list[str]]) -> Corpus:
    return read(text="".join(" ".join(f"{word}_X" for word in words) + "\n" for words in text), format="tagged")


def spelled_out(words: list[str], at: int) -> list[str | None]:
    """The features of one word as strings, template by template, as one would write them down."""
    around = ["<s>", "<s>", *words, "</s>", "</s>"]
    form = words[at]
    letters = [form[:size] if len(form) >= size else None for size in (1, 2, 3)]
    letters += [form[len(form) - size :] if len(form) >= size else None for size in (1, 2)]
    has_upper = any(letter.isupper() for letter in form)
    has_lower = any(letter.islower() for letter in form)
    shapes = [any(letter.isdigit() for letter in form), "-" in form, has_upper, has_upper and not has_lower]
    normal = "".join("#" if letter.isdigit() else letter for letter in form.lower())
    near = [around[at + 2 + offset] for offset in (0, -1, 1, -2, 2)]
    pairs = [f"{around[at + 2 + a]} {around[at + 2 + b]}" for a, b in ((-1, 0), (0, 1), (-1, 1), (-2, -1), (1, 2))]
    return [*letters, *(str(shape) if shape else None for shape in shapes), normal, *near, *pairs]


@given(sentences, sentences)
def test_rows_are_alike_where_the_features_spelled_out_are(seen: list[list[str]], other: list[list[str]]) -> None:
    index = FeatureIndex.of(corpus_of(seen), EVERYTHING)
    rows_of: dict[tuple[int, str], int] = {}
    for text in (seen, other):
        rows = index.rows(corpus_of(text)).reshape(-1, index.width).tolist()
        written = [spelled_out(words, at) for words in text for at in range(len(words))]
        for found, features in zip(rows, written, strict=True):
            for template, (row, feature) in enumerate(zip(found, features, strict=True)):
                if feature is None:
                    assert row == 0
                elif text is seen:
                    assert 0 < row < index.size
                    assert rows_of.setdefault((template, feature), row) == row
                elif (template, feature) in rows_of:
                    assert row == rows_of[template, feature]
                else:  # a row that training never touches is as good as none
                    assert row not in rows_of.values()
    assert len(set(rows_of.values())) == len(rows_of), "two features share a row"


def test_a_pair_that_training_never_saw_is_no_feature() -> None:
    index = FeatureIndex.of(corpus_of([["a", "b"]]), Templates(words=(), pairs=((-1, 0),), prefixes=0, suffixes=0))
    rows = index.rows(corpus_of([["b", "a"], ["a", "b"]])).reshape(4, -1)[:, -1]
    assert (rows > 0).tolist() == [False, False, True, True]  # nothing began with b, and no a came after it


@given(sentences, sentences)
def test_what_else_the_vocabulary_contains_changes_nothing(some: list[list[str]], others: list[list[str]]) -> None:
    alone = corpus_of(some)
    among = take(corpus_of(others + some), np.arange(len(others), len(others) + len(some)))
    one, two = FeatureIndex.of(alone, EVERYTHING), FeatureIndex.of(among, EVERYTHING)
    assert (one.size, one.forms.strings, one.of_forms) == (two.size, two.forms.strings, two.of_forms)
    assert one.rows(alone).tolist() == two.rows(among).tolist() == one.rows(among).tolist()


def test_a_corpus_without_words_has_no_rows() -> None:
    corpus = corpus_of([["a"]])
    index = FeatureIndex.of(corpus, EVERYTHING)
    assert len(index.rows(take(corpus, []))) == 0


def test_frequent_words_take_the_tags_they_were_seen_with() -> None:
    words = np.array([0, 0, 0, 1, 1, 2], np.int32)
    gold = np.array([2, 0, 2, 1, 1, 0], np.int32)
    dictionary = TagDictionary.of(words, gold, (3, 3), least=2)
    lists = [dictionary.tags[a:b].tolist() for a, b in itertools.pairwise(dictionary.starts)]
    assert lists == [[0, 1, 2], [0, 2], [1]]
    assert dictionary.lists.tolist() == [1, 2, 0]  # the third word was seen once


def test_without_a_dictionary_every_word_takes_every_tag() -> None:
    words, gold = np.zeros(4, np.int32), np.array([0, 1, 1, 1], np.int32)
    dictionary = TagDictionary.of(words, gold, (1, 2), least=0)
    assert (dictionary.lists.tolist(), dictionary.tags.tolist()) == ([0], [0, 1])


def test_unknown_words_take_all_tags() -> None:
    corpus = read(text="a_DT a_DT heat_NN\n", format="tagged")
    tags = training_tags(corpus, "tag", "test", most=9)
    encoder = Encoder.of(corpus, tags, "tag", Templates(), least=2)
    assert encoder.encode(read(text="a_? new_?\n", format="tagged")).lists.tolist() == [1, 0]


def test_strings_of_another_vocabulary_are_unknown() -> None:
    assert recode(Column.of(["a", "b", "a"]), Vocabulary.of(["b", "c"])).tolist() == [-1, 0, -1]


def test_too_many_labels_are_refused() -> None:
    corpus = read(text="a_1 b_2 c_3\n", format="tagged")
    with pytest.raises(InputError, match=r"^text: column 'tag' has 3 labels; it expected 2 at most$"):
        training_tags(corpus, "tag", "it", most=2)


def test_labels_are_sorted_and_only_those_that_occur() -> None:
    corpus = take(read(text="a_Z\na_B\na_A\n", format="tagged"), [1, 2])
    assert training_tags(corpus, "tag", "it", most=2).strings == ("A", "B")
