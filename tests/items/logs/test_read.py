"""Logs of several systems, tasks and harnesses together."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.items.logs.read import is_log, read_logs
from deadheat.items.sources import open_items
from deadheat.questions.item_counts import count_items
from tests.items.logs.samples import (
    inspect_header,
    inspect_members,
    inspect_sample,
    lm_eval,
    sample,
    scores,
    swebench,
    write_json,
    write_zip,
)


def sums(folder: Path, model: str, *right: float) -> Path:
    return lm_eval(folder, model, "sums", [sample(number, {"acc": value}) for number, value in enumerate(right)])


def test_two_logs_of_one_system_and_task_are_repeats_and_a_note_says_so(tmp_path: Path) -> None:
    sums(tmp_path / "1", "a", 1, 0)
    sums(tmp_path / "2", "a", 0, 0)
    sums(tmp_path / "2", "b", 1, 1)
    table = read_logs(tmp_path)
    assert scores(table, system="a", repeat="1") == [1, 0]
    assert scores(table, system="a", repeat="2") == [0, 0]
    assert table.notes == ("2 logs of sums by a are repeats: 1/a and 2/a",)


def test_the_note_on_repeats_names_the_files_of_one_folder(tmp_path: Path) -> None:
    for name, grade in (("x", "C"), ("y", "I")):
        write_zip(
            tmp_path / f"{name}.eval",
            inspect_members(inspect_header("m", eval_id=name), [inspect_sample("q0", {"match": grade})]),
        )
    assert read_logs(tmp_path).notes == ("2 logs of sums by m are repeats: x.eval and y.eval",)


def test_repeats_of_a_part_of_the_items_are_refused_unless_asked_for(tmp_path: Path) -> None:
    sums(tmp_path / "out", "a", 1, 0, 1, 1)
    sums(tmp_path / "part", "a", 0, 0)
    problem = r"part/a/samples_sums\S+: 2 items of sums by a, and 4 in \S*/out/a/samples_sums\S+; "
    expected = "expected the same items in both: name one of the files, or pass --partial"
    with pytest.raises(InputError, match=f"{problem}{expected}"):
        read_logs(tmp_path)
    table = read_logs(tmp_path, partial=True)
    assert scores(table, repeat="2") == [0, 0]
    assert table.notes == ("2 logs of sums by a are repeats: out/a and part/a",)


def test_repeats_of_as_many_other_items_are_refused(tmp_path: Path) -> None:
    for name, first in (("1", 0), ("2", 2)):
        lm_eval(tmp_path / name, "a", "sums", [sample(first + number, {"acc": 1}) for number in range(3)])
    with pytest.raises(InputError, match=r"3 items of sums by a, and 3 in .*1/a/\S+ \(1 in both\); expected the same"):
        read_logs(tmp_path)


def test_the_epochs_of_a_second_log_are_further_repeats(tmp_path: Path) -> None:
    for name, grade in (("x", "C"), ("y", "I")):
        samples = [inspect_sample("q0", {"match": grade}, epoch=epoch) for epoch in (1, 2)]
        write_zip(tmp_path / f"{name}.eval", inspect_members(inspect_header("m", eval_id=name), samples))
    frame = read_logs(tmp_path).frame
    assert frame.select("repeat", "score").rows() == [("1", 1), ("2", 1), ("3", 0), ("4", 0)]


def test_the_same_log_twice_is_refused(tmp_path: Path) -> None:
    first = sums(tmp_path / "1", "a", 1, 0)
    sums(tmp_path / "2", "a", 0, 1)
    sums(tmp_path / "3", "a", 0, 1)
    with pytest.raises(InputError, match=r"3/a/samples.*: the same log as .*2/a/samples.*; expected every log once"):
        read_logs(tmp_path)
    with pytest.raises(InputError, match=r"given twice; expected every log once"):
        read_logs([first, tmp_path / "1"])


def test_two_systems_may_have_equal_scores(tmp_path: Path) -> None:
    for model in "ab":
        (tmp_path / f"{model}.seg").write_text("1\n2\n")
    assert read_logs(tmp_path).systems == ["a", "b"]


def test_systems_are_named_by_path(tmp_path: Path) -> None:
    first, second = sums(tmp_path / "1", "a", 1, 0), sums(tmp_path / "2", "a", 0, 1)
    table = read_logs([], systems={str(first): "old", str(second.parent): "new"})
    assert table.systems == ["old", "new"]
    assert scores(table, system="new") == [0, 1]
    sums(tmp_path / "2", "b", 1, 1)
    with pytest.raises(InputError, match=r"2: logs of a and b; expected one system, or no name for it \(new\)"):
        read_logs([], systems={str(tmp_path / "2"): "new"})


def test_tasks_of_one_name_in_two_harnesses_are_two_tasks(tmp_path: Path) -> None:
    sums(tmp_path, "a", 1, 0)
    write_zip(tmp_path / "x.eval", inspect_members(inspect_header("a"), [inspect_sample("q0", {"acc": 1})]))
    assert read_logs(tmp_path).tasks == ["sums (Inspect)", "sums (lm-evaluation-harness)"]


def test_logs_that_disagree_on_the_direction_are_refused(tmp_path: Path) -> None:
    for model, higher in (("a", True), ("b", False)):
        lm_eval(tmp_path, model, "sums", [sample(0, {"acc": 1.0})], higher_is_better={"sums": {"acc": higher}})
    with pytest.raises(InputError, match=r"b/samples.*: acc,none is another metric than in .*a/samples"):
        read_logs(tmp_path)


def test_what_is_no_log_is_passed_over_in_folders_and_refused_by_itself(tmp_path: Path) -> None:
    sums(tmp_path, "a", 1, 0)
    (tmp_path / "notes.txt").write_text("Some notes.\n")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    write_json(tmp_path / "other.json", [1, 2, {"a": None}])
    write_json(tmp_path / "empty.json", {})
    (tmp_path / ".hidden").mkdir()
    sums(tmp_path / ".hidden", "b", 1)
    assert read_logs(tmp_path).systems == ["a"]
    for name in ("notes.txt", "image.png", "other.json", "empty.json"):
        assert not is_log(tmp_path / name)
        with pytest.raises(InputError, match=rf"{name}: no log that is known; expected one of lm-evaluation-harness,"):
            read_logs(tmp_path / name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    for read in (read_logs, is_log):
        with pytest.raises(InputError, match=r"absent: cannot be read \(no such file or directory\)"):
            read(tmp_path / "absent")


def test_items_are_opened_from_tables_and_logs_together(tmp_path: Path) -> None:
    log = swebench(tmp_path / "a.run.json", resolved_ids=["o__x-1"], error_ids=["o__x-2"])
    table = tmp_path / "table.csv"
    table.write_text(
        "task,item,system,score,metric\nSWE-bench,o__x-1,mine,0,resolved\nSWE-bench,o__x-2,mine,1,resolved\n"
    )
    items = open_items([table, log])
    assert (items.tasks, items.systems) == (["SWE-bench"], ["mine", "a"])
    (dataset,) = count_items(items).datasets
    assert {name: counts[0, :, 0].tolist() for name, counts in dataset.counts.items()} == {"mine": [0, 1], "a": [1, 0]}


def test_items_are_opened_by_the_name_of_the_system(tmp_path: Path) -> None:
    log = swebench(tmp_path / "x.run.json", resolved_ids=["o__x-1"], error_ids=["o__x-2"])
    table = tmp_path / "table.csv"
    table.write_text("item,score\no__x-1,0\no__x-2,1\n")
    items = open_items({"new": log, "old": str(table)}, item="item")
    assert set(items.systems) == {"new", "old"}
    table.write_text("item,a,b\no__x-1,0,1\n")
    with pytest.raises(InputError, match=r"table\.csv: scores of a and b; expected one system, or no name for it"):
        open_items({"old": table})
    with pytest.raises(InputError, match=r"x\.run\.json: the scores of a and of b; expected one system"):
        open_items({"a": log, "b": log})


def test_columns_are_named_for_tables_only(tmp_path: Path) -> None:
    log = swebench(tmp_path / "x.run.json", resolved_ids=["o__x-1"], error_ids=["o__x-2"])
    with pytest.raises(InputError, match=r"x\.run\.json: --item for a log; expected columns to be named for tables"):
        open_items(log, item="id", task="")
    assert open_items(log, item="", task="").systems == ["x"]


def test_of_many_fields_those_of_most_tasks_are_offered(tmp_path: Path) -> None:
    for task in range(20):
        docs = [{f"f{task}": number // 2, "common": number // 3} for number in range(6)]
        lines = [sample(number, {"acc": 1.0}, doc=doc) for number, doc in enumerate(docs)]
        lm_eval(tmp_path / str(task), "a", f"t{task:02}", lines)
    table = read_logs(tmp_path)
    assert len(table.fields) == 12
    assert table.fields[:2] == ("common", "f0")
    assert set(table.fields) < set(table.frame.columns)
    assert table.notes == ("12 of 21 fields may be units of items: those of most tasks",)


def test_logs_are_counted_by_field(tmp_path: Path) -> None:
    sums(tmp_path, "a", 1, 0, 1, 1)
    sums(tmp_path, "b", 0, 0, 1, 0)
    (dataset,) = count_items(read_logs(tmp_path), unit="passage_id").datasets
    assert dataset.counts["a"][0].tolist() == [[1, 2, 2], [2, 2, 2]]


def test_a_field_of_one_task_is_the_unit_there_and_the_items_are_in_others(tmp_path: Path) -> None:
    for model, right in (("a", (1, 0, 1, 1)), ("b", (0, 0, 1, 0))):
        sums(tmp_path, model, *right)
        lines = [sample(number, {"acc": value}, doc={"question": f"q{number}"}) for number, value in enumerate(right)]
        lm_eval(tmp_path, model, "plain", lines)
    table = read_logs(tmp_path)
    offered = "items may belong together: --unit passage_id"
    assert offered in count_items(table).notes
    counted = count_items(table, unit="passage_id")
    assert {dataset.name: (dataset.unit, dataset.units) for dataset in counted.datasets} == {
        "plain": ("item", 4), "sums": ("passage_id", 2),
    }  # fmt: skip
    assert "tasks without passage_id, of which the items are the units: plain" in counted.notes
    assert offered not in counted.notes


def test_a_unit_that_no_item_has_is_refused(tmp_path: Path) -> None:
    sums(tmp_path, "a", 1, 0, 1, 1)
    lines = [sample(number, {"f1": 1.0}, doc={"question": f"q{number}"}) for number in range(4)]
    lm_eval(tmp_path, "a", "plain", lines)
    with pytest.raises(InputError, match=r"no passage_id of any item with f1,none; expected --unit item"):
        count_items(read_logs(tmp_path), metric="f1", unit="passage_id")
