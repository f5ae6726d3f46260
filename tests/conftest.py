import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real corpora, predictions and score tables: other people's work, and so no part of the repository."""
    folder = Path(os.environ.get("DEADHEAT_DATA") or ROOT.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}; DEADHEAT_DATA names the folder")
    return folder
