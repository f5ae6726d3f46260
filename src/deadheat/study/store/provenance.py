"""What a run was made with: versions, machine, user, and the git revision of the study's folder."""

from __future__ import annotations

import getpass
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from deadheat.user_code import imported_modules
from deadheat.version import __version__

PACKAGES = ("numpy", "scipy", "numba")
ADDED = "added_scores"
GIT_LIMIT_S = 3.0  # a repository on a slow disk must not hold up a study
# The configuration of a repository may name programs. It may be somebody else's, so git starts none of them.
NO_PROGRAMS = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
NO_ACCESS = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}


def provenance(folder: str | os.PathLike[str] = ".") -> dict[str, Any]:
    """Versions, machine and user of a run, and the git revision of `folder`."""
    return {
        "deadheat": __version__,
        "python": platform.python_version(),
        **_installed(PACKAGES),
        "platform": platform.platform(),
        "processors": os.cpu_count() or 0,
        "host": socket.gethostname(),
        "user": _user(),
        **revision(folder),
    }


def _installed(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed: a wheel with compiled kernels needs no numba."""
    versions = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def with_added_scores(
    record: Mapping[str, Any], scores: Iterable[tuple[str, str]], made_with: Mapping[str, Any]
) -> dict[str, Any]:
    """The provenance of a run to which scores were added later: which ones, and what was different by then.

    Examples
    --------
    >>> with_added_scores({"deadheat": "1", "host": "a"}, [("test", "las.v1")], {"deadheat": "2", "host": "a"})
    {'deadheat': '1', 'host': 'a', 'added_scores': [{'parts': ['test'], 'metrics': ['las.v1'], 'deadheat': '2'}]}
    """
    pairs = list(scores)
    parts, metrics = ([*dict.fromkeys(pair[at] for pair in pairs)] for at in (0, 1))
    changed = {name: value for name, value in made_with.items() if name != ADDED and record.get(name) != value}
    return {**record, ADDED: [*record.get(ADDED, ()), {"parts": parts, "metrics": metrics, **changed}]}


def package_versions(files: Iterable[Path]) -> dict[str, str]:
    """The versions of the installed packages that some Python files import, by the names they are installed under."""
    modules = {module for file in files if file.suffix == ".py" for module in imported_modules(file)}
    modules -= {"deadheat", *sys.stdlib_module_names}
    if not modules:
        return {}
    installed = packages_distributions()
    return {name: version(name) for name in sorted({name for module in modules for name in installed.get(module, ())})}


def revision(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The git revision of a folder, and whether tracked files differ from it; empty without git."""
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return {}
    options = ("--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    changes = _git(folder, "status", *options, config=_without_filters(folder))
    return {"revision": commit, **({} if changes is None else {"changed": bool(changes)})}


def _without_filters(folder: str | os.PathLike[str]) -> dict[str, str]:
    """Configuration that disables the filters of a repository, which are programs; those of the user may run."""
    listing = _git(folder, "config", "--show-scope", "--name-only", "--null", "--get-regexp", r"^filter\.") or ""
    entries = listing.split("\0")
    scopes = zip(entries[::2], entries[1::2], strict=False)
    names = [name for scope, name in scopes if scope in ("local", "worktree")]
    return {name: "false" if name.endswith(".required") else "" for name in names}


def _git(folder: str | os.PathLike[str], *arguments: str, config: Mapping[str, str] | None = None) -> str | None:
    """The output of git, or None if there is no git, no repository, or no answer in time."""
    settings = {**NO_PROGRAMS, **(config or {})}
    environment = {**os.environ, **NO_ACCESS, "GIT_CONFIG_COUNT": str(len(settings))}
    for i, (name, value) in enumerate(settings.items()):  # a name may contain =, so that -c would not do
        environment |= {f"GIT_CONFIG_KEY_{i}": name, f"GIT_CONFIG_VALUE_{i}": value}
    try:
        done = subprocess.run(
            ["git", "-C", os.fspath(folder), *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=GIT_LIMIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in containers
        return str(os.getuid())
