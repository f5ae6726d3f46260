"""Studies whose systems are programs that predict trees, or tags and trees."""

import json
from pathlib import Path

import pytest

from deadheat.corpus import Corpus, read, take
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import prediction_file, predictions_folder
from deadheat.testbed import generate
from tests.cli.running import Commands
from tests.study.study_cases import corpus_text
from tests.systems.programs import line, parser, script

SPLITS = "[corpora]\nsmall = 'small.conllu'\n[splits]\nstrategy = 'random'\n[engine]\nworkers = 2\n"
# Copies what a program gets to a folder, then runs the program.
SPY = """
import pathlib, shutil, subprocess, sys
folder = pathlib.Path(sys.argv[1])
shutil.copy(sys.argv[-2], folder / str(len(list(folder.iterdir()))))
sys.exit(subprocess.call(sys.argv[2:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.conllu").write_text(corpus_text(30))
    return tmp_path


def study(folder: Path, systems: str, more: str = "") -> Path:
    path = folder / "study.toml"
    path.write_text(more + SPLITS + systems)
    return path


def entry(settings: dict[str, str], **more: str) -> str:
    """A system of a study file that runs a program."""
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in {**settings, **more}.items())
    return f"[[systems]]\nname = 'command'\n{''.join(lines)}"


def values(commands: Commands, path: Path) -> dict[tuple[str, str], float]:
    """The mean of every system by every metric, on test."""
    outcome = commands("run", path, "--quiet", "--json")
    assert outcome.code == 0, outcome.err
    block = next(block for block in json.loads(outcome.out)["blocks"] if block["part"] == "test")
    return {(row["system"], row["metric"]): row["mean"] for row in block["systems"]}


def prediction(plan: Plan, cell: Cell, part: str) -> Corpus:
    return read(predictions_folder(plan.store_path) / prediction_file(cell.key, part), format="conllu")


def test_parsers_and_pipelines_are_scored_by_what_they_predict(folder: Path, commands: Commands) -> None:
    both = entry(parser(folder), label="pipeline", column="upos,trees")
    path = study(folder, entry(parser(folder), label="parser", column="trees") + both + "[[systems]]\nname='unigram'\n")
    scores = values(commands, path)
    trees, tags = {"las.v1", "uas.v1"}, {name for system, name in scores if system == "unigram"}
    assert {name for system, name in scores if system == "parser"} == trees
    assert {name for system, name in scores if system == "pipeline"} == trees | tags
    # All words but the first hang from it, in the corpus and in the predictions.
    assert scores["parser", "uas.v1"] == scores["pipeline", "uas.v1"] == 1.0
    assert scores["pipeline", "accuracy.v1"] == 0.0


def test_metrics_of_a_study_apply_to_all_that_they_can_score(folder: Path, commands: Commands) -> None:
    both = entry(parser(folder), label="pipeline", column="upos,trees")
    path = study(folder, entry(parser(folder), label="parser", column="trees") + both, "metrics = ['las', 'upos']\n")
    systems = {(system, metric) for system, metric in values(commands, path)}
    assert systems == {("parser", "las.v1"), ("pipeline", "las.v1"), ("pipeline", "upos.v1")}
    nothing = study(folder, entry(parser(folder), column="upos,trees"), "metrics = ['lemmas']\n")
    assert "lemmas.v1 scores nothing that a system predicts" in commands("run", nothing).err


def test_a_study_shows_programs_no_gold_and_saves_whole_predictions(tmp_path: Path, commands: Commands) -> None:
    text = generate("velani", sentences=40, seed=1)
    first, _, rest = text.partition("\n\n")
    rows = first.split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith("1\t"))
    # A multiword token and an empty node, which predictions keep.
    rows[at:at] = [f"1-2\tboth{chr(9)}_{chr(9)}" + "\t".join(["_"] * 6) + "\tHush=1"]
    text = "\n".join(["# hush = hush", *rows, f"{len(rows) - at - 1}.1" + "\thush" + "\t_" * 8]) + "\n\n" + rest
    (tmp_path / "small.conllu").write_text(text)
    gold = read(text=text)
    seen = tmp_path / "seen"
    seen.mkdir()
    spy = parser(tmp_path)
    spy["predict"] = line(script(tmp_path, SPY, "spy.py"), seen) + " " + spy["predict"]
    path = study(tmp_path, entry(spy, label="parser", column="trees"))
    values(commands, path)
    copies = [copy.read_text() for copy in seen.iterdir()]
    assert copies
    for copy in copies:
        assert "hush" not in copy.lower()
        for fields in (row.split("\t") for row in copy.splitlines() if row[:1].isdigit()):
            assert fields[2:9] == ["_"] * 7
    plan = Plan.of(path)
    (cell,) = plan.cells
    for part in plan.scored_parts(cell):
        whole, after = take(gold, plan.partition(cell).parts[part]), prediction(plan, cell, part)
        assert after.trees.min() == 0
        assert len(after.extras) == len(whole.extras)
        assert after.comments.blob.tobytes() == whole.comments.blob.tobytes()
        for column in ("form", "lemma", "upos", "xpos", "feats", "misc"):
            assert after.column(column).strings() == whole.column(column).strings()
        assert set(after.column("deps").strings()) == {"_"}


def test_a_prediction_that_is_no_tree_fails_its_cell_in_one_line(folder: Path, commands: Commands) -> None:
    code = (
        "import sys\nprint(open(sys.argv[1]).read().replace('\\t_' * 8, '\\t_' * 4 + '\\t0\\troot\\t_\\t_'), end='')\n"
    )
    flat = {"predict": line(script(folder, code), "{input}")}
    outcome = commands("run", study(folder, entry(flat, column="trees")), "--quiet")
    assert outcome.code == 1
    assert "have head 0; expected one root" in outcome.err
    assert "Traceback" not in outcome.err


def test_columns_that_a_corpus_lacks_are_named_by_the_plan(folder: Path, commands: Commands) -> None:
    path = study(folder, entry({"predict": "true"}, column="upos,tags"))
    assert "corpus small has no column 'tags'" in commands("run", path, "--plan").err
    (folder / "small.conllu").write_text("a_X b_Y\n" * 30)
    path.write_text(path.read_text().replace("'small.conllu'", "{ files = 'small.conllu', format = 'tagged' }"))
    path.write_text(path.read_text().replace("upos,tags", "tag,trees"))
    assert "corpus small has words without heads; expected trees to learn from" in commands("run", path, "--plan").err
