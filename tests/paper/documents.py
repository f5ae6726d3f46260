"""Documents made by hand, small enough to see what must be said of them."""

from typing import Any

from deadheat.paper.paragraph import paragraph
from tests.pages.search_documents import two_setups as two_setups

Document = dict[str, Any]


def comparison(scores: dict[str, float], p: dict[tuple[str, str], float], *, tied: list[str], **more: Any) -> Document:
    """A comparison in which pairs have these corrected p-values."""
    systems = [
        {"system": name, "value": value, "low": value - 0.01, "high": value + 0.01} for name, value in scores.items()
    ]
    pairs = [
        {
            "a": a,
            "b": b,
            "test": "permutation-exact",
            "difference": scores[a] - scores[b],
            "low": scores[a] - scores[b] - 0.01,
            "high": scores[a] - scores[b] + 0.01,
            "p": value / 2,
            "p_corrected": value,
            "error_reduction": None,
            "odds_ratio": None,
            "winner": "" if value > 0.05 else a if scores[a] > scores[b] else b,
        }
        for (a, b), value in p.items()
    ]
    return {
        "kind": "compare",
        "systems": systems,
        "pairs": pairs,
        "tied": tied,
        "agreement": {},
        "besides": [],
        "ranks": {},
        "metric": "LAS",
        "unit": "sentence",
        "test": "permutation-exact",
        "reason": "asked for",
        "correction": "holm",
        "alpha": 0.05,
        "scale": 100.0,
        "signature": "deadheat 0.1.0 | las.v1 | align text | units 54 (sentence) | permutation-exact",
        "notes": [],
    } | more


def standing(
    system: str, mean: float | None, runs: int, *, metric: str = "accuracy.v1", sd: float | None = None
) -> Document:
    """How one system stands."""
    interval = None if runs != 1 or mean is None else [mean - 0.02, mean + 0.02]
    return {
        "system": system, "metric": metric, "runs": runs, "mean": mean, "sd": sd, "least": mean, "most": mean,
        "interval": interval, "by_split": [],
    }  # fmt: skip


def over_splits(
    a: str,
    b: str,
    difference: float,
    *,
    splits: int,
    ahead: int,
    significant: int = 0,
    reversed: int = 0,
    p: float = 0.5,
) -> Document:
    """Two systems over splits."""
    return {
        "a": a, "b": b, "test": "mcnemar-midp", "difference": difference, "splits": splits, "ahead": ahead,
        "significant": significant, "reversed": reversed, "p": [p] * splits,
        "p_corrected": [min(1.0, p * splits)] * splits,
    }  # fmt: skip


def block(systems: list[Document], pairs: list[Document], *, splits: int, **more: Any) -> Document:
    """One corpus, one way to split, one part."""
    found = {
        "corpus": "velani", "split": "random.v1(unit='document')", "seed": 0, "part": "test", "splits": splits,
        "metrics": list(dict.fromkeys(each["metric"] for each in systems)), "systems": systems, "pairs": pairs,
        "agreement": [],
    }  # fmt: skip
    return found | more


def study(blocks: list[Document], **more: Any) -> Document:
    """A study of these blocks."""
    found = {"kind": "study", "study": "mine", "correction": "bonferroni", "alpha": 0.05, "missing": 0, "damaged": []}
    return {**found, "blocks": blocks, "notes": [], "failed": []} | more


def ranking(**more: Any) -> Document:
    """Three systems on five data sets, all subsets of two."""
    systems = [
        {"system": "graph", "rank": 1, "mean_score": 80.1, "best": 1, "worst": 2, "mean": 1.2, "median": 1.0, "sd": 0.4,
         "lower_quartile": 1, "upper_quartile": 1, "chances": [0.8, 0.2, 0.0]},
        {"system": "labels", "rank": 2, "mean_score": 79.0, "best": 1, "worst": 2, "mean": 1.8, "median": 2.0,
         "sd": 0.4, "lower_quartile": 2, "upper_quartile": 2, "chances": [0.2, 0.8, 0.0]},
        {"system": "rules", "rank": 3, "mean_score": 60.5, "best": 3, "worst": 3, "mean": 3.0, "median": 3.0, "sd": 0.0,
         "lower_quartile": 3, "upper_quartile": 3, "chances": [0.0, 0.0, 1.0]},
    ]  # fmt: skip
    pairs = [
        {"a": "graph", "b": "labels", "p_a": 0.8, "p_b": 0.2, "p_level": 0.0},
        {"a": "graph", "b": "rules", "p_a": 1.0, "p_b": 0.0, "p_level": 0.0},
        {"a": "labels", "b": "rules", "p_a": 1.0, "p_b": 0.0, "p_level": 0.0},
    ]
    tau = {"mean": 0.8667, "sd": 0.2667, "min": 0.3333, "median": 1.0, "max": 1.0, "undefined": 0}
    found = {
        "kind": "rank",
        "metric": "LAS",
        "data_sets": 5,
        "subset_size": 2,
        "samples": 10,
        "design": "all",
        "by": None,
    }
    return {**found, "seed": 0, "systems": systems, "pairs": pairs, "tau": tau, "exact": None} | more


