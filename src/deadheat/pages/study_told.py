"""What a study's document and frames say, in the order in which a page needs it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deadheat.documents import Document, plain
from deadheat.pages.wording import file_name, share_scale
from deadheat.questions.families import first_metrics as first_metrics
from deadheat.terminal.study import short

if TYPE_CHECKING:
    import polars as pl

PARTS = ("test", "dev", "tune")  # shown in this order, then others
STANDARD = "standard."
RANDOM = ("random.", "kfold.", "rand.", "rand-seq.", "ud.")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Systems that are scored by the same first metric, on one part of one corpus: a block for each way to split."""

    corpus: str
    part: str
    metric: str
    blocks: tuple[Row, ...]

    @property
    def measure(self) -> str:
        """The metric as people read it."""
        return short(self.metric)

    def title(self, what: str) -> str:
        """Of a figure."""
        return f"{self.corpus}, {self.part}: {self.measure} {what}"

    def file(self, what: str, block: Row | None = None) -> str:
        """The name of a figure's file."""
        by = way(block) if block is not None and len(self.blocks) > 1 else ""
        return file_name("study", self.corpus, self.part, self.measure, what, by)

    def standings(self, block: Row) -> list[Row]:
        """The systems of a block by the family's metric, best first."""
        firsts = first_metrics(block)
        return [
            each for each in block["systems"] if each["metric"] == self.metric and firsts[each["system"]] == self.metric
        ]

    def pairs(self, block: Row) -> list[Row]:
        """The pairs of these systems, the better ones first."""
        own = {each["system"] for each in self.standings(block)}
        return [plain(pair) for pair in block["pairs"] if pair["a"] in own and pair["b"] in own]


