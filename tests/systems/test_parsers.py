"""What holds for every parser that is a network."""

import re
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

from deadheat.corpus import Corpus, read, take, to_bytes
from deadheat.errors import CorpusError, InputError, NameUnknown
from deadheat.neural import programs
from deadheat.neural.config import TrainJob
from deadheat.neural.text import PaddingSizes
from deadheat.systems import SYSTEMS, Model, System
from deadheat.testbed import generate
from deadheat.trees import problems

PARSERS = [name for name in sorted(SYSTEMS) if "bad_trees" in signature(SYSTEMS[name]).parameters]
PARSERS.remove("transformer-parser.v1")  # on an encoder, which has to be made: test_transformer.py
TINY: dict[str, Any] = {
    "units": "12", "word_size": 12, "tag_size": 6, "characters": "none", "drop": 0.1, "rate": 0.02, "batch": 8,
    "epochs": 6,
}  # fmt: skip
SIZES = {
    "archybrid.v1": {"hidden": 10},
    "biaffine.v1": {"arc_size": 10, "relation_size": 8},
    "pointer.v1": {"arc_size": 10, "relation_size": 8},
}
pytestmark = pytest.mark.slow


LONGEST = 12  # words: one program to train and one to parse is enough


@cache
def corpora() -> tuple[Corpus, Corpus, Corpus]:
    whole = read(text=generate("morelle", sentences=250, seed=1))
    short = np.flatnonzero(np.diff(whole.offsets) <= LONGEST)
    train, tune, test = (read(text=to_bytes(take(whole, part)).decode()) for part in np.split(short[:76], [48, 60]))
    return train, tune, test


def texts() -> tuple[str, str, str]:
    train, tune, test = (to_bytes(corpus).decode() for corpus in corpora())
    return train, tune, test


def make(name: str, **more: Any) -> System:
    return SYSTEMS.make(name, **{**TINY, **SIZES.get(name, {}), **more})


@cache
def trained(name: str) -> Model:
    train, tune, _ = corpora()
    return make(name).train(train, tune, 0)


def without_trees(text: str) -> str:
    return re.sub(r"(?m)^((?:[^\t\n]*\t){6})[^\t]*\t[^\t]*", r"\1?\t?", text)


def flat(corpus: Corpus) -> Corpus:
    """The corpus with other trees: all words hang on the first, by a relation that nobody knows."""
    first = np.zeros(corpus.words, bool)
    first[corpus.offsets[:-1]] = True
    return replace(corpus, heads=np.where(first, 0, 1).astype(np.int32))


