from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from deadheat import read, score, size
from deadheat.corpus import Corpus, take
from deadheat.corpus.corpus import text_hash, text_hashes
from deadheat.errors import InputError
from deadheat.questions.size import size_of_counts
from deadheat.ranking.size_samples import SizeSettings
from deadheat.results.score import Scores
from deadheat.study.ledger.ledger import Evaluation, Ledger, LedgerEntry, LedgerTestSet
from deadheat.study.ledger.overlap import SHARE, SentenceSet, StoredTestSets

SENTENCES = [f"a{i}_X b{i}_Y c{i}_Z\n" for i in range(20)]
OTHERS = [f"d{i}_X e{i}_Y f{i}_Z\n" for i in range(200)]


def scored(ledger: Ledger, path: Path, sentences: Sequence[str], system: str = "mine.txt") -> Scores:
    """Score a prediction without errors against gold of these sentences."""
    path.write_text("".join(sentences))
    prediction = path.with_name(system)
    prediction.write_text(path.read_text())
    return score(path, prediction, ledger_entry=LedgerEntry(ledger))


def sentences_of(corpus: Corpus) -> SentenceSet:
    sentences = LedgerTestSet.of(corpus).sentences
    assert sentences is not None
    return sentences


@pytest.fixture
def guarded(ledger: Ledger, tmp_path: Path) -> LedgerTestSet:
    """A test set with a budget that is used up."""
    path = tmp_path / "guarded.txt"
    path.write_text("".join(SENTENCES))
    test_set = LedgerTestSet.of(read(path))
    ledger.guard(test_set, budget=0)
    return test_set


def test_sentence_hashes_can_be_computed_by_hand() -> None:
    """printf 'the\\nheat\\n' | sha256sum | cut -c1-16"""
    corpus = read(text="the_DT heat_NN\nis_VBZ\nthe_X heat_X\n")
    heat, words = "b526fe7007bf9fc1", "55165eeb5ff20b59"
    assert [f"{number:016x}" for number in text_hashes(corpus)[1]] == [heat, words, heat]
    assert [f"{number:016x}" for number in text_hashes(corpus, first=1, last=2)[1]] == [words]


def test_hashes_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = read(text="".join(SENTENCES))
    expected = text_hashes(corpus)
    monkeypatch.setattr("deadheat.corpus.corpus.BLOCK", 7)
    assert text_hashes(corpus)[0] == expected[0] == text_hash(corpus)
    assert np.array_equal(text_hashes(corpus)[1], expected[1])


@pytest.mark.parametrize(
    "sentences",
    [
        SENTENCES[::-1],
        [*SENTENCES, SENTENCES[0]],
        SENTENCES[:-1],
        SENTENCES[:10],
        SENTENCES[10:],
        SENTENCES[3:4],
        2 * SENTENCES,
        [*SENTENCES, *OTHERS],
        [*SENTENCES[:6], *OTHERS[:18]],
        [*SENTENCES[:5], *OTHERS],
    ],
    ids=["reversed", "one doubled", "one less", "half", "other half", "one", "doubled", "hidden", "quarter", "part"],
)
@pytest.mark.parametrize("name", ["other.txt", "other-test.txt"])
def test_a_rearranged_test_set_uses_the_same_budget(
    ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path, sentences: list[str], name: str
) -> None:
    with pytest.raises(InputError, match=r"1 evaluation requested, 0 left of a budget of 0 \(ledger"):
        scored(ledger, tmp_path / name, sentences)
    ledger.guard(guarded, budget=1)
    result = scored(ledger, tmp_path / name, sentences)
    assert ledger.tally(guarded.hash).evaluations == 1
    assert guarded.hash in [tally.test_set for tally in result.evaluations]


def test_two_halves_as_two_files_are_one_evaluation(ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path) -> None:
    ledger.guard(guarded, budget=1)
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file, half in zip(files, (SENTENCES[:10], SENTENCES[10:]), strict=True):
        file.write_text("".join(half))
    prediction = tmp_path / "mine.txt"
    prediction.write_text("".join(SENTENCES))
    score(files, prediction, ledger_entry=LedgerEntry(ledger))
    assert ledger.tally(guarded.hash).evaluations == 1
    with pytest.raises(InputError, match="1 evaluation requested, 0 left"):
        scored(ledger, files[0], SENTENCES[:10])


