"""The sizes of the parts of many treebanks."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from deadheat.charts.chart import WIDE
from deadheat.errors import CorpusError, InputError
from deadheat.questions.treebanks import has_treebanks, treebank_sizes
from deadheat.reporting import model as m
from deadheat.reporting.views import headline, view
from deadheat.results.base import from_json

WORD = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
DOCUMENT = "# newdoc id = {}\n"


def write(path: Path, sentences: int, documents: int = 0) -> None:
    """A treebank file of sentences of one word, the first of which begin documents."""
    path.parent.mkdir(parents=True, exist_ok=True)
    marks = [DOCUMENT.format(i) if i < documents else "" for i in range(sentences)]
    path.write_text("".join(mark + WORD for mark in marks), encoding="utf-8")


@pytest.fixture
def banks(tmp_path: Path) -> Path:
    folder = tmp_path / "banks"
    write(folder / "aa" / "aa-ud-train.conllu", 7, documents=3)
    write(folder / "aa" / "aa-ud-test.conllu", 10_000)
    write(folder / "bb" / "bb-ud-train-1.conllu", 2)
    write(folder / "bb" / "bb-ud-train-2.conllu", 3)
    write(folder / "bb" / "bb-ud-dev.conllu", 4)
    write(folder / "bb" / "bb-ud-test.conllu", 6)
    write(folder / "cc" / "sentences.conllu", 5)
    (folder / "notes").mkdir()
    (folder / "LICENSE").write_text("free")
    return folder


def test_every_treebank_has_words_sentences_and_documents_by_part(banks: Path) -> None:
    result = treebank_sizes(banks)
    sizes = {
        (bank.name, part.name): (part.words, part.sentences, part.documents)
        for bank in result.treebanks
        for part in bank.parts
    }
    assert sizes == {
        ("aa", "train"): (7, 7, 3),
        ("aa", "test"): (10_000, 10_000, None),
        ("bb", "train"): (5, 5, None),
        ("bb", "dev"): (4, 4, None),
        ("bb", "test"): (6, 6, None),
        ("cc", "other"): (5, 5, None),
    }
    assert result.part_names == ["train", "dev", "test", "other"]
    assert (result.words_of("test"), result.words_of("tune")) == ([6, 10_000], [])
    assert headline(result) == "Of 3 treebanks, 0 of 1 dev sets and 1 of 2 test sets have 10,000 words or more."
    assert from_json(result.to_json()) == result


def test_only_a_folder_of_folders_with_corpora_is_a_folder_of_treebanks(banks: Path) -> None:
    assert has_treebanks(banks)
    assert not has_treebanks(banks / "aa")
    assert not has_treebanks(banks / "notes")
    assert not has_treebanks(banks / "LICENSE")
    assert not has_treebanks("-")
    with pytest.raises(InputError, match="notes: no treebanks; expected a folder with a folder for each of them"):
        treebank_sizes(banks / "notes")


def test_the_errors_of_all_treebanks_are_reported_together(banks: Path) -> None:
    for name in ("aa", "bb"):
        (banks / name / f"{name}-ud-dev.conllu").write_text("1\ta\n\n")
    with pytest.raises(CorpusError) as caught:
        treebank_sizes(banks)
    assert {Path(fault.path).name for fault in caught.value.faults} == {"aa-ud-dev.conllu", "bb-ud-dev.conllu"}


def test_the_figure_is_the_cumulative_distribution_with_the_published_sizes_marked(banks: Path) -> None:
    (figure,) = [block for block in view(treebank_sizes(banks)) if isinstance(block, m.Figure)]
    chart = figure.drawing.draw(WIDE)
    assert chart.rows == (
        ("dev", 4.0, 100.0, None, None),
        ("test", 6.0, 50.0, None, None),
        ("test", 10_000.0, 100.0, None, None),
    )
    assert "marked at 2,000, 5,000 and 10,000" in chart.description
    assert all(f">{words}<" in chart.marks for words in ("2,000", "5,000", "10,000"))


def test_there_is_a_row_for_every_treebank(banks: Path) -> None:
    lines = str(treebank_sizes(banks)).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line[:2] in ("aa", "bb", "cc")}
    #               train  dev  test     other  sentences                documents
    assert rows["aa"] == ["7", "-", "10,000", "-", "7", "-", "10,000", "-", "3", "-", "-", "-"]
    assert rows["cc"] == ["-", "-", "-", "5", "-", "-", "-", "5", "-", "-", "-", "-"]


def test_treebanks_without_dev_and_test_have_no_figure(tmp_path: Path) -> None:
    write(tmp_path / "aa" / "aa-ud-train.conllu", 2)
    result = treebank_sizes(tmp_path)
    assert headline(result) == "Of 1 treebank, none has a dev or test set."
    assert not any(isinstance(block, m.Figure) for block in view(result))


def test_fifteen_real_treebanks_have_their_published_sizes(shared_data: Path) -> None:
    """Words and documents as their authors count them; Kazakh has no dev set."""
    folder = shared_data / "treebanks"
    started = time.process_time()
    result = treebank_sizes(folder)
    assert time.process_time() - started < 10  # it takes one
    words = {bank.name: tuple(part.words for part in bank.parts) for bank in result.treebanks}
    assert len(words) == 15
    assert words["en_ewt"] == (204_577, 25_147, 25_094)
    assert words["kk_ktb"] == (529, 10_007)
    documents = {bank.name: tuple(part.documents for part in bank.parts) for bank in result.treebanks}
    assert documents["wo_wtb"] == (28, 13, 12)
    assert headline(result) == "Of 15 treebanks, 6 of 13 dev sets and 9 of 15 test sets have 10,000 words or more."
