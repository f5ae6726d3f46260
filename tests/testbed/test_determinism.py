"""The same call gives the same bytes, everywhere and always."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from itertools import islice

import pytest

from deadheat.testbed import LANGUAGES, SimulatedSystem, documents, generate, simulate, treebank

# A change of any of these is a change of every number computed on the testbed.
FINGERPRINTS = {
    "velani": "19a46d9e5ccd2091478fe07fc1d8dfc114c3d494d1e03dd38fb69714d6a12bd1",
    "torukai": "715f5625a1ffd1699c6d515dfa44eeb2e434396bdd3ee1e0d67d1f0fe0f6ef2e",
    "ostrevan": "75c05fde09aa4756a7d9e528a0e54c44721a5014d321ebff74370301e5a72ec1",
    "morelle": "5fcbf578647058d3a9799c89d6ae2cbece222bcf73bfec96087d95dbdd222517",
    "dzari": "4d7e1d0f3e57003bda40303ae21c3de2e114ac8f199d3885ad53500535cece6b",
    "elisque": "e0d3248577666ff80c5ca1fc57e6578452621fce4a84d827b43a6d71bfeb69fa",
}
PREDICTION_FINGERPRINT = "64b3edb69c2c9e61a884553f21211133bb084fe57c050fdc1565a79da7770964"

PREDICT = """
from hashlib import sha256
from deadheat.testbed import SimulatedSystem, generate, simulate
gold = generate("morelle", sentences=40, seed=2)
system = SimulatedSystem("frozen", tokens=0.95, sentences=0.9)
print(sha256(simulate(gold, system, seed=3).encode()).hexdigest())
"""


def fingerprint(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_corpus_is_frozen(language: str) -> None:
    assert fingerprint(generate(language, sentences=60, seed=4)) == FINGERPRINTS[language]


def test_predictions_are_frozen_whatever_the_order_of_sets() -> None:
    for hash_seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PREDICT],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        )
        assert done.stdout.strip() == PREDICTION_FINGERPRINT


def test_a_longer_corpus_begins_with_the_shorter_one() -> None:
    shorter = generate("elisque", sentences=37, seed=9)
    assert generate("elisque", sentences=90, seed=9).startswith(shorter)


def test_a_document_depends_on_the_seed_and_its_number_alone() -> None:
    first, again, other = (list(islice(documents("velani", seed=seed), 4)) for seed in (1, 1, 2))
    assert first == again
    assert all(one != another for one, another in zip(first, other, strict=True))
    assert len(set(map(tuple, first))) == 4


def test_a_language_looked_up_by_name_is_the_language_itself() -> None:
    assert generate("dzari", sentences=10, seed=0) == generate(LANGUAGES["dzari"], sentences=10, seed=0)
    other = replace(LANGUAGES["dzari"], mean_length=8.0)
    assert generate(other, sentences=10, seed=0) != generate("dzari", sentences=10, seed=0)


def test_predictions_depend_on_the_seed_the_name_and_the_shared_seed() -> None:
    gold = generate("velani", sentences=30, seed=0)
    system = SimulatedSystem("one")
    result = [
        simulate(gold, system, seed=1),
        simulate(gold, system, seed=2),
        simulate(gold, replace(system, name="two"), seed=1),
        simulate(gold, system, seed=1, shared_seed=1),
    ]
    assert result[0] == simulate(gold, system, seed=1)
    assert len(set(result)) == 4


def test_the_parts_of_a_treebank_are_its_documents_dealt_out() -> None:
    parts = treebank("velani", sentences=400, seed=3)
    whole = generate("velani", sentences=400, seed=3)
    dealt = [block for part in (parts.train, parts.dev, parts.test) for block in part.split("\n\n")]
    assert sorted(dealt) == sorted([*whole.split("\n\n"), "", ""])
