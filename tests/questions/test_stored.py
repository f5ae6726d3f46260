"""What is worked out from a store is what the commands say of its tables, and odd stores are read too."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from deadheat.questions.chosen_scores import Chosen
from deadheat.questions.sources import Stored
from deadheat.questions.stored import stored

from deadheat.documents import Document, plain
from deadheat.errors import InputError
from deadheat.questions.size import size
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.questions.report_cases import CORPORA, LABEL, Made, Ran, grid, made_store
from tests.questions.report_cases import ran as ran

METRIC = "accuracy.v1"
LABELS = ["unigram", LABEL, "seeded", "short", "broken"]


@pytest.fixture(scope="module")
def found(ran: Ran) -> Stored:
    return stored(ran.store, ledger=ran.ledger)


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def document(found: Stored, kind: str) -> Document:
    (only,) = [each for each in found.documents if each["kind"] == kind]
    return only


def exported(ran: Ran, folder: Path, commands: Commands) -> pl.DataFrame:
    """What `deadheat export` writes of the test scores on standard splits, under labels, in the study's order."""
    assert commands("export", ran.store, "--out", folder / "all.csv").code == 0
    labels = ran.conducted.to_dict()["systems"]
    order = {name: place for place, name in enumerate([*CORPORA, *LABELS])}
    places = (pl.col(name).replace_strict(order, return_dtype=pl.Int64) for name in ("corpus", "system"))
    own = pl.col("part") == "test", pl.col("metric") == METRIC, pl.col("split") == "standard.v1"
    frame = pl.read_csv(folder / "all.csv").filter(*own).with_columns(pl.col("system").replace(labels))
    return frame.sort([*places, "seed"])


def test_seeds_are_as_the_command_says_of_the_exported_table(
    ran: Ran, found: Stored, tmp_path: Path, commands: Commands
) -> None:
    frame = exported(ran, tmp_path, commands)
    frame.select("corpus", "system", "seed", score="value").write_csv(tmp_path / "runs.csv")
    chosen = ["--where", "system=seeded", "--where", "system=short", "--ignore", "seed"]
    said = commands("seeds", tmp_path / "runs.csv", "--score", "score", "--by", "corpus", *chosen, "--json")
    expected = json.loads(said.out)
    notes = [*expected["notes"], "runs are those on the first split of each corpus (standard.v1)"]
    assert document(found, "seeds") == expected | {"part": "test", "metric": METRIC, "notes": notes}
    assert [block["by"] for block in expected["blocks"]] == list(CORPORA)
    assert [note for note in found.notes if "nothing is said of" in note] == [
        f"over seeds nothing is said of unigram, {LABEL}: one run each"
    ]


def test_the_ranking_is_as_the_command_says_of_the_exported_means(
    ran: Ran, found: Stored, tmp_path: Path, commands: Commands
) -> None:
    frame = exported(ran, tmp_path, commands)
    means = frame.group_by("system", "corpus").agg(score=pl.col("value").mean()).sort("system", "corpus")
    path = tmp_path / "means.csv"
    means.with_columns(metric=pl.lit(METRIC)).write_csv(path)
    ranked = json.loads(commands("rank", path, "--metric", METRIC, "--samples", "100000", "--json").out)
    assert document(found, "rank") == ranked | {"part": "test"}
    assert len(ranked["systems"]) == 4  # what failed everywhere is not ranked
    assert ranked["data_sets"] == 5
    assert "no test over corpora: 5 are too few for any of 6 differences to be significant at 0.05" in found.notes


def test_tests_over_corpora_are_as_the_command_says_of_the_exported_scores(tmp_path: Path, commands: Commands) -> None:
    path = made_store(tmp_path / "a.sqlite", grid(2, 6))
    assert commands("export", path, "--out", tmp_path / "scores.csv").code == 0
    said = commands("compare", "--scores", tmp_path / "scores.csv", "--metric", METRIC, "--json")
    expected = json.loads(said.out)
    assert document(stored(path), "compare") == expected | {"part": "test", "scale": 100.0}
    assert expected["unit"] == "data set"


