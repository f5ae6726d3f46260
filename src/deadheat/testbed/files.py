"""Write a testbed to disk, and make the built-in corpus of the demo."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, TypeAlias

from deadheat.arguments import Argument, whole_number
from deadheat.errors import InputError, reason
from deadheat.testbed.corpus import generate, treebank
from deadheat.testbed.evaluations import evaluation_files
from deadheat.testbed.language import LANGUAGES, Language, language_named
from deadheat.testbed.simulation import SimulatedSystem, Truth, simulate, truth

BUILT_IN_LANGUAGE = "velani"

BUILT_IN_SYSTEMS = (
    SimulatedSystem("A", upos=0.955, uas=0.89, label=0.945, seed_sd=0.0),
    SimulatedSystem("B", upos=0.95, uas=0.879, label=0.945, seed_sd=0.0),
    SimulatedSystem("C", upos=0.95, uas=0.879, label=0.945, seed_sd=0.0),
)
"""A is better than B by one point of LAS; B and C are a dead heat."""

DEFAULT_SYSTEMS = (
    SimulatedSystem("strong", upos=0.97, xpos=0.965, feats=0.96, lemma=0.975, uas=0.91, label=0.95),
    SimulatedSystem("middle"),
    SimulatedSystem("twin"),
    SimulatedSystem("weak", upos=0.92, xpos=0.9, feats=0.88, lemma=0.93, uas=0.8, label=0.9),
    SimulatedSystem("raw", tokens=0.98, sentences=0.9),
)
"""`middle` and `twin` are equally good; `raw` finds its own tokens and sentences."""

DEFAULT_SEEDS = (0, 1, 2)
LanguageNames: TypeAlias = Annotated[
    Sequence[str | Language] | None,
    Argument("a language (default: all)", flag="--language", choices=tuple(LANGUAGES), repeat=True),
]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A gold text, and the predictions and true accuracies of some systems."""

    language: str
    gold: str
    predictions: Mapping[str, str]
    truths: Mapping[str, Truth]


def built_in(*, sentences: int = 3000, seed: int = 0) -> BuiltIn:
    """Make the corpus of the demo: A is better than B, and B and C are equally good."""
    gold = generate(BUILT_IN_LANGUAGE, sentences=sentences, seed=seed)
    return BuiltIn(
        BUILT_IN_LANGUAGE,
        gold,
        {system.name: simulate(gold, system, seed=seed, shared_seed=seed) for system in BUILT_IN_SYSTEMS},
        {system.name: truth(system, seed=seed) for system in BUILT_IN_SYSTEMS},
    )


def write_testbed(
    folder: Path,
    *,
    sentences: Annotated[int, Argument("sentences per treebank", metavar="N")] = 3000,
    seed: Annotated[int, Argument("seed of the texts", metavar="N", parse=whole_number)] = 0,
    languages: LanguageNames = None,
    systems: Sequence[SimulatedSystem] = DEFAULT_SYSTEMS,
    seeds: Sequence[int] = DEFAULT_SEEDS,
    overwrite: Annotated[bool, Argument("replace existing files")] = False,
) -> list[Path]:
    """Write treebanks, predictions for their test parts (one file per system and seed), and the true accuracies.

    The files are `LANGUAGE/LANGUAGE-ud-train.conllu` (dev, test), `LANGUAGE/predictions/SYSTEM.seed0.conllu` and
    `truth.json`. The folder must be new or empty unless `overwrite` is true. `seed` is that of the texts and of the
    difficulty of their words.
    """
    chosen = [language_named(language) for language in (LANGUAGES if languages is None else languages)]
    _check_folder(folder, overwrite=overwrite)
    for kind, names in (("languages", [item.name for item in chosen]), ("systems", [item.name for item in systems])):
        if not names or len(set(names)) != len(names):
            raise InputError(f"{kind}: {', '.join(names) or 'none'}; expected one or more, each once")
    written = []
    for language in chosen:
        parts = treebank(language, sentences=sentences, seed=seed)
        for part, text in (("train", parts.train), ("dev", parts.dev), ("test", parts.test)):
            written.append(_write(folder / language.name / f"{language.name}-ud-{part}.conllu", text))
        for system, system_seed in product(systems, seeds):
            predicted = simulate(parts.test, system, seed=system_seed, shared_seed=seed)
            file = f"{system.name}.seed{system_seed}.conllu"
            written.append(_write(folder / language.name / "predictions" / file, predicted))
    settings = {
        "sentences": sentences,
        "seed": seed,
        "languages": {language.name: asdict(language) for language in chosen},
        "systems": {system.name: _description(system, seeds) for system in systems},
    }
    written.append(_write(folder / "truth.json", json.dumps(settings, ensure_ascii=False, indent=2) + "\n"))
    return written


def write_evaluations(folder: Path, *, seed: int = 0, overwrite: bool = False) -> list[Path]:
    """Write answers of simulated models to the items of benchmarks, as a table and as logs, and the true accuracies.

    The files are `items.csv`, `lm_eval/MODEL/samples_TASK_DATE.jsonl`, `inspect/DATE_TASK_MODEL.json` and `truth.json`.
    """
    _check_folder(folder, overwrite=overwrite)
    return [_write(folder / name, text) for name, text in evaluation_files(seed=seed)]


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: not a folder; expected a new or an empty one")
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        raise InputError(f"{folder}: the folder is not empty; expected a new or an empty one, or --overwrite")


def _description(system: SimulatedSystem, seeds: Sequence[int]) -> dict[str, object]:
    truths = {str(seed): truth(system, seed=seed) for seed in seeds}
    accuracies = {seed: asdict(true) | {"las": true.las} for seed, true in truths.items()}
    return {"settings": asdict(system), "truth": accuracies}


def _write(path: Path, text: str) -> Path:
    """Write a file atomically."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    return path
