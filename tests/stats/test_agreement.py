"""Agreement: Krippendorff's own example, every pair of labels counted, and what must not matter."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deadheat.errors import InputError
from deadheat.kernels.statistics import agreement_sums
from deadheat.stats.agreement import alpha, alpha_by_group, lowest_agreement, majority, oracle

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section C: four observers, twelve units, labels 1
# to 5 and missing ones; he finds 0.743, and krippendorff 0.9.0 0.743421052631579.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
    [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
]

labels_of = hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(0, 7)), elements=st.integers(-1, 3))


def obvious_alpha(labels: list[list[int]]) -> float:
    """One less the share of differing pairs within items over that among all labels that can be compared."""
    items = [[label for label in item if label >= 0] for item in zip(*labels, strict=True)]
    items = [item for item in items if len(item) > 1]
    everything = [label for item in items for label in item]
    if not everything:
        return math.nan
    seen = sum(sum(a != b for a, b in permutations(item, 2)) / (len(item) - 1) for item in items) / len(everything)
    chance = sum(a != b for a, b in permutations(everything, 2)) / (len(everything) * (len(everything) - 1))
    return 1 - seen / chance if chance else 1.0


@st.composite
def grouped(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    labels = draw(labels_of)
    inner = draw(st.lists(st.integers(0, labels.shape[1]), max_size=4))
    return labels, [0, *sorted(inner), labels.shape[1]]


def test_the_published_example_gives_the_published_value() -> None:
    result = alpha(PUBLISHED)
    assert result.alpha == pytest.approx(0.743421052631579, abs=1e-14)
    assert (result.systems, result.items, result.compared, result.disagreeing, result.labels) == (4, 12, 11, 3, 5)
    assert str(result) == "Krippendorff's alpha 0.7434; 4 systems, 3 of 11 items disagreed on"


@given(labels_of)
def test_alpha_is_that_of_counting_every_pair(labels: np.ndarray) -> None:
    assert alpha(labels).alpha == pytest.approx(obvious_alpha(labels.tolist()), nan_ok=True, abs=1e-12)


@given(grouped())
def test_every_group_is_treated_as_if_alone(example: tuple[np.ndarray, list[int]]) -> None:
    labels, offsets = example
    result = alpha_by_group(labels, offsets)
    alone = [alpha(labels[:, first:last]) for first, last in pairwise(offsets)]
    assert result.alpha_G == pytest.approx([item.alpha for item in alone], nan_ok=True, abs=1e-15)
    assert result.compared_G.tolist() == [item.compared for item in alone]
    assert result.disagreeing_G.tolist() == [item.disagreeing for item in alone]


@given(labels_of, st.data())
def test_names_of_labels_and_the_order_of_systems_and_items_do_not_matter(
    labels: np.ndarray, data: st.DataObject
) -> None:
    before = alpha(labels).alpha
    renamed = np.array([*data.draw(st.permutations([7, 0, 2_000_000_000, 12])), -1])[labels]
    assert alpha(renamed).alpha == pytest.approx(before, nan_ok=True, abs=1e-12)
    systems = data.draw(st.permutations(range(labels.shape[0])))
    items = data.draw(st.permutations(range(labels.shape[1])))
    assert alpha(labels[systems][:, items]).alpha == pytest.approx(before, nan_ok=True, abs=1e-12)


@given(labels_of)
def test_a_system_that_labels_nothing_and_items_with_one_label_change_nothing(labels: np.ndarray) -> None:
    silent = np.full((1, labels.shape[1]), -1)
    single = np.full((len(labels), 1), -1)
    single[0] = 9
    assert alpha(np.concatenate([labels, silent])).alpha == pytest.approx(alpha(labels).alpha, nan_ok=True)
    assert alpha(np.concatenate([labels, single], axis=1)).alpha == pytest.approx(alpha(labels).alpha, nan_ok=True)


def test_codes_are_names_and_not_numbers() -> None:
    assert alpha([[0, 1, 2, 2], [0, 1, 2, 1]]).alpha == alpha([[0, 90, 2, 2], [0, 90, 2, 90]]).alpha
    assert alpha(np.array([[0, 1], [1, 0]], dtype=bool)).alpha == alpha([[0, 1], [1, 0]]).alpha == -0.5


def test_one_label_everywhere_is_full_agreement() -> None:
    assert alpha([[3, 3, 3], [3, -1, 3]]).alpha == 1
    # A label that stands alone cannot be compared, and so is no variation.
    assert alpha([[3, 3, 5], [3, 3, -1]]).alpha == 1


@pytest.mark.parametrize("labels", [[[1, 2, 3]], [[-1, -1], [-1, -1]], [[1, -1], [-1, 2]], [[], []]])
def test_without_two_labels_on_an_item_alpha_is_undefined_and_says_so(labels: list[list[int]]) -> None:
    result = alpha(np.array(labels, dtype=int))
    assert math.isnan(result.alpha)
    assert result.compared == 0
    assert "undefined (no item has two labels)" in str(result)


def test_groups_without_comparable_items_have_no_alpha() -> None:
    result = alpha_by_group([[0, 1, 0, 1], [0, 1, 1, -1]], [0, 2, 3, 3, 4])
    assert result.alpha_G[:2].tolist() == [1, 0]
    assert np.isnan(result.alpha_G[2:]).all()
    assert (result.compared_G.tolist(), result.disagreeing_G.tolist()) == ([2, 1, 0, 0], [0, 1, 0, 0])


def test_the_groups_disagreed_on_most_come_first() -> None:
    labels = [[0, 1, 2, 0, 1, 0, 1, 0, 1, 5, 6], [0, 1, 2, 1, 0, 0, 0, 1, 0, 5, 7]]
    # By hand, with 4 labels a pair of words: 2 of each, both words differ: 1 - 1 / (8/12); 3 and 1, one differs:
    # 1 - (1/2) / (6/12); 2, 1 and 1, one differs: 1 - (1/2) / (10/12).
    offsets = [0, 3, 5, 7, 9, 11]
    groups = alpha_by_group(labels, offsets)
    assert groups.alpha_G == pytest.approx([1, -0.5, 0, -0.5, 0.4])
    assert (groups.compared_G.tolist(), groups.disagreeing_G.tolist()) == ([3, 2, 2, 2, 2], [0, 2, 1, 2, 1])
    lowest = lowest_agreement(labels, offsets)
    assert lowest == [(group, groups.alpha_G[group]) for group in (1, 3, 2, 4)]
    assert lowest_agreement(labels, offsets, count=1) == lowest[:1]


def test_of_groups_with_the_same_alpha_the_one_with_more_disagreement_comes_first() -> None:
    # Where no label comes twice, all pairs differ within words and among all: 0, whatever the number of words.
    labels = [[0, 2, 3], [1, 4, 5]]
    result = alpha_by_group(labels, [0, 1, 3])
    assert result.alpha_G.tolist() == [0, 0]
    assert [group for group, _ in lowest_agreement(labels, [0, 1, 3])] == [1, 0]


@given(grouped(), st.integers(1, 4))
def test_the_lowest_are_those_of_sorting_all(example: tuple[np.ndarray, list[int]], count: int) -> None:
    labels, offsets = example
    result = alpha_by_group(labels, offsets)
    rows = zip(result.alpha_G.round(12).tolist(), (-result.disagreeing_G).tolist(), range(len(offsets)), strict=False)
    expected = sorted(row for row in rows if row[1])[:count]
    assert [group for group, _ in lowest_agreement(labels, offsets, count=count)] == [row[2] for row in expected]


def test_an_oracle_is_right_where_any_system_is() -> None:
    assert oracle([[True, False, False], [False, False, True]]).tolist() == [True, False, True]
    assert oracle(np.array([[1, 0]])).tolist() == [True, False]
    for wrong in ([True, False], [[2, 0]], [[0.5]], np.empty((0, 3))):
        with pytest.raises(InputError, match=r"oracle: an array of .*; expected right"):
            oracle(wrong)


def test_the_majority_decides_and_the_first_of_equals() -> None:
    labels = [[1, 4, 2, -1, -1, 5], [2, 3, 2, -1, 8, 6], [2, 3, 7, -1, 9, 6], [3, 4, 7, -1, -1, -1]]
    assert majority(labels).tolist() == [2, 4, 2, -1, 8, 6]


@given(labels_of)
def test_the_majority_is_that_of_counting_votes(labels: np.ndarray) -> None:
    for item, chosen in zip(labels.T.tolist(), majority(labels).tolist(), strict=True):
        votes = [label for label in item if label >= 0]
        assert chosen == (max(votes, key=votes.count) if votes else -1)


@settings(max_examples=20)
@given(grouped())
def test_the_kernel_in_plain_python_finds_the_same(example: tuple[np.ndarray, list[int]]) -> None:
    labels, offsets = example
    flat, bounds = labels.astype(np.int32).ravel(), np.array(offsets)
    outcomes = []
    for function in (agreement_sums, agreement_sums.python):
        room, agreeing, counts = np.zeros(8, int), np.empty(len(bounds) - 1), np.empty(5 * len(bounds) - 5, int)
        function(flat, len(labels), bounds, room, agreeing, counts)
        assert not room.any()
        outcomes.append((agreeing.tolist(), counts.tolist()))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0.0, 1.0]], "an array of float64 .*; expected integer codes"),
        ([["a", "b"]], "expected integer codes"),
        ([0, 1], r"shape \(2,\)"),
        ([[0, -2]], "code -2; expected -1 for no label"),
        ([[0, 2**31]], "code 2147483648"),
    ],
)
def test_what_is_no_label_is_refused(labels: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        alpha(np.array(labels))


@pytest.mark.parametrize("offsets", [[0, 1], [1, 3], [0, 2, 1, 3], [0, 4], [], [[0, 3]], [0.0, 3.0]])
def test_offsets_that_do_not_cover_the_items_are_refused(offsets: object) -> None:
    with pytest.raises(InputError, match="offsets: "):
        alpha_by_group([[0, 1, 2], [0, 1, 2]], np.array(offsets))


def test_none_of_the_lowest_is_no_question() -> None:
    with pytest.raises(InputError, match="count 0; expected at least 1"):
        lowest_agreement([[0], [1]], [0, 1], count=0)
