"""Dependency trees without networks: decoders, encodings, transitions, checks.

Heads are one number per word of a corpus: 0 for the root, else the position of the head in the sentence, from 1.
Sentences are separated by offsets, as in `Corpus`. The transition system is in `archybrid`, bracket labels are in
`bracketing`.
"""

from deadheat.trees import archybrid, bracketing
from deadheat.trees.checking import Problem, problems, require_trees
from deadheat.trees.decoding import beam_trees, best_projective_trees, best_trees

__all__ = [
    "Problem", "archybrid", "beam_trees", "best_projective_trees", "best_trees", "bracketing", "problems",
    "require_trees",
]  # fmt: skip
