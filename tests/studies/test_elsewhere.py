"""Networks that are trained on a machine without studies are those of the study."""

import json
import sys
from pathlib import Path

import pytest

from deadheat.questions.run import run
from deadheat.study.store.store import Store
from studies.elsewhere import collect, orders, train
from tests.study.study_cases import study_file

pytest.importorskip("jax", reason="deadheat[neural] is not installed")
NETWORK = """\
[[systems]]
name = "bilstm"
seeds = 2
epochs = 1
units = "16"
word_size = 16
characters = "none"
batch = [8, 16]
"""


def call(main: object, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["program", *map(str, arguments)])
    main()  # type: ignore[operator]


def scores(store: Store) -> str:
    return repr(sorted(store.scores().select("key", "part", "metric", "value").iter_rows()))  # some are NaN


@pytest.mark.slow
def test_a_study_trained_elsewhere_is_that_of_deadheat_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study_file(tmp_path, "", times=1)
    path.write_text(path.read_text() + NETWORK)
    local = run(path, store=tmp_path / "local.sqlite")
    work, out, stores = (tmp_path / name for name in ("work", "out", "stores"))
    call(orders.main, monkeypatch, work, path)
    asked = [json.loads(line) for line in (work / train.ORDERS).read_text().splitlines()]
    assert [each["system"] for each in asked] == [cell.system for cell in local.plan.cells]

    # What a first call has no time for, a second one trains, and nothing twice.
    call(train.main, monkeypatch, work, out, "--seconds", "-1")
    assert not (out / train.LINES).exists()
    call(train.main, monkeypatch, work, out)
    lines = (out / train.LINES).read_text().splitlines()
    assert sorted(json.loads(line)["key"] for line in lines) == sorted(each["key"] for each in asked)
    assert len(lines) == len(asked) == 4
    call(train.main, monkeypatch, work, tmp_path / "more", "--done", out / train.LINES)
    assert not (tmp_path / "more" / train.LINES).exists()

    call(collect.main, monkeypatch, path, "--trained", out, "--stores", stores)
    with Store.read(stores / f"{path.stem}.sqlite") as theirs, Store.read(tmp_path / "local.sqlite") as ours:
        assert theirs.verify() == []
        assert scores(theirs) == scores(ours)
        for key in ours.done():
            assert theirs.prediction(key, "test") == ours.prediction(key, "test")
