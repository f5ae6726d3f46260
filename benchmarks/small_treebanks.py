"""Taggers and a CRF with their default settings on small treebanks: accuracy of UPOS on dev, and CPU time.

Taggers that pick an epoch do so on one half of dev and are scored on the other, both ways, so that no score is of
sentences that were looked at. Where a treebank has no dev, it is every fifth sentence of train. The CRF is that of
python-crfsuite with its default settings; where it is not installed, its column is empty. Test sets are not read.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from benchmarks.timing import DATA, table
from deadheat.corpus import Corpus, read, take
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Column
from deadheat.kernels import precompile
from deadheat.systems import SYSTEMS

TREEBANKS = ("mr_ufal", "lt_hse", "te_mtg", "gl_treegal", "ug_udt", "wo_wtb", "af_afribooms")
TAGGERS = ("hmm", "perceptron", "crfsuite", "lookahead", "bilstm")
AFFIXES = range(1, 6)
NEIGHBOURS = (-2, -1, 1, 2)
Predict = Callable[[Corpus], Corpus]


def parts_of(treebank: str) -> tuple[Corpus, Corpus]:
    """Train and dev."""
    folder = DATA / "treebanks" / treebank
    train, dev = (folder / f"{treebank}-ud-{part}.conllu" for part in ("train", "dev"))
    if dev.exists():
        return read(train), read(dev)
    whole = read(train)
    held_out = np.arange(whole.sentences) % 5 == 4
    return take(whole, np.flatnonzero(~held_out)), take(whole, np.flatnonzero(held_out))


def right_words(gold: Corpus, predicted: Corpus, column: str = "upos") -> int:
    pairs = zip(gold.column(column).strings(), predicted.column(column).strings(), strict=True)
    return sum(label == other for label, other in pairs)


def right_trees(gold: Corpus, predicted: Corpus) -> int:
    relations = (corpus.column("deprel").strings() for corpus in (gold, predicted))
    same = [one.partition(":")[0] == other.partition(":")[0] for one, other in zip(*relations, strict=True)]
    return int(np.count_nonzero((gold.trees == predicted.trees) & np.array(same)))


def crossed(system: str, train: Corpus, dev: Corpus, seed: int, right: Callable[[Corpus, Corpus], int]) -> float:
    """The share of words that is right, on each half of dev with epochs picked on the other."""
    made = SYSTEMS.make(system)
    if not made.tuned:
        return right(dev, made.train(train, None, seed).predict(dev)) / dev.words
    even = np.arange(dev.sentences) % 2 == 0
    halves = [take(dev, np.flatnonzero(half)) for half in (even, ~even)]
    pairs = (halves, halves[::-1])
    return sum(right(scored, made.train(train, tune, seed).predict(scored)) for tune, scored in pairs) / dev.words


def crfsuite(train: Corpus, dev: Corpus) -> float:
    """The accuracy of a CRF on words, shapes, affixes of up to five letters, and four neighbours."""
    module = importlib.import_module("pycrfsuite")
    trainer = module.Trainer(verbose=False)
    for forms, labels in sentences(train):
        trainer.append(features_of(forms), labels)
    tagger = module.Tagger()
    with tempfile.NamedTemporaryFile(suffix=".crf") as file:
        trainer.train(file.name)
        tagger.open(file.name)
    labels = [label for forms, _ in sentences(dev) for label in tagger.tag(features_of(forms))]
    return right_words(dev, with_labels(dev, "upos", Column.of(labels))) / dev.words


def sentences(corpus: Corpus) -> list[tuple[list[str], list[str]]]:
    forms, labels = corpus.column("form").strings(), corpus.column("upos").strings()
    return [(forms[start:end], labels[start:end]) for start, end in pairwise(corpus.offsets.tolist())]


def features_of(forms: Sequence[str]) -> list[list[str]]:
    return [features_at(forms, position) for position in range(len(forms))]


def features_at(forms: Sequence[str], position: int) -> list[str]:
    form = forms[position]
    lowered = form.lower()
    features = ["bias", f"word={lowered}", f"shape={shape_of(form)}"]
    for size in (size for size in AFFIXES if size <= len(form)):
        features += [f"prefix={lowered[:size]}", f"suffix={lowered[-size:]}"]
    features += [name for name in ("isupper", "istitle", "isdigit") if getattr(form, name)()]
    features += ["hyphen"] * ("-" in form)
    for distance in NEIGHBOURS:
        inside = 0 <= position + distance < len(forms)
        features.append(f"{distance}={forms[position + distance].lower() if inside else '<edge>'}")
    return features


def shape_of(form: str) -> str:
    """Kinds of characters, each run of equal ones once: `Xx`, `d.d`."""
    kinds = ["X" if letter.isupper() else "x" if letter.isalpha() else "d" if letter.isdigit() else letter
             for letter in form]  # fmt: skip
    return "".join(kind for before, kind in pairwise(["", *kinds]) if kind != before)


def tagger_rows(treebanks: Sequence[str], taggers: Sequence[str], seeds: int) -> list[list[str]]:
    rows = []
    for treebank in treebanks:
        train, dev = parts_of(treebank)
        row = [treebank, f"{train.words:,}"]
        for name in taggers:
            if name == "crfsuite":
                row.append(f"{100 * crfsuite(train, dev):.2f}" if importlib.util.find_spec("pycrfsuite") else "")
                continue
            start = time.process_time()
            runs = range(seeds if SYSTEMS.make(name).seeded else 1)
            scores = [crossed(name, train, dev, seed, right_words) for seed in runs]
            row.append(f"{100 * np.mean(scores):.2f} ({(time.process_time() - start) / len(runs):.1f} s)")
        rows.append(row)
    return rows


def parser_rows(treebanks: Sequence[str], seeds: int, epochs: int) -> list[list[str]]:
    rows = []
    for treebank in treebanks:
        train, dev = parts_of(treebank)
        row = [treebank]
        for features in ("", "feats"):
            name = f"biaffine(size='small', epochs={epochs}, features={features!r})"
            scores = [crossed(name, train, dev, seed, right_trees) for seed in range(seeds)]
            row.append(f"{100 * np.mean(scores):.2f}")
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--treebanks", default=",".join(TREEBANKS))
    parser.add_argument("--taggers", default=",".join(TAGGERS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--parsers", action="store_true", help="LAS of biaffine without and with features instead")
    parser.add_argument("--epochs", type=int, default=60, help="of parsers")
    given = parser.parse_args()
    treebanks, taggers = given.treebanks.split(","), given.taggers.split(",")
    if given.parsers:
        rows = parser_rows(treebanks, given.seeds, given.epochs)
        print(table(["treebank", "biaffine", "with features"], rows))
        return
    precompile()
    print(table(["treebank", "words", *taggers], tagger_rows(treebanks, taggers, given.seeds)))
    print("words: of train; in brackets: CPU seconds per seed, for all trainings and predictions")


if __name__ == "__main__":
    main()
