"""One browser for all tests of a process: Playwright does not start twice in one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def no_browser(why: str) -> NoReturn:
    """Skip, except where tests run unattended on a machine that could have a browser."""
    if os.environ.get("CI") and shutil.which("apt-get"):
        pytest.fail(f"{why}; .ci/run installs it", pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it; none is ever downloaded."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        no_browser("the package playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        no_browser(f"no browser: none of {', '.join(BROWSERS)} is installed")
    with sync_playwright() as player:
        started = player.chromium.launch(executable_path=program)
        yield started
        started.close()
