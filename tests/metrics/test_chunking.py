"""Chunks: conlleval's rules and strict schemes, by hand, by enumeration, and beside seqeval."""

import warnings
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest

from deadheat.corpus import Corpus, read
from deadheat.errors import CorpusError, InputError, NameUnknown
from deadheat.metrics import METRICS, Pair, align
from deadheat.metrics.chunking import chunks_of
from tests.metrics.examples import chunked, total, value

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from seqeval import metrics as seqeval
    from seqeval import scheme as schemes

Chunk: TypeAlias = tuple[str, int, int]  # type, first word, last word
STRICT = {"iob1": schemes.IOB1, "bio": schemes.IOB2, "iobes": schemes.IOBES, "bilou": schemes.BILOU}
PREFIXES = {"conlleval": "BIES", "iob1": "BI", "bio": "BI", "iobes": "BIES", "bilou": "BILU"}


def found(corpus: Corpus, scheme: str) -> list[list[Chunk]]:
    """The chunks of every sentence, with places counted from its first word."""
    numbers = {"": 0}
    chunks = chunks_of(corpus, "chunk", scheme, numbers)
    names = {number: name for name, number in numbers.items()}
    sentences: list[list[Chunk]] = [[] for _ in range(corpus.sentences)]
    for first, last, kind in zip(chunks.first.tolist(), chunks.last.tolist(), chunks.types.tolist(), strict=True):
        sentence = int(corpus.sentence_of_word[first])
        start = int(corpus.offsets[sentence])
        sentences[sentence].append((names[kind], first - start, last - start))
    return sentences


def of_seqeval(tags: list[str], scheme: str) -> list[Chunk]:
    if scheme == "conlleval":
        entities = [tuple(item) for item in seqeval.sequence_labeling.get_entities(tags)]
    else:
        entities = [(e.tag, e.start, e.end - 1) for e in schemes.Tokens(tags, STRICT[scheme]).entities]
    return sorted(entities, key=lambda chunk: chunk[1])


# Tags, and the chunks by conlleval and by strict IOB2: the table of what tools do with broken sequences.
BY_HAND = {
    "I-X I-X O": ([("X", 0, 1)], []),
    "O I-X I-Y": ([("X", 1, 1), ("Y", 2, 2)], []),
    "B-X I-Y": ([("X", 0, 0), ("Y", 1, 1)], [("X", 0, 0)]),
    "B-X I-X": ([("X", 0, 1)], [("X", 0, 1)]),
    "B-X I-X O": ([("X", 0, 1)], [("X", 0, 1)]),
    "B-X I-X I-X": ([("X", 0, 2)], [("X", 0, 2)]),
    "B-X B-X": ([("X", 0, 0), ("X", 1, 1)], [("X", 0, 0), ("X", 1, 1)]),
    "O O": ([], []),
}


@pytest.mark.parametrize("tags", BY_HAND)
def test_broken_sequences_are_mended_by_conlleval_and_refused_by_a_strict_scheme(tags: str) -> None:
    assert (found(chunked(tags), "conlleval")[0], found(chunked(tags), "bio")[0]) == BY_HAND[tags]


def test_a_chunk_ends_with_its_sentence() -> None:
    assert found(chunked("O B-X", "I-X O", "I-X"), "conlleval") == [[("X", 1, 1)], [("X", 0, 0)], [("X", 0, 0)]]
    assert found(chunked("B-X E-X B-X E-X"), "conlleval") == [[("X", 0, 1), ("X", 2, 3)]]


def test_the_letters_of_bilou_are_understood_where_seqeval_takes_them_for_inside() -> None:
    assert found(chunked("B-X L-X U-X"), "conlleval") == [[("X", 0, 1), ("X", 2, 2)]]
    with pytest.warns(UserWarning, match="seems not to be NE tag"):
        assert of_seqeval(["B-X", "L-X", "U-X"], "conlleval") == [("X", 0, 2)]


def test_a_type_is_all_after_the_first_hyphen_and_may_be_missing() -> None:
    assert found(chunked("B-X-Y I-X-Y B I"), "bio") == [[("X-Y", 0, 1), ("", 2, 3)]]


