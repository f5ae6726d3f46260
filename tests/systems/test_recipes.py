"""Recipes for other people's programs: what the files say, and that their command lines are understood."""

import ast
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deadheat.corpus import Corpus, read, to_bytes
from deadheat.errors import InputError, NameUnknown
from deadheat.systems import SYSTEMS, System, environments
from deadheat.systems.recipe import ANY, FOLDER, RECIPES, Recipe, read_recipe, recipe_of, state_of
from deadheat.systems.system import RANDOMNESS
from tests.systems.stand_ins import make

TEXT = (
    "# sent_id = 1\n1\tthe\tthe\tDET\tD\t_\t2\tdet\t_\t_\n2\theat\theat\tNOUN\tN\t_\t3\tnsubj\t_\t_\n"
    "3\tdies\tdie\tVERB\tV\t_\t0\troot\t_\t_\n\n# sent_id = 2\n1\tGo\tgo\tVERB\tV\t_\t0\troot\t_\t_\n"
    "2\tnow\tnow\tADV\tA\t_\t1\tadvmod\t_\t_\n3\tor_so\tso\tADV\tA\t_\t2\tadvmod\t_\t_\n\n"
)
# Small budgets, in which every setting is given to the program.
SETTINGS: dict[str, dict[str, Any]] = {
    "opennlp": {"iterations": 7},
    "machamp": {"epochs": 7},
    "dep2label": {"epochs": 7},
}
TASKS = [(name, column) for name, recipe in RECIPES.items() for column in recipe.commands]
EXPECTED = (
    "crfsuite dep2label flairnlp lapos machamp nlp4j nltk opennlp "
    "spacy stanford stanza supar syntacticpointer udpipe uuparser"
)


@pytest.fixture
def corpus() -> Corpus:
    return read(text=TEXT, format="conllu")


@pytest.fixture
def systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of environments, with none in it."""
    monkeypatch.setenv("DEADHEAT_SYSTEMS", str(tmp_path / "my systems"))
    return tmp_path / "my systems"


def pretend(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put stand-ins for a program where its recipe looks for them; its settings."""
    recipe, programs, paths = RECIPES[name], folder / "programs", folder / "files of the user"
    for program in ("python", "biaffine-dep", "uuparser"):
        make(program, environments.python_of(name).with_name(program), FOLDER)
    environments.packages_file(name).write_text(f"{name}==1.0\nother==2.5\n")
    make("java", programs / "java", FOLDER)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    scripts = {"machamp": ["train.py", "predict.py"], "lapos": ["lapos", "lapos-learn"],
               "syntacticpointer": ["parsing.py"],
               "dep2label": ["main.py", "encode_dep2labels.py", "decode_labels2dep.py"]}  # fmt: skip
    for script in scripts.get(name, ()):
        make(script, paths / ("experiments" if script == "parsing.py" else "") / script, FOLDER)
    for file in ("config.json", "program.jar"):
        paths.mkdir(exist_ok=True)
        (paths / file).write_text("{}")
    (paths / "configs").mkdir()
    parameters = (
        '{ // of the encoder\n"transformer_model": "x",\n//"a": 1,\n"training": {"num_epochs": 1, "kept": "a // b"}}'
    )
    (paths / "configs" / "params.json").write_text(parameters)
    settings: dict[str, Any] = dict(SETTINGS.get(name, {}))
    for setting, about in recipe.settings.items():
        if about.contains:
            settings[setting] = str(paths)
        elif about.is_file or setting == "jars":
            settings[setting] = str(paths / "program.jar")
        elif setting == "interpreter":
            settings[setting] = sys.executable
    return settings


def test_there_is_a_recipe_for_every_program() -> None:
    assert " ".join(RECIPES) == EXPECTED
    assert all(SYSTEMS.entry(name).name == f"{name}.v1" for name in RECIPES)
    assert SYSTEMS.entry("supar").summary == RECIPES["supar"].title


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_says_what_a_user_has_to_know(recipe: Recipe) -> None:
    assert recipe.seed in RANDOMNESS
    assert recipe.seed_note
    assert recipe.licence
    assert recipe.source
    assert recipe.title
    assert recipe.commands
    assert ("{seed}" in "".join(item.train for item in recipe.commands.values())) == (recipe.seed == "seed")
    used = set(recipe.placeholders)
    assert set(recipe.settings) <= used  # a setting that no command has would change nothing
    assert ("script" in used) == bool(recipe.script)
    assert all("==" in package for package in recipe.packages) or recipe.name == "machamp"
    assert bool(recipe.packages) == ({"python", "bin"} & used != set())
    assert all(setting.what for setting in recipe.settings.values())


