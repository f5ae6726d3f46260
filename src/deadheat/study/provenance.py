"""What a run was made with: versions, machine, user, and the revision of the code around it."""

from __future__ import annotations

import getpass
import os
import platform
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from deadheat.version import __version__

PACKAGES = ("numpy", "scipy", "numba")
GIT_LIMIT_S = 3.0


def provenance(folder: str | os.PathLike[str] = ".") -> dict[str, Any]:
    """All that is worth knowing of a run besides what is in its cells; the revision is that of `folder`.

    Examples
    --------
    >>> found = provenance()
    >>> found["deadheat"] == __version__, "host" in found
    (True, True)
    """
    return {
        "deadheat": __version__,
        "python": platform.python_version(),
        **{name: found for name in PACKAGES if (found := _installed(name))},
        "platform": platform.platform(),
        "processors": os.cpu_count() or 0,
        "host": socket.gethostname(),
        "user": _user(),
        **revision(folder),
    }


def revision(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The git revision of a folder, and whether tracked files differ from it; nothing where git tells none."""
    found = _git(folder, "rev-parse", "--verify", "HEAD")
    if not found:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"revision": found, **({} if changes is None else {"changed": bool(changes)})}


def _git(folder: str | os.PathLike[str], *arguments: str) -> str | None:
    """What git prints, or None if there is no git, no repository, or no answer in time."""
    try:
        done = subprocess.run(
            ["git", "-C", os.fspath(folder), *arguments],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
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


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in containers
        return str(os.getuid())
