"""Studies with systems, metrics, strategies and formats from files of a user's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import deadheat
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from tests.cli.running import Commands
from tests.study.study_cases import NOUN, corpus_text

MINE = '''
from collections import Counter
import deadheat
import helper


def tagger(*, column: str = "upos"):
    """Every word gets its most frequent tag."""

    def learn(train, tune, seed):
        counts = {}
        for words, tags in train:
            for word, tag in zip(words, tags):
                counts.setdefault(word, Counter())[tag] += 1
        best = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
        return lambda words: [best.get(word, helper.DEFAULT) for word in words]

    return deadheat.tagger(learn, column=column, randomness="none")
'''
SCORES = '''
import numpy as np
from deadheat import Metric
from deadheat.metrics.metric import accuracy


def nouns():
    """The share of nouns that are found."""

    def counts(pair):
        gold, predicted = (np.array(corpus.column("upos").strings()) for corpus in (pair.gold, pair.predicted))
        noun, right = gold == "NOUN", (gold == "NOUN") & (predicted == "NOUN")
        rows = [np.add.reduceat(values.astype(int), pair.gold.offsets[:-1]) for values in (right, noun, noun)]
        return np.stack(rows, axis=1)

    return Metric("nouns", "Nouns", counts, accuracy, compares="upos")
'''
HALVES = '''
from deadheat import STRATEGIES


def halves():
    """The first half is train, the second is test."""
    return STRATEGIES.make("random(sizes='train=rest,test=50%')")
'''
STUDY = """
metrics = ["accuracy", "code.py:nouns"]
[corpora]
small = "small.conllu"
[splits]
strategy = "random"
times = 2
[[systems]]
name = "unigram"
[[systems]]
name = "mine.py:tagger"
label = "mine"
[engine]
workers = 2
"""

PROGRAM = """
[corpora]
small = "small.conllu"
[splits]
strategy = "random"
[[systems]]
name = "command"
predict = "sh noun.sh"
"""
SHOUTING = '''
import deadheat


def shouting():
    """CoNLL-U in capitals."""
    return deadheat.Reader("shouting", lambda data: deadheat.read(text=data.decode().lower(), format="conllu"))
'''


@pytest.fixture
def study(own_code: Path) -> Path:
    (own_code / "small.conllu").write_text(corpus_text(30))
    for name, text in (("mine", MINE), ("code", SCORES), ("helper", 'DEFAULT = "NOUN"\n')):
        (own_code / f"{name}.py").write_text(text)
    (own_code / "study.toml").write_text(STUDY)
    return own_code / "study.toml"


def test_a_tagger_and_a_metric_from_files_take_part_in_a_study(study: Path, commands: Commands) -> None:
    outcome = commands("run", study, "--quiet", "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    rows = {(row["system"], row["metric"]): row for row in result["blocks"][0]["systems"]}
    labels = {system["name"]: system["label"] for system in result["systems"]}
    assert set(labels.values()) == {"unigram", "mine"}
    nouns = next(name for system, name in rows if name.startswith("code.py:nouns@"))
    # The helper's default is NOUN, and so is the majority that unigram falls back to: both find the same nouns.
    assert rows["mine", nouns]["by_split"] == rows["unigram", nouns]["by_split"]
    with Store.read(study.with_suffix(".sqlite")) as store:
        made_with = store.provenances()[0]
    assert set(made_with["code"]) == {"mine.py", "helper.py", "code.py"}
    assert made_with["packages"] == {"numpy": __import__("numpy").__version__}


def test_cells_are_new_where_their_code_has_changed_and_the_plan_says_so(study: Path, commands: Commands) -> None:
    commands("run", study, "--quiet")
    again = commands("run", study, "--plan")
    assert "4 cells: 0 to run, 4 in the store" in again.out
    assert again.err == ""

    (study.parent / "helper.py").write_text('DEFAULT = "VERB"\n')
    changed = commands("run", study, "--plan")
    assert "4 cells: 2 to run, 2 in the store" in changed.out
    note = "note: 2 cells are new because helper.py changed; --keep-old keeps those that were run before\n"
    assert changed.err == note

    kept = commands("run", study, "--plan", "--keep-old")
    assert "4 cells: 0 to run, 4 in the store" in kept.out
    assert kept.err == "note: 2 cells are kept although helper.py changed\n"


def test_cells_of_earlier_code_are_kept_and_the_others_run_beside_them(study: Path, commands: Commands) -> None:
    commands("run", study, "--quiet")
    (study.parent / "mine.py").write_text(MINE + "\n# a remark\n")
    outcome = commands("run", study, "--quiet", "--keep-old", "--set", "splits.times=3")
    assert "2 cells run, 4 already in the store" in outcome.err
    with Store.read(study.with_suffix(".sqlite")) as store:
        names = set(store.runs()["system"])
        last = store.provenances()[-1]
    assert len(names) == 2  # the third split is that of the kept code, and its provenance says what it was run with
    assert last["kept"]
    assert last["code"]["mine.py"] != store_hash(study)
    without = commands("run", study, "--quiet", "--set", "splits.times=3")
    assert "2 cells are new because mine.py changed" in without.err
    assert "3 cells run, 3 already in the store" in without.err


CONSTANT = """
import deadheat


