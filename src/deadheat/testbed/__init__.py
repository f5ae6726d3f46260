"""Treebanks of invented languages, and systems of known quality: statistics meet the truth here.

Real treebanks cannot be shipped, and nobody knows how good a real system truly is. Here both are made:
`generate` and `treebank` write corpora whose grammar is known, `simulate` writes the predictions of systems
whose accuracies are settings. Everything is the same on every machine.
"""

from deadheat.testbed.conllu import Sentence, Token, Word
from deadheat.testbed.corpus import Document, Treebank, documents, generate, treebank
from deadheat.testbed.files import BUILT_IN_SYSTEMS, DEFAULT_SYSTEMS, BuiltIn, built_in, write_testbed
from deadheat.testbed.language import LANGUAGES, Genre, Language
from deadheat.testbed.simulation import simulate
from deadheat.testbed.systems import SimulatedSystem, Truth, truth

__all__ = [
    "BUILT_IN_SYSTEMS",
    "DEFAULT_SYSTEMS",
    "LANGUAGES",
    "BuiltIn",
    "Document",
    "Genre",
    "Language",
    "Sentence",
    "SimulatedSystem",
    "Token",
    "Treebank",
    "Truth",
    "Word",
    "built_in",
    "documents",
    "generate",
    "simulate",
    "treebank",
    "truth",
    "write_testbed",
]
