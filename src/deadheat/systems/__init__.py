"""Systems to compare: taggers, parsers, and any program by its command line. Importing this registers all of them."""

from deadheat.systems import baselines, bilstm, command, flair, hmm, loglinear, parsers, perceptron, recipe, transformer
from deadheat.systems.system import SYSTEMS, Model, System

__all__ = [
    "SYSTEMS", "Model", "System", "baselines", "bilstm", "command", "flair", "hmm", "loglinear", "parsers",
    "perceptron", "recipe", "transformer",
]  # fmt: skip
