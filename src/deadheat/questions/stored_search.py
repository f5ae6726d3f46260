"""Which rows of a store are of searches: their networks are no systems that a study compares."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import polars as pl

from deadheat.documents import Document
from deadheat.questions.run import KEYS
from deadheat.questions.search_names import searched
from deadheat.study.plan.cells import Cell
from deadheat.study.search.search import BOTH, DEV, TUNE

PLACE = ("corpus", "split", "split_seed", "number")


def search_rows(runs: pl.DataFrame, searches: Sequence[Document]) -> pl.DataFrame:
    """The runs of searches that came to their end, under the names of these; each once.

    They are known by their keys. Where a search has none, as in results of older versions, by what they are called.
    """
    names: dict[str, str] = {}
    for search in reversed(searches):
        keys = search.get(KEYS)
        own = _called_alike(runs, search) if keys is None else keys
        names |= dict.fromkeys(own, searched(search["label"]))
    mine = runs.filter(pl.col("key").is_in(list(names)))
    return mine.with_columns(pl.col("key").replace_strict(names, return_dtype=pl.String).alias("system"))


def _called_alike(runs: pl.DataFrame, search: Document) -> list[str]:
    """Keys of the runs that have a system, a setup and a place of a search."""
    systems = pl.DataFrame({"system": [each["system"] for each in search["tried"]]}, schema={"system": pl.String})
    named = ("corpus", "split", "seed", "number")
    schema = {"corpus": pl.String, "split": pl.String, "split_seed": pl.Int64, "number": pl.Int64}
    places = pl.DataFrame([tuple(each[name] for name in named) for each in search["datasets"]], schema, orient="row")
    own = runs.filter(pl.col("setup").is_in(setups_of(search["setups"], search["final"])))
    found: list[str] = own.join(systems, on="system", how="semi").join(places, on=PLACE, how="semi")["key"].to_list()
    return found


def setups_of(setups: Sequence[str], final: str) -> list[str]:
    """How stores name what networks of a search learn from and what picks their epochs."""
    learned = {TUNE: ("", TUNE), DEV: (BOTH, DEV)}
    last = [(BOTH, DEV) if final == BOTH else learned[setup] for setup in setups]
    ways = [(*way, won) for own, won in (([learned[setup] for setup in setups], False), (last, False), (last, True))
            for way in own]  # fmt: skip
    return [
        Cell("", "", "", 0, 0, "", 0, tune=tune, learned=parts, final=won).setup
        for parts, tune, won in dict.fromkeys(ways)
    ]


def unfinished_search(runs: pl.DataFrame, text: str) -> list[str]:
    """Keys of the networks of a search, of a study that never came to its end; `text` is the study file."""
    try:
        study = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []
    if not study.get("search"):
        return []
    tune = str(study.get("tune") or "auto")
    own = "" if tune == "auto" else Cell("", "", "", 0, 0, "", 0, tune=tune).setup
    rows = runs.filter(pl.col("setup") != own) if study.get("systems") else runs
    found: list[str] = rows["key"].to_list()
    return found