@dataclass(frozen=True, eq=False)
class Told:
    """A study as it is shown."""

    document: Document
    blocks: tuple[Row, ...]
    scores: pl.DataFrame | None
    runs: pl.DataFrame | None
    scale: float  # 100 where all scores are shares

    @classmethod
    def of(cls, document: Document, scores: pl.DataFrame | None, runs: pl.DataFrame | None) -> Told:
        """The document with plain values; where it has no blocks, those that follow from the scores."""
        # Pairs have the most numbers by far; they are made plain where they are shown.
        blocks = [
            {**plain({key: block[key] for key in block if key != "pairs"}), "pairs": block["pairs"]}
            for block in document.get("blocks", ())
        ]
        if not blocks and scores is not None and scores.height:
            blocks = blocks_of(scores, runs)
        scale = share_scale(each[end] for block in blocks for each in block["systems"] for end in ("least", "most"))
        return cls(document, tuple(blocks), scores, runs, scale)

    def only(self, corpora: Sequence[str]) -> Told:
        """The same with the scores of some corpora alone, which are quicker to cut."""
        if self.scores is None:
            return self
        import polars as pl

        return replace(self, scores=self.scores.filter(pl.col("corpus").is_in(corpora)))

    @property
    def corpora(self) -> list[str]:
        """Those that have results, in the order of the study."""
        return list(dict.fromkeys(block["corpus"] for block in self.blocks))

    @property
    def parts(self) -> list[str]:
        """Those that are scored, test first."""
        found = list(dict.fromkeys(block["part"] for block in self.blocks))
        return sorted(found, key=lambda part: PARTS.index(part) if part in PARTS else len(PARTS))

    @property
    def labels(self) -> Mapping[str, str]:
        """What systems are called here, by their names with settings."""
        found: Mapping[str, str] = self.document.get("systems") or {}
        return found

    @property
    def in_percent(self) -> str:
        """What is said after a metric on an axis."""
        return " in percent" if self.scale == 100 else ""

    def families(self, corpus: str, part: str) -> list[Family]:
        """The systems of one corpus and part, by what they are scored by."""
        own = [block for block in self.blocks if (block["corpus"], block["part"]) == (corpus, part)]
        metrics = dict.fromkeys(metric for block in own for metric in first_metrics(block).values())
        found = []
        for metric in metrics:
            blocks = tuple(block for block in own if metric in first_metrics(block).values())
            found.append(Family(corpus, part, metric, blocks))
        return found

    def values(self, family: Family, block: Row) -> dict[str, list[float]]:
        """The scores of every run by system; nothing where the scores at hand are not those of the block."""
        frame = self.scores_of(block, family.metric)
        if frame is None:
            return {}
        grouped = {name: own["value"].drop_nans().to_list() for (name,), own in frame.group_by("system")}
        counts = {each["system"]: each["runs"] for each in family.standings(block)}
        return grouped if all(len(grouped.get(name, ())) == runs for name, runs in counts.items()) else {}

    def scores_of(self, block: Row, metric: str) -> pl.DataFrame | None:
        """The rows of a block by one metric, with systems under their labels; None where they cannot be told."""
        import polars as pl

        own = self._cut.get((block["corpus"], block["split"], block["part"], metric))
        if own is None:
            return None
        own = own.filter(pl.col("number").is_in(block["numbers"]))
        if (block["corpus"], block["split"]) in self._several:  # splits of several seeds, which only runs tell apart
            if self.runs is None:
                return None
            own = own.join(self.runs.filter(split_seed=block["seed"]).select("key"), on="key", how="semi")
        return own.with_columns(pl.col("system").replace(dict(self.labels))) if self.labels else own

    @cached_property
    def _cut(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        """The scores by the metrics that systems are compared by, cut into blocks at once."""
        import polars as pl

        if self.scores is None:
            return {}
        metrics = {metric for block in self.blocks for metric in first_metrics(block).values()}
        own = self.scores.filter(pl.col("metric").is_in(metrics))
        own = own.select("key", "corpus", "split", "part", "metric", "number", "system", "seed", "value")
        return own.partition_by("corpus", "split", "part", "metric", as_dict=True)

    @cached_property
    def _several(self) -> set[tuple[str, str]]:
        """Corpora with a way to split them that was used with several seeds."""
        seeds: dict[tuple[str, str], set[int]] = {}
        for block in self.blocks:
            seeds.setdefault((block["corpus"], block["split"]), set()).add(block["seed"])
        return {place for place, own in seeds.items() if len(own) > 1}


def is_standard(block: Row) -> bool:
    """Whether a block is of a corpus's own parts."""
    return str(block["split"]).startswith(STANDARD)


def is_random(block: Row) -> bool:
    """Whether a block is of splits that chance made."""
    return str(block["split"]).startswith(RANDOM) and block["splits"] > 1


def way(block: Row) -> str:
    """How a block was split, without versions.

    Examples
    --------
    >>> way({"split": "random.v1(unit='document')", "seed": 3})
    "random(unit='document'), seed 3"
    """
    seed = f", seed {block['seed']}" if block["seed"] else ""
    return re.sub(r"\.v\d+\b", "", str(block["split"])) + seed


def over(block: Row) -> str:
    """On which splits a block is."""
    if block["splits"] == 1:
        return "on the standard split" if is_standard(block) else f"on one split ({way(block)})"
    return f"over {block['splits']:,} splits ({way(block)})"


def sentence_start(text: str) -> str:
    """The same with a capital letter."""
    return text[:1].upper() + text[1:]


def blocks_of(scores: pl.DataFrame, runs: pl.DataFrame | None) -> list[dict[str, Any]]:
    """Blocks of a study that did not come to its end: scores alone, without tests; runs tell the seeds of splits."""
    import polars as pl

    value = pl.col("value")
    known = scores.filter(value.is_not_nan())
    if runs is None:
        known = known.with_columns(split_seed=pl.lit(0))
    else:
        known = known.join(runs.select("key", "split_seed"), on="key", how="left", maintain_order="left")
        known = known.with_columns(pl.col("split_seed").fill_null(0))
    place = ["corpus", "split", "split_seed", "part", "metric", "system"]
    means = known.group_by(*place, "number", maintain_order=True).agg(value.mean().alias("of_split"))
    found = known.group_by(place, maintain_order=True).agg(
        pl.len().alias("runs"),
        value.mean().alias("mean"),
        value.std().alias("sd"),
        value.min().alias("least"),
        value.max().alias("most"),
    )
    splits = means.group_by(place, maintain_order=True).agg("number", "of_split")
    blocks: dict[tuple[str, str, int, str], dict[str, Any]] = {}
    for row in found.join(splits, on=place, how="left", maintain_order="left").iter_rows(named=True):
        where = (row["corpus"], row["split"], row["split_seed"], row["part"])
        block = blocks.setdefault(where, _empty_block(*where))
        block["numbers"] = sorted({*block["numbers"], *row["number"]})
        block["metrics"] = list(dict.fromkeys([*block["metrics"], row["metric"]]))
        told = {key: row[key] for key in ("system", "metric", "runs", "mean", "sd", "least", "most")}
        block["systems"].append(
            told | {"interval": None, "of_split": dict(zip(row["number"], row["of_split"], strict=True))}
        )
    for block in blocks.values():
        block["splits"] = len(block["numbers"])
        for each in block["systems"]:
            of_split = each.pop("of_split")
            each["by_split"] = [of_split.get(number) for number in block["numbers"]]
        block["systems"].sort(key=lambda each, block=block: (block["metrics"].index(each["metric"]), -each["mean"]))
    return list(blocks.values())


def _empty_block(corpus: str, split: str, seed: int, part: str) -> dict[str, Any]:
    nothing: dict[str, list[Any]] = {name: [] for name in ("numbers", "metrics", "systems", "pairs", "agreement")}
    return {"corpus": corpus, "split": split, "seed": seed, "part": part, "splits": 0, "train_words": [], **nothing}
