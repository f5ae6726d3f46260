"""The BiLSTM tagger as a system: its settings, and what happens without the packages it needs."""

import inspect
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deadheat.errors import InputError, NameUnknown
from deadheat.neural.config import RATES, SMALL_WORDS, TaggerConfig, TrainSchedule
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.sizes import default_sizes
from deadheat.systems import SYSTEMS
from deadheat.systems.bilstm import SIZES, size_of
from tests.study.study_cases import ROOT, corpus_text


def config(**settings: Any) -> TaggerConfig:
    batch_trainer = SYSTEMS.make("bilstm", **settings).batch_trainer
    assert batch_trainer is not None
    made: TaggerConfig = batch_trainer.config
    return made


def test_the_defaults_are_those_that_are_recommended() -> None:
    made = config()
    shape, hyper = made.shape, made.hyper
    assert (shape.units, shape.classifier, shape.optimizer) == ((100, 100), "crf", "nadam")
    assert (shape.dropout, shape.dropped, shape.characters, shape.batch) == ("variational", "both", "cnn", 32)
    assert (hyper.norm, hyper.clip, hyper.rate) == (1.0, math.inf, RATES["nadam"])
    assert SYSTEMS.make("bilstm").name == "bilstm.v2"


# A setting, a value, and the fields that it changes.
CHANGES: list[tuple[dict[str, Any], set[str]]] = [
    ({"column": "xpos"}, {"column"}),
    ({"scheme": "iobes"}, {"scheme"}),
    ({"vectors": "some.vec"}, {"vectors"}),
    ({"units": "50,40,30"}, {"shape.units"}),
    ({"classifier": "softmax"}, {"shape.classifier"}),
    ({"word_size": 50}, {"shape.word_size"}),
    ({"frozen": True}, {"shape.fixed_words"}),
    ({"casing": 0}, {"shape.case_size"}),
    ({"size": "small"}, {"shape.affix_size", "shape.batch", "hyper.drop", "hyper.rate", "schedule.patience"}),
    ({"affixes": 20}, {"shape.affix_size"}),
    ({"characters": "lstm"}, {"shape.characters"}),
    ({"character_size": 20}, {"shape.character_size"}),
    ({"filters": 25}, {"shape.filters"}),
    ({"dropout": "naive"}, {"shape.dropout"}),
    ({"dropped": "outputs"}, {"shape.dropped"}),
    ({"batch": 16}, {"shape.batch"}),
    ({"optimizer": "adam"}, {"shape.optimizer", "hyper.rate"}),  # which has another default rate
    ({"drop": 0.5}, {"hyper.drop"}),
    ({"rate": 0.01}, {"hyper.rate"}),
    ({"clip": 3.0}, {"hyper.clip"}),
    ({"norm": 0.0}, {"hyper.norm"}),
    ({"replaced": 0.1}, {"hyper.replaced"}),
    ({"epochs": 7}, {"schedule.epochs"}),
    ({"patience": 2}, {"schedule.patience"}),
]


def fields(made: TaggerConfig) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(made, name) for name in ("column", "scheme", "vectors")}
    for part, names in (
        ("shape", list(made.shape.__dataclass_fields__)),
        ("hyper", list(made.hyper._fields)),
        ("schedule", list(made.schedule.__dataclass_fields__)),
    ):
        found |= {f"{part}.{name}": getattr(getattr(made, part), name) for name in names}
    return found


@pytest.mark.parametrize(("settings", "changed"), CHANGES, ids=lambda each: min(each))
def test_a_setting_changes_what_it_names_and_nothing_else(settings: dict[str, Any], changed: set[str]) -> None:
    plain, other = fields(config()), fields(config(**settings))
    assert {name for name in plain if plain[name] != other[name]} == changed
    # Networks train together if they differ in hyperparameters and schedule only.
    together = config().group == config(**settings).group
    assert together == all(name.startswith(("hyper", "schedule")) for name in changed)


