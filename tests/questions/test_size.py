"""Studies of test set sizes from corpora: what is counted, what is saved, what is written to the ledger."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from deadheat.questions.size_study import beside_published

import deadheat
from deadheat.corpus import Corpus
from deadheat.errors import InputError
from deadheat.questions.compare import compared_counts
from deadheat.questions.size import size, size_of_counts, size_of_sets
from deadheat.questions.size_counts import Prediction, count_test_set, saved_counts
from deadheat.ranking.size_samples import SizeSettings
from deadheat.stats.intervals import normal_cdf
from deadheat.study.ledger.ledger import Ledger, Look, Watched
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
        for run, each in enumerate(texts, start=1):
            (tmp_path / f"{name}.run{run}.conllu").write_text(each, encoding="utf-8")
    return tmp_path


def files(folder: Path) -> dict[str, list[Path]]:
    return {name: sorted(folder.glob(f"{name}.run*.conllu")) for name in ("good", "fair", "poor")}


def read_all(runs: dict[str, list[str]]) -> dict[str, list[Corpus]]:
    return {name: [deadheat.read(text=each) for each in texts] for name, texts in runs.items()}


def test_counts_are_those_of_a_comparison_and_lengths_those_of_gold(text: str, runs: dict[str, list[str]]) -> None:
    gold, corpora = deadheat.read(text=text), read_all(runs)
    given = [Prediction(name, gold, each) for name, several in corpora.items() for each in several]
    made = count_test_set("", given, metric="", align_by="text", look=None, reading={}).counted
    assert made.systems == ("good", "good", "fair", "fair", "poor")
    assert (made.metric.name, made.unit, made.words) == ("las.v1", "sentence", gold.words)
    assert np.array_equal(made.lengths_N, np.diff(gold.offsets))
    single = {str(at): each.predicted for at, each in enumerate(given)}
    _, expected, _ = compared_counts(gold, single, metric="las", unit="sentence", reading={})
    assert np.array_equal(made.counts_RNF, np.stack(list(expected.values())))


def test_the_ranking_on_everything_is_the_mean_over_runs(text: str, runs: dict[str, list[str]]) -> None:
    gold, corpora = deadheat.read(text=text), read_all(runs)
    found = size(gold, corpora, metric="uas", settings=FAST)
    (block,) = found.sets
    expected = [
        np.mean([deadheat.score(gold, each, metrics=["uas"])["uas"].value for each in own]) for own in corpora.values()
    ]
    np.testing.assert_allclose(block.scores_S, expected, atol=1e-11)
    assert block.systems == ("good", "fair", "poor")
    separate = size(gold, corpora, settings=SizeSettings((50,), draws=2, seeds="separate"))
    assert separate.sets[0].systems == ("good run 1", "good run 2", "fair run 1", "fair run 2", "poor")
    # Almost stochastic order is of the systems with runs either way.
    aso = separate.sets[0].curves[0].points[0].aso
    assert aso is not None
    assert aso.systems == 2


def test_other_sentence_boundaries_are_sampled_in_blocks(text: str) -> None:
    gold = deadheat.read(text=text)
    raw = deadheat.read(text=simulate(text, system("raw", 0.85, tokens=0.97, sentences=0.8), seed=0))
    plain = deadheat.read(text=simulate(text, system("plain", 0.85), seed=0))
    found = size(gold, {"raw": raw, "plain": plain}, settings=FAST)
    (block,) = found.sets
    assert (block.unit, block.words) == ("block", gold.words)
    assert block.units < gold.sentences
    assert any("blocks that begin a sentence for every system" in note for note in found.notes)
    assert block.scores_S[0] == pytest.approx(deadheat.score(gold, raw, metrics=["las"])["las"].value, abs=1e-11)


@pytest.mark.parametrize(
    ("better", "worse", "sizes", "enough"),
    [(0.93, 0.80, (20, 200, 1000), 200), (0.90, 0.87, (200, 500, 2000, 3000), 2000)],
)
def test_two_systems_of_known_truth_are_told_apart_as_often_as_theory_says(
    better: float, worse: float, sizes: tuple[int, ...], enough: int
) -> None:
    """The sum of m differences of sentences drawn without replacement is normal, nearly."""
    text = generate("velani", sentences=500, seed=1)
    gold = deadheat.read(text=text)
    both = {
        name: deadheat.read(text=simulate(text, system(name, uas), seed=3))
        for name, uas in (("a", better), ("b", worse))
    }
    settings = SizeSettings(sizes, whole=False, ways=("rand",), draws=500, threshold=1)
    found = size(gold, both, settings=settings)
    _, counts, _ = compared_counts(gold, both, metric="las", unit="sentence", reading={})
    gaps = (counts["a"] - counts["b"])[:, 0]
    (curve,) = found.sets[0].curves
    theory = []
    for point in curve.points:
        spread = math.sqrt(point.units * (1 - point.units / len(gaps))) * float(np.std(gaps))
        # More than half a word ahead, because a tie orders nothing.
        theory.append(normal_cdf((point.units * float(gaps.mean()) - 0.5) / spread))
        # 0.05 is beyond chance in 500 draws; words of two sentences are not normal yet.
        assert point.size < 50 or abs(point.reached(1) / 500 - theory[-1]) < 0.05
    assert [chance > 0.95 for chance in theory] == [size >= enough for size in sizes]
    smallest = found.smallest(curve)
    assert smallest is not None
    assert smallest.size == enough


def test_systems_that_differ_more_need_less(text: str) -> None:
    gold = deadheat.read(text=text)
    enough = []
    for best, worst in ((0.95, 0.70), (0.90, 0.88)):
        both = {n: deadheat.read(text=simulate(text, system(n, u), seed=5)) for n, u in (("a", best), ("b", worst))}
        grid = tuple(range(20, 1500, 20))
        found = size(gold, both, settings=SizeSettings(grid, ways=("rand",), draws=200))
        least = found.smallest(found.sets[0].curves[0])
        enough.append(math.inf if least is None else least.size)
    assert enough[0] < 200 < enough[1]


def test_saved_counts_give_the_same_study(folder: Path) -> None:
    path = folder / "counts.npz"
    made = size(folder / "my-test.conllu", files(folder), settings=FAST, save=path)
    again = size_of_counts(path, settings=FAST)
    one, other = ({key: value for key, value in each.to_dict().items() if key != "signature"} for each in (made, again))
    assert json.dumps(one) == json.dumps(other)
    with np.load(path) as arrays:
        assert arrays["counts"].shape == (5, 200, 3)
        assert arrays["systems"].tolist() == ["good", "good", "fair", "fair", "poor"]
        assert str(arrays["metric"]) == "las.v1"
    assert sorted(each.name for each in folder.glob("*npz*")) == ["counts.npz"]


def test_saved_counts_keep_the_settings_of_their_metric(folder: Path) -> None:
    path = folder / "counts.npz"
    size(folder / "my-test.conllu", files(folder), metric="las(subtypes=True)", settings=FAST, save=path)
    assert size_of_counts(path, settings=FAST).metric.name == "las.v1(subtypes=True)"
    with pytest.raises(InputError, match=r"counts of las.v1\(subtypes=True\); expected uas.v1"):
        size_of_counts(path, metric="uas", settings=FAST)


def test_several_saved_counts_are_several_test_sets(folder: Path) -> None:
    paths = [folder / "one.npz", folder / "two.npz"]
    (folder / "second-test.conllu").write_bytes((folder / "my-test.conllu").read_bytes())
    size(folder / "my-test.conllu", files(folder), settings=FAST, save=paths[0])
    size(folder / "second-test.conllu", files(folder), settings=FAST, save=paths[1])
    found = size_of_counts(paths, settings=FAST)
    assert len(found.sets) == 2
    assert found.overall is not None
    with pytest.raises(InputError, match="two test sets are named"):
        size_of_counts([paths[0], paths[0]], settings=FAST)


@pytest.mark.parametrize("kind", ["text", "array", "archive", "pickle", "broken", "cut", "empty", "folder"])
def test_what_is_not_counts_of_ours_is_told(kind: str, folder: Path) -> None:
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


def test_saved_counts_that_do_not_fit_together_are_told(folder: Path) -> None:
    path = folder / "counts.npz"
    size(folder / "my-test.conllu", files(folder), settings=FAST, save=path)
    with np.load(path) as arrays:
        good = dict(arrays)
    for key, value in (
        ("metric", "lass.v1"),
        ("lengths", good["lengths"][:-1]),
        ("predictions", good["predictions"][:1]),
    ):
        np.savez(path, **{**good, key: value})
        with pytest.raises(InputError, match="broken counts"):
            saved_counts(path)


def test_a_place_that_cannot_be_written_is_told_before_anything_is_scored(folder: Path, ledger_path: Path) -> None:
    for save, told in ((folder / "counts.txt", "expected such a name"), (folder / "no" / "counts.npz", "no folder")):
        with pytest.raises(InputError, match=told):
            size(folder / "my-test.conllu", files(folder), settings=FAST, save=save, look=Look(Ledger.at()))
    assert not ledger_path.exists()


def test_every_run_is_a_look_at_the_test_set_also_from_saved_counts(folder: Path) -> None:
    ledger, path = Ledger.at(), folder / "counts.npz"
    look = Look(ledger, purpose="how much is enough")
    found = size(folder / "my-test.conllu", files(folder), settings=FAST, save=path, look=look)
    (tally,) = found.looks
    assert (tally.looks, tally.systems, tally.predictions) == (5, ("good", "fair", "poor"), 5)
    assert found.to_dict()["looks"][0]["looks"] == 5
    (again,) = size_of_counts(path, settings=FAST, look=look).looks
    assert (again.looks, again.systems, again.predictions) == (10, ("good", "fair", "poor"), 5)
    ledger.guard(ledger.watched(deadheat.read(folder / "my-test.conllu"))[0], budget=12)
    with pytest.raises(InputError, match="5 looks asked for, 2 left of a budget of 12"):
        size_of_counts(path, settings=FAST, look=look)


def test_a_file_that_is_no_test_set_is_not_counted(folder: Path, ledger_path: Path) -> None:
    dev = folder / "my-dev.conllu"
    dev.write_bytes((folder / "my-test.conllu").read_bytes())
    path = folder / "counts.npz"
    assert size(dev, files(folder), settings=FAST, save=path, look=Look(Ledger.at())).looks == ()
    assert size_of_counts(path, settings=FAST, look=Look(Ledger.at())).looks == ()
    assert not ledger_path.exists()


def test_saved_counts_of_a_test_set_are_known_by_its_name_or_by_its_text(folder: Path, tmp_path: Path) -> None:
    dev, paths = folder / "my-dev.conllu", [folder / "test.npz", folder / "dev.npz"]
    dev.write_bytes((folder / "my-test.conllu").read_bytes())
    for gold, path in zip((folder / "my-test.conllu", dev), paths, strict=True):
        size(gold, files(folder), settings=FAST, save=path)  # no look is asked for
    by_name = Look(Ledger.at(tmp_path / "first.jsonl"))
    assert size_of_counts(paths[0], settings=FAST, look=by_name).looks[0].looks == 5
    by_text = Look(Ledger.at(tmp_path / "second.jsonl"))
    by_text.ledger.guard(Watched.of(deadheat.read(dev)))
    assert size_of_counts(paths[1], settings=FAST, look=by_text).looks[0].looks == 5


def listing(folder: Path, rows: list[str]) -> Path:
    path = folder / "sets.csv"
    path.write_text("\n".join(["set,gold,system,prediction", *rows]) + "\n")
    return path


def test_a_list_of_test_sets_gives_a_block_each_and_an_overall(folder: Path) -> None:
    other = generate("torukai", sentences=60, seed=0)
    (folder / "small.conllu").write_text(other, encoding="utf-8")
    rows = [f"velani,my-test.conllu,{name},{each.name}" for name, own in files(folder).items() for each in own]
    for name, uas in (("good", 0.92), ("fair", 0.88), ("poor", 0.80)):
        for seed in (0, 1) if name != "poor" else (0,):
            predicted = folder / f"small.{name}.{seed}.conllu"
            predicted.write_text(simulate(other, system(name, uas), seed=seed), encoding="utf-8")
            rows.append(f"torukai,small.conllu,{name},{predicted.name}")
    found = size_of_sets(listing(folder, rows), settings=FAST)
    assert [each.name for each in found.sets] == ["velani", "torukai"]
    assert found.overall is not None
    assert found.overall.scores_S == pytest.approx(np.mean([each.scores_S for each in found.sets], axis=0))
    assert found.overall.words == sum(each.words for each in found.sets)
    assert found.between_DD is not None
    assert found.between_DD.shape == (2, 2)
    assert found.between_DD[0, 0] == 1
    found = size_of_sets(listing(folder, rows[:-1]), settings=FAST)
    assert found.overall is None
    assert any(note.startswith("no overall") for note in found.notes)


def test_runs_may_have_gold_files_of_their_own_if_the_sentences_are_the_same(folder: Path) -> None:
    gold = folder / "my-test.conllu"
    own = folder / "own.conllu"
    own.write_text(gold.read_text(encoding="utf-8").replace("\tNOUN\t", "\tX\t"), encoding="utf-8")
    rows = ["v,my-test.conllu,good,good.run1.conllu", "v,own.conllu,fair,fair.run1.conllu"]
    found = size_of_sets(listing(folder, rows), settings=FAST, metric="upos")
    expected = [
        deadheat.score(path, folder / f"{name}.run1.conllu", metrics=["upos"])["upos"].value
        for path, name in ((gold, "good"), (own, "fair"))
    ]
    assert found.sets[0].scores_S == pytest.approx(expected, abs=1e-11)
    assert expected[1] < 0.9
    own.write_text(generate("velani", sentences=190, seed=0), encoding="utf-8")
    with pytest.raises(InputError, match="other sentences than"):
        size_of_sets(listing(folder, rows), settings=FAST, align_by="text")


def test_a_list_with_mistakes_is_told_with_its_line(folder: Path) -> None:
    with pytest.raises(InputError, match=r"sets.csv:3: no system; expected set, gold, system, prediction"):
        size_of_sets(listing(folder, ["v,my-test.conllu,good,good.run1.conllu", "v,my-test.conllu,,fair.run1.conllu"]))
    with pytest.raises(InputError, match="v: 1 system; expected at least two to rank"):
        size_of_sets(listing(folder, ["v,my-test.conllu,good,good.run1.conllu"]))
    path = folder / "sets.csv"
    path.write_text("set,gold,parser,prediction\nv,a,b,c\n")
    with pytest.raises(InputError, match="column 'system' is unknown"):
        size_of_sets(path)


def test_published_sizes_stand_beside_the_answer(text: str, runs: dict[str, list[str]]) -> None:
    assert beside_published(2_000) == (
        "that is as much as 2,000, less than 5,000 and less than 10,000 (van der Goot et al. 2024)"
    )
    corpora = {name: own[0] for name, own in read_all(runs).items()}
    found = size(deadheat.read(text=text), corpora, settings=SizeSettings((500, 2000), ways=("rand",), draws=9))
    rows = found.published(found.sets[0])
    assert [row["words"] for row in rows] == [2000, 5000, 10000]
    point = found.sets[0].curves[0].points[1]
    assert rows[0]["rand"] == {"tau": point.mean, "share": point.reached(0.9) / 9}
    assert rows[1]["rand"] is None


def test_one_sample_makes_no_claim(text: str, runs: dict[str, list[str]]) -> None:
    corpora = {name: own[0] for name, own in read_all(runs).items()}
    gold = deadheat.read(text=text)
    found = size(gold, corpora, settings=SizeSettings((300, 500), ways=("seq", "rand"), draws=40, threshold=-0.99))
    seq, rand = found.to_dict()["sets"][0]["ways"]
    assert (seq["enough"], seq["reason"]) == (None, "one sample only")
    tau = found.sets[0].curves[0].points[1].mean
    assert seq["answer"] == (
        f"seq: one sample only; no claim; at 500 words tau with the ranking on all {gold.words:,} words is {tau:.3f}"
    )
    assert (rand["enough"], rand["reason"]) == (300, None)
    assert "in 40 of 40 draws (91 to 100 %), and stays so" in rand["answer"]  # Wilson: 40 / (40 + 1.96^2) = 0.912
    assert found.to_dict()["enough_in_every_set"] == {"seq": None, "rand": 300}


def test_no_size_that_is_enough_is_told_with_the_interval_of_the_share(text: str, runs: dict[str, list[str]]) -> None:
    same = {name: deadheat.read(text=runs["good"][0]) for name in ("a", "b")}
    found = size(deadheat.read(text=text), same, settings=SizeSettings((50,), ways=("rand",), draws=40))
    (rand,) = found.to_dict()["sets"][0]["ways"]
    assert (rand["enough"], rand["reason"]) == (None, "no size tried is enough")
    assert rand["answer"].endswith("in 0 of 40 draws (0 to 9 %)")


def test_more_than_half_of_everything_is_told_to_be_so(text: str, runs: dict[str, list[str]]) -> None:
    corpora = {name: own[0] for name, own in read_all(runs).items()}
    gold = deadheat.read(text=text)
    most = gold.words * 2 // 3
    found = size(gold, corpora, settings=SizeSettings((most,), ways=("rand",), draws=9, threshold=0.1))
    assert "like it by construction" in found.answers(found.sets[0])[0]
    assert any("--against rest" in note for note in found.notes)
    less = size(gold, corpora, settings=SizeSettings((most // 2,), ways=("rand",), draws=9, threshold=-0.99))
    assert "by construction" not in less.answers(less.sets[0])[0]
    rest = size(gold, corpora, settings=SizeSettings((most // 2,), ways=("rand",), draws=9, against="rest"))
    assert not any("--against rest" in note for note in rest.notes)


def test_level_systems_have_no_ranking_and_that_is_told(text: str, runs: dict[str, list[str]]) -> None:
    same = deadheat.read(text=runs["good"][0])
    found = size(deadheat.read(text=text), {"a": same, "b": same}, settings=FAST)
    assert any("all systems are level on everything" in note for note in found.notes)
    assert all(math.isnan(point.mean) for curve in found.sets[0].curves for point in curve.points)
    assert found.enough_everywhere("rand") is None


def test_a_study_becomes_latex_and_a_line_to_quote(text: str, runs: dict[str, list[str]]) -> None:
    found = size(deadheat.read(text=text), read_all(runs), settings=FAST)
    assert found.to_latex().count("\\\\") == 4
    assert "& 50 & 500" in found.to_latex()
    assert str(found).endswith(found.signature)
    assert "las.v1 | align text | 1 test set, 5 runs | seeds average | weighted tau against all" in found.signature
