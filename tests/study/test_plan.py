"""What a study will run: its cells, their keys, and what is refused before anything runs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import read
from deadheat.errors import InputError, StudyError
from deadheat.questions.run import run_plan
from deadheat.splits import STRATEGIES
from deadheat.splits.strategy import Material
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.plan import plan as plan_module
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems.perceptron import MAX_TAGS
from tests.study.study_cases import corpus_text, in_this_process, study_file


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return study_file(tmp_path)


def keys(path: Path, *overrides: str) -> set[str]:
    return {cell.key for cell in Plan.of(path, overrides).cells}


def faults(path: Path, *overrides: str) -> list[str]:
    with pytest.raises(StudyError) as caught:
        Plan.of(path, overrides)
    return [str(fault).removeprefix(f"{path}:").strip() for fault in caught.value.faults]


def test_a_key_is_the_hash_of_what_a_cell_is_made_from() -> None:
    cell = Cell("english", "ab12", "random.v1", 3, 7, "hmm.v1(column='xpos')", 5)
    made_from = (
        '{"corpus_hash": "ab12", "number": 7, "seed": 5, "split": "random.v1", "split_seed": 3, '
        '"system": "hmm.v1(column=\'xpos\')"}'
    )
    assert cell.key == hashlib.sha256(made_from.encode()).hexdigest()[:32]
    tuned = json.dumps({**json.loads(made_from), "tune": "dev"})
    assert replace(cell, tune="dev").key == hashlib.sha256(tuned.encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    "change",
    [
        {"corpus_hash": "ab13"}, {"split": "random.v2"}, {"split_seed": 1}, {"number": 1}, {"system": "hmm.v2"},
        {"seed": 1}, {"tune": "none"},
    ],
)  # fmt: skip
def test_whatever_changes_a_result_changes_the_key(change: dict[str, object]) -> None:
    cell = Cell("english", "ab12", "random.v1", 0, 0, "hmm.v1", 0)
    assert replace(cell, **change).key != cell.key  # type: ignore[arg-type]
    assert replace(cell, corpus="englisch").key == cell.key


def test_cells_are_every_system_and_seed_on_every_split_and_whole_splits_come_first(study: Path) -> None:
    study.write_text(study.read_text() + "[[systems]]\nname = 'perceptron'\nepochs = [2, 3]\nseeds = 2\n")
    cells = Plan.of(study, ["splits.times=2", "seeds=9"]).cells
    perceptrons = [f"perceptron.v2(epochs={epochs})" for epochs in (2, 3)]
    a_split = [
        ("majority.v1", 0), ("unigram.v1", 0), *[(name, seed) for name in perceptrons for seed in (0, 1)]
    ]  # fmt: skip
    assert [(cell.number, cell.system, cell.seed) for cell in cells] == [
        (number, *system) for number in (0, 1) for system in a_split
    ]


def test_what_is_added_to_a_study_leaves_its_cells_as_they_are(study: Path) -> None:
    study.write_text(study.read_text() + "[[systems]]\nname = 'perceptron'\nepochs = 2\n")
    before = keys(study)
    assert len(before) == 9
    for more, count in [("splits.times=4", 12), ("seeds=2", 12), ("systems.0.column=['upos', 'xpos']", 12)]:
        after = keys(study, more)
        assert (len(after), before <= after) == (count, True), more
    assert not before & keys(study, "splits.seed=1")
    assert not before & keys(study, "tune='none'")


def test_a_system_that_has_no_chance_in_it_has_the_same_cell_whatever_the_seeds(study: Path) -> None:
    assert keys(study) == keys(study, "seeds=[4, 5]")


def test_a_system_that_stands_twice_has_the_seeds_of_both(study: Path) -> None:
    twice = "[[systems]]\nname = 'perceptron'\nseeds = [0, 3]\n[[systems]]\nname = 'perceptron'\nseeds = [3, 5, 5]\n"
    study.write_text(study.read_text() + twice)
    assert Plan.of(study).systems["perceptron.v2"] == [0, 3, 5]


def test_the_files_own_split_is_made_once_however_often_it_is_asked_for(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    for number, part in enumerate(("train", "dev", "test")):
        (tmp_path / f"own-{part}.conllu").write_text(corpus_text(5, seed=number))
    files = "corpora.small.files=['own-dev.conllu', 'own-test.conllu', 'own-train.conllu']"
    plan = Plan.of(path, [files, "splits.strategy=standard", "splits.times=20", "splits.seed=3"])
    assert len(plan.cells) == 2
    assert {part: len(values) for part, values in plan.partition(plan.cells[0]).parts.items()} == dict.fromkeys(
        ("train", "dev", "test"), 5
    )


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("\tdog\tdog\t", "\tdog\tdoggy\t", True),
        ("# sent_id = s3\n", "# sent_id = s33\n", True),  # documents may hang from it
        ("", "", False),
    ],
)
def test_a_changed_corpus_is_another_corpus(study: Path, before: str, after: str, *, changes: bool) -> None:
    old = keys(study)
    text = (study.parent / "small.conllu").read_text()
    (study.parent / "elsewhere.conllu").write_text(text.replace(before, after, 1))
    assert (keys(study, "corpora.small.files=elsewhere.conllu") != old) == changes


def test_columns_that_are_read_under_other_names_are_another_corpus(study: Path) -> None:
    (study.parent / "c.tsv").write_text("a\tb\nb\ta\n\n" * 20)
    overrides = ["corpora.small.files='c.tsv'", "corpora.small.format='columns'"]
    overrides += ["systems.0.column=tag", "systems.1.column=tag"]
    one, two = (
        keys(study, *overrides, f"corpora.small.columns={names}") for names in (["form", "tag"], ["tag", "form"])
    )
    assert not one & two


def test_a_split_is_the_one_that_the_strategy_draws(study: Path) -> None:
    plan = Plan.of(study, ["splits.seed=4"])
    material = Material(read(study.parent / "small.conllu"))
    for cell in plan.cells:
        drawn = STRATEGIES.make("random").draw(material, 4, cell.number)
        parts = plan.partition(cell).parts
        assert all(np.array_equal(np.sort(drawn.parts[part]), parts[part]) for part in ("train", "dev", "test"))
    assert len({plan.partition(cell).parts["test"].tobytes() for cell in plan.cells}) == 3


def test_splits_are_not_hoarded(study: Path) -> None:
    plan = Plan.of(study, ["splits.times=50"])
    for cell in plan.cells:
        plan.partition(cell)
    assert len(plan._partitions) <= plan_module.CACHED_SPLITS


@pytest.mark.parametrize(
    ("sizes", "tune", "tuned", "evaluated"),
    [
        ("train=rest,tune=10%,dev=10%,test=10%", "auto", "tune", ["tune", "dev", "test"]),
        ("80/10/10", "auto", "dev", ["dev", "test"]),
        ("80/10/10", "dev", "dev", ["dev", "test"]),
        ("80/10/10", "none", "", ["dev", "test"]),
        ("train=rest,test=20%", "auto", "", ["test"]),
        ("train=rest,dev=20%", "auto", "dev", ["dev"]),
    ],
)
def test_the_part_to_tune_on_and_the_parts_that_are_scored(
    study: Path, sizes: str, tune: str, tuned: str, evaluated: list[str]
) -> None:
    plan = Plan.of(study, [f"splits.sizes={sizes!r}", f"tune={tune}"])
    partition = plan.partition(plan.cells[0])
    assert (plan.tune_part(partition), plan.evaluated_parts(partition, "small")) == (tuned, evaluated)
    assert plan.scored_parts(plan.cells[0]) == evaluated


def test_systems_are_called_by_their_labels_and_what_differs_between_them(study: Path) -> None:
    grid = "[[systems]]\nname = 'perceptron'\nlabel = 'mine'\nepochs = [2, 3]\ncolumn = 'xpos'\n"
    study.write_text(study.read_text() + grid)
    assert list(Plan.of(study).labels.values()) == ["majority", "unigram", "mine epochs=2", "mine epochs=3"]
    study.write_text(
        study.read_text() + "[[systems]]\nname = 'perceptron'\n[[systems]]\nname = 'perceptron'\nepochs = 9\n"
    )
    alike = ["majority", "unigram", "mine epochs=2", "mine epochs=3", "perceptron.v2", "perceptron.v2(epochs=9)"]
    assert list(Plan.of(study).labels.values()) == alike


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("x", "x"), "systems 0 and 1 have the same label 'x'; expected each label once"),
        (("", "majority"), "systems 0 and 1 have the same label 'majority'; expected each label once"),
        (("unigram", ""), "systems 0 and 1 have the same label 'unigram'; expected each label once"),
    ],
)
def test_two_systems_with_one_label_are_refused(study: Path, labels: tuple[str, str], message: str) -> None:
    overrides = [f"systems.{i}.label={label}" for i, label in enumerate(labels) if label]
    assert message in faults(study, *overrides)[0]


def test_two_labels_of_one_system_are_refused(study: Path) -> None:
    same = ["systems.0.label=a", "systems.1.name=majority", "systems.1.label=b"]
    (fault,) = faults(study, *same)
    assert fault.endswith("systems 0 and 1 are the same, majority.v1, with labels 'a' and 'b'; expected one label")
    assert list(Plan.of(study, [*same, "systems.1.label=a"]).labels.values()) == ["a"]


def test_a_system_is_scored_by_the_metrics_that_look_at_its_column(study: Path) -> None:
    study.write_text('metrics = ["upos", "accuracy", "accuracy(column=\'xpos\')"]\n' + study.read_text())
    plan = Plan.of(study, ["systems.1.column=xpos"])
    assert {name: [metric.name for metric in values] for name, values in plan.metrics.items()} == {
        "majority.v1": ["upos.v1", "accuracy.v1"],
        "unigram.v1(column='xpos')": ["accuracy.v1(column='xpos')"],
    }
    usual = Plan.of(study, ["metrics=[]", "systems.1.column=xpos"]).metrics
    assert [metric.name for metric in usual["unigram.v1(column='xpos')"]] == [
        f"{name}.v1(column='xpos')" for name in ("accuracy", "unknown", "sentence-accuracy")
    ]


def test_what_only_the_corpora_can_tell_is_told_together(study: Path) -> None:
    messages = faults(
        study, "metrics=['las', 'xpos']", "systems.0.column=upso", "tune=tune", "systems.1.column=chunk"
    )  # fmt: skip
    assert messages == [
        "las.v1 scores nothing that a system predicts; expected it to",
        "xpos.v1 scores nothing that a system predicts; expected it to",
        "none scores upso, which majority.v1(column='upso') predicts; expected one",
        "7: majority.v1(column='upso'): corpus small has no column 'upso'; did you mean 'upos'?",
        "none scores chunk, which unigram.v1(column='chunk') predicts; expected one",
        "7: unigram.v1(column='chunk'): corpus small has no column 'chunk'; expected one of form, lemma, upos, xpos, "
        "feats, deprel, deps, misc",
        "4: corpus small, random.v1: tune = 'tune'; the split has train, dev, test",
    ]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("splits.strategy=standard", "not all file names tell a part"),
        ("evaluate=['tune']", "tune is missing; the split has train, dev, test"),
        ("splits.sizes='train=rest'", "the split has train"),
        ("splits.sizes='98/1/1'", "is empty"),
        ("splits.strategy=ud", "train is missing; the split has test"),
    ],
)
def test_splits_that_cannot_be_made_are_refused_before_anything_runs(study: Path, override: str, message: str) -> None:
    [fault] = faults(study, override)
    assert message in fault


def test_broken_and_empty_corpora_are_told_together(study: Path) -> None:
    (study.parent / "empty.conllu").write_text("")
    (study.parent / "broken.conllu").write_text("1\ta\n\n")
    messages = faults(study, "corpora.none.files=empty.conllu", "corpora.torn.files=broken.conllu")
    assert len(messages) == 2
    assert all(name in fault for name, fault in zip(("corpus none", "corpus torn"), messages, strict=True))


def test_results_go_beside_the_study_and_nowhere_else(study: Path) -> None:
    folder = study.parent
    (folder / "away").symlink_to(folder.parent)
    assert Plan.of(study).store_path == folder / "study.sqlite"
    assert Plan.of(study, ["store=results.sqlite"]).store_path == folder / "results.sqlite"
    for outside in ("../out.sqlite", "/tmp/out.sqlite", "away/out.sqlite"):
        with pytest.raises(InputError, match="outside the study's folder; expected --store"):
            _ = Plan.of(study, [f"store={outside!r}"]).store_path


def test_a_way_to_split_can_be_for_some_corpora_only(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    text = path.read_text()
    (name,) = Plan.of(path).materials
    (tmp_path / "second.conllu").write_text(corpus_text(40, seed=1))
    path.write_text(
        text.split("[splits]")[0].split("[[splits]]")[0]
        + "[corpora.second]\nfiles = 'second.conllu'\n\n[[splits]]\nstrategy = 'random'\ntimes = 3\n"
        + f"corpora = ['{name}']\n\n[[splits]]\nstrategy = 'random'\ntimes = 2\nseed = 9\n\n"
        + "[[systems]]\nname = 'majority'\n"
    )
    cells = Plan.of(path).cells
    assert [(cell.corpus, cell.split_seed, cell.number) for cell in cells] == [
        (name, 0, 0), (name, 0, 1), (name, 0, 2), (name, 9, 0), (name, 9, 1), ("second", 9, 0), ("second", 9, 1)
    ]  # fmt: skip
    assert faults(path, "splits.0.corpora=['secnod']") == [
        f"{line_number(path, 'corpora = [')}: corpus 'secnod' is unknown; did you mean 'second'?"
    ]
    lonely = faults(path, "splits.1.corpora=['second']", "splits.0.corpora=['second']")
    assert [fault.partition(": ")[2] for fault in lonely] == [
        f"no split strategy for corpus {name}; expected one in [[splits]]"
    ]


def line_number(path: Path, start: str) -> int:
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if line.startswith(start))


def two_corpora(study: Path, role: str = "develop") -> Path:
    (study.parent / "other.conllu").write_text(corpus_text(30, 1))
    study.write_text(f"{study.read_text()}\n[corpora.other]\nfiles = 'other.conllu'\nrole = '{role}'\n")
    return study


def test_corpora_to_develop_on_are_scored_on_dev_and_the_others_on_test(study: Path) -> None:
    plan = Plan.of(two_corpora(study))
    assert {cell.corpus: plan.scored_parts(cell) for cell in plan.cells} == {"small": ["test"], "other": ["dev"]}
    evaluations = planned_evaluations(plan, plan.cells)
    assert {test_set.name.partition(",")[0] for test_set in evaluations} == {"small"}
    assert sum(evaluations.values()) == len(plan.cells) // 2
    alone = Plan.of(study, ["corpora.small.role=develop"])
    assert not planned_evaluations(alone, alone.cells)


def test_a_role_changes_no_key(study: Path) -> None:
    """What was trained is used again where the role of a corpus changes."""
    assert keys(two_corpora(study)) == keys(study, "corpora.other.role=evaluate")


def test_each_role_needs_its_part(study: Path) -> None:
    two_corpora(study)
    assert faults(study, "splits.sizes='train=rest,test=20%'") == [
        "4: corpus other, random.v1(sizes='train=rest,test=20%'): dev is missing; the split has train, test"
    ]
    assert faults(study, "splits.sizes='train=rest,dev=20%'") == [
        "4: corpus small, random.v1(sizes='train=rest,dev=20%'): test is missing; the split has train, dev"
    ]


def test_nothing_of_test_is_trained_scored_or_recorded_for_a_corpus_to_develop_on(study: Path) -> None:
    result = run_plan(Plan.of(two_corpora(study)), executor=in_this_process).result
    assert {(block.corpus, block.part) for block in result.blocks} == {("small", "test"), ("other", "dev")}
    assert {test_set.name.partition(",")[0] for test_set in result.test_sets} == {"small"}
    assert {claim.dataset for claim in result.verdict.claims} == {"small"}
    with Store.read(Path(result.store)) as store:
        scores = store.scores()
    assert set(scores.select("corpus", "part").unique().iter_rows()) == {("small", "test"), ("other", "dev")}


def test_a_hypothesis_is_about_systems_and_a_metric_of_the_study(study: Path) -> None:
    study.write_text(study.read_text() + "[hypothesis]\nprimary = 'unigram > majority'\n")
    metric = Plan.of(study).hypothesis_metric
    assert metric is not None
    assert metric.name == "accuracy.v1"
    for name in ("unknown", "Unknown.v1"):
        metric = Plan.of(study, [f"hypothesis.metric={name}"]).hypothesis_metric
        assert metric is not None
        assert metric.name == "unknown.v1"
    line = study.read_text().split("\n").index("[hypothesis]") + 1
    assert faults(study, "hypothesis.primary='unigrm > majority'") == [
        f"{line + 1}: hypothesis: system 'unigrm' is unknown; did you mean 'unigram'?"
    ]
    assert faults(study, "hypothesis.metric=las") == [
        f"{line}: hypothesis: las does not score both unigram and majority; expected a metric of both"
    ]
    [fault] = faults(study, "systems.0.column=xpos")
    assert "the first metric of one system does not score both unigram and majority" in fault


def test_more_labels_than_a_system_can_learn_are_refused_before_anything_runs(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAX_TAGS, 2, 1)
    messages = faults(study, 'systems=[{name="perceptron"}]')
    assert messages
    for message in messages:
        assert "column 'upos' has " in message
        assert message.endswith("labels in train; perceptron.v2 expected 1 at most")
