"""Splits as results: the sizes of their parts, and what leaks between them."""

from __future__ import annotations

from deadheat.corpus.vocabulary import Indices
from deadheat.results.data import PartSize, SplitLeaks, SplitReport, SplitSizes
from deadheat.splits.folder import FolderCheck
from deadheat.splits.splitting import Splits


def split_report(splits: Splits) -> SplitReport:
    """The sizes of the parts of every split."""

    def size(name: str, sentences: Indices) -> PartSize:
        sizes = splits.sizes_of(sentences)
        return PartSize(name, sizes["sentences"], sizes["words"], sizes.get("documents"))

    return SplitReport(
        splits.corpus.name,
        splits.corpus.sentences,
        splits.corpus.words,
        str(splits.strategy),
        splits.seed,
        splits.documents.rule if splits.documents else "none",
        len(splits.documents) if splits.documents else 0,
        tuple(
            SplitSizes(
                partition.name,
                tuple(size(name, sentences) for name, sentences in partition.parts.items()),
                tuple(size(name, indices) for sets in partition.nested.values() for name, indices in sets.items()),
                size("(left out)", partition.left_out) if len(partition.left_out) else None,
                splits.shared_documents(partition) if splits.documents else None,
            )
            for partition in splits
        ),
        notes=splits.notes,
    )


def leak_report(check: FolderCheck) -> SplitReport:
    """What leaks between the parts of every split of a folder."""
    leaks = tuple(SplitLeaks(name, tuple(pairs)) for name, pairs in check.leaks.items())
    return SplitReport(check.folder, leaks=leaks, verified=check.verified, notes=check.notes)
