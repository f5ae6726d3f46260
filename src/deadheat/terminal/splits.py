"""Splits and what leaks in them, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deadheat.splits.folder import FolderCheck
from deadheat.splits.leaks import Leak
from deadheat.splits.splitting import Splits
from deadheat.terminal.tables import paragraph, percent, prose, table

MOST_SHOWN = 12  # splits; of more, the least and the most of each part are shown


def split_table(splits: Splits) -> str:
    """The parts of every split with their sizes, what was done, and by which rule documents were found."""
    documents = str(splits.documents) if splits.documents else "no documents"
    body = _each(splits) if len(splits) <= MOST_SHOWN else _ranges(splits)
    return prose(f"{splits}\n{documents}") + f"\n\n{body}"


def _each(splits: Splits) -> str:
    rows = []
    for partition in splits:
        for name, sentences in partition.sets.items():
            words = splits.words_of(sentences)
            share = percent(words / splits.corpus.words)
            rows.append([partition.name, name, f"{len(sentences):,}", f"{words:,}", share])
        if len(partition.left_out):
            words = splits.words_of(partition.left_out)
            share = percent(words / splits.corpus.words)
            rows.append([partition.name, "(left out)", f"{len(partition.left_out):,}", f"{words:,}", share])
    return table(["split", "part", "sentences", "words", "% of words"], rows, left=2)


def _ranges(splits: Splits) -> str:
    rows = []
    for name in dict.fromkeys(name for partition in splits for name in partition.parts):
        chosen = [partition.parts[name] for partition in splits if name in partition.parts]
        words = [splits.words_of(sentences) for sentences in chosen]
        shares = [percent(each / splits.corpus.words) for each in (min(words), max(words))]
        rows.append([name, _span([len(each) for each in chosen]), _span(words), " - ".join(shares)])
    return table([f"part, in {len(splits)} splits", "sentences", "words", "% of words"], rows)


def _span(values: Sequence[int]) -> str:
    return f"{min(values):,} - {max(values):,}"


def leak_table(checked: FolderCheck) -> str:
    """A row for every pair of parts: of several splits the mean, with the least and the most."""
    pairs: dict[tuple[str, str], list[Leak]] = {}
    for found in checked.leaks.values():
        for leak in found:
            pairs.setdefault((leak.within, leak.of), []).append(leak)
    kinds = list(dict.fromkeys(kind for many in pairs.values() for leak in many for kind in leak.divergence))
    header = ["of", "in", "sentences", "identical", "of 5+ words", "near", "documents", "unknown words %", "types %"]
    rows = []
    for (within, of), many in pairs.items():
        numbers: list[Callable[[Leak], float | None]] = [
            lambda leak: leak.sentences,
            lambda leak: leak.identical,
            lambda leak: leak.identical_long,
            lambda leak: leak.near_duplicates,
            lambda leak: leak.shared_documents,
        ]
        shares: list[Callable[[Leak], float | None]] = [
            lambda leak: 100 * leak.unknown_words,
            lambda leak: 100 * leak.shared_types,
        ]
        cells = [_cell(many, number, "{:,.0f}") for number in numbers] + [
            _cell(many, each, "{:.2f}") for each in shares
        ]
        apart = [_cell(many, lambda leak, kind=kind: leak.divergence.get(kind), "{:.4f}") for kind in kinds]  # type: ignore[misc]
        rows.append([of, within, *cells, *apart])
    verified = f"{checked.folder}: {checked.verified} files are as the manifest says" if checked.verified else ""
    splits = f"{len(checked.leaks)} splits: the mean, and the least and the most\n" if len(checked.leaks) > 1 else ""
    shown = table([*header, *(f"{kind} apart" for kind in kinds)], rows, left=2)
    return "\n".join(filter(None, [prose(verified), splits + shown])) + "\n\n" + paragraph(LEGEND)


LEGEND = """\
identical: sentences of the one part that are in the other too; short ones (greetings) repeat, so those of five words
or more count by themselves. near: other sentences of five words or more that share 60 % of their word pairs.
documents: those in both. unknown words: words whose form the other part lacks; types: forms it has.
apart: Jensen-Shannon divergence in bits, from 0 (alike) to 1."""


def _cell(many: Sequence[Leak], number: Callable[[Leak], float | None], shape: str) -> str:
    values = [value for value in map(number, many) if value is not None]
    if not values:
        return "-"
    if len(values) == 1 or min(values) == max(values):
        return shape.format(values[0])
    mean = shape.replace(".0f", ".1f").format(sum(values) / len(values))
    return f"{mean} ({shape.format(min(values))} - {shape.format(max(values))})"
