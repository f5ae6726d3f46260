"""Colours are told apart by everybody, on both papers, and are strong enough to read."""

import math
import re
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from deadheat.charts import ranks
from deadheat.charts.comparisons import STRONGEST, STRONGEST_BARE
from deadheat.charts.drawing import DARK, LIGHT, PRINT, SERIES, SMALL, Theme, page_style, style, variables

Array = npt.NDArray[np.float64]

# Dichromats' vision, as matrices for linear RGB: Machado, Oliveira & Fernandes (2009), severity 1.0.
VISIONS: dict[str, list[list[float]]] = {
    "full": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
PAPERS = {"light": LIGHT, "dark": DARK, "print": PRINT}
papers = pytest.mark.parametrize("theme", PAPERS.values(), ids=PAPERS)
visions = pytest.mark.parametrize("vision", VISIONS.values(), ids=VISIONS)


def linear(colour: str) -> Array:
    """Linear RGB of a colour like #aabbcc (IEC 61966-2-1)."""
    coded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def contrast(a: Array, b: Array) -> float:
    """Contrast as WCAG 2 defines it."""
    dark, light = sorted(float(each @ np.array([0.2126, 0.7152, 0.0722])) for each in (a, b))
    return (light + 0.05) / (dark + 0.05)


def over(paper: str, fill: str, opacity: float) -> Array:
    """What one sees of a fill that lets the paper through; browsers mix the coded values."""
    mixed = [round(opacity * int(fill[i : i + 2], 16) + (1 - opacity) * int(paper[i : i + 2], 16)) for i in (1, 3, 5)]
    return linear("#" + "".join(f"{each:02x}" for each in mixed))


def lab(rgb: Array) -> Array:
    """CIELAB under D65."""
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: Array, other: Array) -> float:
    """CIEDE2000, after Sharma, Wu & Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one.tolist(), other.tolist()
    chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    grey = 1 + 0.5 * (1 - math.sqrt(chroma**7 / (chroma**7 + 25**7)))
    c1, c2 = math.hypot(grey * a1, b1), math.hypot(grey * a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, grey * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l, c = (l1 + l2) / 2, (c1 + c2) / 2  # noqa: E741 (the letters of the formula)
    h = (h1 + h2) / 2 if abs(h1 - h2) <= 180 else (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2
    h = h if c1 * c2 else h1 + h2
    waves = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63))
    t = 1 + sum(weight * math.cos(math.radians(times * h + shift)) for weight, times, shift in waves)
    lightness = (l2 - l1) / (1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2))
    strength, hue = (c2 - c1) / (1 + 0.045 * c), hue / (1 + 0.015 * c * t)
    tilt = -2 * math.sqrt(c**7 / (c**7 + 25**7)) * math.sin(math.radians(60 * math.exp(-(((h - 275) / 25) ** 2))))
    return math.sqrt(lightness**2 + strength**2 + hue**2 + tilt * strength * hue)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 3.1571, -77.2803), (50, 0, -82.7485), 2.8615),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (61, -5, 29), 22.8977),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
        ((50, -1, 2), (50, 0, 0), 2.3669),
    ],
)
def test_differences_of_colours_are_those_of_the_published_table(
    one: tuple[float, ...], other: tuple[float, ...], expected: float
) -> None:
    assert difference(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)
    assert difference(np.array(other), np.array(one)) == pytest.approx(expected, abs=1e-4)


def test_contrasts_and_simulated_vision_are_those_that_are_published() -> None:
    assert contrast(linear("#000000"), linear("#ffffff")) == pytest.approx(21)
    assert contrast(linear("#767676"), linear("#ffffff")) == pytest.approx(4.54, abs=0.005)
    for vision in VISIONS.values():  # white and grey stay as they are
        assert np.sum(vision, axis=1) == pytest.approx([1, 1, 1], abs=2e-6)
    orange, olive, green_blind = linear("#c2510b"), linear("#8a6d00"), np.array(VISIONS["deuteranopia"])
    assert difference(lab(orange), lab(olive)) > 20
    assert difference(lab(green_blind @ orange), lab(green_blind @ olive)) < 5


@papers
@visions
def test_series_are_told_apart_with_any_eyes_and_the_first_four_with_ease(
    theme: Theme, vision: list[list[float]]
) -> None:
    seen = [lab(np.array(vision) @ linear(theme[f"s{i}"])) for i in range(SERIES)]
    apart = {(a, b): difference(seen[a], seen[b]) for a, b in combinations(range(SERIES), 2)}
    assert min(apart.values()) >= 10, min(apart, key=lambda pair: apart[pair])
    assert min(value for (_, b), value in apart.items() if b < 4) >= 12


@papers
@visions
def test_gain_and_loss_are_told_apart_with_any_eyes(theme: Theme, vision: list[list[float]]) -> None:
    for opacity in (0.25, STRONGEST, 1.0):
        gain, loss = (np.array(vision) @ over(theme["paper"], theme[name], opacity) for name in ("gain", "loss"))
        assert difference(lab(gain), lab(loss)) >= 12


@papers
@pytest.mark.parametrize("name", ["ink", "soft", "mark", "gain", "loss", *(f"s{i}" for i in range(SERIES))])
def test_every_colour_of_words_and_marks_can_be_read_on_its_paper(theme: Theme, name: str) -> None:
    assert contrast(linear(theme[name]), linear(theme["paper"])) >= 4.5


@papers
def test_words_can_be_read_and_marks_are_seen_on_every_fill(theme: Theme) -> None:
    ink = linear(theme["ink"])
    fills = [(theme["tint"], 1.0), (theme["line"], 1.0), (theme["gain"], STRONGEST), (theme["loss"], STRONGEST)]
    fills += [(theme["mark"], 0.16), (theme["mark"], ranks.STRONGEST)]
    for fill, opacity in fills:
        assert contrast(ink, over(theme["paper"], fill, opacity)) >= 4.5, fill
    for fill in ("gain", "loss"):
        assert contrast(ink, over(theme["paper"], theme[fill], STRONGEST_BARE)) >= 3
    assert contrast(linear(theme["mark"]), linear(theme["tint"])) >= 3


def test_print_has_rules_for_classes_alone_and_no_variables() -> None:
    rules = style(PRINT, 10)
    assert "var(" not in rules
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", rules)
    assert "".join(re.findall(r"[^{}]+\{[^{}]*\}", rules)) == rules
    assert all(re.fullmatch(r"\.chart (\.[a-z]+\d?|text)", each) for each in selectors)
    assert len(set(selectors)) == len(selectors)


def test_a_page_has_the_same_rules_with_variables_for_all_that_a_theme_sets() -> None:
    page, printed = page_style(), style(PRINT, 13)
    assert not re.search(r"#[0-9a-f]{6}", page)
    assert set(re.findall(r"var\(--([a-z]+\d?)\)", page)) <= set(LIGHT)
    for name, colour in PRINT.items():
        page = page.replace(f"var(--{name})", colour)
    page = page.replace(f"calc(var(--chart-font,13px)*{SMALL})", "11.31px").replace("var(--chart-font,13px)", "13px")
    assert page == printed
    names = [re.findall(r"--([a-z]+\d?):#[0-9a-f]{6};", variables(theme)) for theme in (LIGHT, DARK)]
    assert names[0] == names[1] == list(LIGHT)
