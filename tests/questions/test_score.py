"""The analysis behind `deadheat score`: what it computes, how it breaks scores down, and what it refuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deadheat import read, score
from deadheat.corpus import Corpus
from deadheat.errors import CorpusError, InputError, NameUnknown
from deadheat.metrics import METRICS, align
from deadheat.metrics.metric import Counts, Values
from deadheat.questions.score import INTERVALS
from deadheat.stats import bootstrap, wilson
from deadheat.version import __version__
from tests.metrics.examples import chunked, conllu, corpus, tagged

GOLD = corpus(
    "# newdoc id = web-1\n# genre = web\na/2/nsubj/N b/0/root/V c/2/obj/N",
    "d/0/root/V ./1/punct/P",
    "# newdoc id = web-2\n# genre = web\ne/0/root/N",
    "# newdoc id = mail-1\n# genre = mail\nf/2/obj/N g/0/root/V",
    "# newdoc id = mail-2\n# genre = mail\nh/0/root/V",
)
PREDICTED = corpus(
    "a/2/nsubj/N b/0/root/N c/1/obj/N", "d/0/root/V ./1/punct/P", "e/0/dep/N", "f/0/root/N g/1/punct/V", "h/0/root/V"
)
# Wrong: c has another head, e is no root, f and g are turned about. CLAS: 8 content words in gold, and of the
# prediction all but . and g, which it calls punctuation: 7.
OTHER_WORDS = corpus("a/2/nsubj/N b/0/root/V c/2/obj/N d/2/obj/V ./2/punct/P", "e/0/root/N", "f/2/obj/N gh/0/root/V")


def rows_of(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """What the command prints under `--json`."""
    rows: list[dict[str, Any]] = json.loads(score(*arguments, **options).to_json())["rows"]
    return rows


def clustered(counts_NF: Counts, value: Callable[[Values], Values], level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval by units: the jackknife one unit at a time, Kish's number of units, and Student's t."""
    units, total = len(counts_NF), counts_NF[:, :3].sum(axis=0).astype(float)
    score = float(value(total))
    without = [float(value(total - row)) for row in counts_NF[:, :3]]
    variance = (units - 1) / units * sum((item - np.mean(without)) ** 2 for item in without)
    sizes = counts_NF[:, 1] + counts_NF[:, 2]
    freedom = sizes.sum() ** 2 / (sizes**2).sum() - 1
    t = float(stats.t.ppf((1 + level) / 2, freedom))
    trials = score * (1 - score) / variance if 0 < score < 1 else units
    centre, reach = score + t**2 / (2 * trials), t * np.sqrt(score * (1 - score) / trials + t**2 / (4 * trials**2))
    low, high = (centre - reach) / (1 + t**2 / trials), (centre + reach) / (1 + t**2 / trials)
    return (0.0 if score == 0 else low), (1.0 if score == 1 else high)


def test_a_score_is_a_value_an_interval_and_its_counts() -> None:
    las, clas = rows_of(GOLD, PREDICTED, metrics=["las", "clas"])
    by_document = np.array([[4, 5, 5], [0, 1, 1], [0, 2, 2], [1, 1, 1]])
    low, high = clustered(by_document, lambda sums: sums[..., 0] / sums[..., 1])
    interval = las.pop("interval")
    assert (interval.pop("low"), interval.pop("high")) == pytest.approx((low, high))
    assert interval == {"level": 0.95, "method": "clustered wilson"}
    expected = {"system": "text", "metric": "LAS", "name": "las.v1", "value": 5 / 9, "group": ""}
    assert las == expected | {"correct": 5, "gold": 9, "predicted": 9, "precision": 5 / 9, "recall": 5 / 9}
    assert (clas["correct"], clas["gold"], clas["predicted"]) == (4, 8, 7)
    assert clas["value"] == 2 * 4 / (8 + 7)
    assert 0 <= clas["interval"]["low"] <= clas["value"] <= clas["interval"]["high"] <= 1


