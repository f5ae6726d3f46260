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


def named_tests(test: str) -> str:
    """A test, or several between which the data decided.

    Examples
    --------
    >>> named_tests("permutation-exact"), named_tests("sign/wilcoxon"), named_tests("other")
    ('the exact permutation test', "the sign test or Wilcoxon's signed-rank test", 'other')
    """
    return " or ".join(TESTS.get(each, each) for each in test.split("/"))


def unit_of_test(test: str) -> str:
    """What a test of two systems on a split takes for independent: McNemar's words, all others sentences.

    Examples
    --------
    >>> unit_of_test("mcnemar-midp"), unit_of_test("sign")
    ('words', 'sentences')
    """
    return "words" if test.startswith("mcnemar") else "sentences"


def named_on_units(test: str) -> str:
    """A test of a study, or several between which the data decided, with the unit of each.

    Examples
    --------
    >>> named_on_units("sign/wilcoxon"), named_on_units("other")
    ("the sign test or Wilcoxon's signed-rank test on sentences", 'other on sentences')
    >>> named_on_units("mcnemar-midp/bootstrap")
    "McNemar's test (mid-p) on words or the paired bootstrap on sentences"
    """
    names = test.split("/")
    if len({unit_of_test(each) for each in names}) == 1:
        return f"{named_tests(test)} on {unit_of_test(names[0])}"
    return " or ".join(f"{named_tests(each)} on {unit_of_test(each)}" for each in names)


def corrected_words(correction: str, tests: int | None, *, over: str = "test") -> str:
    """How p-values were corrected, for how many tests; None where that is not one number.

    Examples
    --------
    >>> corrected_words("holm", 6), corrected_words("bonferroni", 20, over="split")
    ("corrected by Holm's method for 6 tests", "corrected by Bonferroni's method for 20 splits")
    >>> corrected_words("none", 6), corrected_words("holm", 1), corrected_words("bonferroni", None, over="split")
    ('not corrected for 6 tests', 'of a single test', "corrected by Bonferroni's method for the number of splits")
    """
    if tests == 1:
        return f"of a single {over}"
    many = f"the number of {over}s" if tests is None else pluralize(tests, over)
    return f"not corrected for {many}" if correction == "none" else f"corrected by {_method(correction)} for {many}"


def corrected_over_splits(correction: str, splits: int, pairs: int) -> str:
    """How p-values of pairs of systems were corrected that were tested on every split.

    Examples
    --------
    >>> corrected_over_splits("bonferroni", 20, 1), corrected_over_splits("bonferroni", 1, 3)
    ("corrected by Bonferroni's method for 20 splits", 'not corrected for 3 tests')
    >>> corrected_over_splits("holm", 20, 3)
    "corrected by Holm's method for 20 splits, not for the 3 pairs"
    """
    if splits == 1:
        return corrected_words("none", pairs)
    return corrected_words(correction, splits, over="split") + (f", not for the {pairs} pairs" if pairs > 1 else "")


def _method(correction: str) -> str:
    return CORRECTIONS.get(correction, correction)


def metric_words(name: str) -> str:
    """A metric as people call it.

    Examples
    --------
    >>> metric_words("las.v1"), metric_words("accuracy.v1(column='xpos')"), metric_words("gleam.v2(k=3)")
    ('LAS', 'Accuracy (xpos)', 'gleam')
    """
    from deadheat.metrics import METRICS

    try:
        return METRICS.make(name).label
    except InputError:  # a metric of somebody else's, or the name of a column
        return name.partition(".v")[0] if ".v" in name else name


def level_words(alpha: float) -> str:
    """What intervals of tests at a level are called.

    Examples
    --------
    >>> level_words(0.05)
    '95 % interval'
    """
    return f"{100 * (1 - alpha):.4g} % interval"
