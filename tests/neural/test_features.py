"""Features of words as inputs of networks, and their cache."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.corpus import Corpus, read, take
from deadheat.errors import InputError
from deadheat.kernels import cache
from deadheat.neural import features
from deadheat.neural.config import (
    AttentionShape,
    HyperParams,
    NetworkConfig,
    ParserConfig,
    Shape,
    TaggerConfig,
    TrainJob,
    TrainSchedule,
)
from deadheat.neural.features import Features, cached_features, hash_forms
from deadheat.neural.text import hash_strings
from tests.neural.tiny import corpus_of, force_stacks, rows_of, split_of


@dataclass(frozen=True)
class FormSource:
    """Random numbers for every form, and for the form before it."""

    size: int = 16
    layers: int = 2

    def features(self, corpora: Sequence[Corpus], /) -> Features:
        rows = []
        for corpus in corpora:
            forms = corpus.column("form").strings()
            for start, end in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
                for layer_forms in zip(forms[start:end], ["", *forms[start : end - 1]], strict=True):
                    seeds = hash_strings(layer_forms)
                    rows.append([np.random.default_rng(seed).normal(size=self.size) for seed in seeds])
        return np.array(rows, np.float16).reshape(-1, self.layers, self.size)


LINEAR = Shape(
    units=(), word_size=0, case_size=0, characters="none", classifier="softmax", optimizer="adam", batch=8
)  # fmt: skip
LINEAR_PARSER = AttentionShape(
    units=(), word_size=0, case_size=0, characters="none", classifier="softmax", optimizer="adam", batch=8,
    arc_size=8, relation_size=4, omits=True,
)  # fmt: skip
SCHEDULE = TrainSchedule(epochs=4, patience=4)


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    cache.cache_folder.cache_clear()
    yield tmp_path / "cache"
    cache.cache_folder.cache_clear()


def tagger(shape: Shape = LINEAR, *, rate: float = 0.1, source: Any = FormSource()) -> TaggerConfig:  # noqa: B008
    hyper = HyperParams(rate, drop=0.1)
    return TaggerConfig(column="tag", scheme="as-is", features=source, shape=shape, hyper=hyper, schedule=SCHEDULE)


def parser(shape: Shape = LINEAR_PARSER) -> ParserConfig:
    hyper = HyperParams(0.02, drop=0.1, omitted=0.1)
    return ParserConfig(tags="", features=FormSource(), shape=shape, hyper=hyper, schedule=SCHEDULE)


def trees(sentences: int = 60) -> Corpus:
    """Every word depends on the next; the last is the root."""
    text = []
    for row in rows_of(sentences):
        for at, (form, tag, _) in enumerate(row, 1):
            last = at == len(row)
            text.append(f"{at}\t{form}\t_\t{tag}\t_\t_\t{0 if last else at + 1}\t{'root' if last else tag}\t_\t_\n")
        text.append("\n")
    return read(text="".join(text))


def jobs_of(configs: Sequence[NetworkConfig]) -> list[TrainJob]:
    splits = [split_of(seed).parts for seed in (1, 2)]
    return [
        TrainJob(config, seed, np.sort(parts["train"]), np.sort(parts["dev"]), {"test": np.sort(parts["test"])})
        for seed, (config, parts) in enumerate(zip(configs, splits * len(configs), strict=False))
    ]


class TestNetworks:
    """What networks do with features."""

    @pytest.fixture(autouse=True)
    def jax(self) -> None:
        pytest.importorskip("jax", reason="deadheat[neural] is not installed")

    @pytest.mark.parametrize(
        "kind",
        [
            "linear",
            pytest.param("crf", marks=pytest.mark.slow),
            pytest.param("layers", marks=pytest.mark.slow),
            pytest.param("parser", marks=pytest.mark.slow),
            pytest.param("parser-layers", marks=pytest.mark.slow),
        ],
    )
    def test_a_network_on_features_is_the_same_alone_and_in_a_stack(
        self, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from deadheat.neural.training import train_jobs

        config: NetworkConfig = {
            "linear": tagger(),
            "crf": tagger(replace(LINEAR, classifier="crf")),
            "layers": tagger(replace(LINEAR, units=(5,), word_size=8, case_size=2)),
            "parser": parser(),
            "parser-layers": parser(replace(LINEAR_PARSER, units=(5,), word_size=8)),
        }[kind]
        text = trees() if kind.startswith("parser") else corpus_of(rows_of())
        jobs = jobs_of([replace(config, hyper=config.hyper._replace(rate=rate)) for rate in (0.1, 0.05, 0.03)])
        alone = [dict(train_jobs(text, [job]))[0] for job in jobs]
        force_stacks(monkeypatch, 2)
        together = dict(train_jobs(text, jobs))
        for number, single in enumerate(alone):
            beside = together[number]
            assert not single.failed
            assert beside.losses == pytest.approx(single.losses, rel=1e-4)
            assert beside.curve == pytest.approx(single.curve, abs=1e-6)
            column = "deprel" if kind.startswith("parser") else "tag"
            assert (
                beside.predictions["test"].column(column).strings()
                == single.predictions["test"].column(column).strings()
            )
        assert alone[0].losses != alone[1].losses

    def test_a_linear_tagger_learns_from_features_alone_and_labels_other_text(self) -> None:
        from deadheat.neural.training import train_one

        text, other = corpus_of(rows_of()), corpus_of(rows_of(20, seed=9))
        model = train_one(replace(tagger(), schedule=TrainSchedule(15, 15)), text, None, 0)
        gold, predicted = other.column("tag").strings(), model.predict(other).column("tag").strings()
        assert np.mean([a == b for a, b in zip(gold, predicted, strict=True)]) > 0.9
        assert set(model.weights) == {"features", "output"}
        assert model.predict(take(other, [])).words == 0

    def test_scores_are_those_of_the_scaled_mixture_of_layers(self) -> None:
        import jax.numpy as jnp

        from deadheat.neural.encoder import mix_layers

        values = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float16)
        weights = {"layers": jnp.array([0.0, 1.0, -1.0, 0.5]), "scale": jnp.array(0.7)}
        shares = np.exp([0.0, 1.0, -1.0, 0.5]) / np.exp([0.0, 1.0, -1.0, 0.5]).sum()
        expected = 0.7 * sum(share * values[:, :, layer].astype(float) for layer, share in enumerate(shares))
        assert np.asarray(mix_layers(weights, jnp.asarray(values))) == pytest.approx(expected, abs=1e-5)

    @pytest.mark.slow
    def test_a_linear_parser_learns_from_features_alone(self) -> None:
        from deadheat.neural.training import train_one

        model = train_one(replace(parser(), schedule=TrainSchedule(40, 40)), trees(), None, 0)
        other = trees(10)
        predicted = model.predict(other)
        assert predicted.heads is not None
        assert np.mean(predicted.trees == other.trees) > 0.5  # most words are followed by one of few forms

    def test_the_source_is_part_of_what_trains_together(self) -> None:
        assert tagger().group == tagger(rate=0.2).group
        assert tagger().group != tagger(source=FormSource(size=5)).group
        assert tagger().family == tagger(rate=0.2).family


def test_units_may_be_none_and_not_four() -> None:
    assert Shape(units=()).units == ()
    with pytest.raises(InputError, match="at most three layers"):
        Shape(units=(1, 1, 1, 1))


def test_features_are_computed_once_and_read_from_the_cache(cache_folder: Path) -> None:
    calls = []

    def fill(array: Features) -> None:
        calls.append(1)
        array[:] = np.arange(6).reshape(3, 1, 2)

    first = cached_features("key", (3, 1, 2), fill)
    again = cached_features("key", (3, 1, 2), fill)
    assert len(calls) == 1
    assert isinstance(again, np.memmap)
    assert np.array_equal(first, again)
    assert again[2, 0, 1] == 5
    cached_features("another", (3, 1, 2), fill)
    cached_features("key", (3, 2, 1), lambda array: fill(array.reshape(3, 1, 2)))
    assert len(calls) == 3
    assert not list(cache_folder.rglob("*.part"))
    for array in (first, again):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_features_that_cannot_be_computed_leave_nothing_behind(cache_folder: Path) -> None:
    def fail(array: Features) -> None:
        array[0] = 1
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        cached_features("key", (3, 1, 2), fail)
    assert [path for path in cache_folder.rglob("*") if path.is_file()] == []
    assert not cached_features("key", (3, 1, 2), lambda array: None).any()


def test_a_cache_that_others_may_write_is_not_used(cache_folder: Path) -> None:
    cached_features("key", (3, 1, 2), lambda array: array.fill(1))
    (cache_folder / "features").chmod(0o777)
    assert cached_features("key", (3, 1, 2), lambda array: array.fill(2))[0, 0, 0] == 2


def test_a_full_disk_is_no_failure(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    assert cached_features("key", (3, 1, 2), lambda array: array.fill(1)).all()
    assert [path for path in cache_folder.rglob("*") if path.is_file()] == []


def filling(number: int) -> Callable[[Features], None]:
    return lambda array: array.fill(number)


def test_the_oldest_features_leave_a_full_cache(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "FEATURES_ON_DISK", 40)
    arrays = []
    for number, key in enumerate(("old", "middle", "new")):
        arrays.append(cached_features(key, (4, 1, 2), filling(number)))
        for path in (cache_folder / "features").iterdir():
            os.utime(path, (path.stat().st_mtime - 100,) * 2)
    assert len(list((cache_folder / "features").iterdir())) == 2
    assert [float(array[0, 0, 0]) for array in arrays] == [0, 1, 2]  # a file in use can be read until the end


RACE = """
import sys, time
from pathlib import Path
from deadheat.neural.features import cached_features
def fill(array):
    open(sys.argv[1], "a").write("x")
    time.sleep(0.3)
    array.fill(7)
array = cached_features("key", (50, 1, 4), fill)
assert (array == 7).all()
"""


def test_of_processes_that_need_the_same_features_one_computes_them(tmp_path: Path, cache_folder: Path) -> None:
    log = tmp_path / "log"
    processes = [subprocess.Popen([sys.executable, "-c", RACE, str(log)]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert log.read_text() == "x"
    assert len(list((cache_folder / "features").iterdir())) == 1


def test_the_hash_of_a_text_depends_on_forms_and_sentences_alone() -> None:
    rows = rows_of(20)
    text = corpus_of(rows)
    retagged = corpus_of([[(form, "X", "O") for form, _, _ in row] for row in rows])
    assert hash_forms([text]) == hash_forms([retagged])
    joined = corpus_of([rows[0] + rows[1], *rows[2:]])
    other = corpus_of([[("new", "X", "O"), *rows[0][1:]], *rows[1:]])
    assert len({hash_forms([corpus]) for corpus in (text, joined, other, take(text, np.arange(19)))}) == 4
    part = take(text, np.arange(5))
    assert hash_forms([part]) == hash_forms([corpus_of(rows[:5])])  # whatever else is in the vocabulary
