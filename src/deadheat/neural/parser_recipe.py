"""The settings of a parser, in the form in which networks take them; nothing here needs jax."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from deadheat.neural.shape import Course, Numbers, Shape


@dataclass(frozen=True, slots=True)
class ParserRecipe:
    """All that a parser is made by, but for its seed and its sentences."""

    tags: str  # the column that tags are read from; none if empty
    vectors: str  # a file; none if empty
    shape: Shape
    numbers: Numbers
    course: Course

    @property
    def group(self) -> Hashable:
        """What has to be the same for parsers to train together; numbers may differ."""
        return self.tags, self.vectors, self.shape
