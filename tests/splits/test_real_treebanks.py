"""Splits of treebanks of Universal Dependencies, and what is known of these treebanks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deadheat
from deadheat.corpus import Corpus
from deadheat.corpus.documents import PARTS, find_documents
from deadheat.splits import STRATEGIES, split
from deadheat.splits.folder import check_folder, write_splits
from deadheat.splits.strategy import Material


@pytest.fixture(scope="module")
def ewt(shared_data: Path) -> Corpus:
    return deadheat.read(shared_data / "treebanks" / "en_ewt")


@pytest.fixture(scope="module")
def material(ewt: Corpus) -> Material:
    return Material(ewt)


def test_english_has_its_documents(shared_data: Path, ewt: Corpus) -> None:
    for name, expected in (("train", 540), ("dev", 318), ("test", 316)):
        result = find_documents(deadheat.read(shared_data / "treebanks" / "en_ewt" / f"en_ewt-ud-{name}.conllu"))
        assert result is not None
        assert len(result) == expected
    everything = find_documents(ewt)
    assert everything is not None
    assert len(everything) == 1174


@pytest.mark.parametrize(
    "name", ["random(unit='document', stratify='genre')", "kfold(unit='document')", "ud", "biased(unit='document')"]
)
def test_no_document_of_english_is_in_two_parts(ewt: Corpus, name: str) -> None:
    made = split(ewt, name, times=2)
    for partition in made:
        assert set(made.shared_documents(partition).values()) == {0}
        assert len(partition.left_out) == 0


def check_shares(material: Material, seed: int, number: int) -> None:
    drawn = STRATEGIES.make("random(unit='document', stratify='genre')").draw(material, seed, number)
    words, genres = material.lengths, material.strata("genre", None)
    of_all = np.bincount(genres, words) / words.sum()
    for part in ("dev", "test"):
        chosen = drawn.parts[part]
        assert 0.095 <= words[chosen].sum() / words.sum() <= 0.105
        shares = np.bincount(genres[chosen], words[chosen]) / words[chosen].sum()
        assert np.all(np.abs(shares / of_all - 1) <= 0.1)


def test_whole_documents_of_english_meet_sizes_and_genres_at_once(material: Material) -> None:
    for seed in range(200):
        check_shares(material, seed, 0)


@pytest.mark.slow
def test_every_split_of_a_seed_does_so(material: Material) -> None:
    for number in range(200):
        check_shares(material, 0, number)


@pytest.mark.parametrize(
    ("treebank", "expected"),
    [
        ("kk_ktb", {"train": 16, "tune": 5, "dev": 10, "test": 1047}),
        ("gl_treegal", {"train": 500, "tune": 33, "dev": 67, "test": 400}),
    ],
)
def test_treebanks_without_dev_get_one(
    shared_data: Path, tmp_path: Path, treebank: str, expected: dict[str, int]
) -> None:
    made = split(shared_data / "treebanks" / treebank, "ud-tune")
    assert {part: len(numbers) for part, numbers in made[0].parts.items()} == expected
    assert made.notes[0].startswith("no dev set: the last ")
    write_splits(made, tmp_path / "out")
    assert check_folder(tmp_path / "out").verified == 4


def test_known_leaks_are_found(shared_data: Path) -> None:
    """As published for these treebanks: in Vietnamese 7 of 800; in English 73 of 2,077, one of them long."""
    vietnamese = {(leak.of, leak.within): leak for leak in check_folder(shared_data / "treebanks/vi_vtb").leaks["0"]}
    leak = vietnamese["test", "train"]
    assert (leak.identical, leak.sentences, leak.identical_long) == (7, 800, 7)
    english = {(leak.of, leak.within): leak for leak in check_folder(shared_data / "treebanks/en_ewt").leaks["0"]}
    leak = english["test", "dev"]
    assert (leak.identical, leak.sentences, leak.identical_long) == (73, 2077, 1)
    assert leak.shared_documents == 0


def test_all_parts_of_a_treebank_together_are_its_files(shared_data: Path, tmp_path: Path) -> None:
    files = [shared_data / "treebanks/fr_partut" / f"fr_partut-ud-{part}.conllu" for part in ("train", "dev", "test")]
    made = split(files, "random", seed=2)
    write_splits(made, tmp_path / "out")
    together: list[bytes] = [b""] * made.corpus.sentences
    for part, numbers in made[0].parts.items():
        pieces = (tmp_path / f"out/0/{part}.conllu").read_bytes().split(b"\n\n")
        for number, piece in zip(numbers.tolist(), pieces[:-1], strict=True):
            together[number] = piece + b"\n\n"
    assert b"".join(together) == b"".join(path.read_bytes() for path in files)


@pytest.mark.slow
def test_every_treebank_can_be_split_by_every_strategy(shared_data: Path) -> None:
    sizes = dict.fromkeys(("seq.v1", "rand.v1", "rand-seq.v1"), "train=300, words=100")
    for folder in sorted((shared_data / "treebanks").iterdir()):
        corpus = deadheat.read(folder)
        for name in STRATEGIES:
            settings = {"tune.v1": "tune=5, dev=5, test=5", "ud.v1": "unit='block'"}.get(name, sizes.get(name, ""))
            made = split(corpus, f"{name}({settings})")
            numbers = np.concatenate([*made[0].parts.values()])
            assert len(np.unique(numbers)) == len(numbers)
            assert set(made[0].parts) <= set(PARTS)
