from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deadheat.pages.seeds import MOST_POINTS, sections
from deadheat.questions.seeds import MOST_VALUES, Seeds, seeds
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, texts


def runs_file(path: Path, means: dict[str, float], *, runs: int, sd: float = 0.002, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    rows = [
        f"{name}\t{i}\t{rng.normal(mean + 0.01, sd):.5f}\t{rng.normal(mean, sd):.5f}\n"
        for name, mean in means.items()
        for i in range(runs)
    ]
    path.write_text("system\tseed\tdev\ttest\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Seeds:
    path = runs_file(tmp_path_factory.mktemp("runs") / "runs.tsv", {"A": 0.90, "B": 0.91, "C": 0.9001}, runs=12)
    return seeds(path, score="test", dev="dev", resamples=100)


def test_the_table_has_the_summary_of_every_system_best_first(found: Seeds) -> None:
    made = check(sections, found.to_dict())
    (table,) = section(made, "Scores over seeds").tables
    assert table.header == ("system", "runs", "min", "25 %", "median", "75 %", "max", "mean", "sd")
    assert table.rows[0][0] == "B"
    for each in found.blocks[0].systems:
        told = each.summary
        numbers = (
            *(told.minimum, told.lower_quartile, told.median, told.upper_quartile, told.maximum),
            *(told.mean, told.sd),
        )
        own = next(row for row in table.rows if row[0] == each.system)
        assert own == (each.system, "12", *(f"{100 * number:.2f}" for number in numbers))


def test_violins_and_points_are_drawn_from_the_runs_themselves(found: Seeds) -> None:
    charts = drawn(sections(found.to_dict()))
    assert list(charts) == ["seeds", "seeds-dev-test", "seeds-pairs"]
    for each in found.blocks[0].systems:
        values = [row[1] for row in charts["seeds"].rows if row[0] == each.system]
        assert values == (100 * each.scores).tolist()
        assert each.dev is not None
        points = {(row[1], row[2]) for row in charts["seeds-dev-test"].rows if row[0] == each.system}
        assert points == set(zip((100 * each.dev).tolist(), (100 * each.scores).tolist(), strict=True))


def test_pairs_have_p_values_verdicts_and_the_seeds_they_need(found: Seeds) -> None:
    made = section(sections(found.to_dict()), "Which systems differ")
    tested, needed = made.tables
    block = found.blocks[0]
    for pair, need in zip(block.pairs, block.needed, strict=True):
        name = f"{pair.a} - {pair.b}"
        assert column(tested, "difference")[name] == f"{100 * pair.difference:+.2f}"
        assert column(tested, "P(A > B)")[name] == f"{pair.a_better:.3f}"
        p = pair.corrected["mann_whitney"]
        assert column(tested, "p (MW)")[name] == (f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}")
        winner = pair.winner(found.alpha)
        assert column(tested, "verdict")[name] == (f"{winner} wins" if winner else "could not be told apart")
        assert column(needed, "seeds for power 0.8")[name] == f"{need.seeds:,.0f}"
        ends = [f"{need.seeds_low:,.0f}", f"{need.seeds_high:,.0f}"]
        assert column(needed, "95 % interval")[name] == " to ".join(dict.fromkeys(ends))
    wins = sum(bool(pair.winner(found.alpha)) for pair in block.pairs)
    assert wins == 2
    assert made.said[0].startswith("Of 3 pairs of systems, 2 can be told apart")
    cells = {(each["row"], each["column"]): each for each in rows(drawn([made])["seeds-pairs"])}
    assert [cells[pair.a, pair.b]["told apart"] for pair in block.pairs] == ["yes", "no", "yes"]
    assert "3 pairs (holm)" in made.notes[0]


def test_dev_and_test_are_told_with_what_choosing_on_dev_gives(found: Seeds) -> None:
    (table,) = section(sections(found.to_dict()), "Development against test").tables
    for each in found.blocks[0].systems:
        told = each.dev_test
        assert told is not None
        assert column(table, "rho")[each.system] == f"{told.spearman.statistic:.2f}"
        assert column(table, "test of best on dev")[each.system] == f"{100 * told.chosen:.2f}"
        low, high = told.spearman_interval.bounds
        assert column(table, "95 % interval")[each.system] == f"{low:.2f} to {high:.2f}"


def test_how_far_two_seeds_are_apart_is_explained(found: Seeds) -> None:
    made = section(sections(found.to_dict()), "How far apart")
    told = found.blocks[0].differences
    assert told is not None
    assert f"{100 * told.median:.2f} points apart in the median" in made.said[1]
    assert f"in 5 of 100 cases more than {100 * told.p95:.2f} points" in made.said[1]
    two, every = made.tables[0].rows
    assert two[2:] == ("3", *(f"{100 * each:.2f}" for each in (told.median, told.p95, told.maximum)))
    assert every[3:] == tuple(f"{100 * each:.2f}" for each in (told.range_median, told.range_p95, told.range_maximum))


def test_blocks_have_sections_of_their_own_and_their_own_notes(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "task,system,size,seed,dev,test\nner,A,1,1,0.90,0.81\nner,A,1,2,0.92,0.80\nner,A,1,3,0.91,0.83\n"
        "ner,B,1,1,0.88,0.79\nner,B,2,2,0.89,0.75\npos,A,1,1,0.97,0.96\npos,B,1,1,0.96,0.95\n"
    )
    found = seeds(path, score="test", dev="dev", by="task", resamples=50)
    made = check(sections, found.to_dict())
    # Runs of B on ner differ in size too, and pos has one run of each system: none of it is over seeds alone.
    kinds = ("Scores over runs", "Development against test scores", "Which systems differ")
    assert [each.heading for each in made] == [
        *(f"{kind}: task {task}" for task in ("ner", "pos") for kind in kinds),
        "How far apart are two seeds",
    ]
    assert found.notes[1] in section(made, "Which systems differ: task pos").notes
    assert found.notes[0] in section(made, "Which systems differ: task ner").notes
    assert found.notes[0] not in section(made, "Which systems differ: task pos").notes
    # One run of each: no spread, no test that could find anything, and no number of seeds to be told.
    tested, needed = section(made, "Which systems differ: task pos").tables
    assert tested.rows[0][-1] == "too few seeds"
    assert needed.rows[0][2:] == ("-", "-", "-", "-", "-")
    assert section(made, "Scores over runs: task pos").tables[0].rows[0][-1] == "-"


def test_no_number_of_seeds_is_told_from_an_unknown_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("system,seed,test\n" + "".join(f"{name},{i},{i}\n" for name in "AB" for i in range(6)))
    found = seeds(path, score="test", resamples=50)
    assert np.isinf(found.blocks[0].needed[0].seeds)
    made = check(sections, found.to_dict())
    tested, needed = section(made, "Which systems differ").tables
    assert tested.rows[0][-1] == "could not be told apart"
    assert needed.rows[0][2:4] == ("too many", "too many")
    assert "in percent" not in " ".join(texts(made))


def test_a_system_of_very_many_runs_is_told_by_quantiles(tmp_path: Path) -> None:
    path = runs_file(tmp_path / "runs.tsv", {"A": 0.9, "B": 0.9}, runs=MOST_VALUES + 1)
    found = seeds(path, score="test", dev="dev", resamples=20)
    document = found.to_dict()
    told = document["blocks"][0]["systems"][0]
    assert "values" not in told
    assert "dev_values" not in told
    scores = found.blocks[0]["A"].scores
    assert told["quantiles"] == np.quantile(scores, np.linspace(0, 1, 201)).tolist()
    made = sections(document)
    charts = drawn(made)
    assert "seeds-dev-test" not in charts
    assert f"{MOST_VALUES + 1:,} values of A (median {100 * np.median(scores):.2f})" in charts["seeds"].description
    assert section(made, "Development against test").tables[0].rows
    few = seeds(runs_file(tmp_path / "few.tsv", {"A": 0.9}, runs=MOST_VALUES), score="test", dev="dev", resamples=20)
    assert len(few.to_dict()["blocks"][0]["systems"][0]["values"]) == MOST_VALUES
    chart = drawn(sections(few.to_dict()))["seeds-dev-test"]
    assert len(chart.rows) == MOST_POINTS
    # The extremes are among the points.
    ys = [row[2] for row in chart.rows if isinstance(row[2], float)]
    own = 100 * few.blocks[0].systems[0].scores
    assert (min(ys), max(ys)) == (own.min(), own.max())


def test_a_table_without_dev_scores_or_systems_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("size,test\n1,5\n1,7\n2,1\n")
    made = check(sections, seeds(path, score="test", settings=["size"], resamples=20).to_dict())
    assert [each.heading for each in made] == ["Scores over runs", "How far apart are two seeds"]


def test_nulls_are_dashes(found: Seeds) -> None:
    document = found.to_dict()
    system = document["blocks"][0]["systems"][0]
    system |= {"sd": None, "mean": float("nan"), "values": [0.9, None, float("nan"), 0.91, 0.92, 0.9]}
    system["dev_values"] = [0.9, 0.8, 0.9, None, 0.9, 0.9]
    pair = document["blocks"][0]["pairs"][0]
    pair["brown_forsythe"] |= {"p_corrected": None}
    made = check(sections, document)
    assert section(made, "Which systems differ").tables[0].rows[0][5] == "-"


def test_names_are_text_whatever_is_in_them(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    rng = np.random.default_rng(0)
    rows = [f"{name}\t{i}\t{rng.normal(90, 1):.3f}\n" for name in HOSTILE[2:] for i in range(6)]
    path.write_text("system\tseed\ttest\n" + "".join(rows), encoding="utf-8")
    document = seeds(path, score="test", resamples=20).to_dict()
    document["blocks"][0]["systems"][0]["system"] = HOSTILE[0]
    for pair in document["blocks"][0]["pairs"]:
        pair |= {side: HOSTILE[0] for side in "ab" if pair[side] == HOSTILE[2]}
    made = check(sections, document)
    assert set(HOSTILE) - {HOSTILE[1], HOSTILE[2]} <= set(texts(made))
    assert all("<script>" not in chart.marks for chart in drawn(made).values())


@pytest.mark.slow
def test_published_runs_are_shown(shared_data: Path) -> None:
    path = shared_data / "scores" / "reimers2017_runs.tsv.gz"
    chosen = ["Dataset=conll2003_ner.pkl", "Dataset=ace.pkl"]
    asked = {"score": "Test_F1", "dev": "Dev_F1", "by": "Dataset", "system": "Embeddings"}
    found = seeds(path, **asked, where=chosen, resamples=20)  # type: ignore[arg-type]
    made = sections(found.to_dict())
    assert len(made) == 2 * 3 + 1
    assert len(drawn(made)) == 2 * 3
    levy = found["conll2003_ner.pkl"]["levy_dep"].summary
    assert levy.n > MOST_VALUES
    table = section(made, "Scores over runs: Dataset conll2003_ner.pkl").tables[0]
    assert column(table, "median")["levy_dep"] == f"{100 * levy.median:.2f}"
