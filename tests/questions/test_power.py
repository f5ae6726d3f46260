"""Power of predictions and of assumptions."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.corpus import Corpus, read
from deadheat.errors import InputError
from deadheat.questions.power import assumed_power, power

RNG = np.random.default_rng(0)
GOLD_ROWS = ["".join(RNG.choice(list("XYZ"), size)) for size in RNG.integers(2, 9, 120)]


def tagged(rows: list[str], documents: int = 0) -> Corpus:
    """Sentences whose words are all `w`, each character a tag; so many documents of equal numbers of sentences."""
    lines = []
    for number, row in enumerate(rows):
        if documents and number * documents % len(rows) < documents:
            lines.append(f"# newdoc id = {number}")
        lines += [f"{at}\tw\t_\t{tag}\t_\t_\t{at - 1}\tdep\t_\t_" for at, tag in enumerate(row, start=1)]
        lines.append("")
    return read(text="\n".join(lines) + "\n", format="conllu")


def noisy(seed: int, errors: float, *, clustered: bool = False) -> Corpus:
    """Predictions with errors; clustered ones come in documents of ten sentences that are all right or all wrong."""
    rng = np.random.default_rng(seed)
    rates = np.repeat(rng.random(12) < errors, 10) if clustered else np.full(120, errors)
    return tagged(
        [
            "".join("N" if rng.random() < rate else tag for tag in row)
            for row, rate in zip(GOLD_ROWS, rates, strict=True)
        ]
    )


GOLD, MARKED = tagged(GOLD_ROWS), tagged(GOLD_ROWS, documents=12)
GOOD, TWIN, BAD = noisy(1, 0.05), noisy(2, 0.05), noisy(3, 0.35)


def test_power_depends_on_the_difference_asked_for_and_not_on_the_observed_one() -> None:
    near, far = (power(GOLD, {"a": GOOD, "b": TWIN}, difference=points, metric="upos") for points in (1, 5))
    assert near.power < 0.3 < 0.9 < far.power
    assert (near.error, near.smallest) == (far.error, far.smallest)
    swapped = power(GOLD, {"b": TWIN, "a": GOOD}, difference=-1, metric="upos")
    assert swapped.power == near.power
    assert power(GOLD, {"a": GOOD, "b": BAD}, difference=1, metric="upos").power < 0.2


def test_documents_vary_where_several_are_marked() -> None:
    systems = {"a": noisy(4, 0.5, clustered=True), "b": TWIN}
    by_document, by_sentence = (
        power(MARKED, systems, difference=5, metric="upos", unit=unit) for unit in ("auto", "sentence")
    )
    assert (by_document.unit, by_document.units) == ("document", 12)
    assert (by_sentence.unit, by_sentence.units) == ("sentence", 120)
    assert by_document.design_effect == by_sentence.design_effect > 3
    assert by_document.error**2 / by_sentence.error**2 == pytest.approx(by_document.design_effect)
    few = power(tagged(GOLD_ROWS, documents=2), systems, difference=5, metric="upos")
    assert (few.unit, few.units) == ("document", 2)
    one = power(tagged(GOLD_ROWS, documents=1), systems, difference=5, metric="upos")
    assert (one.unit, np.isnan(one.design_effect)) == ("sentence", True)


def test_a_planned_test_set_is_measured_in_its_own_unit() -> None:
    systems = {"a": GOOD, "b": TWIN}
    now = power(MARKED, systems, difference=5, metric="upos")
    larger = power(MARKED, systems, difference=5, metric="upos", documents=48)
    assert larger.units == 48
    assert larger.error == pytest.approx(now.error / 2)
    explicit = power(MARKED, systems, difference=5, metric="upos", unit="document", units=48)
    assert explicit.error == larger.error
    with pytest.raises(InputError, match="expected --documents N, or --unit sentence"):
        power(MARKED, systems, difference=5, metric="upos", units=500)
    with pytest.raises(InputError, match="beside units; expected one size"):
        power(MARKED, systems, difference=5, metric="upos", unit="document", units=9, documents=9)


def test_more_runs_reduce_the_error_and_the_needed_units_have_the_target_power() -> None:
    systems = {"a": [noisy(10 + i, 0.05 + 0.01 * i) for i in range(4)], "b": [noisy(20 + i, 0.05) for i in range(3)]}
    now, more = (power(GOLD, systems, difference=2, metric="upos", runs=runs) for runs in (None, 12))
    assert (now.runs, now.measured_runs, more.runs) == ((4, 3), (4, 3), (12, 12))
    assert more.error < now.error
    assert more.power > now.power
    needed = power(GOLD, systems, difference=2, metric="upos", runs=12, units=int(more.needed))
    fewer = power(GOLD, systems, difference=2, metric="upos", runs=12, units=int(more.needed) - 1)
    assert fewer.power < 0.8 <= needed.power
    assert more.needed_low < more.needed < more.needed_high


def test_assumed_power_agrees_with_its_simulation() -> None:
    assumed = assumed_power(1000, 0.95, 0.93, agreement=0.96)
    assert assumed.power == pytest.approx(assumed.simulated, abs=0.03)
    clustered = assumed_power(1000, 0.95, 0.93, agreement=0.96, design_effect=4)
    assert clustered.power == assumed_power(250, 0.95, 0.93, agreement=0.96).power
    assert clustered.needed == pytest.approx(4 * assumed.needed, abs=4)
    runs = assumed_power(1000, 0.95, 0.93, agreement=0.96, runs=5, run_sd=0.5)
    variance = (0.04 - 0.02**2) / 1000 + 2 * 0.005**2 / 5  # of the items, and of five runs of both systems
    assert runs.error == pytest.approx(variance**0.5)
    assert runs.power == pytest.approx(runs.simulated, abs=0.02)
    with pytest.raises(InputError, match=r"expected between 0.88 and 0.98"):
        assumed_power(1000, 0.95, 0.93, agreement=0.99)


def test_there_are_two_systems() -> None:
    with pytest.raises(InputError, match="3 systems; expected two"):
        power(GOLD, {"a": GOOD, "b": TWIN, "c": BAD}, difference=1)
    with pytest.raises(InputError, match="no difference to show"):
        power(GOLD, {"a": GOOD, "b": TWIN})