def test_a_test_set_in_many_files_with_other_sentences_is_recognized_as_a_whole(
    ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path
) -> None:
    files = []
    for number in range(5):  # a sixth of each file, and a fifth of the test set
        text = SENTENCES[4 * number : 4 * number + 4] + OTHERS[20 * number : 20 * number + 20]
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text("".join(text))
        assert not ledger.test_sets_in(read(files[-1]))
    assert [test_set.hash for test_set in ledger.test_sets_in(read(files))] == [guarded.hash]


def test_other_texts_with_some_of_the_sentences_are_other_test_sets(
    ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path
) -> None:
    few = [*SENTENCES[:4], *OTHERS]  # a fifth of the test set, 2 % of the file
    assert not scored(ledger, tmp_path / "train.txt", few).evaluations
    (tally,) = scored(ledger, tmp_path / "other-test.txt", few).evaluations
    assert tally.test_set != guarded.hash
    assert ledger.tally(guarded.hash).evaluations == 0


def test_short_sentences_weigh_little(ledger: Ledger, tmp_path: Path) -> None:
    """Half of the sentences of both are `Thanks !`-like; they are 2 of 12 words."""
    short = [f"thanks{i}_X !_Y\n" for i in range(10)]
    longer = [" ".join(f"w{i}{letter}_X" for letter in "abcdefghij") + "\n" for i in range(20)]
    first = scored(ledger, tmp_path / "one-test.txt", [*short, *longer[:10]])
    second = scored(ledger, tmp_path / "two-test.txt", [*short, *longer[10:]])
    assert first.evaluations[0].test_set != second.evaluations[0].test_set


def test_the_note_names_the_test_set_and_the_share(ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path) -> None:
    ledger.guard(guarded, budget=9)
    result = scored(ledger, tmp_path / "half.txt", SENTENCES[:10])
    assert result.notes[0] == (
        "half.txt: 100 % of its words are in sentences of guarded.txt, which are 50 % of that test set: "
        "this is an evaluation of guarded.txt"
    )
    assert ledger.tally(guarded.hash).name == "guarded.txt"
    line = ledger.events()[-1]
    assert (line["test_set"], line["name"]) == (guarded.hash, "half.txt")
    assert line["text"] == text_hash(read(tmp_path / "half.txt"))


def test_evaluations_of_parts_count_for_the_whole_that_is_guarded_later(ledger: Ledger, tmp_path: Path) -> None:
    scored(ledger, tmp_path / "a-test.txt", SENTENCES[:10])
    scored(ledger, tmp_path / "b-test.txt", SENTENCES[10:], "other.txt")
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(SENTENCES))
    ledger.guard(LedgerTestSet.of(read(whole)), budget=3)
    assert ledger.tally(text_hash(read(whole))).evaluations == 2
    tallies = scored(ledger, whole, SENTENCES).evaluations
    assert [(tally.name, tally.evaluations) for tally in tallies] == [
        ("whole.txt", 3), ("a-test.txt", 2), ("b-test.txt", 2),
    ]  # fmt: skip
    with pytest.raises(InputError, match="0 left of a budget of 3"):
        scored(ledger, tmp_path / "b-test.txt", SENTENCES[10:])


def test_the_order_in_which_texts_are_first_seen_does_not_matter(ledger: Ledger, tmp_path: Path) -> None:
    """Whatever is evaluated before the whole is guarded, each of the three counts for it once."""
    texts = [SENTENCES[:10], SENTENCES[::-1], [*SENTENCES, *OTHERS[:10]]]
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(SENTENCES))
    for number, order in enumerate(permutations(texts)):
        each = Ledger.at(tmp_path / f"{number}.jsonl")
        for text in order:
            scored(each, tmp_path / "some-test.txt", text)
        each.guard(LedgerTestSet.of(read(whole)))
        assert each.tally(text_hash(read(whole))).evaluations == 3


def test_sentences_are_stored_once_and_lines_of_evaluations_stay_short(ledger: Ledger, tmp_path: Path) -> None:
    for _ in range(3):
        scored(ledger, tmp_path / "test.txt", OTHERS)
    scored(ledger, tmp_path / "half-test.txt", OTHERS[:100])
    lines = ledger.path.read_bytes().splitlines()
    assert ["sentences" in event for event in ledger.events()] == [True, False, False, False]
    assert len(lines[0]) - len(lines[1]) < 11 * len(OTHERS) + 50  # 8 bytes are 10.7 in base 64
    ((digest, (name, sentences)),) = StoredTestSets.of(ledger.read()).sets.items()
    assert (digest, name, sentences.words) == (text_hash(read(tmp_path / "test.txt")), "test.txt", 600)


