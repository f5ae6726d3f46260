"""`deadheat systems`: what is there, what is missing, how it is installed; and studies that name other programs."""

import json
from pathlib import Path

import pytest

from deadheat.cli import registries
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import environments
from deadheat.systems.recipe import FOLDER, RECIPES
from tests.cli.running import Commands
from tests.study.study_cases import corpus_text
from tests.systems.stand_ins import make

STUDY = """
[corpora]
text = { files = "text.conllu" }

[splits]
strategy = "random"

[[systems]]
name = "unigram"

[[systems]]
name = "nltk"
epochs = 3
seeds = 2

[[systems]]
name = "crfsuite"
seeds = 2
"""


@pytest.fixture(autouse=True)
def systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEADHEAT_SYSTEMS", str(tmp_path / "systems"))
    monkeypatch.setenv("DEADHEAT_LEDGER", str(tmp_path / "ledger.jsonl"))
    return tmp_path / "systems"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "text.conllu").write_text(corpus_text(30))
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def pretend(name: str, version: str = "1.0") -> None:
    """Put a stand-in where the environment of a program is."""
    make("python", environments.python_of(name), FOLDER)
    environments.packages_file(name).write_text(f"{name}=={version}\n")


def test_programs_are_listed_with_what_is_missing(commands: Commands) -> None:
    pretend("nltk")
    lines = [line.split("  ") for line in commands("systems").out.splitlines()]
    states = {line[0]: " ".join(line) for line in lines if line[0] in RECIPES}
    assert list(states) == list(RECIPES)
    assert " installed " in states["nltk"]
    assert "not installed" not in states["nltk"]
    assert " not installed " in states["supar"]
    assert " needs repository " in states["lapos"]


def test_a_program_is_described_with_its_settings(commands: Commands) -> None:
    shown = commands("systems", "supar").out
    for text in ("MIT", "1.1.4", "not installed", "the Python package supar", "passes over the training text"):
        assert text in shown
    (described,) = json.loads(commands("systems", "supar", "--json").out)["systems"]
    assert described["settings"]["epochs"] == 100
    assert described["missing"].endswith("deadheat systems install supar")
    assert described["seed"] == "seed"
    assert described["predicts"] == ["trees"]
    assert "with a stand-in only" in commands("systems", "lapos").out


def test_a_program_is_installed_once_and_removed(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def install(*arguments: object) -> Path:
        asked.append(arguments)
        pretend("uuparser")
        return environments.systems_folder() / "uuparser"

    monkeypatch.setattr(registries, "install", install)
    folder = environments.systems_folder() / "uuparser"
    for _ in range(2):
        assert commands("systems", "install", "uuparser").out == f"uuparser is installed in {folder}\n"
    recipe = RECIPES["uuparser"]
    assert asked == [("uuparser", recipe.packages, recipe.without_dependencies, recipe.imports)]
    assert commands("systems", "remove", "uuparser").out == "uuparser is removed\n"
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("install", "supra"), "recipe 'supra' is unknown"),
        (("install",), "0 names; expected the name of one program"),
        (("install", "supar", "stanza"), "2 names; expected the name of one program"),
        (("remove", "supar"), "supar is not installed; nothing to remove"),
        (("install", "opennlp"), "opennlp: cannot be installed by this command; expected you to have java"),
        (("supar", "stanza"), "2 names; expected one, or install NAME, or remove NAME"),
    ],
)
def test_wrong_requests_are_refused(commands: Commands, words: tuple[str, ...], problem: str) -> None:
    assert problem in commands.refused("systems", *words)


def test_a_study_with_a_program_that_is_not_installed_is_refused(commands: Commands, study: Path) -> None:
    pretend("nltk")
    for options in ([], ["--plan"]):
        problem = commands.refused("run", study, *options)
        expected = "crfsuite is not installed; expected it after: deadheat systems install crfsuite"
        assert problem == f"{study}:16: {expected}"


def test_a_study_with_a_jar_that_is_not_there_is_refused(commands: Commands, study: Path, tmp_path: Path) -> None:
    make("java", tmp_path / "bin" / "java", FOLDER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
        problem = commands.refused("run", study, "--set", "systems=[{name='stanford', jar='nowhere.jar'}]")
        other = commands.refused("run", study, "--set", "systems=[{name='stanford', jar='/nowhere.jar'}]")
    assert problem.endswith("stanford: nowhere.jar: no such file; expected it beside the study file")
    assert other.endswith("stanford: /nowhere.jar: no such file; expected it there, or a setting that names another")


def test_programs_run_in_a_study_once_without_a_seed(commands: Commands, study: Path) -> None:
    pretend("nltk")
    pretend("crfsuite")
    outcome = commands("run", study, "--quiet", "--json")
    assert outcome.code == 0, outcome.err
    seeds: dict[str, list[int]] = {}
    for name, numbers in Plan.of(study).systems.items():
        seeds[name.partition(".")[0]] = numbers
    assert seeds == {"unigram": [0], "nltk": [0, 1], "crfsuite": [0]}
    with Store.read(study.with_suffix(".sqlite")) as store:
        made_with = store.provenances()[0]
    assert made_with["programs"] == {"crfsuite": {"crfsuite": "1.0"}, "nltk": {"nltk": "1.0"}}


def test_another_version_of_a_program_is_another_system(commands: Commands, study: Path) -> None:
    pretend("nltk")
    pretend("crfsuite")
    assert commands("run", study, "--quiet").code == 0
    assert "0 to run" in commands("run", study, "--plan").out
    pretend("nltk", "1.1")
    planned = commands("run", study, "--plan")
    assert "2 to run" in planned.out
    assert "2 cells are new because" in planned.err
    assert "packages.txt changed" in planned.err