def seeds(runs: dict[str, tuple[int, float, float | None]], p: dict[tuple[str, str], float], **more: Any) -> Document:
    """Systems with their number of runs, mean and standard deviation; pairs with corrected p-values."""
    systems = [
        {"system": name, "n": n, "minimum": mean - 0.01, "lower_quartile": mean, "median": mean, "upper_quartile": mean,
         "maximum": mean + 0.01, "mean": mean, "sd": sd, "compared": n}
        for name, (n, mean, sd) in runs.items()
    ]  # fmt: skip
    pairs = [
        {"a": a, "b": b, "difference": runs[a][1] - runs[b][1], "a_better": 0.9 if runs[a][1] > runs[b][1] else 0.1,
         "least_p": 0.001 if min(runs[a][0], runs[b][0]) > 3 else 0.3,
         "mann_whitney": {"p": value, "p_corrected": value}, "brown_forsythe": {"p": 0.5, "p_corrected": 1.0}}
        for (a, b), value in p.items()
    ]  # fmt: skip
    blocks = [{"by": "", "unit": "seed", "systems": systems, "pairs": pairs, "differences": None}]
    found = {"kind": "seeds", "system": "system", "score": "f1", "dev": "", "by": "", "settings": []}
    return {**found, "alpha": 0.05, "correction": "holm", "blocks": blocks, "notes": []} | more


def contrasts(**more: Any) -> Document:
    """Three options over twenty configurations; the second is not told from the best."""
    options = [
        {"option": "CRF", "wins": 0.55, "median_delta": 0.0, "mean": 0.91, "median": 0.91, "sd": 0.01},
        {"option": "Soft_max", "wins": 0.35, "median_delta": -0.0012, "mean": 0.90, "median": 0.90, "sd": 0.01},
        {"option": "none", "wins": 0.10, "median_delta": -0.0200, "mean": 0.88, "median": 0.88, "sd": 0.02},
    ]
    p = {("CRF", "Soft_max"): 0.2, ("CRF", "none"): 0.004, ("Soft_max", "none"): 0.01}
    pairs = [{"a": a, "b": b, "sign_p": value / 3, "sign_p_corrected": value} for (a, b), value in p.items()]
    blocks = [
        {"by": "ner", "second": "", "configurations": 20, "tied": 0, "best": "CRF", "options": options, "pairs": pairs}
    ]
    found = {
        "kind": "contrast",
        "factor": "decoder",
        "score": "f1",
        "by": "task",
        "second": "",
        "settings": ["dropout"],
    }
    return {
        **found,
        "left_out": [],
        "repeats": "mean",
        "runs": 60,
        "blocks": blocks,
        "importance": [],
        "notes": [],
    } | more


def sizes(**more: Any) -> Document:
    """One test set, two ways; 500 words drawn at random are enough."""

    def way(name: str, draws: int, taus: list[float], enough: int | None, reason: str | None) -> Document:
        points = zip((100, 500, 900), taus, strict=True)
        told = [{"words": size, "all": size == 900, "tau": tau, "draws": draws} for size, tau in points]
        return {"way": name, "enough": enough, "reason": reason, "answer": "", "sizes": told}

    ways = [way("seq", 1, [0.5, 0.9, 1.0], None, "one sample only"), way("rand", 100, [0.8, 0.95, 1.0], 500, None)]
    sets = [{"set": "velani-test", "words": 900, "units": 54, "unit": "sentence", "systems": [], "ways": ways}]
    found = {"kind": "size", "metric": "las.v1", "threshold": 0.9, "confidence": 0.95, "seeds": "average"}
    return {**found, "against": "all", "draws": 100, "seed": 0, "sets": sets, "overall": None} | more


def scores(values: dict[str, float | None], metric: str = "LAS") -> Document:
    """Predictions by one metric."""
    rows = [
        {"file": name, "metric": metric, "value": value, "low": None if value is None else value - 0.1,
         "high": None if value is None else value + 0.1, "correct": 1, "gold": 2, "predicted": 2}
        for name, value in values.items()
    ]  # fmt: skip
    return {
        "kind": "score",
        "scores": rows,
        "signature": "deadheat 0.1.0 | las.v1 | 0.95 wilson or bootstrap 1000 | seed 0",
    }


CORPORA = [{"corpus": "velani", "sentences": 600, "words": 9544}]
SYSTEMS = {"lookahead.v1": "lookahead", "loglinear.v1(l2=0.5)": "loglinear"}


def twenty_splits(**more: Any) -> Document:
    """Two taggers on twenty random splits; the first ahead on nineteen, significantly on thirteen, worse on one."""
    systems = [standing("lookahead", 0.9507, 20, sd=0.0021), standing("loglinear", 0.9468, 20, sd=0.0019)]
    pair = over_splits("lookahead", "loglinear", 0.0039, splits=20, ahead=19, significant=13, reversed=1)
    split = "random.v1(unit='document', stratify='genre')"
    found = study([block(systems, [pair], splits=20, split=split)], corpora=CORPORA, systems=SYSTEMS, cells=40)
    return found | {"seeds": {"lookahead": [0], "loglinear": [0]}} | more


LOOK = {
    "name": "velani-test", "test_set": "e62ec0ccdf948bfec05b", "looks": 6, "systems": ["A", "B"], "predictions": 2,
    "users": ["me"], "first": "", "last": "", "guarded": False, "budget": None, "over_budget": 0, "sealed": False,
}  # fmt: skip
HOSTILE = [
    "\\input{/etc/passwd}",
    "a&b%c$d#e_f{g}~h^i",
    "\"quoted\" `tick` ''two''",
    "[opt]",
    "*star",
    "x--y---z",
    "<script>alert(1)</script>",
    "a|b",
    "line\nbreak\ttab\x00nul",
    "שלום_עולם",
    "汉字&模型",
    "}{",
    "%",
    "x" * 200,
]


def said(*found: Document, **more: Any) -> list[str]:
    """The sentences of the paragraph."""
    return [sentence.text for sentence in paragraph(found, **more).sentences]
