"""A win, or a dead heat? Deadheat makes comparisons of language-processing systems trustworthy.

The public names live here, one per question (`deadheat.score`, ...), and are loaded when they are first used:
importing the package costs nothing, and a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from deadheat.version import __version__ as __version__

if TYPE_CHECKING:  # type checkers cannot read the table below
    from deadheat.corpus import Corpus as Corpus
    from deadheat.corpus import read as read
    from deadheat.corpus import take as take
    from deadheat.corpus import write as write
    from deadheat.corpus.info import info as info
    from deadheat.questions.compare import compare as compare
    from deadheat.questions.compare_items import compare_items as compare_items
    from deadheat.questions.compare_scores import compare_scores as compare_scores
    from deadheat.questions.contrast import contrast as contrast
    from deadheat.questions.power import power as power
    from deadheat.questions.power_items import power_items as power_items
    from deadheat.questions.rank import rank as rank
    from deadheat.questions.run import run as run
    from deadheat.questions.score import score as score
    from deadheat.questions.seeds import seeds as seeds
    from deadheat.questions.size import size as size
    from deadheat.reporting.report import report as report
    from deadheat.results.base import from_json as from_json
    from deadheat.splits import Partition as Partition
    from deadheat.splits import split as split
    from deadheat.study.ledger.ledger import Ledger as Ledger
    from deadheat.study.ledger.ledger import LedgerEntry as LedgerEntry
    from deadheat.study.store.store import open_store as open_store
    from deadheat.systems.own import tagger as tagger
    from deadheat.systems.system import SYSTEMS as SYSTEMS
    from deadheat.systems.system import Model as Model
    from deadheat.systems.system import System as System
    from deadheat.systems.system import train_many as train_many
else:
    _QUESTIONS = (
        *("compare", "compare_items", "compare_scores", "contrast", "power", "power_items", "rank", "run", "score"),
        *("seeds", "size"),
    )
    _MODULES = {
        "corpus": ("Corpus", "read", "take", "write"),
        "corpus.info": ("info",),
        "reporting.report": ("report",),
        "results.base": ("from_json",),
        "splits": ("Partition", "split"),
        "study.ledger.ledger": ("Ledger", "LedgerEntry"),
        "study.store.store": ("open_store",),
        "systems": ("SYSTEMS",),
        "systems.own": ("tagger",),
        "systems.system": ("Model", "System", "train_many"),
        **{f"questions.{name}": (name,) for name in _QUESTIONS},
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
