"""DataFrames, arrays and dictionaries as tables: polars, pandas, pyarrow, and what else exports Arrow data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from deadheat.errors import InputError

NAME = "the table"


def is_frame(source: object) -> bool:
    """Whether an object is a DataFrame, a list of rows, or a dictionary of columns."""
    if isinstance(source, pl.DataFrame) or hasattr(source, "__arrow_c_stream__") or _is_pandas(source):
        return True
    if isinstance(source, Mapping):
        return all(
            isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) for values in source.values()
        )
    return isinstance(source, Sequence) and bool(source) and all(isinstance(row, Mapping) for row in source)


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
    if _is_pandas(source):  # column by column: the conversion as a whole needs pyarrow
        return pl.DataFrame({str(name): _pandas_column(source[name]) for name in source.columns})
    if isinstance(source, Mapping):
        return pl.DataFrame({str(name): values for name, values in source.items()})
    if isinstance(source, Sequence):
        return pl.DataFrame(list(source), infer_schema_length=None)
    return pl.DataFrame(source)


def _is_pandas(source: object) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns")


def _pandas_column(column: Any) -> pl.Series:
    values = column.to_numpy()
    if values.dtype == object or values.dtype.kind not in "biuf":
        return pl.Series([None if value is None or value != value else value for value in values.tolist()])
    return pl.Series(values)
