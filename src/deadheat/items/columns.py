"""Find the columns of an item table by the names that people use, or by the options that name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from deadheat.errors import InputError
from deadheat.items.detection import ITEM_NAMES, plain_name
from deadheat.items.options import ATTEMPTS, RUNS, ItemColumns
from deadheat.items.table import ItemTable, item_table
from deadheat.tables.table import METRICS, Table

# In any case, and with spaces or hyphens for underscores. The first names win where a table has several of a kind.
NAMES: Mapping[str, tuple[str, ...]] = {
    "item": ITEM_NAMES,
    "system": ("system", "model", "model_name", "parser", "tagger", "team", "method", "classifier"),
    "score": ("score", "correct", "is_correct", "value", "passed", "success"),
    "run": ("run", "seed", "epoch", "trial", "attempt", "repeat", "repetition"),
    "task": ("task", "dataset", "data_set", "benchmark", "treebank", "corpus"),
    "cluster": ("cluster", "passage", "passage_id", "document", "document_id", "group", "conversation", "paragraph"),
    "metric": METRICS,
}  # fmt: skip
# What the mean of these columns is called.
LABELS = {"correct": "accuracy", "is_correct": "accuracy", "passed": "pass rate", "success": "success rate"}
TRAINED = ("run", "seed")  # repeats that are systems trained again; others are attempts at the same item
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "correct": 1.0, "incorrect": 0.0}
MISSING = ("", "na", "n/a", "nan", "none", "null")


def has_items(table: Table, columns: ItemColumns) -> bool:
    """Whether a table has a column of items, named by an option or known by its name."""
    return bool(columns.get("item") or _known(table, "item"))


def find_items(table: Table, columns: ItemColumns) -> ItemTable:
    """The item table of a table with one row per item, system and run, or one per item and a column per system."""
    found = {kind: table.column(columns[kind]) if columns.get(kind) else _known(table, kind) for kind in NAMES}  # type: ignore[literal-required]
    _check_roles(table, found)
    if not found["item"]:
        listed = ", ".join(table.frame.columns)
        raise InputError(f"{table.path}: no column of items among {listed}; expected one named by --item")
    kinds = [kind for kind in ("task", "item", "cluster", "metric") if found[kind]]
    texts = {kind: _texts(table, found[kind], kind) for kind in kinds}
    run = found["run"]
    details = {
        "repeats": RUNS if run.lower() in TRAINED else ATTEMPTS,
        "cluster": found["cluster"],
    }
    if run:
        texts["repeat"] = _texts(table, run, "run")
    base = pl.DataFrame(texts)
    if found["system"] and found["score"]:
        scores = numbers(table, found["score"])
        frame = base.with_columns(_texts(table, found["system"], "system").alias("system"), scores.alias("score"))
        if "metric" not in texts:
            label = LABELS.get(plain_name(found["score"]), found["score"])
            frame = frame.with_columns(pl.lit(label).alias("metric"))
        return item_table(table.path, frame, **details)
    if found["system"]:
        expected = "one of scores (score, correct, value), or --score to name it"
        raise InputError(f"{table.path}: systems in column {found['system']} without scores; expected {expected}")
    taken = {name for name in found.values() if name}
    systems = [name for name in table.frame.columns if name not in taken]
    systems = [found["score"]] if found["score"] and not systems else systems
    if not systems:
        raise InputError(f"{table.path}: items without scores; expected a column for every system")
    wide = [base.with_columns(numbers(table, name).alias("score"), pl.lit(name).alias("system")) for name in systems]
    return item_table(table.path, pl.concat(wide), **details)


def numbers(table: Table, name: str) -> pl.Series:
    """A column of scores: numbers, or true and false; empty cells are items without a score."""
    series = table.frame[name]
    if series.dtype == pl.Boolean:
        return series.cast(pl.Float64)
    if series.dtype == pl.String:
        words = series.str.to_lowercase()
        truths = words.replace_strict(TRUTH, default=None, return_dtype=pl.Float64)
        plain = words.set(words.is_in(list(MISSING)), None)
        converted = plain.cast(pl.Float64, strict=False)
        wrong = (plain.is_not_null() & truths.is_null() & ~converted.is_finite().fill_null(value=False)).arg_true()
        if len(wrong):
            row = int(wrong[0])
            raise InputError(f"{table.location(row)}: {name} {series[row]!r}; expected a number, or true or false")
        return converted.fill_null(truths)
    return table.numbers(name, what=name) if not series.dtype.is_float() else _finite(table, series.cast(pl.Float64))


def _finite(table: Table, series: pl.Series) -> pl.Series:
    """Floats as they are; NaN is an item without a score."""
    infinite = series.is_infinite().fill_null(value=False).arg_true()
    if len(infinite):
        raise InputError(f"{table.location(int(infinite[0]))}: {series.name} is infinite; expected a number")
    return series.fill_nan(None)


def _texts(table: Table, name: str, kind: str) -> pl.Series:
    return table.texts(name).alias(kind) if kind == "cluster" else table.names(name, kind).alias(kind)


def _known(table: Table, kind: str) -> str:
    """The column of a kind, by its name; "" if there is none."""
    return named(table, NAMES[kind])


def named(table: Table, names: Sequence[str]) -> str:
    """The column that has the first of these names that occurs; "" if there is none."""
    plain = {plain_name(name): name for name in table.frame.columns}
    return next((plain[name] for name in names if name in plain), "")


def _check_roles(table: Table, found: Mapping[str, str]) -> None:
    taken: dict[str, str] = {}
    for kind, name in found.items():
        if name and name in taken:
            raise InputError(
                f"{table.path}: column {name} is both {taken[name]} and {kind}; expected different columns"
            )
        taken[name] = kind


def column_options() -> Sequence[str]:
    """The names of the options that name columns."""
    return tuple(NAMES)
