from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deadheat.pages.contrast import sections
from deadheat.questions.contrast import Contrasts, contrast
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, texts

SINGLE = "Setting=SingleTask"


def runs_file(path: Path, options: list[str], *, sizes: int = 9, repeats: int = 1) -> Path:
    rng = np.random.default_rng(0)
    lines = [
        f"{option}\t{size}\t{rng.normal(0.8 + 0.02 * place, 0.01):.4f}\n"
        for size in range(sizes)
        for place, option in enumerate(options)
        for _ in range(repeats)
    ]
    path.write_text("decoder\tsize\tf1\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def found(tmp_path: Path) -> Contrasts:
    return contrast(runs_file(tmp_path / "runs.tsv", ["none", "cnn", "lstm"]), factor="decoder", score="f1")


def test_options_have_wins_differences_and_tests_as_in_the_result(found: Contrasts) -> None:
    (made,) = check(sections, found.to_dict())
    (table,) = made.tables
    told = found[""]
    for each in told.options:
        assert column(table, "wins")[each.option] == f"{100 * each.wins:.1f} %"
        assert column(table, "median")[each.option] == f"{100 * each.median:.2f}"
        if each.option == told.best:
            assert column(table, "median difference")[each.option] == ""
            continue
        assert column(table, "median difference")[each.option] == f"{100 * each.median_delta:+.2f}"
        p = told.pair(told.best, each.option).sign_p_corrected
        assert column(table, "p (sign)")[each.option] == f"{p:.4f}"
    best = next(each for each in told.options if each.option == told.best)
    assert made.said[0] == f"lstm wins most often: in {100 * best.wins:.1f} % of 9 configurations."
    assert made.heading == "Options of decoder"
    assert any("Paired on size." in note for note in made.notes)


def test_the_figure_has_the_median_and_the_middle_of_the_differences(found: Contrasts) -> None:
    chart = drawn(sections(found.to_dict()))["contrast-decoder"]
    told = found[""]
    names = [each.option for each in told.options]
    best = names.index(told.best)
    for row in rows(chart):
        own = told.scores_CO[:, names.index(row["name"])] - told.scores_CO[:, best]
        expected = [100 * each for each in (np.median(own), *np.quantile(own, [0.05, 0.95]))]
        assert [row["value"], row["low"], row["high"]] == pytest.approx(expected, abs=1e-9)
    assert {row["name"] for row in rows(chart)} == set(names) - {told.best}


def test_quantiles_of_differences_go_with_their_medians(found: Contrasts) -> None:
    for each in found.to_dict()["blocks"][0]["options"]:
        quantiles = each["delta_quantiles"]
        assert len(quantiles) == 7
        assert quantiles == sorted(quantiles)
        assert quantiles[3] == each["median_delta"]


def test_blocks_are_sections_and_the_first_explains(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "task,decoder,size,f1\npos,crf,1,90\npos,softmax,1,88\npos,crf,2,80\npos,softmax,2,81\n"
        "ner,crf,1,72\nner,softmax,1,69\nchunk,crf,1,50\n"
    )
    found = contrast(path, factor="decoder", score="f1", by="task", settings=["size"])
    made = check(sections, found.to_dict())
    assert [each.heading for each in made] == ["Options of decoder: task pos", "Options of decoder: task ner"]
    assert set(found.notes) <= set(made[0].notes)
    assert found.notes
    assert len(made[0].said) > len(made[1].said)
    # One configuration: no spread, and no test of it.
    assert column(made[1].tables[0], "sd") == {"crf": "-", "softmax": "-"}
    assert column(made[1].tables[0], "p (sd)")["softmax"] == "-"
    assert column(made[1].tables[0], "median difference")["softmax"] == "-3.00"
    assert "in percent" not in " ".join(texts(made))


def test_settings_that_matter_are_drawn_and_listed(tmp_path: Path) -> None:
    path = runs_file(tmp_path / "runs.tsv", ["none", "cnn"], repeats=2)
    found = contrast(path, score="f1", settings=["size"], importance=True)
    (made,) = check(sections, found.to_dict())
    assert made.heading == "Which settings matter"
    told = found.importance[""]
    shares = {each.factors[0]: each.share for each in told.main}
    (table,) = made.tables
    for name, share in shares.items():
        assert column(table, "share")[name] == f"{100 * share:.1f} %"
    assert column(table, "share")["noise between runs of the same settings"] == f"{100 * told.noise:.1f} %"
    assert made.notes == ("Exact: every combination was run equally often.",)
    chart = drawn([made])["contrast-importance"]
    assert chart.description.startswith(f"{len(table.rows)} shares of the variance of scores. The largest is that of ")
    drawn_shares = {row["name"]: row["value"] for row in rows(chart)}
    assert {name: drawn_shares[name] for name in shares} == {name: 100 * share for name, share in shares.items()}


def test_a_forest_that_predicts_nothing_is_said_to(tmp_path: Path) -> None:
    document = contrast(
        runs_file(tmp_path / "runs.tsv", ["none", "cnn"]), score="f1", settings=["size"], importance=True
    ).to_dict()
    document["importance"][0] |= {"method": "forest", "explained": -0.1, "noise": None}
    (made,) = check(sections, document)
    assert "the shares are chance" in made.said[-1]
    assert "predicts -10.0 % of the variance" in made.notes[0]


def test_options_of_any_name_are_text(tmp_path: Path) -> None:
    names = [HOSTILE[0], HOSTILE[2], HOSTILE[3], HOSTILE[4], ""]
    document = contrast(runs_file(tmp_path / "r.tsv", list("abcde")), factor="decoder", score="f1").to_dict()
    renamed = dict(zip("abcde", names, strict=True))
    (block,) = document["blocks"]
    block["best"] = renamed[block["best"]]
    for option in block["options"]:
        option["option"] = renamed[option["option"]]
    for pair in block["pairs"]:
        pair |= {side: renamed[pair[side]] for side in "ab"}
    made = check(sections, document)
    assert {*names[:-1], "(empty)"} <= set(texts(made))
    assert all("<script>" not in chart.marks for chart in drawn(made).values())


def test_published_runs_are_shown(shared_data: Path) -> None:
    path = shared_data / "scores" / "reimers2017_runs.tsv.gz"
    found = contrast(path, factor="Embeddings", score="Test_F1", by="Dataset", where=[SINGLE])
    made = check(sections, found.to_dict())
    assert len(drawn(made)) == len(made) == 5
    told = found["conll2003_ner.pkl"]
    table = section(made, "Options of Embeddings: Dataset conll2003_ner.pkl").tables[0]
    for each in told.options:
        assert column(table, "wins")[each.option] == f"{100 * each.wins:.1f} %"
