"""What networks say, kept while others train: a line for each, and its arrays in a growing archive."""

from __future__ import annotations

import fcntl
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def keep(lines: Path, archive: Path, told: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Add a network; several processes may do so at once. `told["file"]` is what its arrays are called."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    with lines.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with zipfile.ZipFile(archive, "a") as store:
            store.writestr(told["file"], packed.getvalue())
        print(json.dumps(told), file=file, flush=True)
