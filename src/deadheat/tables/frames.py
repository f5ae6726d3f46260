"""DataFrames, arrays and dictionaries as tables: polars, pandas, pyarrow, and what else exports Arrow data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl

from deadheat.errors import InputError

NAME = "the table"
INTERCHANGE = "pyarrow.interchange"  # optional


def is_frame(source: object) -> bool:
    """Whether an object is a DataFrame, a structured array, a list of rows, or a dictionary of columns."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame) or _is_pandas(source):
        return True
    if any(hasattr(source, name) for name in ("__arrow_c_stream__", "__dataframe__")):
        return not isinstance(source, pl.Series)
    if isinstance(source, np.ndarray):
        return source.dtype.names is not None
    if isinstance(source, Mapping):
        return all(map(is_column, source.values()))
    return isinstance(source, Sequence) and bool(source) and all(isinstance(row, Mapping) for row in source)


def is_column(values: object) -> bool:
    """Whether an object holds the values of a column: a list, an array, or a series of some library."""
    return (isinstance(values, Sequence | np.ndarray | pl.Series) and not isinstance(values, str)) or _is_series(values)


def _is_series(values: object) -> bool:
    return hasattr(values, "__array__") and hasattr(values, "__len__") and not isinstance(values, Mapping)


def frame_of(source: Any) -> pl.DataFrame:
    """The rows of any of these; what is neither number nor truth is text."""
    try:
        frame = _frame(source)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        problem = str(error).partition("\n")[0]
        raise InputError(f"{NAME}: {problem}; expected columns of text and numbers, all of one length") from error
    texts = [
        pl.col(name).cast(pl.String)
        for name, kind in frame.schema.items()
        if not kind.is_numeric() and kind != pl.Boolean
    ]
    return frame.with_columns(texts)


def _frame(source: Any) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, np.ndarray):
        return pl.DataFrame({name: source[name] for name in source.dtype.names or ()})
    if _is_pandas(source):  # column by column: the conversion as a whole needs pyarrow
        return pl.DataFrame({str(name): _pandas_column(source[name]) for name in source.columns})
    if isinstance(source, Mapping):
        return pl.DataFrame({str(name): _column(values) for name, values in source.items()})
    if isinstance(source, Sequence):
        return pl.DataFrame(list(source), infer_schema_length=None)
    if hasattr(source, "__arrow_c_stream__"):
        return pl.DataFrame(source)
    return _from_protocol(source)


def _from_protocol(source: Any) -> pl.DataFrame:
    """What only speaks the older DataFrame interchange protocol, by pyarrow."""
    try:
        interchange = import_module(INTERCHANGE)
    except ImportError:
        expected = "expected a DataFrame of polars or pandas, or pip install pyarrow to read it"
        raise InputError(f"{type(source).__name__}: a DataFrame with __dataframe__ alone; {expected}") from None
    try:
        return pl.DataFrame(interchange.from_dataframe(source))
    except (NotImplementedError, RuntimeError) as error:
        raise ValueError(str(error)) from error


def _column(values: Any) -> Any:
    return values if isinstance(values, Sequence | np.ndarray | pl.Series) else np.asarray(values)


def _is_pandas(source: object) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns")


def _pandas_column(column: Any) -> pl.Series:
    values = column.to_numpy()
    if values.dtype == object or values.dtype.kind not in "biuf":
        return pl.Series([None if value is None or value != value else value for value in values.tolist()])
    return pl.Series(values)
