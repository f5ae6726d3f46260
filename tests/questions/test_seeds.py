from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.questions.seeds import seeds
from deadheat.results.format import Scale
from deadheat.results.verdict import State
from deadheat.tables.table import read_runs

RUNS = """\
task,system,size,seed,dev,test
ner,A,1,1,0.90,0.81
ner,A,1,2,0.92,0.80
ner,A,1,3,0.91,0.83
ner,B,1,1,0.88,0.79
ner,B,2,2,0.89,0.75
pos,A,1,1,0.97,0.96
pos,B,1,1,0.96,0.95
"""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return path


def test_systems_are_summarised_block_by_block(runs: Path) -> None:
    result = seeds(runs, score="test", dev="dev", by="task")
    assert (result.system, result.settings) == ("system", ("size",))
    assert [block.level for block in result.blocks] == ["ner", "pos"]
    a = result["ner"]["A"]
    assert (a.summary.n, a.summary.minimum, a.summary.median, a.summary.maximum) == (3, 0.80, 0.81, 0.83)
    assert a.summary.sd == pytest.approx(np.std([0.81, 0.80, 0.83], ddof=1))
    assert a.dev_test is not None
    assert a.dev_test.selected == 0.80
    assert result["ner"].pairs[0].a_better == 1
    assert result.scale == Scale(100.0, 2)


def test_seeds_are_runs_that_agree_in_every_setting(runs: Path) -> None:
    result = seeds(runs, score="test", by="task")
    differences = result["ner"].differences
    assert differences is not None
    assert (differences.configurations, differences.runs) == (1, 3)  # the two runs of B differ in size
    assert differences.maximum == pytest.approx(0.03)
    assert result["pos"].differences is None
    assert result.notes[1:] == ("pos: no two runs agree in all settings, so the variation between seeds is unknown",)
    wider = seeds(runs, score="test", by="task", ignore=["size"])["ner"].differences
    assert wider is not None
    assert wider.configurations == 2


