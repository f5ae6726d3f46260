from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from deadheat.corpus import Corpus, read
from deadheat.errors import InputError, NameUnknown
from deadheat.questions.compare import compare
from deadheat.results.verdict import State
from deadheat.stats.paired import TESTS
from deadheat.testbed import BUILT_IN_SYSTEMS, built_in
from tests.cli.item_files import inspect_log


def tagged(rows: list[str]) -> Corpus:
    """Sentences whose words are all `w`, each character a tag."""
    return read(text="".join(" ".join(f"w_{tag}" for tag in row) + "\n" for row in rows))


RNG = np.random.default_rng(0)
GOLD_ROWS = ["".join(RNG.choice(list("XYZ"), size)) for size in RNG.integers(2, 9, 60)]


def noisy(seed: int, errors: float) -> Corpus:
    rng = np.random.default_rng(seed)
    return tagged(["".join("N" if rng.random() < errors else tag for tag in row) for row in GOLD_ROWS])


GOLD = tagged(GOLD_ROWS)
SYSTEMS = {"good": noisy(1, 0.05), "twin": noisy(2, 0.05), "bad": noisy(3, 0.35)}


@pytest.mark.parametrize("test", TESTS)
def test_a_system_and_its_copy_do_not_differ_by_any_test(test: str) -> None:
    unit = "token" if test.startswith("mcnemar") else "sentence"
    result = compare(GOLD, {"a": SYSTEMS["bad"], "b": SYSTEMS["bad"]}, unit=unit, test=test)
    assert [(pair.p, pair.p_corrected, pair.difference) for pair in result.pairs] == [(1, 1, 0)]
    assert set(result.tied) == {"a", "b"}


@pytest.mark.parametrize("test", TESTS)
def test_a_much_worse_system_loses_by_every_test(test: str) -> None:
    unit = "token" if test.startswith("mcnemar") else "sentence"
    result = compare(GOLD, SYSTEMS, unit=unit, test=test)
    verdicts = {(pair.a, pair.b): pair.p_corrected <= 0.05 for pair in result.pairs}
    assert verdicts[("good", "bad")]
    assert verdicts[("twin", "bad")]
    assert "bad" not in result.tied


def test_the_default_test_is_the_same_for_all_data_and_says_what_its_error_comes_from() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "sentence"),
        ({"unit": "token"}, "token"),
        ({"metric": "tag(label='X', column='tag')"}, "sentence"),
    ]
    for options, unit in cases:
        result = compare(GOLD, SYSTEMS, **options)
        assert (result.test, result.unit, result.reason) == ("clustered-t", unit, f"its error comes from {unit}s")
    several: dict[str, Corpus | list[Corpus]] = {"a": [SYSTEMS["good"], SYSTEMS["twin"]], "b": SYSTEMS["bad"]}
    assert compare(GOLD, several).reason == "its error comes from sentences and runs"
    assert compare(GOLD, SYSTEMS, test="sign").reason == "asked for"


def right_words(corpus: Corpus) -> list[int]:
    """In every sentence, how many words have the tag of gold."""
    tags, at, right = corpus.column("tag").strings(), 0, []
    for row in GOLD_ROWS:
        right.append(sum(tag == gold for tag, gold in zip(tags[at : at + len(row)], row, strict=True)))
        at += len(row)
    return right


def test_p_and_interval_are_those_of_leaving_out_one_sentence_at_a_time() -> None:
    """The jackknife of the difference, with as many degrees of freedom as sentences of equal length would have."""
    lengths = [len(row) for row in GOLD_ROWS]
    a, b = right_words(SYSTEMS["good"]), right_words(SYSTEMS["bad"])
    total, units = sum(lengths), len(lengths)
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    without = [(sum(gaps) - gap) / (total - length) for gap, length in zip(gaps, lengths, strict=True)]
    error = math.sqrt((units - 1) / units * sum((item - sum(without) / units) ** 2 for item in without))
    different = sum(gap != 0 for gap in gaps)
    freedom = min(total**2 / sum(length**2 for length in lengths), different) - 1
    (pair,) = compare(GOLD, {"a": SYSTEMS["good"], "b": SYSTEMS["bad"]}).pairs
    value = sum(gaps) / total
    assert pair.difference == pytest.approx(value)
    assert pair.p == pytest.approx(2 * stats.t.sf(value / error, freedom))
    reach = stats.t.ppf(0.975, freedom) * error
    assert pair.interval.bounds == pytest.approx((value - reach, value + reach))
    assert stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, pair.detectable / error) == pytest.approx(0.8, abs=1e-5)


def test_discordant_tokens_are_those_of_the_files() -> None:
    result = compare(GOLD, {"a": SYSTEMS["good"], "b": SYSTEMS["bad"]}, unit="token", test="mcnemar-exact").pairs[0]
    gold, a, b = (corpus.column("tag").strings() for corpus in (GOLD, SYSTEMS["good"], SYSTEMS["bad"]))
    only_a = sum(x == g != y for g, x, y in zip(gold, a, b, strict=True))
    only_b = sum(y == g != x for g, x, y in zip(gold, a, b, strict=True))
    assert result.odds_ratio == only_a / only_b
    assert result.difference == pytest.approx((only_a - only_b) / len(gold))
    assert result.p == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue)


