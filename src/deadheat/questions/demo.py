"""The whole story on corpora that are made on the spot: splits, taggers, significance, rankings, sizes, the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from deadheat.arguments import Argument, whole_number
from deadheat.corpus import read
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, check_work, reason
from deadheat.questions.compare import compare
from deadheat.questions.run import run
from deadheat.results.compare import Comparison
from deadheat.splits import split
from deadheat.splits.splitting import Splits
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.testbed import LANGUAGES, built_in, treebank

METRIC = "las"
LARGE, SMALL = 1500, 600  # sentences: of the corpus that is split again and again, and of the others
TAGGERS = ("hmm", "perceptron", "loglinear", "lookahead")
MARK = "# The demo's study:"
STUDY = (
    MARK
    + """ four taggers on six invented languages; on the largest, random splits besides the standard one.
#   deadheat run {file}
name = "Four taggers"
seeds = {seeds}

{corpora}
[[splits]]
strategy = "standard"

[[splits]]
strategy = "random"
unit = "document"
stratify = "genre"
times = {times}
corpora = ["{first}"]

{systems}"""
)


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """What the demo ran, and where its files are."""

    folder: Path
    store: Path
    splits: Splits
    parsers: Comparison  # simulated ones
    truth: Mapping[str, float]  # the true LAS of each
    ledger: Ledger


def demo(
    folder: Path,
    *,
    sentences: Annotated[int, Argument("sentences of the main corpus", metavar="N", parse=whole_number)] = LARGE,
    times: Annotated[int, Argument("random splits", metavar="N", parse=whole_number)] = 10,
    seeds: Annotated[int, Argument("seeds per tagger", metavar="N", parse=whole_number)] = 5,
    seed: Annotated[int, Argument("seed of the corpora", metavar="N", parse=whole_number)] = 0,
    quiet: bool = True,
    on_message: Callable[[str], None] = lambda _: None,
) -> Demo:
    """Make corpora and a study of them in a folder, run it, and compare simulated parsers.

    What was run in that folder before is not run again. A folder with anything else in it is refused.
    """
    check_work("splits", times, nanoseconds=3e8)
    check_work("seeds", seeds, nanoseconds=1e9)
    check_work("sentences", sentences, nanoseconds=1e6, size=10_000)
    study = folder / "demo.toml"
    _check_folder(folder, study)
    first, *others = LANGUAGES
    entries = "\n".join(f'[corpora.{name}]\nfiles = "{name}"\n' for name in LANGUAGES)
    systems = "\n".join(f'[[systems]]\nname = "{name}"\n' for name in TAGGERS)
    text = STUDY.format(file=study.name, seeds=seeds, corpora=entries, times=times, first=first, systems=systems)
    write_bytes(study, text.encode())  # before all else: it marks the folder as the demo's
    on_message(f"making six treebanks of invented languages in {folder}")
    _write_treebanks(folder, {first: sentences, **dict.fromkeys(others, min(SMALL, sentences))}, seed)
    splits = split([folder / first], "random(unit='document', stratify='genre')", times=times, seed=seed)
    on_message("training four taggers on standard and random splits, with several seeds")
    ledger = Ledger.at(folder / "ledger.jsonl")
    study_run = run(study, ledger_entry=LedgerEntry(ledger), quiet=quiet)
    on_message("comparing three simulated parsers whose true scores are known")
    parsers, truth = _parsers(sentences, seed)
    return Demo(folder, study_run.store, splits, parsers, truth, ledger)


def _check_folder(folder: Path, study: Path) -> None:
    """Make the folder, unless it is there: then it has to be empty, or that of an earlier demo."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ours = study.is_file() and study.read_bytes().startswith(MARK.encode())
        if not ours and any(folder.iterdir()):
            raise InputError(
                f"{folder}: exists and is not from an earlier demo; expected a new folder, or an empty one"
            )
    except OSError as error:
        raise InputError(f"{folder}: cannot be made or read ({reason(error)})") from error


def _write_treebanks(folder: Path, sentences: Mapping[str, int], seed: int) -> None:
    for name, size in sentences.items():
        parts = treebank(name, sentences=size, seed=seed)
        try:
            (folder / name).mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder / name}: cannot be made ({reason(error)})") from error
        for part, text in (("train", parts.train), ("dev", parts.dev), ("test", parts.test)):
            write_bytes(folder / name / f"{name}-ud-{part}.conllu", text.encode())


def _parsers(sentences: int, seed: int) -> tuple[Comparison, dict[str, float]]:
    testbed = built_in(sentences=sentences, seed=seed)
    systems = {name: replace(read(text=text), name=name) for name, text in testbed.predictions.items()}
    gold = replace(read(text=testbed.gold), name=f"{testbed.language}, simulated parsers")
    comparison = compare(gold, systems, metric=METRIC, seed=seed)
    return comparison, {name: truth.las for name, truth in testbed.truths.items()}
