"""A win, or a dead heat? Deadheat makes comparisons of language-processing systems trustworthy.

The public names live here, one per question (`deadheat.score`, ...), and are loaded when they are first used:
importing the package costs nothing, and a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from deadheat.version import __version__ as __version__

if TYPE_CHECKING:  # type checkers cannot read the table below
    from deadheat.corpus import Column as Column
    from deadheat.corpus import Corpus as Corpus
    from deadheat.corpus import read as read
    from deadheat.corpus import take as take
    from deadheat.corpus import write as write
    from deadheat.corpus.info import info as info
    from deadheat.corpus.readers import READERS as READERS
    from deadheat.corpus.readers import Reader as Reader
    from deadheat.errors import AlignmentError as AlignmentError
    from deadheat.errors import CorpusError as CorpusError
    from deadheat.errors import DeadheatError as DeadheatError
    from deadheat.errors import InputError as InputError
    from deadheat.errors import NameUnknown as NameUnknown
    from deadheat.errors import SplitError as SplitError
    from deadheat.errors import StudyError as StudyError
    from deadheat.metrics.metric import METRICS as METRICS
    from deadheat.metrics.metric import Metric as Metric
    from deadheat.metrics.pair import Pair as Pair
    from deadheat.questions.compare import compare as compare
    from deadheat.questions.compare_items import compare_items as compare_items
    from deadheat.questions.compare_scores import compare_scores as compare_scores
    from deadheat.questions.contrast import contrast as contrast
    from deadheat.questions.power import power as power
    from deadheat.questions.power_items import power_items as power_items
    from deadheat.questions.rank import rank as rank
    from deadheat.questions.run import StudyRun as StudyRun
    from deadheat.questions.run import run as run
    from deadheat.questions.score import score as score
    from deadheat.questions.seeds import seeds as seeds
    from deadheat.questions.size import size as size
    from deadheat.questions.size_items import size_items as size_items
    from deadheat.reporting.report import report as report
    from deadheat.results.base import Result as Result
    from deadheat.results.base import from_json as from_json
    from deadheat.results.battles import BattleRanking as BattleRanking
    from deadheat.results.compare import Comparison as Comparison
    from deadheat.results.data import Power as Power
    from deadheat.results.data import SplitReport as SplitReport
    from deadheat.results.data import TreebankSizes as TreebankSizes
    from deadheat.results.ledger import LedgerReport as LedgerReport
    from deadheat.results.rank import Ranking as Ranking
    from deadheat.results.rank import SizeStudy as SizeStudy
    from deadheat.results.runs import Contrast as Contrast
    from deadheat.results.runs import Seeds as Seeds
    from deadheat.results.score import Scores as Scores
    from deadheat.results.score import ScoreTable as ScoreTable
    from deadheat.results.search import SearchResult as SearchResult
    from deadheat.results.study import StudyResult as StudyResult
    from deadheat.results.verdict import Claim as Claim
    from deadheat.results.verdict import Evidence as Evidence
    from deadheat.results.verdict import State as State
    from deadheat.results.verdict import Verdict as Verdict
    from deadheat.splits import Partition as Partition
    from deadheat.splits import Splits as Splits
    from deadheat.splits import split as split
    from deadheat.splits.strategy import STRATEGIES as STRATEGIES
    from deadheat.splits.strategy import Strategy as Strategy
    from deadheat.study.ledger.ledger import Ledger as Ledger
    from deadheat.study.ledger.ledger import LedgerEntry as LedgerEntry
    from deadheat.study.store.merging import MergedStore as MergedStore
    from deadheat.study.store.merging import merge_stores as merge_stores
    from deadheat.study.store.store import Store as Store
    from deadheat.study.store.store import open_store as open_store
    from deadheat.systems.own import tagger as tagger
    from deadheat.systems.system import SYSTEMS as SYSTEMS
    from deadheat.systems.system import Model as Model
    from deadheat.systems.system import System as System
    from deadheat.systems.system import train_many as train_many
else:
    _QUESTIONS = (
        *("compare", "compare_items", "compare_scores", "contrast", "power", "power_items", "rank", "run", "score"),
        *("seeds", "size", "size_items"),
    )
    _MODULES = {
        "corpus": ("Column", "Corpus", "read", "take", "write"),
        "corpus.info": ("info",),
        "corpus.readers": ("READERS", "Reader"),
        "errors": (
            "AlignmentError",
            "CorpusError",
            "DeadheatError",
            "InputError",
            "NameUnknown",
            "SplitError",
            "StudyError",
        ),
        "metrics.metric": ("METRICS", "Metric"),
        "metrics.pair": ("Pair",),
        "reporting.report": ("report",),
        "results.base": ("Result", "from_json"),
        "results.battles": ("BattleRanking",),
        "results.compare": ("Comparison",),
        "results.data": ("Power", "SplitReport", "TreebankSizes"),
        "results.ledger": ("LedgerReport",),
        "results.rank": ("Ranking", "SizeStudy"),
        "results.runs": ("Contrast", "Seeds"),
        "results.score": ("Scores", "ScoreTable"),
        "results.search": ("SearchResult",),
        "results.study": ("StudyResult",),
        "results.verdict": ("Claim", "Evidence", "State", "Verdict"),
        "splits": ("Partition", "Splits", "split"),
        "splits.strategy": ("STRATEGIES", "Strategy"),
        "study.ledger.ledger": ("Ledger", "LedgerEntry"),
        "study.store.merging": ("MergedStore", "merge_stores"),
        "study.store.store": ("Store", "open_store"),
        "systems.own": ("tagger",),
        "systems.system": ("SYSTEMS", "Model", "System", "train_many"),
        **{f"questions.{name}": (name,) for name in _QUESTIONS},
        "questions.run": ("StudyRun", "run"),
    }
    _HOMES = {name: f"deadheat.{module}" for module, names in _MODULES.items() for name in names}
    __all__ = ["__version__", *sorted(_HOMES)]

    def __getattr__(name: str) -> object:
        """Load a public name from the module that defines it, once."""
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})
