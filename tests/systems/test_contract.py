"""What holds for every registered tagger."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from deadheat.corpus import Column, Corpus, read, take, to_bytes
from deadheat.errors import InputError, NameUnknown
from deadheat.registry import base_name
from deadheat.systems import SYSTEMS, System
from deadheat.systems.recipe import RECIPES
from deadheat.testbed import generate
from tests.systems.programs import tagger

COLUMN = {"conllu": "upos", "columns": "tag", "tagged": "tag"}
FORMATS = tuple(COLUMN)
Make = Callable[..., System]


# Small and quick to compile, and yet it learns.
NETWORK = {
    "units": "16", "word_size": 24, "casing": 4, "characters": "none", "classifier": "softmax", "dropout": "none",
    "optimizer": "adam", "rate": 0.03, "batch": 8, "epochs": 10,
}  # fmt: skip
NETWORKS = {"bilstm.v2": NETWORK, "flair.v1": NETWORK | {"lm_units": 8, "lm_epochs": 2}}

# Programs of others are not installed here; tests/systems/test_recipes.py has stand-ins for them.
OURS = [name for name in sorted(SYSTEMS) if base_name(name) not in RECIPES]
TAGGERS = [name for name in OURS if "column" in signature(SYSTEMS[name]).parameters]


TAGGERS.remove("transformer.v1")  # on an encoder, which has to be made: tests/encoders


# Networks compile for a second or two in every test.
@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] * (name in NETWORKS)) for name in TAGGERS])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """A maker of the system; the one that runs programs is given one, and networks are small."""
    more: dict[str, Any] = tagger(tmp_path) if request.param == "command.v2" else {}
    if request.param in NETWORKS:
        pytest.importorskip("jax", reason="deadheat[neural] is not installed")
        more = NETWORKS[request.param]

    def made(column: str = "upos") -> System:
        return SYSTEMS.make(request.param, column=column, **more)

    return made


@dataclass(frozen=True, slots=True)
class Texts:
    """Corpora for training, tuning and testing in one format, as text."""

    train: str
    tune: str
    test: str


@cache
def texts(format: str) -> Texts:
    parts = [generate("morelle", sentences=size, seed=seed) for seed, size in ((1, 60), (2, 12), (3, 25))]
    return Texts(*(part if format == "conllu" else in_format(part, format) for part in parts))


def in_format(text: str, format: str) -> str:
    """CoNLL-U as two columns, or as tagged text."""
    corpus = read(text=text)
    pairs = list(zip(corpus.column("form").strings(), corpus.column("upos").strings(), strict=True))
    assert not any(" " in word for word, _ in pairs)
    sentences = [pairs[a:b] for a, b in pairwise(corpus.offsets.tolist())]
    if format == "columns":
        return "".join("".join(f"{word}\t{label}\n" for word, label in sentence) + "\n" for sentence in sentences)
    return "".join(" ".join(f"{word}_{label}" for word, label in sentence) + "\n" for sentence in sentences)


def corpora(format: str) -> tuple[Corpus, Corpus, Corpus]:
    made = texts(format)
    return read(text=made.train), read(text=made.tune), read(text=made.test)


def relabel(text: str, format: str, label: Callable[[], str]) -> str:
    """A text with other labels on its words, and only there."""
    if format == "conllu":
        return re.sub(r"(?m)^(\d+\t[^\t]*\t[^\t]*\t)[^\t]*", lambda found: found[1] + label(), text)
    if format == "columns":
        return re.sub(r"(?m)^([^\t\n]+\t)[^\t\r\n]*", lambda found: found[1] + label(), text)
    return re.sub(r"_[^_ \r\n]+(?=[ \r\n])", lambda found: "_" + label(), text)


def without_labels(text: str, format: str) -> str:
    return relabel(text, format, lambda: "?")


def word_by_word(first: Corpus, second: Corpus, column: str) -> list[tuple[str, str]]:
    return list(zip(first.column(column).strings(), second.column(column).strings(), strict=True))


def conllu(*sentences: str) -> Corpus:
    """Sentences of `word/LABEL` as CoNLL-U."""
    made = []
    for sentence in sentences:
        pairs = [token.rsplit("/", 1) for token in sentence.split()]
        rows = [
            f"{i}\t{word}\t_\t{label}\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n"
            for i, (word, label) in enumerate(pairs, start=1)
        ]
        made.append("".join(rows) + "\n")
    return read(text="".join(made))


@pytest.mark.parametrize("format", FORMATS)
def test_a_prediction_has_the_same_bytes_but_for_the_labels(make: Make, format: str) -> None:
    train, tune, test = corpora(format)
    predicted = make(COLUMN[format]).train(train, tune, 0).predict(test)
    before, after = texts(format).test, to_bytes(predicted).decode()
    assert without_labels(after, format) == without_labels(before, format)
    labels = predicted.column(COLUMN[format]).strings()
    assert set(labels) <= set(train.column(COLUMN[format]).strings())
    assert after == relabel(before, format, iter(labels).__next__)


@pytest.mark.parametrize("format", FORMATS)
def test_labels_of_the_corpus_to_predict_are_never_looked_at(make: Make, format: str) -> None:
    train, tune, test = corpora(format)
    model = make(COLUMN[format]).train(train, tune, 0)
    expected = to_bytes(model.predict(test))
    chance = Random(0)
    labels = test.column(COLUMN[format]).strings()
    shuffled = iter(chance.sample(labels, len(labels)))
    for label in (lambda: "-", lambda: "NEVER-SEEN", shuffled.__next__):
        other = read(text=relabel(texts(format).test, format, label))
        assert to_bytes(model.predict(other)) == expected


def test_predictions_learn_something(make: Make) -> None:
    # The floor is a label for all words; that one is right so often.
    train, tune, test = corpora("conllu")
    name = str(make()).partition("(")[0]
    pairs = word_by_word(make().train(train, tune, 0).predict(test), test, "upos")
    floor = max(np.bincount(test.column("upos").codes)) / test.words
    right = sum(a == b for a, b in pairs) / len(pairs)
    assert right >= 0.95 * floor if name == "majority.v1" else right > 2 * floor


def test_the_same_seed_gives_the_same_bytes(make: Make) -> None:
    train, tune, test = corpora("conllu")
    system = make()
    first, second = (to_bytes(system.train(train, tune, 5).predict(test)) for _ in range(2))
    assert first == second


def test_a_system_that_says_it_has_no_seed_has_none(make: Make) -> None:
    train, tune, test = corpora("conllu")
    system = make()
    predictions = {to_bytes(system.train(train, tune, seed).predict(test)) for seed in (0, 1, 2)}
    assert system.seeded or len(predictions) == 1


def test_how_words_and_labels_are_numbered_does_not_matter(make: Make) -> None:
    # Read as one corpus, test first, codes are others and vocabularies have words that were not in training.
    made = texts("conllu")
    whole = read(text=made.test + made.tune + made.train)
    bounds = np.cumsum([0, *(read(text=part).sentences for part in (made.test, made.tune, made.train))])
    test, tune, train = (take(whole, np.arange(a, b)) for a, b in pairwise(bounds.tolist()))
    system = make()
    expected = to_bytes(system.train(*corpora("conllu")[:2], 3).predict(corpora("conllu")[2]))
    assert to_bytes(system.train(train, tune, 3).predict(test)) == expected


def test_a_sentence_is_labelled_alone_as_among_others(make: Make) -> None:
    train, tune, test = corpora("conllu")
    model = make().train(train, tune, 0)
    together = model.predict(test)
    for sentence in (0, 7, test.sentences - 1):
        alone = model.predict(take(test, [sentence]))
        assert to_bytes(alone) == to_bytes(take(together, [sentence]))


def test_without_a_corpus_to_tune_on_it_works_or_says_so(make: Make) -> None:
    train, _, test = corpora("conllu")
    try:
        model = make().train(train, None, 0)
    except InputError as error:
        assert "tune" in str(error)  # noqa: PT017 - it may also work
    else:
        assert model.predict(test).words == test.words


def test_multiword_tokens_and_empty_nodes_keep_their_labels(make: Make) -> None:
    train, tune, _ = corpora("conllu")
    text = (
        "# newdoc\n1-2\tdel\t_\tMWT\t_\t_\t_\t_\t_\t_\n1\tde\t_\tADP\t_\t_\t2\tdep\t_\t_\n"
        "2\tel\t_\tDET\t_\t_\t0\troot\t_\t_\n2.1\tnada\t_\tEMPTY\t_\t_\t_\t_\t_\t_\n3\tx\t_\tNOUN\t_\t_\t2\tdep\t_\t_\n\n"
    )
    predicted = make().train(train, tune, 0).predict(read(text=text))
    after = to_bytes(predicted).decode()
    assert without_labels(after, "conllu") == without_labels(text, "conllu")
    assert "\tMWT\t" in after
    assert "\tEMPTY\t" in after


def test_the_corpora_are_left_as_they_were(make: Make) -> None:
    three = corpora("conllu")
    before = [to_bytes(corpus) for corpus in three]
    make().train(three[0], three[1], 0).predict(three[2])
    assert [to_bytes(corpus) for corpus in three] == before


def test_a_single_label_is_what_every_word_gets(make: Make) -> None:
    train = conllu("a/X b/X", "c/X")
    predicted = make().train(train, train, 0).predict(conllu("a/? new/?", "Zebra/?"))
    assert predicted.column("upos").strings() == ["X"] * 3


def test_sentences_of_one_word_are_learned_and_labelled(make: Make) -> None:
    train = conllu(*["yes/INTJ", "no/INTJ", "yes/INTJ", "no/INTJ", "run/VERB"] * 5)
    predicted = make().train(train, train, 0).predict(conllu("yes/?", "no/?", "never/?"))
    assert predicted.column("upos").strings()[:2] == ["INTJ", "INTJ"]
    assert predicted.column("upos").strings()[2] in ("INTJ", "VERB")


def test_one_word_is_enough_to_learn_from(make: Make) -> None:
    train = conllu("hi/INTJ")
    assert make().train(train, train, 0).predict(conllu("ho/? hi/?")).column("upos").strings() == ["INTJ"] * 2


def test_a_label_seen_once_does_no_harm(make: Make) -> None:
    train = conllu(*["the/DET dog/NOUN runs/VERB"] * 6, "Aha/INTJ the/DET dog/NOUN")
    predicted = make().train(train, train, 0).predict(conllu("the/? dog/? runs/?"))
    labels = predicted.column("upos").strings()
    assert labels == ["DET", "NOUN", "VERB"] or set(labels) == {"DET"} or set(labels) == {"NOUN"}


@pytest.mark.parametrize("word", ["x", "Étrange", "日本語", "naïve", "x" * 300, "-_-", "😀", "ﬁ"])
def test_words_that_nobody_saw_get_a_label_too(make: Make, word: str) -> None:
    train, tune, _ = corpora("conllu")
    predicted = make().train(train, tune, 0).predict(conllu(f"{word}/?", f"the/? {word}/? {word}/? ./?"))
    labels = predicted.column("upos").strings()
    assert len(labels) == 5
    assert set(labels) <= set(train.column("upos").strings())
    assert predicted.column("form").strings() == [word, "the", word, word, "."]


def test_a_corpus_without_words_gets_no_labels(make: Make) -> None:
    train, tune, _ = corpora("conllu")
    predicted = make().train(train, tune, 0).predict(read(text=""))
    assert (predicted.words, to_bytes(predicted)) == (0, b"")


def test_nothing_can_be_learned_from_nothing(make: Make) -> None:
    with pytest.raises(InputError, match="no words"):
        make().train(read(text=""), None, 0)


def test_a_column_that_is_not_there_is_refused_with_the_nearest_one(make: Make) -> None:
    train, tune, test = corpora("conllu")
    with pytest.raises(NameUnknown, match="did you mean 'upos'"):
        make("uposs").train(train, tune, 0)
    model = make().train(train, tune, 0)
    columns = {name: column for name, column in test.columns.items() if name != "upos"}
    columns["upos2"] = Column(test.column("upos").codes, test.column("upos").vocabulary)
    with pytest.raises(NameUnknown, match="did you mean 'upos2'"):
        model.predict(replace(test, columns=columns))


def test_a_name_with_settings_makes_the_same_system(make: Make) -> None:
    system = make("xpos")
    again = SYSTEMS.make(str(system))
    assert (again.name, again.settings, again.seeded) == (system.name, system.settings, system.seeded)
    assert again.settings["column"] == "xpos"


def test_a_small_network_learns_something() -> None:
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    test_predictions_learn_something(lambda column="upos": SYSTEMS.make("bilstm.v2", column=column, **NETWORK))
