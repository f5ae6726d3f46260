"""Other people's programs themselves, where they are installed: they learn, and the seed does what the recipe says.

`DEADHEAT_INSTALL=1` installs those that are not, which takes minutes and an index of packages. It goes where
`deadheat systems install` puts them.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.corpus import Corpus, read, take, to_bytes
from deadheat.systems import SYSTEMS, environments
from deadheat.systems.recipe import ANY, RECIPES, state_of

# Small budgets: that a program learns anything is enough.
SETTINGS: dict[str, dict[str, Any]] = {
    "flairnlp": {"epochs": 3, "units": 32},
    "nltk": {"epochs": 2},
    "spacy": {"epochs": 2},
    "stanza": {"steps": 4, "interval": 2},
    "supar": {"epochs": 2},
    "udpipe": {"epochs": 1},
    "uuparser": {"epochs": 1},
}
TASKS = [(name, column) for name, recipe in RECIPES.items() if recipe.packages for column in recipe.commands]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Text in which most words have one tag, and every word hangs from the one before it."""
    rng = np.random.default_rng(0)
    words = {"the": "DET", "a": "DET", "cat": "NOUN", "dog": "NOUN", "sees": "VERB", "hears": "VERB", "old": "ADJ"}
    sentences = []
    for _ in range(120):
        chosen = rng.choice(list(words), size=int(rng.integers(4, 9)))
        rows = (
            f"{i}\t{word}\t{word}\t{words[word]}\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n"
            for i, word in enumerate(map(str, chosen), 1)
        )
        sentences.append("".join(rows) + "\n")
    path = tmp_path_factory.mktemp("text") / "text.conllu"
    path.write_text("".join(sentences))
    return read(path)


@pytest.fixture
def installed(request: pytest.FixtureRequest) -> str:
    """The name of a program that can run here."""
    name = str(request.param)
    recipe = RECIPES[name]
    if state_of(recipe) == "not installed" and os.environ.get("DEADHEAT_INSTALL"):
        environments.install(name, recipe.packages, recipe.without_dependencies, recipe.imports)
    if state_of(recipe) != "installed":
        pytest.skip(f"{name}: {state_of(recipe)}; DEADHEAT_INSTALL=1 installs what can be installed")
    return name


@pytest.mark.long
@pytest.mark.parametrize(("installed", "column"), TASKS, indirect=["installed"])
def test_a_program_learns_and_its_seed_does_what_the_recipe_says(
    installed: str, column: str, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    column = "upos" if column == ANY else column
    system = SYSTEMS.make(installed, column=column, **SETTINGS.get(installed, {}))
    train, tune, test = (take(corpus, np.arange(*ends)) for ends in ((0, 80), (80, 100), (100, 120)))
    predictions = [system.train(train, tune, seed).predict(test) for seed in (1, 1)]
    if column == "trees":
        assert len(predictions[0].trees) == test.words
    else:
        gold, labels = (np.array(part.column(column).strings()) for part in (test, predictions[0]))
        assert np.mean(gold == labels) > 0.3  # the most frequent tag has two words in seven
    if system.randomness != "noise":
        assert to_bytes(predictions[0]) == to_bytes(predictions[1])
