"""What runs find out about seeds: equal predictions of two seeds, and different ones of one seed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.study_cases import corpus_text

pytestmark = pytest.mark.usefixtures("own_code")
SYSTEMS = """
import random
import deadheat


def seeded():
    return _tagger(lambda seed: random.Random(seed))


def settled(*, length: int = 1):
    return _tagger(lambda seed: random.Random(seed))


def once():
    def make_rng(seed):
        with open("trained", "a") as file:
            file.write("x")
        if len(open("trained").read()) > 2:
            raise ValueError("only twice")
        return random.Random(seed)
    return _tagger(make_rng)


def noisy(*, randomness: str = "seed"):
    return _tagger(lambda seed: random.Random(), randomness=randomness)


def fixed(*, randomness: str = "seed"):
    return _tagger(lambda seed: random.Random(5), randomness=randomness)


def _tagger(make_rng, **settings):
    def learn(train, tune, seed):
        rng = make_rng(seed)
        return lambda words: [rng.choice(["NOUN", "VERB", "DET"]) for word in words]

    return deadheat.tagger(learn, **settings)
"""


def study(folder: Path, *systems: str, more: str = "seeds = 3") -> Path:
    (folder / "small.conllu").write_text(corpus_text(30))
    (folder / "random_systems.py").write_text(SYSTEMS)
    entries = "".join(f'[[systems]]\nname = "random_systems.py:{system}"\n' for system in systems)
    splits = '[corpora]\nsmall = "small.conllu"\n[splits]\nstrategy = "random"\ntimes = 2\n'
    (folder / "study.toml").write_text(f"{more}\n{splits}{entries}[engine]\nworkers = 2\n")
    return folder / "study.toml"


def notes(err: str, label: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith(f"note: {label}:")]


def test_seeds_without_an_effect_are_a_note(tmp_path: Path, commands: Commands) -> None:
    outcome = commands("run", study(tmp_path, "seeded", "fixed"), "--quiet")
    assert outcome.code == 0
    (note,) = notes(outcome.err, "fixed")
    assert "two seeds gave the same predictions on 2 of 2 splits (such as 0 and 1)" in note
    assert note.endswith('If the seed has no effect, declare randomness = "fixed" or "none".')
    assert not notes(outcome.err, "seeded")


def test_one_seed_with_different_results_is_a_note_and_the_store_stays_as_it_was(
    tmp_path: Path, commands: Commands
) -> None:
    path = study(tmp_path, "seeded", "noisy")
    outcome = commands("run", path, "--quiet", "--json")
    (note,) = notes(outcome.err, "noisy")
    assert "two trainings with the same seed gave different predictions, so its results cannot be reproduced" in note
    assert not notes(outcome.err, "seeded")
    result = json.loads(outcome.out)
    assert sorted(result["repeated"].values()) == [False, True]
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert store.verify() == []
        assert len(store.runs()) == 12

    # Neither is trained a third time, and the note stays.
    again = commands("run", path, "--quiet", "--json")
    assert notes(again.err, "noisy") == [note]
    assert json.loads(again.out)["repeated"] == result["repeated"]


def test_declared_noise_is_no_note_and_a_fixed_seed_runs_once(tmp_path: Path, commands: Commands) -> None:
    path = study(tmp_path, "noisy(randomness='noise')", "fixed(randomness='fixed')")
    outcome = commands("run", path, "--quiet")
    assert not notes(outcome.err, "noisy")
    assert not notes(outcome.err, "fixed")
    with Store.read(path.with_suffix(".sqlite")) as store:
        runs = [name.partition("@")[0].partition(":")[2] for name in store.runs()["system"]]
    assert (runs.count("noisy"), runs.count("fixed")) == (6, 2)


def test_a_program_that_is_not_deterministic_but_says_so_is_a_note(tmp_path: Path, commands: Commands) -> None:
    outcome = commands("run", study(tmp_path, "noisy(randomness='none')"), "--quiet")
    (note,) = notes(outcome.err, "noisy")
    assert "two trainings with the same seed gave different predictions" in note


def test_one_setting_of_a_function_is_trained_again(tmp_path: Path, commands: Commands) -> None:
    path = study(tmp_path, "settled(length=1)", "settled(length=2)", "settled(length=3)", "seeded")
    first = commands("run", path, "--quiet", "--json")
    repeated = [name.partition("@")[0] for name in json.loads(first.out)["repeated"]]
    assert sorted(repeated) == ["random_systems.py:seeded", "random_systems.py:settled"]
    path.write_text(path.read_text().replace("seeds = 3", "seeds = 4"))
    again = commands("run", path, "--quiet", "--json")
    assert json.loads(again.out)["repeated"] == json.loads(first.out)["repeated"]


def test_a_repetition_that_fails_is_a_note(tmp_path: Path, commands: Commands) -> None:
    outcome = commands("run", study(tmp_path, "once", more="seeds = 1"), "--quiet")
    assert outcome.code == 0
    (note,) = notes(outcome.err, "once")
    assert re.search(
        r"trained again with the same seed, it failed: random_systems\.py line \d+: ValueError: only", note
    )


def test_the_terminal_says_why_something_is_trained_again(tmp_path: Path, commands: Commands) -> None:
    assert "1 of 1 trained again to check its seed" in commands("run", study(tmp_path, "seeded")).err


def test_built_in_systems_are_not_trained_again(tmp_path: Path, commands: Commands) -> None:
    path = study(tmp_path, "seeded")
    path.write_text(path.read_text().replace("random_systems.py:seeded", "unigram"))
    assert json.loads(commands("run", path, "--quiet", "--json").out)["repeated"] == {}
