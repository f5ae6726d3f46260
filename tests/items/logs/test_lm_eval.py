"""Logs of lm-evaluation-harness, made here; the answers are worked out beside them."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest

from deadheat.compression import compress
from deadheat.errors import InputError
from deadheat.items.logs.read import is_log, read_logs
from deadheat.items.logs.translation import BLEU, CHRF, chrf_statistics
from tests.items.logs.samples import lm_eval, sample, scores


def test_metrics_and_filters_are_columns_and_the_first_is_the_default(tmp_path: Path) -> None:
    lines = [
        sample(number, {"exact_match": float(number == 1)}, filter_name=name)
        for number in range(3)
        for name in ("strict", "flexible")
    ]
    table = read_logs(lm_eval(tmp_path, "org/a", "sums_of_two", lines))
    assert table.metric_names == ["exact_match,strict", "exact_match,flexible"]
    assert table.tasks == ["sums_of_two"]
    assert table.systems == ["org__a"]
    assert scores(table, "exact_match,strict") == [0.0, 1.0, 0.0]
    assert table.frame["item"].unique(maintain_order=True).to_list() == ["0", "1", "2"]


def test_the_task_stands_between_the_first_underscore_and_the_last(tmp_path: Path) -> None:
    for task in ("sums", "sums_repeats"):
        lm_eval(tmp_path, "a", task, [sample(0, {"acc": 1.0})])
    assert read_logs(tmp_path).tasks == ["sums", "sums_repeats"]


def test_the_direction_is_that_of_the_results(tmp_path: Path) -> None:
    lines = [sample(0, {"acc": 1.0, "distance": 3.0, "ter": 2.0})]
    path = lm_eval(tmp_path, "a", "sums", lines, higher_is_better={"sums": {"distance": False, "acc": True}})
    metrics = read_logs(path).metrics
    assert [metrics[f"{name},none"].lower_is_better for name in ("acc", "distance", "ter")] == [False, True, True]


def test_lines_without_filter_metrics_and_hash_are_read(tmp_path: Path) -> None:
    lines = [sample(0, {"acc": 1}), sample(1, {"acc": 0})]
    for line in lines:
        for key in ("filter", "metrics", "doc_hash"):
            del line[key]
    path = lm_eval(tmp_path, "a", "sums", lines)
    (path.parent / path.name.replace("samples_sums", "results").replace(".jsonl", ".json")).unlink()
    table = read_logs(path)
    assert table.systems == ["a"]  # the folder
    assert scores(table, "acc,none") == [1.0, 0.0]


def test_a_metric_that_only_later_lines_have_is_read(tmp_path: Path) -> None:
    path = lm_eval(tmp_path, "a", "sums", [sample(0, {"acc": 1.0}), sample(1, {"acc": 0.0, "late": 0.5})])
    assert scores(read_logs(path), "late,none") == [None, 0.5]


def test_nan_and_null_are_items_without_a_score(tmp_path: Path) -> None:
    lines = [sample(number, {"acc": value}) for number, value in enumerate([1.0, math.nan, None, True])]
    assert scores(read_logs(lm_eval(tmp_path, "a", "sums", lines))) == [1.0, None, None, 1.0]


def test_perplexities_are_those_of_all_words_not_means_of_documents(tmp_path: Path) -> None:
    values = [(-2.0, 4), (-9.0, 5)]
    lines = [
        sample(number, {"word_perplexity": pair, "bits_per_byte": pair, "perplexity": pair[0]})
        for number, pair in enumerate(values)
    ]
    table = read_logs(lm_eval(tmp_path, "a", "lm", lines))
    value = {}
    for name in table.metric_names:
        assert table.metric(name).lower_is_better
        sums = np.sum(table.frame.filter(metric=name)["counts"].to_list(), axis=0)
        value[name] = float(table.metric(name).aggregate.value(sums))
    assert value["word_perplexity,none"] == pytest.approx(math.exp(11 / 9))
    assert value["bits_per_byte,none"] == pytest.approx(11 / 9 / math.log(2))
    assert value["perplexity,none"] == pytest.approx(math.exp(11 / 2))  # a log-likelihood per document
    assert scores(table, "word_perplexity,none") == pytest.approx([math.exp(0.5), math.exp(1.8)])


def test_flags_of_instructions_are_weighted_by_their_number_and_f1_is_that_of_all_items(tmp_path: Path) -> None:
    lines = [
        sample(0, {"inst_acc": [True, False, True], "f1": [1, 1]}),
        sample(1, {"inst_acc": [False], "f1": [0, 1]}),
    ]
    table = read_logs(lm_eval(tmp_path, "a", "ifeval", lines))
    assert table.frame.filter(metric="inst_acc,none")["counts"].to_list() == [[2, 3, 3], [0, 1, 1]]
    assert table.frame.filter(metric="f1,none")["counts"].to_list() == [[1, 1, 1], [0, 0, 1]]
    assert table.metric("f1,none").aggregate.name == "f1"


def test_other_lists_are_left_out_with_a_note(tmp_path: Path) -> None:
    lines = [sample(0, {"mcc": [3, 1], "acc": 1.0, "words": "many"})]
    table = read_logs(lm_eval(tmp_path, "a", "sums", lines))
    assert table.metric_names == ["acc,none"]
    assert [note.partition(":")[0] for note in table.notes] == ["metric mcc left out", "metric words left out"]


def test_chrf_is_that_of_the_corpus(tmp_path: Path) -> None:
    # ab against ac: of the unigrams one of two is common, of the bigrams none of one; other orders do not count.
    assert chrf_statistics("a b", ["ac"])[:6] == [1, 2, 2, 0, 1, 1]
    lines = [sample(0, {"chrf": ["ac", "a b"]}), sample(1, {"chrf": [["xyz", "abcdefg"], "abcdefg"]})]
    table = read_logs(lm_eval(tmp_path, "a", "mt", lines))
    precision = recall = (8 / 9 + 6 / 7 + 4) / 6
    assert precision == recall
    sums = np.sum(table.frame["counts"].to_list(), axis=0)
    assert float(CHRF.value(sums)) == pytest.approx(100 * precision)
    assert scores(table) == pytest.approx([25.0, 100.0])  # of the unigrams 1/2, of the bigrams 0


def test_bleu_of_statistics_is_that_of_the_formula() -> None:
    # 6 words for a reference of 8: 5 of 6 unigrams, 3 of 5 bigrams, 1 of 4 trigrams, 0 of 3 four-grams.
    counts = np.array([5.0, 8, 6, 3, 1, 0, 5, 4, 3])
    precisions = [5 / 6, 3 / 5, 1 / 4, 1 / (2 * 3)]  # the first zero is smoothed to a half
    expected = 100 * math.exp(1 - 8 / 6) * math.prod(precisions) ** 0.25
    assert float(BLEU.value(counts)) == pytest.approx(expected)
    assert BLEU.value(np.array([[0.0, 8, 6, 0, 0, 0, 5, 4, 3], [2.0, 2, 2, 1, 0, 0, 1, 0, 0]])).tolist() == [0.0, 0.0]


def test_bleu_is_counted_by_sacrebleu_or_left_out(tmp_path: Path) -> None:
    pair = ["the old cat sees a dog", "the old cat sees the dog"]
    path = lm_eval(tmp_path, "a", "mt", [sample(0, {"bleu": pair, "chrf": pair})])
    table = read_logs(path)
    if importlib.util.find_spec("sacrebleu") is None:
        assert table.metric_names == ["chrf,none"]
        assert "sacrebleu" in table.notes[0]
    else:  # 5 of 6, 3 of 5, 2 of 4, 1 of 3
        assert table.frame.filter(metric="bleu,none")["counts"].to_list() == [[5, 6, 6, 3, 2, 1, 5, 4, 3]]


def test_fields_by_which_items_may_be_grouped_are_offered_and_not_taken(tmp_path: Path) -> None:
    for model in ("a", "b"):
        lm_eval(tmp_path, model, "sums", [sample(number, {"acc": 1.0}) for number in range(4)])
    table = read_logs(tmp_path)
    assert table.fields == ("passage_id",)  # questions are all different, and the answer is none
    assert table.cluster == ""
    assert table.frame["cluster"].null_count() == 8
    assert table.clustered_by("passage_id").frame["cluster"].to_list() == ["p0", "p0", "p1", "p1"] * 2


def test_documents_that_differ_are_refused(tmp_path: Path) -> None:
    lm_eval(tmp_path, "a", "sums", [sample(0, {"acc": 1.0}), sample(1, {"acc": 1.0})])
    lm_eval(tmp_path, "b", "sums", [sample(0, {"acc": 1.0}), sample(1, {"acc": 1.0}, doc_hash="f" * 64)])
    with pytest.raises(InputError, match=r"b/samples_sums.*: item 1 of sums is another one than in .*a/samples_sums"):
        read_logs(tmp_path)


def test_a_part_of_a_log_is_refused(tmp_path: Path) -> None:
    path = lm_eval(tmp_path, "a", "sums", [sample(number, {"acc": 1.0}) for number in range(4)])
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:3]))
    with pytest.raises(InputError, match=r"samples_sums.*: 3 items; expected 4, as the results beside it say"):
        read_logs(path)
    assert len(read_logs(path, partial=True).frame) == 3
    path.write_text("".join(whole)[:-20])
    with pytest.raises(InputError, match=r"jsonl:4: corrupt or incomplete JSON"):
        read_logs(path)


def test_halves_of_surrogate_pairs_are_read(tmp_path: Path) -> None:
    lines = [
        sample(0, {"acc": 1.0}, doc={"text": "\ud800 and \U0001f600"}),
        sample(1, {"acc": math.nan}, doc_id="\udc00"),
    ]
    table = read_logs(lm_eval(tmp_path, "a", "sums", lines))
    assert table.frame["item"].to_list() == ["0", "\ufffd"]


def test_an_error_has_its_line(tmp_path: Path) -> None:
    lines = [json.dumps(sample(number, {"acc": math.nan})) for number in range(3)]
    path = lm_eval(tmp_path, "a", "sums", [])
    path.write_text("\n".join([*lines, json.dumps(sample(3, {"acc": 1.0}, doc_id=[3]))]))
    with pytest.raises(InputError, match=r"jsonl:4: array in \$\.doc_id; expected int \| str"):
        read_logs(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("size", [1, 100_000])
def test_a_compressed_log_is_read(tmp_path: Path, suffix: str, size: int) -> None:
    text = np.random.default_rng(0).bytes(size).hex()
    path = lm_eval(tmp_path, "a", "sums", [sample(0, {"acc": 0.5}, target=text)])
    packed = path.with_name(path.name + suffix)
    packed.write_bytes(compress(path.read_bytes(), suffix))
    path.unlink()
    assert is_log(packed)
    table = read_logs(packed)
    assert (table.tasks, scores(table)) == (["sums"], [0.5])
