"""One small real result of every kind."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import deadheat
from deadheat.corpus import Corpus
from deadheat.questions.power import assumed_power
from deadheat.questions.run import run_plan
from deadheat.questions.stored_study import read_study
from deadheat.results.base import Result
from deadheat.results.study import StudyResult
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.study_cases import corpus_text, in_this_process


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


STUDY = """
[corpora.small]
files = "small.conllu"
[[splits]]
strategy = "random"
times = 3
sizes = "40/20/20/20"
[[splits]]
strategy = "random"
seed = 1
sizes = "40/20/20/20"
[[systems]]
name = "majority"
[[systems]]
name = "unigram"
[[systems]]
name = "perceptron"
seeds = 2
[search]
system = "perceptron"
epochs = [1, 2]
order = [2, 3]
epoch = ["tune", "dev"]
"""


@cache
def study_with_search() -> StudyResult:
    with TemporaryDirectory() as folder:
        Path(folder, "small.conllu").write_text(corpus_text(100))
        Path(folder, "study.toml").write_text(STUDY)
        plan = Plan.of(Path(folder, "study.toml"))
        store = run_plan(plan, executor=in_this_process).store
        with Store.read(store) as opened:
            return read_study(opened).result


def sample_study() -> Result:
    return study_with_search()


def sample_search() -> Result:
    return study_with_search().searches[0]


@cache
def all_samples() -> dict[str, Result]:
    """Every sample by the name of its function."""
    return {
        name.removeprefix("sample_"): function() for name, function in globals().items() if name.startswith("sample_")
    }
