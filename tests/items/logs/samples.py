"""Small logs as harnesses write them, made here."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from deadheat.items.table import ItemTable

DATE = "2026-01-02T03-04-05.678901"


def scores(table: ItemTable, metric: str = "", **values: str) -> list[float | None]:
    """The scores of a table in its order, of one metric and with these values."""
    frame = table.frame.filter(metric=metric) if metric else table.frame
    return frame.filter(**values)["score"].to_list()


def write_json(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def sample(number: int, metrics: Mapping[str, Any], *, filter_name: str = "none", **more: Any) -> dict[str, Any]:
    """A line of lm-evaluation-harness."""
    keys = {"doc_id": number, "doc": {"question": f"q{number}", "passage_id": f"p{number // 2}", "answer": number % 2}}
    details = {"target": "1", "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"], "filter": filter_name}
    hashed = {"metrics": list(metrics), "doc_hash": f"{number:064x}"}
    return keys | details | hashed | dict(metrics) | more


def lm_eval(folder: Path, model: str, task: str, lines: Sequence[Mapping[str, Any]], **results: Any) -> Path:
    """Samples, and results beside them."""
    path = folder / model.replace("/", "__") / f"samples_{task}_{DATE}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    numbers = {line["doc_id"] for line in lines}
    content = {"model_name": model, "model_name_sanitized": model.replace("/", "__"), "results": {task: {}}}
    content["n-samples"] = {task: {"original": len(numbers), "effective": len(numbers)}}
    write_json(path.parent / f"results_{DATE}.json", content | results)
    return path


def inspect_header(
    model: str, *, task: str = "sums", status: str = "success", cluster: str = "", eval_id: str = ""
) -> dict[str, Any]:
    metrics = [{"name": "accuracy", "options": {}}]
    if cluster:
        metrics.append({"name": "stderr", "options": {"cluster": cluster}})
    scorers = [{"name": "match", "options": {}, "metrics": metrics}]
    spec = {"eval_id": eval_id or None, "run_id": "r", "task": task, "model": model, "scorers": scorers}
    return {"version": 2, "status": status, "eval": spec}


def inspect_sample(name: str, values: Mapping[str, Any] | None, *, epoch: int = 1, **metadata: Any) -> dict[str, Any]:
    given = {scorer: {"value": value, "answer": "x"} for scorer, value in (values or {}).items()}
    return {"id": name, "epoch": epoch, "input": "?", "target": "x", "metadata": metadata, "scores": given}


def inspect_members(header: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """The members of an archive; without its header if the run was killed."""
    members = {"_journal/start.json": json.dumps({"version": 2, "eval": header["eval"]}).encode()}
    members |= {
        f"samples/{one['id']}_epoch_{one['epoch']}.json": json.dumps({**one, "messages": []}).encode()
        for one in samples
    }
    return members | {"summaries.json": json.dumps(samples).encode(), "header.json": json.dumps(header).encode()}


def write_zip(path: Path, members: Mapping[str, bytes], *, zstd: bool = False) -> Path:
    """A zip archive, deflated or with members of two zstd frames, which `zipfile` does not write here."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not zstd:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return path
    body, directory = b"", b""
    for name, data in members.items():
        half = len(data) // 2
        packed = zstandard.compress(data[:half]) + zstandard.compress(data[half:])
        sizes = struct.pack("<III", zlib.crc32(data), len(packed), len(data))
        common = struct.pack("<HHHHH", 63, 0, 93, 0, 33) + sizes + struct.pack("<HH", len(name.encode()), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + common
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + common + name.encode() + packed
    number = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, number, number, len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


def helm(folder: Path, model: str, instances: Sequence[Mapping[str, Any]], *, task: str = "mcqa:") -> Path:
    name = f"{task}model={model.replace('/', '_')}"
    run = folder / "runs" / "s1" / name
    write_json(run / "run_spec.json", {"name": name, "adapter_spec": {"model": model, "method": "generation"}})
    return write_json(run / "per_instance_stats.json", instances)


def helm_instance(name: str, trial: int, /, **values: float | None) -> dict[str, Any]:
    stats = [
        {"name": {"name": key, "split": "test"}, "count": 0 if value is None else 1, "sum": value or 0}
        | ({} if value is None else {"mean": value})
        for key, value in {"num_prompt_tokens": 99, "inference_runtime": 0.1, **values}.items()
    ]
    return {"instance_id": name, "train_trial_index": trial, "stats": stats}


def lighteval(folder: Path, model: str, acc: Mapping[str, int], *, direction: bool = True) -> Path:
    date = "2026-01-02T03-04-05.678901"
    docs = [
        {"query": f"q{name}", "id": name, "task_name": "sums|0", "specific": {"passage_id": f"p{int(name) // 2}"}}
        for name in acc
    ]
    metrics = [{"acc": value, "f1": {"golds": [1], "preds": value}} for value in acc.values()]
    path = folder / "details" / model / date / f"details_sums|0_{date}.parquet"
    path.parent.mkdir(parents=True)
    pl.DataFrame({"doc": docs, "metric": metrics, "model_response": [{"text": ["x"]}] * len(docs)}).write_parquet(path)
    named = {"metric_name": "acc", "higher_is_better": direction}
    write_json(folder / "results" / model / f"results_{date}.json", {"config_tasks": {"sums|0": {"metrics": [named]}}})
    return path


def promptfoo_result(test: int, provider: str, prompt: str, variables: Any, score: float, **more: Any) -> Any:
    result = {"testIdx": test, "provider": {"id": f"stub:{provider}", "label": provider}, "prompt": {"label": prompt}}
    named = {"vars": variables, "score": score, "success": score == 1, "namedScores": {"exact": score}}
    return result | named | {"failureReason": 0 if score == 1 else 1} | more


def promptfoo(path: Path, results: Sequence[Any], **config: Any) -> Path:
    inner = {"version": 3, "timestamp": "2026", "prompts": [], "results": results}
    return write_json(path, {"evalId": "eval-x", "results": inner, "config": config})


def swebench(path: Path, **ids: list[str]) -> Path:
    names = sorted({name for part in ids.values() for name in part})
    counts = {"total_instances": len(names), "resolved_instances": len(ids["resolved_ids"])}
    return write_json(path, {**counts, **ids, "schema_version": 2})


def mteb(folder: Path, model: str, task: str, main: Sequence[float], *, revision: str = "a" * 40) -> Path:
    subsets = [{"hf_subset": f"s{number}", "main_score": score} for number, score in enumerate(main)]
    content = {"task_name": task, "mteb_version": "1.14", "scores": {"test": subsets}}
    return write_json(folder / model.replace("/", "__") / revision / f"{task}.json", content)
