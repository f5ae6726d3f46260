"""Studies of test set sizes from corpora: what is counted, what is saved, what is written to the ledger."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import deadheat
from deadheat.corpus import Corpus
from deadheat.errors import InputError
from deadheat.metrics.metric import Counts
from deadheat.questions.counting import count_runs
from deadheat.questions.designs import Prediction
from deadheat.questions.size import count_test_set, load_counts, size, size_of_counts, size_of_sets
from deadheat.ranking.size_samples import SizeSettings
from deadheat.ranking.sizes import SetSizes
from deadheat.results.base import to_document
from deadheat.stats.intervals import normal_cdf
from deadheat.study.ledger.ledger import Ledger, LedgerEntry, LedgerTestSet
from deadheat.testbed import SimulatedSystem, generate, simulate

FAST = SizeSettings((50, 500), draws=5, aso_draws=2)


@pytest.fixture(scope="module")
def text() -> str:
    return generate("velani", sentences=200, seed=0)


def system(name: str, uas: float, *, tokens: float = 1.0, sentences: float = 1.0) -> SimulatedSystem:
    return SimulatedSystem(name, uas=uas, tokens=tokens, sentences=sentences)


@pytest.fixture(scope="module")
def runs(text: str) -> dict[str, list[str]]:
    """Three systems, two runs of the first two."""
    return {
        "good": [simulate(text, system("good", 0.92), seed=seed) for seed in (0, 1)],
        "fair": [simulate(text, system("fair", 0.88), seed=seed) for seed in (0, 1)],
        "poor": [simulate(text, system("poor", 0.80), seed=0)],
    }


@pytest.fixture
def folder(tmp_path: Path, text: str, runs: dict[str, list[str]]) -> Path:
    (tmp_path / "my-test.conllu").write_text(text, encoding="utf-8")
    for name, texts in runs.items():
        for run, item in enumerate(texts, start=1):
            (tmp_path / f"{name}.run{run}.conllu").write_text(item, encoding="utf-8")
    return tmp_path


def files(folder: Path) -> dict[str, list[Path]]:
    return {name: sorted(folder.glob(f"{name}.run*.conllu")) for name in ("good", "fair", "poor")}


def scores(block: SetSizes) -> dict[str, float]:
    return {row.system: row.score for row in block.systems}


def las_counts(gold: Corpus, systems: Mapping[str, Corpus]) -> dict[str, Counts]:
    given = [Prediction("", gold, name, "1", predicted) for name, predicted in systems.items()]
    counted = count_runs(given, "las", unit="sentence", reading={})
    return {name: counts_RNF[0] for name, counts_RNF in counted.dataset.counts.items()}


def read_all(runs: dict[str, list[str]]) -> dict[str, list[Corpus]]:
    return {name: [deadheat.read(text=item) for item in texts] for name, texts in runs.items()}


def test_counts_are_those_of_a_comparison_and_lengths_those_of_gold(text: str, runs: dict[str, list[str]]) -> None:
    gold, corpora = deadheat.read(text=text), read_all(runs)
    given = [Prediction("", gold, name, "", item) for name, several in corpora.items() for item in several]
    made = count_test_set("", given, "", "text", None, {}).counted
    assert made.systems == ("good", "good", "fair", "fair", "poor")
    assert (made.metric.name, made.unit, made.words) == ("las.v1", "sentence", gold.words)
    assert np.array_equal(made.lengths_N, np.diff(gold.offsets))
    expected = las_counts(gold, {str(at): run for at, run in enumerate(itertools.chain(*corpora.values()))})
    assert np.array_equal(made.counts_RNF, np.stack(list(expected.values())))


def test_the_ranking_on_everything_is_the_mean_over_runs(text: str, runs: dict[str, list[str]]) -> None:
    gold, corpora = deadheat.read(text=text), read_all(runs)
    result = size(gold, corpora, metric="uas", settings=FAST)
    (block,) = result.sets
    expected = {
        name: np.mean([deadheat.score(gold, item, metrics=["uas"])["uas"].value for item in own])
        for name, own in corpora.items()
    }
    assert scores(block) == pytest.approx(expected, abs=1e-11)
    assert [row.system for row in block.systems] == ["good", "fair", "poor"]
    separate = size(gold, corpora, settings=SizeSettings((50,), draws=2, runs="separate"))
    assert set(scores(separate.sets[0])) == {"good run 1", "good run 2", "fair run 1", "fair run 2", "poor"}
    # Almost stochastic order is of the systems with runs either way.
    aso = separate.sets[0].curves[0].points[0].aso
    assert aso is not None
    assert aso.systems == 2


def test_other_sentence_boundaries_are_sampled_in_blocks(text: str) -> None:
    gold = deadheat.read(text=text)
    raw = deadheat.read(text=simulate(text, system("raw", 0.85, tokens=0.97, sentences=0.8), seed=0))
    plain = deadheat.read(text=simulate(text, system("plain", 0.85), seed=0))
    result = size(gold, {"raw": raw, "plain": plain}, settings=FAST)
    (block,) = result.sets
    assert (block.unit, block.words) == ("block", gold.words)
    assert block.units < gold.sentences
    assert any("blocks between common sentence boundaries" in note for note in result.notes)
    assert scores(block)["raw"] == pytest.approx(deadheat.score(gold, raw, metrics=["las"])["las"].value, abs=1e-11)


@pytest.mark.parametrize(
    ("better", "worse", "sizes", "enough"),
    [(0.93, 0.80, (20, 200, 1000), 200), (0.90, 0.87, (200, 500, 2000, 3000), 2000)],
)
def test_two_systems_of_known_truth_are_distinguished_as_often_as_theory_says(
    better: float, worse: float, sizes: tuple[int, ...], enough: int
) -> None:
    """The sum of m differences of sentences drawn without replacement is normal, nearly."""
    text = generate("velani", sentences=500, seed=1)
    gold = deadheat.read(text=text)
    both = {
        name: deadheat.read(text=simulate(text, system(name, uas), seed=3))
        for name, uas in (("a", better), ("b", worse))
    }
    settings = SizeSettings(sizes, whole=False, strategies=("rand",), draws=500, threshold=1)
    result = size(gold, both, settings=settings)
    counts = las_counts(gold, both)
    gaps = (counts["a"] - counts["b"])[:, 0]
    (curve,) = result.sets[0].curves
    theory = []
    for point in curve.points:
        spread = math.sqrt(point.units * (1 - point.units / len(gaps))) * float(np.std(gaps))
        # More than half a word ahead, because a tie orders nothing.
        theory.append(normal_cdf((point.units * float(gaps.mean()) - 0.5) / spread))
        # 0.05 is beyond chance in 500 draws; words of two sentences are not normal yet.
        assert point.words < 50 or abs(point.share - theory[-1]) < 0.05
    assert [chance > 0.95 for chance in theory] == [size >= enough for size in sizes]
    assert curve.sufficient == enough


def test_systems_that_differ_more_need_less(text: str) -> None:
    gold = deadheat.read(text=text)
    enough = []
    for best, worst in ((0.95, 0.70), (0.90, 0.88)):
        both = {n: deadheat.read(text=simulate(text, system(n, u), seed=5)) for n, u in (("a", best), ("b", worst))}
        grid = tuple(range(20, 1500, 20))
        result = size(gold, both, settings=SizeSettings(grid, strategies=("rand",), draws=200))
        enough.append(result.sets[0].curves[0].sufficient or math.inf)
    assert enough[0] < 200 < enough[1]


def test_saved_counts_give_the_same_study(folder: Path) -> None:
    path = folder / "counts.npz"
    made = size(folder / "my-test.conllu", files(folder), settings=FAST, save=path)
    again = size_of_counts(path, settings=FAST)
    one, other = ({**to_document(item), "align": ""} for item in (made, again))
    assert one == other
    with np.load(path) as arrays:
        assert arrays["counts"].shape == (5, 200, 3)
        assert arrays["systems"].tolist() == ["good", "good", "fair", "fair", "poor"]
        assert str(arrays["metric"]) == "las.v1"
    assert sorted(item.name for item in folder.glob("*npz*")) == ["counts.npz"]


def test_saved_counts_keep_the_settings_of_their_metric(folder: Path) -> None:
    path = folder / "counts.npz"
    size(folder / "my-test.conllu", files(folder), metric="las(subtypes=True)", settings=FAST, save=path)
    assert size_of_counts(path, settings=FAST).metric_name == "las.v1(subtypes=True)"
    with pytest.raises(InputError, match=r"counts of las.v1\(subtypes=True\); expected uas.v1"):
        size_of_counts(path, metric="uas", settings=FAST)


def test_several_saved_counts_are_several_test_sets(folder: Path) -> None:
    paths = [folder / "one.npz", folder / "two.npz"]
    (folder / "second-test.conllu").write_bytes((folder / "my-test.conllu").read_bytes())
    size(folder / "my-test.conllu", files(folder), settings=FAST, save=paths[0])
    size(folder / "second-test.conllu", files(folder), settings=FAST, save=paths[1])
    result = size_of_counts(paths, settings=FAST)
    assert len(result.sets) == 2
    assert result.overall is not None
    with pytest.raises(InputError, match="two test sets are named"):
        size_of_counts([paths[0], paths[0]], settings=FAST)


@pytest.mark.parametrize("kind", ["text", "array", "archive", "pickle", "broken", "cut", "empty", "folder"])
def test_what_is_not_counts_of_ours_is_reported(kind: str, folder: Path) -> None:
    path = folder / f"{kind}.npz"
    if kind == "text":
        path.write_text("not counts")
    elif kind == "array":
        with path.open("wb") as file:
            np.save(file, np.arange(3))
    elif kind == "archive":
        np.savez(path, counts=np.arange(3))
    elif kind == "pickle":
        np.savez(path, format=np.array(["deadheat-counts.v1", None], dtype=object))
    elif kind == "broken":
        np.savez(path, format="deadheat-counts.v1", metric="las.v1")
    elif kind == "cut":
        size(folder / "my-test.conllu", files(folder), settings=FAST, save=path)
        path.write_bytes(path.read_bytes()[:-200])
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        path.mkdir()
    with pytest.raises(InputError) as error:
        size_of_counts(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_saved_counts_that_do_not_fit_together_are_reported(folder: Path) -> None:
    path = folder / "counts.npz"
    size(folder / "my-test.conllu", files(folder), settings=FAST, save=path)
    with np.load(path) as arrays:
        good = dict(arrays)
    for key, value in (
        ("metric", "lass.v1"),
        ("lengths", good["lengths"][:-1]),
        ("predictions", good["predictions"][:1]),
        ("hashes", np.array(["\ud800"])),
        ("lengths", np.full(len(good["lengths"]), "9" * 30)),
    ):
        np.savez(path, **{**good, key: value})
        with pytest.raises(InputError, match="broken counts"):
            load_counts(path)


def test_a_file_that_cannot_be_written_is_reported_before_anything_is_scored(folder: Path, ledger_path: Path) -> None:
    for save, problem in ((folder / "counts.txt", "that ends in .npz"), (folder / "no" / "counts.npz", "no folder")):
        entry = LedgerEntry(Ledger.at())
        with pytest.raises(InputError, match=problem):
            size(folder / "my-test.conllu", files(folder), settings=FAST, save=save, ledger_entry=entry)
    assert not ledger_path.exists()


def test_every_run_is_recorded_in_the_ledger_also_from_saved_counts(folder: Path) -> None:
    ledger, path = Ledger.at(), folder / "counts.npz"
    look = LedgerEntry(ledger, purpose="how much is enough")
    result = size(folder / "my-test.conllu", files(folder), settings=FAST, save=path, ledger_entry=look)
    (tally,) = result.evaluations
    assert (tally.evaluations, tally.systems, tally.predictions) == (5, ("good", "fair", "poor"), 5)
    (again,) = size_of_counts(path, settings=FAST, ledger_entry=look).evaluations
    assert (again.evaluations, again.systems, again.predictions) == (10, ("good", "fair", "poor"), 5)
    ledger.guard(ledger.test_sets_in(deadheat.read(folder / "my-test.conllu"))[0], budget=12)
    with pytest.raises(InputError, match="5 evaluations requested, 2 left of a budget of 12"):
        size_of_counts(path, settings=FAST, ledger_entry=look)


def test_a_file_that_is_not_a_test_set_is_not_counted(folder: Path, ledger_path: Path) -> None:
    dev = folder / "my-dev.conllu"
    dev.write_bytes((folder / "my-test.conllu").read_bytes())
    path = folder / "counts.npz"
    assert size(dev, files(folder), settings=FAST, save=path, ledger_entry=LedgerEntry(Ledger.at())).evaluations == ()
    assert size_of_counts(path, settings=FAST, ledger_entry=LedgerEntry(Ledger.at())).evaluations == ()
    assert not ledger_path.exists()


def test_saved_counts_of_a_test_set_are_known_by_its_name_or_by_its_text(folder: Path, tmp_path: Path) -> None:
    dev, paths = folder / "my-dev.conllu", [folder / "test.npz", folder / "dev.npz"]
    dev.write_bytes((folder / "my-test.conllu").read_bytes())
    for gold, path in zip((folder / "my-test.conllu", dev), paths, strict=True):
        size(gold, files(folder), settings=FAST, save=path)
    by_name = LedgerEntry(Ledger.at(tmp_path / "first.jsonl"))
    assert size_of_counts(paths[0], settings=FAST, ledger_entry=by_name).evaluations[0].evaluations == 5
    by_text = LedgerEntry(Ledger.at(tmp_path / "second.jsonl"))
    by_text.ledger.guard(LedgerTestSet.of(deadheat.read(dev)))
    assert size_of_counts(paths[1], settings=FAST, ledger_entry=by_text).evaluations[0].evaluations == 5


def listing(folder: Path, rows: list[str]) -> Path:
    path = folder / "sets.csv"
    path.write_text("\n".join(["set,gold,system,prediction", *rows]) + "\n")
    return path


def test_a_list_of_test_sets_gives_a_block_each_and_an_overall(folder: Path) -> None:
    other = generate("torukai", sentences=60, seed=0)
    (folder / "small.conllu").write_text(other, encoding="utf-8")
    rows = [f"velani,my-test.conllu,{name},{item.name}" for name, own in files(folder).items() for item in own]
    for name, uas in (("good", 0.92), ("fair", 0.88), ("poor", 0.80)):
        for seed in (0, 1) if name != "poor" else (0,):
            predicted = folder / f"small.{name}.{seed}.conllu"
            predicted.write_text(simulate(other, system(name, uas), seed=seed), encoding="utf-8")
            rows.append(f"torukai,small.conllu,{name},{predicted.name}")
    result = size_of_sets(listing(folder, rows), settings=FAST)
    assert [item.name for item in result.sets] == ["velani", "torukai"]
    assert result.overall is not None
    means = {name: np.mean([scores(item)[name] for item in result.sets]) for name in ("good", "fair", "poor")}
    assert scores(result.overall) == pytest.approx(means)
    assert result.overall.words == sum(item.words for item in result.sets)
    assert np.shape(result.between) == (2, 2)
    assert result.between[0][0] == 1
    result = size_of_sets(listing(folder, rows[:-1]), settings=FAST)
    assert result.overall is None
    assert any(note.startswith("no overall ranking") for note in result.notes)
    assert "poor has no predictions on torukai" in result.notes


def test_runs_may_have_gold_files_of_their_own_if_what_is_compared_is_the_same(folder: Path) -> None:
    gold = folder / "my-test.conllu"
    own = folder / "own.conllu"
    own.write_text(gold.read_text(encoding="utf-8").replace("\tNOUN\t", "\tX\t"), encoding="utf-8")
    rows = ["v,my-test.conllu,good,good.run1.conllu", "v,own.conllu,fair,fair.run1.conllu"]
    result = size_of_sets(listing(folder, rows), settings=FAST, metric="las")
    expected = {
        name: deadheat.score(path, folder / f"{name}.run1.conllu", metrics=["las"])["las"].value
        for path, name in ((gold, "good"), (own, "fair"))
    }
    assert scores(result.sets[0]) == pytest.approx(expected, abs=1e-11)
    with pytest.raises(InputError, match=r"own\.conllu:\d+: tag 'X', and 'NOUN' in .*my-test\.conllu"):
        size_of_sets(listing(folder, rows), settings=FAST, metric="upos")
    own.write_text(generate("velani", sentences=190, seed=0), encoding="utf-8")
    with pytest.raises(InputError, match="other sentences than"):
        size_of_sets(listing(folder, rows), settings=FAST, align="text")


def test_a_list_with_mistakes_is_reported_with_its_line(folder: Path) -> None:
    with pytest.raises(InputError, match=r"sets.csv:3: no system; expected set, gold, system, prediction"):
        size_of_sets(listing(folder, ["v,my-test.conllu,good,good.run1.conllu", "v,my-test.conllu,,fair.run1.conllu"]))
    with pytest.raises(InputError, match="v: 1 system; expected at least two to rank"):
        size_of_sets(listing(folder, ["v,my-test.conllu,good,good.run1.conllu"]))
    path = folder / "sets.csv"
    path.write_text("set,gold,parser,prediction\nv,a,b,c\n")
    with pytest.raises(InputError, match="column 'system' is unknown"):
        size_of_sets(path)


def test_one_sample_and_no_sufficient_size(text: str, runs: dict[str, list[str]]) -> None:
    corpora = {name: own[0] for name, own in read_all(runs).items()}
    settings = SizeSettings((300, 500), strategies=("seq", "rand"), draws=40, threshold=-0.99)
    result = size(deadheat.read(text=text), corpora, settings=settings)
    seq, rand = result.sets[0].curves
    assert (seq.draws, seq.sufficient) == (1, None)
    assert (rand.draws, rand.sufficient) == (40, 300)
    assert rand.points[0].share_low == pytest.approx(0.912, abs=1e-3)  # Wilson: 40 / (40 + 1.96^2)
    same = {name: deadheat.read(text=runs["good"][0]) for name in ("a", "b")}
    level = size(deadheat.read(text=text), same, settings=SizeSettings((50,), strategies=("rand",), draws=40))
    assert (level.sets[0].curves[0].sufficient, level.sets[0].curves[0].points[0].reached) == (None, 0)


def test_the_rest_is_not_part_of_the_sample(text: str, runs: dict[str, list[str]]) -> None:
    corpora = {name: own[0] for name, own in read_all(runs).items()}
    settings = SizeSettings((300,), strategies=("rand",), draws=9)
    for against, noted in (("all", True), ("rest", False)):
        result = size(deadheat.read(text=text), corpora, settings=replace(settings, against=against))
        assert any("--against rest" in note for note in result.notes) is noted


def test_level_systems_have_no_ranking_and_a_note_says_so(text: str, runs: dict[str, list[str]]) -> None:
    same = deadheat.read(text=runs["good"][0])
    result = size(deadheat.read(text=text), {"a": same, "b": same}, settings=FAST)
    assert any("all systems have the same score" in note for note in result.notes)
    assert all(math.isnan(point.tau) for curve in result.sets[0].curves for point in curve.points)
    assert all(curve.sufficient is None for curve in result.sets[0].curves)


def test_the_signature_has_all_that_numbers_depend_on(text: str, runs: dict[str, list[str]]) -> None:
    result = size(deadheat.read(text=text), read_all(runs), settings=FAST)
    assert "las.v1 | align text | 1 test set, 5 runs | runs average | weighted tau against all" in result.signature


def test_real_parsers_on_a_real_treebank(shared_data: Path) -> None:
    """The means over three runs of each parser are those that scoring gives, whatever gold file a parser has."""
    bank = shared_data / "predictions" / "predicted-pos" / "wo_wtb"
    parsers = ("biaffine", "pointer", "bracketing")
    lenient = ("multiple-roots", "final-newline")
    rows = [
        Prediction("", bank / f"gold.{name}.conll.gz", name, str(run), bank / f"{name}.run{run}.conll.gz")
        for name in parsers
        for run in (1, 2, 3)
    ]
    made = count_test_set("wo", rows, "las", "position", None, {"lenient": lenient}).counted
    assert (len(made.lengths_N), made.words) == (470, 10403)
    scores = made.metric.value(made.counts_RNF.sum(axis=1))
    for row, value in zip(rows, scores, strict=True):
        scored = deadheat.score(row.gold, row.predicted, metrics=["las"], align="position", lenient=lenient)
        assert scored["las"].value == value
