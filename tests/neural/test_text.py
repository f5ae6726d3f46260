"""A corpus as arrays: what a word, a character or a label becomes, and who knows of it."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deadheat.corpus import Corpus, read, take
from deadheat.neural.text import (
    AFFIX_LENGTHS,
    BUCKETS,
    LONGEST_WORD,
    UNKNOWN,
    Encoding,
    Lexicon,
    affix_buckets,
    casing,
    distinct_forms,
    encode_corpora,
    feature_buckets,
    hash_strings,
    normalize_form,
    round_up,
    tokens_of,
)


def tagged(*sentences: str) -> Corpus:
    """Sentences of `word/TAG`; one without words is empty."""
    rows = ("".join(token.replace("/", "\t") + "\n" for token in sentence.split()) for sentence in sentences)
    return read(text="\n".join(rows) + "\n", format="columns", columns=["form", "tag"], separator="\t")


def encode(*corpora: Corpus) -> Encoding:
    labels = sorted({label for corpus in corpora for label in corpus.column("tag").strings()})
    codes = [labels.index(label) for corpus in corpora for label in corpus.column("tag").strings()]
    return encode_corpora(corpora, np.array(codes), labels)


def test_every_token_is_found_again_in_the_arrays() -> None:
    one, other = tagged("The/D dog/N ran/V", "Room/N 12/# ./."), tagged("dogs/N ran/V 12/#")
    encoding = encode(one, other)
    arrays = encoding.arrays
    words = [normalize_form(form) for corpus in (one, other) for form in corpus.column("form").strings()]
    assert [encoding.words[code] for code in arrays["words"].tolist()] == words
    assert words == ["the", "dog", "ran", "room", "00", ".", "dogs", "ran", "00"]
    labels = [encoding.labels[code] for code in arrays["labels"].tolist()]
    assert labels == ["D", "N", "V", "N", "#", ".", "N", "V", "#"]
    assert arrays["lengths"].tolist() == [3, 3, 3]
    assert arrays["starts"].tolist() == [0, 3, 6]
    assert arrays["cases"].tolist() == [casing(form) for form in "The dog ran Room 12 . dogs ran 12".split()]
    spellings = arrays["spellings"][arrays["forms"]]
    letters = ["".join(encoding.characters[code] for code in row[row >= 0].tolist()) for row in spellings]
    assert letters == "The dog ran Room 12 . dogs ran 12".split()  # as they stand


def test_number_0_stands_for_nothing_in_particular() -> None:
    encoding = encode(tagged("a/X b/X"))
    assert (encoding.words[UNKNOWN], encoding.characters[UNKNOWN]) == ("", "")
    lexicon = encoding.lexicon
    assert lexicon.codes(["a", "A", "zzz"]).tolist() == [1, 1, UNKNOWN]
    assert lexicon.spellings(["bz"])[0, :3].tolist() == [encoding.characters.index("b"), UNKNOWN, -1]


def test_of_a_long_word_its_ends_are_looked_at() -> None:
    word = "".join(chr(ord("a") + at) for at in range(20))
    lexicon = Lexicon.of([word])
    row = lexicon.spellings([word])[0]
    half = LONGEST_WORD // 2
    assert "".join(lexicon.characters[code] for code in row) == word[:half] + word[-half:] == "abcdefghmnopqrst"


def test_affixes_have_the_same_bucket_in_every_word() -> None:
    walked, talked, do = affix_buckets(["Walked", "talked", "do"])
    assert (walked == affix_buckets(["walked"])[0]).all()
    same = walked == talked  # prefix and suffix of one letter, of two, ...
    assert same.tolist() == [False, True] * 3 + [False, True]
    assert (do[:4] > 0).all()
    assert do[4:].tolist() == [0] * 4  # too short for affixes of three letters
    assert affix_buckets([]).shape == (0, 2 * len(AFFIX_LENGTHS))
    assert affix_buckets(["walked"]).max() < BUCKETS


def test_every_feature_of_a_word_has_a_bucket() -> None:
    text = "1\ta\t_\tX\t_\tCase=Nom|Number=Sing\t0\troot\t_\t_\n2\tb\t_\tX\t_\tNumber=Sing\t1\tdep\t_\t_\n"
    text += "3\tc\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
    both, number, none = feature_buckets([read(text=text).column("feats")])
    assert set(number[number > 0].tolist()) < set(both[both > 0].tolist())
    assert ((both > 0).sum(), (number > 0).sum(), (none > 0).sum()) == (2, 1, 0)


def test_a_word_may_be_looked_up_by_another_string() -> None:
    lexicon = Lexicon.of(["Paris", "paris", "12"], {"Paris": "Paris", "paris": "paris", "12": ""})
    assert lexicon.words == ("", "00", "Paris", "paris")
    assert [lexicon.words[code] for code in lexicon.codes(["Paris", "paris", "12", "PARIS"])] == [
        "Paris", "paris", "00", "paris",
    ]  # fmt: skip


def test_what_is_known_is_what_train_has() -> None:
    encoding = encode(tagged("Dog/N dog/N cat/N", "cow/V é/X", "cat/N ox/N"))
    known = encoding.knowledge([np.array([0]), np.array([1, 2])])
    by_word = dict(zip(encoding.words, known["train_counts"].T.tolist(), strict=True))
    assert by_word == {"": [2, 2], "dog": [2, 0], "cat": [1, 1], "cow": [0, 1], "ox": [0, 1], "é": [0, 1]}
    by_letter = dict(zip(encoding.characters, known["known_characters"].T.tolist(), strict=True))
    assert by_letter["D"] == [True, False]  # of a form, not of the word it is taken for
    assert by_letter["é"] == [False, True]
    assert by_letter["c"] == [True, True]
    assert dict(zip(encoding.labels, known["known_labels"].T.tolist(), strict=True)) == {
        "N": [True, True], "V": [False, True], "X": [False, True],
    }  # fmt: skip


def test_words_that_came_with_a_vector_are_known_to_all() -> None:
    encoding = encode(tagged("dog/N", "cat/N"))
    vectors = np.array([[1.0 if word == "cat" else np.nan] for word in encoding.words])
    seen = encoding.knowledge([np.array([0])], vectors)["train_counts"][0]
    assert dict(zip(encoding.words, seen.tolist(), strict=True)) == {"": 2, "cat": 2, "dog": 1}


def test_words_elsewhere_change_no_spelling_and_no_knowledge() -> None:
    alone, among = encode(tagged("dog/N ran/V")), encode(tagged("dog/N ran/V", "a/D zebra/N runs/V"))
    one, two = alone.knowledge([np.array([0])]), among.knowledge([np.array([0])])
    for name, strings in (("train_counts", "words"), ("known_characters", "characters"), ("known_labels", "labels")):
        own = dict(zip(getattr(alone, strings), one[name][0].tolist(), strict=True))
        larger = dict(zip(getattr(among, strings), two[name][0].tolist(), strict=True))
        assert own == {string: value for string, value in larger.items() if string in own}
        assert not any(value for string, value in larger.items() if string not in own)


def test_forms_are_those_that_words_have_and_not_all_of_a_vocabulary() -> None:
    corpus = tagged("b/X a/X", "c/X")
    assert distinct_forms([take(corpus, [1]), take(corpus, [1])]) == ["c"]
    assert distinct_forms([corpus]) == ["a", "b", "c"]


def test_hashes_are_the_checksums_of_strings() -> None:
    assert hash_strings(["123456789", ""]).tolist() == [0xCBF43926, 0]  # the check value of CRC-32
    assert len(np.unique(hash_strings([f"word{number}" for number in range(1000)]))) == 1000
    assert len(hash_strings(["\udcff"])) == 1  # a byte that is no text


@given(st.lists(st.integers(0, 5), max_size=12), st.data())
def test_tokens_are_those_of_the_sentences_in_their_order(lengths: list[int], data: st.DataObject) -> None:
    chosen = data.draw(st.permutations(range(len(lengths)))) if lengths else []
    chosen = chosen[: len(chosen) // 2]
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
    tokens = [list(range(a, b)) for a, b in pairwise(bounds.tolist())]
    found = tokens_of(bounds[:-1], np.array(lengths, np.int64), np.array(chosen, np.int64))
    assert found.tolist() == [token for sentence in chosen for token in tokens[sentence]]


@given(st.integers(0, 10**7))
def test_sizes_grow_by_an_eighth_at_most_and_are_few(size: int) -> None:
    grown = round_up(size, 1)
    assert size <= grown
    assert grown <= size + max(2, size / 8)
    assert round_up(grown, 1) == grown
    assert round_up(size) == max(round_up(size, 1), 64)


def test_there_are_few_sizes() -> None:
    # Eight between every two powers of two, from 16 on; below, the even numbers.
    assert len({round_up(size, 1) for size in range(1, (1 << 14) + 1)}) == 8 * (14 - 4) + 8
