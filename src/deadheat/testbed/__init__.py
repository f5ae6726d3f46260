"""Treebanks of invented languages, and simulated systems of known accuracy.

Real treebanks cannot be shipped, and the true accuracy of real systems is unknown. `generate` and `treebank` make
corpora with a known grammar, `simulate` makes the predictions of systems with given accuracies. All output is
reproducible.
"""

from deadheat.testbed.corpus import Treebank, documents, generate, treebank
from deadheat.testbed.evaluations import Benchmark, Model, answers
from deadheat.testbed.files import BUILT_IN_SYSTEMS, DEFAULT_SYSTEMS, built_in, write_evaluations, write_testbed
from deadheat.testbed.language import LANGUAGES, Genre, Language
from deadheat.testbed.simulation import SimulatedSystem, Truth, simulate, truth

__all__ = [
    "BUILT_IN_SYSTEMS",
    "DEFAULT_SYSTEMS",
    "LANGUAGES",
    "Benchmark",
    "Genre",
    "Language",
    "Model",
    "SimulatedSystem",
    "Treebank",
    "Truth",
    "answers",
    "built_in",
    "documents",
    "generate",
    "simulate",
    "treebank",
    "truth",
    "write_evaluations",
    "write_testbed",
]
