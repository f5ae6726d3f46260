"""What a study found, against the same numbers worked out directly from gold and predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import read
from deadheat.questions.study import study_result
from deadheat.results.study import StudyResult
from deadheat.results.verdict import State
from deadheat.study.engine.running import run_study
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from tests.study.study_cases import corpus_text, serial, study_file
from tests.study.study_results import (
    SYSTEMS,
    block_of,
    right_counts,
    right_words,
    run_result,
    runs_of,
    standing,
    versioned,
    words_of_splits,
)

SPLITS = ["'random'\ntimes = 2", "'random'\nseed = 1", "'kfold'\nfolds = 4\ntimes = 4"]


def test_systems_have_means_over_splits_and_seeds_and_one_per_split(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram perceptron", "seeds = 3", times=4)
    block = block_of(run_result(path), "test")
    right = right_words(path, "test")
    for name, seeds in (("unigram", 1), ("perceptron", 3)):
        by_split = [[np.mean(right[versioned(name), number, seed]) for seed in range(seeds)] for number in range(4)]
        scores = np.ravel(by_split)
        row = standing(block, name, "accuracy.v1")
        assert row.runs == len(scores) == 4 * seeds
        assert [row.mean, row.sd] == pytest.approx([np.mean(scores), np.std(scores, ddof=1)])
        assert [row.min, row.max] == [float(min(scores)), float(max(scores))]
        assert row.by_split == pytest.approx(np.mean(by_split, axis=1))
        assert row.interval is None
    [pair] = block.pairs  # all seeds are compared
    gaps = [
        np.mean(right["unigram.v1", i, 0]) - np.mean([np.mean(right["perceptron.v2", i, seed]) for seed in range(3)])
        for i in range(4)
    ]
    assert abs(pair.difference) == pytest.approx(abs(np.mean(gaps)))
    assert pair.splits == 4
    assert block.numbers == (0, 1, 2, 3)
    assert list(block.train_words) == words_of_splits(path, "train", 4)


def test_splits_without_a_score_have_no_mean(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram", "metrics = ['accuracy', 'unknown']", times=8)
    block = block_of(run_result(path, "splits.sizes='train=rest,test=4%'"), "test")  # a sentence each
    row = standing(block, "unigram", "unknown.v1")
    assert len(row.by_split) == 8
    assert 0 < np.count_nonzero(~np.isnan(row.by_split)) == row.runs < 8
    assert np.nanmean(row.by_split) == pytest.approx(row.mean)


def test_the_result_says_what_was_planned(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram perceptron", "seeds = [4, 7]", times=2)
    result = run_result(path, "systems.1.label=mine")
    assert [(system.name, system.label, system.seeds) for system in result.systems] == [
        ("unigram.v1", "unigram", (0,)), ("perceptron.v2", "mine", (4, 7)),
    ]  # fmt: skip
    words = Plan.of(path).materials["small"].corpus.words
    assert [(corpus.name, corpus.sentences, corpus.words) for corpus in result.corpora] == [("small", 30, words)]
    assert [(item.split, item.times, item.seed) for item in result.strategies] == [("random.v1", 2, 0)]
    assert (result.cells, result.missing) == (6, 0)


def test_a_single_split_has_an_interval_by_its_sentences_and_seeds(tmp_path: Path) -> None:
    path = study_file(tmp_path, f"{SYSTEMS} perceptron", "seeds = 3", times=1)
    (tmp_path / "small.conllu").write_text(corpus_text(200))
    result = run_result(path)
    counts = right_counts(path, "test")
    for name, seeds in (("majority", 1), ("unigram", 1), ("hmm", 1), ("perceptron", 3)):
        runs = runs_of(counts, name, 0, seeds)
        row = standing(block_of(result, "test"), name, "accuracy.v1")
        assert row.interval == pytest.approx(runs.estimate().estimate.bounded_interval(runs.units).bounds)
        assert row.mean == pytest.approx(runs.mean)
        assert (row.runs, np.isnan(row.sd)) == (seeds, seeds == 1)
    assert "95% CI" in str(result)


def test_systems_of_two_columns_are_compared_each_with_its_own_kind(tmp_path: Path) -> None:
    path = study_file(tmp_path, "majority unigram", times=3)
    result = run_result(path, "systems.0.column=['upos', 'xpos']", "systems.1.column=['upos', 'xpos']")
    block = block_of(result, "test")
    assert {(pair.a, pair.b) for pair in block.pairs} == {
        ("unigram column=upos", "majority column=upos"),
        ("unigram column=xpos", "majority column=xpos"),
    }
    assert [each.labels for each in block.agreement] == ["upos", "xpos"] * 3
    for column in ("upos", "xpos"):
        setting = "" if column == "upos" else "(column='xpos')"
        own = right_words(path, "test", column)
        for name in ("majority", "unigram"):
            scores = [np.mean(own[f"{versioned(name)}{setting}", number, 0]) for number in range(3)]
            each = standing(block, f"{name} column={column}", f"accuracy.v1{setting}")
            assert each.mean == pytest.approx(np.mean(scores))
    assert {row.labels for row in block.agreement} == {"upos", "xpos"}


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("evaluate=['dev']", ["dev"]),
        ("splits.sizes='train=rest,dev=20%'", ["dev"]),
        ("splits.sizes='train=rest,test=20%'", ["test"]),
        ("splits.sizes='train=rest,tune=10%,dev=10%,test=10%'", ["tune", "dev", "test"]),
    ],
)
def test_there_is_a_block_for_every_part_that_is_scored(tmp_path: Path, override: str, parts: list[str]) -> None:
    result = run_result(study_file(tmp_path), override)
    assert [block.part for block in result.blocks] == parts
    assert all(len(block.pairs) == 1 for block in result.blocks)
    assert result.missing == 0


def test_strategies_seeds_and_corpora_are_kept_apart(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    (tmp_path / "other.conllu").write_text(corpus_text(25, seed=5))
    several = "".join(f"[[splits]]\nstrategy = {strategy}\n" for strategy in SPLITS)
    path.write_text(path.read_text().replace("[splits]\nstrategy = 'random'\ntimes = 3\n", several))
    result = run_result(path, "corpora.other.files=other.conllu", "evaluate=['test']")
    assert [(block.corpus, block.split, block.seed, block.splits) for block in result.blocks] == [
        (corpus, *split)
        for corpus in ("small", "other")
        for split in (("random.v1", 0, 2), ("random.v1", 1, 1), ("kfold.v1(folds=4)", 0, 4))
    ]
    assert len({(block.corpus, block.split_label) for block in result.blocks}) == 6
    assert [standing.runs for standing in result.blocks[5].systems[:2]] == [4, 4]


def test_what_is_missing_is_counted_and_pairs_are_of_the_splits_that_are_there(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=2)
    run_result(path)
    result_of_more = Plan.of(path, ["splits.times=3"])
    with Store.read(result_of_more.store_path) as store:
        result = study_result(result_of_more, store)
    assert result.missing == 2
    assert [pair.splits for pair in block_of(result, "test").pairs] == [2]
    assert "2 cells of the plan without a result." in str(result)
    with Store.read(result_of_more.store_path) as store:
        nothing = study_result(Plan.of(path, ["splits.seed=9"]), store)
    assert (nothing.blocks, nothing.missing) == ((), 4)


def partial_result(path: Path, missing: set[tuple[str, int]]) -> StudyResult:
    """The result of a study without the cells of some systems on some splits."""
    plan = Plan.of(path)
    cells = tuple(cell for cell in plan.cells if (cell.system.partition(".")[0], cell.number) not in missing)
    some = replace(plan, selection=cells)
    with Store.open(plan.store_path, create=True) as store:
        with serial(plan, store) as executor:
            run_study(some, store, executor=executor)
        return study_result(plan, store)


def test_two_systems_without_a_common_split_are_no_pair(tmp_path: Path) -> None:
    result = partial_result(study_file(tmp_path, times=2), {("majority", 1), ("unigram", 0)})
    assert [block.pairs for block in result.blocks] == [(), ()]
    assert str(result)


def test_two_splits_of_which_one_lacks_a_score_are_too_few(tmp_path: Path) -> None:
    (claim,) = partial_result(study_file(tmp_path, times=2), {("unigram", 1)}).verdict.claims
    assert [evidence.state for evidence in claim.evidence] == [State.TOO_FEW]


def test_damaged_predictions_are_told_and_left_out(tmp_path: Path) -> None:
    path = study_file(tmp_path, SYSTEMS, times=2)
    whole = run_result(path)
    plan = Plan.of(path)
    victim = next(cell for cell in plan.cells if (cell.system, cell.number) == ("hmm.v1", 1))
    file = predictions_folder(plan.store_path) / victim.key[:2] / f"{victim.key}.test.zst"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with Store.read(plan.store_path) as store:
        result = study_result(plan, store)
    assert result.damaged == (victim.key,)
    assert repr(block_of(result, "dev").pairs) == repr(block_of(whole, "dev").pairs)  # some p-values are NaN
    splits = {(pair.a, pair.b): pair.splits for pair in block_of(result, "test").pairs}
    assert {pair: count for pair, count in splits.items() if "hmm" in pair} == dict.fromkeys(
        [pair for pair in splits if "hmm" in pair], 1
    )
    file.unlink()
    with Store.read(plan.store_path) as store:
        assert study_result(plan, store).damaged == (victim.key,)


def test_words_that_stand_together_are_one_row_of_gold_and_prediction(tmp_path: Path) -> None:
    """Multiword tokens and empty nodes go through training, prediction and scoring."""
    path = study_file(tmp_path, "majority unigram hmm", times=2)
    sentence = (
        "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tP\t_\t0\troot\t_\t_\n2\tel\tel\tDET\tD\t_\t1\tdet\t_\t_\n"
        "2.1\tx\tx\tVERB\tV\t_\t_\t_\t1:dep\t_\n3\t{0}\t{0}\tNOUN\tN\t_\t1\tdep\t_\t_\n\n"
    )
    (tmp_path / "small.conllu").write_text("".join(sentence.format(f"w{i % 7}") for i in range(30)))
    result = run_result(path)
    best = block_of(result, "test").systems[0]
    assert (best.system in ("unigram", "hmm"), best.mean, result.missing) == (True, 1.0, 0)
    plan = Plan.of(path)
    with Store.read(plan.store_path) as store:
        text = store.prediction(plan.cells[0].key, "test").decode()
    assert read(text=text).words == 9
    assert text.count("1-2\tdel") == 3
