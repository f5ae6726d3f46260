"""`deadheat systems`: what is there, what is missing, and how it is installed; and studies that name programs."""

import json
from pathlib import Path

import pytest

from deadheat.systems import environments
from deadheat.systems.recipe import FOLDER
from deadheat.testbed import generate
from tests.cli.running import Run
from tests.systems.stand_ins import make

STUDY = """
[corpora]
velani = "bed/velani"

[splits]
strategy = "random(unit='document')"

[[systems]]
name = "unigram"

[[systems]]
name = "nltk"
epochs = 3
seeds = 2

[[systems]]
name = "crfsuite"
seeds = 2
"""
