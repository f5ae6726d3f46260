from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.questions.contrast import contrast
from deadheat.results.format import Scale
from deadheat.results.runs import AverageWins, Contrast
from deadheat.results.verdict import State
from deadheat.tables.table import Runs, read_runs

# Two tasks, two sizes, two options; one configuration of `ner` lacks CRF, one has two seeds.
RUNS = """\
id,task,decoder,size,follows,seed,dev_f1,test_f1
r1,pos,crf,1,c,1,0.9,0.90
r2,pos,softmax,1,s,1,0.9,0.88
r3,pos,crf,2,c,1,0.9,0.80
r4,pos,softmax,2,s,1,0.9,0.81
r5,ner,crf,1,c,1,0.9,0.70
r6,ner,crf,1,c,2,0.9,0.74
r7,ner,softmax,1,s,1,0.9,0.69
r8,ner,softmax,2,s,1,0.9,0.71
"""
SINGLE = "Setting=SingleTask"
FOLLOWERS = ("CharEmbeddingsSize", "CharFilterSize", "CharFilterLength", "CharLSTMSize")
TASKS = {
    "POS": "wsj_pos_500.pkl",
    "Chunking": "conll2000_chunking.pkl",
    "NER": "conll2003_ner.pkl",
    "Entities": "ace.pkl",
    "Events": "tempeval3.pkl",
}


AVERAGES_4 = (17.8, 2.5, 4.7, 0.0, 10.1, 57.4, 7.1, 0.5)  # last row of table 4; means of rounded percentages


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return path


@pytest.fixture(scope="module")
def published_runs(shared_data: Path) -> Runs:
    return read_runs(shared_data / "scores" / "reimers2017_runs.tsv.gz")


def test_runs_are_paired_on_every_other_setting(runs: Path) -> None:
    result = contrast(runs, factor="decoder", score="test_f1", by="task", ignore=["follows"])
    assert result.settings == ("size",)
    assert result.unpaired == ("id", "follows", "seed", "dev_f1")
    pos, ner = result["pos"], result["ner"]
    assert (pos.configurations, ner.configurations) == (2, 1)
    assert {item.option: item.wins for item in pos.options} == {"crf": 0.5, "softmax": 0.5}
    # 0.70 and 0.74 are one configuration, of which the mean counts.
    assert [row.median for row in ner.options] == pytest.approx([0.72, 0.69])
    assert ner.options[1].median_difference == pytest.approx(-0.03)


def test_wins_are_averaged_over_levels_with_equal_weight(runs: Path) -> None:
    result = contrast(runs, factor="decoder", score="test_f1", by="task", ignore=["follows"])
    assert result.averages == (AverageWins("", "crf", 0.75, 2), AverageWins("", "softmax", 0.25, 2))
    assert contrast(runs, factor="decoder", score="test_f1", ignore=["follows"]).averages == ()


