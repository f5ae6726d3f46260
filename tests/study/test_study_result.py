"""What a study found, against the same numbers worked out directly from gold and predictions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.corpus import read
from deadheat.questions.study import pair_over_splits, study_result
from deadheat.results.study import StudyBlock, StudyResult, SystemScores
from deadheat.results.verdict import State
from deadheat.stats.differences import corrected_resampled_t
from deadheat.stats.intervals import wilson
from deadheat.stats.paired import mcnemar
from deadheat.study.engine.running import run_study
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from tests.study.study_cases import corpus_text, serial, study_file

SYSTEMS = "majority unigram hmm"
SPLITS = ["'random'\ntimes = 2", "'random'\nseed = 1", "'kfold'\nfolds = 4\ntimes = 4"]


def run_result(path: Path, *overrides: str) -> StudyResult:
    """Run a study in this process and read what it found."""
    plan = Plan.of(path, overrides)
    with Store.open(plan.store_path, create=True) as store:
        with serial(plan, store) as executor:
            run_study(plan, store, executor=executor)
        return study_result(plan, store)


def right_words(path: Path, part: str, column: str = "upos", **wanted: Any) -> dict[tuple[str, int, int], list[bool]]:
    """Of every run the words that are right, read from its prediction and the corpus word by word."""
    plan = Plan.of(path)
    gold = gold_of(path, column)
    right: dict[tuple[str, int, int], list[bool]] = {}
    with Store.read(plan.store_path) as store:
        runs = store.runs()
        for key, system, number, seed, corpus in runs.select("key", "system", "number", "seed", "corpus").iter_rows():
            if corpus != wanted.get("corpus", "small"):
                continue
            text = store.prediction(key, part).decode()
            right[system, number, seed] = [
                label == gold[sentence][place] for sentence, labels in words_of(text, column) for place, label in labels
            ]
    return right


def words_of(text: str, column: str) -> list[tuple[str, list[tuple[int, str]]]]:
    place = {"upos": 3, "xpos": 4}[column]
    sentences = []
    for block in text.strip().split("\n\n"):
        first, *lines = block.split("\n")
        sentences.append((first, [(i, line.split("\t")[place]) for i, line in enumerate(lines)]))
    return sentences


def gold_of(path: Path, column: str) -> dict[str, dict[int, str]]:
    text = (path.parent / "small.conllu").read_text()
    return {sentence: dict(labels) for sentence, labels in words_of(text, column)}


def block_of(result: StudyResult, part: str) -> StudyBlock:
    [block] = [block for block in result.blocks if block.part == part]
    return block


def standing(block: StudyBlock, system: str, metric: str) -> SystemScores:
    [match] = [row for row in block.systems if (row.system, row.metric) == (system, metric)]
    return match


@pytest.mark.parametrize("part", ["dev", "test"])
def test_pairs_over_splits_are_mcnemars_test_split_by_split_and_bonferroni(tmp_path: Path, part: str) -> None:
    path = study_file(tmp_path, SYSTEMS, times=6)
    (tmp_path / "small.conllu").write_text(corpus_text(400))
    block = block_of(run_result(path), part)
    right = right_words(path, part)
    means = {
        name: np.mean([np.mean(right[f"{name}.v1", number, 0]) for number in range(6)]) for name in SYSTEMS.split()
    }
    ranked = sorted(means, key=lambda name: -means[name])
    assert [(pair.a, pair.b) for pair in block.pairs] == list(combinations(ranked, 2))
    for pair in block.pairs:
        p, gaps = [], []
        for number in range(6):
            a, b = (np.array(right[f"{name}.v1", number, 0]) for name in (pair.a, pair.b))
            p.append(mcnemar(int(np.sum(a & ~b)), int(np.sum(b & ~a)), method="midp").p)
            gaps.append(a.mean() - b.mean())
        assert pair.test == "mcnemar-midp"
        assert pair.p == pytest.approx(p, rel=1e-12)
        assert pair.p_corrected == pytest.approx(np.minimum(1, 6 * np.array(p)), rel=1e-12)
        assert pair.difference == pytest.approx(np.mean(gaps), abs=1e-12)
        clear = [gap for gap, p_value in zip(gaps, p, strict=True) if 6 * p_value <= 0.05]
        assert (pair.splits, pair.ahead) == (6, sum(gap > 0 for gap in gaps))
        assert (pair.significant, pair.reversed) == (sum(gap > 0 for gap in clear), sum(gap < 0 for gap in clear))
    assert any(pair.significant for pair in block.pairs)
    assert any(pair.significant < pair.splits for pair in block.pairs)


def test_systems_have_means_over_splits_and_seeds_and_one_per_split(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram perceptron", "seeds = 3", times=4)
    block = block_of(run_result(path), "test")
    right = right_words(path, "test")
    for name, seeds in (("unigram", 1), ("perceptron", 3)):
        by_split = [[np.mean(right[f"{name}.v1", number, seed]) for seed in range(seeds)] for number in range(4)]
        scores = np.ravel(by_split)
        row = standing(block, name, "accuracy.v1")
        assert row.runs == len(scores) == 4 * seeds
        assert [row.mean, row.sd] == pytest.approx([np.mean(scores), np.std(scores, ddof=1)])
        assert [row.min, row.max] == [float(min(scores)), float(max(scores))]
        assert row.by_split == pytest.approx(np.mean(by_split, axis=1))
        assert row.interval is None
    [pair] = block.pairs  # the first seed alone is compared
    gaps = [np.mean(right["unigram.v1", i, 0]) - np.mean(right["perceptron.v1", i, 0]) for i in range(4)]
    assert abs(pair.difference) == pytest.approx(abs(np.mean(gaps)))
    assert pair.splits == 4
    assert block.numbers == (0, 1, 2, 3)
    assert list(block.train_words) == words_of_splits(path, "train", 4)


def words_of_splits(path: Path, part: str, splits: int) -> list[int]:
    plan = Plan.of(path)
    lengths = np.diff(plan.materials["small"].corpus.offsets)
    return [int(lengths[plan.partition(split).parts[part]].sum()) for split in plan.corpus_splits[:splits]]


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
        ("unigram.v1", "unigram", (0,)), ("perceptron.v1", "mine", (4, 7)),
    ]  # fmt: skip
    words = Plan.of(path).materials["small"].corpus.words
    assert [(corpus.name, corpus.sentences, corpus.words) for corpus in result.corpora] == [("small", 30, words)]
    assert [(item.split, item.times, item.seed) for item in result.strategies] == [("random.v1", 2, 0)]
    assert (result.cells, result.missing) == (6, 0)


def test_a_single_split_has_wilsons_interval_of_the_mean_over_seeds(tmp_path: Path) -> None:
    path = study_file(tmp_path, f"{SYSTEMS} perceptron", "seeds = 3", times=1)
    (tmp_path / "small.conllu").write_text(corpus_text(200))
    result = run_result(path)
    right = right_words(path, "test")
    for name, seeds in (("majority", 1), ("unigram", 1), ("hmm", 1), ("perceptron", 3)):
        correct = [sum(right[f"{name}.v1", 0, seed]) for seed in range(seeds)]
        row = standing(block_of(result, "test"), name, "accuracy.v1")
        assert row.interval == pytest.approx(wilson(round(np.mean(correct)), len(right[f"{name}.v1", 0, 0])).bounds)
        assert (row.runs, np.isnan(row.sd)) == (seeds, seeds == 1)
    assert len(set(correct)) > 1
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
            scores = [np.mean(own[f"{name}.v1{setting}", number, 0]) for number in range(3)]
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


def test_other_tests_and_corrections_are_used_as_asked_for(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=2)
    block = block_of(run_result(path, "compare.test=sign", "compare.correction=none"), "test")
    [pair] = block.pairs
    assert pair.test == "sign"
    assert pair.p == pair.p_corrected
    [pair] = block_of(run_result(path, "metrics=['sentence-accuracy']"), "test").pairs
    assert pair.test == "mcnemar-midp"  # a sentence is right or wrong
    [pair] = block_of(run_result(path, "metrics=['upos']"), "test").pairs
    assert pair.test == "permutation-exact"
    [pair] = block_of(run_result(path, "metrics=['unknown']", "splits.seed=7"), "dev").pairs
    assert 1 <= pair.splits <= 2


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
    assert block_of(result, "dev").pairs == block_of(whole, "dev").pairs
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


def test_a_split_counts_for_the_system_that_the_test_favours() -> None:
    tests = [("sign", "sentence", 0.001, 0.3, -19.0), ("sign", "sentence", 0.001, 0.2, 4.0)]
    pair = pair_over_splits("a", "b", [*tests, ("sign", "sentence", 0.9, 0.1, -1.0)], "bonferroni", 0.05)
    assert (pair.ahead, pair.significant, pair.reversed) == (3, 1, 1)
    single = pair_over_splits("a", "b", tests[:1], "bonferroni", 0.05)
    assert single.state(0.05) is State.OPPOSITE


def test_splits_together_are_tested_by_the_corrected_resampled_t_test(tmp_path: Path) -> None:
    path = study_file(tmp_path, f"{SYSTEMS} perceptron", "seeds = 2", times=6)
    (tmp_path / "small.conllu").write_text(corpus_text(400))
    result = run_result(path)
    block = block_of(result, "test")
    share = sum(words_of_splits(path, "test", 6)) / sum(words_of_splits(path, "train", 6))
    for pair in block.pairs:
        a, b = (np.array(standing(block, name, "accuracy.v1").by_split) for name in (pair.a, pair.b))
        expected = corrected_resampled_t(a - b, test_share=share)
        test = pair.overall
        assert (test.difference, test.low, test.high, test.p) == pytest.approx(
            (expected.difference, expected.low, expected.high, expected.p)
        )
        assert test.p_corrected == pytest.approx(min(1.0, 6 * expected.p))  # six pairs
        assert (test.splits, test.ahead) == (6, int(np.count_nonzero(a > b)))
    claims = {(claim.better, claim.worse): claim for claim in result.verdict.claims}
    assert list(claims) == list(pairwise(row.system for row in block.ranked))
    for pair in block.pairs:
        if (pair.a, pair.b) in claims:
            (evidence,) = claims[pair.a, pair.b].evidence
            assert (evidence.source, evidence.count, evidence.ahead) == ("splits", 6, pair.overall.ahead)
            assert (evidence.state is State.SHOWN) == (pair.overall.p_corrected <= 0.05)
    assert {evidence.state for claim in claims.values() for evidence in claim.evidence} >= {State.SHOWN}
    assert result.verdict.omitted == 6 - 3


def test_a_single_split_is_evidence_by_its_own_test(tmp_path: Path) -> None:
    path = study_file(tmp_path, SYSTEMS, times=1)
    (tmp_path / "small.conllu").write_text(corpus_text(400))
    result = run_result(path)
    for claim in result.verdict.claims:
        (pair,) = [pair for pair in block_of(result, "test").pairs if (pair.a, pair.b) == (claim.better, claim.worse)]
        (evidence,) = claim.evidence
        assert (evidence.source, evidence.ahead, claim.dataset) == ("tokens", None, "small")
        assert evidence.p == pytest.approx(min(1.0, 3 * pair.p[0]))  # three pairs


def test_splits_that_repeat_count_once(tmp_path: Path) -> None:
    """Four sentences of which one is tested make four different splits at most."""
    path = study_file(tmp_path, times=12)
    (tmp_path / "small.conllu").write_text(corpus_text(4))
    result = run_result(path, "splits.sizes='train=3 sentences,test=1 sentences'", "evaluate=['test']")
    (pair,) = result.blocks[0].pairs
    assert pair.splits == 12
    assert pair.overall.splits <= 4
    assert any("splits repeat others" in note for note in result.notes)
