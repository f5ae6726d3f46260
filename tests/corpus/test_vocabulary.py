"""Numbered strings: found again, whatever they are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deadheat.corpus import Column, Vocabulary, read
from deadheat.corpus.vocabulary import shared_keys

texts = st.text(st.characters(codec="utf-8"), max_size=20)
distinct = st.lists(texts, max_size=30, unique=True)


@given(distinct)
def test_strings_come_back_in_the_order_of_their_codes(strings: list[str]) -> None:
    vocabulary = Vocabulary.of(strings)
    assert list(vocabulary) == strings
    assert [vocabulary[code] for code in range(len(vocabulary))] == strings


@given(distinct, distinct)
def test_codes_of_another_vocabulary_are_those_of_the_same_strings(some: list[str], others: list[str]) -> None:
    known, asked = Vocabulary.of(some), Vocabulary.of(others)
    expected = [some.index(string) if string in some else -1 for string in others]
    assert known.codes_of(asked).tolist() == expected
    assert known.codes_of(known).tolist() == list(range(len(some)))


@given(distinct, texts)
def test_a_string_is_found_if_it_is_there(strings: list[str], string: str) -> None:
    assert Vocabulary.of(strings).find(string) == (strings.index(string) if string in strings else -1)


def test_strings_that_differ_only_past_the_eighth_byte_are_different() -> None:
    strings = ["abcdefgh", "abcdefghi", "abcdefgh\0", "abcdefg", "abcdefgh" * 2, "abcdefgh" * 3, ""]
    assert Vocabulary.of(strings).codes_of(Vocabulary.of(strings[::-1])).tolist() == [6, 5, 4, 3, 2, 1, 0]


@given(st.lists(texts, min_size=1, max_size=40))
def test_a_column_counts_its_strings(strings: list[str]) -> None:
    column = Column.of(strings)
    assert column.strings() == strings
    counts = dict(zip(column.vocabulary, column.frequencies().tolist(), strict=True))
    assert counts == {"_": 0} | {string: strings.count(string) for string in strings}


def test_many_strings_keep_their_numbers_while_the_table_grows() -> None:
    words = [f"w{i % 70_000}" for i in range(100_000)]
    text = "".join(f"{word}\tX\n" for word in words) + "\n"
    column = read(text=text, format="columns").column("form")
    assert len(column.vocabulary) == 70_001
    assert column.strings() == words


def test_strings_with_the_same_hash_stay_different() -> None:
    # Of so many, 20 have the 32-bit hash of another one.
    words = [f"{i:06d}" for i in range(400_000)]
    column = read(text="\n".join(words) + "\n\n", format="columns").column("form")
    assert np.array_equal(column.codes, np.arange(1, 400_001))
    assert np.array_equal(column.vocabulary.codes_of(Vocabulary.of(words)), column.codes)


def test_properties_are_looked_up_once_a_string() -> None:
    calls: list[str] = []

    def is_upper(string: str) -> bool:
        calls.append(string)
        return string.isupper()

    assert Column.of(["a", "B", "a", "B"]).which(is_upper).tolist() == [False, True, False, True]
    assert calls == ["_", "a", "B"]


def test_keys_number_strings_of_two_vocabularies_alike() -> None:
    gold, predicted = Vocabulary.of(["_", "nsubj:pass", "obj"]), Vocabulary.of(["_", "obj", "nsubj", "x"])
    ours, theirs = shared_keys(gold, predicted, lambda label: label.partition(":")[0])
    assert ours.tolist() == [0, 1, 2]
    assert theirs.tolist() == [0, 2, 1, 3]
    assert ours.dtype == np.int32