def sequences(scheme: str, *, count: int, seed: int) -> list[list[str]]:
    """Random tags: any prefix of the scheme with either of two types, or O."""
    rng = Random(seed)
    tags = ["O", *(f"{prefix}-{kind}" for prefix in PREFIXES[scheme] for kind in "XY")]
    return [[rng.choice(tags) for _ in range(rng.randint(1, 9))] for _ in range(count)]


@pytest.mark.parametrize("scheme", ["conlleval", "bio", "iobes", "bilou"])
def test_random_sequences_have_the_chunks_that_seqeval_finds(scheme: str) -> None:
    tags = sequences(scheme, count=5000, seed=1)
    assert found(chunked(*map(" ".join, tags)), scheme) == [of_seqeval(item, scheme) for item in tags]


@pytest.mark.parametrize("scheme", ["conlleval", "bio", "iobes", "bilou"])
def test_precision_recall_and_f1_are_those_of_seqeval(scheme: str) -> None:
    gold = sequences(scheme, count=400, seed=2)
    rng = Random(3)
    letters = [tag for item in gold for tag in item]
    predicted = [[tag if rng.random() < 0.9 else rng.choice(letters) for tag in item] for item in gold]
    pair = align(*(chunked(*map(" ".join, side)) for side in (gold, predicted)))
    check_against_seqeval(pair, gold, predicted, scheme)
    assert [len(item) for item in found(pair.gold, scheme)] == METRICS.make("chunks", scheme=scheme).counts(pair)[
        :, 1
    ].tolist()