@pytest.mark.parametrize("method", INTERVALS)
def test_every_method_of_intervals_is_the_one_that_was_asked_for(method: str) -> None:
    scores = score(GOLD, PREDICTED, seed=3, level=0.9, resamples=500, interval=method, unit="sentence")
    for row in scores.rows:
        metric = METRICS.make(row.name)
        counts = metric.counts(align(GOLD, PREDICTED))
        assert counts.sum(axis=0).tolist()[:3] == [row.correct, row.gold, row.predicted]
        if method == "bootstrap":
            # Drawn with the same generator, whatever other metrics are drawn along with it.
            rng = np.random.default_rng(3)
            assert row.interval == bootstrap(counts[:, :3], metric.value, rng=rng, level=0.9, resamples=500)
        elif method == "wilson" and row.metric not in ("CLAS", "MLAS", "BLEX"):
            assert row.interval == wilson(row.correct, row.gold, level=0.9)
        else:  # Wilson's own interval is for proportions, whose units have fixed sizes
            assert row.interval.bounds == pytest.approx(clustered(counts, metric.value, 0.9))
            assert row.interval.method == "clustered wilson"


def test_words_that_err_independently_have_about_wilsons_interval_and_documents_that_err_as_one_a_wider() -> None:
    rng = np.random.default_rng(0)
    alone = rng.random(2000) < 0.9
    together = np.repeat(rng.random(200) < 0.9, 10)
    widths = []
    for right in (alone, together):
        gold = read(text=("w_X " * 9 + "w_X\n") * 200)
        tags = ["w_X" if is_right else "w_Y" for is_right in right]
        guess = read(text="".join(" ".join(tags[at : at + 10]) + "\n" for at in range(0, 2000, 10)))
        by_unit, by_word = (
            score(gold, guess, metrics="accuracy(column='tag')", interval=method).rows[0].interval
            for method in ("clustered", "wilson")
        )
        widths.append((by_unit.high - by_unit.low) / (by_word.high - by_word.low))
    assert widths[0] == pytest.approx(1, abs=0.12)
    assert widths[1] == pytest.approx(10**0.5, abs=0.12)  # sentences of ten words that are all right or all wrong


def test_the_seed_decides_about_the_bootstrap_and_nothing_else_does() -> None:
    def clas(**options: Any) -> str:
        return str(score(GOLD, PREDICTED, resamples=50, **{"interval": "bootstrap"} | options)["CLAS"].interval)

    assert clas(seed=1) == clas(seed=1) == clas(seed=1, metrics=["mlas", "clas", "las"])
    assert len({clas(seed=seed, metrics=["clas"]) for seed in range(8)}) > 1
    assert len({clas(seed=seed, interval="clustered") for seed in range(3)}) == 1


def test_documents_vary_unless_one_outweighs_all_others_or_sentences_are_asked_for() -> None:
    clas = METRICS.make("clas")
    counts = clas.counts(align(GOLD, PREDICTED, unit="document"))
    assert counts[:, 1].tolist() == [4, 1, 2, 1]
    by_document = score(GOLD, PREDICTED, metrics=["clas"])
    assert by_document.settings.unit == "document"
    assert by_document["CLAS"].interval.bounds == pytest.approx(clustered(counts, clas.value))
    drawn = score(GOLD, PREDICTED, metrics=["clas"], interval="bootstrap", resamples=500)
    rng = np.random.default_rng(0)
    assert drawn["CLAS"].interval == bootstrap(counts, clas.value, rng=rng, resamples=500)
    assert score(GOLD, PREDICTED, metrics=["clas"], unit="sentence").settings.unit == "sentence"
    # Documents of 9 and 1 words weigh as much as 100 / 82 = 1.2 of equal size.
    uneven = corpus("# newdoc id = long\na/0/root/N", *["b/0/root/N"] * 8, "# newdoc id = short\nc/0/root/N")
    assert score(uneven, uneven, metrics=["clas"]).settings.unit == "sentence"
    assert score(uneven, uneven, metrics=["clas"], unit="document").settings.unit == "document"


OFFICIAL = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


