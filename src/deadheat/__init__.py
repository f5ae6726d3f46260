"""A win, or a dead heat? Deadheat makes comparisons of language-processing systems trustworthy.

The public names live here, one per question (`deadheat.score`, ...), and are loaded when they are first used:
importing the package costs nothing, and a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from deadheat.version import __version__

if TYPE_CHECKING:
    from deadheat.corpus import Corpus, read, take, write
    from deadheat.corpus.info import info
    from deadheat.questions.compare import compare, compare_scores
    from deadheat.questions.contrast import contrast
    from deadheat.questions.power import power
    from deadheat.questions.rank import rank
    from deadheat.questions.run import run
    from deadheat.questions.score import score
    from deadheat.questions.seeds import seeds
    from deadheat.questions.size import size
    from deadheat.report.report import report
    from deadheat.results.base import from_json
    from deadheat.splits import Partition, split
    from deadheat.study.ledger.ledger import Ledger, LedgerEntry
    from deadheat.study.store.store import open_store
    from deadheat.systems.system import train_many

__all__ = [
    "Corpus",
    "Ledger",
    "LedgerEntry",
    "Partition",
    "__version__",
    "compare",
    "compare_scores",
    "contrast",
    "from_json",
    "info",
    "open_store",
    "power",
    "rank",
    "read",
    "report",
    "run",
    "score",
    "seeds",
    "size",
    "split",
    "take",
    "train_many",
    "write",
]

_HOMES = {
    "Corpus": "deadheat.corpus",
    "Ledger": "deadheat.study.ledger.ledger",
    "LedgerEntry": "deadheat.study.ledger.ledger",
    "Partition": "deadheat.splits",
    "compare": "deadheat.questions.compare",
    "compare_scores": "deadheat.questions.compare",
    "contrast": "deadheat.questions.contrast",
    "from_json": "deadheat.results.base",
    "info": "deadheat.corpus.info",
    "open_store": "deadheat.study.store.store",
    "power": "deadheat.questions.power",
    "rank": "deadheat.questions.rank",
    "read": "deadheat.corpus",
    "report": "deadheat.report.report",
    "run": "deadheat.questions.run",
    "score": "deadheat.questions.score",
    "seeds": "deadheat.questions.seeds",
    "size": "deadheat.questions.size",
    "split": "deadheat.splits",
    "take": "deadheat.corpus",
    "train_many": "deadheat.systems.system",
    "write": "deadheat.corpus",
}

# Hidden from type checkers, which would otherwise accept every name.
if not TYPE_CHECKING:

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
