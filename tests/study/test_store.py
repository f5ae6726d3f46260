"""What is put into a store comes out again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.metrics.metric import Counts
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT, PartScores, PredictionFile
from deadheat.study.store.recording import write_prediction
from deadheat.study.store.store import Store, open_store
from tests.study.store_outcomes import cell, counts, outcome

RUNS = "key corpus split split_seed number system seed setup status started wall_s cpu_s peak_mb error".split()
SCORES = "key corpus split number system seed setup part metric value sentences words".split()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "study.db", create=True) as opened:
        yield opened


def test_an_outcome_comes_back_as_it_was(store: Store) -> None:
    test, dev = counts(5), counts(6, units=20)
    more = np.concatenate([test, -test[:, :1] * 70_000], axis=1)  # a fourth field, negative and large
    scores = (
        PartScores("test", 300, 6000, {"mine.v1": 0.75, "wide.v1": 0.5}, {"mine.v1": test, "wide.v1": more}),
        PartScores("dev", 20, 110, {"mine.v1": float("nan")}, {"mine.v1": dev}),
    )
    kept = {"test": write_prediction(store.predictions, cell(5).key, "test", b"1\tHi\n\n")}
    made_with = {"host": "here", "packages": {"numpy": "2.1"}}
    given = outcome(5, scores=scores, cpu_s=1.5, peak_mb=80.25, predictions=kept, provenance=made_with)
    assert store.add(given)
    key = cell(5).key
    with open_store(store.path) as again:
        row = again.runs().row(0, named=True)
        assert list(row) == RUNS
        started = datetime.datetime(2027, 1, 15, 8, 0, 5)  # 1.8e9 + 5 s: date -u -d @1800000005
        assert row == {
            "key": key, "corpus": "english", "split": "random.v1(unit='document')", "split_seed": 7, "number": 2,
            "system": "perceptron.v2", "seed": 5, "setup": "", "status": DONE, "started": started, "wall_s": 2.5,
            "cpu_s": 1.5, "peak_mb": 80.25, "error": "",
        }  # fmt: skip
        frame = again.scores()
        assert frame.columns == SCORES
        stored = {(part, metric): rest for part, metric, *rest in frame[SCORES[7:]].rows()}
        assert stored["test", "mine.v1"] == [0.75, 300, 6000]
        assert stored["test", "wide.v1"] == [0.5, 300, 6000]
        assert np.isnan(stored["dev", "mine.v1"][0])
        assert stored["dev", "mine.v1"][1:] == [20, 110]
        assert frame["system"].unique().to_list() == ["perceptron.v2"]
        for part, metric, expected in (("test", "mine.v1", test), ("test", "wide.v1", more), ("dev", "mine.v1", dev)):
            array = again.counts([key], part=part, metric=metric)
            assert array.dtype == np.int64
            assert np.array_equal(array, expected[None])
        assert again.outcome_log(key) == "log of 5\n"
        assert again.provenance(key) == made_with
        assert again.prediction(key, "test") == b"1\tHi\n\n"
        assert again.verify() == []


def test_an_empty_store_has_empty_tables_with_their_columns(store: Store) -> None:
    assert store.runs().columns == RUNS
    assert store.scores().columns == SCORES
    assert store.scores().schema["value"] == pl.Float64
    assert (store.done(), store.failed(), store.study(), store.studies()) == (set(), {}, "", [])
    assert store.counts([], part="test", metric="upos.v1").shape == (0, 0, 0)
    assert store.verify() == []


def test_a_cell_that_is_done_is_never_replaced(store: Store) -> None:
    assert store.add(outcome(1))
    assert not store.add(outcome(1, wall_s=99.0))
    assert not store.add(outcome(1, status=FAILED))
    assert store.runs()["wall_s"].to_list() == [2.5]
    assert store.scores().height == 1
    assert store.outcome_log(cell(1).key) == "log of 1\n"


@pytest.mark.parametrize("status", [FAILED, TIMED_OUT, KILLED])
def test_a_cell_that_failed_is_replaced_by_what_comes_next(store: Store, status: str) -> None:
    store.add(outcome(1, status=status))
    assert (store.done(), store.failed()) == (set(), {cell(1).key: status})
    assert store.runs()["error"].to_list() == ["number 1 went wrong"]
    assert store.add(outcome(1, status=FAILED, error="again", log=""))
    assert store.runs()["error"].to_list() == ["again"]
    assert store.outcome_log(cell(1).key) == ""
    assert store.add(outcome(1))
    assert (store.done(), store.failed()) == ({cell(1).key}, {})
    assert store.runs().height == 1


def test_a_run_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match=f"no run {cell(1).key}; expected the key of one"):
        store.outcome_log(cell(1).key)


def test_counts_come_in_the_order_of_the_keys(store: Store) -> None:
    store.add_many(outcome(number) for number in range(1200))  # more than one query asks for at once
    order = [*range(1199, -1, -1), 3, 3]
    stored = store.counts([cell(number).key for number in order], part="test", metric="upos.v1")
    assert stored.flags.c_contiguous
    assert np.array_equal(stored, np.stack([counts(number) for number in order]))
    small = store.counts([cell(3).key], part="test", metric="upos.v1", dtype=np.uint8)
    assert small.dtype == np.uint8
    assert np.array_equal(small[0], counts(3))
    some = store.counts([cell(3).key, cell(4).key], part="test", metric="upos.v1", fields=(1, 0))
    assert np.array_equal(some, np.stack([counts(3), counts(4)])[:, :, [1, 0]])


def test_equal_columns_are_stored_once(store: Store, tmp_path: Path) -> None:
    store.add_many([outcome(0), outcome(1), outcome(2)])
    (stored,) = store._rows("SELECT count(*) FROM columns")[0]
    different = {column.tobytes() for number in range(3) for column in counts(number).T}
    assert stored == len(different) < 9


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"metric": "upos"}, "metric 'upos' is unknown; did you mean 'upos.v1'\\?"),
        ({"part": "tset"}, "part 'tset' is unknown; did you mean 'test'\\?"),
        ({"part": "upos.v1"}, "part 'upos.v1' is unknown"),
        ({"dtype": np.int8}, "need uint8; expected a type that fits"),
        ({"fields": (0, 3)}, r"fields \[0, 3\] of upos.v1; expected some of 0 to 2"),
        ({"fields": ()}, r"fields \[\] of upos.v1"),
    ],
)
def test_counts_that_are_not_there_are_refused(store: Store, asked: dict[str, object], message: str) -> None:
    store.add(outcome(1))
    with pytest.raises(InputError, match=message):
        store.counts([cell(1).key], **({"part": "test", "metric": "upos.v1"} | asked))  # type: ignore[arg-type]


def test_runs_without_counts_or_with_other_sentences_are_refused(store: Store) -> None:
    bare = PartScores("test", 3, 9, {"upos.v1": 0.5}, {})
    store.add_many([outcome(0), outcome(1, units=299), outcome(2, status=FAILED), outcome(3, scores=(bare,))])
    for number, message in (
        (1, f"run {cell(1).key} has 299 units by 3 fields, run {cell(0).key} 300 by 3; expected runs on the same"),
        (2, r"has no counts \(failed\); expected runs that are done"),
        (3, "has no counts of upos.v1 on test"),
        (4, "is unknown; expected the key of a run"),
    ):
        with pytest.raises(InputError, match=message):
            store.counts([cell(0).key, cell(number).key], part="test", metric="upos.v1")
    assert store.count_shapes()["key"].to_list() == [cell(0).key, cell(1).key]


WRONG = {
    "status": (outcome(1, status="perhaps"), "status 'perhaps'; expected done, failed, timed out, killed"),
    "scores of a failure": (replace(outcome(1), status=FAILED), "failed, with scores or predictions"),
    "a seed too large": (replace(outcome(1), cell=replace(cell(1), seed=2**63)), "seed 9223372036854775808"),
    "no time": (outcome(1, wall_s=float("nan")), "wall_s is nan"),
    "floats": (
        outcome(1, scores=(PartScores("test", 1, 1, {"m": 1.0}, {"m": np.ones((1, 3))}),)),  # type: ignore[dict-item]
        "counts of m are float64",
    ),
    "one axis": (
        outcome(1, scores=(PartScores("test", 1, 1, {"m": 1.0}, {"m": np.ones(3, int)}),)),
        r"of shape \(3,\)",
    ),
    "no value": (outcome(1, scores=(PartScores("test", 1, 1, {}, {"m": counts(1)}),)), "counts without a value"),
    "a part twice": (outcome(1, scores=outcome(1).scores * 2), "parts test, test; expected each once"),
    "a file elsewhere": (
        outcome(1, predictions={"test": PredictionFile("../x", "", 1)}),
        "prediction of part test: ../x; expected ",
    ),
    "a part that leads elsewhere": (
        outcome(1, predictions={"../x": PredictionFile("", "", 0)}),
        "part '../x'; expected only letters",
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.values(), ids=WRONG)
def test_an_outcome_that_could_not_come_back_is_refused_with_all_that_came_with_it(
    store: Store, wrong: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        store.add_many([outcome(0), wrong])  # type: ignore[list-item]
    assert store.runs().height == 0
    assert store.add(outcome(0))  # names that were rolled back are written anew
    assert store.scores()["metric"].to_list() == ["upos.v1"]


def test_text_that_is_not_unicode_is_written_out(store: Store) -> None:
    odd = replace(outcome(1), cell=replace(cell(1), corpus="caf\udce9"), error="\udcff", log="\udcfe\0ü")
    store.add(odd)
    assert store.runs()["corpus"].to_list() == ["caf\\udce9"]
    assert store.runs()["error"].to_list() == ["\\udcff"]
    assert store.outcome_log(cell(1).key) == "\\udcfe\0ü"


def test_study_files_are_kept_with_their_history(store: Store) -> None:
    for text in ("a = 1\n", "a = 1\n", "a = 2\n", "a = 1\n"):
        store.set_study(text)
    assert store.study() == "a = 1\n"
    assert [text for _, text in store.studies()] == ["a = 1\n", "a = 2\n", "a = 1\n"]
    times = [time for time, _ in store.studies()]
    assert times == sorted(times)
    assert times[0] > 1.7e9


def test_provenance_is_stored_once_for_all_runs_of_a_session(store: Store) -> None:
    here, there = {"host": "here"}, {"host": "there"}
    store.add_many(outcome(number, provenance=here if number < 9 else there) for number in range(10))
    assert store._rows("SELECT count(*) FROM provenance") == [(2,)]
    assert (store.provenance(cell(8).key), store.provenance(cell(9).key)) == (here, there)


def test_a_store_that_is_read_cannot_be_written_to(store: Store) -> None:
    with open_store(store.path) as reader, pytest.raises(InputError, match=r"open for reading; expected Store\.open"):
        reader.add(outcome(1))


def test_counts_of_any_shape_of_columns_come_back(store: Store) -> None:
    strange: Counts = np.asfortranarray(np.arange(12).reshape(4, 3)[::-1])
    store.add(outcome(1, scores=(PartScores("test", 4, 9, {"m": 1.0}, {"m": strange}),)))
    assert store.counts([cell(1).key], part="test", metric="m")[0].tolist() == strange.tolist()
