"""The tagger on contextual string embeddings: its settings, what its language models may see, and studies with it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat
from deadheat.corpus import take
from deadheat.errors import InputError, StudyError
from deadheat.kernels import cache
from deadheat.neural.contextual import ContextualStrings, LanguageModelSettings
from deadheat.study.plan.plan import Plan
from deadheat.systems import SYSTEMS
from deadheat.systems.system import Network
from deadheat.testbed import generate
from tests.neural.tiny import TINY, corpus_of, force_stacks, rows_of, split_of
from tests.study.study_cases import ROOT, corpus_text

LANGUAGE_MODEL = {"lm_units": 5, "lm_epochs": 1, "lm_character_size": 4}
CORPUS = corpus_of(rows_of(rare=True))
SPLITS = [split_of(1), split_of(2)]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    cache.cache_folder.cache_clear()
    yield tmp_path / "cache"
    cache.cache_folder.cache_clear()


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that language models learn from."""
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    from deadheat.neural import language_states

    seen: list[str] = []
    train = vars(language_states)["train_language_model"]

    def recording(text: str, settings: LanguageModelSettings, direction: str) -> Any:
        seen.append(text)
        return train(text, settings, direction)

    monkeypatch.setattr(language_states, "train_language_model", recording)
    return seen


def networks(**more: Any) -> list[Network]:
    settings = {**TINY, **LANGUAGE_MODEL, **more}
    return list(deadheat.train_many(CORPUS, SPLITS, [0, 7], settings, system="flair.v1"))


def source(**settings: Any) -> ContextualStrings:
    trainer = SYSTEMS.make("flair", **settings).batch_trainer
    assert trainer is not None
    found = trainer.config.features
    assert isinstance(found, ContextualStrings)
    return found


def test_it_has_the_settings_of_the_bilstm_tagger_and_its_own() -> None:
    common = list(signature(SYSTEMS["bilstm.v2"]).parameters)
    more = ["text", "lm_units", "lm_epochs", "lm_character_size", "lm_rate", "lm_drop", "lm_seed"]
    assert list(signature(SYSTEMS["flair.v1"]).parameters) == [*common, *more]
    assert SYSTEMS.make("flair", units="50", lm_units=64).name == "flair.v1(units='50', lm_units=64)"


@pytest.mark.parametrize(
    ("setting", "value", "field"),
    [
        ("lm_units", 64, "units"),
        ("lm_epochs", 3, "epochs"),
        ("lm_character_size", 9, "character_size"),
        ("lm_rate", 0.5, "rate"),
        ("lm_drop", 0.5, "drop"),
        ("lm_seed", 4, "seed"),
    ],
)
def test_a_setting_changes_what_it_names_and_nothing_else(setting: str, value: float, field: str) -> None:
    plain, other = source().settings, source(**{setting: value}).settings
    assert getattr(other, field) == value
    assert {name for name in plain.__slots__ if getattr(plain, name) != getattr(other, name)} == {field}


def test_a_wrong_setting_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^flair\.v1: lm_units=0; expected at least 1$"):
        SYSTEMS.make("flair", lm_units=0)
    with pytest.raises(InputError, match=r"^flair\.v1: classifier 'crv' is unknown"):
        SYSTEMS.make("flair", classifier="crv")


def test_language_models_learn_from_the_training_sentences_of_each_split(texts: list[str]) -> None:
    from deadheat.neural.raw_text import RawSentences
    from deadheat.systems.flair import with_texts
    from deadheat.systems.system import _job

    system = SYSTEMS.make("flair", **TINY, **LANGUAGE_MODEL)
    jobs = with_texts(CORPUS, [_job(system, split, seed, "") for split in SPLITS for seed in (0, 7)])
    raw = RawSentences.of(CORPUS)
    for job, split in zip(jobs, [SPLITS[0], SPLITS[0], SPLITS[1], SPLITS[1]], strict=True):
        lines = job.config.features.text.text.split("\n")
        assert sorted(lines) == sorted(raw.sentences[sentence] for sentence in split.parts["train"])
    assert jobs[0].config.group == jobs[1].config.group != jobs[2].config.group
    assert texts == []  # nothing is trained before taggers are


def test_neither_test_nor_tune_changes_a_language_model(texts: list[str]) -> None:
    system = SYSTEMS.make("flair", **{**TINY, "epochs": 1}, **LANGUAGE_MODEL)
    train, others = take(CORPUS, np.arange(40)), take(CORPUS, np.arange(40, 60))
    model = system.train(train, others, 0)
    first = list(texts)
    model.predict(others)
    secret = corpus_of([[("zzz", "N", "O"), ("dog", "V", "O")]] * 8)
    model = system.train(train, secret, 0)
    model.predict(secret)
    assert len(first) == 2
    assert texts == first  # the models are those of the cache
    assert all("zzz" not in text for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "some.txt"])