def test_a_table_without_systems_is_one_system(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("size,test\n1,5\n1,7\n2,1\n")
    (block,) = seeds(path, score="test", settings=["size"]).blocks
    assert block["all runs"].summary.n == 3
    assert block.pairs == ()
    assert block.differences is not None
    assert block.differences.median == 2


def test_the_wanted_difference_decides_how_many_seeds_it_takes(runs: Path) -> None:
    wide, narrow = (
        seeds(runs, score="test", where=["task=ner"], ignore=["size"], difference=gap).blocks[0].pairs[0].power.seeds
        for gap in (0.05, 0.01)
    )
    assert 4 <= wide < narrow


def write(path: Path, rows: list[tuple[str, int, int, float]]) -> Path:
    path.write_text("system,size,seed,test\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in rows))
    return path


def test_pairs_that_share_alpha_have_less_power(tmp_path: Path) -> None:
    rows = [(f"s{i}", 1, seed, float(i + seed)) for i in range(6) for seed in range(5)]
    path = write(tmp_path / "runs.csv", rows)
    (shared,), (free,) = (seeds(path, score="test", correction=name).blocks for name in ("holm", "none"))
    assert ({pair.power.comparisons for pair in shared.pairs}, {pair.power.comparisons for pair in free.pairs}) == (
        {15},
        {1},
    )
    for pair, alone in zip(shared.pairs, free.pairs, strict=True):
        assert pair.power.power_now < alone.power.power_now
        assert pair.detectable == pair.power.detectable_difference > alone.detectable
    (other,) = seeds(path, score="test", target=0.9).blocks
    assert [pair.detectable for pair in other.pairs] == [pair.detectable for pair in shared.pairs]
    assert all(pair.power.detectable_difference > pair.detectable for pair in other.pairs)


def test_systems_of_several_configurations_are_compared_by_the_means_of_each(tmp_path: Path) -> None:
    means = {"A": (1.0, 5.0, 3.0), "B": (2.0, 9.0, 4.0)}
    rows = [(name, i, seed, mean + seed) for name in "AB" for i, mean in enumerate(means[name]) for seed in (-1, 0, 1)]
    result = seeds(write(tmp_path / "runs.csv", rows), score="test", settings=["size"])
    (block,) = result.blocks
    assert (block.unit, block["A"].summary.n, block["A"].compared) == ("configuration", 9, 3)
    (pair,) = block.pairs
    assert pair.difference == pytest.approx(-2)
    assert pair.a_better == pytest.approx((0 + 2 + 1) / 9)  # 5 beats 2 and 4, 3 beats 2
    assert any("pairs compare the means of configurations" in note for note in result.notes)
    seeds_alone = seeds(tmp_path / "runs.csv", score="test", ignore=["size"])
    assert (seeds_alone.blocks[0].unit, seeds_alone.notes) == ("seed", ())


def test_equal_systems_of_random_configurations_win_as_rarely_as_claimed(tmp_path: Path) -> None:
    rng, wins = np.random.default_rng(0), 0
    for _ in range(100):
        rows = [
            (name, size, seed, float(mean + rng.normal()))
            for name in "AB"
            for size, mean in enumerate(rng.normal(0, 3, 4))
            for seed in range(5)
        ]
        path = write(tmp_path / "runs.csv", rows)
        (block,) = seeds(path, score="test", settings=["size"], resamples=2).blocks
        wins += bool(block.pairs[0].winner)
    assert wins <= 10


def test_two_runs_against_many_have_the_degrees_of_freedom_of_the_two_and_a_note(tmp_path: Path) -> None:
    few = [("A", 1, seed, 12.0 + seed) for seed in range(2)]
    many = [("B", 1, seed, 5 + seed % 7 / 7) for seed in range(20)]
    result = seeds(write(tmp_path / "runs.csv", few + many), score="test")
    (note,) = result.notes
    assert note.startswith("all runs: A - B: the numbers of runs are so unequal that Welch's test would find too many")
    assert result[""].pairs[0].means.estimate.freedom == 1
    assert seeds(write(tmp_path / "runs.csv", few + many[:2]), score="test").notes == ()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"score": "tset"}, r"column 'tset' is unknown; did you mean 'test'\?"),
        ({"dev": "dve"}, r"column 'dve' is unknown; did you mean 'dev'\?"),
        ({"score": "task"}, r"runs\.csv:2: task 'ner'; expected a number"),
        ({"where": ["system=C"]}, r"system 'C' is unknown; expected one of A, B"),
        ({"dev": "test"}, r"column test is both score and dev; expected different ones"),
        ({"alpha": 2.0}, r"alpha 2.0; expected between 0 and 1"),
        ({"correction": "home"}, r"correction 'home' is unknown"),
        ({"resamples": 0}, r"0 resamples; expected at least 2"),
        ({"difference": 0.0}, r"difference 0; expected a number other than 0"),
        ({"margin": -1.0}, r"margin -1; expected 0 \(none\) or more"),
    ],
)
def test_what_cannot_be_compared_is_reported(options: dict[str, object], problem: str, runs: Path) -> None:
    given = {"score": "test"} | options
    with pytest.raises(InputError, match=problem):
        seeds(runs, **given)  # type: ignore[arg-type]


def test_too_many_systems_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("system,test\n" + "".join(f"s{i},{i}\n" for i in range(101)))
    with pytest.raises(InputError, match=r"101 systems; expected at most 100 to compare all pairs"):
        seeds(path, score="test")


def test_claims_are_of_the_best_mean_against_all_others_in_each_block(tmp_path: Path) -> None:
    rows = [
        f"{task},{name},{i},{k + i / 100}"
        for task, n in (("x", 6), ("y", 3))
        for k, name in enumerate("ABC")
        for i in range(n)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["task,system,seed,test", *rows, "z,A,0,1", "z,B,0,2", "z,B,1,3"]))
    result = seeds(path, score="test", by="task")
    claims = result.verdict.claims
    assert [(claim.dataset, claim.better, claim.worse) for claim in claims] == [
        ("x", "C", "B"), ("x", "C", "A"), ("y", "C", "B"), ("y", "C", "A"), ("z", "B", "A"),
    ]  # fmt: skip
    evidence = claims[0].evidence[0]
    assert (evidence.source, evidence.state, evidence.count) == ("runs on this test set", State.SHOWN, 12)
    assert evidence.difference == pytest.approx(1)
    assert evidence.low < 1 < evidence.high
    # Three seeds are few, and enough for differences of a hundred standard deviations; one run has no deviation.
    assert [claim.evidence[0].state for claim in claims[2:]] == [State.SHOWN, State.SHOWN, State.TOO_FEW]
    assert (result.verdict.omitted, result.verdict.systems) == (2, 3)


