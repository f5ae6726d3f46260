"""Damaged and hostile logs: each is read, or refused in one clear line."""

from __future__ import annotations

import json
import math
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.items.logs.mteb import read_mteb
from deadheat.items.logs.read import read_logs
from tests.fuzz.mutations import mutate
from tests.items.logs.samples import (
    helm,
    helm_instance,
    inspect_header,
    inspect_members,
    inspect_sample,
    lighteval,
    lm_eval,
    mteb,
    promptfoo,
    promptfoo_result,
    sample,
    swebench,
    write_json,
    write_zip,
)

INPUTS = 300  # damaged files of each format
SAMPLES = [inspect_sample(f"q{number}", {"match": "C", "x": {"f1": 0.5}}, passage="p0") for number in range(6)]
HEADER = inspect_header("m/a", cluster="passage", eval_id="e")


def make_lm_eval(folder: Path) -> Path:
    metrics = [{"acc": 1.0, "chrf": ["a b", "a c"], "word_perplexity": [-2.5, 3], "nothing": math.nan}] * 3
    return lm_eval(folder, "a", "sums", [sample(number, values) for number, values in enumerate(metrics)])


def make_segments(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


MAKERS: dict[str, Callable[[Path], Path]] = {
    "lm_eval": make_lm_eval,
    "inspect deflate": lambda folder: write_zip(folder / "x.eval", inspect_members(HEADER, SAMPLES)),
    "inspect zstd": lambda folder: write_zip(folder / "x.eval", inspect_members(HEADER, SAMPLES), zstd=True),
    "inspect json": lambda folder: write_json(folder / "x.json", HEADER | {"samples": SAMPLES}),
    "helm": lambda folder: helm(folder, "a", [helm_instance(f"i{n}", 0, exact_match=1.0, f1=None) for n in range(4)]),
    "lighteval": lambda folder: lighteval(folder, "a", {str(number): 1 for number in range(6)}),
    "promptfoo": lambda folder: promptfoo(
        folder / "out.json", [promptfoo_result(n, "a", "say", {"a": n % 2, "b": "x"}, 0.5) for n in range(4)]
    ),
    "swebench": lambda folder: swebench(folder / "a.run.json", resolved_ids=["o__x-1"], error_ids=["o__x-2"]),
    "wmt": lambda folder: make_segments(folder, "en-de.mqm.seg.score", "A\t-1.5\nA\tNone\nB\t2\nB\t0\n"),
    "sacrebleu": lambda folder: make_segments(folder, "a.seg", "73.1\n0\n1e1\n"),
    "comet": lambda folder: write_json(folder / "c.json", {"a": [{"src": "s", "mt": "m", "ref": "r", "COMET": 0.5}]}),
    "mteb": lambda folder: mteb(folder, "a", "Sums", [0.5, 0.25]),
}


def outcome(path: Path) -> str:
    """The message of an error, which is one line of reasonable length; "" if the log was read."""
    try:
        read_mteb(path) if "Sums.json" in path.name else read_logs(path, partial=True)
    except InputError as error:
        message = str(error)
        assert "\n" not in message
        assert len(message) < 600
        assert "; expected" in message or ": " in message
        return message
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("form", MAKERS)
def test_damaged_logs_are_read_or_refused(tmp_path: Path, form: str) -> None:
    path = MAKERS[form](tmp_path)
    whole = path.read_bytes()
    assert not outcome(path)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(INPUTS):
        path.write_bytes(mutate(whole, rng))
        started = time.process_time()
        refused += bool(outcome(path))
        assert time.process_time() - started < 20
    assert INPUTS / 10 < refused < INPUTS


COMPANIONS = {"lm_eval": "results_*.json", "helm": "run_spec.json", "lighteval": "results_*.json"}


@pytest.mark.slow
@pytest.mark.parametrize("form", COMPANIONS)
def test_what_lies_beside_may_be_damaged_too(tmp_path: Path, form: str) -> None:
    path = MAKERS[form](tmp_path)
    (other,) = tmp_path.rglob(COMPANIONS[form])
    whole, rng = other.read_bytes(), np.random.default_rng(1)
    for _ in range(INPUTS // 3):
        other.write_bytes(mutate(whole, rng))
        outcome(path)


def mutated_values(value: Any, rng: np.random.Generator) -> Any:
    """The same JSON with one value of another type."""
    plain = [None, True, -1, 1e308, 10**30, "", "x", math.nan, math.inf, "\ud800"]
    odd: list[Any] = [*plain, [], {}, [[]], {"a": {}}, [1, 2]]
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return odd[int(rng.integers(len(odd)))]
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[int(rng.integers(len(keys)))]
    changed = value.copy()
    if rng.random() < 0.1:
        del changed[key]
    else:
        changed[key] = mutated_values(value[key], rng)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("form", [name for name in MAKERS if name not in ("lighteval", "wmt", "sacrebleu")])
def test_values_of_wrong_types_are_refused_by_name(tmp_path: Path, form: str) -> None:
    path = MAKERS[form](tmp_path)
    rng = np.random.default_rng(2)
    for _ in range(INPUTS):
        if path.suffix == ".eval":
            header, samples = mutated_values(HEADER, rng), mutated_values(SAMPLES, rng)
            members = inspect_members(HEADER, SAMPLES) | {"header.json": json.dumps(header).encode()}
            write_zip(path, members | {"summaries.json": json.dumps(samples).encode()}, zstd="zstd" in form)
            outcome(path)
            continue
        whole = path.read_text()
        lines = whole.splitlines() if path.suffix == ".jsonl" else [whole]
        at = int(rng.integers(len(lines)))
        lines[at] = json.dumps(mutated_values(json.loads(lines[at]), rng))
        path.write_text("\n".join(lines))
        outcome(path)
        path.write_text(whole)


@pytest.mark.parametrize("form", ["lm_eval", "inspect json", "helm", "promptfoo", "swebench", "comet", "mteb"])
def test_deep_json_is_refused(tmp_path: Path, form: str) -> None:
    path = MAKERS[form](tmp_path)
    whole = path.read_bytes()
    for brackets in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        end = whole.rindex(b"}")
        path.write_bytes(whole[:end] + b', "deep": ' + brackets + whole[end:])
        assert outcome(path)


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    path = MAKERS["inspect zstd"](tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    assert "x.eval: corrupt or incomplete zip archive" in outcome(path)


@pytest.mark.parametrize("zstd", [False, True])
def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, zstd: bool) -> None:
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", "1M")
    members = inspect_members(HEADER, SAMPLES) | {"summaries.json": b"[" + b" " * (1 << 22) + b"]"}
    path = write_zip(tmp_path / "x.eval", members, zstd=zstd)
    assert "x.eval: summaries.json: decompresses to more than 1 MB; --max-size sets the limit" in outcome(path)


@pytest.mark.parametrize("zstd", [False, True], ids=["deflate", "zstd"])
def test_a_zip_bomb_takes_no_memory(tmp_path: Path, *, zstd: bool) -> None:
    """What the directory says is believed if it is too much, and not exceeded if it is less."""
    members = inspect_members(HEADER, SAMPLES) | {"summaries.json": b"[" + b" " * (1 << 28) + b"]"}
    path = write_zip(tmp_path / "x.eval", members, zstd=zstd)
    small = path.read_bytes()
    size = struct.pack("<L", (1 << 28) + 2)
    assert small.count(size) == 2
    liar = tmp_path / "y.eval"
    liar.write_bytes(small.replace(size, struct.pack("<L", 1000)))
    for file, message in ((path, "decompresses to more than 64 MB"), (liar, "the checksum is another one")):
        tracemalloc.start()
        assert message in outcome(file)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100 << 20


def test_members_that_are_missing_are_named(tmp_path: Path) -> None:
    members = inspect_members(HEADER, SAMPLES)
    for name in ("summaries.json", "header.json"):
        rest = {key: data for key, data in members.items() if key != name}
        message = outcome(write_zip(tmp_path / "x.eval", rest))
        assert message.endswith("no scores of items; expected some") == (name == "summaries.json")


def test_names_of_members_lead_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    members = inspect_members(HEADER, SAMPLES)
    odd = {"../escaped.json": b"{}", str(tmp_path / "absolute.json"): b"{}", "samples/../../x_epoch_1.json": b"{}"}
    samples = [*SAMPLES, inspect_sample("../../x", {"match": "C"})]
    members["summaries.json"] = json.dumps(samples).encode()
    path = write_zip(folder / "x.eval", members | odd)
    before = sorted(tmp_path.rglob("*"))
    assert not outcome(path)
    assert sorted(tmp_path.rglob("*")) == before


def test_encrypted_members_and_unknown_methods_are_refused(tmp_path: Path) -> None:
    path = MAKERS["inspect deflate"](tmp_path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("header.json").header_offset
    directory = whole.rindex(b"PK\x01\x02", 0, whole.rindex(b"header.json"))
    for offset, value, message in ((8, 1, "no such member"), (10, 99, "zip method 99; expected deflate or zstd")):
        damaged = bytearray(whole)
        damaged[directory + offset : directory + offset + 2] = struct.pack("<H", value)
        path.write_bytes(damaged)
        assert message in outcome(path)
    damaged = bytearray(whole)
    damaged[at] ^= 1
    path.write_bytes(damaged)
    assert "no such member" in outcome(path)


@pytest.mark.parametrize("nested", [False, True])
def test_a_parquet_bomb_is_refused(tmp_path: Path, *, nested: bool) -> None:
    path = MAKERS["lighteval"](tmp_path)
    zeros = pl.select(number=pl.repeat(1, 10_000_000)).with_columns(text=pl.lit("x"))
    rows = zeros.select(pl.col("number").implode(), text=pl.lit("x")) if nested else zeros
    doc, metric = (
        pl.struct(id="text", task_name="text", specific="number"),
        pl.struct(acc=pl.col("text").str.len_chars()),
    )
    rows.select(doc=doc, metric=metric).write_parquet(path)
    assert path.stat().st_size < 200_000
    assert "decompresses to more than 64 MB" in outcome(path)


def test_as_many_metrics_as_items_are_refused(tmp_path: Path) -> None:
    values = [{f"metric{number}": 1.0} for number in range(1001)]
    message = "1,001 metrics; expected at most 1,000"
    assert message in outcome(lm_eval(tmp_path, "a", "sums", [sample(n, value) for n, value in enumerate(values)]))
    samples = [inspect_sample(f"q{number}", {"x": value}) for number, value in enumerate(values)]
    assert message in outcome(write_zip(tmp_path / "x.eval", inspect_members(HEADER, samples)))


def test_as_many_fields_as_items_take_no_memory(tmp_path: Path) -> None:
    lines = [sample(n, {"acc": 1.0}, doc={"group": "x" * (n % 2), f"key{n}": n}) for n in range(5000)]
    table = read_logs(lm_eval(tmp_path, "a", "sums", lines))
    assert table.fields == ()
    samples = [inspect_sample(f"q{n}", {"acc": 1.0}, group=str(n % 2), **{f"key{n}": n}) for n in range(5000)]
    assert read_logs(write_zip(tmp_path / "x.eval", inspect_members(HEADER, samples))).fields == ("group",)
    results = [promptfoo_result(n, "a", "say", {"group": n % 2, f"key{n}": n}, 1.0) for n in range(5000)]
    assert read_logs(promptfoo(tmp_path / "out.json", results)).fields == ("group",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", b'{"' + b'\\"' * 32_000),  # quotes that are never closed
        ("en-de.mqm.seg.score", b"A\t1\nA\t2\n" * 7000 + (b"A\t" + b"9" * 20_000 + b"x\n") * 3),
        ("a.seg", b"1\n2\n" * 17_000 + (b"9" * 20_000 + b"x\n") * 3),
        ("b.seg", b"9" * 60_000 + b"x"),
    ],
)
def test_no_pattern_takes_long(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    started = time.process_time()
    assert outcome(path)
    assert time.process_time() - started < 1
