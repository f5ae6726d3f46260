from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from deadheat.cli.options import report_progress
from tests.cli.running import Commands

SYSTEMS = {
    "graph": [91, 80, 70, 60, 85, 77, 93, 66],
    "transition": [90, 81, 68, 61, 85, 75, 92, 64],
    "labels": [85, 84, 60, 50, 80, 70, 90, 67],
}
DATASETS = ["en", "de", "fi", "kk", "cs", "pl", "it", "ta"]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    rows = [
        f"{metric},{name},{system},{value - less:.1f}"
        for metric, less in (("las", 0), ("uas", -3))
        for system, values in SYSTEMS.items()
        for name, value in zip(DATASETS, values, strict=True)
    ]
    path.write_text("\n".join(["metric,treebank,system,score", *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def attributes(tmp_path: Path) -> Path:
    path = tmp_path / "treebanks.csv"
    families = ["germanic", "germanic", "uralic", "turkic", "slavic", "slavic", "romance", "dravidian"]
    rows = [f"{name},{family},{size}" for size, (name, family) in enumerate(zip(DATASETS, families, strict=True))]
    path.write_text("\n".join(["treebank,family,size", *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def subsets(tmp_path: Path) -> Path:
    path = tmp_path / "subsets.csv"
    path.write_text("subset,treebank\nrich,en\nrich,cs\nrich,it\npoor,kk\npoor,ta\npoor,sa\n", encoding="utf-8")
    return path


def test_json_has_the_fields_that_the_page_promises(
    commands: Commands, scores: Path, attributes: Path, subsets: Path
) -> None:
    found = json.loads(
        commands(
            "rank", scores, "--metric", "las", "--subset-size", "3", "--exact", "--attributes", attributes,
            "--anomalies", "labels", "--subsets", subsets, "--leave-one-out", "--metrics", "las,uas", "--json",
        ).out
    )  # fmt: skip
    assert set(found) == {
        "kind", "schema", "version", "metric", "datasets", "subset_size", "samples", "design", "grouped_by", "seed",
        "systems", "pairs", "tau", "scale", "all_subsets", "anomalies", "subsets", "leave_one_out", "representative",
        "metrics", "notes", "alpha", "margin", "verdict", "borda",
    }  # fmt: skip
    assert len(found["verdict"]["claims"]) == 3
    assert (found["kind"], found["metric"], found["datasets"]) == ("rank", "las", 8)
    assert (found["subset_size"], found["samples"], found["all_subsets"]) == (3, 56, 56)
    assert set(found["systems"][0]) == {
        "system", "rank", "score", "best", "worst", "mean", "median", "sd", "lower_quartile", "upper_quartile",
        "shares", "possible_best", "possible_worst",
    }  # fmt: skip
    assert set(found["systems"][0]["possible_best"]) == {"rank", "bound", "subset"}
    assert set(found["pairs"][0]) == {"better", "worse", "ahead", "behind", "tied", "exact"}
    assert set(found["pairs"][0]["exact"]) == {"above", "level", "below", "total", "undecided"}
    assert set(found["tau"]) == {
        "mean", "sd", "min", "lower_quartile", "median", "upper_quartile", "max", "undefined",
    }  # fmt: skip
    assert set(found["anomalies"][0]) == {"system", "best", "worst", "correction"}
    assert set(found["anomalies"][0]["best"]) == {"rank", "count", "subsets", "tests"}
    assert set(found["anomalies"][0]["best"]["tests"][0]) == {
        "attribute", "value", "datasets", "observed", "expected", "p", "p_corrected", "example", "p_example",
    }  # fmt: skip
    assert set(found["subsets"][0]) == {"name", "datasets", "absent", "systems", "tau", "error_reductions"}
    assert set(found["subsets"][0]["systems"][0]) == {"system", "mean", "rank"}
    assert set(found["subsets"][0]["error_reductions"][0]) == {"reference", "system", "share"}
    assert set(found["leave_one_out"][0]) == {"dataset", "tau", "swapped", "changes"}
    assert set(found["metrics"][0]) == {"metric", "mean_sd", "mean_quartile_range", "tau", "swapped", "top"}


def test_numbers_are_those_of_the_table_by_hand(commands: Commands, scores: Path, subsets: Path) -> None:
    arguments = ("rank", scores, "-m", "las", "--subset-size", "1", "--subsets", subsets, "--exact", "--json")
    found = json.loads(commands(*arguments).out)
    # Single data sets: graph is first on en, fi, pl, it and level with transition on cs; labels is first on de and ta.
    systems = {each["system"]: each for each in found["systems"]}
    assert systems["graph"]["shares"] == [5 / 8, 2 / 8, 1 / 8]
    assert systems["labels"]["shares"] == [2 / 8, 0, 6 / 8]
    pairs = {(each["better"], each["worse"]): each["exact"] for each in found["pairs"]}
    assert (pairs["graph", "transition"]["above"], pairs["graph", "transition"]["level"]) == (5, 1)
    rich, poor = found["subsets"]
    assert {each["system"]: each["mean"] for each in rich["systems"]}["labels"] == 85
    reductions = {(each["reference"], each["system"]): each["share"] for each in rich["error_reductions"]}
    # labels to graph: 6 of 15 errors on en, 5 of 20 on cs, 3 of 10 on it.
    assert reductions["labels", "graph"] == pytest.approx((6 / 15 + 5 / 20 + 3 / 10) / 3)
    assert poor["absent"] == ["sa"]


def test_the_same_seed_gives_the_same_output_and_another_one_another(commands: Commands, scores: Path) -> None:
    arguments = ("rank", scores, "-m", "las", "--subset-size", "4", "--samples", "50", "--json")
    one, same, other = (commands(*arguments, "--seed", seed).out for seed in (1, 1, 2))
    assert one == same
    assert json.loads(one)["systems"] != json.loads(other)["systems"]


def test_a_person_sees_ranks_pairs_and_the_line_to_quote(
    commands: Commands, scores: Path, attributes: Path, subsets: Path
) -> None:
    outcome = commands(
        "rank", scores, "-m", "las", "--exact", "--attributes", attributes, "--anomalies", "graph", "--subsets",
        subsets, "--leave-one-out", "--metrics", "all",
    )  # fmt: skip
    lines = outcome.out.splitlines()
    subsets_of_4 = [[sum(row[at] for at in chosen) for row in SYSTEMS.values()] for chosen in combinations(range(8), 4)]
    first = 100 * sum(sums[0] == max(sums) for sums in subsets_of_4) / 70
    assert lines[0].startswith("graph has the best LAS")
    assert f"graph is first on {first:.1f}% of all 70 subsets of 4." in lines
    start = next(at for at, line in enumerate(lines) if line.startswith("system ") and " rank " in line)
    heads = "system rank LAS mean rank SD median quartiles range possible first ahead of next"
    assert lines[start].split() == heads.split()
    assert [line.split()[0] for line in lines[start + 1 : start + 4]] == ["graph", "transition", "labels"]
    assert "Over all 70 subsets, 0 of 6 best and worst ranks are more extreme" in outcome.out
    assert "Where graph ranks best and worst" in outcome.out
    assert "Error reduction in percent" in outcome.out
    assert "Stability by metric" in outcome.out
    assert lines[-1] == (
        "deadheat 0.1.0 | las | 3 systems | 8 data sets | all subsets of 4 | ties share the better rank | "
        "t-test over data sets | holm | alpha 0.05 | seed 0"
    )
    assert outcome.err == "note: subset poor: no scores on sa; left out\n"


def test_scores_and_error_reductions_of_shares_are_in_percent(commands: Commands, tmp_path: Path) -> None:
    path, subsets = tmp_path / "small.csv", tmp_path / "subsets.csv"
    path.write_text("dataset,a,b\nen,0.98,0.99\nkk,0.5,0.9\n", encoding="utf-8")
    subsets.write_text("subset,dataset\nboth,en\nboth,kk\n", encoding="utf-8")
    lines = [line.split() for line in commands("rank", path, "--subsets", subsets).out.splitlines()]
    assert ["both", "65.00"] in lines
    assert any(line[:3] == ["b", "1", "94.50"] for line in lines)


def test_a_margin_and_a_level_can_be_given(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("dataset,a,b\nen,90.2,90\nde,80,79.9\nfi,70.1,70.2\nkk,60,60.1\n", encoding="utf-8")
    equal = commands("rank", path, "--margin", "1", "--alpha", "0.1").out
    assert equal.startswith("A dead heat: a and b are equal within 1.00 in mean score")
    assert "equal within 1.00" not in commands("rank", path).out
    assert equal.rstrip().endswith("t-test over data sets | holm | alpha 0.1 | margin 1")
    assert commands.refused("rank", path, "--margin", "-1") == "margin -1; expected 0 (none) or more"


def test_one_data_set_a_family(commands: Commands, scores: Path, attributes: Path) -> None:
    arguments = ("rank", scores, "-m", "las", "--attributes", attributes, "--one-per", "family", "--json")
    found = json.loads(commands(*arguments, "--samples", "200").out)
    assert (found["design"], found["grouped_by"], found["subset_size"]) == ("one per group", "family", 6)


def test_a_representative_subset_needs_four_systems(commands: Commands, scores: Path) -> None:
    line = commands.refused("rank", scores, "-m", "las", "--representative", "2")
    assert line == "3 systems; expected at least 4, so that half of them can be held out"


def test_wrong_input_is_one_line(commands: Commands, scores: Path, attributes: Path, tmp_path: Path) -> None:
    text = scores.read_text(encoding="utf-8")
    line = commands.refused("rank", scores, "-m", "las", "--subset-size", "9")
    assert line == "subsets of 9 of 8 data sets; expected between 1 and 8"
    assert "several metrics (las, uas)" in commands.refused("rank", scores)
    assert "did you mean 'las'?" in commands.refused("rank", scores, "-m", "laz")
    assert "did you mean 'score'?" in commands.refused("rank", scores, "--score", "scor")
    assert "did you mean 'family'?" in commands.refused(
        "rank", scores, "-m", "las", "--attributes", attributes, "--stratify", "famly"
    )
    assert "expected --attributes FILE" in commands.refused("rank", scores, "-m", "las", "--anomalies", "graph")
    bad = tmp_path / "bad.csv"
    bad.write_text(text.replace("las,kk,labels,50.0\n", ""), encoding="utf-8")
    assert "labels has no score on kk" in commands.refused("rank", bad, "-m", "las")
    bad.write_text(text + "las,kk,labels,51\n", encoding="utf-8")
    assert f"{bad}:50: a second score of labels on kk" in commands.refused("rank", bad, "-m", "las")
    bad.write_text(text.replace("las,kk,labels,50.0", "las,kk,labels,fifty"), encoding="utf-8")
    assert commands.refused("rank", bad, "-m", "las").startswith(f"{bad}:21: ")


def test_data_sets_that_lack_a_score_can_be_dropped(commands: Commands, scores: Path) -> None:
    scores.write_text(scores.read_text(encoding="utf-8").replace("las,kk,labels,50.0\n", ""), encoding="utf-8")
    outcome = commands("rank", scores, "-m", "las", "--missing", "drop", "--json")
    assert json.loads(outcome.out)["datasets"] == 7
    assert "1 data set left out because some system has no score on them" in outcome.err


def test_all_metrics_can_be_compared_without_naming_one(commands: Commands, tmp_path: Path) -> None:
    rows = [f"{m},{d},{s},{i + 2 * j + k}" for i, m in enumerate(("blex", "las")) for j, d in enumerate("abc")
            for k, s in enumerate("xy")]  # fmt: skip
    path = tmp_path / "scores.csv"
    path.write_text("metric,treebank,system,score\n" + "\n".join(rows) + "\n")
    found = json.loads(commands("rank", path, "--metrics", "all", "--subset-size", 2, "--json").out)
    assert {each["metric"] for each in found["metrics"]} == {"blex", "las"}
    assert found["metric"] == "las"


def test_progress_is_reported_after_a_while_and_then_less_often(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    report = report_progress()
    for done in range(1, 101):
        now[0] += 0.5
        report("subsets", 1000 * done, 100_000)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "6,000 of 100,000 subsets, about 47 s left"
    assert [line.partition(" ")[0] for line in lines] == ["6,000", "12,000", "24,000", "48,000", "96,000"]