def test_evidence_is_of_the_better_system_and_agrees_with_the_pair(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [(name, 1, seed, float(rng.normal(mean))) for name, mean in (("A", 0), ("B", 1)) for seed in range(6)]
    result = seeds(write(tmp_path / "runs.csv", rows), score="test")
    (pair,), (claim,) = result[""].pairs, result.verdict.claims
    evidence = claim.evidence[0]
    assert (claim.better, claim.worse) == ("B", "A")
    assert (evidence.low, evidence.high) == (-pair.means.interval.high, -pair.means.interval.low)
    assert (evidence.difference, evidence.p) == pytest.approx((-pair.difference, pair.means.p_corrected))
    assert (evidence.detectable, evidence.count) == (pair.detectable, 12)


def test_runs_that_are_close_are_equal_within_the_margin(tmp_path: Path) -> None:
    rows = [(name, 1, seed, 0.9 + seed / 1e4) for name in "AB" for seed in range(5)]
    path = write(tmp_path / "runs.csv", rows)
    states = [seeds(path, score="test", margin=margin).verdict.claims[0].evidence[0] for margin in (None, 0.001, 0)]
    assert [evidence.state for evidence in states] == [State.EQUAL, State.NOT_SHOWN, State.NOT_SHOWN]
    assert states[0].margin == pytest.approx(0.005)  # half a point
    assert np.isnan(states[2].margin)
    plain = write(tmp_path / "plain.csv", [(a, b, c, 100 * score) for a, b, c, score in rows])
    assert np.isnan(seeds(plain, score="test").margin)  # no percentages, no default
    assert seeds(plain, score="test", margin=0.5).verdict.claims[0].evidence[0].state is State.EQUAL


def test_configurations_are_the_evidence_where_they_are_compared(tmp_path: Path) -> None:
    rows = [(name, i, seed, float(i + seed)) for name in "AB" for i in range(5) for seed in (0, 1)]
    (claim,) = seeds(write(tmp_path / "runs.csv", rows), score="test", settings=["size"]).verdict.claims
    evidence = claim.evidence[0]
    assert (evidence.source, evidence.p, evidence.count) == ("configurations on this test set", 1, 10)
    assert evidence.state is State.NOT_SHOWN


def test_the_range_is_of_runs_of_one_configuration(runs: Path) -> None:
    result = seeds(runs, score="test", by="task")
    assert result["ner"]["A"].range is not None
    assert result["ner"]["A"].range.observed == pytest.approx(0.03)
    assert result["ner"]["B"].range is None  # the two runs differ in size
    assert result["pos"]["A"].range is None


def test_differences_between_seeds_are_near_the_published_ones(shared_data: Path) -> None:
    """Table 2 of Reimers and Gurevych: of all runs' ranges, since the data hold other configurations than the paper."""
    runs = read_runs(shared_data / "scores" / "reimers2017_runs.tsv.gz")
    result = seeds(runs, score="Test_F1", by="Dataset")
    published = {
        "wsj_pos_500.pkl": (0.17, 0.78, 1.55),
        "conll2000_chunking.pkl": (0.17, 0.50, 0.81),
        "conll2003_ner.pkl": (0.38, 1.08, 2.59),
        "ace.pkl": (0.72, 2.10, 8.23),
        "tempeval3.pkl": (0.43, 1.23, 1.73),
    }
    for name, numbers in published.items():
        differences = result[name].differences
        assert differences is not None
        ranges = differences.range_median, differences.range_p95, differences.range_maximum
        ours = [100 * value for value in ranges]
        assert ours == pytest.approx(numbers, abs=0.06), name
