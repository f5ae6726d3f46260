"""Comparisons of several runs and data sets: from corpora, patterns and tables, and what they say about whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deadheat.corpus import Corpus, read
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, align
from deadheat.questions.compare import compare
from deadheat.questions.designs import Prediction, read_sets_table
from deadheat.results.compare import Comparison
from deadheat.results.verdict import State
from deadheat.stats.estimates import RunScores, average, average_elsewhere
from deadheat.stats.looks import spent_level
from deadheat.study.ledger.ledger import Ledger, LedgerEntry

METRIC = METRICS.make("accuracy(column='tag')")
SIZES = np.random.default_rng(0).integers(3, 12, 60)


def tagged(rows: list[str]) -> Corpus:
    return read(text="".join(" ".join(f"w_{tag}" for tag in row) + "\n" for row in rows))


ROWS = ["X" * size for size in SIZES.tolist()]
GOLD = tagged(ROWS)


def run(seed: int, errors: float) -> Corpus:
    """A run with so many errors, and half as many more or less by chance of the run."""
    rng = np.random.default_rng(seed)
    rate = errors * (1 + rng.normal(0, 0.1))
    return tagged(["".join("N" if rng.random() < rate else tag for tag in row) for row in ROWS])


def runs(first: int, number: int, errors: float) -> list[Corpus]:
    return [run(first + at, errors) for at in range(number)]


GOOD, FAIR, POOR = runs(10, 3, 0.05), runs(20, 3, 0.10), runs(30, 3, 0.30)


def scores_of(corpora: list[Corpus]) -> RunScores:
    counts = [METRIC.counts(align(GOLD, corpus))[:, :3] for corpus in corpora]
    return RunScores.of(np.stack(counts), METRIC.value)


def only_pair(result: Comparison) -> tuple[float, float, float, float]:
    (pair,) = result.pairs
    return (pair.difference, *pair.interval.bounds, pair.p)


def test_all_runs_of_a_system_enter_and_its_score_is_their_mean() -> None:
    result = compare(GOLD, {"good": GOOD, "fair": FAIR})
    expected = scores_of(GOOD).minus(scores_of(FAIR)).estimate
    assert only_pair(result) == pytest.approx((expected.value, *expected.interval().bounds, expected.p))
    (dataset,) = result.datasets
    for name, corpora in (("good", GOOD), ("fair", FAIR)):
        shares = [np.mean(np.array(corpus.column("tag").strings()) == "X") for corpus in corpora]
        assert dataset[name].scores == pytest.approx(shares)
        assert (dataset[name].mean, dataset[name].sd) == pytest.approx((np.mean(shares), np.std(shares, ddof=1)))
    assert [row.value for row in result.systems] == pytest.approx([dataset["good"].mean, dataset["fair"].mean])
    assert not result.pairs[0].about_runs
    assert str(result).startswith("good is better than fair by ")


def test_one_run_each_is_about_these_runs_and_says_so() -> None:
    single = compare(GOLD, {"good": GOOD[0], "poor": POOR[0]})
    assert single.pairs[0].about_runs
    assert str(single).startswith("This run of good is better than this run of poor by ")
    assert math.isnan(single.pairs[0].run_share)


def test_one_run_against_several_has_the_variance_of_the_other_system() -> None:
    """The variance of the three runs, once for their mean and once for the single run."""
    (pair,) = compare(GOLD, {"good": GOOD, "fair": FAIR[0]}).pairs
    estimate = scores_of(GOOD).minus(scores_of(FAIR[:1]))
    scores = [np.mean(np.array(corpus.column("tag").strings()) == "X") for corpus in GOOD]
    assert estimate.variance_of("runs") == pytest.approx(np.var(scores, ddof=1) * (1 + 1 / 3))
    assert pair.p == pytest.approx(estimate.estimate.p)
    assert not pair.about_runs
    assert "good has 3 runs and fair has 1 run" in compare(GOLD, {"good": GOOD, "fair": FAIR[0]}).notes


def test_the_order_of_runs_is_nothing_and_one_run_twice_is_no_evidence() -> None:
    forward = only_pair(compare(GOLD, {"good": GOOD, "fair": FAIR}))
    assert only_pair(compare(GOLD, {"good": GOOD[::-1], "fair": FAIR[1:] + FAIR[:1]})) == pytest.approx(forward)
    low, high = (only_pair(compare(GOLD, {"fair": FAIR, "good": GOOD}))[at] for at in (2, 1))
    assert (-low, -high) == pytest.approx(forward[1:3])


SETS = {
    name: {"good": runs(at, 2, 0.05), "fair": runs(at + 5, 2, 0.08)} for name, at in (("x", 40), ("y", 50), ("z", 60))
}


def nested(systems: Mapping[str, Mapping[str, list[Corpus]]]) -> dict[str, dict[str, list[Corpus]]]:
    """Predictions by system and data set, from those by data set and system."""
    names = dict.fromkeys(name for row in systems.values() for name in row)
    return {name: {dataset: row[name] for dataset, row in systems.items() if name in row} for name in names}


def test_several_data_sets_are_averaged_and_stand_for_others_like_them() -> None:
    result = compare(dict.fromkeys(SETS, GOLD), nested(SETS))
    (pair,) = result.pairs
    rows = [scores_of(row["good"]).minus(scores_of(row["fair"])).estimate for row in SETS.values()]
    here, elsewhere = average(rows), average_elsewhere(rows)
    assert elsewhere is not None
    assert pair.elsewhere is not None
    assert only_pair(result) == pytest.approx((here.value, *here.interval().bounds, here.p))
    assert pair.elsewhere.interval.bounds == pytest.approx(elsewhere.interval().bounds)
    assert [row.difference for row in pair.by_dataset] == pytest.approx([row.value for row in rows])
    levels = 0.05 / np.array([3 - sorted(row.p for row in rows).index(row.p) for row in rows])
    for row, estimate, level in zip(pair.by_dataset, rows, levels.tolist(), strict=True):
        assert row.p == pytest.approx(estimate.p)
        assert (row.interval.low > 0) == (row.p_corrected <= 0.05)
        if row.p_corrected == pytest.approx(row.p * 0.05 / level):
            assert row.interval.bounds == pytest.approx(estimate.interval(1 - level).bounds)
    assert pair.ahead_on == sum(row.value * here.value > 0 for row in rows)
    assert [evidence.source for evidence in result.verdict.claims[0].evidence] == [
        "these data sets",
        "data sets like these",
    ]
    assert " | data sets 3 | runs 2 | " in result.signature


def test_a_data_set_whose_error_is_unknown_leaves_the_spread_between_data_sets() -> None:
    """On a single sentence no error can be estimated; differences of data sets vary at least as much as that."""
    short, good, poor = tagged(["X" * 9]), tagged(["X" * 9]), tagged(["X" * 7 + "NN"])
    golds = {**dict.fromkeys(SETS, GOLD), "short": short}
    systems = nested({**SETS, "short": {"good": [good], "fair": [poor]}})
    (pair,) = compare(golds, systems).pairs
    gaps = [scores_of(row["good"]).mean - scores_of(row["fair"]).mean for row in SETS.values()] + [2 / 9]
    expected = stats.ttest_1samp(gaps, 0.0)
    interval = expected.confidence_interval(0.95)
    assert (pair.difference, pair.p) == pytest.approx((np.mean(gaps), expected.pvalue))
    assert pair.interval.bounds == pytest.approx((interval.low, interval.high))
    assert pair.elsewhere is not None
    assert pair.elsewhere.interval == pair.interval
    assert math.isnan(pair.by_dataset[-1].p)


def test_data_sets_are_in_the_order_of_gold_and_the_order_changes_no_number() -> None:
    forward, back = (
        compare(dict.fromkeys(names, GOLD), nested({name: SETS[name] for name in names}))
        for names in (list(SETS), list(SETS)[::-1])
    )
    assert [row.dataset for row in back.datasets] == ["z", "y", "x"]
    assert only_pair(back) == pytest.approx(only_pair(forward))


def test_what_is_missing_is_noted_and_pairs_are_over_the_data_sets_that_both_have() -> None:
    systems = nested(SETS)
    systems["third"] = {"x": [run(70, 0.3)], "y": runs(71, 2, 0.3)}
    result = compare(dict.fromkeys(SETS, GOLD), systems)
    assert result.notes[:2] == ("third has no predictions on z", "third has 1 run on x, but 2 runs on y")
    over = {frozenset((pair.a, pair.b)): [row.dataset for row in pair.by_dataset] for pair in result.pairs}
    assert over == {
        frozenset(("good", "fair")): ["x", "y", "z"],
        frozenset(("good", "third")): ["x", "y"],
        frozenset(("fair", "third")): ["x", "y"],
    }


def test_two_systems_without_a_common_data_set_are_no_pair() -> None:
    systems = {"a": {"x": GOOD}, "b": {"y": FAIR}, "c": {"x": POOR, "y": POOR}}
    result = compare({"x": GOLD, "y": GOLD}, systems)
    assert [{pair.a, pair.b} for pair in result.pairs] == [{"a", "c"}, {"b", "c"}]
    assert str(result)


def test_ranks_are_over_the_data_sets_that_all_systems_have() -> None:
    systems = nested(SETS)
    systems["third"] = {"x": runs(80, 2, 0.3), "y": runs(82, 2, 0.3)}
    ranks = compare(dict.fromkeys(SETS, GOLD), systems).ranks
    assert ranks is not None
    assert ranks.datasets == 2


@pytest.mark.parametrize(("margin", "state"), [(0.0, State.NOT_SHOWN), (0.5, State.NOT_SHOWN), (20.0, State.EQUAL)])
def test_a_margin_in_points_makes_a_dead_heat(margin: float, state: State) -> None:
    twins = {"a": runs(100, 3, 0.1), "b": runs(110, 3, 0.1)}
    result = compare(GOLD, twins, margin=margin)
    low, high = result.pairs[0].interval.bounds
    assert result.pairs[0].state(0.05) is state
    assert (max(-low, high) <= margin / 100) == (state is State.EQUAL)
    if state is State.EQUAL:
        assert str(result).startswith("A dead heat: ")


def test_a_difference_that_is_shown_is_no_dead_heat_within_any_margin() -> None:
    result = compare(GOLD, {"good": GOOD, "poor": POOR}, margin=100)
    assert result.pairs[0].state(0.05) is State.SHOWN
    assert "That is within the margin of 100.00 points." in str(result)


class TestDocuments:
    """Sixty sentences in twelve documents; in every document, all words of a system are right or wrong."""

    TEXT = "".join(
        f"# newdoc id = d{at // 5}\n" * (at % 5 == 0)
        + "".join(f"{i}\tw\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_\n" for i in (1, 2, 3))
        + "\n"
        for at in range(60)
    )

    def predicted(self, right: NDArray[np.bool_]) -> Corpus:
        sentences = self.TEXT.split("\n\n")[:-1]
        rows = [row if right[at // 5] else row.replace("\tX\t", "\tN\t") for at, row in enumerate(sentences)]
        return read(text="\n\n".join(rows) + "\n\n", format="conllu")

    def test_documents_are_the_units_where_several_are_marked_and_the_paired_t_test_tests_them(self) -> None:
        rng = np.random.default_rng(1)
        first, second = rng.random(12) < 0.9, rng.random(12) < 0.4
        gold = read(text=self.TEXT, format="conllu")
        systems = {"a": self.predicted(first), "b": self.predicted(second)}
        result = compare(gold, systems, metric="upos")
        assert (result.unit, result.units) == ("document", 12)
        t = stats.ttest_rel(first.astype(float), second.astype(float)).statistic
        different = int(np.count_nonzero(first != second))
        assert result.pairs[0].p == pytest.approx(2 * stats.t.sf(abs(t), different - 1))
        (dataset,) = result.datasets
        assert (dataset.documents, dataset.sentences) == (12, 60)
        by_sentence = compare(gold, systems, metric="upos", unit="sentence")
        assert (by_sentence.unit, by_sentence.units) == ("sentence", 60)
        # Five sentences that agree: the variance of a mean is five times as great, but for (N - 1) / N.
        assert dataset.design_effect == pytest.approx(5 * (59 / 60) / (11 / 12))
        assert by_sentence.datasets[0].design_effect == pytest.approx(dataset.design_effect)

    def test_few_documents_and_one_that_outweighs_the_others_are_noted(self) -> None:
        sentence = "1\tw\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
        wrong = sentence.replace("X", "N")
        two = ["# newdoc id = a\n" + sentence + sentence * 9, "# newdoc id = b\n" + sentence + sentence * 9]
        uneven = ["# newdoc id = a\n" + sentence + sentence * 18, "# newdoc id = b\n" + sentence]
        for text, unit, words in (
            ("".join(two), "document", "2 documents, which weigh as much as 2.0 of equal size, show only large"),
            ("".join(uneven), "sentence", "one of 2 documents outweighs the others, so sentences are compared"),
        ):
            gold = read(text=text, format="conllu")
            systems = {"a": read(text=sentence * 20, format="conllu"), "b": read(text=wrong * 20, format="conllu")}
            result = compare(gold, systems, metric="upos")
            assert result.unit == unit
            assert any(words in note for note in result.notes)
            assert not compare(gold, systems, metric="upos", unit="sentence").notes


def write(path: Path, corpus: Corpus) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    words = corpus.column("tag").strings()
    starts = corpus.offsets.tolist()
    rows = [" ".join(f"w_{tag}" for tag in words[start:end]) for start, end in pairwise(starts)]
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three data sets by two systems by two runs, in files and in a table of them."""
    monkeypatch.chdir(tmp_path)
    lines = ["set,gold,system,prediction"]
    for dataset, row in SETS.items():
        write(Path(f"gold/{dataset}.txt"), GOLD)
        for system, corpora in row.items():
            for number, corpus in enumerate(corpora, start=1):
                path = f"pred/{dataset}/{system}.{number}.txt"
                write(Path(path), corpus)
                lines.append(f"{dataset},gold/{dataset}.txt,{system},{path}")
    Path("sets.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_corpora_patterns_and_tables_of_files_give_the_same_numbers() -> None:
    expected = compare(dict.fromkeys(SETS, GOLD), nested(SETS))
    pattern = compare("gold/{dataset}.txt", "pred/{dataset}/{system}.{run}.txt")
    listed = compare("gold/{dataset}.txt", ["good=pred/{dataset}/good.{run}.txt", "fair=pred/{dataset}/fair.{run}.txt"])
    table = compare("", read_sets_table("sets.csv"))
    for result in (pattern, listed, table):
        # Systems are in the order of their files or patterns, and pairs the other way round.
        pair = result.pairs[0] if result.pairs[0].a == "good" else result.pairs[0].turned()
        assert (pair.difference, pair.p, *pair.interval.bounds) == pytest.approx(
            (expected.pairs[0].difference, expected.pairs[0].p, *expected.pairs[0].interval.bounds)
        )
        assert [row.dataset for row in result.datasets] == ["x", "y", "z"]


def test_patterns_need_one_of_gold_and_data_sets_need_gold() -> None:
    with pytest.raises(InputError, match="patterns of predictions without one of gold"):
        compare(GOLD, ["pred/{dataset}/{system}.txt"])
    with pytest.raises(NameUnknown, match="data set of a 'y' is unknown"):
        compare({"x": GOLD}, {"a": {"y": GOOD}, "b": {"x": FAIR}})


def test_named_tests_are_for_one_run_each_on_one_data_set() -> None:
    with pytest.raises(
        InputError, match=r"^sign with several runs; expected one run each on one data set, or no --test"
    ):
        compare(GOLD, {"good": GOOD, "fair": FAIR}, test="sign")
    with pytest.raises(InputError, match=r"^sign with several data sets; expected one run each"):
        compare(
            dict.fromkeys("xy", GOLD),
            {"a": dict.fromkeys("xy", GOOD[0]), "b": dict.fromkeys("xy", FAIR[0])},
            test="sign",
        )
    with pytest.raises(InputError, match="training files with several data sets; expected them with one data set only"):
        compare(dict.fromkeys(SETS, GOLD), nested(SETS), train=GOLD)


def test_gold_files_of_one_data_set_must_have_the_same_sentences() -> None:
    other = tagged(["XX", "XXX"])
    rows = [Prediction("x", GOLD, "a", "1", GOOD[0]), Prediction("x", other, "b", "1", tagged(["XX", "XNN"]))]
    with pytest.raises(InputError, match=r"other sentences than .*; expected the same sentences in all gold files"):
        compare("", rows)


def test_a_pattern_stands_for_the_runs_of_a_system(tmp_path: Path) -> None:
    write(tmp_path / "gold.txt", GOLD)
    for name, corpora in (("good", GOOD), ("fair", FAIR)):
        for number, corpus in enumerate(corpora):
            write(tmp_path / f"{name}.{number}.txt", corpus)
    result = compare(tmp_path / "gold.txt", {"good": str(tmp_path / "good.*.txt"), "fair": tmp_path / "fair.?.txt"})
    assert only_pair(result) == pytest.approx(only_pair(compare(GOLD, {"good": GOOD, "fair": FAIR})))
    with pytest.raises(InputError, match=r"poor\.\*\.txt: no file matches; expected at least one"):
        compare(tmp_path / "gold.txt", {"good": str(tmp_path / "poor.*.txt"), "fair": FAIR})


def test_alpha_that_was_spent_on_earlier_looks_is_not_there_for_this_one(tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    write(tmp_path / "my-test.txt", GOLD)
    gold, entry = tmp_path / "my-test.txt", LedgerEntry(ledger)
    looks = {1: FAIR, 2: POOR}
    for look, others in looks.items():
        level = spent_level(0.05, look)
        for _ in range(2):  # the same evaluation again is no other look
            result = compare(gold, {"a": GOOD, "b": others}, ledger_entry=entry, spend_alpha=True)
            assert result.settings.alpha == level
            assert f"look {look} at this test set, tested at alpha {level:.4f} of 0.05 (alpha spending)" in result.notes
            expected = scores_of(GOOD).minus(scores_of(others)).estimate.interval(1 - level).bounds
            assert result.pairs[0].interval.bounds == pytest.approx(expected)
    assert compare(gold, {"a": GOOD, "b": FAIR}, ledger_entry=entry).settings.alpha == 0.05
    assert compare(gold, {"a": GOOD, "b": FAIR}, spend_alpha=True).settings.alpha == 0.05  # no ledger, no looks
