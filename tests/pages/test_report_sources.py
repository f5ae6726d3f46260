"""Pages from tables, study files and results: whatever a file holds, it is shown or refused in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from deadheat.pages.report import Report, report

from deadheat.errors import InputError
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from tests.pages.section_checks import column
from tests.questions.report_cases import Ran, comparison
from tests.questions.report_cases import ran as ran

SCORES = {"A": {"en": 90, "de": 80, "fi": 70, "ta": 60}, "B": {"en": 80, "de": 81, "fi": 69, "ta": 50}}


def chapters(made: Report) -> list[str]:
    return list(dict.fromkeys(section.chapter for section in made.page.sections))


def headings(made: Report) -> list[str]:
    return [section.heading for section in made.page.sections]


def test_a_table_begins_with_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("treebank,A,B\nen,90,80\nde,80,81\nfi,70,69\nta,60,\n")
    made = report(path)
    assert (made.page.title, chapters(made)) == ("scores", ["Scores", "Over data sets", ""])
    first = made.page.sections[0]
    assert first.said[:2] == (
        "The table has 7 scores by score: 2 systems on 4 data sets, 1 run each.",
        "A has the highest mean, 80.00, and the highest score of all on 3 of 4 data sets; B follows, 3.33 behind.",
    )
    assert column(first.tables[0], "mean") == {"A": "80.00", "B": "76.67"}
    assert column(first.tables[0], "least") == {"A": "60.00 (ta)", "B": "69.00 (fi)"}
    assert column(first.tables[1], "B") == {"en": "80.00", "de": "81.00", "fi": "69.00", "ta": "-"}
    assert first.notes == (
        "Of 8 pairs of a system and a data set, 1 have no score; means are over the 3 data sets that have all.",
    )
    assert (
        made.page.verdicts[0]
        == "A is first on all data sets together, and on 66.7 % of the subsets of 1 of the 3 data sets."
    )


def test_a_table_of_seeds_alone_is_a_page_too(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    path.write_text("system\tscore\nA\t0.9\nA\t0.91\nB\t0.8\n")
    made = report(path)
    assert chapters(made) == ["Scores", "Over seeds", ""]
    assert made.page.sections[0].said[0] == "The table has 3 scores by score: 2 systems, 1 to 2 runs each."
    assert column(made.page.sections[0].tables[0], "mean") == {"A": "90.50", "B": "80.00"}
    single = tmp_path / "single.tsv"
    single.write_text("system\tscore\nA\t0.9\n")
    alone = report(single)
    assert alone.page.sections[0].said == (
        "The table has 1 score by score: 1 system, 1 run each.",
        "The mean of A is 90.00.",
    )
    assert [figure.name for figure in alone.figures] == ["table-score"]
    assert alone.html()


def crowd(path: Path, systems: int, datasets: int) -> Path:
    header = ",".join(["treebank", *(f"s{number:03}" for number in range(systems))])
    rows = [
        ",".join([f"d{row:04}", *(f"{50 + (7 * row + number) % 40}" for number in range(systems))])
        for row in range(datasets)
    ]
    path.write_text("\n".join([header, *rows]))
    return path


def test_a_table_of_very_many_cells_keeps_to_what_can_be_read(tmp_path: Path) -> None:
    long = report(crowd(tmp_path / "long.csv", 3, 3400))
    assert long.page.sections[0].notes == ("The table of every data set would have 10,200 cells, and is left out.",)
    assert len(long.html()) < 1_000_000
    wide = report(crowd(tmp_path / "wide.csv", 90, 3))
    assert "Drawn are the 40 systems of the highest mean; the table has all." in wide.page.sections[0].said
    assert len(wide.page.sections[0].tables[0].rows) == 90
    assert len(wide.html()) < 2_000_000


def test_a_study_file_stands_for_its_store_also_without_its_corpora(ran: Ran, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    shutil.copy(ran.path, study)
    with pytest.raises(
        InputError, match=r"no store .*small.sqlite; expected deadheat run .* first, or the store itself"
    ):
        report(study)
    shutil.copy(ran.store, tmp_path / "small.sqlite")
    assert report(study).page.title == "small study"
    study.write_text('store = "elsewhere.sqlite"\n')
    (tmp_path / "small.sqlite").rename(tmp_path / "elsewhere.sqlite")
    assert report(study).page.title == "small study"
    study.write_text("store = [")
    with pytest.raises(InputError, match="not TOML"):
        report(study)


def test_a_file_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    document = rank(SCORES).to_dict()
    (tmp_path / "no-suffix").write_text(json.dumps(document, indent=1))
    (tmp_path / "one-line.txt").write_text(json.dumps(document))
    for name in ("no-suffix", "one-line.txt"):
        assert [each["kind"] for each in report(tmp_path / name).documents] == ["rank"]
    rows = [{"system": "A", "kind": "parser", "score": 1.0}, {"system": "B", "kind": "parser", "score": 2.0}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert headings(report(tmp_path / "rows.jsonl"))[0] == "score of every system"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON (expecting value)"),
        ("{}", "no result to report; expected what a command printed with --json"),
        ("[1, 2]", "no result to report; expected what a command printed with --json"),
        ('{"name": "package", "version": "1.0"}', "no result to report; expected what a command"),
        ('{"kind": "rang"}', "kind of result 'rang' is unknown; did you mean 'rank'?"),
        ('{"kind": "rank"', "not JSON (expecting ',' delimiter)"),
        ('{"kind": "rank"}', "a result of rank that cannot be shown (KeyError: 'systems')"),
        ('{"kind": "score", "scores": [{"file": 1}]}', "a result of score that cannot be shown (KeyError: 'metric')"),
        ('{"kind": "seeds", "blocks": 7}', "a result of seeds that cannot be shown (TypeError: "),
        ('{"kind": "study", "blocks": [1]}', "a result of study that cannot be shown (TypeError: "),
        ("[" * 100_000, "JSON within JSON without end"),
    ],
    ids=range(11),
)
def test_json_that_is_no_result_is_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        report(path)
    assert str(refused.value).startswith(f"{path}: {told}")
    assert "\n" not in str(refused.value)


def refusal(document: dict[str, Any]) -> str:
    try:
        report(document).html()
    except InputError as error:
        return str(error)
    return ""


def test_what_only_a_figure_misses_is_told_before_a_page_is_made(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("system,score\nA,1\nA,2\nB,3\nB,4\n")
    document = seeds(path, score="score").to_dict()
    for each in document["blocks"][0]["systems"]:
        del each["values"]
    with pytest.raises(InputError, match="a result of seeds that cannot be shown"):
        report(document)


def test_every_key_that_is_missing_is_told_in_one_line() -> None:
    for document in (rank(SCORES).to_dict(), comparison()):
        said = {key: refusal({name: document[name] for name in document if name != key}) for key in document}
        assert said.pop("kind").startswith("the result: kind of result '' is unknown")
        told = f"the result: a result of {document['kind']} that cannot be shown (KeyError: "
        assert {each.partition("'")[0] for each in said.values() if each} == {told}
        assert sum(map(bool, said.values())) >= 6
