"""Scores of segments of translations, in the order of the segments: sacrebleu, WMT's metrics tasks, and COMET."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deadheat.compression import without_suffix
from deadheat.errors import InputError
from deadheat.items.logs.decoding import decode, digest
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import HASH, Harness, Log, log_of

NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# `73.1`, or `chrF2|nrefs:1|case:mixed = 73.1` unless only scores are printed.
SACREBLEU_LINE = re.compile(rf"(?:(?P<metric>[A-Za-z][\w+]*)(?:\|\S*)? = )?(?P<score>{NUMBER})(?: .*)?")
WMT_LINE = re.compile(rf"(?P<system>[^\t]+)\t(?P<score>{NUMBER}|None|nan)\s*")
PAIR = re.compile(r"([a-z]{2,3}-[a-z]{2,3}(?:_[A-Za-z]+)?)(?:\.(.+))?")  # languages, and maybe a metric
METRICS = {"bleu": "BLEU", "chrf": "chrF", "chrf2": "chrF", "chrf++": "chrF++", "ter": "TER", "comet": "COMET"}
SACREBLEU, WMT, COMET = "sacrebleu", "WMT", "COMET"


def matches_sacrebleu(file: LogFile) -> bool:
    """Whether a file has one score per line."""
    lines = file.lines()
    return len(lines) > 1 and all(map(SACREBLEU_LINE.fullmatch, lines))


def read_sacrebleu(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per file."""
    for file, (system, metric) in zip(files, _names([file.name for file in files]), strict=True):
        scores = []
        for number, line in enumerate(file.text().splitlines(), start=1):
            match = SACREBLEU_LINE.fullmatch(line)
            if not match:
                raise InputError(f"{file.path}:{number}: {line[:40]!r}; expected one score per line")
            scores.append(float(match["score"]))
            metric = match["metric"] or metric
        yield _log(file.path, SACREBLEU, "", system, metric or "score", scores)


def matches_wmt(file: LogFile) -> bool:
    """Whether a file has systems and scores, and several scores of the first system."""
    matches = [WMT_LINE.fullmatch(line) for line in file.lines()]
    named = [match["system"] for match in matches if match]
    return len(named) == len(matches) > 1 and named[0] == named[1]


def read_wmt(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per system and file. The documents of the segments are in a file beside, if there is one."""
    for file in files:
        by_system: dict[str, list[float | None]] = {}
        for number, line in enumerate(file.text().splitlines(), start=1):
            match = WMT_LINE.fullmatch(line)
            if not match:
                raise InputError(f"{file.path}:{number}: {line[:40]!r}; expected a system, a tab and a score")
            score = match["score"]
            by_system.setdefault(match["system"], []).append(None if score in ("None", "nan") else float(score))
        languages, metric = _languages_and_metric(file)
        documents = _documents(file, languages)
        for system, scores in by_system.items():
            if documents and len(documents) != len(scores):
                problem = f"{len(scores):,} scores of {system}"
                raise InputError(f"{file.path}: {problem}; expected {len(documents):,}, as the documents beside say")
            fields = {"document": documents} if documents else {}
            yield _log(file.path, WMT, languages, system, metric, scores, fields)


def matches_comet(file: LogFile) -> bool:
    """Whether a file has segments with a score of COMET."""
    return {COMET, "mt"} <= file.keys[3]


def read_comet(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per system and file. Segments have to have the same sources and references."""
    for file in files:
        systems = decode(file.read(), dict[str, list[dict[str, Any]]], file.path)
        names = {path: os.path.basename(path) for path in systems}
        if len(set(names.values())) < len(names):
            names = {path: path for path in systems}
        for path, segments in systems.items():
            scores = [segment.get(COMET) for segment in segments]
            sources = [digest(str(segment.get("src")), str(segment.get("ref"))) for segment in segments]
            yield _log(file.path, COMET, "", names[path] or path, COMET, scores, {HASH: sources})


def _log(
    path: str,
    harness: str,
    task: str,
    system: str,
    metric: str,
    scores: Sequence[Any],
    fields: Mapping[str, Sequence[str | None]] | None = None,
) -> Log:
    rows = [(str(number), "1", {metric: score}) for number, score in enumerate(scores, start=1)]
    return log_of(path, harness, task, system, rows, fields, is_ordered=True)


def _names(names: Sequence[str]) -> list[tuple[str, str]]:
    """System and metric by the names of files, without the endings that all of them have."""
    parts = [without_suffix(name).split(".") for name in names]
    while len({tuple(part[-1:]) for part in parts}) == 1 and all(len(part) > 1 for part in parts):
        parts = [part[:-1] for part in parts]
        if len(parts) == 1:
            break
    found = []
    for name, part in zip(names, parts, strict=True):
        metric = next((METRICS[piece.lower()] for piece in name.split(".") if piece.lower() in METRICS), "")
        system = [piece for piece in part if piece.lower() not in METRICS]
        found.append((".".join(system or part), metric))
    return found


def _languages_and_metric(file: LogFile) -> tuple[str, str]:
    """From `en-de.mqm.seg.score`, or `en-de/chrF-refA.seg.score`."""
    stem = without_suffix(file.name).removesuffix(".score").removesuffix(".seg")
    match = PAIR.fullmatch(stem)
    if match and match[2]:
        return match[1], match[2]
    folder = PAIR.fullmatch(file.folders[-1]) if file.folders else None
    return (folder[0] if folder else ""), stem


def _documents(file: LogFile, languages: str) -> list[str]:
    """The document of every segment, from the file of documents beside; none if there is no such file."""
    name = f"{languages}.docs"
    places: tuple[list[str], ...] = ([], ["documents"], ["..", "documents"], ["..", "..", "documents"])
    path = next(filter(None, (file.sibling(*place, name) for place in places)), "") if languages else ""
    if not path:
        return []
    lines = LogFile(path, b"").text().splitlines()
    return [line.rpartition("\t")[2].strip() or line for line in lines]


HARNESSES = (
    Harness(WMT, matches_wmt, read_wmt),
    Harness(SACREBLEU, matches_sacrebleu, read_sacrebleu),
    Harness(COMET, matches_comet, read_comet),
)
