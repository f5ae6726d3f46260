"""What holds for every registered strategy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.corpus import Corpus, read
from deadheat.corpus.documents import PARTS, find_documents, sentence_parts
from deadheat.errors import InputError, NameUnknown
from deadheat.splits import STRATEGIES, Partition, split
from deadheat.testbed import generate
from tests.splits.corpora import Lengths, column_text, joined, lengths, seeds, tagged_text, treebank

# What small corpora need of a strategy: sizes that fit them.
ANY_FORMAT = (
    "random(sizes='60/20/20')",
    "random(sizes='55/15/15/15', unit='block', block=2)",
    "random(sizes='train=rest,test=20%', stratify='form')",
    "kfold(folds=5)",
    "kfold(folds=3, dev_fold=False, unit='block', block=2)",
    "ud",
    "biased(sizes='60/20/20')",
    "biased(sizes='60/20/20', end='short')",
    "biased(sizes='60/20/20', by='words', ngram=2)",
    "biased(sizes='60/20/20', unit='block', block=2)",
)
DOCUMENTS = (
    "random(sizes='60/20/20', unit='document')",
    "random(sizes='60/20/20', unit='document', stratify='genre')",
    "kfold(folds=4, unit='document')",
    "biased(sizes='60/20/20', unit='document')",
    "biased(sizes='60/20/20', unit='document', by='words')",
)
FILES = ("standard", "ud-tune(last=6)")
SOME_LEFT_OUT = (
    "tune(tune=2, dev=3, test=4)",
    "seq(train=5, words=4)",
    "rand(train=5, words=4)",
    "rand-seq(train=5, words=4, part='test')",
    "random(sizes='train=10 sentences, test=4 sentences')",
    "biased(sizes='train=10 sentences, test=4 sentences', by='words')",
)
ALL = (*ANY_FORMAT, *DOCUMENTS, *FILES, *SOME_LEFT_OUT)
REPEATED = [name for name in ALL if not STRATEGIES.make(name).once]
few = settings(max_examples=3)


@cache
def text_of(format: str) -> Corpus:
    made = [3, 1, 5, 2, 8, 4] * 5
    text = {
        "columns": column_text(made),
        "tagged": tagged_text(made),
        "testbed": generate("velani", sentences=60, seed=1),
    }
    return read(text=text[format])


def parts_of(partition: Partition) -> dict[str, list[int]]:
    return {part: sentences.tolist() for part, sentences in partition.sets.items()}


def check(corpus: Corpus, partition: Partition, *, complete: bool) -> None:
    numbers = joined(partition.parts.values())
    assert len(set(numbers)) == len(numbers)
    assert all(len(sentences) for sentences in partition.parts.values())
    assert all(np.all(np.diff(sentences) > 0) for sentences in partition.parts.values())
    assert "test" not in partition.parts or not set(partition.parts["test"]) & set(partition.parts.get("train", ()))
    assert joined([*partition.parts.values(), partition.left_out]) == list(range(corpus.sentences))
    if complete:
        assert len(partition.left_out) == 0
    assert [part for part in PARTS if part in partition.parts] == list(partition.parts)


def test_all_registered_strategies_are_here() -> None:
    assert {STRATEGIES.make(name).name.partition("(")[0] for name in ALL} == set(STRATEGIES)


@pytest.mark.parametrize("name", ALL)
@few
@given(lengths, seeds)
def test_parts_are_disjoint_and_whole(name: str, documents: Lengths, seed: int) -> None:
    corpus = treebank(documents)
    for partition in split(corpus, name, times=2 if name in REPEATED else 1, seed=seed):
        check(corpus, partition, complete=name not in SOME_LEFT_OUT)


@pytest.mark.parametrize("name", SOME_LEFT_OUT[:4])
@few
@given(lengths, seeds)
def test_what_follows_the_text_keeps_the_test_part_of_the_file(name: str, documents: Lengths, seed: int) -> None:
    corpus = treebank(documents)
    file_parts = sentence_parts(corpus)
    assert file_parts is not None
    partition = split(corpus, name, seed=seed)[0]
    assert not (file_parts[joined(partition.parts.values())] == PARTS.index("test")).any()
    if name.startswith("tune"):
        assert np.array_equal(partition.left_out, np.flatnonzero(file_parts == PARTS.index("test")))


@pytest.mark.parametrize("name", DOCUMENTS)
@few
@given(lengths, seeds)
def test_no_document_is_in_two_parts(name: str, documents: Lengths, seed: int) -> None:
    made = split(treebank(documents), name, times=2, seed=seed)
    assert made.documents is not None
    for partition in made:
        assert set(made.shared_documents(partition).values()) == {0}
        result = [set(made.documents.codes[sentences].tolist()) for sentences in partition.parts.values()]
        assert sum(map(len, result)) == len(documents)


@pytest.mark.parametrize("format", ["columns", "tagged", "testbed"])
@pytest.mark.parametrize("name", ANY_FORMAT)
def test_every_format_can_be_split(format: str, name: str) -> None:
    corpus = text_of(format)
    for partition in split(corpus, name, times=2, seed=3):
        check(corpus, partition, complete=True)


@pytest.mark.parametrize("name", ALL)
def test_a_split_is_the_same_every_time(name: str) -> None:
    corpus = treebank([[3, 4, 5], [2, 7], [6], [1, 8]] * 5)
    first, again = (split(corpus, name, seed=5)[0] for _ in range(2))
    assert parts_of(first) == parts_of(again)


@pytest.mark.parametrize("name", REPEATED)
def test_asking_for_more_keeps_the_old_ones(name: str) -> None:
    corpus = treebank([[3, 4, 5], [2, 7], [6], [1, 8]] * 5)
    nested = ["test=50%"] if "test" in split(corpus, name)[0].parts else []
    fewer, more = (split(corpus, name, times=times, seed=7, nested=nested) for times in (5, 20))
    assert [parts_of(item) for item in fewer] == [parts_of(item) for item in more][:5]


@pytest.mark.parametrize("name", [name for name in REPEATED if name != "ud"])
def test_seeds_and_numbers_give_other_splits(name: str) -> None:
    corpus = treebank([[3, 4, 5], [2, 7], [6], [1, 8]] * 6)
    result = [str(parts_of(item)) for seed in range(3) for item in split(corpus, name, times=2, seed=seed)]
    assert len(set(result)) > 3


@pytest.mark.parametrize("name", [name for name in ALL if name not in REPEATED])
def test_what_gives_one_split_gives_it_for_every_seed_and_no_more(name: str) -> None:
    corpus = treebank([[3, 4, 5], [2, 7], [6], [1, 8]] * 5)
    assert parts_of(split(corpus, name, seed=1)[0]) == parts_of(split(corpus, name, seed=2)[0])
    with pytest.raises(InputError, match=r"2 splits by .*, which has only one; expected 1"):
        split(corpus, name, times=2)


@pytest.mark.parametrize("name", [*ALL, *STRATEGIES])
def test_a_name_prints_and_parses_back(name: str) -> None:
    made = STRATEGIES.make(name)
    again = STRATEGIES.make(str(made))
    assert (again.name, again.settings) == (made.name, made.settings)
    assert set(made.settings) == set(inspect.signature(STRATEGIES[made.name.partition("(")[0]]).parameters)
    changed = {
        setting: value
        for setting, value in made.settings.items()
        if value != STRATEGIES.make(made.name.partition("(")[0]).settings[setting]
    }
    assert STRATEGIES.make(made.name.partition("(")[0], **changed).name == made.name


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_settings_that_do_not_exist_are_refused_with_the_nearest(name: str) -> None:
    known = list(STRATEGIES.make(name).settings)
    if known:
        with pytest.raises(NameUnknown, match=f"setting of {name} '{known[0]}x' is unknown; did you mean '{known[0]}'"):
            STRATEGIES.make(f"{name}({known[0]}x=1)")
    else:
        with pytest.raises(NameUnknown, match=f"setting of {name} 'unit' is unknown; there are none"):
            STRATEGIES.make(f"{name}(unit='x')")


WRONG: list[tuple[str, str]] = [
    ("randon", "strategy 'randon' is unknown; did you mean 'random'?"),
    ("random.v9", "strategy 'random.v9' is unknown; did you mean 'random.v1'?"),
    ("random(unit='documents')", "unit 'documents' is unknown; did you mean 'document'?"),
    ("random(unit='block', block=0)", "blocks of 0 sentences; expected at least 1"),
    ("random(stratify='gener')", "cannot stratify by 'gener'; expected genre, file, form, "),
    ("random(sizes=80)", "sizes=80; expected a value like '80/10/10'"),
    ("kfold(folds=2)", "kfold: 2 folds; expected at least 3"),
    ("kfold(folds=1, dev_fold=False)", "kfold: 1 folds; expected at least 2"),
    ("kfold(folds=99)", "99 folds of 10 sentences; expected fewer folds"),
    ("kfold(folds=9, unit='document')", "9 folds of 5 documents; expected fewer folds"),
    ("ud(sample=5)", "ud: sample=5; expected 0, or 20 to 50 sentences"),
    ("biased(by='lenght')", "biased: by 'lenght' is unknown; did you mean 'length'?"),
    ("biased(end='lon')", "biased: end 'lon' is unknown; did you mean 'long'?"),
    ("biased(ngram=6)", "biased: ngram=6; expected 1 to 5"),
    ("biased(sizes='train=50%,dev=50%')", "expected test and at least one other part"),
    ("seq(train=0)", "seq: train=0, words=10000; expected words of train"),
    ("rand(part='train')", "rand: part 'train' is unknown; expected one of tune, dev, test"),
    ("rand(train=10, words=999)", "dev of 999 words after 10 words of train; there are 18 left"),
    ("rand-seq(train=99, words=0)", "dev of 1 words after 28 words of train; there are 0 left"),
    ("tune(tune=0)", "tune: tune=0, dev=1000, test=1000; expected at least 1 sentence each"),
    ("tune", "tune, dev and test of 3,000 sentences; there are 8, and train needs some"),
    ("ud-tune(last=0)", "ud-tune: last=0; expected at least 1 sentence"),
    ("ud-tune", "a dev set of 2 sentences; expected at least 3, and train"),
]


@pytest.mark.parametrize(("name", "message"), WRONG)
def test_settings_that_do_not_fit_are_refused(name: str, message: str) -> None:
    corpus = treebank([[3, 4]] * 5)  # ten sentences, six of them train, two dev, two test
    with pytest.raises(InputError) as caught:
        split(corpus, name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_documents_are_needed_where_they_are_the_unit() -> None:
    corpus = treebank([[3], [4]] * 5, marks=False)
    for name in ("random(unit='document')", "kfold(unit='document')", "biased(unit='document')"):
        with pytest.raises(InputError, match=r"no documents; expected '# newdoc' marks or sent_ids"):
            split(corpus, name)
    with pytest.raises(InputError, match=r"no documents; expected"):
        split(treebank([[3], [4]] * 5), "random(unit='document')", documents="none")


@settings(max_examples=6)
@given(st.permutations(["train", "dev", "test"]))
def test_files_in_any_order_give_the_same_sentences(order: list[str]) -> None:
    from deadheat.corpus import concatenate, to_bytes
    from deadheat.corpus.transforms import take
    from tests.splits.corpora import as_file, documents_text

    texts = {
        part: documents_text([[2, 3, 4]] * 4, seed=i, first=10 * i) for i, part in enumerate(("train", "dev", "test"))
    }
    files = {part: as_file(text, f"xx-{part}.conllu") for part, text in texts.items()}
    usual, odd = concatenate(list(files.values())), concatenate([files[part] for part in order])
    for name in ("standard", "tune(tune=2, dev=2, test=2)", "seq(train=9, words=12)", "ud-tune"):
        parts: list[dict[str, list[bytes]]] = [
            {
                part: sorted(to_bytes(take(corpus, [item])) for item in numbers)
                for part, numbers in split(corpus, name)[0].parts.items()
            }
            for corpus in (usual, odd)
        ]
        assert parts[0] == parts[1]


def test_wrong_times_and_seeds_are_refused() -> None:
    corpus = treebank([[3, 4]] * 5)
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: split(corpus, times=0), "0 splits; expected at least 1"),
        (lambda: split(corpus, seed=-1), "seed -1; expected 0 or more"),
        (lambda: split(read(text="", format="conllu")), "no sentences; expected at least one"),
    ]
    for call, message in wrong:
        with pytest.raises(InputError, match=message):
            call()


def test_documents_of_a_corpus_can_be_asked_for_by_rule() -> None:
    corpus = treebank([[3, 4]] * 6)
    assert find_documents(corpus) is not None
    made = split(corpus, "random(unit='document', sizes='50/50')", documents="sent_id:^[a-z]+")
    assert made.documents is not None
    assert sorted(made.documents.names) == ["news", "talk", "web"]
    assert set(made.shared_documents(made[0]).values()) == {0}