def test_holm_corrects_for_all_pairs_and_a_reference_leaves_fewer() -> None:
    every = compare(GOLD, SYSTEMS, correction="bonferroni")
    assert [pair.p_corrected for pair in every.pairs] == [pytest.approx(min(1, 3 * pair.p)) for pair in every.pairs]
    few = compare(GOLD, SYSTEMS, correction="bonferroni", reference="bad")
    assert [(pair.a, pair.b) for pair in few.pairs] == [("bad", "good"), ("bad", "twin")]
    assert [pair.p_corrected for pair in few.pairs] == [pytest.approx(min(1, 2 * pair.p)) for pair in few.pairs]
    assert few.tied == every.tied


def test_ensembles_and_agreement_are_counted_over_words() -> None:
    result = compare(GOLD, SYSTEMS).agreement
    assert result is not None
    gold = GOLD.column("tag").strings()
    printed = [corpus.column("tag").strings() for corpus in SYSTEMS.values()]
    assert result.oracle == pytest.approx(np.mean([g in tags for g, *tags in zip(gold, *printed, strict=True)]))
    votes = [max(tags, key=lambda tag: (tags.count(tag), -tags.index(tag))) for tags in zip(*printed, strict=True)]
    assert result.majority == pytest.approx(np.mean([vote == g for vote, g in zip(votes, gold, strict=True)]))
    assert len(result.sentences) == 5
    disputed = result.sentences[0]
    assert disputed.gold == tuple(GOLD_ROWS[disputed.sentence - 1])
    assert set(disputed.labels) == set(SYSTEMS)


def test_tags_come_with_whole_sentences_and_unknown_words() -> None:
    result = compare(GOLD, SYSTEMS, metric="accuracy(column='tag')", train=tagged(["XYZ"]))
    labels = {row.metric for row in result.extra_scores}
    assert labels == {"Sentence accuracy (tag)", "Unknown words (tag)"}


def test_the_verdict_says_what_each_pair_shows() -> None:
    verdict = compare(GOLD, SYSTEMS).verdict
    states = {(claim.better, claim.worse): claim.evidence[0].state for claim in verdict.claims}
    assert states == {
        ("good", "twin"): State.NOT_SHOWN,
        ("good", "bad"): State.SHOWN,
        ("twin", "bad"): State.SHOWN,
    } or states == {("twin", "good"): State.NOT_SHOWN, ("twin", "bad"): State.SHOWN, ("good", "bad"): State.SHOWN}
    assert all(claim.evidence[0].difference >= 0 for claim in verdict.claims)
    assert {claim.evidence[0].source for claim in verdict.claims} == {"sentences"}
    many = {f"s{i}": noisy(i, 0.3) for i in range(6)}
    few = compare(GOLD, many, resamples=10).verdict
    assert (len(few.claims), few.omitted, len({claim.better for claim in few.claims})) == (5, 10, 1)


def test_few_units_cannot_show_anything_and_say_so() -> None:
    gold, good, bad = tagged(["XY"] * 4), tagged(["XY"] * 4), tagged(["NN"] * 4)
    result = compare(gold, {"good": good, "bad": bad})
    assert result.pairs[0].winner(0.05) == ""
    assert result.pairs[0].state(0.05) is State.TOO_FEW
    assert "too few sentences to tell" in str(result)
    assert "not shown" not in str(result)


def test_trees_are_compared_by_las_and_the_truth_is_found() -> None:
    made = built_in(sentences=1500, seed=3)
    result = compare(read(text=made.gold), {name: read(text=text) for name, text in made.predictions.items()})
    assert result.metric == "LAS"
    assert [system.name for system in BUILT_IN_SYSTEMS] == ["A", "B", "C"]
    assert result.tied == ("A",)
    twins = next(pair for pair in result.pairs if {pair.a, pair.b} == {"B", "C"})
    assert twins.p_corrected > 0.05


def tree(*heads: int) -> str:
    rows = [f"{i}\tw\t_\t_\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n" for i, head in enumerate(heads, start=1)]
    return "".join(rows) + "\n"


def test_systems_with_other_sentence_boundaries_are_compared_where_all_begin_a_sentence() -> None:
    """Each joins another two of four sentences: three blocks each, but only two that are the same text for both."""
    gold, early, late = tree(0) * 4, tree(0, 1) + tree(0) * 2, tree(0) * 2 + tree(0, 1)
    result = compare(read(text=gold), {"early": read(text=early), "late": read(text=late)})
    assert (result.unit, result.units) == ("block", 2)
    assert [row.value for row in result.systems] == [0.75, 0.75]
    with pytest.raises(InputError, match="no document marks"):
        compare(read(text=gold), {"early": read(text=early), "late": read(text=late)}, unit="document")


