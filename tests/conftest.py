import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browsers import browser as browser

ROOT = Path(__file__).resolve().parent.parent

# Networks of tests are tiny: to compile them takes longer than to train them. There are as many processes as cores.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
)

# New cases in every run, and few of them; under CI always the same, and more.
settings.register_profile("dev", deadline=None, max_examples=20)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

HANGS_S = 600  # no test takes a tenth of it, but for those that are called long


@pytest.fixture(autouse=True)
def _ends_if_it_hangs(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that waits for ever fails, and the others run."""
    if request.node.get_closest_marker("long"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"no end after {HANGS_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real corpora, predictions and score tables: other people's work, and so no part of the repository."""
    folder = Path(os.environ.get("DEADHEAT_DATA") or ROOT.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}; DEADHEAT_DATA names the folder")
    return folder


@pytest.fixture(scope="session")
def _ledgers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("ledgers")
    return (folder / str(number) / "ledger.jsonl" for number in itertools.count())


@pytest.fixture(autouse=True)
def ledger_path(_ledgers: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of its own for every test, not yet there; the user's own is never touched."""
    path = next(_ledgers)
    monkeypatch.setenv("DEADHEAT_LEDGER", str(path))
    monkeypatch.setenv("DEADHEAT_MAX_SIZE", "")  # which commands set, and which is then taken back
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return path


@pytest.fixture
def own_code(tmp_path: Path) -> Iterator[Path]:
    """A folder for code of a user; modules that a test imports from it are forgotten afterwards."""
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
