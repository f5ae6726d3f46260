"""Code of users: files and modules that are named, how they are identified, and what cannot be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

import deadheat
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Metric
from deadheat.systems import SYSTEMS
from deadheat.user_code import imported_modules, load_function, source_files

TAGGER = '''
import deadheat
{imports}

def tagger(*, length: int = 2):
    """Every word is a noun."""
    return deadheat.tagger(lambda train, tune, seed: lambda words: ["{label}"] * len(words), randomness="none")
'''


pytestmark = pytest.mark.usefixtures("own_code")


def write_tagger(path: Path, label: str = "NOUN", imports: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TAGGER.format(label=label, imports=imports))
    return path


def test_a_function_of_a_file_is_known_by_the_hash_of_the_file(tmp_path: Path) -> None:
    file = write_tagger(tmp_path / "mine.py")
    first = SYSTEMS.resolve("mine.py:tagger(length=3)", tmp_path)
    system = SYSTEMS.make(first)
    assert system.name == first
    assert first.startswith("mine.py:tagger@")
    assert first.endswith("(length=3)")
    write_tagger(file, label="VERB")
    second = SYSTEMS.resolve("mine.py:tagger(length=3)", tmp_path)
    assert second != first
    write_tagger(file)
    assert SYSTEMS.resolve("mine.py:tagger(length=3)", tmp_path) == first


def test_what_a_file_imports_from_its_folder_belongs_to_its_code(tmp_path: Path) -> None:
    write_tagger(tmp_path / "code" / "mine.py", imports="import helper\nfrom parts.one import ONE")
    (tmp_path / "code" / "helper.py").write_text("import deeper\n")
    (tmp_path / "code" / "deeper.py").write_text("VALUE = 1\n")
    (tmp_path / "code" / "unrelated.py").write_text("")
    (tmp_path / "code" / "parts").mkdir()
    for name, text in (("__init__", ""), ("one", "ONE = 1\n")):
        (tmp_path / "code" / "parts" / f"{name}.py").write_text(text)
    names = {str(file.relative_to(tmp_path / "code")) for file in source_files(tmp_path / "code" / "mine.py")}
    assert names == {"mine.py", "helper.py", "deeper.py", "parts/__init__.py", "parts/one.py"}

    seen = [SYSTEMS.resolve("code/mine.py:tagger", tmp_path)]
    for changed, text in (("deeper.py", "VALUE = 2\n"), ("parts/one.py", "ONE = 2\n")):
        (tmp_path / "code" / changed).write_text(text)
        seen.append(SYSTEMS.resolve("code/mine.py:tagger", tmp_path))
    assert len(set(seen)) == 3
    (tmp_path / "code" / "unrelated.py").write_text("VALUE = 3\n")
    assert SYSTEMS.resolve("code/mine.py:tagger", tmp_path) == seen[-1]


def test_a_module_that_is_imported_is_executed_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "values.py"
    (tmp_path / "base.py").write_text("NUMBER = 1\n")
    file.write_text("from base import NUMBER\ndef value(): return NUMBER\n")
    assert load_function("values.py:value", tmp_path).value() == 1
    (tmp_path / "base.py").write_text("NUMBER = 22\n")
    assert load_function("values.py:value", tmp_path).value() == 22


def test_a_module_is_found_by_its_name_in_the_folder(tmp_path: Path) -> None:
    write_tagger(tmp_path / "mypackage" / "models.py")
    (tmp_path / "mypackage" / "__init__.py").write_text("")
    name = SYSTEMS.resolve("mypackage.models:tagger", tmp_path)
    assert name.startswith("mypackage.models:tagger@")
    assert SYSTEMS.make(name).name == name


VALUE = """
import deadheat
{imports}


def tagger():
    return deadheat.tagger(lambda train, tune, seed: lambda words: [{value}] * len(words), randomness="none")