def tagger():
    return deadheat.tagger(lambda train, tune, seed: lambda words: ["{label}"] * len(words), randomness="{randomness}")
"""


def scores_by_seed(study: Path, commands: Commands, *options: str) -> tuple[dict[int, float], str]:
    """The accuracy of every run of the study as it is now, and what is said on standard error."""
    outcome = commands("run", study, "--json", "--quiet", *options)
    assert outcome.code == 0, outcome.err
    keys = set(json.loads(outcome.out)["keys"])
    with Store.read(study.with_suffix(".sqlite")) as store:
        rows = store.scores().filter(metric="accuracy.v1", part="test")
    return {
        seed: value for key, seed, value in rows.select("key", "seed", "value").iter_rows() if key in keys
    }, outcome.err


def test_the_latest_of_several_earlier_states_is_kept(study: Path, commands: Commands) -> None:
    study.write_text(STUDY.replace('"code.py:nouns"', "").replace("times = 2", ""))
    values = {}
    for label in ("NOUN", "VERB", "DET"):
        (study.parent / "mine.py").write_text(CONSTANT.format(label=label, randomness="none"))
        values[label] = scores_by_seed(study, commands, "--set", "systems=[{name='mine.py:tagger'}]")[0][0]
    assert len(set(values.values())) == 3
    with (study.parent / "mine.py").open("a") as file:
        file.write("# a remark\n")
    scores, err = scores_by_seed(study, commands, "--set", "systems=[{name='mine.py:tagger'}]", "--keep-old")
    assert "1 cell is kept although mine.py changed" in err
    assert scores == {0: values["DET"]}


def test_what_later_code_ran_under_an_earlier_name_is_not_taken_for_the_earlier_code(
    study: Path, commands: Commands
) -> None:
    study.write_text(STUDY.replace('"code.py:nouns"', "").replace("times = 2", ""))
    one, two = (f"systems=[{{name='mine.py:tagger', seeds={seeds}}}]" for seeds in (1, 2))
    codes = {label: CONSTANT.format(label=label, randomness="noise") for label in ("NOUN", "VERB")}
    (study.parent / "mine.py").write_text(codes["NOUN"])
    noun = scores_by_seed(study, commands, "--set", one)[0][0]
    (study.parent / "mine.py").write_text(codes["VERB"])
    mixed, _ = scores_by_seed(study, commands, "--set", two, "--keep-old")
    assert mixed[0] == noun != mixed[1]
    again, err = scores_by_seed(study, commands, "--set", two, "--keep-old")
    assert (again, "0 cells run" in err) == (mixed, True)

    (study.parent / "mine.py").write_text(codes["NOUN"])
    assert scores_by_seed(study, commands, "--set", two)[0] == {0: noun, 1: noun}


def test_parsers_see_no_trees_when_they_predict(study: Path, commands: Commands) -> None:
    (study.parent / "mine.py").write_text(
        "import deadheat\n"
        "class Copy:\n"
        "    def predict(self, corpus):\n"
        "        assert not corpus.column('deprel').strings()[0].strip('_')\n"
        "        assert set(corpus.heads.tolist()) == {-1}\n"
        "        return corpus\n"
        "def copy():\n"
        "    return deadheat.System('copy', lambda train, tune, seed: Copy(), randomness='none', trees=True)\n"
    )
    study.write_text(PROGRAM.replace('"command"', '"mine.py:copy"').replace('predict = "sh noun.sh"\n', ""))
    outcome = commands("run", study, "--quiet")
    assert "AssertionError" not in outcome.err
    assert "100.00" not in outcome.out


def store_hash(study: Path) -> str:
    """The hash of mine.py in the first run of a study."""
    with Store.read(study.with_suffix(".sqlite")) as store:
        return str(store.provenances()[0]["code"]["mine.py"])


def test_files_that_a_command_names_belong_to_its_cells(study: Path, commands: Commands) -> None:
    (study.parent / "noun.sh").write_text(NOUN)
    study.write_text(PROGRAM)
    assert commands("run", study, "--quiet").code == 0
    assert "1 cell: 0 to run" in commands("run", study, "--plan").out
    (study.parent / "noun.sh").write_text(NOUN + "# another version\n")
    outcome = commands("run", study, "--plan")
    assert "1 cell: 1 to run" in outcome.out
    assert "1 cell is new because noun.sh changed" in outcome.err
    kept = commands("run", study, "--quiet", "--keep-old", "--set", "splits.times=2")
    assert "1 cell run, 1 already in the store" in kept.err


def test_code_that_changes_while_a_study_runs_fails_its_cells(study: Path) -> None:
    plan = Plan.of(study)
    cell = next(cell for cell in plan.cells if "mine" in cell.system)
    plan.check_unchanged(cell)
    (study.parent / "noun.sh").write_text(NOUN)
    study.write_text(PROGRAM)
    plan = Plan.of(study)
    (study.parent / "noun.sh").write_text("true\n")
    with pytest.raises(deadheat.InputError, match="changed while the study was running"):
        plan.check_unchanged(plan.cells[0])


def test_strategies_and_formats_come_from_files_too(study: Path, commands: Commands) -> None:
    (study.parent / "halves.py").write_text(HALVES)
    (study.parent / "formats.py").write_text(SHOUTING)
    (study.parent / "small.txt").write_text(corpus_text(30).upper())
    study.write_text(
        '[corpora.small]\nfiles = "small.txt"\nformat = "formats.py:shouting"\n'
        '[splits]\nstrategy = "halves.py:halves"\n[[systems]]\nname = "unigram"\n'
    )
    outcome = commands("run", study, "--quiet", "--json")
    assert outcome.code == 0, outcome.err
    assert "1 cell run" in outcome.err


def test_systems_of_one_process_alone_are_refused_with_what_to_write(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mine() -> deadheat.System:
        return deadheat.tagger(lambda train, tune, seed: lambda words: words)

    monkeypatch.setitem(SYSTEMS._factories, "mine.v1", mine)
    study.write_text(STUDY.replace("mine.py:tagger", "mine"))
    with pytest.raises(deadheat.InputError, match=r"registered in this process only.*test_own_code.py:mine"):
        deadheat.run(study)


def test_exports_call_systems_by_their_labels(study: Path, commands: Commands) -> None:
    commands("run", study, "--quiet")
    for table in ("scores", "runs"):
        lines = commands("export", study.with_suffix(".sqlite"), "--table", table).out.splitlines()
        rows = [dict(zip(lines[0].split(","), line.split(","), strict=False)) for line in lines[1:]]
        assert {row["system"] for row in rows} == {"unigram", "mine"}
    # Cells of an earlier state of the code have another name.
    (study.parent / "helper.py").write_text('DEFAULT = "VERB"\n')
    commands("run", study, "--quiet")
    lines = commands("export", study.with_suffix(".sqlite"), "--format", "jsonl").out.splitlines()
    names = {(row["system"], row["name"].partition("@")[0]) for row in map(json.loads, lines)}
    assert ("mine", "mine.py:tagger") in names
    assert len([name for name, _ in names if name.startswith("mine.py:tagger@")]) == 1


def test_own_metrics_work_on_the_command_line_of_score(study: Path) -> None:
    """In a new process, as a user would: relative to the current folder."""
    command = [sys.executable, "-m", "deadheat", "score", "small.conllu", "small.conllu", "-m", "code.py:nouns"]
    done = subprocess.run(command, cwd=study.parent, capture_output=True, text=True, check=True)
    assert "100.00" in done.stdout
