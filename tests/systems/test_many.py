"""Many networks of a corpus at once: each is what its setting, split and seed make it, and nothing else."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax

import deadheat
from deadheat.corpus import Corpus, read, take, to_bytes
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, align
from deadheat.neural import config, stack
from deadheat.neural.stack import Stack, StackJob, TrainedNetwork
from deadheat.splits.splitting import Partition
from deadheat.systems import SYSTEMS, bilstm
from deadheat.systems.system import Network
from tests.neural.tiny import SENTENCES, TINY, corpus_of, force_stacks, rows_of, split_of

CORPUS = corpus_of(rows_of(rare=True))
SPLITS = [split_of(1), split_of(2)]
SEEDS = [0, 7]
# Numbers alone differ, so that all of them train together.
# The first two learn, the third stays as it is, and the last breaks.
FULL = {**TINY, "size": "full"}
SETTINGS = [
    FULL,
    {**FULL, "rate": 0.02, "drop": 0.4, "clip": 0.1, "norm": 0.0, "replaced": 0.0},
    {**FULL, "rate": 1e-9, "epochs": 9, "patience": 2},
    {**FULL, "rate": 1e38},
]

NAMES = [SYSTEMS.make("bilstm", **each).name for each in SETTINGS]
LEARNERS = NAMES[:2]


def trained(corpus: Corpus = CORPUS, settings: Any = FULL, **more: Any) -> list[Network]:
    given = {"partitions": SPLITS[:1], "seeds": SEEDS[:1], **more}
    partitions, seeds = given.pop("partitions"), given.pop("seeds")
    return list(deadheat.train_many(corpus, partitions, seeds, settings, **given))


def by_name(networks: list[Network]) -> dict[tuple[str, str, int], Network]:
    found = {(each.system, each.partition, each.seed): each for each in networks}
    assert len(found) == len(networks)
    return found


@pytest.fixture(scope="module")
def alone() -> dict[tuple[str, str, int], Network]:
    """Every network by itself."""
    return by_name(trained(settings=SETTINGS, partitions=SPLITS, seeds=SEEDS))


@pytest.fixture
def plain(alone: dict[tuple[str, str, int], Network]) -> Network:
    return alone[NAMES[0], "1", 0]


def labels(network: Network, part: str = "test", column: str = "tag") -> list[str]:
    return network.predictions[part].column(column).strings()


@pytest.mark.slow
def test_there_is_a_network_for_every_setting_split_and_seed(alone: dict[tuple[str, str, int], Network]) -> None:
    assert set(alone) == {(name, split.name, seed) for name in NAMES for split in SPLITS for seed in SEEDS}
    for (_, split, _), network in alone.items():
        if not network.failed:
            partition = SPLITS[int(split) - 1]
            assert set(network.predictions) == {"dev", "test"}
            for part, predicted in network.predictions.items():
                gold = take(CORPUS, partition.parts[part])
                assert predicted.column("form").strings() == gold.column("form").strings()
                assert predicted.column("chunk").strings() == gold.column("chunk").strings()


@pytest.mark.slow
def test_a_network_is_the_same_in_a_stack_with_other_settings_seeds_and_splits(
    alone: dict[tuple[str, str, int], Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stack adds up in another order. Losses agree to four digits or more, and labels differ only where two have
    # the same score but for rounding, which happens to none of these words.
    force_stacks(monkeypatch, 3)
    sizes = watched(monkeypatch)
    together = by_name(trained(settings=SETTINGS, partitions=SPLITS, seeds=SEEDS))
    assert sizes == [3]  # one stack, whose slots are filled again as networks leave
    assert set(together) == set(alone)
    for name, network in together.items():
        single = alone[name]
        assert (network.epoch, network.epochs, bool(network.failed)) == (
            single.epoch, single.epochs, bool(single.failed),
        )  # fmt: skip
        assert network.curve == pytest.approx(single.curve, abs=1e-6)
        for part, predicted in single.predictions.items():
            assert to_bytes(network.predictions[part]) == to_bytes(predicted)


@pytest.mark.slow
def test_networks_of_small_and_large_training_parts_are_the_same_together_as_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = Partition("few", {**SPLITS[0].parts, "train": SPLITS[0].parts["train"][:25]}, SENTENCES)
    words = [int(np.diff(CORPUS.offsets)[split.parts["train"]].sum()) for split in (few, SPLITS[0])]
    monkeypatch.setattr(config, "SMALL_WORDS", words[1])
    monkeypatch.setitem(bilstm.SIZES, "small", {**bilstm.SIZES["small"], "affixes": 4, "batch": 4})
    monkeypatch.setitem(bilstm.SIZES, "full", {**bilstm.SIZES["full"], "batch": 8})
    settings = {name: value for name, value in TINY.items() if name not in ("batch", "drop")}
    force_stacks(monkeypatch, 3)
    partitions = [few, SPLITS[0]]
    together = by_name(trained(settings=settings, partitions=partitions, seeds=[0]))
    for size, split in (("small", few), ("full", SPLITS[0])):
        [alone] = trained(settings={**settings, "size": size}, partitions=[split], seeds=[0])
        network = together[SYSTEMS.make("bilstm", **settings).name, split.name, 0]
        assert network.curve == pytest.approx(alone.curve, abs=1e-6)
        assert labels(network) == labels(alone)
        part = take(CORPUS, split.parts["train"])
        model: Any = SYSTEMS.make("bilstm", **settings).train(part, None, 0)
        assert (model.config.shape.affix_size, model.config.shape.batch) == ((4, 4) if size == "small" else (0, 8))


@pytest.mark.slow
def test_settings_seeds_and_splits_make_different_networks(alone: dict[tuple[str, str, int], Network]) -> None:
    learned = [each for (name, *_), each in alone.items() if name in LEARNERS]
    assert len(learned) == len({each.curve for each in learned}) == 8
    assert all(each.curve[-1] > each.curve[0] for each in learned)


@pytest.mark.slow
def test_a_network_that_learns_nothing_ends_with_its_patience(alone: dict[tuple[str, str, int], Network]) -> None:
    still = [each for (name, *_), each in alone.items() if "patience=2" in name]
    assert [(each.epoch, each.epochs) for each in still] == [(1, 3)] * 4
    assert all(each.score == each.curve[0] for each in still)


@pytest.mark.slow
def test_a_network_whose_loss_is_no_number_fails_and_the_others_do_not(
    alone: dict[tuple[str, str, int], Network],
) -> None:
    for (name, *_), network in alone.items():
        assert bool(network.failed) == ("rate=1e+38" in name)
        if network.failed:
            assert network.failed.startswith("its loss is nan in epoch ")
            assert not network.predictions
            assert "rate=1e+38" in str(network)
            assert "failed: its loss is nan" in str(network)
    with pytest.raises(InputError, match=r"training failed, its loss is nan in epoch 1; expected"):
        SYSTEMS.make("bilstm", **SETTINGS[3]).train(CORPUS, None, 0)


@pytest.mark.slow
def test_the_score_is_that_of_the_epoch_that_was_kept(alone: dict[tuple[str, str, int], Network]) -> None:
    for network in alone.values():
        if network.failed:
            continue
        gold = take(CORPUS, SPLITS[int(network.partition) - 1].parts["dev"]).column("tag").strings()
        right = np.mean([a == b for a, b in zip(gold, labels(network, "dev"), strict=True)])
        assert network.score == pytest.approx(right)
        assert network.score == max(network.curve) == network.curve[network.epoch - 1]
        assert len(network.curve) == network.epochs


@pytest.mark.slow
def test_chunks_are_judged_by_f1_and_come_back_in_the_scheme_of_the_corpus() -> None:
    [network] = trained(settings={**TINY, "column": "chunk", "scheme": "iobes"})
    gold, predicted = take(CORPUS, SPLITS[0].parts["dev"]), network.predictions["dev"]
    assert {*labels(network, "dev", "chunk"), *labels(network, "test", "chunk")} <= {"O", "B-NP", "I-NP"}
    chunks = METRICS.make("chunks", column="chunk")
    assert network.score == pytest.approx(float(chunks.value(chunks.counts(align(gold, predicted)).sum(axis=0)[:3])))
    assert network.score > 0.3
    assert labels(network, "dev") == gold.column("tag").strings()  # another column stays


def changed(parts: Mapping[str, Any], split: int = 0) -> Corpus:
    """The corpus, with other words and labels in some parts of a split."""
    rows = rows_of(rare=True)
    for part, change in parts.items():
        for sentence in SPLITS[split].parts[part].tolist():
            rows[sentence] = [change(*row) for row in rows[sentence]]
    return corpus_of(rows)


@pytest.mark.slow
def test_labels_of_the_test_part_are_never_looked_at(plain: Network) -> None:
    scrambled = changed({"test": lambda word, tag, chunk: (word, {"N": "V", "V": "SEEN-NOWHERE"}.get(tag, "N"), chunk)})
    [network] = trained(scrambled)
    assert labels(network) == labels(plain)
    assert network.curve == plain.curve


@pytest.mark.slow
def test_words_of_the_test_part_change_nothing_elsewhere(plain: Network) -> None:
    # Words that are nowhere else, and words that train has once and tune has not: they stay as rare as they were.
    train, dev = (take(CORPUS, SPLITS[0].parts[part]).column("form").strings() for part in ("train", "dev"))
    once = [word for word, count in Counter(train).items() if count == 1]
    assert len(once) > 2
    for words in (["Ångström", "zebra"], once):
        others = cycle(words)
        [network] = trained(changed({"test": lambda _, tag, chunk, others=others: (next(others), tag, chunk)}))
        assert labels(network, "dev") == labels(plain, "dev")
        assert network.curve == plain.curve
    assert not set(dev) <= set(train)


@pytest.mark.slow
def test_a_label_that_only_tune_has_counts_as_wrong_and_is_never_given(plain: Network) -> None:
    odd = changed({"dev": lambda word, tag, chunk: (word, "ODD" if word == "saw" else tag, chunk)})
    [network] = trained(odd)
    gold = take(odd, SPLITS[0].parts["dev"]).column("tag").strings()
    right = [a == b for a, b in zip(gold, labels(network, "dev"), strict=True)]
    assert network.score == pytest.approx(np.mean(right))
    assert network.score <= 1 - gold.count("ODD") / len(gold)
    assert "ODD" not in {*labels(network), *labels(network, "dev")}
    # What is learned is the same; which epoch is kept may differ.
    assert network.epoch != plain.epoch or labels(network) == labels(plain)


@pytest.mark.slow
def test_without_a_part_to_tune_on_the_last_epoch_is_kept() -> None:
    [network] = trained(partitions=[split_of(1, parts=("train", "test"))])
    assert (network.epoch, network.epochs) == (3, 3)
    assert math.isnan(network.score)
    assert set(network.predictions) == {"test"}


@pytest.mark.slow
def test_any_part_may_pick_the_epoch(plain: Network) -> None:
    [network] = trained(tune="test")
    gold = take(CORPUS, SPLITS[0].parts["test"]).column("tag").strings()
    assert network.score == pytest.approx(np.mean([a == b for a, b in zip(gold, labels(network), strict=True)]))
    assert network.curve != plain.curve


def watched(patch: pytest.MonkeyPatch, most: int = 1 << 30) -> list[int]:
    """Sizes of the stacks that are run; the device has no memory for those of more than `most`."""
    sizes: list[int] = []
    run = Stack.run

    def limited(self: Stack, jobs: Mapping[int, StackJob]) -> Iterator[tuple[int, TrainedNetwork]]:
        sizes.append(self.size)
        if self.size > most:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.")
        yield from run(self, jobs)

    patch.setattr(stack.Stack, "run", limited)
    return sizes


@pytest.mark.slow
def test_where_memory_runs_out_stacks_are_halved_and_nothing_else_changes(
    plain: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    force_stacks(monkeypatch, 100)
    sizes = watched(monkeypatch, most=1)
    networks = trained(seeds=range(5))
    assert sizes == [5, 2, 1]
    assert [each.seed for each in networks] == [0, 1, 2, 3, 4]
    assert to_bytes(networks[0].predictions["test"]) == to_bytes(plain.predictions["test"])


def test_a_network_that_does_not_fit_alone_is_given_up_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = watched(monkeypatch, most=0)
    networks = trained(seeds=[3, 4])
    assert sizes == [1, 1]
    assert [(each.seed, each.failed) for each in networks] == [
        (seed, "the device has too little memory for one such network") for seed in (3, 4)
    ]
    assert not any(each.predictions for each in networks)


def test_other_errors_of_the_device_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Stack, jobs: Mapping[int, StackJob]) -> Iterator[tuple[int, TrainedNetwork]]:
        raise jax.errors.JaxRuntimeError("INTERNAL: the device is gone")

    monkeypatch.setattr(stack.Stack, "run", broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="the device is gone"):
        trained()


def test_a_system_that_trains_one_at_a_time_is_refused() -> None:
    with pytest.raises(InputError, match=r"^perceptron\.v2.* trains one at a time; expected .* such as bilstm\.v2$"):
        trained(settings={"column": "tag"}, system="perceptron")


def test_wrong_settings_are_refused_before_anything_is_trained() -> None:
    with pytest.raises(NameUnknown, match="'unit' is unknown; did you mean 'units'"):
        trained(settings=[TINY, {"unit": "5"}])
    with pytest.raises(NameUnknown, match=r"column 'tags' .*'tag'"):
        trained(settings={**TINY, "column": "tags"})


def test_a_split_without_the_parts_it_needs_is_refused() -> None:
    with pytest.raises(InputError, match=r"^split 1: no part train; it has dev, test$"):
        trained(partitions=[split_of(1, parts=("dev", "test"))])
    with pytest.raises(InputError, match=r"^split 2: tune='tune'; it has train, dev, test$"):
        trained(partitions=SPLITS[1:], tune="tune")


def test_a_split_of_another_corpus_is_refused() -> None:
    expected = f"^split 1: of {SENTENCES} sentences; the corpus text has {SENTENCES - 1}$"
    with pytest.raises(InputError, match=expected):
        trained(corpus_of(rows_of(SENTENCES - 1)))


@pytest.mark.slow
@pytest.mark.long
def test_the_default_beats_the_hmm_on_a_small_treebank(shared_data: Path) -> None:
    """Telugu has 5,082 words in train; epochs are picked on one half of dev, and the other half is scored."""
    folder = shared_data / "treebanks" / "te_mtg"
    train, dev = (read(folder / f"te_mtg-ud-{part}.conllu") for part in ("train", "dev"))
    even = np.arange(dev.sentences) % 2 == 0
    tune, scored = (take(dev, np.flatnonzero(half)) for half in (even, ~even))

    def accuracy(system: str) -> float:
        predicted = SYSTEMS.make(system).train(train, tune, 0).predict(scored).column("upos").strings()
        return float(np.mean(np.array(predicted) == np.array(scored.column("upos").strings())))

    assert accuracy("bilstm") > accuracy("hmm") + 0.01