def test_only_options_of_every_level_have_an_average_and_each_second_level_has_its_own(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    cells = {"x": "abc", "y": "ab"}
    rows = [f"{t},{o},{k},{ord(o) * (1 - 2 * (t == 'y' and k))}" for t in cells for o in cells[t] for k in range(2)]
    path.write_text("\n".join(["task,opt,size,score", *rows]))
    result = contrast(path, factor="opt", score="score", by="task", second="size")
    assert [(row.second_level, row.option, row.wins) for row in result.averages] == [
        ("0", "b", 0.5), ("0", "a", 0.0), ("1", "a", 0.5), ("1", "b", 0.0),
    ]  # fmt: skip


def test_repeats_can_be_paired_each(runs: Path) -> None:
    result = contrast(runs, factor="decoder", score="test_f1", by="task", ignore=["follows"], repeats="each")
    assert [row.median for row in result["ner"].options] == [0.70, 0.69]


def test_pairing_each_run_changes_wins_and_differences_and_no_test(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    # Means: a 2, 4, 7; b 3, 2, 4. Runs of a less those of b: -3, 1; 0, 4; 3, 3.
    cells = {("a", 1): (1, 3), ("b", 1): (4, 2), ("a", 2): (3, 5), ("b", 2): (3, 1), ("a", 3): (6, 8), ("b", 3): (3, 5)}
    rows = [f"{option},{size},{score}\n" for (option, size), scores in cells.items() for score in scores]
    path.write_text("opt,size,score\n" + "".join(rows))
    mean, item = (
        contrast(path, factor="opt", score="score", settings=["size"], repeats=strategy).blocks[0].comparison
        for strategy in ("mean", "each")
    )
    assert (mean.configurations, item.configurations, item.pairings) == (3, 3, 6)
    assert [option.wins for option in mean.options] == pytest.approx([2 / 3, 1 / 3])
    assert [option.wins for option in item.options] == pytest.approx([5 / 6, 1 / 6])  # the tie goes to a
    assert (mean.pairs[0].median_difference, item.pairs[0].median_difference) == (2, 2)
    assert (mean.options[0].median, item.options[0].median) == (4, 4)
    for field in ("a_better", "b_better", "sign_p", "wilcoxon_p", "spread_p"):
        assert getattr(item.pairs[0], field) == pytest.approx(getattr(mean.pairs[0], field), nan_ok=True)
    assert (item.pairs[0].a_better, item.pairs[0].b_better) == (2, 1)
    assert [option.sd for option in item.options] == [option.sd for option in mean.options]


def test_repeats_of_a_second_factor_are_tested_within_its_levels(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [(k, o, s) for k in range(4) for o in "ab" for s in range(3)]
    path.write_text("opt,depth,size,score\n" + "".join(f"{o},{k % 2},{k},{k + s * (o == 'a')}\n" for k, o, s in rows))
    result = contrast(path, factor="opt", score="score", second="depth", settings=["size"], repeats="each")
    assert [(block.comparison.configurations, block.comparison.pairings) for block in result.blocks] == [(2, 6)] * 2
    assert [block.comparison.pairs[0].sign_p for block in result.blocks] == [0.5, 0.5]


def test_a_forest_that_predicts_nothing_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rng = np.random.default_rng(0)
    rows = [f"{rng.integers(4)},{rng.integers(5)},{rng.normal()}\n" for _ in range(60)]
    path.write_text("a,b,score\n" + "".join(rows))
    result = contrast(path, score="score", importance=True)
    assert result.importance[""].explained <= 0
    assert result.notes == (f"{path}: the forest does not predict the scores of unseen runs, so its shares are chance",)


def test_a_second_factor_splits_the_configurations(runs: Path) -> None:
    result = contrast(runs, factor="decoder", score="test_f1", ignore=["follows", "task"], second="size")
    assert [(block.second_level, block.comparison.configurations) for block in result.blocks] == [("1", 1), ("2", 1)]
    assert result.blocks[0].comparison.best == "softmax"  # the mean of 0.88 and 0.69 against that of 0.90, 0.70, 0.74
    assert result.blocks[1].comparison.best == "crf"  # 0.80 against the mean of 0.81 and 0.71
    with pytest.raises(InputError, match=r"second factor seed; expected one of the settings \(size\)"):
        contrast(runs, factor="decoder", score="test_f1", ignore=["follows", "task"], second="seed")


def test_levels_of_a_second_factor_are_those_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("task,opt,size,score\nx,a,1,1\nx,b,1,2\ny,a,2,3\ny,b,2,4\n")
    result = contrast(path, factor="opt", score="score", by="task", second="size")
    shown = {
        (block.level, block.second_level): [row.median for row in block.comparison.options] for block in result.blocks
    }
    assert shown == {("x", "1"): [1, 2], ("y", "2"): [3, 4]}


def test_a_column_named_like_a_result_can_be_a_setting(runs: Path) -> None:
    result = contrast(runs, factor="decoder", score="test_f1", by="task", ignore=["follows"], settings=["seed"])
    assert result.settings == ("size", "seed")
    assert [row.median for row in result["ner"].options] == [0.70, 0.69]


def test_columns_are_recognised_by_the_words_in_their_names(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    columns = {"Dev_F1": "34", "test": "56", "BestDev": "78", "trainingTime": "12", "nEpochs": "12"}
    settings = {"LossFunction": "aa", "DevSize": "77", "LSTM-Size": "11", "F1Kind": "mm", "Riddle": "11"}
    names = ["RunID", *columns, *settings]
    values = list(zip(*columns.values(), *settings.values(), strict=True))
    rows = [f"r{k},{','.join(values[k % 2])},{'ab'[k % 2]},{k}" for k in range(4)]
    path.write_text(f"{','.join(names)},opt,score\n" + "\n".join(rows))
    result = contrast(path, factor="opt", score="score")
    assert result.unpaired == ("RunID", *columns)
    assert result.settings == tuple(settings)


def test_settings_missing_on_both_sides_are_equal(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("opt,scheme,score\na,,1\nb,,2\na,x,3\nb,y,4\n")
    comparison = contrast(path, factor="opt", score="score")[""]
    assert (comparison.configurations, [row.median for row in comparison.options]) == (1, [1, 2])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"factor": "decode"}, r"column 'decode' is unknown; did you mean 'decoder'\?"),
        ({"score": "tset_f1"}, r"column 'tset_f1' is unknown; did you mean 'test_f1'\?"),
        ({"score": "follows"}, r"runs\.csv:2: follows 'c'; expected a number"),
        ({"where": ["decoder=crf"]}, r"decoder has one option, crf; expected at least two"),
        ({"where": ["task=pso"]}, r"task 'pso' is unknown; did you mean 'pos'\?"),
        ({"where": ["task=ner", "id=r1"]}, r"no run has task=ner and id=r1; expected conditions"),
        (
            {"settings": ["follows"]},
            r"no runs of all 2 options of decoder agree in every other setting: follows differs in all; expected",
        ),
        ({"ignore": ["folows"]}, r"column 'folows' is unknown; did you mean 'follows'\?"),
        ({"options": ["crf", "softmx"]}, r"decoder 'softmx' is unknown; did you mean 'softmax'\?"),
        ({"repeats": "men"}, r"option for repeated runs 'men' is unknown; did you mean 'mean'\?"),
        ({"ties": "first"}, r"option for ties 'first' is unknown; expected one of most, share"),
        ({"correction": "home"}, r"correction 'home' is unknown; did you mean"),
        ({"by": "decoder"}, r"column decoder is both factor and by; expected different ones"),
        ({"factor": "test_f1"}, r"column test_f1 is both score and factor"),
        ({"second": "Decoder"}, r"column decoder is both factor and second"),
        ({"by": "follows"}, r"one option of decoder in every level; expected two or more in some"),
        ({"factor": ""}, r"no factor; expected the column"),
        ({"alpha": 0.0}, r"alpha 0.0; expected between 0 and 1"),
    ],
)
def test_what_cannot_be_contrasted_is_reported(options: dict[str, list[str] | str], problem: str, runs: Path) -> None:
    given = {"factor": "decoder", "score": "test_f1"} | options
    with pytest.raises(InputError, match=problem) as caught:
        contrast(runs, **given)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_levels_without_a_pair_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("task,opt,size,score\nx,a,1,1\nx,b,1,2\ny,a,1,1\nz,a,1,1\nz,b,2,1\n")
    result = contrast(path, factor="opt", score="score", by="task")
    assert [block.level for block in result.blocks] == ["x"]
    assert result.notes == (
        "y: the only option is a, so there is nothing to compare",
        "z: no runs of all 2 options agree in every other setting",
    )


def test_options_that_are_numbers_come_by_size(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("opt,kind,score\n10,u,1\n9.50,u,2\n100,u,4\n")
    contrasted = contrast(path, factor="opt", score="score").blocks[0].comparison
    assert [item.option for item in contrasted.options] == ["9.5", "10", "100"]


def test_importance_names_settings_that_always_change_together_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [(a, b, 3 * a + b) for a in range(2) for b in range(2)]
    path.write_text("a,same,b,score\n" + "".join(f"{a},{'xy'[a]},{b},{score}\n" for a, b, score in rows))
    result = contrast(path, score="score", importance=True, settings=["a"])
    assert result.blocks == ()
    importance = result.importance[""]
    assert importance.method == "exact"
    assert {item.factors[0]: item.share for item in importance.main} == pytest.approx({"a=same": 0.9, "b": 0.1})


def test_the_option_with_most_wins_is_claimed_to_be_better_than_all_others(tmp_path: Path) -> None:
    """Ten configurations: the sign test of 10 to 0 gives 2 / 1024, times three pairs; of 8 to 2 it gives 112 / 1024."""
    path = tmp_path / "runs.csv"
    rows = [
        f"{k},{name},{score}"
        for k in range(10)
        for name, score in (("a", 3 + k), ("b", 5 + k), ("c", 4 + k + 2 * (k < 2)))
    ]
    path.write_text("\n".join(["size,opt,score", *rows]))
    result = contrast(path, factor="opt", score="score", settings=["size"])
    (first, second) = result.verdict.claims
    assert [(claim.better, claim.worse, claim.dataset) for claim in (first, second)] == [("b", "c", ""), ("b", "a", "")]
    shown, open_ = second.evidence[0], first.evidence[0]
    assert (shown.source, shown.state, shown.ahead, shown.count) == ("settings", State.SHOWN, 10, 10)
    assert (shown.difference, shown.p) == pytest.approx((2, 3 * 2 / 1024))
    assert (open_.state, open_.ahead, open_.difference) == (State.NOT_SHOWN, 8, 1)
    strict = contrast(path, factor="opt", score="score", settings=["size"], alpha=0.001)
    assert (strict.alpha, strict.verdict.claims[1].evidence[0].state) == (0.001, State.TOO_FEW)


def test_the_scale_is_that_of_all_scores_whatever_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("size,opt,score\n1,a,0.4\n1,b,0.5\n2,a,0.6\n2,b,0.7\n3,a,1.4\n")
    result = contrast(path, factor="opt", score="score", settings=["size"])
    assert result.scale == Scale(1.0, 4)
    for text in (str(result), result.to_latex().replace("$-$", "-"), result.to_markdown()):
        assert "-0.1000" in text
        assert "10.00" not in text


def check_table(found: Contrast, path: Path, rename: dict[str, str]) -> int:
    """Every number of a published table; how many there were."""
    compared = 0
    with path.open() as file:
        for row in csv.DictReader(file):
            block = found[TASKS[row["task"]]]
            assert block.configurations == int(row["configs"])
            options = {rename.get(item.option, item.option.lower()): item for item in block.options}
            published = {name: row[name] for name in row if name not in ("task", "configs", "row")}
            assert published.keys() == options.keys()
            for name, text in published.items():
                option = options[name]
                value = option.wins if row["row"] == "wins_pct" else option.median_difference
                if text:
                    assert abs(100 * value - float(text)) < (0.0501 if row["row"] == "wins_pct" else 0.00501), (
                        row,
                        name,
                    )
                else:
                    assert option.option == block.best
                compared += 1
    return compared


def test_the_published_tables_of_embeddings_come_out(published_runs: Runs, shared_data: Path) -> None:
    result = contrast(published_runs, factor="Embeddings", score="Test_F1", by="Dataset", where=[SINGLE])
    assert check_table(result, shared_data / "published" / "reimers_table4_embeddings.csv", {}) == 80
    names = ["levy_dep", "levy_bow", "glove_6b_100d", "glove_6b_300d", "glove_840b_300d", "komninos"]
    names += ["google_news", "fasttext"]
    averages = dict(zip(names, AVERAGES_4, strict=True))
    assert {row.option: 100 * row.wins for row in result.averages} == pytest.approx(averages, abs=0.11)
    # The p-values of section 6.3.
    assert result["conll2000_chunking.pkl"].pair("komninos", "levy_dep").sign_p == pytest.approx(0.025, abs=5e-4)
    assert result["conll2003_ner.pkl"].pair("komninos", "glove_840b_300d").sign_p == pytest.approx(0.391, abs=5e-4)


def test_the_published_tables_of_characters_come_out(published_runs: Runs, shared_data: Path) -> None:
    result = contrast(
        published_runs, factor="CharEmbeddings", score="Test_F1", by="Dataset", where=[SINGLE], ignore=FOLLOWERS
    )
    assert check_table(result, shared_data / "published" / "reimers_table5_characters.csv", {"False": "no"}) == 30
    assert [block.comparison.tied for block in result.blocks] == [1, 0, 0, 0, 0]
    averages = {row.option: 100 * row.wins for row in result.averages}
    assert averages == pytest.approx({"False": 18.5, "CNN": 41.9, "LSTM": 39.6}, abs=0.11)


def test_settings_that_only_follow_the_factor_are_left_out_and_named(published_runs: Runs) -> None:
    asked: dict[str, Any] = {"factor": "CharEmbeddings", "score": "Test_F1", "by": "Dataset", "where": [SINGLE]}
    by_itself = contrast(published_runs, **asked)
    problem = contrast(published_runs, **asked, ignore=FOLLOWERS)
    assert by_itself.blocks == problem.blocks
    assert set(FOLLOWERS) <= set(by_itself.unpaired)
    assert by_itself.notes[0].startswith(", ".join(FOLLOWERS))
    assert problem.notes == ()


def test_deep_networks_gain_less_from_a_crf(published_runs: Runs) -> None:
    """Figure 3 of the paper: the fewer layers, the more a CRF gains over a softmax."""
    result = contrast(
        published_runs,
        factor="Decoder",
        options=["Softmax", "CRF"],
        score="Test_F1",
        where=[SINGLE, "Dataset=conll2003_ner.pkl"],
        second="LSTM-Layers",
    )
    lost = {block.second_level: -block.comparison.pair("CRF", "Softmax").median_difference for block in result.blocks}
    assert {(pair.a, pair.b) for block in result.blocks for pair in block.comparison.pairs} == {("CRF", "Softmax")}
    assert lost["1"] < lost["2"] < lost["3"] < 0


def test_a_setting_that_some_options_share_does_not_depend_on_the_factor(tmp_path: Path) -> None:
    """The rare option was only run with one size: runs are missing, and size is not what follows."""
    path = tmp_path / "runs.csv"
    path.write_text("opt,size,score\na,1,1\na,2,2\nb,1,3\nb,3,4\nc,2,5\n")
    with pytest.raises(InputError, match=r"size differs in all; .*fewer options"):
        contrast(path, factor="opt", score="score")
    assert contrast(path, factor="opt", score="score", options=["a", "b"]).settings == ("size",)


def test_a_factor_with_a_thousand_options_is_none(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("name,size,score\n" + "".join(f"{i},{i % 3},{i}\n" for i in range(1000)))
    with pytest.raises(InputError, match="name has 1,000 options; expected 50 at most"):
        contrast(path, factor="name", score="score")
