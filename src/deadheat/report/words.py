"""What tests, corrections and metrics are called in running text."""

from __future__ import annotations

from deadheat.errors import InputError
from deadheat.text import pluralize

TESTS = {
    "mcnemar-midp": "McNemar's test (mid-p)",
    "mcnemar-exact": "McNemar's exact test",
    "bootstrap": "the paired bootstrap",
    "randomization": "approximate randomization",
    "permutation-exact": "the exact permutation test",
    "sign": "the sign test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
CORRECTIONS = {
    "bonferroni": "Bonferroni's method",
    "holm": "Holm's method",
    "bh": "Benjamini and Hochberg's method",
}
RANK_TESTS = {
    "nemenyi": "Nemenyi's test (Demšar 2006)",
    "wilcoxon-holm": "Wilcoxon's test of every pair, corrected by Holm's method",
}


def name_of_test(test: str) -> str:
    """A test, or several of which the data decided.

    Examples
    --------
    >>> name_of_test("permutation-exact"), name_of_test("sign/wilcoxon"), name_of_test("other")
    ('the exact permutation test', "the sign test or Wilcoxon's signed-rank test", 'other')
    """
    return " or ".join(TESTS.get(name, name) for name in test.split("/"))


def unit_of_test(test: str) -> str:
    """What a test of two systems on a split treats as independent: McNemar's words, all others sentences."""
    return "words" if test.startswith("mcnemar") else "sentences"


def test_with_unit(test: str) -> str:
    """A test of a study, or several of which the data decided, with the unit of each.

    Examples
    --------
    >>> test_with_unit("sign/wilcoxon")
    "the sign test or Wilcoxon's signed-rank test on sentences"
    >>> test_with_unit("mcnemar-midp/bootstrap")
    "McNemar's test (mid-p) on words or the paired bootstrap on sentences"
    """
    names = test.split("/")
    if len({unit_of_test(name) for name in names}) == 1:
        return f"{name_of_test(test)} on {unit_of_test(names[0])}"
    return " or ".join(f"{name_of_test(name)} on {unit_of_test(name)}" for name in names)


def correction_words(correction: str, tests: int | None, *, noun: str = "test") -> str:
    """How p-values were corrected, for how many tests; None where that is not one number.

    Examples
    --------
    >>> correction_words("holm", 6), correction_words("none", 6), correction_words("holm", 1)
    ("corrected by Holm's method for 6 tests", 'not corrected for 6 tests', 'of a single test')
    """
    if tests == 1:
        return f"of a single {noun}"
    many = f"the number of {noun}s" if tests is None else pluralize(tests, noun)
    method = CORRECTIONS.get(correction, correction)
    return f"not corrected for {many}" if correction == "none" else f"corrected by {method} for {many}"


def metric_label(name: str) -> str:
    """A metric as people call it.

    Examples
    --------
    >>> metric_label("las.v1"), metric_label("accuracy.v1(column='xpos')"), metric_label("gleam.v2(k=3)")
    ('LAS', 'Accuracy (xpos)', 'gleam')
    """
    from deadheat.metrics import METRICS

    try:
        return METRICS.make(name).label
    except InputError:  # a metric of somebody else's, or the name of a column
        return name.partition(".v")[0] if ".v" in name else name