@pytest.fixture(params=PARSERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_prediction_is_a_tree_and_has_the_same_bytes_but_for_heads_and_relations(name: str) -> None:
    train, _, test = corpora()
    predicted = trained(name).predict(test)
    assert predicted.heads is not None
    assert problems(predicted.heads, predicted.offsets) == []
    assert set(predicted.column("deprel").strings()) <= set(train.column("deprel").strings())
    assert without_trees(to_bytes(predicted).decode()) == without_trees(texts()[2])


def test_trees_of_the_corpus_to_parse_are_never_looked_at(name: str) -> None:
    _, _, test = corpora()
    model = trained(name)
    assert to_bytes(model.predict(flat(test))) == to_bytes(model.predict(test))


def test_more_arcs_are_right_than_by_chance(name: str) -> None:
    _, _, test = corpora()
    predicted = trained(name).predict(test)
    assert predicted.heads is not None
    assert test.heads is not None
    chance = np.mean(1 / np.repeat(np.diff(test.offsets), np.diff(test.offsets)))
    assert (predicted.heads == test.heads).mean() > 2 * chance


def test_a_sentence_is_parsed_alone_as_among_others(name: str) -> None:
    _, _, test = corpora()
    model = trained(name)
    together = model.predict(test)
    assert to_bytes(model.predict(take(test, [3]))) == to_bytes(take(together, [3]))


@pytest.mark.long
def test_one_of_many_is_what_it_would_be_alone() -> None:
    # By numbers of sentences of one corpus, in a stack or not, it becomes the same network.
    whole = read(text="".join(texts()))
    ends = np.cumsum([each.sentences for each in corpora()])
    train, tune, test = (np.arange(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))
    system = make("biaffine.v1")
    assert system.batch_trainer is not None
    ((_, done),) = system.batch_trainer.train(
        whole, [TrainJob(system.batch_trainer.config, 0, train, tune, {"test": test})]
    )
    alone, among = trained("biaffine.v1").predict(corpora()[2]), done.predictions["test"]
    assert among.heads is not None
    assert alone.heads is not None
    assert (among.heads == alone.heads).mean() > 0.98  # sums over other rows of zeros round otherwise


@pytest.mark.long
def test_tags_can_be_predicted_or_left_out() -> None:
    train, tune, test = corpora()
    tagless = make("biaffine.v1", tags="none", epochs=1).train(train, tune, 0)
    other = replace(test, columns={**test.columns, "upos": test.column("form")})
    assert np.array_equal(tagless.predict(other).trees, tagless.predict(test).trees)
    tagged = make("biaffine.v1", tags="predicted", epochs=1).train(train, tune, 0).predict(test)
    assert tagged.column("upos").strings() == test.column("upos").strings()  # the tags of the corpus stay
    assert tagged.heads is not None
    assert problems(tagged.heads, tagged.offsets) == []


def test_features_are_read_if_asked_for_as_tags_are() -> None:
    train, tune, test = corpora()
    assert len(set(test.column("feats").strings())) > 1
    without = replace(test, columns={**test.columns, "feats": test.column("form")})  # words are no known features

    def reads_features(**settings: str) -> bool:
        model = make("biaffine.v1", **settings).train(train, None, 0)
        one, other = model.predict(without), model.predict(test)
        same = one.column("deprel").strings() == other.column("deprel").strings()
        return not (same and np.array_equal(one.trees, other.trees))

    assert not reads_features()
    assert reads_features(features="feats")
    assert not reads_features(features="feats", tags="none")
    assert not reads_features(features="feats", tags="predicted")  # by a tagger, whatever the corpus has
    predicted = make("biaffine.v1", epochs=1, features="feats", tags="predicted").train(train, tune, 0).predict(test)
    assert predicted.column("feats").strings() == test.column("feats").strings()


def test_features_have_vectors_only_where_tags_are_read() -> None:
    def feature_size(**settings: str) -> int:
        trainer = make("biaffine.v1", **settings).batch_trainer
        assert trainer is not None
        return int(trainer.config.shape.morphology_size)

    assert feature_size() == feature_size(features="feats", tags="none") == 0
    assert feature_size(features="feats") == feature_size(features="feats", tags="predicted") > 0


def test_training_sentences_that_are_no_trees_are_refused_by_line_or_skipped() -> None:
    rows = ["1\ta\t_\tX\t_\t_\t2\tdep\t_\t_", "2\tb\t_\tX\t_\t_\t1\tdep\t_\t_"]
    broken = "\n".join(rows) + "\n\n"
    cyclic = replace(read(text=texts()[0] + broken.replace("\t1\tdep", "\t0\troot")))
    heads = np.array(cyclic.heads)
    heads[-1] = 1
    cyclic = replace(cyclic, heads=heads)
    with pytest.raises(CorpusError, match="no word has head 0"):
        make("biaffine.v1").train(cyclic, None, 0)
    make("biaffine.v1", bad_trees="skip", epochs=1).train(cyclic, None, 0)
    with pytest.raises(InputError, match="no sentence in train is a tree"):
        make("biaffine.v1", bad_trees="skip").train(take(cyclic, [cyclic.sentences - 1]), None, 0)


def test_relations_that_training_has_not_seen_count_as_wrong() -> None:
    train, tune, _ = corpora()
    strange = read(text=re.sub(r"\troot\t", "\tstrange\t", texts()[1]))
    model = make("biaffine.v1", epochs=1).train(train, strange, 0)
    assert model.predict(tune).words == tune.words


def test_labels_of_brackets_may_be_filled_up_without_changing_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    train, tune, test = corpora()
    padding = PaddingSizes(tokens=1 << 11, sentences=256, words=512, characters=128, labels=64, tags=32)
    plain = make("bracketing.v1", epochs=2).train(train, tune, 0)
    parsed = to_bytes(plain.predict(test))
    monkeypatch.setattr(programs, "padding_sizes", lambda: padding)
    filled = make("bracketing.v1", epochs=2).train(train, tune, 0)
    assert filled.trained.losses == pytest.approx(plain.trained.losses, rel=1e-4)  # type: ignore[attr-defined]
    assert to_bytes(filled.predict(test)) == parsed


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tags": "golden"}, "tags 'golden'"),
        ({"size": "tiny"}, "size 'tiny'"),
        ({"bad_trees": "keep"}, "bad_trees 'keep'"),
        ({"drop": 1.0}, "drop=1"),
        ({"omitted": 1.0}, "omitted=1; expected a share"),
        ({"decay": 0.0}, "decay=0; expected a share above 0"),
        ({"dropped": "inputs"}, "dropped 'inputs'"),
        ({"batch": -1}, "batch=-1; expected at least 0"),
        ({"tags": "predicted", "tagger": "perceptrn"}, "did you mean"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_a_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, NameUnknown), match=said):
        SYSTEMS.make("biaffine.v1", **settings)
