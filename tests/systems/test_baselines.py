"""The floors, by hand."""

from pathlib import Path

import pytest

from deadheat.corpus import Column, Corpus, Vocabulary, read, to_bytes
from deadheat.corpus.transforms import with_labels
from deadheat.systems import SYSTEMS
from deadheat.systems.baselines import sorted_labels


def tagged(system: str, train: str, text: str) -> str:
    model = SYSTEMS.make(system, column="tag").train(read(text=train), None, 0)
    return to_bytes(model.predict(read(text=text))).decode()


def test_the_commonest_label_goes_to_every_word() -> None:
    assert tagged("majority", "a_X b_Y c_Y\n", "a_? d_?\n") == "a_Y d_Y\n"


@pytest.mark.parametrize("system", ["majority", "unigram"])
@pytest.mark.parametrize("train", ["a_Y a_X\n", "a_X a_Y\n", "a_Y a_X\na_X a_Y\n"])
def test_of_equally_common_labels_the_first_by_name_is_taken(system: str, train: str) -> None:
    assert tagged(system, train, "a_? b_?\n") == "a_X b_X\n"


def test_each_word_gets_its_own_commonest_label_and_others_the_commonest() -> None:
    train = "a_X a_Y a_Y b_Z\nb_Z b_X c_Z\n"  # in all: X 2, Y 2, Z 3
    assert tagged("unigram", train, "b_? a_? c_? new_?\n") == "b_Z a_Y c_Z new_Z\n"


def test_case_tells_words_apart() -> None:
    assert tagged("unigram", "May_N may_V may_V\n", "May_? may_? MAY_?\n") == "May_N may_V MAY_V\n"


def test_labels_are_numbered_by_name_whatever_their_order() -> None:
    labels, codes = sorted_labels(read(text="a_Y b_X c_Y d_A\n").column("tag"))
    assert list(labels) == ["A", "X", "Y"]
    assert codes.tolist() == [2, 1, 2, 0]


def test_an_empty_node_keeps_a_label_that_no_word_has() -> None:
    text = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n1.1\tb\t_\tE\t_\t_\t_\t_\t_\t_\n\n"
    corpus = read(text=text)
    changed = with_labels(corpus, "upos", Column(corpus.column("upos").codes * 0, Vocabulary.of(["Z"])))
    assert to_bytes(changed).decode() == text.replace("\tX\t", "\tZ\t")


@pytest.mark.parametrize("system", ["majority.v1", "unigram.v1"])
def test_english_is_labelled_as_a_dictionary_of_counts_does(shared_data: Path, system: str) -> None:
    folder = shared_data / "treebanks" / "en_ewt"
    train, dev = (read(folder / f"en_ewt-ud-{part}.conllu") for part in ("train", "dev"))
    found = SYSTEMS.make(system).train(train, None, 0).predict(dev).column("upos").strings()
    assert found == by_counting(train, dev, each=system == "unigram.v1")


def by_counting(train: Corpus, corpus: Corpus, *, each: bool) -> list[str]:
    """The same in plain Python."""
    counts: dict[str, dict[str, int]] = {}
    for form, label in zip(train.column("form").strings(), train.column("upos").strings(), strict=True):
        for key in (f"word {form}", "all"):
            of_key = counts.setdefault(key, {})
            of_key[label] = of_key.get(label, 0) + 1
    best = {key: min(found, key=lambda label: (-found[label], label)) for key, found in counts.items()}
    return [best.get(f"word {form}" if each else "all", best["all"]) for form in corpus.column("form").strings()]
