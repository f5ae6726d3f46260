"""The counts of the official Universal Dependencies evaluation, exactly: its program runs beside ours."""

import gzip
import json
from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.errors import AlignmentError
from deadheat.metrics import align
from tests.metrics.oracle import NAMES, Table, UDError, differences, official, ours, parsed
from tests.metrics.random_pairs import random_pair

CASES = 73
FAST, SLOW = 400, 4000

# Other tags, several roots, non-Latin scripts; the pointer's unknown words; files of all three parsers.
SAMPLE = (
    "gold-pos/en_ewt/biaffine.run1",
    "gold-pos/ta_ttb/pointer.run2",
    "gold-pos/wo_wtb/bracketing.run3",
    "predicted-pos/he_htb/biaffine.run2",
    "predicted-pos/ru_gsd/bracketing.run1",
    "predicted-pos/ta_ttb/biaffine.run1",
    "predicted-pos/ug_udt/pointer.run3",
    "predicted-pos/wo_wtb/pointer.run1",
)


def test_the_hand_made_cases_have_the_counts_that_the_evaluator_had(shared_data: Path) -> None:
    cases = json.loads((shared_data / "scoring" / "eval_cases.json").read_text())
    assert len(cases) == CASES
    for case in cases:
        result = ours(align(parsed(case["gold"]), parsed(case["system"])))
        assert result == {name: tuple(case["counts"][name]) for name in NAMES}, case["name"]


def compare(seeds: range) -> list[tuple[Table, bool]]:
    """Compare random pairs; the counts of each, and whether its words are the same on both sides."""
    seen = []
    for seed in seeds:
        gold, predicted = random_pair(seed)
        pair = align(parsed(gold), parsed(predicted))
        result = ours(pair)
        assert result == official(gold, predicted), f"random_pair({seed})\n{gold}against\n{predicted}"
        seen.append((result, pair.same_words))
    return seen


def test_random_pairs_have_the_evaluators_counts() -> None:
    seen = compare(range(FAST))
    # The pairs are worth something only if they differ in all that is counted, and not in everything.
    for name in NAMES:
        partly = sum(0 < counts[name][0] < counts[name][1] for counts, _ in seen)
        assert partly > FAST / 8, f"{name} is all right or all wrong in all but {partly}"
        others = sum(counts[name][1] != counts[name][2] for counts, _ in seen)
        assert others > FAST / 8, f"{name} has equal totals in all but {others}"
    assert sum(counts["ELAS"][0] > counts["ELAS"][1] for counts, _ in seen) > 0
    imperfect = [same for counts, same in seen if counts["AllTags"][0] < counts["AllTags"][1]]
    assert FAST / 8 < sum(imperfect) < len(imperfect) - FAST / 8


@pytest.mark.slow
def test_many_random_pairs_have_the_evaluators_counts() -> None:
    compare(range(FAST, SLOW))


def unzipped(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def gold_of(prediction: Path) -> Path:
    parser = prediction.name.removeprefix("gold.").partition(".")[0]
    return prediction.with_name(f"gold.{parser}.conll.gz")


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_real_predictions_have_the_evaluators_counts(shared_data: Path, name: str) -> None:
    prediction = shared_data / "predictions" / f"{name}.conll.gz"
    assert differences(unzipped(gold_of(prediction)), unzipped(prediction)) == {}


@pytest.mark.slow
def test_all_real_predictions_have_the_evaluators_counts(shared_data: Path) -> None:
    files = sorted((shared_data / "predictions").glob("*/*/*.conll.gz"))
    assert len(files) == 144
    for file in files:
        assert differences(unzipped(gold_of(file)), unzipped(file)) == {}, file


def test_words_replaced_by_unknown_are_refused_by_text_and_counted_by_position(shared_data: Path) -> None:
    folder = shared_data / "predictions" / "gold-pos" / "wo_wtb"
    files = [folder / f"{name}.conll.gz" for name in ("gold.biaffine", "pointer.run1")]
    gold, predicted = (unzipped(file) for file in files)
    sides = [read(file, format="conllu", lenient=["multiple-roots"]) for file in files]
    with pytest.raises(UDError, match="differ"):
        official(gold, predicted)
    with pytest.raises(AlignmentError, match="the text differs from"):
        align(*sides)
    pair = align(*sides, by="position")
    assert ours(pair) == official(gold, with_forms_of(gold, predicted))


def with_forms_of(gold: str, predicted: str) -> str:
    """A prediction with the gold file's words, so that the evaluator can align it."""
    lines = []
    for theirs, line in zip(gold.split("\n"), predicted.split("\n"), strict=True):
        form, fields = theirs.split("\t")[1:2], line.split("\t")
        lines.append("\t".join([*fields[:1], *form, *fields[2:]]))
    return "\n".join(lines)
