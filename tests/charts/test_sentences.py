"""Words with the labels of gold and of systems: all of it is shown, and what is wrong is seen without colour."""

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.charts.chart import COLUMN, WIDE, Chart, Layout
from deadheat.charts.sentences import MOST_WORDS, LabelledSentence, SystemLabels, TagRows
from deadheat.errors import InputError
from tests.charts.svg_reading import Box, assert_sound, boxes, cells, layouts, said, texts

WORDS = "A silver lining for the savings institutions .".split()
GOLD = "DT NN NN IN DT NNS NNS .".split()
LINING = [*GOLD[:2], "VBG", *GOLD[3:]]  # the example of Gorman & Bedrick (2019), section 3.4


def labelled(words: Sequence[str], gold: Sequence[str], systems: Mapping[str, Sequence[str]]) -> LabelledSentence:
    rows = tuple(SystemLabels(name, tuple(labels)) for name, labels in systems.items())
    return LabelledSentence(tuple(words), tuple(gold), rows)


def tag_rows(words: Sequence[str], gold: Sequence[str], systems: Mapping[str, Sequence[str]], layout: Layout) -> Chart:
    return TagRows(labelled(words, gold, systems), title="Tags").draw(layout)


def drawn(systems: dict[str, list[str]], layout: Layout = WIDE) -> Chart:
    return tag_rows(WORDS, GOLD, systems, layout)


def made_up(count: int, wrong: set[int]) -> tuple[list[str], list[str], list[str]]:
    """Words, gold, and a system that is wrong at some positions."""
    rng = random.Random(count)
    words = [f"{''.join(rng.choices('abcdefghij', k=rng.randint(1, 14)))}{i}" for i in range(count)]
    gold = rng.choices(["NOUN", "VERB", "X"], k=count)
    return words, gold, ["WRONG" if i in wrong else label for i, label in enumerate(gold)]


def lines(found: list[Box]) -> list[list[Box]]:
    """Words by the line they stand on, from the top, each from the left."""
    levels = sorted({box.bottom for box in found})
    return [sorted((box for box in found if box.bottom == level), key=lambda box: box.left) for level in levels]


def words_of(chart: Chart, layout: Layout) -> list[Box]:
    """The words themselves, which tell their positions."""
    return [box for box in texts(chart, layout) if box.tooltip.partition(":")[0].isdigit()]


