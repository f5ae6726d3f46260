"""Logs of HELM, lighteval, promptfoo and SWE-bench, scores of segments, and results of MTEB, made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.items.logs.mteb import is_mteb, read_mteb
from deadheat.items.logs.read import is_log, read_logs
from deadheat.items.options import ATTEMPTS
from tests.items.logs.samples import (
    helm,
    helm_instance,
    lighteval,
    mteb,
    promptfoo,
    promptfoo_result,
    scores,
    swebench,
    write_json,
)


def test_helm_trials_are_attempts_and_bookkeeping_is_no_metric(tmp_path: Path) -> None:
    instances = [
        helm_instance("id1", 0, exact_match=1.0, f1=0.5),
        helm_instance("id2", 0, exact_match=0.0, f1=None),
        helm_instance("id1", 1, exact_match=0.0, f1=0.25),
        helm_instance("id1", 1, exact_match=1.0, f1=1.0)
        | {"perturbation": {"name": "typos", "robustness": True, "prob": 0.1}},
    ]
    table = read_logs(helm(tmp_path, "org/a", instances, task="mcqa:subject=law,"))
    assert table.tasks == ["mcqa:subject=law"]
    assert (table.systems, table.repeats) == (["org/a"], ATTEMPTS)
    assert table.metric_names == ["exact_match", "f1"]
    assert scores(table, "f1") == [0.5, None, 0.25, 1.0]
    assert table.frame.filter(metric="f1")["repeat"].to_list() == ["1", "1", "2", "2"]
    assert table.frame["item"].unique(maintain_order=True).to_list() == ["id1", "id2", "id1 typos(prob=0.1)"]


def test_helm_models_are_paired_by_the_run_without_the_model(tmp_path: Path) -> None:
    for model in ("org/a", "org/b"):
        helm(tmp_path, model, [helm_instance("id1", 0, exact_match=1.0)])
    table = read_logs(tmp_path)
    assert (table.tasks, table.systems) == (["mcqa"], ["org/a", "org/b"])


def test_helm_needs_the_specification_of_the_run(tmp_path: Path) -> None:
    path = helm(tmp_path, "a", [helm_instance("id1", 0, exact_match=1.0)])
    (path.parent / "run_spec.json").unlink()
    with pytest.raises(InputError, match=r"no run_spec\.json beside it"):
        read_logs(path)


def test_lighteval_samples_are_paired_by_their_identifier(tmp_path: Path) -> None:
    lighteval(tmp_path, "org/a", {"0": 1, "1": 0, "2": 1, "3": 1}, direction=False)
    lighteval(tmp_path, "b", {"3": 0, "1": 1, "0": 0, "2": 0}, direction=False)
    table = read_logs(tmp_path)
    assert (table.tasks, table.systems) == (["sums|0"], ["b", "org/a"])
    both = table.frame.pivot("system", index="item", values="score").sort("item")
    assert both.rows() == [("0", 0.0, 1.0), ("1", 1.0, 0.0), ("2", 0.0, 1.0), ("3", 0.0, 1.0)]
    assert table.fields == ("passage_id",)
    assert table.metric("acc").lower_is_better
    assert table.notes == ("metric f1 left out: it has no score per sample",)


def test_lighteval_details_of_no_samples_are_refused(tmp_path: Path) -> None:
    path = lighteval(tmp_path, "a", {"0": 1})
    pl.read_parquet(path).clear().write_parquet(path)
    with pytest.raises(InputError, match=r"details_sums.*: no scores of items; expected some"):
        read_logs(path)


def test_promptfoo_items_are_variables_and_systems_are_providers_and_prompts(tmp_path: Path) -> None:
    results = [
        promptfoo_result(test, provider, prompt, {"a": test % 4, "passage": f"p{test % 2}"}, float(test < 4))
        for test in range(8)  # tests 4 to 7 are the first four again
        for provider in ("alpha", "beta")
        for prompt in ("Say {{a}}", "Please say {{a}}")
    ]
    results[0] = promptfoo_result(0, "alpha", "Say {{a}}", {"a": 0, "passage": "p0"}, 0.0, failureReason=2)
    table = read_logs(promptfoo(tmp_path / "out.json", results, description="says"))
    assert (table.tasks, table.repeats) == (["says"], ATTEMPTS)
    prompts = ("Say {{a}}", "Please say {{a}}")
    assert table.systems == [f"{name}: {prompt}" for name in ("alpha", "beta") for prompt in prompts]
    assert table.metric_names == ["score", "success", "exact"]
    assert scores(table, "score", system="alpha: Say {{a}}") == [None, 1, 1, 1, 0, 0, 0, 0]  # an error, not a zero
    alpha = table.frame.filter(metric="score", system="alpha: Say {{a}}")
    assert alpha["repeat"].to_list() == ["1"] * 4 + ["2"] * 4
    assert alpha["item"].n_unique() == 4
    assert table.fields == ("passage",)


def test_one_prompt_is_not_part_of_the_name(tmp_path: Path) -> None:
    results = [promptfoo_result(test, "alpha", "Say", {}, 1.0) for test in range(2)]
    table = read_logs(promptfoo(tmp_path / "out.json", results))
    assert table.systems == ["alpha"]
    assert table.frame["item"].unique().sort().to_list() == ["test 1", "test 2"]


def test_swebench_instances_that_are_not_resolved_have_failed(tmp_path: Path) -> None:
    names = [f"org__{repository}-{number}" for repository in ("x", "y") for number in range(3)]
    swebench(tmp_path / "gpt-4.1.run1.json", resolved_ids=names[:2], error_ids=names[2:4], incomplete_ids=names[4:])
    swebench(tmp_path / "agent.run1.json", resolved_ids=names[3:], unresolved_ids=names[:3])
    table = read_logs(tmp_path)
    assert table.systems == ["agent", "gpt-4.1"]
    assert scores(table, system="gpt-4.1") == [1, 1, 0, 0, 0, 0]
    assert scores(table, system="agent") == [0, 0, 0, 1, 1, 1]
    assert table.fields == ("repo",)
    assert table.frame["repo"].unique(maintain_order=True).to_list() == ["org/x", "org/y"]


def test_a_report_that_does_not_name_all_instances_is_refused(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "a.json", {"total_instances": 5, "resolved_instances": 1, "resolved_ids": ["x-1"], "error_ids": []}
    )
    with pytest.raises(InputError, match=r"a\.json: 1 of 5 instances are named; expected all of them"):
        read_logs(path)


def test_wmt_segments_have_documents_and_missing_scores(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "en-de.docs").write_text("news\td1\nnews\td1\nnews\td2\nnews\td2\n")
    (tmp_path / "human-scores").mkdir()
    human = tmp_path / "human-scores" / "en-de.mqm.seg.score"
    human.write_text("".join(f"sys{name}\t{score}\n" for name in "AB" for score in ("-1.5", "None", "0", "-2")))
    (tmp_path / "metric-scores" / "en-de").mkdir(parents=True)
    metric = tmp_path / "metric-scores" / "en-de" / "chrF-refA.seg.score"
    metric.write_text("".join(f"sys{name}\t{score}\n" for name in "AB" for score in (50, 60, 70, 80)))
    table = read_logs(tmp_path)
    assert (table.tasks, table.systems) == (["en-de"], ["sysA", "sysB"])
    assert table.metric_names == ["mqm", "chrF-refA"]
    assert scores(table, "mqm", system="sysB") == [-1.5, None, 0.0, -2.0]
    assert table.fields == ("document",)
    assert not table.notes  # two metrics are no repeats
    metric.write_text("sysA\t1\nsysA\t2\n")
    with pytest.raises(InputError, match=r"2 scores of sysA; expected 4, as the documents beside say"):
        read_logs(metric)


def test_lines_of_scores_are_segments_of_the_system_that_the_file_is_named_after(tmp_path: Path) -> None:
    (tmp_path / "alpha.chrf.seg").write_text("73.1\n100.0\n")
    (tmp_path / "beta.chrf.seg").write_text("chrF2|nrefs:1|case:mixed = 34.7\nchrF2|nrefs:1|case:mixed = 92\n")
    (tmp_path / "beta.hyp").write_text("a text\nand another\n")
    table = read_logs(tmp_path)
    assert table.systems == ["alpha", "beta"]
    assert scores(table, system="alpha") == [73.1, 100.0]
    assert scores(read_logs(tmp_path / "beta.chrf.seg")) == [34.7, 92.0]
    assert not is_log(tmp_path / "beta.hyp")


def test_numbered_lines_and_stray_numbers_are_no_scores(tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("12 the\n7 of\n")
    assert not is_log(tmp_path)
    (tmp_path / "seeds.txt").write_text("1\n2\n")
    swebench(tmp_path / "agent.run1.json", resolved_ids=["o__x-1"], error_ids=["o__x-2"])
    assert read_logs(tmp_path).systems == ["agent"]  # numbers among logs of another program are something else
    assert read_logs([tmp_path / "agent.run1.json", tmp_path / "seeds.txt"]).systems == ["agent", "seeds"]


def test_segments_that_are_not_as_many_are_refused(tmp_path: Path) -> None:
    (tmp_path / "alpha.seg").write_text("1\n2\n3\n")
    (tmp_path / "beta.seg").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"beta\.seg: 2 segments, and 3 in .*alpha\.seg; expected scores of the same"):
        read_logs(tmp_path)


def test_ter_is_an_error_rate(tmp_path: Path) -> None:
    (tmp_path / "alpha.ter").write_text("TER|nrefs:1 = 3.5\nTER|nrefs:1 = 2\n")
    assert read_logs(tmp_path).metric("TER").lower_is_better


def test_comet_segments_are_those_of_the_same_sources(tmp_path: Path) -> None:
    segments = [{"src": f"s{number}", "mt": "m", "ref": "r", "COMET": number / 4} for number in range(3)]
    path = write_json(tmp_path / "comet.json", {"out/a.txt": segments, "out/b.txt": segments})
    table = read_logs(path)
    assert (table.systems, table.metric_names) == (["a.txt", "b.txt"], ["COMET"])
    assert scores(table, system="b.txt") == [0.0, 0.25, 0.5]
    other = [segment | {"src": "another"} for segment in segments]
    write_json(path, {"a": segments, "b": other})
    with pytest.raises(InputError, match=r"comet\.json: item 1 is another one than in"):
        read_logs(path)


def test_results_of_mteb_are_a_table_of_tasks(tmp_path: Path) -> None:
    mteb(tmp_path, "org/a", "Sums", [0.5, 0.7])
    mteb(tmp_path, "org/a", "News", [0.25])
    mteb(tmp_path, "org/b", "Sums", [1.0])
    write_json(
        tmp_path / "org__b" / ("a" * 40) / "News.json",
        {"mteb_version": "0.0.2", "test": {"en": {"main_score": 0.5}, "evaluation_time": 3.0}, "dataset_version": None},
    )
    assert is_mteb(tmp_path)
    assert not is_log(tmp_path)
    table = read_mteb(tmp_path)
    assert (table.systems, table.datasets) == (("org/a", "org/b"), ("News", "Sums"))
    assert np.allclose(table.scores_SD, [[0.25, 0.6], [0.5, 1.0]])
    with pytest.raises(InputError, match=r"scores of whole tasks \(MTEB\); expected scores of items"):
        read_logs(tmp_path)


def test_tasks_that_some_model_lacks_are_refused_or_dropped(tmp_path: Path) -> None:
    mteb(tmp_path, "a", "Sums", [0.5])
    mteb(tmp_path, "a", "News", [0.5])
    mteb(tmp_path, "b", "Sums", [0.5])
    with pytest.raises(InputError, match=r"b has no score on News"):
        read_mteb(tmp_path)
    assert read_mteb(tmp_path, missing="drop").dropped == ("News",)
    mteb(tmp_path, "b", "Sums", [0.6], revision="b" * 40)
    with pytest.raises(InputError, match=r"a second score of b on Sums, after"):
        read_mteb(tmp_path)
