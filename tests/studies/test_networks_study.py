import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.charts.chart import WIDE
from deadheat.metrics import METRICS
from deadheat.neural.config import OPTIMIZERS
from deadheat.study.plan.cells import DONE, Cell, Outcome, PartScores
from deadheat.study.plan.study_file import read_study
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.tables.table import read_runs
from studies.networks import collect, draw, tables
from studies.networks.cut import cut
from studies.networks.draw import CLASSIFIERS, FOLDER, TASKS, Settings, Size, Task, configurations

WHOLE = Size(shapes=300, numbers=1, batches=draw.BATCHES, optimizers=OPTIMIZERS)
SMALL = Size(shapes=2, numbers=2, seeds=(3, 4))
UNITS, WORDS = 100, 1000  # of a test set made up


@pytest.mark.parametrize("name", draw.files(Size(), seed=0))
def test_the_study_files_are_those_that_the_seed_draws(name: str, tmp_path: Path) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert text == draw.files(Size(), seed=0)[name]
    (corpus,) = [task.corpus for task in TASKS if name.startswith(task.name)]
    study, _ = read_study(FOLDER / name, [f"corpora.{corpus}.files={tmp_path}"])
    both = ["softmax", "crf"] if name.endswith("_seeds.toml") else ["softmax"] * 2 + ["crf"] * 2
    assert [entry.settings["classifier"] for entry in study.systems][: len(both)] == both


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_more_shapes_and_numbers_keep_those_that_there_are(task: Task) -> None:
    few, many = (configurations(task, size, seed=0) for size in (SMALL, Size(shapes=7, numbers=9)))
    assert [own[:2] for own in many[:2]] == few
    assert configurations(task, SMALL, seed=1) != few


def test_every_option_of_the_paper_is_drawn_about_as_often_as_any_other() -> None:
    result = [own for shape in configurations(TASKS[0], WHOLE, seed=0) for own in shape]
    for name, options in (
        ("characters", draw.CHARACTERS), ("optimizer", OPTIMIZERS), ("dropout", draw.DROPOUTS),
        ("batch", draw.BATCHES), ("clip", draw.THRESHOLDS), ("norm", draw.THRESHOLDS), ("scheme", draw.SCHEMES),
    ):  # fmt: skip
        drawn = [own[name] for own in result]
        assert set(drawn) == set(options)
        expected = len(result) / len(options)
        assert all(abs(drawn.count(item) - expected) < 4 * expected**0.5 for item in options), name
    layers = [[int(item) for item in str(own["units"]).split(",")] for own in result]
    assert {len(item) for item in layers} == {1, 2, 3}
    assert {unit for item in layers for unit in item} == set(draw.UNITS)


def test_what_dropout_does_not_use_is_not_drawn_for_it() -> None:
    result = [own for shape in configurations(TASKS[1], WHOLE, seed=0) for own in shape]
    assert {own["dropped"] for own in result if own["dropout"] != "variational"} == {"outputs"}
    assert {own["drop"] for own in result if own["dropout"] == "none"} == {0.0}
    assert {own["drop"] for own in result if own["dropout"] != "none"} == set(draw.DROPS)
    assert all("scheme" not in own for own in result)


def test_the_numbers_of_a_shape_are_all_different_and_so_are_dropout_rates_while_there_are_others() -> None:
    for own in configurations(TASKS[0], Size(shapes=9, numbers=25), seed=0):
        assert len({tuple(item.items()) for item in own}) == 25
        assert len({item["drop"] for item in own[:4]}) == (1 if own[0]["dropout"] == "none" else 4)
    with pytest.raises(ValueError, match="there are 25 where nothing is dropped"):
        configurations(TASKS[0], Size(numbers=26), seed=0)


def test_cutting_keeps_the_first_sentences_of_train_and_dev_and_all_of_test(tmp_path: Path) -> None:
    chunks = [f"w{number} NN B-NP\n\n" for number in range(4)]
    trees = [f"# sent_id = {number}\n1\tw\tw\tNOUN\tNN\t_\t0\troot\t_\t_\n\n" for number in range(4)]
    for folder, pattern, sentences in (
        ("chunking/conll2000", "{}.txt", chunks), ("treebanks/en_ewt", "en_ewt-ud-{}.conllu", trees)
    ):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True)
        for part in ("train", "dev", "test"):
            (tmp_path / folder / pattern.format(part)).write_text("".join(sentences))
    cut(tmp_path, tmp_path / "out", train=3, dev=2)
    assert (tmp_path / "out/conll2000/train.txt").read_text() == "".join(chunks[:3])
    assert (tmp_path / "out/conll2000/dev.txt").read_text() == "".join(chunks[:2])
    assert (tmp_path / "out/en_ewt/en_ewt-ud-dev.conllu").read_text() == "".join(trees[:2])
    assert (tmp_path / "out/en_ewt/en_ewt-ud-test.conllu").read_text() == "".join(trees)