@layouts
@pytest.mark.parametrize(("systems", "count"), [(0, 1), (1, 8), (5, 8), (26, 8), (2, 60), (2, 100)])
def test_sentences_of_any_length_fit_the_layout_and_no_words_cover_others(
    layout: Layout, systems: int, count: int
) -> None:
    words, gold, guess = made_up(count, {0, count // 2})
    chart = tag_rows(words, gold, {f"system {i}": guess for i in range(systems)}, layout)
    assert_sound(chart, layout)
    assert chart.width == layout.width


@layouts
def test_every_word_stands_in_reading_order_over_the_labels_of_all(layout: Layout) -> None:
    chart = drawn({"a": LINING, "b": GOLD}, layout)
    shown = [box for line in lines(words_of(chart, layout)) for box in line]
    assert [box.content for box in shown] == WORDS
    for word, gold, guess in zip(shown, GOLD, LINING, strict=True):
        below = [box for box in texts(chart, layout) if box.left == word.left and box.top > word.bottom]
        assert [box.content for box in sorted(below, key=lambda box: box.top)][:3] == [gold, guess, gold]


def underlined(chart: Chart, layout: Layout) -> list[Box]:
    rules = [box for box in boxes(chart, layout) if box.tag == "rect"]
    return [
        box
        for box in texts(chart, layout)
        if any(
            abs(rule.left - box.left) < 1 and 0 < rule.top - box.bottom + 0.3 * layout.font < 0.5 * layout.font
            for rule in rules
        )
    ]


@layouts
def test_wrong_labels_are_bold_and_underlined_and_right_ones_are_not(layout: Layout) -> None:
    chart = drawn({"a": LINING, "b": GOLD}, layout)
    wrong = [box for box in texts(chart, layout) if "wrong" in box.tooltip]
    assert [(box.content, box.tooltip) for box in wrong] == [("VBG", "a: lining VBG, wrong; gold is NN")]
    assert [box for box in texts(chart, layout) if "strong" in box.kinds] == wrong
    assert underlined(chart, layout) == wrong


@layouts
def test_names_are_repeated_on_every_line(layout: Layout) -> None:
    words, gold, guess = made_up(40, {3})
    chart = tag_rows(words, gold, {"a": guess}, layout)
    rows = len(lines(words_of(chart, layout)))
    assert rows > 1
    assert said(chart, layout).count("gold") == rows


def shown_positions(chart: Chart) -> list[int]:
    return sorted(int(box.tooltip.partition(":")[0]) - 1 for box in words_of(chart, WIDE))


@given(st.integers(MOST_WORDS + 1, 130), st.data())
@settings(max_examples=40)
def test_of_long_sentences_the_stretch_with_the_most_mistakes_is_shown(count: int, data: st.DataObject) -> None:
    wrong = data.draw(st.sets(st.integers(0, count - 1), max_size=8))
    words, gold, guess = made_up(count, wrong)
    chart = tag_rows(words, gold, {"a": guess}, WIDE)
    shown = shown_positions(chart)
    assert shown == list(range(shown[0], shown[0] + MOST_WORDS))
    best = max(len(wrong & set(range(start, start + MOST_WORDS))) for start in range(count - MOST_WORDS + 1))
    assert len(wrong & set(shown)) == best
    assert f"Only words {shown[0] + 1} to {shown[-1] + 1} are drawn" in chart.description
    assert len(chart.rows) == count
    gaps = [box for box in texts(chart, WIDE) if box.content == "…"]
    assert len(gaps) == (shown[0] > 0) + (shown[-1] < count - 1)


def test_mistakes_close_together_are_in_the_middle_of_the_stretch() -> None:
    words, gold, guess = made_up(120, {59, 60})
    shown = shown_positions(tag_rows(words, gold, {"a": guess}, WIDE))
    assert (shown[0], shown[-1]) == (30, 89)


@layouts
def test_sentences_of_right_to_left_scripts_run_from_right_to_left(layout: Layout) -> None:
    words = "قرأ الولد الكتاب في المدرسة".split()
    gold = "VERB NOUN NOUN ADP NOUN".split()
    chart = tag_rows(words, gold, {"a": [*gold[:4], "ADJ"]}, layout)
    assert_sound(chart, layout)
    shown = [box.content for line in lines(words_of(chart, layout)) for box in reversed(line)]
    assert shown == words
    assert chart.description.endswith("Words run from right to left.")
    assert "right to left" not in drawn({"a": GOLD}).description


def test_every_label_stands_in_the_table() -> None:
    rows = cells(drawn({"a": LINING, "b": GOLD}))
    assert [row["word"] for row in rows] == WORDS
    assert [row["gold"] for row in rows] == [row["b"] for row in rows] == GOLD
    assert [row["a"] for row in rows] == LINING
    assert [row["position"] for row in rows] == [str(i) for i in range(1, 9)]


def test_the_description_tells_the_mistakes() -> None:
    assert drawn({"a": LINING, "b": GOLD}).description == (
        "8 words. a is wrong on 1 word: lining VBG for NN. b makes no mistakes."
    )
    many = drawn({"c": ["X"] * 8}, COLUMN).description
    assert many.count("X for") == 5
    assert many.endswith("3 more.")


def test_a_system_may_be_called_gold() -> None:
    chart = drawn({"gold": LINING})
    assert [box.content for box in texts(chart, WIDE) if "strong" in box.kinds] == ["VBG"]


@pytest.mark.parametrize(
    ("gold", "systems", "message"),
    [
        (GOLD[:-1], {}, "gold: 7 labels for 8 words; expected one label per word"),
        (GOLD, {"a": [*GOLD, "X"]}, "a: 9 labels for 8 words; expected one label per word"),
    ],
)
def test_labels_that_do_not_fit_the_words_are_refused(
    gold: list[str], systems: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        tag_rows(WORDS, gold, systems, WIDE)