"""


def label_of(name: str, folder: Path) -> str:
    """What a tagger of one label gives."""
    text = deadheat.read(text="1\tthe\tthe\tDET\t_\t_\t0\troot\t_\t_\n\n")
    return SYSTEMS.find(name, folder).train(text, None, 0).predict(text).column("upos").strings()[0]


def test_modules_beside_a_file_are_its_own_whatever_has_the_same_name_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, label in (("a", "NOUN"), ("b", "VERB"), ("c", "ADJ")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(VALUE.format(imports="from helper import LABEL", value="LABEL"))
        (tmp_path / folder / "helper.py").write_text(f"LABEL = {label!r}\n")
    monkeypatch.chdir(tmp_path / "c")
    monkeypatch.syspath_prepend(str(tmp_path / "c"))  # as `python -m deadheat` does
    for _ in range(2):
        for folder, label in (("a", "NOUN"), ("b", "VERB")):
            assert label_of(f"{folder}/mine.py:tagger", tmp_path) == label
            assert label_of("mine:tagger", tmp_path / folder) == label
    files = {SYSTEMS.files_of(SYSTEMS.resolve("mine:tagger", tmp_path / "b"))[1]}
    assert files == {tmp_path / "b" / "helper.py"}


def test_absolute_imports_in_a_package_belong_to_its_code(tmp_path: Path) -> None:
    (tmp_path / "mypkg" / "deep").mkdir(parents=True)
    for file, text in {
        "mypkg/__init__.py": "",
        "mypkg/deep/__init__.py": "",
        "mypkg/taggers.py": VALUE.format(imports="from mypkg.deep.helper import LABEL", value="LABEL"),
        "mypkg/deep/helper.py": "from ..words import LABEL\n",
        "mypkg/words.py": "LABEL = 'NOUN'\n",
        "mypkg/unused.py": "",
    }.items():
        (tmp_path / file).write_text(text)
    before = SYSTEMS.resolve("mypkg.taggers:tagger", tmp_path)
    names = {str(file.relative_to(tmp_path)) for file in SYSTEMS.files_of(before)}
    assert names == {
        "mypkg/taggers.py",
        "mypkg/deep/helper.py",
        "mypkg/words.py",
        "mypkg/__init__.py",
        "mypkg/deep/__init__.py",
    }
    assert label_of("mypkg.taggers:tagger", tmp_path) == "NOUN"
    (tmp_path / "mypkg" / "words.py").write_text("LABEL = 'VERB'\n")
    assert SYSTEMS.resolve("mypkg.taggers:tagger", tmp_path) != before
    assert label_of("mypkg.taggers:tagger", tmp_path) == "VERB"


def test_installed_packages_are_imported_and_not_hashed_even_if_a_file_has_their_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(VALUE.format(imports="import numpy, json", value="numpy.array(['DET'])[0]"))
    for name in ("numpy", "json"):
        (tmp_path / f"{name}.py").write_text("raise AssertionError('imported')\n")
    assert source_files(tmp_path / "mine.py") == (tmp_path / "mine.py",)


def test_code_may_import_what_is_beside_it_when_it_is_called(tmp_path: Path) -> None:
    text = VALUE.format(imports="", value="__import__('importlib').import_module('late').LABEL")
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "late.py").write_text("LABEL = 'ADV'\n")
    assert label_of("mine.py:tagger", tmp_path) == "ADV"


def test_what_code_prints_does_not_get_among_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("print('loading')\n" + VALUE.format(imports="", value="'X'"))
    SYSTEMS.find("mine.py:tagger", tmp_path)
    assert capsys.readouterr() == ("", "loading\n")


def test_code_that_wants_to_exit_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def tagger():\n    raise SystemExit(3)\n")
    with pytest.raises(InputError, match=r"cannot be called: line 2: SystemExit: 3"):
        SYSTEMS.find("mine.py:tagger", tmp_path)


def test_a_file_with_the_name_of_a_module_of_python_hides_nothing(tmp_path: Path) -> None:
    write_tagger(tmp_path / "json.py")
    assert SYSTEMS.find("json.py:tagger", tmp_path).randomness == "none"
    import json

    assert json.loads("1") == 1


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        ("def tagger(:\n", "mine.py:tagger", r"^mine.py: cannot be imported \(line 1: invalid syntax\); expected"),
        ("\nimport nosuchmodule\n", "mine.py:tagger", r"line 2: ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("import sys\nsys.exit(3)\n", "mine.py:tagger", r"line 2: SystemExit: 3"),
        ("x = 1 / 0\n", "mine.py:tagger", r"line 1: ZeroDivisionError: division by zero"),
        ("tagger = 5\n", "mine.py:tagger", r"is 'int'; expected a function"),
        ("def tagger(): return 5\n", "mine.py:tagger", r"tagger returned 'int'; expected 'System'|returned 'int'"),
        ("def tagger(): return [][1]\n", "mine.py:tagger", r"line 1: IndexError: list index out of range"),
        ("def tagger(): ...\n", "mine.py:tager", r"function 'tager' is unknown; did you mean 'tagger'"),
        ("def tagger(*, size): ...\n", "mine.py:tagger", r"setting 'size' is missing; expected a value"),
        ("def tagger(): ...\n", "mine.py:tagger.v2", r"expected"),
        ("def tagger(*, size=1): ...\n", "mine.py:tagger(sise=2)", r"'sise' is unknown; did you mean 'size'"),
        ("def tagger(*, size=1): ...\n", "mine.py:tagger(size='a')", r"size='a'; expected a value like 1"),
        ("def tagger(*, size: int): ...\n", "mine.py:tagger(size='a')", r"size='a'; expected an integer"),
        ("def tagger(*, size: int): ...\n", "mine.py:tagger(size=1.0)", r"size=1.0; expected an integer"),
        ("def tagger(*, size: int): ...\n", "mine.py:tagger(size=True)", r"size=True; expected an integer"),
        ("def tagger(*, size=1): ...\n", "mine.py:tagger(size=True)", r"size=True; expected a value like 1"),
        ("def tagger(*, size: 'float'): ...\n", "mine.py:tagger(size='a')", r"size='a'; expected a number"),
        ("def tagger(*, name: str): ...\n", "mine.py:tagger(name=1)", r"name=1; expected text"),
        ("def tagger(*, deep: bool): ...\n", "mine.py:tagger(deep=1)", r"deep=1; expected True or False"),
        (
            "def tagger(*, sizes=(1, 2)): ...\n",
            "mine.py:tagger(sizes=1)",
            r"like \(1, 2\); a list in a study file stands",
        ),
        ("def tagger(size, /): ...\n", "mine.py:tagger", r"'size' is a positional argument; expected settings"),
        ("def tagger(*sizes): ...\n", "mine.py:tagger", r"'sizes' is a positional argument; expected settings"),
        ("tagger = dict\n", "mine.py:tagger", r"tagger@\w+ has no signature; expected a function"),
        ("", "other.py:tagger", r"other.py: cannot be read \(no such file or directory\)"),
        ("", "no.such.module:tagger", r"no.such.module:tagger: cannot be imported \(ModuleNotFoundError"),
        ("", "mine.txt:tagger", r"mine.txt:tagger: cannot be imported"),
        ("", "mine.py:tagger@00000000", r"is unknown|has changed"),
    ],
)
def test_code_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, reference: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        SYSTEMS.find(reference, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_factory_may_take_any_settings(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import deadheat\ndef upos(*, n: float = 1.0, **more): return deadheat.METRICS.make('upos')\n"
    )
    for text, settings, shown in (
        ("mine.py:upos", {}, {"n": 1.0}),
        ("mine.py:upos(n=2, a='x')", {"b": [1]}, {"n": 2.0, "a": "x", "b": [1]}),
    ):
        metric = METRICS.find(text, tmp_path, **settings)
        assert metric.settings == shown
        assert METRICS.make(metric.name).name == metric.name
    assert METRICS.entry(f"{tmp_path}/mine.py:upos").settings == {"n": 1.0}


def test_a_setting_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def tagger(*, length=1): ...\n")
    for length in (2, 4):
        with pytest.raises(InputError, match="setting 'length' is given in the name and beside it; expected one"):
            SYSTEMS.find("mine.py:tagger(length=2)", tmp_path, length=length)


def test_a_list_becomes_a_tuple_where_the_default_is_one(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import deadheat\ndef upos(*, n=(1, 2)): return deadheat.METRICS.make('upos')\n")
    assert METRICS.find("mine.py:upos", tmp_path, n=[1, 3]).settings == {"n": (1, 3)}


def test_names_from_files_load_no_code(tmp_path: Path) -> None:
    """A store names code with its hash; only a person who names it has it imported."""
    (tmp_path / "evil.py").write_text("raise AssertionError('executed')\n")
    with pytest.raises(InputError, match="is not loaded"):
        SYSTEMS.make("evil.py:tagger@3fa94c21")


def test_a_metric_may_be_an_object_instead_of_a_function(tmp_path: Path) -> None:
    text = "from dataclasses import replace\nimport deadheat\nmine = deadheat.METRICS.make('upos')\n"
    (tmp_path / "mine.py").write_text(text)
    metric = METRICS.find("mine.py:mine", tmp_path)
    assert isinstance(metric, Metric)
    assert metric.name.startswith("mine.py:mine@")
    assert metric.is_called("mine")
    assert metric.is_called("mine.py:mine")


def test_modules_that_a_file_imports_are_listed_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import os.path, numpy as np\nfrom numpy.typing import NDArray\ndef f():\n    import scipy.stats\n")
    assert list(imported_modules(file)) == ["os", "numpy", "scipy"]
    file.write_text("no python (")
    assert list(imported_modules(file)) == []


def package(folder: Path, name: str, points: str, code: str) -> None:
    """An installed package with entry points, as pip leaves it."""
    metadata = folder / f"{name}-1.5.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (metadata / "entry_points.txt").write_text(points)
    (folder / f"{name}.py").write_text(code)


def test_packages_add_names_by_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import deadheat.registry as registry

    points = "[deadheat.systems]\nnouns = nounpackage:tagger\nbroken.v2 = nounpackage:missing\n"
    points += "unigram = nounpackage:tagger\nhmm.v9 = nounpackage:tagger\nmy.dotted = nounpackage:tagger\n"
    package(tmp_path, "nounpackage", points, TAGGER.format(label="NOUN", imports=""))
    monkeypatch.syspath_prepend(str(tmp_path))
    for function in (registry._entry_points, registry._load_entry_point):
        function.cache_clear()
    try:
        system = SYSTEMS.make("nouns")
        assert system.name.startswith("nouns.v1@")
        entries = {entry.name: entry for entry in SYSTEMS.entries()}
        assert entries["nouns.v1"].source == "nounpackage 1.5"
        assert entries["nouns.v1"].summary == "Every word is a noun."
        assert "function 'missing' is unknown" in entries["broken.v2"].problem
        hidden = [(entry.name, entry.problem) for entry in SYSTEMS.entries() if entry.problem.startswith("hidden")]
        assert hidden == [
            ("unigram.v1", "hidden by unigram.v1 of Deadheat; expected another name"),
            ("hmm.v9", "hidden by hmm.v1 of Deadheat; expected another name"),
        ]
        assert SYSTEMS.entry("unigram").source == registry.BUILT_IN
        assert SYSTEMS.make("unigram").name == "unigram.v1"
        assert entries["my.dotted.v1"].problem.startswith("'my.dotted' is not a name; expected letters")
        with pytest.raises(NameUnknown, match="did you mean 'nouns'"):
            SYSTEMS.make("nounz")
        with pytest.raises(InputError, match="its package has changed"):
            SYSTEMS.make("nouns.v1@00000000")
    finally:
        for function in (registry._entry_points, registry._load_entry_point):
            function.cache_clear()
