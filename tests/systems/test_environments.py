"""Environments of other people's programs: made, found, refused and removed; with a stand-in for Python and pip."""

import os
import stat
import sys
from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.systems import environments
from deadheat.systems.environments import install, is_installed, packages_of, remove, systems_folder

# As `python -m venv FOLDER` it copies itself there, and as that it logs what pip would be asked for.
PYTHON = """#!{python}
import os, shutil, sys

words = sys.argv[1:]
with open(os.environ["LOG"], "a") as log:
    print(*words, os.environ.get("PIP_CONSTRAINT", "-"), os.environ.get("PYTHONPATH", "-"), file=log)
if words[:2] == ["-m", "venv"]:
    os.makedirs(os.path.join(words[2], "bin"))
    shutil.copy(sys.argv[0], os.path.join(words[2], "bin", "python"))
elif "freeze" in words:
    print("supar==1.1.4\\ntorch==2.13.0+cpu\\nmine @ file:///tmp/mine")
elif "broken==1" in words:
    print("Collecting broken==1")
    print("WARNING: slow", "ERROR: Could not find a version", "ERROR: No matching distribution found for broken==1",
          "hint: see above", sep="\\n", file=sys.stderr)
    sys.exit(1)
elif words == ["-c", "import nowhere"]:
    sys.exit("ModuleNotFoundError: No module named 'nowhere'")
"""


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    python = tmp_path / "python"
    python.write_text(PYTHON.format(python=sys.executable))
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("DEADHEAT_SYSTEMS", str(tmp_path / "the systems"))
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)
    return tmp_path / "log"


def test_an_environment_is_made_with_what_is_asked_for(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONSTRAINT", "c.txt")
    monkeypatch.setenv("PYTHONPATH", "/of/somebody")
    folder = install("supar", ["supar==1.1.4", "torch==2.13.0"], ["lonely==2"], "supar")
    assert folder == systems_folder() / "supar"
    pip = "-m pip --disable-pip-version-check"
    assert log.read_text().splitlines() == [
        f"-m venv {folder} c.txt -",
        f"{pip} install supar==1.1.4 torch==2.13.0 c.txt -",
        f"{pip} install --no-deps lonely==2 c.txt -",
        "-c import supar c.txt -",
        f"{pip} freeze c.txt -",
    ]
    assert is_installed("supar")
    assert packages_of("supar") == {"supar": "1.1.4", "torch": "2.13.0+cpu"}


@pytest.mark.parametrize(
    ("packages", "imports", "problem"),
    [
        (["broken==1"], "", "ERROR: No matching distribution found for broken==1"),
        (["supar"], "nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_failed_installation_leaves_nothing_and_says_why(packages: list[str], imports: str, problem: str) -> None:
    with pytest.raises(InputError) as failure:
        install("supar", packages, (), imports)
    assert str(failure.value) == f"install supar: {problem} (exit code 1); nothing was installed"
    assert not is_installed("supar")
    assert list(systems_folder().iterdir()) == []


def test_what_a_killed_installation_left_is_replaced() -> None:
    rest = systems_folder() / "supar" / "lib"
    rest.mkdir(parents=True)
    assert not is_installed("supar")
    install("supar", ["supar==1.1.4"])
    assert is_installed("supar")
    assert not rest.exists()


def test_a_removed_environment_is_gone() -> None:
    install("supar", ["supar==1.1.4"])
    remove("supar")
    assert not is_installed("supar")
    assert packages_of("supar") == {}
    assert not (systems_folder() / "supar").exists()


def test_a_link_is_removed_and_not_what_it_points_at(tmp_path: Path) -> None:
    install("supar", ["supar==1.1.4"])
    (systems_folder() / "supar").rename(tmp_path / "elsewhere")
    (systems_folder() / "supar").symlink_to(tmp_path / "elsewhere")
    remove("supar")
    assert (tmp_path / "elsewhere" / "packages.txt").exists()
    assert not is_installed("supar")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DEADHEAT_SYSTEMS", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"file.supar: not a directory; expected a folder to install into"):
        install("supar", ["supar==1.1.4"])


def test_the_folder_is_that_of_the_users_data_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEADHEAT_SYSTEMS")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert systems_folder() == Path("/data/deadheat/systems")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert systems_folder() == Path(os.path.expanduser("~"), ".local", "share", "deadheat", "systems")
    assert environments.python_of("supar") == systems_folder() / "supar" / "bin" / "python"
