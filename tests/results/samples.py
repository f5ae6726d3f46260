"""One small real result of every kind."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import deadheat
from deadheat.corpus import Corpus
from deadheat.questions.power import assumed_power
from deadheat.questions.size import size
from deadheat.ranking.size_samples import SizeSettings
from deadheat.results.base import Result


def tagged(*rows: str) -> Corpus:
    return deadheat.read(text="".join(f"{row}\n" for row in rows))


GOLD = tagged(*["a_X b_Y c_Z d_X"] * 12, *["a_X b_Y"] * 8)
GOOD = tagged(*["a_X b_Y c_Z d_Y"] * 12, *["a_X b_Y"] * 8)
FAIR = tagged(*["a_X b_X c_Z d_Y"] * 12, *["a_X b_Y"] * 8)
POOR = tagged(*["a_X b_X c_X d_Y"] * 12, *["a_Y b_Y"] * 8)
TABLE = {
    "A": {"en": 0.90, "de": 0.85, "fi": 0.80, "ta": 0.60, "tr": 0.71, "eu": 0.66, "hu": 0.64, "et": 0.73},
    "B": {"en": 0.89, "de": 0.84, "fi": 0.78, "ta": 0.61, "tr": 0.70, "eu": 0.61, "hu": 0.60, "et": 0.71},
    "C": {"en": 0.85, "de": 0.84, "fi": 0.74, "ta": 0.56, "tr": 0.66, "eu": 0.62, "hu": 0.61, "et": 0.70},
}
FOUR = TABLE | {"D": TABLE["C"] | {"en": 0.91, "hu": 0.66}}


def sample_score() -> Result:
    return deadheat.score(GOLD, [GOOD, POOR])


def sample_score_by_tag() -> Result:
    return deadheat.score(GOLD, [GOOD, POOR], metrics=["accuracy(column='tag')"], by="tag")


def sample_compare() -> Result:
    return deadheat.compare(GOLD, {"good": GOOD, "fair": FAIR, "poor": POOR})


def sample_compare_scores() -> Result:
    return deadheat.compare_scores(TABLE)


def sample_power() -> Result:
    return assumed_power(25_000, 0.970, 0.968, agreement=0.98)


def sample_rank() -> Result:
    return deadheat.rank(TABLE, subset_size=3, samples=20)


def sample_rank_with_everything() -> Result:
    return deadheat.rank(
        FOUR,
        subset_size=3,
        exact=True,
        attributes={"family": tuple("ggudtsuu")},
        anomalous=["B"],
        subsets={"large": ["en", "de"], "small": ["ta", "hu", "xx"]},
        left_out=True,
        representative_size=2,
    )


def sample_size() -> Result:
    settings = SizeSettings((4, 20, 40), draws=10, aso_draws=2)
    return size(GOLD, {"good": [GOOD, FAIR], "fair": [FAIR, POOR], "poor": POOR}, settings=settings)


@cache
def runs_file() -> Path:
    """Runs of three systems on two tasks, with settings, seeds and dev scores."""
    rng = np.random.default_rng(0)
    path = Path(mkdtemp()) / "runs.csv"
    rows = [
        f"{task},{system},{layers},{seed},{rng.uniform(0.8, 0.9):.3f},{rng.normal(mean, 0.01):.4f}\n"
        for task in ("ner", "pos")
        for system, mean in (("A", 0.85), ("B", 0.83), ("C", 0.845))
        for layers in (1, 2)
        for seed in range(6)
    ]
    path.write_text("task,system,layers,seed,dev,f1\n" + "".join(rows))
    return path


def sample_seeds() -> Result:
    return deadheat.seeds(runs_file(), score="f1", dev="dev", by="task", ignore=["layers"], resamples=50)


def sample_seeds_of_configurations() -> Result:
    return deadheat.seeds(runs_file(), score="f1", where=["task=ner"], resamples=50)


def sample_contrast() -> Result:
    settings = ["layers", "seed"]
    return deadheat.contrast(runs_file(), score="f1", factor="system", by="task", settings=settings, importance=True)


@cache
def all_samples() -> dict[str, Result]:
    """Every sample by the name of its function."""
    return {
        name.removeprefix("sample_"): function() for name, function in globals().items() if name.startswith("sample_")
    }
