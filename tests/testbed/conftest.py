from __future__ import annotations

import pytest

from deadheat.testbed import LANGUAGES, generate
from tests.testbed.checker import Block, read


@pytest.fixture(scope="session")
def texts() -> dict[str, str]:
    """Some sentences of each language."""
    return {name: generate(name, sentences=60, seed=11) for name in LANGUAGES}


@pytest.fixture(scope="session")
def blocks(texts: dict[str, str]) -> dict[str, list[Block]]:
    return {name: read(text) for name, text in texts.items()}


@pytest.fixture(scope="session")
def large_text() -> str:
    """Enough words for accuracies to settle."""
    return generate("ostrevan", sentences=3000, seed=5)


@pytest.fixture(scope="session")
def middle_text(large_text: str) -> str:
    """A fifth of it."""
    return beginning(large_text, sentences=600)


@pytest.fixture(scope="session")
def small_text(large_text: str) -> str:
    """A twelfth of it."""
    return beginning(large_text, sentences=250)


def beginning(text: str, *, sentences: int) -> str:
    return "\n\n".join(text.split("\n\n")[:sentences]) + "\n\n"
