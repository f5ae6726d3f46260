"""Word vectors from a file for the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.neural.text import Lexicon, normalised
from deadheat.neural.vectors import Vectors, read_vectors


@dataclass(frozen=True, slots=True, eq=False)
class Pretrained:
    """What a file has for some forms: as they stand, else in lower case, else with digits made alike."""

    vectors: Vectors
    place: dict[str, int]  # of each string that was looked up
    keys: dict[str, str]  # forms -> the string that has a vector

    @classmethod
    def of(cls, path: str, forms: Sequence[str]) -> Pretrained:
        """Look up forms in a file."""
        spellings = [(form, form.lower(), normalised(form)) for form in forms]
        place = {string: at for at, string in enumerate(dict.fromkeys(each for three in spellings for each in three))}
        vectors = read_vectors(path, list(place))
        keys: dict[str, str] = {}
        for form, lower, normal in spellings:
            # A form that is not in the file itself is found by its lower case, and has the same vector.
            as_lower = np.array_equal(vectors.rows[place[form]], vectors.rows[place[lower]])
            found = lower if as_lower or not vectors.found[place[form]] else form
            keys[form] = found if vectors.found[place[found]] else normal
        return cls(vectors, place, keys)

    def __contains__(self, word: str) -> bool:
        return word in self.place and bool(self.vectors.found[self.place[word]])

    def rows(self, lexicon: Lexicon) -> NDArray[np.float32]:
        """A row for every word of a lexicon, of NaN where the file has none."""
        rows = np.full((len(lexicon.words), self.vectors.size), np.nan, np.float32)
        for at, word in enumerate(lexicon.words):
            if word in self:
                rows[at] = self.vectors.rows[self.place[word]]
        return rows
