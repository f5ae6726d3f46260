"""Virtual environments for other people's programs: one for each, in a folder of the user's data.

The folder is `$DEADHEAT_SYSTEMS`, or else `deadheat/systems` in `$XDG_DATA_HOME` (`~/.local/share`). An environment
counts as installed when its list of packages has been written, which is the last thing that an installation does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from deadheat.errors import InputError, reason

VARIABLE = "DEADHEAT_SYSTEMS"
PACKAGES = "packages.txt"
MANY = 30  # lines of an output that may stand after its error


def systems_folder() -> Path:
    """Where the environments are."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).absolute()
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data, "deadheat", "systems")


def python_of(name: str) -> Path:
    """The Python of an environment, which may not be there."""
    return systems_folder() / name / "bin" / "python"


def packages_file(name: str) -> Path:
    """The file with the versions of the packages of an environment, as `pip freeze` lists them."""
    return systems_folder() / name / PACKAGES


def is_installed(name: str) -> bool:
    """Whether the environment of a program is there, and whole."""
    return packages_file(name).is_file()


def packages_of(name: str) -> dict[str, str]:
    """The versions of the packages of an environment; empty if there is none."""
    path = packages_file(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {package: version for package, equals, version in (line.partition("==") for line in lines) if equals}


def install(name: str, packages: Sequence[str], without_dependencies: Sequence[str] = (), imports: str = "") -> Path:
    """Make the environment of a program; what is half-made when something fails is removed.

    pip runs with the environment variables and the configuration of the user, such as `PIP_CONSTRAINT`. `imports` is a
    module whose import shows that the installation works.
    """
    target = systems_folder() / name
    if target.exists() or target.is_symlink():
        remove(name)  # what an installation left that was killed
    try:
        target.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"{target}: {reason(error)}; expected a folder to install into (${VARIABLE})") from None
    python = str(python_of(name))
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    commands = [[sys.executable, "-m", "venv", str(target)]]
    commands += [[*pip, "install", *packages]] if packages else []
    commands += [[*pip, "install", "--no-deps", *without_dependencies]] if without_dependencies else []
    commands += [[python, "-c", f"import {imports}"]] if imports else []
    try:
        for command in commands:
            _run(f"install {name}", command)
        versions = _run(f"install {name}", [*pip, "freeze"])
        temporary = target / f"{PACKAGES}.new"
        temporary.write_text(versions, encoding="utf-8")
        temporary.replace(packages_file(name))
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def remove(name: str) -> None:
    """Remove the environment of a program; one whose removal is interrupted no longer counts as installed."""
    target = systems_folder() / name
    if target.is_symlink():
        target.unlink()
        return
    packages_file(name).unlink(missing_ok=True)
    shutil.rmtree(target)


def _run(what: str, arguments: Sequence[str]) -> str:
    """Run a program to its end; its standard output. If it fails, the last line of its error is the message."""
    with tempfile.TemporaryFile() as errors:
        try:
            done = subprocess.run(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=_environment()
            )
        except OSError as error:
            raise InputError(f"{what}: {arguments[0]}: {reason(error)}; expected a Python with venv") from None
        if done.returncode:
            errors.seek(0)
            lines = [line for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
            lines = lines or done.stdout.decode(errors="replace").split("\n")
            raise InputError(f"{what}: {_last_error(lines)} (exit code {done.returncode}); nothing was installed")
    return done.stdout.decode(errors="replace")


def _last_error(lines: Sequence[str]) -> str:
    """The last line that says ERROR, else the last one: pip may print hints after its error."""
    marked = [line for line in lines[-MANY:] if "ERROR" in line]
    return (marked or [*lines] or ["failed"])[-1].strip()


def _environment() -> Mapping[str, str]:
    """The user's environment without what would let Python see other packages than those of the new environment."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