def test_sizes_are_as_from_gold_and_the_predictions_in_the_store(ran: Ran, found: Stored, tmp_path: Path) -> None:
    labels = ran.conducted.to_dict()["systems"]
    with Store.read(ran.store) as store:
        runs = store.runs().filter(corpus="zeta", split="standard.v1", status="done")
        runs = runs.sort(pl.col("system").replace_strict(dict(zip(labels, range(5), strict=True))), "seed")
        systems: dict[str, list[str]] = {}
        for key, system in runs.select("key", "system").iter_rows():
            path = tmp_path / f"{key}.conllu"
            path.write_bytes(store.prediction(key, "test"))
            systems.setdefault(labels[system], []).append(str(path))
    gold = ran.path.parent / "corpus0" / "x-ud-test.conllu"
    expected = plain(size(gold, systems, metric="accuracy").to_dict())["sets"][0]
    sets = document(found, "size")["sets"]
    assert sets[0] == expected | {"set": "zeta"}
    assert [each["set"] for each in sets] == list(CORPORA)


def test_looks_are_as_the_ledger_says(ran: Ran, found: Stored, commands: Commands) -> None:
    said = json.loads(commands("ledger", "--ledger", ran.ledger.path, "--json").out)
    assert document(found, "ledger")["test_sets"] == said["test_sets"]
    assert len(said["test_sets"]) == 7  # five standard ones, and two random ones of the first corpus


def test_the_study_is_as_the_command_printed_it(ran: Ran, found: Stored) -> None:
    assert found.study == plain(ran.conducted.to_dict())
    assert found.study is not None
    assert found.name == "small study"
    assert str(found) == "small study: 56 cells done, 7 failed"
    why = "InputError: command.v1: predict command: false\n  failed with exit code 1, and said nothing"
    assert [(each["system"], each["error"]) for each in found.study["failed"]] == [("broken", why)] * 7
    assert set(found.scores["system"]) == set(LABELS[:-1])


@pytest.fixture
def copied(ran: Ran, tmp_path: Path) -> Path:
    """The store, to be spoiled."""
    return Path(shutil.copy(ran.store, tmp_path / "copy.sqlite"))


