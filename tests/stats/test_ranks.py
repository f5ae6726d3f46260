"""Systems over data sets: a published table, scipy, scikit-posthocs, every clique, and tables with holes."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deadheat.errors import InputError, NameUnknown
from deadheat.stats import ranks as ranks_module
from deadheat.stats.corrections import holm
from deadheat.stats.differences import signed_rank_rows
from deadheat.stats.ranks import (
    critical_difference,
    friedman,
    nemenyi,
    studentized_range_quantile,
    studentized_range_tail,
    wilcoxon_holm,
)

# Demšar (2006), table 6: AUC of C4.5, with m, cf, and both tuned, on 14 data sets. His ranks tell 0.975 and 0.975 of
# voting apart, which must have differed in a fourth digit.
DEMSAR = np.array(
    [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
    ]
)
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
HOLED = np.where(DEMSAR == 0.625, np.nan, DEMSAR)

tables = hnp.arrays(float, st.tuples(st.integers(2, 5), st.integers(2, 6)), elements=st.integers(0, 4).map(float))


def test_the_published_table_gives_the_published_ranks_and_distances() -> None:
    result = nemenyi(DEMSAR, names=NAMES)
    assert result.average_ranks_S.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    assert nemenyi(DEMSAR, alpha=0.1).critical_difference == pytest.approx(1.12, abs=0.005)
    # "The difference between the best and the worst is already smaller than that": no pair differs at 0.05.
    assert str(result) == "nemenyi: 0 of 6 pairs differ at 0.05, critical difference 1.254; 14 data sets"


def test_the_published_critical_values() -> None:
    # Demšar (2006), table 5a; his 2.343 for three is 2.3437.
    published = {2: 1.960, 3: 2.344, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    for systems, value in published.items():
        assert studentized_range_quantile(0.05, systems) / math.sqrt(2) == pytest.approx(value, abs=0.0015)


@pytest.mark.parametrize("groups", [2, 3, 10, 40])
def test_scipy_has_the_same_studentized_range(groups: int) -> None:
    from scipy.stats import studentized_range

    quantiles = np.array([0.0, 0.5, 1, 2, 3.3, 4, 6, 8])
    expected = studentized_range.sf(quantiles, groups, np.inf)
    assert studentized_range_tail(quantiles, groups) == pytest.approx(expected, abs=1e-13)
    for alpha in (0.5, 0.05, 0.001):
        assert studentized_range_tail(studentized_range_quantile(alpha, groups), groups) == pytest.approx(alpha)


def test_the_range_of_two_is_the_normal_distribution_far_into_its_tail() -> None:
    for quantile in (0.1, 1, 5, 12, 30, 50):
        assert studentized_range_tail(quantile, 2) == pytest.approx(math.erfc(quantile / 2), rel=1e-12)
    assert studentized_range_tail([100.0], 2).tolist() == [0]


def test_scikit_posthocs_finds_the_same_pairs() -> None:
    # scikit-posthocs 0.17.1: `posthoc_nemenyi_friedman(DEMSAR.T)`
    expected = [
        [1.0, 0.0886727093, 0.9561771752, 0.0741847951],
        [0.0886727093, 1.0, 0.2592280702, 0.9998594494],
        [0.9561771752, 0.2592280702, 1.0, 0.226696886],
        [0.0741847951, 0.9998594494, 0.226696886, 1.0],
    ]
    assert nemenyi(DEMSAR).p_values_SS.tolist() == [pytest.approx(row, abs=1e-9) for row in expected]


def test_scikit_posthocs_corrects_the_same_signed_rank_tests() -> None:
    # scikit-posthocs 0.17.1: `posthoc_wilcoxon(melted, p_adjust="holm", zero_method="wilcox", method="approx")`,
    # upper triangle. It ranks differences with their rounding errors, so here they are not taken away either.
    expected = [0.06454279872, 0.8612623301, 0.07937179654, 0.1629861410, 0.6556513517, 0.1209037532]
    first, second = np.triu_indices(4, 1)
    tests = signed_rank_rows(DEMSAR[first] - DEMSAR[second], method="normal")
    assert holm([test.p for test in tests]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kinds", [4, 10**9], ids=["ties", "no ties"])
@pytest.mark.parametrize(("systems", "data_sets"), [(3, 4), (4, 14), (26, 10)])
def test_scipy_finds_the_same_chi_square(systems: int, data_sets: int, kinds: int) -> None:
    from scipy import stats

    table = np.random.default_rng(systems).integers(0, kinds, (systems, data_sets)).astype(float)
    result, other = friedman(table), stats.friedmanchisquare(*table)
    assert (result.chi_square, result.p_chi_square) == pytest.approx((other.statistic, other.pvalue), rel=1e-10)
    f = (data_sets - 1) * result.chi_square / (data_sets * (systems - 1) - result.chi_square)
    p = stats.f.sf(f, systems - 1, (systems - 1) * (data_sets - 1))
    assert result.f == pytest.approx(f, rel=1e-10)
    assert result.method == ("exact" if systems < 26 else "iman-davenport")
    assert systems < 26 or result.p == pytest.approx(p, rel=1e-10)


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3, 1 2 3, 1 3 2, 2 1 3: sums 5, 8, 11, so χ² = 12/(4·3·4) (25 + 64 + 121) - 3·4·4 = 4.5, F = 3·4.5/3.5.
    table = [[3, 3, 3, 2], [2, 2, 1, 3], [1, 1, 2, 1]]
    result = friedman(table)
    assert result.average_ranks_S.tolist() == [1.25, 2.0, 2.75]
    assert (result.chi_square, result.f) == pytest.approx((4.5, 3 * 4.5 / 3.5))
    assert result.p_chi_square == pytest.approx(math.exp(-4.5 / 2))


def share_of_arrangements(table: np.ndarray) -> float:
    """The share of all arrangements of scores within each data set whose chi-square is at least as great."""
    observed = friedman(table).chi_square
    orders = [list(permutations(column)) for column in table.T]
    values = [friedman(np.array(columns).T).chi_square for columns in product(*orders)]
    return float(np.mean(np.array(values) >= observed - 1e-9))


@pytest.mark.parametrize(("systems", "data_sets"), [(2, 7), (3, 4), (4, 2)])
@pytest.mark.parametrize("kinds", [3, 10**9], ids=["ties", "no ties"])
def test_p_is_the_share_of_all_arrangements(systems: int, data_sets: int, kinds: int) -> None:
    table = np.random.default_rng(systems + data_sets).integers(0, kinds, (systems, data_sets)).astype(float)
    result = friedman(table)
    assert result.method == "exact"
    assert result.p == pytest.approx(share_of_arrangements(table), rel=1e-10)


def test_exact_p_values_are_those_of_published_tables() -> None:
    """Siegel and Castellan (1988), table M: 6.5 with 3 systems on 4 data sets, 8.2 with 4 systems on 3."""
    three, four = (
        friedman([[9, 8, 9, 7], [8, 7, 8, 8], [7, 6, 5, 6]]),
        friedman([[4, 4, 4], [3, 3, 2], [2, 2, 3], [1, 1, 1]]),
    )
    assert (three.chi_square, three.p) == pytest.approx((6.5, 0.0417), abs=1e-4)
    assert (four.chi_square, four.p) == pytest.approx((8.2, 0.0174), abs=1e-4)


def test_one_swap_in_six_data_sets_is_not_as_rare_as_f_says() -> None:
    swapped = friedman([[3] * 6, [2] * 5 + [1], [1] * 5 + [2]])
    from scipy.special import fdtrc

    assert fdtrc(2, 10, swapped.f) == pytest.approx(5.2e-05, rel=0.01)
    # Of 6^6 arrangements, 6 rank all alike, and 6 * 6 * 2 swap two neighbours once: 78 / 46,656.
    assert swapped.p == pytest.approx(78 / 6**6)


def test_a_large_table_is_tested_by_f() -> None:
    table = np.random.default_rng(0).normal(size=(4, 26))
    assert friedman(table[:, :25]).method == "exact"
    assert friedman(table).method == "iman-davenport"
    assert "exact p" in str(friedman(table[:, :25]))
    assert critical_difference(table).friedman_method == "Iman and Davenport's form"
    assert critical_difference(table[:, :25]).friedman_method == "exact"


def test_data_sets_that_all_rank_alike_have_an_infinite_f_and_the_chance_of_that_as_p() -> None:
    result = friedman([[3, 5, 9], [2, 4, 8], [1, 1, 1]])
    assert (result.chi_square, result.f) == (6, math.inf)
    assert result.p == pytest.approx(1 / 6**2)
    # With two of the three tied there are three orders.
    assert friedman([[3, 5, 9], [2, 4, 8], [2, 4, 8]]).p == pytest.approx(1 / 3**2)


def test_systems_tied_everywhere_do_not_differ() -> None:
    table = np.ones((3, 4))
    result = friedman(table)
    assert (result.chi_square, result.p_chi_square, result.f, result.p) == (0, 1, 0, 1)
    for method in ("nemenyi", "wilcoxon-holm"):
        diagram = critical_difference(table, names=["a", "b", "c"], method=method)
        assert diagram.cliques == (("a", "b", "c"),)
        assert (diagram.pairs.p_values_SS == 1).all()


def test_a_diagram_holds_ranks_distance_and_cliques() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(4, 30)) + np.array([[0.0], [0.1], [3.0], [3.1]])
    diagram = critical_difference(table, names=["a", "b", "c", "d"])
    assert {frozenset(clique) for clique in diagram.cliques} == {frozenset("ab"), frozenset("cd")}
    assert diagram.pairs.critical_difference == nemenyi(table).critical_difference
    assert diagram.pairs.average_ranks_S.tolist() == friedman(table).average_ranks_S.tolist()
    assert str(diagram).startswith("average ranks: ")
    other = critical_difference(table, names=["a", "b", "c", "d"], method="wilcoxon-holm")
    assert other.cliques == diagram.cliques
    assert other.pairs.critical_difference is None


@given(tables, st.sampled_from([0.05, 0.3, 0.7]))
def test_by_nemenyi_a_clique_is_a_stretch_of_ranks_within_the_distance(table: np.ndarray, alpha: float) -> None:
    names = [str(i) for i in range(len(table))]
    diagram = critical_difference(table, names=names, alpha=alpha)
    ranks, distance = diagram.pairs.average_ranks_S, diagram.pairs.critical_difference
    assert distance is not None
    ordered = sorted(range(len(table)), key=lambda i: ranks[i])
    stretches = [ordered[i:j] for i, j in combinations(range(len(ordered) + 1), 2) if j - i > 1]
    within = [{names[i] for i in s} for s in stretches if ranks[s[-1]] - ranks[s[0]] < distance - 1e-9]
    maximal = [s for s in within if not any(s < other for other in within)]
    assert sorted(map(sorted, diagram.cliques)) == sorted(map(sorted, maximal))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_cliques_are_those_of_trying_every_set_whichever_systems_are_alike(size: int) -> None:
    pairs = list(combinations(range(size), 2))
    sets = [set(s) for n in range(2, size + 1) for s in combinations(range(size), n)]
    worst_first = np.arange(size)[::-1]
    for chosen in product([False, True], repeat=len(pairs)):
        alike = np.eye(size, dtype=bool)
        for (i, j), is_alike in zip(pairs, chosen, strict=True):
            alike[i, j] = alike[j, i] = is_alike
        whole = [s for s in sets if all(alike[i, j] for i, j in combinations(s, 2))]
        maximal = [s for s in whole if not any(s < other for other in whole)]
        result = ranks_module._cliques(alike, worst_first)
        assert sorted(map(sorted, result)) == sorted(map(sorted, maximal))
        assert all(list(clique) == sorted(clique, reverse=True) for clique in result)
        assert result == sorted(result, reverse=True)


def test_too_many_cliques_are_refused_and_not_listed_forever() -> None:
    alike = np.ones((60, 60), dtype=bool)
    for i in range(0, 60, 2):
        alike[i, i + 1] = alike[i + 1, i] = False
    with pytest.raises(InputError, match="more than 1000 groups"):
        ranks_module._cliques(alike, np.arange(60))


@given(tables, st.data())
def test_the_order_of_systems_and_data_sets_does_not_matter(table: np.ndarray, data: st.DataObject) -> None:
    systems = data.draw(st.permutations(range(table.shape[0])))
    data_sets = data.draw(st.permutations(range(table.shape[1])))
    moved = table[systems][:, data_sets]
    assert friedman(moved).p == pytest.approx(friedman(table).p, rel=1e-12)
    for compare in (nemenyi, wilcoxon_holm):
        before, after = compare(table).p_values_SS, compare(moved).p_values_SS
        assert np.allclose(after, before[systems][:, systems], rtol=1e-12, atol=0)
        assert (after == after.T).all()


@given(tables)
def test_ranks_do_not_see_how_scores_are_stretched_within_a_data_set(table: np.ndarray) -> None:
    stretched = table**3 + np.arange(table.shape[1])
    assert friedman(stretched).f == friedman(table).f
    assert nemenyi(stretched).p_values_SS.tolist() == nemenyi(table).p_values_SS.tolist()


def test_a_missing_score_is_named_or_its_data_set_dropped() -> None:
    sets = [f"set{i}" for i in range(14)]
    message = r"score of C4\.5\+m\+cf on set7: missing; expected one, or missing='drop'"
    for function in (friedman, nemenyi, wilcoxon_holm, critical_difference):
        with pytest.raises(InputError, match=message):
            function(HOLED, names=NAMES, datasets=sets)
    with pytest.raises(InputError, match=r"system 4 on data set 8: missing"):
        friedman(HOLED)
    whole = np.delete(DEMSAR, 7, axis=1)
    for compare in (nemenyi, wilcoxon_holm):
        result = compare(HOLED, missing="drop")
        assert result.p_values_SS.tolist() == compare(whole).p_values_SS.tolist()
        assert (result.data_sets, result.dropped) == (13, 1)
        assert str(result).endswith("13 data sets, 1 dropped")
    assert friedman(HOLED, missing="drop").f == friedman(whole).f


def test_several_missing_scores_are_counted() -> None:
    with pytest.raises(InputError, match=r"system 1 on data set 2 \(and 1 more\): missing"):
        friedman([[1, math.nan, 3], [1, 2, math.nan]])
    with pytest.raises(InputError, match="no data set has scores of all systems"):
        friedman([[1.0, math.nan], [math.nan, 1.0]], missing="drop")
    with pytest.raises(InputError, match="1 data sets with all scores; expected at least 2"):
        friedman([[1.0, math.nan], [2.0, 1.0]], missing="drop")


def test_an_infinite_score_is_refused_even_when_missing_ones_are_dropped() -> None:
    with pytest.raises(InputError, match="score of system 2 on data set 1: inf; expected a finite number"):
        friedman(np.array([[1, math.nan, 3], [math.inf, 2, 3]]), missing="drop")


@pytest.mark.parametrize("table", [[1, 2, 3], [[1, 2, 3]], [[], []], [[[1]]]])
def test_what_is_no_table_is_refused(table: object) -> None:
    with pytest.raises(InputError, match="expected two or more systems in rows"):
        nemenyi(np.array(table, dtype=float))


def test_names_and_settings_are_checked() -> None:
    with pytest.raises(InputError, match="system names: 2 different ones; expected 4"):
        nemenyi(DEMSAR, names=["a", "b"])
    with pytest.raises(InputError, match="data set names"):
        nemenyi(DEMSAR, datasets=["a"])
    with pytest.raises(NameUnknown, match="did you mean 'drop'"):
        nemenyi(DEMSAR, missing="dropp")
    with pytest.raises(NameUnknown, match="did you mean 'nemenyi'"):
        critical_difference(DEMSAR, method="nemeny")
    for function in (nemenyi, wilcoxon_holm, critical_difference):
        with pytest.raises(InputError, match=r"alpha 5\.0; expected between 0 and 1"):
            function(DEMSAR, alpha=5.0)


@pytest.mark.parametrize("compare", [nemenyi, wilcoxon_holm])
def test_equal_systems_seldom_differ_significantly(compare: object) -> None:
    assert callable(compare)
    rng = np.random.default_rng(11)
    alarms = sum(bool((compare(rng.normal(size=(5, 12))).p_values_SS <= 0.05).any()) for _ in range(400))
    # Binomial with 400 trials and 0.05: beyond 34 has chance 0.001.
    assert alarms <= 34