def check_against_seqeval(pair: Pair, gold: list[list[str]], predicted: list[list[str]], scheme: str) -> None:
    """Compare F1 over all types and, type by type, precision, recall, F1 and the number in gold."""
    strict: dict[str, Any] = {} if scheme == "conlleval" else {"mode": "strict", "scheme": STRICT[scheme]}
    name = f"chunks(scheme={scheme!r})"
    assert value(pair, name) == pytest.approx(seqeval.f1_score(gold, predicted, **strict), abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = seqeval.classification_report(gold, predicted, output_dict=True, **strict)
    for kind in set(report) - {"micro avg", "macro avg", "weighted avg"}:
        correct, in_gold, in_predicted = total(pair, f"chunks(scheme={scheme!r}, label={kind!r})")
        assert in_gold == report[kind]["support"]
        assert correct == pytest.approx(report[kind]["precision"] * in_predicted, abs=1e-6)
        assert correct == pytest.approx(report[kind]["recall"] * in_gold, abs=1e-6)


def written(chunks: list[Chunk], size: int, scheme: str) -> list[str]:
    """Tags as a scheme writes them, in the obvious way."""
    tags = ["O"] * size
    single, end = {"iobes": ("S", "E"), "bilou": ("U", "L")}.get(scheme, ("B", "I"))
    before: Chunk = ("", -2, -2)
    for kind, first, last in chunks:
        prefixes = ["B", *"I" * (last - first)]
        if scheme == "iob1":
            prefixes[0] = "B" if before[0] == kind and before[2] == first - 1 else "I"
        elif first == last:
            prefixes = [single]
        else:
            prefixes[-1] = end
        tags[first : last + 1] = [f"{prefix}-{kind}" for prefix in prefixes]
        before = (kind, first, last)
    return tags


@pytest.mark.parametrize("scheme", STRICT)
def test_what_a_scheme_writes_is_read_back_strictly_and_by_seqeval(scheme: str) -> None:
    # Every way to tag up to five words properly, with chunks of two types.
    rows = []
    for size in range(1, 6):
        for tags in product(["O", "B-X", "I-X", "B-Y", "I-Y"], repeat=size):
            chunks = of_seqeval(list(tags), "bio")
            if written(chunks, size, "bio") == list(tags):
                rows.append((written(chunks, size, scheme), chunks))
    assert len(rows) == sum(number_of_ways(size) for size in range(1, 6))
    assert found(chunked(*(" ".join(tags) for tags, _ in rows)), scheme) == [chunks for _, chunks in rows]
    assert [of_seqeval(tags, scheme) for tags, _ in rows] == [chunks for _, chunks in rows]


def number_of_ways(size: int) -> int:
    """The first word is outside, or in a chunk of one of two types and of any length."""
    if size == 0:
        return 1
    return number_of_ways(size - 1) + sum(2 * number_of_ways(size - length) for length in range(1, size + 1))


def test_in_iob1_a_needless_b_is_an_error_of_the_whole_chunk_and_not_of_its_first_word() -> None:
    # IOB1 has B only between chunks of one type. seqeval then finds the rest of the chunk; we find none.
    assert of_seqeval(["B-X", "I-X"], "iob1") == [("X", 1, 1)]
    assert found(chunked("B-X I-X"), "iob1") == [[]]
    assert found(chunked("I-X B-X I-X"), "iob1") == [[("X", 0, 0), ("X", 1, 2)]]
    assert found(chunked("I-X", "B-X"), "iob1") == [[("X", 0, 0)], []]


@pytest.mark.parametrize(
    ("tag", "scheme", "wanted"),
    [
        ("NP", "conlleval", "B-TYPE, I-TYPE, E-TYPE, S-TYPE, L-TYPE, U-TYPE"),
        ("-NP", "conlleval", "B-TYPE, I-TYPE, E-TYPE, S-TYPE, L-TYPE, U-TYPE"),
        ("BI-NP", "conlleval", "B-TYPE, I-TYPE, E-TYPE, S-TYPE, L-TYPE, U-TYPE"),
        ("b-NP", "bio", "B-TYPE, I-TYPE"),
        ("BI-NP", "bio", "B-TYPE, I-TYPE"),
        ("", "bio", "B-TYPE, I-TYPE"),
        ("S-NP", "bio", "B-TYPE, I-TYPE"),
        ("U-NP", "iobes", "B-TYPE, I-TYPE, E-TYPE, S-TYPE"),
        ("S-NP", "bilou", "B-TYPE, I-TYPE, L-TYPE, U-TYPE"),
    ],
)
def test_a_tag_that_the_scheme_does_not_have_is_refused_with_its_line(tag: str, scheme: str, wanted: str) -> None:
    good = read(text="a\tO\n\nb\tO\nc\tB-X\n\n", columns=["form", "chunk"], separator="tab")
    bad = read(text=f"a\tO\n\nb\tO\nc\t{tag}\n\n", columns=["form", "chunk"], separator="tab")
    for sides in ((good, bad), (bad, good)):
        with pytest.raises(CorpusError) as caught:
            total(align(*sides), f"chunks(scheme={scheme!r})")
        assert str(caught.value) == f"text:4: chunk {tag!r}; expected O, {wanted} under {scheme}"


def test_unknown_schemes_and_other_words_are_refused() -> None:
    with pytest.raises(NameUnknown, match="scheme 'iobe' is unknown; did you mean 'iobes'"):
        METRICS.make("chunks(scheme='iobe')")
    pair = align(
        *(read(text=text, columns=["form", "chunk"], separator="tab") for text in ("ab\tO\n\n", "a\tO\nb\tO\n\n"))
    )
    with pytest.raises(InputError, match=r"chunks\.v1 expected the gold words"):
        total(pair, "chunks")


def test_without_chunks_f1_is_zero() -> None:
    pair = align(chunked("O O"), chunked("O O"))
    assert (total(pair, "chunks"), value(pair, "chunks")) == ([0, 0, 0], 0.0)


@pytest.mark.slow
def test_real_chunks_with_errors_score_as_in_seqeval(shared_data: Path) -> None:
    gold = read(shared_data / "chunking" / "conll2000" / "test.txt")
    tags = gold.column("chunk").strings()
    rng = Random(5)
    wrong = [tag if rng.random() < 0.93 else rng.choice(tags) for tag in tags]
    bounds = gold.offsets.tolist()
    sides = [[side[a:b] for a, b in pairwise(bounds)] for side in (tags, wrong)]
    forms = gold.column("form").strings()
    lines = [
        [f"{forms[a + i]} _ {tag}\n" for i, tag in enumerate(side)] for a, side in zip(bounds, sides[1], strict=False)
    ]
    pair = align(gold, read(text="\n".join("".join(item) for item in lines)))
    assert total(pair, "chunks") != total(pair, "chunks(scheme='bio')")
    for scheme in ("conlleval", "bio"):
        check_against_seqeval(pair, sides[0], sides[1], scheme)
