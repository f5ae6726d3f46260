"""Taggers from corpora: labels as they are learned and written, one network or many, and stacks that do not fit."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax

from deadheat.corpus import Corpus, take, to_bytes
from deadheat.corpus.vocabulary import offsets_of
from deadheat.errors import InputError
from deadheat.neural import batches, stack
from deadheat.neural.config import HyperParams, TrainJob
from deadheat.neural.labels import Labels, TargetLabels
from deadheat.neural.stack import StackJob, TrainedNetwork, train_all
from deadheat.systems import SYSTEMS
from tests.neural.test_schemes import to_scheme
from tests.neural.tiny import TINY, corpus_of, rows_of, split_of

CHUNKS = ("O", "B-NP", "I-NP", "B-VP", "I-VP")
SCHEMES = ("bio", "iob1", "iobes")


def labels_of(*sentences: list[str]) -> Labels:
    """Labels of sentences, as a corpus would have them."""
    strings = sorted({label for sentence in sentences for label in sentence})
    codes = np.array([strings.index(label) for sentence in sentences for label in sentence], np.int32)
    return Labels(codes, strings, offsets_of([len(sentence) for sentence in sentences]))


def everything(labels: Labels) -> np.ndarray:
    return np.arange(len(labels.offsets) - 1)


sentences = st.lists(st.lists(st.sampled_from(CHUNKS), min_size=1, max_size=6), min_size=1, max_size=4)


@given(sentences, st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_chunks_come_back_as_the_corpus_writes_them(raw: list[list[str]], source: str, learned: str) -> None:
    offsets = np.cumsum([0, *map(len, raw)]).tolist()
    flat = to_scheme([label for sentence in raw for label in sentence], offsets, target=source)
    labels = labels_of(*(flat[a:b] for a, b in pairwise(offsets)))
    labelling = TargetLabels.of(labels, everything(labels), source=source, scheme=learned)
    assert [labelling.names[code] for code in labelling.codes] == to_scheme(flat, offsets, target=learned)
    assert labelling.column(labelling.codes, offsets).strings() == flat
    chunks = any(label != "O" for label in flat)
    assert labelling.score(labelling.codes, labelling.codes, offsets) == (1.0 if chunks else 0.0)


@pytest.mark.parametrize(
    ("predicted", "written"),
    [
        ("I-NP I-NP O I-NP", "B-NP I-NP O B-NP"),  # a chunk begins where none was
        ("E-NP B-NP B-NP I-NP", "B-NP B-NP B-NP I-NP"),
        ("S-NP S-NP E-NP O", "B-NP B-NP B-NP O"),
        ("B-NP E-NP I-NP O", "B-NP I-NP B-NP O"),  # after an end something new begins
    ],
)
def test_sequences_that_cannot_be_are_mended_as_conlleval_reads_them(predicted: str, written: str) -> None:
    labels = labels_of("B-NP I-NP I-NP O B-NP".split(), "B-NP I-NP O".split())
    labelling = TargetLabels.of(labels, everything(labels), source="bio", scheme="iobes")
    codes = np.array([labelling.names.index(label) for label in predicted.split()])
    assert labelling.column(codes, np.array([0, 4])).strings() == written.split()


def test_a_sentence_is_mended_by_itself() -> None:
    labels = labels_of("B-NP I-NP O".split())
    labelling = TargetLabels.of(labels, everything(labels), source="bio", scheme="as-is")
    inside = labelling.names.index("I-NP")
    assert labelling.column(np.array([inside, inside]), np.array([0, 1, 2])).strings() == ["B-NP", "B-NP"]


def test_labels_of_other_sentences_are_not_looked_at() -> None:
    labels = labels_of(["B-X", "O"], ["no chunk", "B-SECRET"], ["O", "B-X"])
    labelling = TargetLabels.of(labels, np.array([0, 2]), source="bio", scheme="iobes")
    assert labelling.names == ("O", "S-X")
    assert labelling.codes.tolist() == [1, 0, 0, 0, 0, 1]
    plain = TargetLabels.of(labels_of(["A", "B"], ["SECRET"], ["B"]), np.array([0, 2]), source=None, scheme="as-is")
    assert plain.names == ("A", "B")
    assert plain.codes.tolist() == [0, 1, 0, 1]


def test_plain_tags_have_no_scheme_to_be_put_in() -> None:
    corpus = corpus_of(rows_of(10))
    with pytest.raises(InputError, match=r"^scheme='iobes': the labels are no chunks; expected .*'as-is'$"):
        SYSTEMS.make("bilstm", **TINY, scheme="iobes").train(corpus, None, 0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of(rows_of())


@pytest.mark.slow
def test_a_tagger_of_its_own_corpora_is_the_one_among_many(corpus: Corpus) -> None:
    # HyperParams of sentences, words and labels are others where test is not at hand, and change nothing.
    system, split = SYSTEMS.make("bilstm", **TINY), split_of(1)
    train, dev, test = (take(corpus, split.parts[part]) for part in ("train", "dev", "test"))
    model = system.train(train, dev, 5)
    assert system.batch_trainer is not None
    order = TrainJob(system.batch_trainer.config, 5, split.parts["train"], split.parts["dev"], dict(split.parts))
    [(number, done)] = system.batch_trainer.train(corpus, [order])
    assert number == 0
    assert model.trained.curve == done.curve  # type: ignore[attr-defined]
    for part, own in (("train", train), ("dev", dev), ("test", test)):
        assert to_bytes(model.predict(own)) == to_bytes(done.predictions[part])


@pytest.mark.slow
def test_sentences_without_words_are_passed_over(corpus: Corpus) -> None:
    # No file has such sentences, but a corpus made in Python may.
    def opened(own: Corpus, *places: int) -> Corpus:
        offsets = own.offsets
        for place in places:
            offsets = np.insert(offsets, place, offsets[place])
        return replace(own, offsets=offsets)

    system, split = SYSTEMS.make("bilstm", **TINY), split_of(1)
    train, dev = (take(corpus, split.parts[part]) for part in ("train", "dev"))
    plain = system.train(train, dev, 0)
    gaps = system.train(opened(train, 40), opened(dev, 0, 5), 0)
    assert gaps.predict(opened(dev, 3, 3)).column("tag").strings() == plain.predict(dev).column("tag").strings()
    with pytest.raises(InputError, match="no words"):
        system.train(take(train, np.arange(0)), dev, 0)


def test_rows_of_sentences_to_label_have_every_word_once() -> None:
    lengths = np.random.default_rng(0).integers(0, 60, 300)
    lengths[[0, 7]] = 0, 2300
    chosen = np.sort(np.random.default_rng(1).permutation(300)[:200])
    rows = batches.prediction_batches(lengths, chosen)
    # A label that says where the word is: its sentence, and its place there.
    made = {step: row[:, None] * 10_000 + np.arange(step.words) for step, row in rows.items()}
    expected = [sentence * 10_000 + at for sentence in chosen.tolist() for at in range(lengths[sentence])]
    assert batches.join_in_order(rows, made, lengths).tolist() == expected


class Short:
    """A device that has room for two networks, and for none whose seed is 13; each run of three networks breaks it."""

    sizes: list[int]

    def __init__(self, *_: object, size: int, on_step: object = None) -> None:
        del on_step
        self.size = size
        type(self).sizes.append(size)

    def run(self, jobs: Mapping[int, StackJob]) -> Iterator[tuple[int, TrainedNetwork]]:
        if self.size > 2:
            raise exhausted()
        for done, (at, job) in enumerate(sorted(jobs.items())):
            if job.seed == 13 or (self.size == 2 and done == 3):
                raise exhausted()
            yield at, TrainedNetwork(job, 1, 1, 0.5, {})


def exhausted() -> jax.errors.JaxRuntimeError:
    return jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Failed to allocate request for 4.0GiB")


def test_whatever_memory_does_every_network_comes_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Short.sizes = []
    monkeypatch.setattr(stack, "Stack", Short)
    jobs = {at: StackJob(HyperParams(0.1), seed, 0) for at, seed in enumerate([0, 1, 2, 3, 13, 5, 13, 7])}
    found = list(train_all(None, None, None, jobs, size=64))  # type: ignore[arg-type]
    assert sorted(at for at, _ in found) == list(range(8))
    failed = {at: done for at, done in found if done.failed}
    assert set(failed) == {4, 6}
    assert all(math.isnan(each.score) and not each.epochs for each in failed.values())
    # All eight, four, two, of which three networks come; then one at a time, anew after each that does not fit.
    assert Short.sizes == [8, 4, 2, 1, 1, 1]
    assert capsys.readouterr().err.splitlines() == [
        f"note: no memory for {size} networks at once; going on with {size // 2}" for size in (8, 4, 2)
    ]
