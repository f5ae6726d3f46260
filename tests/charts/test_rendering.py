"""A browser and the program that makes PDF and PNG of charts show the same."""

import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from deadheat.charts.chart import COLUMN, WIDE, Layout, Plot
from tests.charts.examples import curves, diagram, differences, matrix

Pixels = npt.NDArray[np.float64]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BLOCK = 6  # pixels a side: the edges of letters differ from program to program, their places do not

pytestmark = pytest.mark.slow


def pixels(png: bytes) -> Pixels:
    """Height, width and colour of a PNG with eight bits a channel."""
    at, parts, width, height, channels = 8, [], 0, 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        parts += [body] if kind == b"IDAT" else []
        at += 12 + length
    coded, size = zlib.decompress(b"".join(parts)), width * channels
    rows, before = [], bytes(size)
    for at in range(0, len(coded), size + 1):
        before = _unfiltered(coded[at], coded[at + 1 : at + 1 + size], before, channels)
        rows.append(before)
    found = np.frombuffer(b"".join(rows), np.uint8).reshape(height, width, channels)
    return found[:, :, :3].astype(np.float64)


def _unfiltered(kind: int, row: bytes, before: bytes, channels: int) -> bytes:
    """A row of bytes from what was stored of it, by one of the five filters of PNG."""
    if kind == 0:
        return row
    found, above = bytearray(channels) + row, bytes(channels) + before
    for i in range(channels, len(found)):
        left, up, corner = found[i - channels], above[i], above[i - channels]
        if kind == 4:
            apart = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = (left, up, corner)[apart.index(min(apart))]
        else:
            guess = (0, left, up, (left + up) // 2)[kind]
        found[i] = (found[i] + guess) & 255
    return bytes(found[channels:])


def blocks(image: Pixels) -> Pixels:
    high, wide = image.shape[0] // BLOCK, image.shape[1] // BLOCK
    cut = image[: high * BLOCK, : wide * BLOCK]
    means: Pixels = cut.reshape(high, BLOCK, wide, BLOCK, 3).mean(axis=(1, 3))
    return means


def in_a_browser(svg: str, size: tuple[int, int], folder: Path) -> Pixels:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    page, shot = folder / "chart.html", folder / "chart.png"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body style="margin:0">{svg}</body>', encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder / 'user'}"]
    window = f"--window-size={max(size[0], 500)},{size[1] + 200}"  # the window has a least size, and a bar at its top
    command = [program, *flags, window, f"--screenshot={shot}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return pixels(shot.read_bytes())[: size[1], : size[0]]


@pytest.mark.parametrize("layout", [WIDE, COLUMN], ids=["wide", "column"])
@pytest.mark.parametrize("make", [differences, matrix, diagram, curves])
def test_a_chart_looks_the_same_in_a_browser_and_in_print(
    make: Callable[[Sequence[str]], Plot], layout: Layout, tmp_path: Path
) -> None:
    converter = pytest.importorskip("vl_convert")
    svg = make(("biaffine", "pointer", "arc-hybrid", "2-planar")).draw(layout).svg(font=layout.font)
    printed = pixels(converter.svg_to_png(svg, scale=1))
    shown = in_a_browser(svg, (printed.shape[1], printed.shape[0]), tmp_path)
    apart = abs(blocks(printed) - blocks(shown))
    assert apart.mean() < 1.5
    # The same picture three pixels further down would be seen not to be the same.
    moved = abs(blocks(printed[3:]) - blocks(shown[:-3]))
    assert apart.max() < 40 < moved.max()
