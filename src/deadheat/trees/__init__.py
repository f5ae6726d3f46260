"""Dependency trees apart from networks: decoders, encodings, transitions, checks.

Heads are one number a word of a corpus: 0 for the root, else the place of the head in the sentence, counted from 1.
Sentences are told apart by offsets, as in `Corpus`. The names of the transition system are in `archybrid`, those of
bracket labels in `bracketing`.
"""

from deadheat.trees import archybrid, bracketing
from deadheat.trees.checking import Problem, crossing_arcs, is_projective, problems, require_trees
from deadheat.trees.decoding import beam_trees, best_projective_trees, best_trees

__all__ = [
    "Problem", "archybrid", "beam_trees", "best_projective_trees", "best_trees", "bracketing", "crossing_arcs",
    "is_projective", "problems", "require_trees",
]  # fmt: skip
