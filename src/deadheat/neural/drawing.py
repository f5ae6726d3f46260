"""First vectors of words, characters and labels, drawn for each by itself."""

from __future__ import annotations

import jax
from jax import Array


def drawn_rows(key: Array, marks: Array, size: int) -> Array:
    """A row of small numbers for every mark, which depends on the key and the mark alone."""
    bound = (3.0 / size) ** 0.5

    def draw(mark: Array) -> Array:
        return jax.random.uniform(jax.random.fold_in(key, mark), (size,), minval=-bound, maxval=bound)

    rows: Array = jax.vmap(draw)(marks)
    return rows
