"""A browser and the program that makes PDF and PNG of charts show the same."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from deadheat.charts.chart import COLUMN, WIDE, Layout, Plot
from tests.charts.examples import curves, diagram, differences, matrix

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BLOCK = 6  # pixels a side: the edges of letters differ from program to program, their positions do not
PIXELS = """async source => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const reader = new FileReader();
    reader.readAsDataURL(new Blob([canvas.getImageData(0, 0, image.width, image.height).data]));
    await new Promise(done => { reader.onload = done; });
    return [image.height, image.width, reader.result];
}"""

pytestmark = pytest.mark.slow


def pixels(page: Page, kind: str, data: bytes) -> npt.NDArray[np.float64]:
    """Height, width and colour of an image, as the browser shows it."""
    height, width, url = page.evaluate(PIXELS, f"data:image/{kind};base64,{base64.b64encode(data).decode()}")
    values = np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8)
    return values.reshape(height, width, 4)[:, :, :3].astype(np.float64)


def blocks(image: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    high, wide = image.shape[0] // BLOCK, image.shape[1] // BLOCK
    cut = image[: high * BLOCK, : wide * BLOCK]
    return np.asarray(cut.reshape(high, BLOCK, wide, BLOCK, 3).mean(axis=(1, 3)))


@pytest.mark.parametrize("layout", [WIDE, COLUMN], ids=["wide", "column"])
@pytest.mark.parametrize("make", [differences, matrix, diagram, curves])
def test_a_chart_looks_the_same_in_a_browser_and_in_print(
    make: Callable[[Sequence[str]], Plot], layout: Layout, browser: Browser
) -> None:
    converter = pytest.importorskip("vl_convert")
    svg = make(("biaffine", "pointer", "arc-hybrid", "2-planar")).draw(layout).svg(font=layout.font)
    page = browser.new_page()
    printed = pixels(page, "png", converter.svg_to_png(svg, scale=1))
    shown = pixels(page, "svg+xml", svg.encode())[: len(printed), : printed.shape[1]]
    page.close()
    apart = abs(blocks(printed) - blocks(shown))
    assert apart.mean() < 1.5
    # The same picture three pixels further down would be seen not to be the same.
    moved = abs(blocks(printed[3:]) - blocks(shown[:-3]))
    assert apart.max() < 40 < moved.max()