def _outcome(task: Task, settings: Settings, seed: int, test: float, dev: float | None = None) -> Outcome:
    course: Settings = {"column": task.column, "size": "full", "epochs": SMALL.epochs, "patience": SMALL.patience}
    system = SYSTEMS.make("bilstm", **settings, **course).name
    metric = METRICS.make(task.metric, column=task.column).name
    right = round(WORDS * test)
    gold = np.full(UNITS, WORDS // UNITS)
    correct = right // UNITS + (np.arange(UNITS) < right % UNITS)
    scores = [PartScores("test", UNITS, WORDS, {metric: test}, {metric: np.stack([correct, gold, gold], axis=1)})]
    scores += [] if dev is None else [PartScores("dev", UNITS, WORDS, {metric: dev}, {})]
    return Outcome(Cell(task.corpus, "0" * 32, "standard.v1", 0, 0, system, seed), DONE, scores=tuple(scores))


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of runs of known scores: for each task 3 and 4 seeds, 4 configurations of 2 shapes, and a stranger."""
    folder = tmp_path_factory.mktemp("networks")
    scheme: Settings = {"scheme": "bio"}
    for name, text in draw.files(SMALL, seed=0).items():
        (folder / name).write_text(text)
    for task in TASKS:
        one = draw.ONE | (scheme if task.schemes else {})
        with Store.open(folder / f"{task.name}_seeds.sqlite", create=True) as store:
            for classifier, tests, devs in (
                ("softmax", (0.895, 0.9, 0.905), (0.7, 0.8, 0.9)),
                ("crf", (0.9, 0.91, 0.92, 0.94), (0.9, 0.7, 0.8, 0.6)),
            ):
                for seed, scores in enumerate(zip(tests, devs, strict=True)):
                    store.add(_outcome(task, one | {"classifier": classifier}, seed, *scores))
                    store.add(_outcome(task, one | {"classifier": classifier, "drop": 0.1}, seed, 0.5, 0.5))
        with Store.open(folder / f"{task.name}_configurations.sqlite", create=True) as store:
            drawn = [own for shape in configurations(task, SMALL, seed=0) for own in shape]
            for number, own in enumerate(drawn):
                soft = 0.8 + 0.01 * number
                crf = soft + (0.004 if number < 3 else -0.002)
                store.add(_outcome(task, own | {"classifier": "softmax"}, 0, soft))
                store.add(_outcome(task, own | {"classifier": "crf"}, 0, crf))
                store.add(_outcome(task, own | {"classifier": "crf"}, 1, crf + 0.002 * (number + 1)))
    runs, extremes = collect.collected(folder, folder)
    collect.write(folder / collect.RUNS, runs)
    collect.write(folder / collect.EXTREMES, extremes)
    return folder


def _rows(text: str, *starts: str) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [row for row in cells if row[: len(starts)] == list(starts)]


def test_table_1_has_the_seeds_least_median_most_and_sd(made_up: Path) -> None:
    runs, extremes = read_runs(made_up / collect.RUNS), pl.read_csv(made_up / collect.EXTREMES)
    problem = tables.table_1(tables.seed_blocks(runs), extremes)
    # sd of 90, 91, 92, 94: deviations from 91.75 are -1.75, -0.75, 0.25, 2.25, squares 8.75, sqrt(8.75 / 3) = 1.708.
    # The best is better by one word in 40 of 100 units and worse in none: no swap of a million gives as much.
    (row,) = _rows(problem, "tagging", "crf")
    assert row == ["tagging", "crf", "4", "90.00", "91.50", "94.00", "1.708", "1e-06", "4e-06", "6e-06"]
    # 89.5 and 90.5: one word in 10 units; all or none of them swapped is as much: 2 / 2^10 = 0.00195.
    (row,) = _rows(problem, "chunking", "softmax")
    assert row[:7] == ["chunking", "softmax", "3", "89.50", "90.00", "90.50", "0.500"]
    assert row[7:] == ["0.002", "0.006", "0.006"]


def test_the_best_on_dev_is_found_on_test(made_up: Path) -> None:
    blocks = tables.seed_blocks(read_runs(made_up / collect.RUNS))
    # Ranks of dev 4, 2, 3, 1 and of test 1, 2, 3, 4: 1 - 6 (9 + 0 + 0 + 9) / (4 * 15) = -0.8.
    (row,) = _rows(tables.table_1_dev(blocks), "tagging", "crf")
    assert [row[2], *row[4:]] == ["-0.80", "90.00", "91.75", "94.00"]
    (row,) = _rows(tables.table_1_pairs(blocks), "chunking")
    assert row[1:3] == ["+1.75", "0.88"]  # of 12 pairs one is tied, 90 and 90, and one lost, 90 and 90.5: 10.5 / 12


def test_table_2_has_the_differences_of_two_seeds(made_up: Path) -> None:
    runs = read_runs(made_up / collect.RUNS)
    problem = tables.table_2(runs, tables.seed_blocks(runs))
    # 0.2, 0.4, 0.6, 0.8: half of them are at most 0.4, and 95 in 100 not before the last.
    (row,) = _rows(problem, "chunking", "random configurations, CRF, two seeds")
    assert row[2:] == ["4", "0.40", "0.80", "0.80"]


def test_table_3_has_wins_and_the_median_difference(made_up: Path) -> None:
    problem = tables.table_3(read_runs(made_up / collect.RUNS))
    (row,) = _rows(problem, "tagging", "each configuration")
    assert row[2:6] == ["4", "25.0 %", "75.0 %", "-0.40"]
    assert row[8] == "0.625"  # by signs, 3 of 4: 2 (1 + 4) / 16
    (row,) = _rows(problem, "tagging", "means of shapes")
    assert row[2:6] == ["2", "0.0 %", "100.0 %", "-0.25"]  # -0.4 and -0.1


def test_the_page_has_the_tables_of_its_runs_and_the_figures_are_theirs() -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    for problem in tables.all_tables(FOLDER).split("\n\n"):
        assert problem in page
    for task, block in tables.seed_blocks(read_runs(FOLDER / collect.RUNS)).items():
        drawn = tables.figure(task, block)
        assert (FOLDER / f"{task}_seeds.svg").read_text("utf-8") == drawn.svg(font=WIDE.font)


def test_the_runs_are_those_of_the_study_files() -> None:
    runs = pl.read_csv(FOLDER / collect.RUNS)
    for task in (task for task in TASKS if task.name in Size().tasks):
        for classifier, wanted in zip(CLASSIFIERS, Size().seeds, strict=True):
            own = runs.filter(task=task.name, study="seeds", classifier=classifier)
            assert sorted(own["seed"]) == list(range(wanted))
        names = ("units", "characters", "optimizer", "dropout", "dropped", "drop", "clip", "norm", "batch")
        drawn = {
            tuple(item[name] for name in names) for shape in configurations(task, Size(), seed=0) for item in shape
        }
        own = runs.filter(task=task.name, study="configurations")
        for classifier, times in zip(CLASSIFIERS, Size().runs, strict=True):
            chosen = own.filter(classifier=classifier)
            assert set(chosen.select(names).rows()) == drawn
            assert chosen.height == times * len(drawn)


def test_the_figures_of_the_paper_are_as_published(shared_data: Path) -> None:
    def published(name: str) -> list[list[str]]:
        with (shared_data / "published" / name).open(encoding="utf-8") as file:
            return list(csv.reader(file))[1:]

    for row, (name, seeds, *scores, sd) in zip(published("reimers_table1_seeds.csv"), tables.PAPER_1, strict=True):
        assert [name, seeds, *scores] == [row[0], int(row[2]), *map(float, row[3:6])]
        assert sd == pytest.approx(100 * float(row[6]))
    own = {"Chunking": "chunking", "POS": "tagging"}
    for task, dataset, count, *numbers in published("reimers_table2_seed_differences.csv"):
        if task in own:
            assert tables.PAPER_2[own[task]] == (dataset.replace("CoNLL-", "CoNLL "), int(count), *map(float, numbers))
    for task, count, *numbers in published("reimers_table3_classifier.csv"):
        if task in own:
            assert tables.PAPER_3[own[task]][1:] == (int(count), *map(float, numbers))
