"""A win, or a dead heat? Deadheat makes comparisons of language-processing systems trustworthy.

The public names live here, one per question (`deadheat.score`, ...), and are loaded when they are first used:
importing the package costs nothing, and a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from deadheat.version import __version__

if TYPE_CHECKING:
    from deadheat.analyses.compare import compare
    from deadheat.analyses.contrast import contrast
    from deadheat.analyses.power import power
    from deadheat.analyses.rank import rank
    from deadheat.analyses.run import run
    from deadheat.analyses.score import score
    from deadheat.analyses.seeds import seeds
    from deadheat.analyses.size import size
    from deadheat.analyses.tables import compare_scores
    from deadheat.corpus import Corpus, read, take, write
    from deadheat.corpus.info import info
    from deadheat.pages.report import report
    from deadheat.splits import Partition, split
    from deadheat.study.ledger import Ledger, Look
    from deadheat.study.store import open_store
    from deadheat.systems.system import train_many

__all__ = [
    "Corpus",
    "Ledger",
    "Look",
    "Partition",
    "__version__",
    "compare",
    "compare_scores",
    "contrast",
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
    "Ledger": "deadheat.study.ledger",
    "Look": "deadheat.study.ledger",
    "Partition": "deadheat.splits",
    "compare": "deadheat.analyses.compare",
    "compare_scores": "deadheat.analyses.tables",
    "contrast": "deadheat.analyses.contrast",
    "info": "deadheat.corpus.info",
    "open_store": "deadheat.study.store",
    "power": "deadheat.analyses.power",
    "rank": "deadheat.analyses.rank",
    "read": "deadheat.corpus",
    "report": "deadheat.pages.report",
    "run": "deadheat.analyses.run",
    "score": "deadheat.analyses.score",
    "seeds": "deadheat.analyses.seeds",
    "size": "deadheat.analyses.size",
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
