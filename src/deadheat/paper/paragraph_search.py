"""What is said of a search: what was tried, how settings and epochs were picked, and how many networks saw test."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.documents import Document
from deadheat.pages.search_told import between_of, failed_finals, finals_told, mean_of, significant, with_test
from deadheat.paper.designs import STRATEGY_KEYS, split_words
from deadheat.paper.references import OF_SYSTEMS
from deadheat.paper.sentences import Cite, Sentence, cite, corrected, listed, p_said, scored, tested_on_units
from deadheat.questions.latex import fixed
from deadheat.questions.method_words import metric_words
from deadheat.text import pluralize

MOST_CORPORA = 3
METHODS = {"grid": "all combinations", "random": "drawn at random", "optuna": "proposed by Optuna"}
WAYS = {
    "tune": "on tune, a part of its own, after training on train",
    "dev": "on dev, which picked settings too, after training on train and tune",
}


def search_sentences(document: Document) -> Iterator[Sentence]:
    """The protocol, what the winners have on test, and how far dev was from that."""
    yield _tried(document)
    yield from _epochs(document)
    failed = f" ({document['failed']:,} more failed)" if document["failed"] else ""
    trained, looks = pluralize(document["trained"], "network"), pluralize(document["looks"], "network")
    were = "was" if document["looks"] == 1 else "were"
    looked = f"{looks} of it and of its winners {were} scored on test{failed_finals(document)}"
    yield Sentence.of(f"The search trained {trained}{failed}, and {looked}.")
    if any(each["winners"] for each in document["datasets"]):
        yield from _found(document)
    else:
        yield Sentence.of("No network of it has a score, and nothing was picked.")


def _tried(document: Document) -> Sentence:
    base = next((str(each["system"]).partition(".v")[0] for each in document["tried"]), "")
    seeds = pluralize(len(document["seeds"]), "seed")
    metric = metric_words(document["metric"])
    return Sentence.of(
        f"We tried {pluralize(document['settings'], 'setting')} of {document['label']}",
        cite(OF_SYSTEMS[base]) if base in OF_SYSTEMS else cite(),
        f" ({METHODS[document['method']]}, of {listed(document['varied'])}; {seeds} each) on ",
        *_places(document),
        f", and picked those with the highest {metric} on {document['setting']} of each split.",
    )


def _places(document: Document) -> Iterator[str | Cite]:
    """Ways to split, with the corpora that were split so."""
    ways: dict[tuple[str, int], dict[str, int]] = {}
    for each in document["datasets"]:
        corpora = ways.setdefault((each["split"], each["seed"]), {})
        corpora[each["corpus"]] = corpora.get(each["corpus"], 0) + 1
    for at, ((split, seed), corpora) in enumerate(ways.items()):
        base = split.partition(".v")[0]
        yield f"{'; and on ' if at else ''}{split_words(split, sorted(set(corpora.values())), seed=seed)}"
        yield cite(STRATEGY_KEYS[base]) if base in STRATEGY_KEYS else cite()
        each_of = "each of " if len(corpora) > 1 else ""
        many = f"{len(corpora)} corpora ({listed(corpora)})" if len(corpora) > MOST_CORPORA else listed(corpora)
        yield f" of {each_of}{many}"


def _epochs(document: Document) -> Iterator[Sentence]:
    setups = document["setups"]
    ways = "; and ".join(WAYS[setup] for setup in setups)
    how = "Epochs were picked" if len(setups) == 1 else "Epochs were picked in two ways:"
    yield Sentence.of(f"{how} {ways}", cite("van-der-goot-2021"), ".")
    final = finals_told(document, dict(zip(setups, ("the first way", "the second way"), strict=False)))
    if final:
        yield Sentence.of(final)


def _found(document: Document) -> Iterator[Sentence]:
    setups = document["setups"]
    if len(setups) == 1:
        yield _alone(document)
        return
    means = {setup: scored(mean_of(document, setup, "test"), scale=100) for setup in setups}
    tested, before, after = significant(document)
    compared = [each["differing"] for each in document["datasets"] if each["differing"] is not None]
    if compared:
        differ = f"{sum(value > 0 for value in compared)} of {pluralize(len(compared), 'data set')}"
        yield Sentence.of(f"The settings that won in the two ways differ on {differ}.")
    if tested:
        yield Sentence.of(
            f"On test, with means of {' and '.join(means.values())}, the two differ significantly on "
            f"{before or 'none'} of {pluralize(tested, 'data set')} by ",
            *tested_on_units("bootstrap"),
            f" at alpha {document['alpha']:g}, and on {after or 'none'} with p-values ",
            *corrected(document["correction"], tested, over="data set"),
            ".",
        )
    else:
        yield Sentence.of("On test they cannot be compared: no data set has scores of both.")
    yield from _gap(document)


def _alone(document: Document) -> Sentence:
    """What winners of the only setup have, on the data sets that have a score on test."""
    own = with_test(document)
    tested, lacking = len(own["datasets"]), len(document["datasets"]) - len(own["datasets"])
    if not tested:
        return Sentence.of("No winner has a score on test.")
    (setup,) = document["setups"]
    searched, test = (scored(mean_of(own, setup, what), scale=100) for what in ("searched", "test"))
    scores = f"{metric_words(document['metric'])} {searched} on dev in the search, and {test} on test"
    more = f"; {pluralize(lacking, 'data set')} more {'has' if lacking == 1 else 'have'} no score on test"
    return Sentence.of(f"On average the winners had {scores}{more if lacking else ''}.")


def _gap(document: Document) -> Iterator[Sentence]:
    over = between_of(document, "gap")
    if over is None or over["first"] is None:
        return
    first, second = (fixed(over[name], sign="+") for name in ("first", "second"))
    said = f"Test minus dev of the search was {first} points on average in the first way and {second} in the second"
    if over["p"] is None:
        yield Sentence.of(f"{said}; there were too few data sets to test the difference.")
    else:
        yield Sentence.of(f"{said} ({p_said(over['p'])} by a permutation test over data sets).")
