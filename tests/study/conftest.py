from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deadheat.study.engine.executor import LocalExecutor
from deadheat.study.ledger.ledger import Ledger
from tests.cli.running import Commands
from tests.study.worker_tasks import behave


@pytest.fixture
def executor() -> Iterator[LocalExecutor[Any, Any]]:
    with LocalExecutor[Any, Any](behave, workers=2) as made:
        yield made


@pytest.fixture
def ledger(ledger_path: Path) -> Ledger:
    return Ledger.at()


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    """Runs commands in this process."""
    return Commands(capsys)