def test_the_same_text_is_paired_however_systems_cut_it() -> None:
    """The systems err alike but for a few words, so the interval is narrow unless rows of other text are paired."""
    rng = np.random.default_rng(5)
    hard = rng.random(200)
    heads = [[0] + [1] * int(size) for size in rng.integers(3, 9, 200)]
    first = [
        [*item[:2], *(2 if rng.random() < p else 1 for _ in item[2:])] for item, p in zip(heads, hard, strict=True)
    ]
    second = [[*item[:-1], 3 - item[-1]] if rng.random() < 0.05 else item for item in first]
    texts = {name: [tree(*item) for item in rows] for name, rows in (("a", first), ("b", second))}
    texts["a"][:2] = [tree(*([0] + [1] * (len(heads[0]) + len(heads[1]) - 1)))]
    texts["b"][-2:] = [tree(*([0] + [1] * (len(heads[-2]) + len(heads[-1]) - 1)))]
    systems = {name: read(text="".join(rows)) for name, rows in texts.items()}
    result = compare(read(text="".join(tree(*item) for item in heads)), systems)
    assert (result.unit, result.units) == ("block", 198)
    assert result.pairs[0].interval.high - result.pairs[0].interval.low < 0.05


def test_rank_tests_name_the_system_they_speak_for() -> None:
    """One system is better on sixty short sentences, the other on five long ones."""
    rows = ["XX"] * 60 + ["X" * 80] * 5
    gold = tagged(rows)
    short, long = tagged(["XN"] * 60 + rows[60:]), tagged(rows[:60] + ["N" * 80] * 5)
    for test in ("sign", "wilcoxon"):
        result = compare(gold, {"A": short, "B": long}, test=test).pairs[0]
        assert result.difference > 0
        assert result.winner(0.05) == "B"


def test_units_without_anything_to_find_count_for_rank_tests() -> None:
    gold = read(text="w_O w_O\n" * 50 + "w_B-X w_O\n" * 20)
    eager = read(text="w_B-X w_O\n" * 70)
    for test in ("sign", "wilcoxon", "randomization"):
        result = compare(gold, {"careful": gold, "eager": eager}, metric="chunks(column='tag')", test=test)
        assert result.pairs[0].winner(0.05) == "careful"


def test_a_reference_does_not_change_who_is_tied() -> None:
    systems = {**SYSTEMS, "copy": SYSTEMS["good"]}
    assert set(compare(GOLD, systems, reference="bad").tied) == set(compare(GOLD, systems).tied)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"test": "mcnemar"}, "did you mean 'mcnemar-"),
        ({"correction": "homl"}, "did you mean 'holm'"),
        ({"alpha": 0.0}, "alpha 0.0; expected between 0 and 1"),
        ({"resamples": 0}, "expected at least 1"),
        ({"unit": "sentences"}, "unit 'sentences' is unknown; did you mean 'sentence'"),
        ({"margin": -0.1}, "margin -0.1; expected 0 .none. or more"),
        ({"margin": math.nan}, "margin nan; expected 0"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(GOLD, SYSTEMS, **wrong)  # type: ignore[arg-type]


def test_what_cannot_be_compared_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected at least two"):
        compare(GOLD, {"a": SYSTEMS["good"]})
    with pytest.raises(NameUnknown, match="did you mean 'good'"):
        compare(GOLD, SYSTEMS, reference="goood")
    with pytest.raises(InputError, match="expected tokens as units"):
        compare(GOLD, SYSTEMS, test="mcnemar-exact")
    file = tmp_path / "gold.txt"
    file.write_text("a_X b_Y\n")
    with pytest.raises(InputError, match=r"a=.*: the gold file itself"):
        compare(file, {"a": file, "b": SYSTEMS["good"]})
    with pytest.raises(InputError, match="whole sentences"):
        compare(GOLD, SYSTEMS, metric="sentence-accuracy(column='tag')", unit="token")


def test_scores_of_items_without_gold_name_the_function_for_them(tmp_path: Path) -> None:
    rows = [{"item": item, "system": name, "correct": 1} for item in range(3) for name in "ab"]
    path = tmp_path / "items.csv"
    pl.DataFrame(rows).write_csv(path)
    logs = tmp_path / "logs"
    inspect_log(logs / "a.json", "sums", [1.0, 0.0], "a")
    for table, where, call in (
        (pl.DataFrame(rows), r"a table \(DataFrame\)", "table"),
        (rows, r"a table \(list\)", "table"),
        (path, r"\S+items\.csv", r"'\S+items\.csv'"),
        (str(logs), r"\S+logs", r"'\S+logs'"),
    ):
        message = (
            rf"^{where}: no predictions to compare; expected gold and predictions, or deadheat\.compare_items\({call}\)"
        )
        with pytest.raises(InputError, match=message):
            compare(table)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 systems; expected at least two to compare"):
        compare(read(text="a_X b_Y\n"))


def test_pairing_makes_the_interval_of_a_constant_gain_a_point() -> None:
    gold = read(text="a_X b_Y c_X d_Y\n" * 30)
    systems = {"a": read(text="a_X b_Y c_X d_N\n" * 30), "b": read(text="a_X b_Y c_N d_N\n" * 30)}
    (result,) = compare(gold, systems).pairs
    assert result.interval.bounds == (0.25, 0.25)
    assert result.winner(0.05) == "a"
    assert result.error_reduction == 0.5
