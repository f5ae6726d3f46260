"""The checklist says what is known, and where it does not know says that."""

from typing import Any

import pytest

from deadheat.errors import InputError
from deadheat.paper.checklist import UNKNOWN, Item, checklist
from deadheat.paper.checklist_answers import Compute
from tests.paper import documents
from tests.paper.documents import HOSTILE, LOOK, Document, twenty_splits
from tests.paper.test_tables import DOCUMENTS, renamed

MADE_WITH = {
    "deadheat": "0.1.0", "python": "3.12.1", "numpy": "2.1.0", "platform": "Linux-6.1-x86_64", "processors": 8,
    "host": "secret-machine", "user": "somebody", "revision": "abc123", "changed": True,
}  # fmt: skip


def items(*found: Document, **more: Any) -> dict[str, Item]:
    return {item.topic: item for item in checklist(found, **more).items}


def test_a_study_answers_what_it_knows() -> None:
    failed = [{"system": "lookahead", "corpus": "velani", "status": "timed out", "error": "ran past 10 s"}]
    tests = [{"name": "velani, random 0, test", "hash": "0123456789abcdef"}]
    note = "dev was used in training lookahead, so that scores on it are too good to compare by"
    found = items(
        twenty_splits(missing=1, failed=failed, test_sets=tests, notes=[note]),
        provenance=[MADE_WITH],
        compute=Compute(runs=39, cpu_s=7200.0, wall_s=9000.0, peak_mb=512.0),
    )
    assert found["Data"].known == (
        "velani: 600 sentences, 9,544 words",
        "test set velani, random 0, test: hash 0123456789ab",
    )
    assert found["Splits"].known == (
        "velani: 20 random splits by document (80/10/10 by words, stratified by genre; seed 0) "
        "(random.v1(unit='document', stratify='genre'))",
    )
    assert found["Systems"].known == (
        "lookahead: lookahead.v1, all other settings as by default",
        "loglinear: loglinear.v1(l2=0.5), all other settings as by default",
    )
    assert found["Seeds"].known == ("lookahead: seed 0", "loglinear: seed 0")
    assert found["Runs"].known[0] == "40 runs planned, 1 without a result"
    assert found["Selection"].known == (note,)
    assert found["Metrics"].known == ("Accuracy (upos) (accuracy.v1)",)
    assert found["Variation"].known == ("velani, test: mean, standard deviation, least and most over runs",)
    assert found["Tests"].known == (
        "McNemar's test (mid-p) on words, alpha 0.05, p-values corrected by Bonferroni's method for 20 splits",
    )
    assert found["Compute"].known == (
        "39 runs: 2.0 hours of CPU time",
        "2.5 hours if run one after the other",
        "at most 512 MB of memory a run",
        "Linux-6.1-x86_64, 8 processors",
    )
    assert found["Software"].known == ("deadheat 0.1.0, python 3.12.1, numpy 2.1.0",)
    assert found["Code"].known == ("revision abc123, with changes that were not committed",)
    assert found["Left out"].known == ("1 run without a result", "lookahead on velani: timed out (ran past 10 s)")


def test_nobody_is_named() -> None:
    told = checklist([twenty_splits()], provenance=[MADE_WITH]).markdown
    assert "secret-machine" not in told
    assert "somebody" not in told


def test_what_is_not_known_is_said_and_not_guessed() -> None:
    found = items()
    assert all(not item.known and item.unknown for item in found.values())
    told = checklist([]).markdown
    assert told.count(f"- *{UNKNOWN}*: ") == len(found) == 15


def test_an_answer_that_is_whole_leaves_nothing_to_fill_in() -> None:
    found = items(twenty_splits(), compute=Compute(1, 2.0))
    assert not any(
        found[topic].unknown for topic in ("Splits", "Systems", "Seeds", "Runs", "Metrics", "Tests", "Compute")
    )
    assert all(found[topic].unknown for topic in ("Data", "Preprocessing", "Selection", "Test sets", "Software"))


def test_predictions_from_elsewhere_are_not_known_systems() -> None:
    found = items(documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.01}, tied=["A"], looks=[LOOK]))
    assert found["Systems"].known == ("predictions or scores were given of A and B",)
    assert found["Systems"].unknown == "how these were made, with all their settings"
    assert found["Preprocessing"].known == ("words of gold and predictions were aligned by text",)
    assert found["Tests"].known == ("the exact permutation test by sentence, alpha 0.05, p-values of a single test",)
    assert found["Test sets"].known[0].startswith("By the ledger the test set velani-test was evaluated 6 times")
    assert found["Data"].known == ("test set velani-test: hash e62ec0ccdf94",)


def test_a_study_that_came_to_its_end_says_that_nothing_failed() -> None:
    assert items(twenty_splits())["Left out"].known == ("every run that was planned has a result",)
    unknown = {key: value for key, value in twenty_splits().items() if key not in ("missing", "failed")}
    assert items(unknown)["Left out"].known == ()


def test_notes_are_handed_on_once() -> None:
    found = items(documents.ranking(notes=["2 data sets left out"]), documents.ranking(notes=["2 data sets left out"]))
    assert found["Left out"].known == ("2 data sets left out",)


@pytest.mark.parametrize("hostile", [*HOSTILE, "**bold**", "[x](javascript:alert(1))", "# head", "`code`", "&lt;"])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_hostile_names_mean_nothing_to_markdown(kind: str, hostile: str) -> None:
    used = ("A", "a_b", "graph", "Soft_max", "velani", "velani-test", "decoder", "LAS", "ner")
    told = checklist([renamed(DOCUMENTS[kind], dict.fromkeys(used, hostile))]).markdown
    assert "<script" not in told
    lines = told.splitlines()
    assert sum(line.startswith("## ") for line in lines) == 15
    assert sum(line.startswith("# ") for line in lines) == 1
    for line in lines:
        assert line == "" or line.startswith(("# ", "## ", "- ", "*", "Answered"))
    if hostile == "**bold**" and kind == "compare":
        assert r"\*\*bold\*\*" in told


def test_a_document_of_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError):
        checklist([{"kind": "other"}])