@pytest.mark.parametrize(("name", "column"), TASKS)
def test_command_lines_are_understood(
    name: str, column: str, corpus: Corpus, systems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = pretend(name, tmp_path, monkeypatch)
    column = "upos" if column == ANY else column
    system = SYSTEMS.make(name, column=column, **settings)
    assert system.missing == ""
    assert system.predicts == (column,)
    assert system.randomness == RECIPES[name].seed
    model = system.train(corpus, corpus, 3)
    predicted = model.predict(corpus)
    if column == "trees":
        assert list(predicted.trees) == [0, 1, 1, 0, 1, 1]
        assert set(predicted.column("deprel").strings()[1:3]) <= {"advmod", "det"}
    else:
        assert len(set(predicted.column(column).strings())) == 1  # the label that the stand-in has learned
        assert predicted.column(column).strings()[0] in ("VERB", "ADV")
    assert predicted.column("form").strings() == corpus.column("form").strings()
    assert predicted.column("lemma").strings() == corpus.column("lemma").strings()


def test_a_setting_reaches_the_command(systems: Path) -> None:
    system = SYSTEMS.make("supar.v1", epochs=7, features="tag char", reads="upos", threads=2)
    assert system.name == "supar.v1(epochs=7, features='tag char', reads='upos', threads=2)"
    assert "--epochs=7" in system.commands[0]
    assert "-f tag char --tree" in system.commands[0]
    assert str(FOLDER / "supar.ini") in system.commands[0]


def test_a_value_with_spaces_and_quotes_stays_one_argument(systems: Path) -> None:
    system = SYSTEMS.make("udpipe", options="a b; 'c' $(d)")
    assert system.commands[0].endswith("""--options 'a b; '"'"'c'"'"' $(d)'""")


def test_columns_that_a_program_cannot_predict_are_refused() -> None:
    for name, column in (("supar", "upos"), ("crfsuite", "trees"), ("spacy", "upos,trees")):
        with pytest.raises(NameUnknown, match=f"{name}.v1: column"):
            SYSTEMS.make(name, column=column)
    assert SYSTEMS.make("crfsuite", column="xpos").predicts == ("xpos",)


def test_what_only_the_user_has_must_be_named() -> None:
    with pytest.raises(InputError, match=r"stanford\.v1: setting 'jar' is missing"):
        SYSTEMS.make("stanford")


def test_a_program_that_is_not_installed_trains_nothing(corpus: Corpus, systems: Path) -> None:
    system = SYSTEMS.make("supar")
    assert system.missing == "supar is not installed; expected it after: deadheat systems install supar"
    assert state_of(RECIPES["supar"]) == "not installed"
    with pytest.raises(InputError, match="supar is not installed"):
        system.train(corpus, corpus, 1)


def test_a_java_that_is_missing_is_named(systems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "no program 'java' on the PATH" in SYSTEMS.make("opennlp").missing
    assert state_of(RECIPES["opennlp"]).startswith("needs java")


def test_installed_versions_belong_to_the_system(systems: Path) -> None:
    environments.packages_file("nltk").parent.mkdir(parents=True)
    environments.packages_file("nltk").write_text("nltk==3.10.4\nregex==2026.1\n")
    system: System = SYSTEMS.make("nltk")
    assert system.packages == {"nltk": "3.10.4", "regex": "2026.1"}
    assert environments.packages_file("nltk") in system.code
    assert FOLDER / "nltk.toml" in system.code


def test_unknown_recipes_are_refused_with_the_nearest() -> None:
    assert recipe_of("supar.v1") is RECIPES["supar"]
    with pytest.raises(NameUnknown, match="supar"):
        recipe_of("supra")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{epochs}", "{epoch}", "'epoch'"),
        ('seed = "seed"', 'seed = "yes"', "'yes'"),
        ('licence = "', 'license = "', "license"),
        ('predict = "', 'predicts = "', "predict"),
    ],
)
def test_mistakes_in_a_recipe_are_found(old: str, new: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "nltk.toml"
    path.write_text((FOLDER / "nltk.toml").read_text().replace(old, new))
    with pytest.raises((NameUnknown, msgspec.ValidationError), match=problem):
        read_recipe(path)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_scripts_import_nothing_of_deadheat(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(name.partition(".")[0] == "deadheat" for name in names)


def test_a_prediction_does_not_depend_on_gold(
    corpus: Corpus, systems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = SYSTEMS.make("stanza", column="trees", **pretend("stanza", tmp_path, monkeypatch))
    model = system.train(corpus, corpus, 1)
    other = read(text=TEXT.replace("nsubj", "obj").replace("NOUN", "X"), format="conllu")
    assert list(model.predict(other).trees) == list(model.predict(corpus).trees)
    assert b"nsubj" not in to_bytes(model.predict(corpus))