def labels(*arguments: Any, **options: Any) -> list[str]:
    return [row["metric"] for row in rows_of(*arguments, **options)]


def test_treebanks_get_the_thirteen_official_metrics_unless_others_are_asked_for() -> None:
    assert labels(GOLD, PREDICTED) == OFFICIAL
    assert labels(GOLD, PREDICTED, align="position") == OFFICIAL[3:]
    assert labels(GOLD, PREDICTED, metrics=["LAS", "uas"]) == ["LAS", "UAS"]
    known = ["Known words (upos)", "Unknown words (upos)", "Ambiguous words (upos)"]
    assert labels(GOLD, PREDICTED, train=GOLD) == [*OFFICIAL, *known]


def test_tagged_words_get_accuracies_and_chunks_f1() -> None:
    tags = tagged("a_X b_Y\n")
    assert labels(tags, tags) == ["Accuracy (tag)", "Sentence accuracy (tag)"]
    chunks = chunked("B-X O")
    accuracies = ["Accuracy (chunk)", "Sentence accuracy (chunk)"]
    assert labels(chunks, chunks) == ["Chunk F1 (chunk)", *accuracies]
    assert labels(chunked("B-X I"), chunked("B-X I")) == accuracies, "these are no tags of chunks"


def test_real_chunks_are_scored_by_default(shared_data: Path) -> None:
    file = shared_data / "chunking" / "conll2000" / "dev.txt"
    chunk, word, sentence = rows_of(file, file)
    assert (chunk["metric"], chunk["value"], word["value"], sentence["value"]) == ("Chunk F1 (chunk)", 1.0, 1.0, 1.0)
    assert word["gold"] == sum(bool(line) for line in file.read_text().split("\n"))


@pytest.mark.parametrize("unit", ["sentence", "document"])
@pytest.mark.parametrize("by", ["genre", "document"])
@pytest.mark.parametrize("predicted", [PREDICTED, OTHER_WORDS], ids=["same words", "other words"])
def test_genres_and_documents_sum_up_to_the_whole(by: str, unit: str, predicted: Corpus) -> None:
    whole = score(GOLD, predicted, unit=unit)
    groups = score(GOLD, predicted, unit=unit, by=by)
    for row in whole.rows:
        parts = [part for part in groups.rows if part.metric == row.metric]
        for field in ("correct", "gold", "predicted"):
            assert sum(getattr(part, field) for part in parts) == getattr(row, field)


def test_groups_have_their_names_and_their_own_values() -> None:
    result = {
        row["group"]: (row["correct"], row["gold"]) for row in rows_of(GOLD, PREDICTED, metrics=["uas"], by="document")
    }
    assert result == {"web-1": (4, 5), "web-2": (1, 1), "mail-1": (0, 2), "mail-2": (1, 1)}
    by_genre = rows_of(GOLD, PREDICTED, metrics=["uas"], by="genre")
    assert {row["group"]: (row["correct"], row["gold"]) for row in by_genre} == {"mail": (1, 3), "web": (5, 6)}


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_a_unit_of_several_sentences_is_in_the_group_of_its_first(unit: str) -> None:
    # The blocks are a b c d . | e | f g h: the last one joins two documents of one genre.
    def gold_words(by: str, predicted: Corpus) -> dict[str, int]:
        rows = rows_of(GOLD, predicted, metrics=["uas"], by=by, unit=unit)
        return {row["group"]: row["gold"] for row in rows}

    assert gold_words("genre", OTHER_WORDS) == gold_words("genre", PREDICTED) == {"mail": 3, "web": 6}
    assert gold_words("document", OTHER_WORDS) == {"web-1": 5, "web-2": 1, "mail-1": 3, "mail-2": 0}
    assert gold_words("document", PREDICTED) == {"web-1": 5, "web-2": 1, "mail-1": 2, "mail-2": 1}


