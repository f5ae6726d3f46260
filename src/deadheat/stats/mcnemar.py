"""McNemar's test: two systems on the same items, where one is right and the other wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deadheat.errors import InputError, NameUnknown

METHODS = ("exact", "midp", "asymptotic", "corrected")


@dataclass(frozen=True, slots=True)
class McNemar:
    """Items only the first system has right, items only the second has right, and how surprising that is."""

    only_first: int
    only_second: int
    p: float
    method: str

    @property
    def odds_ratio(self) -> float:
        """Odds of discordant items falling to the first system; infinite if all do."""
        if self.only_second == 0:
            return float("nan") if self.only_first == 0 else float("inf")
        return self.only_first / self.only_second

    def __str__(self) -> str:
        return f"McNemar {self.method}: {self.only_first} against {self.only_second}, p = {self.p:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "test": f"mcnemar-{self.method}",
            "only_first": self.only_first,
            "only_second": self.only_second,
            "odds_ratio": self.odds_ratio,
            "p": self.p,
        }


def mcnemar(only_first: int, only_second: int, *, method: str = "midp") -> McNemar:
    """Test whether two systems are right equally often, from the items on which just one of them is.

    Notes
    -----
    With b and c discordant items and n = b + c, `exact` is the two-sided binomial test of b in n at 1/2.
    `midp` counts half of the probability of what was observed: 2 P(X <= min(b, c)) - P(X = b), and 1 - P(X = b)/2
    where b = c (Fagerland, Lydersen & Laake 2013). `asymptotic` refers (b - c)²/n to chi-square with one degree of
    freedom, `corrected` (|b - c| - 1)²/n (Edwards 1948). Without discordant items every p is 1.

    Examples
    --------
    >>> print(mcnemar(10, 3))
    McNemar midp: 10 against 3, p = 0.05737
    """
    if method not in METHODS:
        raise NameUnknown("McNemar's test", method, METHODS)
    if only_first < 0 or only_second < 0:
        raise InputError(f"McNemar's test: {only_first} and {only_second} discordant items; expected none negative")
    return McNemar(only_first, only_second, _p(only_first, only_second, method), method)


def _p(b: int, c: int, method: str) -> float:
    n, smaller = b + c, min(b, c)
    if n == 0:
        return 1.0
    from scipy.special import bdtr, chdtrc

    if method == "asymptotic":
        return float(chdtrc(1, (b - c) ** 2 / n))
    if method == "corrected":
        return float(chdtrc(1, max(0, abs(b - c) - 1) ** 2 / n))
    below = float(bdtr(smaller, n, 0.5))
    observed = below - (float(bdtr(smaller - 1, n, 0.5)) if smaller else 0.0)
    if method == "exact":
        return min(1.0, 2 * below)
    return 1 - observed / 2 if b == c else 2 * below - observed
