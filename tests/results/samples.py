"""One small real result of every kind."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import numpy as np

import deadheat
from deadheat.corpus import Corpus
from deadheat.questions.power import assumed_power
from deadheat.questions.power_items import power_items
from deadheat.questions.rank_battles import rank_battles
from deadheat.questions.run import run_plan
from deadheat.questions.size import size
from deadheat.questions.store_report import read_study
from deadheat.questions.table_report import table_report
from deadheat.ranking.size_samples import SizeSettings
from deadheat.results.base import Result, from_document, to_document
from deadheat.results.compare import Comparison
from deadheat.results.data import PartSize, SplitReport, TreebankParts, TreebankSizes
from deadheat.results.ledger import LedgerLine, LedgerReport, Tally
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
FOUR = TABLE | {"D": TABLE["C"] | {"en": 0.91, "hu": 0.66}}


def sample_score() -> Result:
    return deadheat.score(GOLD, [GOOD, POOR])


def sample_score_by_tag() -> Result:
    return deadheat.score(GOLD, [GOOD, POOR], metrics=["accuracy(column='tag')"], by="tag")


def sample_compare() -> Result:
    return deadheat.compare(GOLD, {"good": GOOD, "fair": FAIR, "poor": POOR})


def noisy(share: float, rng: np.random.Generator, sentences: int = 40) -> Corpus:
    """Sentences of which a share of the tags is wrong."""
    words = ("a_X", "b_Y", "c_Z", "d_X")
    rows = ([word if rng.random() >= share else f"{word[0]}_N" for word in words] for _ in range(sentences))
    return tagged(*map(" ".join, rows))


@cache
def compared_datasets() -> Comparison:
    """A has three runs on each of four data sets, B two, and C one; C is missing on the last."""
    rng = np.random.default_rng(2)
    golds = {name: noisy(0, rng) for name in ("en", "de", "fi", "ta")}
    systems: dict[str, dict[str, list[Corpus]]] = {
        "A": {name: [noisy(0.1, rng) for _ in range(3)] for name in golds},
        "B": {name: [noisy(0.3, rng) for _ in range(2)] for name in golds},
        "C": {name: [noisy(0.2, rng)] for name in golds if name != "ta"},
    }
    return deadheat.compare(golds, systems)


def sample_compare_datasets() -> Result:
    return compared_datasets()


def sample_compare_scores() -> Result:
    return deadheat.compare_scores(TABLE)


def sample_power() -> Result:
    return assumed_power(25_000, 0.970, 0.968, agreement=0.98)


def sample_power_items() -> Result:
    rng = np.random.default_rng(4)
    rows = [
        {"item": i, "epoch": k, "model": name, "correct": rng.random() < chance}
        for i in range(40)
        for name, chance in (("A", 0.7 - 0.01 * i), ("B", 0.5))
        for k in range(3)
    ]
    return power_items(rows, difference=4)


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


def sample_rank() -> Result:
    return deadheat.rank(TABLE, subset_size=3, samples=20)


def sample_rank_with_everything() -> Result:
    return deadheat.rank(
        FOUR,
        subset_size=3,
        exact=True,
        attributes={"family": tuple("ggudtsuu")},
        anomalies=["B"],
        subsets={"large": ["en", "de"], "small": ["ta", "hu", "xx"]},
        leave_one_out=True,
        representative=2,
    )


def sample_battles() -> Result:
    rng = np.random.default_rng(5)
    skill = {"A": 1.2, "B": 0.2, "C": 0.0, "D": -0.6}
    rows = []
    for prompt in range(120):
        a, b = rng.choice(list(skill), 2, replace=False).tolist()
        gap = skill[a] - skill[b] + rng.logistic()
        winner = "tie" if abs(gap) < 0.3 else "model_a" if gap > 0 else "model_b"
        rows.append({"model_a": a, "model_b": b, "winner": winner, "prompt_id": prompt // 2})
    rows.append({"model_a": "E", "model_b": "D", "winner": "model_b", "prompt_id": 0})
    return rank_battles(rows)


def sample_size() -> Result:
    settings = SizeSettings((4, 20, 40), draws=10, aso_draws=2)
    return size(GOLD, {"good": [GOOD, FAIR], "fair": [FAIR, POOR], "poor": POOR}, settings=settings)


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


STUDY_OF_CORPORA = """
[corpora.north]
files = "north.conllu"
[corpora.south]
files = "south.conllu"
[corpora.west]
files = "west.conllu"
[[splits]]
strategy = "random"
sizes = "60/20/20"
[[systems]]
name = "majority"
[[systems]]
name = "unigram"
[[systems]]
name = "perceptron"
epochs = 1
seeds = 2
[hypothesis]
primary = "unigram > majority"
margin = 1
"""


def run_study(study: str, corpora: Mapping[str, int]) -> StudyResult:
    """The result of a study on corpora of so many sentences."""
    with TemporaryDirectory() as folder:
        for at, (name, sentences) in enumerate(corpora.items()):
            Path(folder, f"{name}.conllu").write_text(corpus_text(sentences, seed=at))
        Path(folder, "study.toml").write_text(study)
        plan = Plan.of(Path(folder, "study.toml"))
        store = run_plan(plan, executor=in_this_process).store
        with Store.read(store) as opened:
            return read_study(opened).result


@cache
def study_with_search() -> StudyResult:
    return run_study(STUDY, {"small": 100})


@cache
def study_of_corpora() -> StudyResult:
    return run_study(STUDY_OF_CORPORA, {"north": 90, "south": 80, "west": 70})


def sample_study() -> Result:
    return study_with_search()


def sample_study_of_corpora() -> Result:
    return study_of_corpora()


def sample_search() -> Result:
    return study_with_search().searches[0]


def sample_split() -> Result:
    text = "# newdoc id = {0}\n" + "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n" * 6
    corpus = deadheat.read(text="".join(text.format(i) for i in range(10)))
    return SplitReport.of(deadheat.split(corpus, "random(unit='document')", times=2))


def sample_treebanks() -> Result:
    parts = (PartSize("train", 40, 500, 3), PartSize("dev", 9, 120), PartSize("test", 900, 10_100, 2))
    return TreebankSizes("banks", (TreebankParts("en_ewt", parts), TreebankParts("kk_ktb", parts[::2])))


def sample_ledger() -> Result:
    evaluated = Tally(
        "en-test.conllu", "0f" * 32, 3, ("a", "b"), 2, ("ana",), "2026-01-01T10:00:00", budget=2, over_budget=1
    )
    line = LedgerLine(
        "2026-01-01T10:00:00", "ana", "look", "a", "1e" * 32, ("las.v1",), "main table", None, "reviewers asked"
    )
    return LedgerReport((evaluated,), "ledger.jsonl", (line,))


def sample_table() -> Result:
    return table_report(scores_file()).results[0]


@cache
def scores_file() -> Path:
    path = Path(mkdtemp()) / "scores.csv"
    rows = [f"{system},{name},{score}" for system, scores in TABLE.items() for name, score in scores.items()]
    path.write_text("\n".join(["system,dataset,score", *rows]) + "\n")
    return path


def renamed(result: Result, names: Mapping[str, str]) -> Result:
    """The same result with other names, wherever they occur."""

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): rename(item) for key, item in value.items()}
        if isinstance(value, list):
            return list(map(rename, value))
        return names.get(value, value) if isinstance(value, str) else value

    return from_document(rename(to_document(result)))


@cache
def all_samples() -> dict[str, Result]:
    """Every sample by the name of its function."""
    return {
        name.removeprefix("sample_"): function() for name, function in globals().items() if name.startswith("sample_")
    }