def test_the_training_part_decides_on_defaults() -> None:
    made = config()
    few, many = made.for_words(SMALL_WORDS - 1), made.for_words(SMALL_WORDS)
    assert few == config(size="small")
    assert many == config(size="full") == config(size="full").for_words(1)
    assert config(size="small").for_words(SMALL_WORDS) == few
    assert SYSTEMS.make("bilstm").name == "bilstm.v2"  # the training part is in the key of a cell already
    assert [size_of(SMALL_WORDS - 1), size_of(SMALL_WORDS)] == ["small", "full"]
    assert SYSTEMS.make("bilstm", size="small").size_of is None


def test_a_setting_that_is_given_is_used_at_every_size() -> None:
    settings: dict[str, Any] = {"affixes": 0, "batch": 5, "drop": 0.0, "rate": 0.1, "epochs": 3, "patience": 2}
    made = config(**settings)
    for words in (1, SMALL_WORDS):
        sized = made.for_words(words)
        assert (sized.shape.affix_size, sized.shape.batch) == (0, 5)
        assert (sized.hyper.drop, sized.hyper.rate) == (0.0, 0.1)
        assert sized.schedule == TrainSchedule(3, 2)
    assert made.for_words(1) == made.for_words(SMALL_WORDS)
    names = {name.removesuffix("_factor") for name in SIZES["full"]}
    assert set(settings) == names
    assert SIZES["full"].keys() == SIZES["small"].keys()


def test_every_setting_is_tried_above() -> None:
    assert {name for settings, _ in CHANGES for name in settings} == set(
        inspect.signature(SYSTEMS["bilstm.v2"]).parameters
    )