def altered(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


def test_cells_of_another_study_in_the_same_store_are_left_out_and_told(found: Stored, copied: Path) -> None:
    with Store.open(copied) as store:
        store.add(Made("stranger.v1", "elsewhere", 0.1).outcome())
        store.add(Made("stranger.v1", "elsewhere", status="failed", seed=1).outcome())
    mixed = stored(copied)
    assert mixed.documents == found.documents[:-1]  # no ledger was given
    assert mixed.scores.equals(found.scores)
    assert mixed.runs.equals(found.runs)
    assert mixed.provenance == found.provenance
    assert mixed.notes[0] == (
        "the store has 2 cells more: of another study, or run since this one's end; nothing here is about them"
    )


def test_a_study_that_was_killed_is_read_without_its_end(found: Stored, copied: Path) -> None:
    cut = stored(altered(copied, "DELETE FROM results"))
    assert cut.study is None
    assert str(cut) == "copy: 56 cells done, 7 failed; not come to its end"
    assert [each["kind"] for each in cut.documents] == ["seeds", "rank", "size"]
    assert {each["system"] for each in document(cut, "rank")["systems"]} == {
        "unigram.v1", "hmm.v1", "perceptron.v1(epochs=2)", "perceptron.v1(epochs=1)"
    }  # fmt: skip
    assert document(cut, "rank")["tau"] == document(found, "rank")["tau"]


def test_an_older_layout_is_read(copied: Path) -> None:
    first = ("DROP TABLE results", "ALTER TABLE runs DROP COLUMN setup", "PRAGMA user_version=1")
    old = stored(altered(copied, *first))
    assert old.study is None
    assert [each["kind"] for each in old.documents] == ["seeds", "rank", "size"]


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The store with another result."""
    with Store.open(path) as store:
        result = store.result()
        assert result is not None
        change(result)
        store.set_result(result)
    return path


def test_a_result_of_an_older_version_is_completed(found: Stored, copied: Path) -> None:
    def forget(result: dict[str, Any]) -> None:
        for key in ("systems", "seeds", "corpora", "strategies", "cells", "failed", "test_sets", "keys"):
            del result[key]
        for block in result["blocks"]:
            for key in ("numbers", "train_words", "agreement"):
                del block[key]
            for each in block["systems"]:
                del each["by_split"]

    old = stored(rewritten(copied, forget))
    assert old.study is not None
    random = next(block for block in old.study["blocks"] if block["split"].startswith("random"))
    assert random["numbers"] == [0, 1]
    assert (random["train_words"], random["agreement"]) == ((), ())
    assert [each["by_split"] for each in random["systems"]] == [[None, None]] * 8
    assert random["pairs"] == next(b for b in found.study["blocks"] if b["split"] == random["split"])["pairs"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda result: result.pop("blocks"), "the study of its result has no blocks"),
        (lambda result: result["blocks"][0].pop("part"), "a block of its result has no part"),
        (lambda result: result["blocks"][0]["systems"][0].pop("mean"), "a system of its result has no mean"),
        (lambda result: result["blocks"][0]["pairs"][0].pop("ahead"), "a pair of its result has no ahead"),
        (lambda result: result["blocks"][0]["agreement"][0].pop("oracle"), "an agreement of its result has no oracle"),
        (lambda result: result["blocks"].__setitem__(0, "text"), "a block of its result has no corpus"),
    ],
)
def test_a_result_that_nobody_wrote_is_refused(copied: Path, change: Callable[..., Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        stored(rewritten(copied, change))
    assert str(refused.value).startswith(f"{copied}: {told}; expected deadheat run")


def test_a_broken_result_is_refused(copied: Path) -> None:
    with pytest.raises(InputError, match="broken"):
        stored(altered(copied, "UPDATE results SET text = '[1]'"))


def test_a_ledger_that_cannot_be_read_is_told(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    told = stored(ran.store, ledger=Ledger.at(tmp_path / "folder.jsonl"))
    assert told.notes[-1].startswith("how often the test sets were looked at cannot be told: ")
    assert "ledger" not in [each["kind"] for each in told.documents]


def kinds(path: Path) -> list[str]:
    return [each["kind"] for each in stored(path).documents]


def test_one_system_has_nothing_to_be_ranked_with(tmp_path: Path) -> None:
    assert kinds(made_store(tmp_path / "a", grid(1, 6))) == []
    assert kinds(made_store(tmp_path / "b", grid(1, 6, seeds=3))) == ["seeds"]


def test_one_corpus_has_seeds_and_no_ranking(tmp_path: Path) -> None:
    (seeds,) = stored(made_store(tmp_path / "a", grid(3, 1, seeds=4))).documents
    assert [[each["n"] for each in block["systems"]] for block in seeds["blocks"]] == [[4, 4, 4]]


def test_dev_is_taken_where_there_is_no_test(tmp_path: Path) -> None:
    cells = [Made(each.system, each.corpus, each.value, part="dev") for each in grid(2, 6)]
    found = stored(made_store(tmp_path / "a", cells))
    assert [(each["kind"], each["part"]) for each in found.documents] == [("rank", "dev"), ("compare", "dev")]


@pytest.mark.parametrize(
    ("systems", "corpora", "found"),
    [(2, 2, []), (2, 3, ["rank"]), (2, 5, ["rank"]), (2, 6, ["rank", "compare"]), (3, 6, ["rank"]),
     (3, 7, ["rank", "compare"])],
)  # fmt: skip
def test_corpora_are_tested_over_if_the_test_could_find_anything(
    systems: int, corpora: int, found: list[str], tmp_path: Path
) -> None:
    """The least p-value is 2 / 2^n, times the pairs: 2/32 is above 0.05, 2/64 is not; 3 * 2/64 is, 3 * 2/128 is not."""
    assert kinds(made_store(tmp_path / "a", grid(systems, corpora))) == found


def test_an_empty_store_has_nothing_to_say(tmp_path: Path) -> None:
    empty = stored(made_store(tmp_path / "a", []))
    assert (empty.documents, empty.notes, str(empty)) == ((), (), "a: 0 cells done; not come to its end")
    failed = stored(made_store(tmp_path / "b", [Made("s.v1", status="killed")]))
    assert (failed.documents, str(failed)) == ((), "b: 0 cells done, 1 failed; not come to its end")


def test_a_store_that_is_being_written_to_is_read(tmp_path: Path) -> None:
    path = made_store(tmp_path / "a", grid(2, 3))
    with Store.open(path) as writing:
        writing.add(Made("late.v1", "corpus 00").outcome())
        assert str(stored(path)) == "a: 7 cells done; not come to its end"


def test_scores_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    whole = grid(2, 7)
    spoiled = [Made(each.system, each.corpus, None) if place == 4 else each for place, each in enumerate(whole)]
    rank, compare = stored(made_store(tmp_path / "a", spoiled)).documents
    assert rank["data_sets"] == 6
    assert rank["notes"] == compare["notes"] == ["1 data set without a score of every system left out"]
    nothing = [Made(each.system, each.corpus, None) for each in whole]
    assert kinds(made_store(tmp_path / "b", nothing)) == []


def test_too_few_common_corpora_are_told(tmp_path: Path) -> None:
    cells = [Made("a.v1", f"c{place}") for place in range(4)] + [Made("b.v1", "c0", 0.8)]
    told = "no ranking over corpora: of 4, 1 have a score of every system; expected at least 3"
    assert stored(made_store(tmp_path / "a", cells)).notes == (told,)


@pytest.mark.parametrize(("words", "found"), [(100, []), (110, ["size"])])
def test_a_tiny_test_set_is_not_sampled(words: int, found: list[str], tmp_path: Path) -> None:
    cells = [Made(f"{name}.v1", value=0.9, words=words) for name in "abc"]
    assert kinds(made_store(tmp_path / "a", cells)) == found


def test_the_level_is_that_of_the_study(tmp_path: Path) -> None:
    result = {"kind": "study", "study": "strict", "alpha": 0.01, "correction": "none", "blocks": []}
    (seeds,) = stored(made_store(tmp_path / "a", grid(2, 1, seeds=2), result)).documents
    _, compare = stored(made_store(tmp_path / "b", grid(2, 8), result)).documents
    assert seeds["alpha"] == compare["alpha"] == 0.01


def test_what_is_too_much_for_a_page_is_told(tmp_path: Path) -> None:
    many = stored(made_store(tmp_path / "a", grid(2, 7, seeds=2)))
    assert [each["kind"] for each in many.documents] == ["rank", "compare"]
    assert many.notes == (
        "distributions over seeds are shown of 6 corpora at most, and there are 7; deadheat seeds has no such limit",
    )
    wide = stored(made_store(tmp_path / "b", grid(9, 1, seeds=2)))
    (block,) = wide.documents[0]["blocks"]
    assert [each["system"] for each in block["systems"]] == [f"s{number:02}.v1" for number in range(8)]
    assert wide.notes == (
        "over seeds the 8 systems of the highest mean are compared, of 9; p-values are corrected for their pairs "
        "alone; deadheat seeds has no such limit",
    )
    crowd = stored(made_store(tmp_path / "c", grid(41, 3)))
    assert len(crowd.documents[0]["systems"]) == 40
    assert crowd.notes[0].startswith("over corpora the 40 systems of the highest mean are ranked and compared, of 41;")


def test_what_is_too_much_to_sample_is_told(tmp_path: Path) -> None:
    cells = [
        Made(f"s{system}.v1", f"c{corpus}", 0.9, seed=seed, words=110)
        for system in range(9)
        for corpus in range(7)
        for seed in range(6 if system == corpus == 0 else 2 if corpus == 0 else 1)
    ]
    found = stored(made_store(tmp_path / "a", cells))
    document = next(each for each in found.documents if each["kind"] == "size")
    assert [each["set"] for each in document["sets"]] == [f"c{corpus}" for corpus in range(6)]
    told = [note for note in found.notes if note.startswith(("how much", "almost"))]
    assert told == [
        "how much test data is enough is worked out from 5 runs a system, and some have more; deadheat size has no "
        "such limit",
        "how much test data is enough is worked out for 6 corpora, the first of 7; deadheat size has no such limit",
        "almost stochastic order by the size of the test set: of 8 systems at most",
    ]


def test_the_standard_split_is_chosen_before_others_and_one_seed_of_splits() -> None:
    rows = [("a", "x", "random.v1", 0, 0), ("b", "x", "standard.v1", 0, 0), ("c", "y", "random.v1", 5, 0),
            ("d", "y", "random.v1", 2, 0), ("e", "y", "random.v1", 2, 1), ("f", "y", "zebra.v1", 0, 0)]  # fmt: skip
    names = ("key", "corpus", "split", "split_seed", "number")
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        system=pl.lit("s"), part=pl.lit("test"), metric=pl.lit("m"), value=pl.lit(0.5), seed=pl.lit(0)
    )
    chosen = Chosen.of("here", frame)
    assert chosen is not None
    assert chosen.scores["key"].to_list() == ["b", "d", "e"]
    assert chosen.first_splits()["key"].to_list() == ["b", "d"]


def test_the_order_in_which_cells_were_ready_changes_nothing(tmp_path: Path) -> None:
    cells = grid(2, 3, seeds=2)
    forth = stored(made_store(tmp_path / "a", cells))
    back = stored(made_store(tmp_path / "b", cells[::-1]))
    assert forth.documents == back.documents
