"""What a reader sees of a table of scores."""

from pathlib import Path

from deadheat.questions.table_report import table_report
from deadheat.reporting.views import headline, view
from deadheat.results.score import ScoreTable
from tests.reporting.blocks import column, data, drawn, rows, tables, texts


def first_result(path: Path, text: str) -> ScoreTable:
    path.write_text(text)
    result = table_report(path).results[0]
    assert isinstance(result, ScoreTable)
    return result


def test_means_are_over_the_data_sets_that_all_systems_have(tmp_path: Path) -> None:
    result = first_result(tmp_path / "scores.csv", "treebank,A,B\nen,90,80\nde,80,81\nfi,70,69\nta,60,\n")
    assert headline(result) == (
        "A has the highest mean score, 80.00, and is first on 3 of 4 data sets; B is 3.33 behind."
    )
    means, every = tables(view(result))
    assert rows(means) == [
        ["A", "80.00", "60.00", "ta", "90.00", "en", "3", "4", "4"],
        ["B", "76.67", "69.00", "fi", "81.00", "de", "1", "3", "3"],
    ]
    assert column(every, "B") == {"en": "80.00", "de": "81.00", "fi": "69.00", "ta": "-"}
    shown = texts(view(result))
    assert shown[0] == "The table has 7 scores by score: 2 systems on 4 data sets, with 1 run each."
    missing = "1 of 8 pairs of a system and a data set have no score; means are over the 3 data sets that have all."
    assert missing in shown
    (chart,) = drawn(view(result)).values()
    assert {row[0] for row in chart.rows} == {"A", "B"}


def test_runs_of_systems_without_data_sets_are_averaged(tmp_path: Path) -> None:
    result = first_result(tmp_path / "runs.tsv", "system\tscore\nA\t0.9\nA\t0.91\nB\t0.8\n")
    assert headline(result) == "A has the highest mean score, 90.50; B is 10.50 behind."
    assert texts(view(result))[0] == "The table has 3 scores by score: 2 systems, with 1 to 2 runs each."
    (means,) = tables(view(result))
    assert column(means, "mean") == {"A": "90.50", "B": "80.00"}
    values = {row["name"]: row["value"] for row in data(drawn(view(result))["table-score"])}
    assert values == {"A": 90.5, "B": 80.0}
    single = first_result(tmp_path / "single.tsv", "system\tscore\nA\t0.9\n")
    assert headline(single) == "The mean score of A is 90.00."


def test_very_large_tables_keep_to_what_can_be_read(tmp_path: Path) -> None:
    def crowd(systems: int, datasets: int) -> ScoreTable:
        header = ",".join(["treebank", *(f"s{i:03}" for i in range(systems))])
        lines = [
            ",".join([f"d{row:04}", *(f"{50 + (7 * row + i) % 40}" for i in range(systems))]) for row in range(datasets)
        ]
        return first_result(tmp_path / "crowd.csv", "\n".join([header, *lines]))

    long = crowd(3, 3400)
    assert "The table of every data set would have 10,200 cells and is left out." in texts(view(long))
    assert len(tables(view(long))) == 1
    wide = crowd(90, 3)
    assert "The figure shows the 40 systems with the highest means; the table has all." in texts(view(wide))
    assert (len(tables(view(wide))[0].rows), tables(view(wide))[0].folded) == (90, True)