def test_relations_and_tags_are_metrics_of_their_own_the_most_frequent_first() -> None:
    pair = align(GOLD, PREDICTED)
    for by, metric, maker in (("relation", "las", "relation"), ("tag", "upos", "tag")):
        scores = score(GOLD, PREDICTED, metrics=[metric], by=by)
        for row in scores.rows:
            assert row.metric == METRICS.make(metric).label
            counts = METRICS.make(maker, label=row.group).counts(pair).sum(axis=0)
            assert counts.tolist()[:3] == [row.correct, row.gold, row.predicted]
        gold = [row.gold for row in scores.rows]
        assert gold == sorted(gold, reverse=True)
    relations = [row.group for row in score(GOLD, PREDICTED, metrics=["las"], by="relation").rows]
    assert relations == ["root", "obj", "nsubj", "punct", "dep"]


def test_chunks_are_broken_down_by_type() -> None:
    gold, predicted = chunked("B-X O B-Y I-Y", "B-X"), chunked("B-X O B-Y B-Y", "B-Z")
    result = rows_of(gold, predicted, metrics=["chunks"], by="tag")
    assert [(row["group"], row["correct"], row["gold"], row["predicted"]) for row in result] == [
        ("X", 1, 2, 1),
        ("Y", 0, 1, 2),
        ("Z", 0, 0, 1),
    ]


def test_several_files_are_one_gold_corpus_and_several_predictions(tmp_path: Path) -> None:
    first, second = conllu("a/0/root b/1/obj"), conllu("c/0/root", "d/0/root e/1/obj")
    for name, text in {
        "1": first,
        "2": second,
        "a": first + second,
        "b": first + second.replace("\t1\tobj", "\t1\tdep"),
    }.items():
        (tmp_path / f"{name}.conllu").write_text(text)
    files = {name: str(tmp_path / f"{name}.conllu") for name in "12ab"}
    scores = score([files["1"], files["2"]], [files["a"], Path(files["b"])], metrics=["las"])
    assert [(row.system, row.correct, row.gold) for row in scores.rows] == [(files["a"], 5, 5), (files["b"], 4, 5)]
    assert " | sentences 3 | words 5 | " in scores.signature


def test_a_training_file_tells_known_words_from_unknown_ones() -> None:
    gold = tagged("a_X b_X c_X\n")
    known, unknown, ambiguous = rows_of(gold, tagged("a_X b_Y c_Y\n"), train=tagged("a_X a_Y b_X\n"))[2:]
    assert (known["value"], unknown["value"], ambiguous["value"]) == (0.5, 0.0, 1.0)
    none = rows_of(gold, gold, train=gold, metrics=["unknown(column='tag')"])[0]
    assert (none["gold"], none["value"], none["interval"]["low"]) == (0, "NaN", "NaN")


def test_the_signature_says_what_the_numbers_depend_on() -> None:
    scores = score(GOLD, PREDICTED, seed=7, resamples=10, level=0.99)
    assert scores.signature == (
        f"deadheat {__version__} | conll18.v1 | sentences 5 | words 9 | align text | unit document | "
        "0.99 clustered intervals"
    )
    drawn = score(GOLD, PREDICTED, seed=7, resamples=10, level=0.99, interval="bootstrap")
    assert drawn.signature.endswith(" | unit document | 0.99 bootstrap intervals | 10 resamples | seed 7")
    others = score(GOLD, PREDICTED, metrics=["las(subtypes=True)"], by="document", train=GOLD, align="position")
    assert " | las.v1(subtypes=True) | " in others.signature
    for part in ("align position", "by document", "training words 9"):
        assert f" | {part} | " in others.signature


def test_what_a_reader_should_know_besides_is_noted() -> None:
    assert score(GOLD, PREDICTED, metrics=["las"]).notes == ()
    (blocks,) = score(GOLD, OTHER_WORDS, metrics=["las"]).notes
    assert blocks.startswith("text: sentence boundaries differ from gold; counted in 3 blocks")
    (position,) = score(GOLD, PREDICTED, metrics=["las"], align="position").notes
    assert position == "words are aligned by position; forms, tokens and sentences were not compared"
    plain = corpus("a/0/root")
    (unmarked,) = score(plain, plain, metrics=["las"], unit="document").notes
    assert unmarked == "text: no document marks; every file is one document"