def test_a_ledger_without_sentences_goes_by_whole_texts_until_the_next_evaluation(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = tmp_path / "old.txt"
    path.write_text("".join(SENTENCES))
    digest = text_hash(read(path))
    ledger.guard(LedgerTestSet("old.txt", digest), budget=2)  # as earlier versions wrote it
    assert not scored(ledger, tmp_path / "reversed.txt", SENTENCES[::-1]).evaluations
    assert scored(ledger, path, SENTENCES).evaluations[0].evaluations == 1
    assert scored(ledger, tmp_path / "reversed.txt", SENTENCES[::-1]).evaluations[0].evaluations == 2


def test_parts_of_splits_are_compared_with_files_and_not_with_each_other(
    ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path
) -> None:
    path = tmp_path / "all.txt"
    path.write_text("".join([*SENTENCES, *OTHERS[:20]]))
    corpus = read(path)
    evaluations = [Evaluation("mine", "ab" * 32, (), "")]
    for name, rows in (("random 0, test", range(20, 35)), ("random 1, test", range(25, 40))):
        part = replace(take(corpus, np.array(rows)), name=name)
        assert not ledger.test_sets_in(part)
        (tally,) = ledger.record([LedgerTestSet.of(part)], evaluations).tallies
        assert (tally.name, tally.evaluations) == (name, 1)
    with pytest.raises(InputError, match=r"random 2, test \(guarded.txt\): 1 evaluation requested, 0 left"):
        ledger.record([replace(LedgerTestSet.of(take(corpus, np.arange(10, 30))), name="random 2, test")], evaluations)


def test_saved_counts_of_a_part_are_of_the_whole(ledger: Ledger, guarded: LedgerTestSet, tmp_path: Path) -> None:
    ledger.guard(guarded, budget=4)
    gold, good = tmp_path / "half.txt", tmp_path / "good.txt"
    gold.write_text("".join(SENTENCES[:10]))
    good.write_text(gold.read_text())
    entry = LedgerEntry(ledger)
    settings, saved = SizeSettings(sizes=(5, 10)), tmp_path / "a.npz"
    systems = {"a": good, "b": good}
    size(gold, systems, metric="accuracy(column='tag')", settings=settings, save=saved, ledger_entry=entry)
    size_of_counts(saved, settings=settings, ledger_entry=entry)
    assert ledger.tally(guarded.hash).evaluations == 4
    with pytest.raises(InputError, match="0 left of a budget of 4"):
        size_of_counts(saved, settings=settings, ledger_entry=entry)


@pytest.mark.parametrize(
    "fields",
    [{}, {"sentences": 5, "words": 1}, {"sentences": "?", "words": 1}, {"sentences": "AAAA", "words": 1},
     {"sentences": "AAAAAAAAAAA=", "words": "x"}, {"sentences": "AAAAAAAAAAA=", "words": 0},
     {"sentences": "AAAAAAAAAAA=", "words": True}, {"sentences": "\ud800", "words": 1}],
)  # fmt: skip
def test_damaged_sentences_are_none(fields: dict[str, object]) -> None:
    assert SentenceSet.parse(fields) is None


def test_no_two_files_of_the_treebanks_are_confused(shared_data: Path) -> None:
    """Unrelated files share at most 2.1 % of their words in sentences: te_mtg-ud-test and its training file."""
    sets = {os.path.basename(path): sentences_of(read(path)) for path in (shared_data / "treebanks").glob("*/*.conllu")}
    shares = {pair: max(sets[pair[0]].shares(sets[pair[1]])) for pair in permutations(sets, 2)}
    assert max(shares.values()) < 0.025 < SHARE / 5


@pytest.mark.parametrize("name", ["en_ewt", "te_mtg", "en_atis", "mr_ufal", "kk_ktb", "cop_scriptorium"])
def test_parts_of_the_treebanks_are_recognized(shared_data: Path, name: str) -> None:
    whole = read(shared_data / "treebanks" / name / f"{name}-ud-test.conllu")
    known = sentences_of(whole)
    rng = np.random.default_rng(5)
    sentences = text_hashes(whole)[1]
    words = np.diff(whole.offsets)
    for share in (0.05, 0.25, 0.5, 1.0, 2.0):
        rows = rng.choice(whole.sentences, int(share * whole.sentences), replace=share > 1)
        part = SentenceSet.of(sentences[rows], words[rows])
        assert max(part.shares(known)) >= SHARE
