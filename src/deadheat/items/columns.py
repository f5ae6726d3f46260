"""Find the columns of an item table by the names that people use, or by the options that name them."""

from __future__ import annotations

import re
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
    "metric_column": METRICS,
}  # fmt: skip
# Columns of numbers that are hardly the scores of a system.
NO_SYSTEMS = frozenset(
    "length len size tokens words chars characters sentences duration time seconds latency runtime cost price index "
    "idx id row line lineno position rank number no year date timestamp weight difficulty level fold split "
    "version".split()
)
COUNTED = re.compile(r"(?:num|number_of)_\w+|\w+_(?:length|len|tokens|count|seconds|ms|id|idx|index|time)")
ROW_NAMES = ("id", "index", "idx", "guid")  # by which tables of anything name their rows
BATTLES = ("model_a", "system_a"), ("model_b", "system_b"), ("winner", "preference")
# What the mean of these columns is called.
LABELS = {"correct": "accuracy", "is_correct": "accuracy", "passed": "pass rate", "success": "success rate"}
TRAINED = ("run", "seed")  # repeats that are systems trained again; others are attempts at the same item
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "correct": 1.0, "incorrect": 0.0}
MISSING = ("", "na", "n/a", "nan", "none", "null")


def has_items(table: Table, columns: ItemColumns) -> bool:
    """Whether a table has a column of items, named by an option or known by its name."""
    if columns.get("item"):
        return True
    item = _known(table, "item")
    return bool(item) and (plain_name(item) not in ROW_NAMES or _are_shared(table, item))


def _are_shared(table: Table, item: str) -> bool:
    """Whether several systems have the same identifiers, so that these are not just those of rows."""
    system, task = _known(table, "system"), _known(table, "task")
    if system:
        return table.frame.select(item, system).n_unique() > table.frame[item].n_unique()
    return not task or table.frame[task].n_unique() < table.frame.height


def is_battles(table: Table) -> bool:
    """Whether a table has the columns of battles: two systems, and which of them was preferred."""
    return all(named(table, names) for names in BATTLES)


def find_items(table: Table, columns: ItemColumns, *, title: str = "") -> ItemTable:
    """The item table of a table with one row per item, system and run, or one per item and a column per system.

    `title` is the name of the only system of a table that does not name it.
    """
    if is_battles(table):
        raise InputError(f"{table.path}: battles of systems; expected scores of items (deadheat rank takes battles)")
    found = {kind: table.column(columns[kind]) if columns.get(kind) else _known(table, kind) for kind in NAMES}  # type: ignore[literal-required]
    ignored = {table.column(name) for name in columns.get("ignore", ())}
    found = {kind: "" if name in ignored and not columns.get(kind) else name for kind, name in found.items()}
    _check_roles(table, found)
    if not found["item"]:
        listed = ", ".join(table.frame.columns)
        raise InputError(f"{table.path}: no column of items among {listed}; expected one named by --item")
    kinds = [kind for kind in ("task", "item", "cluster", "metric_column") if found[kind]]
    texts = {kind.removesuffix("_column"): _texts(table, found[kind], kind) for kind in kinds}
    run, score = found["run"], found["score"]
    details = {"repeats": RUNS if run.lower() in TRAINED else ATTEMPTS, "cluster": found["cluster"]}
    if run:
        texts["repeat"] = _texts(table, run, "run")
    base = pl.DataFrame(texts)
    if score:
        system = _texts(table, found["system"], "system") if found["system"] else pl.lit(title or score)
        frame = base.with_columns(system.alias("system"), numbers(table, score).alias("score"))
        if "metric" not in texts:
            frame = frame.with_columns(pl.lit(LABELS.get(plain_name(score), score)).alias("metric"))
        others = [name for name in table.frame.columns if name != score and plain_name(name) in NAMES["score"]]
        notes = [f"scores are those of column {score}; --score also takes {' or '.join(others)}"] if others else []
        return item_table(table.path, frame, **details).with_notes(*notes)
    if found["system"]:
        expected = "one of scores (score, correct, value), or --score to name it"
        raise InputError(f"{table.path}: systems in column {found['system']} without scores; expected {expected}")
    taken = {*found.values(), *ignored}
    systems = _systems(table, [name for name in table.frame.columns if name not in taken])
    wide = [base.with_columns(scores.alias("score"), pl.lit(name).alias("system")) for name, scores in systems.items()]
    return item_table(table.path, pl.concat(wide), **details)


def _systems(table: Table, names: Sequence[str]) -> dict[str, pl.Series]:
    """The scores of every system in a table with a column for each; a column that may be something else is refused."""
    if not names:
        raise InputError(f"{table.path}: items without scores; expected a column for every system")
    remedy = "or a table with the columns item, system and score if it is a system"
    for name in names:
        plain = plain_name(name)
        if plain in NO_SYSTEMS or COUNTED.fullmatch(plain):
            raise InputError(f"{table.path}: column {name} among the systems; expected --ignore {name}, {remedy}")
        if _is_text(table.frame[name]):
            problem = f"column {name} has text where the others have scores of systems"
            raise InputError(f"{table.path}: {problem}; expected --ignore {name} if it is no system")
    systems = {name: numbers(table, name) for name in names}
    shares = [name for name, scores in systems.items() if _is_share(scores)]
    beyond = [name for name, scores in systems.items() if len(scores.drop_nulls()) and _greatest(scores) > 1]
    if beyond and len(shares) >= len(beyond):
        name, scores = beyond[0], systems[beyond[0]]
        problem = f"column {name} goes up to {_greatest(scores):g}, and {shares[0]} from 0 to 1"
        raise InputError(f"{table.path}: {problem}; expected --ignore {name}, {remedy}")
    return systems


def _is_text(series: pl.Series) -> bool:
    """Whether no cell of a column could be a score."""
    if series.dtype != pl.String:
        return False
    words = series.drop_nulls().str.to_lowercase()
    words = words.filter(~words.is_in([*MISSING, *TRUTH]))
    return len(words) > 0 and words.cast(pl.Float64, strict=False).null_count() == len(words) > 1


def _is_share(scores: pl.Series) -> bool:
    """Whether scores are between 0 and 1, and not all 1."""
    known = scores.drop_nulls()
    return bool(len(known)) and float(known.min()) >= 0 and _greatest(known) <= 1 and float(known.min()) < 1  # type: ignore[arg-type]


def _greatest(scores: pl.Series) -> float:
    return float(scores.max())  # type: ignore[arg-type]


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
    for role, name in found.items():
        kind = role.removesuffix("_column")
        if name and name in taken:
            raise InputError(
                f"{table.path}: column {name} is both {taken[name]} and {kind}; expected different columns"
            )
        taken[name] = kind
