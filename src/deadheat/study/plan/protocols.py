"""The experiments of five papers that a study can follow by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Protocol:
    """The experiment of a paper."""

    name: str
    paper: str  # authors and year
    title: str
    question: str
    original: str  # what the paper ran

    def __str__(self) -> str:
        return f"{self.name}, after {self.paper}"


_PROTOCOLS = (
    Protocol(
        "random-splits",
        "Gorman and Bedrick (2019)",
        "We Need to Talk about Standard Splits",
        "Do systems that differ on the standard split differ on random splits, too?",
        "six taggers on the Wall Street Journal texts of the Penn Treebank and of OntoNotes; the standard split and 20 "
        "random ones",
    ),
    Protocol(
        "score-distributions",
        "Reimers and Gurevych (2017)",
        "Reporting Score Distributions Makes a Difference",
        "Is it the method or the seed?",
        "two entity recognizers with 86 and 41 seeds; then more than 50,000 BiLSTM networks on five tasks",
    ),
    Protocol(
        "treebank-subsets",
        "Alonso-Alonso, Vilares and Gómez-Rodríguez (2022)",
        "The Fragility of Multi-Treebank Parsing Evaluation",
        "Would another choice of treebanks change the ranking?",
        "three parsers on eight published subsets of treebanks; 26 systems on random subsets of 10 of 82 treebanks",
    ),
    Protocol(
        "tune-split",
        "van der Goot (2021)",
        "We Need to Talk About train-dev-test Splits",
        "Does it matter whether dev picks epochs as well as settings, or a tune part picks the epochs?",
        "two parsers, nine treebanks, a grid of settings on each",
    ),
    Protocol(
        "test-size",
        "van der Goot, Liu and Müller-Eberstein (2024)",
        "Enough Is Enough! A Case Study on the Effect of Data Size for Evaluation Using Universal Dependencies",
        "How much test data is enough to rank systems?",
        "33 parsers with five seeds each, trained on the first 50,000 words of each of six treebanks",
    ),
)
PROTOCOLS: Mapping[str, Protocol] = {protocol.name: protocol for protocol in _PROTOCOLS}
