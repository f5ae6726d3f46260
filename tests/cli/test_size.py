from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadheat.testbed import SimulatedSystem, generate, simulate
from tests.cli.running import Commands

SETTINGS = ("--sizes", "50,300,all", "--draws", "8", "--aso-draws", "2")
POINT = {
    *("words", "whole", "units", "draws", "tau", "low", "high", "undefined", "reached"),
    *("share_low", "share_high", "aso"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test set, three systems, two runs of two of them."""
    folder = tmp_path_factory.mktemp("bed")
    text = generate("velani", sentences=120, seed=0)
    (folder / "gold.conllu").write_text(text, encoding="utf-8")
    for name, uas in (("a", 0.92), ("b", 0.86), ("c", 0.80)):
        for run in (1, 2):
            predicted = simulate(text, SimulatedSystem(name, uas=uas), seed=run)
            (folder / f"{name}{run}.conllu").write_text(predicted, encoding="utf-8")
    return folder


def given(made: Path, *runs: str) -> list[str]:
    return [str(made / "gold.conllu"), *(f"{run[0]}={made / run}.conllu" for run in runs)]


def test_a_person_sees_a_table_the_answer_and_the_line_to_quote(commands: Commands, made: Path) -> None:
    outcome = commands("size", *given(made, "a1", "a2", "b1", "b2", "c1"), *SETTINGS)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].endswith("to rank the systems.") or "No size tried" in lines[0]
    assert any(line.endswith("gold.conllu: 1,927 words in 120 sentences") for line in lines)
    assert any(line.startswith("LAS on the whole test set: a ") for line in lines)
    start = next(at for at, line in enumerate(lines) if line.startswith("sampling "))
    header = "sampling words sentences draws mean tau 95% of draws tau >= 0.9 ASO differs eps_min differs by"
    assert lines[start].split() == header.split()
    assert [line.split()[:2] for line in lines[start + 1 : start + 10]] == [
        [strategy, size] for strategy in ("seq", "rand", "rand-seq") for size in ("50", "300", "all")
    ]
    assert lines[start + 3].split()[2:] == ["120", "1", "1.000", "-", "100%", "0%", "0.000"]
    assert lines[-1].startswith("deadheat 0.1.0 | las.v1 | align text | 1 test set, 5 runs | runs average | ")
    assert outcome.err.startswith("note: a sample is part of the whole test set, so tau approaches 1")


def test_json_has_every_size_of_every_strategy(commands: Commands, made: Path) -> None:
    outcome = commands("size", *given(made, "a1", "a2", "b1", "b2", "c1"), *SETTINGS, "--json")
    found = json.loads(outcome.out)
    assert set(found) == {
        *(
            "kind",
            "schema",
            "version",
            "metric",
            "metric_name",
            "settings",
            "sets",
            "scale",
            "overall",
            "between",
            "runs",
        ),
        *("align", "notes", "evaluations", "cross"),
    }
    assert found["kind"] == "size"
    assert [f"note: {note}" for note in found["notes"]] == outcome.err.splitlines()
    (block,) = found["sets"]
    assert set(block) == {"name", "words", "units", "unit", "systems", "curves"}
    assert [each["system"] for each in block["systems"]] == ["a", "b", "c"]
    assert [each["strategy"] for each in block["curves"]] == ["seq", "rand", "rand-seq"]
    assert set(block["curves"][0]) == {"strategy", "points", "sufficient"}
    points = [point for curve in block["curves"] for point in curve["points"]]
    assert all(set(point) == POINT for point in points)
    assert [point["draws"] for point in points] == [1] * 3 + [8] * 6
    assert set(points[0]["aso"]) == {"draws", "systems", "disagreement", "distance"}
    assert (points[0]["low"], points[0]["high"]) == ("NaN", "NaN")
    assert points[-1] | {"units": 0, "aso": 0} == {
        "words": 1927, "whole": True, "units": 0, "draws": 8, "tau": 1.0, "low": 1.0, "high": 1.0, "undefined": 0,
        "reached": 8, "share_low": points[-1]["share_low"], "share_high": 1.0, "aso": 0,
    }  # fmt: skip
    assert (found["overall"], found["between"]) == (None, [])


def test_the_same_seed_gives_the_same_output_and_another_one_another(commands: Commands, made: Path) -> None:
    one, same, other = (
        json.loads(commands("size", *given(made, "a1", "b1", "c1"), *SETTINGS, "--seed", seed, "--json").out)
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one["sets"][0]["curves"][0]["points"] == other["sets"][0]["curves"][0]["points"]  # the last sentences
    assert one["sets"][0]["curves"][1]["points"] != other["sets"][0]["curves"][1]["points"]


def test_runs_can_be_systems_of_their_own(commands: Commands, made: Path) -> None:
    outcome = commands("size", *given(made, "a1", "a2", "b1", "b2"), *SETTINGS, "--seeds", "separate", "--json")
    systems = json.loads(outcome.out)["sets"][0]["systems"]
    assert {each["system"] for each in systems} == {"a run 1", "a run 2", "b run 1", "b run 2"}


def test_the_rest_in_place_of_everything(commands: Commands, made: Path) -> None:
    arguments = ("--sizes", "50,963,964,all", "--draws", "8", "--against", "rest", "--strategies", "rand", "--json")
    outcome = commands("size", *given(made, "a1", "b1", "c1"), *arguments)
    (curve,) = json.loads(outcome.out)["sets"][0]["curves"]
    assert [point["words"] for point in curve["points"]] == [50, 963]
    assert "964 words left out, because the rest would be smaller than the sample" in outcome.err


def test_sizes_beyond_the_test_set_are_shown_as_all_and_told(commands: Commands, made: Path) -> None:
    outcome = commands("size", *given(made, "a1", "b1"), "--sizes", "50,5000", "--draws", "3", "--strategies", "rand")
    assert [line.split()[1] for line in outcome.out.splitlines() if line.startswith("rand ")] == ["50", "all"]
    assert "5,000 words are shown as all, because there are only 1,927" in outcome.err


def test_counts_are_saved_and_read_back(commands: Commands, made: Path, tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    first = commands("size", *given(made, "a1", "b1", "c1"), *SETTINGS, "--save", path, "--json")
    again = commands("size", path, *SETTINGS, "--json")
    assert json.loads(first.out)["sets"] == json.loads(again.out)["sets"]
    assert "counts of las.v1; expected uas.v1" in commands.refused("size", path, "--metric", "uas")
    assert "beside saved counts" in commands.refused("size", path, given(made, "a1")[1])
    assert "--save is for one test set" in commands.refused("size", path, "--save", tmp_path / "other.npz")
    path.write_bytes(b"PK\x03\x04")
    assert commands.refused("size", path).startswith(f"{path}: not saved counts; expected a file that deadheat size")


def test_a_list_of_test_sets_has_an_overall(commands: Commands, made: Path) -> None:
    rows = [f"{name}\tgold.conllu\t{run[0]}\t{run}.conllu" for name in ("x", "y") for run in ("a1", "b1", "c1")]
    listing = made / "sets.tsv"
    listing.write_text("\n".join(["set\tgold\tsystem\tprediction", *rows]) + "\n")
    outcome = commands("size", "--sets", listing, *SETTINGS)
    titles = [line.partition(":")[0] for line in outcome.out.splitlines() if " words in " in line]
    assert titles == ["All test sets together", "x", "y"]
    assert "Weighted tau between the rankings on whole test sets." in outcome.out
    found = json.loads(commands("size", "--sets", listing, *SETTINGS, "--json").out)
    assert found["overall"]["words"] == 2 * 1927
    assert found["between"] == [[1.0, 1.0], [1.0, 1.0]]
    assert "beside --sets" in commands.refused("size", made / "gold.conllu", "--sets", listing)
    assert "--save is for one test set" in commands.refused("size", "--sets", listing, "--save", made / "x.npz")


def test_a_file_named_test_is_written_to_the_ledger(commands: Commands, made: Path, tmp_path: Path) -> None:
    gold = tmp_path / "my-test.conllu"
    gold.write_bytes((made / "gold.conllu").read_bytes())
    systems = given(made, "a1", "a2", "b1")[1:]
    outcome = commands("size", gold, *systems, *SETTINGS, "--purpose", "planning", "--save", tmp_path / "c.npz")
    assert "ledger: 3 evaluations of this test set so far, 2 systems" in outcome.err
    assert "6 evaluations" in commands("size", tmp_path / "c.npz", *SETTINGS).err
    assert commands("ledger", "guard", gold, "--budget", "6").code == 0
    assert "3 evaluations requested, 0 left of a budget of 6" in commands.refused("size", gold, *systems, *SETTINGS)
    assert commands("size", gold, *systems, *SETTINGS, "--over-budget", "review").code == 0


def test_patterns_of_file_names_give_the_study_of_a_table(commands: Commands, made: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").mkdir()
    rows = ["set,gold,system,prediction"]
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / "gold" / f"{name}.conllu").write_bytes((made / "gold.conllu").read_bytes())
        for run in ("a1", "a2", "b1"):
            (tmp_path / name / f"{run[0]}.{run[1]}.conllu").write_bytes((made / f"{run}.conllu").read_bytes())
            rows.append(f"{name},gold/{name}.conllu,{run[0]},{name}/{run[0]}.{run[1]}.conllu")
    (tmp_path / "sets.csv").write_text("\n".join(rows))
    patterns = f"{tmp_path}/gold/{{dataset}}.conllu", f"{tmp_path}/{{dataset}}/{{system}}.{{run}}.conllu"
    outcome = commands("size", *patterns, *SETTINGS, "--json")
    assert outcome.out == commands("size", "--sets", tmp_path / "sets.csv", *SETTINGS, "--json").out
    assert "--save is for one test set" in commands.refused("size", *patterns, "--save", tmp_path / "x.npz")
    globs = [f"a={tmp_path}/x/a.*.conllu", f"b={tmp_path}/x/b.*.conllu"]
    (one,) = json.loads(commands("size", tmp_path / "gold" / "x.conllu", *globs, *SETTINGS, "--json").out)["sets"]
    assert one["curves"] == json.loads(outcome.out)["sets"][0]["curves"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no files; expected GOLD NAME=PRED NAME=PRED ..., saved counts (.npz), scores of items, or --sets FILE"),
        (["GOLD"], "alone; expected GOLD NAME=PRED"),
        (["GOLD", "a=A"], "1 system; expected at least two to rank"),
        (["GOLD", "a=A", "a=B"], "1 system; expected at least two to rank"),
        (["GOLD", "A", "B"], "expected NAME=FILE"),
        (["GOLD", "a=A", "b=GOLD"], "the gold file itself; expected a prediction"),
        (["GOLD", "a=A", "b=B", "--sizes", "200,100"], "sizes '200,100'; expected increasing numbers of words"),
        (["GOLD", "a=A", "b=B", "--sizes", "100,many"], "sizes '100,many'; expected increasing numbers of words"),
        (["GOLD", "a=A", "b=B", "--threshold", "1.5"], "threshold 1.5; expected a tau above -1 and at most 1"),
        (["GOLD", "a=A", "b=B", "--threshold", "-1"], "threshold -1.0; expected a tau above -1 and at most 1"),
        (["GOLD", "a=A", "b=B", "--confidence", "95"], "confidence 95.0; expected between 0 and 1"),
        (["GOLD", "a=A", "b=B", "--strategies", "random"], "sampling strategy 'random' is unknown"),
        (["GOLD", "a=A", "b=B", "--draws", "0"], "draws 0; expected a whole number, at least 1"),
        (["GOLD", "a=A", "b=B", "--metric", "lass"], "did you mean 'las'?"),
        (["GOLD", "a=A", "b=B", "--against", "most"], "invalid choice: 'most'"),
        (["GOLD", "a=A", "b=B", "--save", "counts.txt"], "counts.txt: not a name for saved counts"),
        (["missing.npz"], "missing.npz: cannot be read (no such file or directory)"),
        (["--sets", "missing.csv"], "missing.csv: cannot be read (no such file or directory)"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], told: str, commands: Commands, made: Path) -> None:
    names = {"GOLD": made / "gold.conllu", "A": made / "a1.conllu", "B": made / "b1.conllu"}
    filled = []
    for each in arguments:
        name, equals, path = each.rpartition("=")
        filled.append(f"{name}{equals}{names.get(path, path)}")
    assert told in commands.refused("size", *filled)


def test_words_that_differ_and_sentences_that_are_missing_are_told(
    commands: Commands, made: Path, tmp_path: Path
) -> None:
    text = (made / "b1.conllu").read_text(encoding="utf-8")
    other = tmp_path / "other.conllu"
    other.write_text(text.partition("\n\n")[2], encoding="utf-8")
    arguments = [*given(made, "a1"), f"b={other}"]
    assert "the text differs from" in commands.refused("size", *arguments)
    line = commands.refused("size", *arguments, "--align", "position")
    assert line.startswith("b: 119 sentences; expected 120 as in ")