def test_a_rate_of_0_is_the_default_and_thresholds_of_0_are_off() -> None:
    assert {name: config(optimizer=name).hyper.rate for name in RATES} == RATES
    assert config(norm=0.0).hyper.norm == config(clip=0.0).hyper.clip == math.inf


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"classifier": "crv"}, "classifier 'crv' is unknown; did you mean 'crf'?"),
        ({"characters": "cn"}, "characters 'cn' is unknown; did you mean 'cnn'?"),
        ({"dropout": "variation"}, "dropout 'variation' is unknown; did you mean 'variational'?"),
        ({"dropped": "inputs"}, "dropped 'inputs' is unknown; did you mean 'outputs'?"),
        ({"optimizer": "adm"}, "optimizer 'adm' is unknown; did you mean 'adam'?"),
        ({"scheme": "iobe"}, "scheme 'iobe' is unknown; did you mean 'iobes'?"),
        ({"units": "a"}, "units='a'; expected the units of one to three layers such as '100,75'"),
        ({"units": ""}, "units=''; expected the units of one to three layers such as '100,75'"),
        ({"units": "5,5,5,5"}, "units (5, 5, 5, 5); expected at most three layers, each of at least one unit"),
        ({"units": "5,0"}, "units (5, 0); expected at most three layers, each of at least one unit"),
        ({"drop": 1.0}, "drop=1; expected a share from 0 to less than 1"),
        ({"replaced": -0.1}, "replaced=-0.1; expected a share from 0 to less than 1"),
        ({"rate": -1.0}, "rate=-1; expected a number above 0, or 0 for the optimizer's default"),
        ({"rate": math.inf}, "rate=inf; expected a number above 0, or 0 for the optimizer's default"),
        ({"clip": math.nan}, "clip=nan; expected a number above 0, or 0 for none"),
        ({"norm": -1.0}, "norm=-1; expected a number above 0, or 0 for none"),
        ({"casing": -1}, "casing=-1; expected a size, or 0 for none"),
        ({"batch": -1}, "batch=-1; expected at least 0"),
        ({"epochs": -1}, "epochs=-1; expected at least 0"),
        ({"size": "smal"}, "size 'smal' is unknown; did you mean 'small'?"),
        ({"word_size": 0}, "word_size=0; expected at least 1"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused_in_one_line(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        SYSTEMS.make("bilstm", **settings)
    assert str(refused.value) == f"bilstm.v2: {told}"


def test_a_setting_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(NameUnknown, match="'droput' is unknown; did you mean 'dropout'"):
        SYSTEMS.make("bilstm", droput="none")
    with pytest.raises(InputError, match=r"bilstm\.v2: batch='many'; expected a value like 0"):
        SYSTEMS.make("bilstm", batch="many")


STUDY = """\
[corpora.small]
files = 'small.conllu'
[splits]
strategy = 'random'
[[systems]]
name = 'unigram'
[[systems]]
name = 'bilstm'
epochs = [1, 2]
[engine]
workers = 1
"""
EXTRA = "bilstm.v2: the package jax is not installed; expected deadheat[neural] (pip install 'deadheat[neural]')"
# Every Python below this folder finds neither of the packages, as if they had never been installed.
HIDDEN = """\
import sys
for name in ("jax", "jaxlib", "optax"):
    sys.modules[name] = None
"""


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with a study and a Python in which there is no jax."""
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(HIDDEN)
    (tmp_path / "small.conllu").write_text(corpus_text(30))
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run_bare(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder / "without"), str(ROOT / "src")])}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


def test_without_jax_a_study_that_needs_it_is_refused_before_anything_runs(bare: Path) -> None:
    refused = run_bare(bare, "-m", "deadheat.cli.main", "run", "study.toml", "--quiet")
    assert refused.returncode == 2
    assert refused.stderr.strip() == f"study.toml:7: {EXTRA}"
    assert not (bare / "study.sqlite").exists()


def test_without_jax_all_else_works(bare: Path) -> None:
    text = STUDY.replace("name = 'bilstm'\nepochs = [1, 2]", "name = 'perceptron'")
    (bare / "study.toml").write_text(text)
    done = run_bare(bare, "-m", "deadheat.cli.main", "run", "study.toml", "--quiet", "--json")
    assert (done.returncode, done.stderr.count("failed")) == (0, 0), done.stderr
    found = json.loads(done.stdout)
    assert (found["cells"], found["missing"], found["failed"]) == (2, 0, [])


def test_without_jax_a_system_is_made_and_says_what_is_missing_when_it_trains(bare: Path) -> None:
    program = """
import deadheat
from deadheat.errors import InputError
from deadheat.systems import SYSTEMS
corpus = deadheat.read("small.conllu")
system = SYSTEMS.make("bilstm", units="50")
split = deadheat.Partition("0", {"train": range(20), "test": range(20, 30)}, corpus.sentences)
for call in (lambda: system.train(corpus, None, 0), lambda: list(deadheat.train_many(corpus, [split], [0]))):
    try:
        call()
    except InputError as error:
        print(error)
"""
    told = run_bare(bare, "-c", program)
    assert told.stdout.splitlines() == [EXTRA, EXTRA], told.stderr


def test_a_plan_says_which_defaults_a_training_part_gets(bare: Path) -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "deadheat.cli.main", "run", "study.toml", "--plan"], cwd=bare, capture_output=True,
        text=True, timeout=600, env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    sizes = [line for line in done.stdout.splitlines() if "defaults of size" in line]
    assert len(sizes) == 2, done.stderr
    assert all(" has the defaults of size small on small (" in line for line in sizes)
    plan = Plan.of(bare / "study.toml")
    assert list(default_sizes(plan, "unigram.v1")) == list(default_sizes(plan, "bilstm.v2(size='small')")) == []


def test_with_jax_the_same_study_can_be_planned(bare: Path) -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    assert len(Plan.of(bare / "study.toml").cells) == 3


def test_to_plan_and_to_make_networks_loads_no_jax(bare: Path) -> None:
    # Workers are forked from the process that plans, and jax does not survive that.
    program = """
import sys
from pathlib import Path
from deadheat.study.plan.plan import Plan
from deadheat.study.engine.running import missing_cells
plan = Plan.of(Path("study.toml"))
missing_cells(plan, None), plan.labels, plan.metrics
print(any(name.partition(".")[0] in ("jax", "optax") for name in sys.modules))
"""
    loaded = subprocess.run([sys.executable, "-c", program], cwd=bare, capture_output=True, text=True, timeout=600)
    assert loaded.stdout == "False\n", loaded.stderr