def test_scores_are_found_by_label_and_by_name() -> None:
    scores = score(GOLD, PREDICTED)
    assert scores["LAS"] is scores["las"] is scores["las.v1"]
    assert (scores["LAS"].precision, scores["LAS"].recall) == (5 / 9, 5 / 9)
    assert (scores["CLAS"].precision, scores["CLAS"].recall) == (4 / 7, 4 / 8)
    assert str(scores["UAS"]) == f"UAS 0.6667 {scores['UAS'].interval}, 6 of 9: text"
    with pytest.raises(KeyError):
        scores["ELAS"]


def test_a_table_for_latex_has_systems_by_metrics_in_percent() -> None:
    latex = score(GOLD, [PREDICTED, replace(GOLD, name="gold")], metrics=["uas", "las"]).to_latex().split("\n")
    assert latex[2:6] == [
        r"system & UAS & LAS \\",
        r"\midrule",
        r"text & 66.67 & 55.56 \\",
        r"gold & \textbf{100.00} & \textbf{100.00} \\",
    ]
    assert r"web-1 & 80.00 & 5 \\" in score(GOLD, PREDICTED, metrics=["uas"], by="document").to_latex()
    nothing = score(GOLD, GOLD, metrics="unknown(column='upos')", train=GOLD)
    assert " & - & " in nothing.to_latex()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "relations"}, "breakdown 'relations' is unknown; did you mean 'relation'?"),
        ({"level": 1.0}, "level 1.0; expected between 0 and 1, such as 0.95"),
        ({"level": 0.0}, "level 0.0; expected between 0 and 1, such as 0.95"),
        ({"resamples": 0}, "0 resamples; expected at least 1"),
        ({"unit": "sentences"}, "unit 'sentences' is unknown; did you mean 'sentence'?"),
        ({"align": "texts"}, "alignment 'texts' is unknown; did you mean 'text'?"),
        ({"metrics": ["lass"]}, "metric 'lass' is unknown; did you mean 'las'?"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        score(GOLD, PREDICTED, **options)
    assert str(caught.value) == message


def test_wrong_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prediction was given"):
        score(GOLD, [])
    with pytest.raises(InputError, match="corpora and files mixed"):
        score([GOLD, "x.conllu"], PREDICTED)
    with pytest.raises(InputError, match="no document marks"):
        score(PREDICTED, GOLD, by="document")
    with pytest.raises(InputError, match="no genres"):
        score(PREDICTED, GOLD, by="genre")
    with pytest.raises(NameUnknown, match="column 'upos' is unknown"):
        score(tagged("a_X\n"), tagged("a_X\n"), metrics=["accuracy"])
    with pytest.raises(CorpusError, match="cannot be read"):
        score(tmp_path / "nothing.conllu", PREDICTED)


def test_options_of_reading_are_passed_on(tmp_path: Path) -> None:
    file = tmp_path / "x.conllu"
    file.write_text(conllu("a/0/root b/0/root"))
    with pytest.raises(CorpusError, match="second root"):
        score(file, file)
    assert score(file, file, lenient=["multiple-roots"])["LAS"].value == 1.0
    assert score(read(file, lenient=["multiple-roots"]), file, lenient=["multiple-roots"])["LAS"].gold == 2


def words(*tags: str) -> Corpus:
    return read(text="".join(f"w_{tag}\n" for tag in tags))


TAGS = words(*"XY" * 40)


def test_metrics_may_be_one_name_or_a_generator() -> None:
    assert len(score(TAGS, [TAGS, TAGS], metrics="accuracy(column='tag')").rows) == 2
    assert len(score(TAGS, [TAGS, TAGS], metrics=(name for name in ["accuracy(column='tag')"])).rows) == 2


def test_an_unknown_method_of_intervals_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'bootstrap'"):
        score(TAGS, TAGS, interval="bootstrapp")


def test_words_alone_cannot_be_scored() -> None:
    alone = read(text="a\nb\n\n", format="columns")
    with pytest.raises(InputError, match="expected a column of labels"):
        score(alone, alone)
