from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.running import Commands


def test_compare_prints_a_verdict_scores_pairs_and_disagreement(
    commands: Commands, gold: Path, guess: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text(), encoding="utf-8")
    shown = commands("compare", gold, f"guess={guess}", f"other={other}")
    assert shown.code == 0
    # They differ on one of the five documents, which is no sample.
    assert shown.out.startswith(
        "other is ahead of guess by 12.50 points of LAS, but there are too few documents to tell"
    )
    assert "the clustered t-test on documents: its error comes from documents." in shown.out
    assert "Each system has one run: the verdict is about these trained models" in shown.out
    assert "Where the systems disagree" in shown.out
    result = json.loads(commands("compare", gold, f"guess={guess}", f"other={other}", "--json").out)
    assert result["tied"] == ["other", "guess"]
    assert [row["system"] for row in result["systems"]] == ["guess", "other"]
    (pair,) = result["pairs"]
    assert (pair["a"], pair["b"], pair["difference"]) == ("guess", "other", -0.125)
    assert pair["p"] > 0.5


def test_a_table_of_scores_can_be_compared(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("data,A,B\nen,90,89\nde,85,84\nfi,80,78\n")
    result = json.loads(commands("compare", "--scores", table, "--json").out)
    # Differences 1, 1 and 2: t = 4/3 / (√(1/3) / √3) = 4 with 2 degrees of freedom, p = 1 - 4 / √(4² + 2).
    assert result["pairs"][0]["p"] == pytest.approx(1 - 4 / 18**0.5)
    exact = json.loads(commands("compare", "--scores", table, "--json", "--test", "permutation-exact").out)
    assert exact["pairs"][0]["p"] == 0.25  # two of eight signs


DOCUMENTS, SENTENCES = 8, 5


def text_of(seed: int, errors: float) -> str:
    """Documents of five sentences of three words; so many words have a wrong tag."""
    rng, lines = np.random.default_rng(seed), list[str]()
    for at in range(DOCUMENTS * SENTENCES):
        lines += [f"# newdoc id = d{at // SENTENCES}"] if at % SENTENCES == 0 else []
        for i in (1, 2, 3):
            tag = "N" if rng.random() < errors else "X"
            lines.append(f"{i}\tw\t_\t{tag}\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two data sets by two systems by three runs; `old` lacks a run on de."""
    monkeypatch.chdir(tmp_path)
    rows = ["dataset,gold,system,prediction,run"]
    for number, dataset in enumerate(("en", "de")):
        (tmp_path / f"{dataset}.gold").write_text(text_of(0, 0.0))
        (tmp_path / dataset).mkdir()
        for system, errors in (("new", 0.05), ("old", 0.4)):
            for run in range(1, 4 if (dataset, system) != ("de", "old") else 3):
                seed = 100 * number + 10 * len(system) * run + (system == "old")
                path = Path(dataset) / f"{system}.r{run}.conllu"
                path.write_text(text_of(seed, errors))
                rows.append(f"{dataset},{dataset}.gold,{system},{path},r{run}")
    Path("sets.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def compared(commands: Commands, *arguments: object) -> dict[str, Any]:
    outcome = commands("compare", *arguments, "-m", "upos", "--json")
    assert outcome.code == 0, outcome.err
    result: dict[str, Any] = json.loads(outcome.out)
    return result


@pytest.mark.usefixtures("design")
def test_names_globs_and_folders_of_runs_are_the_same_comparison(commands: Commands) -> None:
    Path("new").mkdir()
    for path in Path("en").glob("new.*"):
        (Path("new") / path.name).write_text(path.read_text())
    named = [f"{system}=en/{system}.r{run}.conllu" for system in ("new", "old") for run in (1, 2, 3)]
    results = [
        compared(commands, "en.gold", *arguments)
        for arguments in (named, ["new=en/new.*", "old=en/old.*"], ["new=new", "old=en/old.r?.conllu"])
    ]
    assert results[0]["pairs"] == results[1]["pairs"] == results[2]["pairs"]
    ((dataset),) = results[0]["datasets"]
    assert [len(row["scores"]) for row in dataset["systems"]] == [3, 3]
    assert (dataset["unit"], dataset["units"]) == ("document", DOCUMENTS)
    shown = commands("compare", "en.gold", *named, "-m", "upos").out
    assert shown.startswith("new is better than old by ")
    assert "one run" not in shown


@pytest.mark.usefixtures("design")
def test_a_pattern_and_a_table_of_sets_are_the_same_comparison_and_gaps_are_noted(commands: Commands) -> None:
    pattern = compared(commands, "{dataset}.gold", "{dataset}/{system}.{run}.conllu")
    table = compared(commands, "--sets", "sets.csv")
    for result in (pattern, table):
        assert {"old has 3 runs on en, but 2 runs on de", "old has 2 runs on de, but 3 runs on en"} & {*result["notes"]}
        assert {row["dataset"] for row in result["datasets"]} == {"en", "de"}
        assert (result["pairs"][0]["a"], result["pairs"][0]["b"]) == ("new", "old")
    assert pattern["pairs"][0]["p"] == pytest.approx(table["pairs"][0]["p"])
    assert pattern["pairs"][0]["difference"] == pytest.approx(table["pairs"][0]["difference"])
    shown = commands("compare", "--sets", "sets.csv", "-m", "upos").out
    assert "shown over these data sets and data sets like these" in shown


@pytest.mark.usefixtures("design")
def test_a_margin_and_a_reference_are_passed_on(commands: Commands) -> None:
    files = ["en.gold", "new=en/new.*", "other=en/new.r1.conllu"]
    assert commands("compare", *files, "-m", "upos", "--margin", "30").out.startswith("A dead heat: ")
    result = compared(commands, "en.gold", "new=en/new.*", "old=en/old.*", "--reference", "old")
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == [("old", "new")]


@pytest.mark.usefixtures("design")
def test_alpha_is_spent_on_looks_at_a_test_set(commands: Commands) -> None:
    Path("my-test.gold").write_text(Path("en.gold").read_text())
    first = compared(commands, "my-test.gold", "a=en/new.r1.conllu", "b=en/old.r1.conllu", "--spend-alpha")
    second = compared(commands, "my-test.gold", "a=en/new.r2.conllu", "b=en/old.r1.conllu", "--spend-alpha")
    assert [result["settings"]["alpha"] for result in (first, second)] == pytest.approx([0.05 / 2, 0.05 / 6])
    assert any(note.startswith("look 2 at this test set, tested at alpha 0.0083 of 0.05") for note in second["notes"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["en.gold", "new=en/none.*", "old=en/old.*"], "new=en/none.*: no file matches; expected at least one"),
        (["en.gold", "new=en/new.*", "old=en/old.*", "--test", "sign"], "sign with several runs; expected one run"),
        (["{dataset}.gold", "pred/{dataset}/{system}.conllu"], "/{system}.conllu: no file matches; folder"),
        (["{dataset}.gold", "{dataset}/{sytem}.r1.conllu"], "field 'sytem' is unknown; did you mean 'system'?"),
        (["{dataset}.gold"], "0 systems; expected at least two to compare"),
        (["--sets", "none.csv"], "none.csv: cannot be read (no such file or directory)"),
        (["--sets", "sets.csv", "--scores", "sets.csv"], "--sets beside --scores; expected only one"),
        (["en.gold", "--sets", "sets.csv"], "en.gold beside --sets; expected only one of files and tables"),
        (["en.gold", "new=en/new.*", "old=en/old.*", "--margin", "-1"], "margin -1; expected 0 (none) or more"),
        (["en.gold", "new=en/new.*", "old=de.gold", "--unit", "words"], "unit 'words' is unknown"),
        (["--sets", "sets.csv", "--train", "en.gold"], "training files with several data sets; expected them with one"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("design")
def test_mistakes_in_designs_are_one_line(commands: Commands, arguments: list[str], message: str) -> None:
    assert message in commands.refused("compare", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["GOLD", "GUESS"], "expected NAME=FILE"),
        (["GOLD", "a=GUESS", "a=GUESS"], "the same file for two runs of a; expected a file for each"),
        (["GOLD", "a=GOLD", "b=GUESS"], "the gold file itself"),
        (["GOLD", "a=GUESS"], "1 system; expected at least two"),
        (["GOLD", "a=GUESS", "b=GUESS", "--test", "mcnemr-exact"], "did you mean 'mcnemar-exact'"),
        (["GOLD", "a=GUESS", "b=GUESS", "--metric", "lass"], "did you mean 'las'"),
        (["GOLD", "a=GUESS", "b=GUESS", "--alpha", "2"], "alpha 2.0; expected between 0 and 1"),
        (["GOLD", "a=GUESS", "b=GUESS", "--reference", "c"], "reference 'c' is unknown"),
        (["--scores", "GOLD", "GOLD"], "beside --scores; expected only one of files and tables"),
        ([], "expected GOLD NAME=PRED"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, commands: Commands, gold: Path, guess: Path
) -> None:
    filled = [argument.replace("GOLD", str(gold)).replace("GUESS", str(guess)) for argument in arguments]
    if "--scores" in filled:
        filled = [filled[2], *filled[:2]]
    assert message in commands.refused("compare", *filled)


def test_words_that_differ_are_refused_with_their_line(
    commands: Commands, gold: Path, guess: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text().replace("Cats", "Rats"), encoding="utf-8")
    assert f"{other}:9:" in commands.refused("compare", gold, f"a={guess}", f"b={other}")


def test_two_metrics_at_once_are_refused(commands: Commands, gold: Path, guess: Path) -> None:
    arguments = ("compare", gold, f"a={guess}", f"b={guess}", "-m", "las", "-m", "uas")
    assert commands.refused(*arguments) == (
        "deadheat compare: argument -m/--metric: given twice; expected one value; see deadheat compare --help"
    )


def test_options_for_files_are_refused_with_a_table(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("data,A,B\nen,90,89\nde,85,84\n")
    assert "--unit is for files or scores of items" in commands.refused("compare", "--scores", table, "--unit", "token")