def test_a_network_is_the_same_alone_and_in_company(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, texts: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.txt").write_text("the dog saw the cats\nBig cats run\n" * 50)
    together = {(each.partition, each.seed): each for each in networks(text=text)}
    assert len(texts) == (2 if text else 4)  # two directions per text
    force_stacks(monkeypatch, 4)
    for network in networks(text=text):
        other = together[network.partition, network.seed]
        assert network.curve == pytest.approx(other.curve)
        for part, predicted in network.predictions.items():
            expected = other.predictions[part].column("tag").strings()
            assert predicted.column("tag").strings() == expected
    system = SYSTEMS.make("flair", **{**TINY, **LANGUAGE_MODEL, "text": text})
    parts = {name: take(CORPUS, np.sort(part)) for name, part in SPLITS[0].parts.items()}
    model = system.train(parts["train"], parts["dev"], 7)
    expected = together["1", 7].predictions["test"].column("tag").strings()
    assert model.predict(parts["test"]).column("tag").strings() == expected
    assert len(texts) == (2 if text else 4)


def test_language_models_say_how_many_bits_they_need(texts: list[str], tmp_path: Path) -> None:
    from deadheat.systems.flair import language_models

    forward, backward = language_models(CORPUS, **LANGUAGE_MODEL)
    assert (forward.direction, backward.direction) == ("forward", "backward")
    assert 0 < forward.bits < 8
    path = tmp_path / "some.txt"
    path.write_text(f"{texts[0]}\n{texts[0]}\n")
    of_file, _ = language_models(str(path), **LANGUAGE_MODEL)
    assert of_file.bits != forward.bits
    again, _ = language_models(CORPUS, **LANGUAGE_MODEL)
    assert again.bits == forward.bits
    assert len(texts) == 4  # two of each text: the same text has the same models
    with pytest.raises(InputError, match="lm_units=0; expected at least 1"):
        language_models(CORPUS, lm_units=0)


STUDY = """\
[corpora.small]
files = 'small.conllu'
[splits]
strategy = 'random'
[[systems]]
name = 'flair'
units = '8'
word_size = 8
characters = 'none'
classifier = 'softmax'
epochs = 2
lm_units = 4
lm_epochs = 1
MORE
[engine]
workers = 1
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "small.conllu").write_text(corpus_text(60))
    (tmp_path / "some.txt").write_text("the dog runs .\n" * 100)
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace("MORE", "text = 'some.txt'"))
    return path


def test_cells_are_known_by_what_is_in_the_text(study: Path) -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    first = Plan.of(study).cells
    assert Plan.of(study).cells == first
    (study.parent / "some.txt").write_text("the cat runs .\n" * 100)
    plan = Plan.of(study)
    assert {cell.key for cell in plan.cells}.isdisjoint(cell.key for cell in first)
    assert [cell.system for cell in plan.cells] == [cell.system for cell in first]
    with pytest.raises(InputError, match=r"a text of flair.*: changed while the study was running"):
        plan.check_unchanged(first[0])


def test_a_text_must_be_there(study: Path) -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    (study.parent / "some.txt").unlink()
    with pytest.raises(StudyError, match=r"study.toml:\d+: text 'some.txt': no such file; expected a text"):
        Plan.of(study)


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deadheat.cli.main", "run", "study.toml", "--json", "--quiet", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_a_study_on_the_built_in_corpus_trains_language_models_once(study: Path, cache_folder: Path) -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    (study.parent / "small.conllu").write_text(generate("velani", sentences=80, seed=1))
    study.write_text("seeds = 2\n" + STUDY.replace("MORE", ""))
    done = run(study.parent)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["cells"], found["missing"], found["failed"]) == (2, 0, [])
    models = [path for path in (cache_folder / "language-models").iterdir() if path.suffix != ".lock"]
    assert len(models) == 2  # of both directions, for both seeds


@pytest.mark.slow
def test_a_text_that_cannot_be_used_is_one_line(study: Path) -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    (study.parent / "some.txt").write_bytes(b"caf\xe9\n" * 500)
    done = run(study.parent)
    message = "some.txt:1: byte 0xe9 is not UTF-8; expected a text"
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_it_is_made_and_planned_without_jax(study: Path) -> None:
    program = """
import sys
from pathlib import Path
from deadheat.study.plan.plan import Plan
from deadheat.systems import SYSTEMS
SYSTEMS.make("flair", lm_units=5)
Plan.of(Path("study.toml")).cells
print(any(name.partition(".")[0] in ("jax", "optax") for name in sys.modules))
"""
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=study.parent, env=environment, capture_output=True, text=True, timeout=600
    )
    assert loaded.stdout == "False\n", loaded.stderr


def test_networks_need_neither_polars_nor_typer_nor_pydantic() -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    program = """
import sys
for name in ("polars", "typer", "pydantic"):
    sys.modules[name] = None
import deadheat.neural.language_states, deadheat.systems.flair, deadheat.neural.training
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600
    )
    assert loaded.returncode == 0, loaded.stderr
