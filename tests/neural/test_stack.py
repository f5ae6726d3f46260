"""Stacks of networks: each is what it would be alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

from deadheat.corpus import Corpus, read
from deadheat.neural import batches, encoder, lstm, programs, stack
from deadheat.neural.config import HyperParams, Shape, TrainSchedule
from deadheat.neural.programs import DeviceData
from deadheat.neural.stack import Splits, Stack, StackJob, TrainedNetwork
from deadheat.neural.text import Encoding, casing, encode_corpora, normalize_form, tokens_of

SMALL = Shape(units=(6, 5), word_size=8, case_size=3, character_size=4, filters=5, batch=8)
# Labels follow from the word alone, but for `run`, which is a verb after a noun.
WORDS = {"the": "D", "dog": "N", "cats": "N", "Big": "A", "saw": "V", "3": "#"}


def corpus(sentences: int, seed: int = 0) -> Corpus:
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        before = ""
        for word in rng.choice([*WORDS, "run"], size=rng.integers(2, 7)):
            label = WORDS.get(word) or ("V" if before == "N" else "N")
            lines.append(f"{word}\t{label}")
            before = label
        lines.append("")
    return read(text="\n".join(lines) + "\n", format="columns", columns=["form", "tag"], separator="\t")


def encode(text: Corpus) -> Encoding:
    column = text.column("tag")
    return encode_corpora([text], column.codes, column.vocabulary.strings)


def trained(
    encoding: Encoding,
    splits: Splits,
    jobs: list[StackJob],
    *,
    size: int,
    schedule: TrainSchedule,
    shape: Shape = SMALL,
) -> list[TrainedNetwork]:
    gold, starts, lengths = (np.asarray(encoding.arrays[name]) for name in ("labels", "starts", "lengths"))

    def judge(split: int, labels: np.ndarray) -> float:
        tune = splits.tunes[split]
        assert tune is not None
        return float((gold[tokens_of(starts, lengths, np.sort(tune))] == labels).mean())

    training = Stack(DeviceData.of(shape, encoding, encoding.knowledge(splits.trains)), splits, judge, size=size)
    found = dict(training.run({at: replace(job, schedule=schedule) for at, job in enumerate(jobs)}))
    return [found[at] for at in range(len(jobs))]


@pytest.fixture(scope="module")
def text() -> Corpus:
    return corpus(60)


@pytest.fixture(scope="module")
def splits() -> Splits:
    order = np.random.default_rng(1).permutation(60)
    ways = [order, order[::-1].copy()]
    return Splits(
        [np.sort(each[:40]) for each in ways], [np.sort(each[40:50]) for each in ways],
        {"test": [np.sort(each[50:]) for each in ways]},
    )  # fmt: skip


JOBS = [
    StackJob(HyperParams(0.02, 0.1), 0, 0),
    StackJob(HyperParams(0.03, 0.25, norm=5.0), 1, 1),
    StackJob(HyperParams(0.02, 0.1), 2, 0),
    StackJob(HyperParams(0.01, 0.0, clip=0.1), 0, 1),
]


@pytest.fixture(scope="module")
def stacked(text: Corpus, splits: Splits) -> list[TrainedNetwork]:
    """Four networks in a stack of three: one waits for a slot."""
    return trained(encode(text), splits, JOBS, size=3, schedule=TrainSchedule(6, 6))


@pytest.fixture(scope="module")
def alone(text: Corpus, splits: Splits) -> list[TrainedNetwork]:
    return [trained(encode(text), splits, [job], size=1, schedule=TrainSchedule(6, 6))[0] for job in JOBS]


@pytest.mark.slow
def test_a_network_is_the_same_alone_and_in_a_stack(stacked: list[TrainedNetwork], alone: list[TrainedNetwork]) -> None:
    for network, single in zip(stacked, alone, strict=True):
        assert network.epoch == single.epoch
        assert network.curve == pytest.approx(single.curve, abs=1e-6)
        assert network.losses == pytest.approx(single.losses, rel=1e-4)
        assert np.array_equal(network.labels["test"], single.labels["test"])


@pytest.mark.slow
def test_a_network_can_be_repeated_from_its_seed(text: Corpus, splits: Splits, alone: list[TrainedNetwork]) -> None:
    again = trained(encode(text), splits, [JOBS[1]], size=1, schedule=TrainSchedule(6, 6))[0]
    assert again.losses == alone[1].losses
    assert np.array_equal(again.labels["test"], alone[1].labels["test"])


@pytest.mark.slow
def test_seeds_numbers_and_splits_make_different_networks(stacked: list[TrainedNetwork]) -> None:
    assert len({network.losses for network in stacked}) == len(JOBS)


@pytest.mark.slow
def test_networks_learn(stacked: list[TrainedNetwork]) -> None:
    assert all(network.losses[-1] < 0.7 * network.losses[0] for network in stacked)
    assert max(network.score for network in stacked) > 0.8


@pytest.mark.slow
def test_the_best_epoch_is_kept_and_training_ends_when_patience_does(text: Corpus, splits: Splits) -> None:
    gone = trained(encode(text), splits, [StackJob(HyperParams(0.0), 0, 0)], size=1, schedule=TrainSchedule(50, 2))[0]
    assert (gone.epoch, gone.epochs) == (1, 3)  # nothing is learned, so no epoch is better than the first
    assert gone.score == gone.curve[0]


@pytest.mark.slow
def test_a_loss_that_is_no_number_ends_that_network_and_no_other(text: Corpus, splits: Splits) -> None:
    jobs = [JOBS[0], StackJob(HyperParams(math.nan), 5, 0), JOBS[2]]
    found = trained(encode(text), splits, jobs, size=3, schedule=TrainSchedule(6, 6))
    assert found[1].failed.startswith("its loss is nan in epoch")
    assert not found[1].labels
    assert not found[0].failed
    assert not found[2].failed


def test_words_outside_of_train_are_unknown_and_labels_outside_of_it_impossible(text: Corpus) -> None:
    encoding = encode(text)
    arrays = encoding.knowledge([np.arange(3)])
    own = {text.column("form").strings()[at] for at in range(int(text.offsets[3]))}
    for code, word in enumerate(encoding.words[1:], 1):
        assert (arrays["train_counts"][0, code] > 0) == (word in {normalize_form(form) for form in own})
    labels = {text.column("tag").strings()[at] for at in range(int(text.offsets[3]))}
    assert {name for name, ok in zip(encoding.labels, arrays["known_labels"][0], strict=True) if ok} == labels


def test_every_sentence_is_seen_once_an_epoch_and_order_follows_from_the_seed() -> None:
    lengths = np.random.default_rng(0).integers(1, 90, size=500)
    groups = batches.group_by_length(lengths, np.arange(500), 16)
    one, same, other, later = (
        batches.epoch_batches(groups, 16, seed, number) for seed, number in ((3, 0), (3, 0), (4, 0), (3, 1))
    )
    seen = np.concatenate([row[row >= 0] for row in one.values()])
    assert sorted(seen.tolist()) == list(range(500))
    assert all(int(lengths[row[row >= 0]].max()) <= slot.words for slot, row in one.items())
    assert all(np.array_equal(one[slot], same[slot]) for slot in one)
    assert any(not np.array_equal(one[slot], other[slot]) for slot in one)
    assert any(not np.array_equal(one[slot], later[slot]) for slot in one)


def test_a_network_has_its_steps_in_one_order_whatever_trains_beside_it() -> None:
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 60, size=400)
    mine = batches.group_by_length(lengths, np.arange(250), 8)
    others = batches.group_by_length(lengths, np.arange(100, 400), 8)
    own = batches.schedule([mine], 8)
    among = [slot for slot in batches.schedule([mine, others], 8) if slot in set(own)]
    assert own == among
    assert set(batches.epoch_batches(mine, 8, 0, 0)) == set(own)


def test_sentences_are_padded_to_the_next_length_and_what_does_not_fill_a_batch_joins_longer_ones() -> None:
    assert [batches.padded_length(words) for words in (1, 6, 7, 80, 81, 1500)] == [6, 6, 9, 80, 104, 2000]
    groups = {6: np.arange(70), 9: np.arange(20), 12: np.arange(3)}
    assert batches.batch_counts(groups, 32) == {6: 2, 12: 1}


def test_little_of_what_is_computed_is_padding() -> None:
    lengths = np.random.default_rng(2).geometric(0.05, size=8000).clip(1, 120)
    assert batches.padding(batches.group_by_length(lengths, np.arange(8000), 31), lengths, 31) < 0.15


@pytest.mark.parametrize(
    ("form", "kind"), [("12", 1), ("1,234", 2), ("dog", 3), ("USA", 4), ("Dog", 5), ("B2B", 6), ("--", 7)]
)
def test_casing_has_seven_kinds(form: str, kind: int) -> None:
    assert casing(form) == kind


def test_what_is_left_of_a_rate_follows_from_the_updates_so_far(text: Corpus, splits: Splits) -> None:
    stacked = Stack(DeviceData.of(SMALL, encode(text), encode(text).knowledge(splits.trains)), splits, None, size=2)
    decaying, steady = (StackJob(HyperParams(0.02), 0, 0, TrainSchedule(decay=decay)) for decay in (0.5, 1.0))
    stacked.slots = [stack._ActiveNetwork(job, at, updates=2000) for at, job in enumerate((decaying, steady))]
    assert np.asarray(stacked._hyper().rate) == pytest.approx([0.005, 0.02])


@pytest.mark.slow
def test_the_epoch_is_reported_while_networks_train(text: Corpus, splits: Splits) -> None:
    data, steps = DeviceData.of(SMALL, encode(text), encode(text).knowledge(splits.trains)), list[tuple[int, int]]()
    jobs = {at: replace(job, schedule=TrainSchedule(2 + at, 9)) for at, job in enumerate(JOBS[:2])}
    training = Stack(data, splits, None, size=1, on_step=lambda epoch, epochs: steps.append((epoch, epochs)))
    assert len(list(training.run(jobs))) == 2
    assert list(dict.fromkeys(steps)) == [(1, 2), (2, 2), (1, 3), (2, 3), (3, 3)]
    assert len(steps) > 5  # several times in an epoch, which may take long


@pytest.mark.slow
def test_programs_made_ahead_of_time_as_on_an_accelerator_train_the_same_networks(
    text: Corpus, splits: Splits, stacked: list[TrainedNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (programs, stack, encoder, lstm):
        monkeypatch.setattr(module, "on_accelerator", lambda: True)
    programs.programs.cache_clear()
    ahead = trained(encode(text), splits, JOBS, size=3, schedule=TrainSchedule(6, 6))
    programs.programs.cache_clear()
    for one, other in zip(ahead, stacked, strict=True):
        assert one.losses == pytest.approx(other.losses, rel=1e-4)
        assert np.array_equal(one.labels["test"], other.labels["test"])
