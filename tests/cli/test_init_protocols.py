"""`deadheat init --protocol`: the experiments of five papers on corpora at hand."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from deadheat.study.plan.designs import DESIGNS
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.study.search.search import searches_of
from deadheat.testbed.files import write_testbed
from tests.cli.running import Commands
from tests.study.study_cases import corpus_text

LANGUAGES = ("velani", "dzari", "elisque")


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bed")
    write_testbed(folder, languages=LANGUAGES, sentences=150, seeds=[0])
    return folder


@pytest.fixture
def treebanks(bed: Path) -> list[Path]:
    return [bed / language for language in LANGUAGES]


def written(commands: Commands, folder: Path, protocol: str, corpora: Sequence[Path]) -> Path:
    out = folder / f"{protocol}.toml"
    done = commands("init", "--protocol", protocol, *corpora, "--out", out)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{out}: edit it, then run: deadheat run {out} --plan\n"
    return out


def test_there_is_a_design_for_every_protocol() -> None:
    assert list(DESIGNS) == list(PROTOCOLS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_plan_accepts_it_and_names_the_paper(
    commands: Commands, treebanks: list[Path], tmp_path: Path, protocol: str
) -> None:
    out = written(commands, tmp_path, protocol, treebanks)
    planned = commands("run", out, "--plan")
    assert planned.code == 0, planned.err
    assert planned.out.startswith(f"Protocol {protocol}, after {PROTOCOLS[protocol].paper}.")
    plan = Plan.of(out)
    assert plan.study.protocol == protocol
    assert list(plan.materials) == list(LANGUAGES)
    assert all(len(line) <= 120 for line in out.read_text().split("\n"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_stands_in_comments_can_be_used_as_it_stands(
    commands: Commands, treebanks: list[Path], tmp_path: Path, protocol: str
) -> None:
    out = written(commands, tmp_path, protocol, treebanks)
    before = Plan.of(out)
    text, uncommented = re.subn(r"(?m)^# (?=\[\[|\w+ = )", "", out.read_text())
    out.write_text(text)
    after = Plan.of(out)
    assert uncommented >= 2
    assert after.study.engine.limit == 3600
    if protocol == "random-splits":
        assert after.strategies[1][0].settings["unit"] == "document"
    else:
        assert len(after.systems) + len(after.study.search) > len(before.systems) + len(before.study.search)
        assert after.study.develops is False


def test_random_splits_are_those_of_the_paper(commands: Commands, treebanks: list[Path], tmp_path: Path) -> None:
    plan = Plan.of(written(commands, tmp_path, "random-splits", treebanks))
    assert [(strategy.name, times) for strategy, times, _ in plan.strategies] == [("standard.v1", 1), ("random.v1", 20)]
    settings = plan.strategies[1][0].settings
    assert (settings["sizes"], settings["unit"]) == ("80/10/10", "sentence")
    assert (plan.study.compare.test, plan.study.compare.correction) == ("mcnemar-midp", "bonferroni")
    assert plan.study.evaluate == ["test"]
    assert len(plan.cells) == 3 * 21 * 4


def test_seeds_are_several(commands: Commands, treebanks: list[Path], tmp_path: Path) -> None:
    numbers = {}
    for protocol in ("score-distributions", "treebank-subsets", "test-size"):
        plan = Plan.of(written(commands, tmp_path, protocol, treebanks))
        numbers[protocol] = max(len(seeds) for seeds in plan.systems.values())
        assert len(plan.systems) >= 3
    assert numbers == {"score-distributions": 10, "treebank-subsets": 3, "test-size": 5}


def test_a_tune_part_and_dev_pick_epochs_in_turn(commands: Commands, treebanks: list[Path], tmp_path: Path) -> None:
    plan = Plan.of(written(commands, tmp_path, "tune-split", treebanks))
    [search] = searches_of(plan)
    assert search.entry.setups == ("dev", "tune")
    assert len(search.candidates) == 8
    for split in plan.corpus_splits:
        parts = {part: len(sentences) for part, sentences in plan.partition(split).parts.items()}
        assert parts["tune"] == parts["dev"] == parts["test"] > 10
        assert parts["train"] >= 3 * parts["tune"]


def test_train_is_half_of_a_small_treebank_and_all_that_follows_is_tested(
    commands: Commands, treebanks: list[Path], tmp_path: Path
) -> None:
    plan = Plan.of(written(commands, tmp_path, "test-size", treebanks))
    for split in plan.corpus_splits:
        material = plan.materials[split.corpus]
        words = {part: material.lengths[where].sum() for part, where in plan.partition(split).parts.items()}
        whole = material.lengths[material.without_test()].sum()
        assert words["train"] + words["test"] == whole
        assert abs(words["train"] - words["test"]) < 0.1 * whole + 100


def test_files_without_parts_get_a_random_split(commands: Commands, treebanks: list[Path], tmp_path: Path) -> None:
    (tmp_path / "all.conllu").write_text(corpus_text(60))
    corpora = [treebanks[0], tmp_path / "all.conllu"]
    plan = Plan.of(written(commands, tmp_path, "score-distributions", corpora))
    used = {split.corpus: split.split.partition(".v")[0] for split in plan.corpus_splits}
    assert used == {"velani": "standard", "all": "random"}
    plan = Plan.of(written(commands, tmp_path, "random-splits", corpora))
    assert sum(split.corpus == "all" for split in plan.corpus_splits) == 20
    assert sum(split.corpus == "velani" for split in plan.corpus_splits) == 21


def test_what_cannot_be_run_is_refused_and_nothing_is_written(
    commands: Commands, treebanks: list[Path], tmp_path: Path
) -> None:
    small, out = tmp_path / "small.conllu", tmp_path / "study.toml"
    small.write_text(corpus_text(3))
    expected = {
        "random-splits": "expected a corpus that is large enough to be split",
        "score-distributions": "expected a corpus that is large enough to be split",
        "treebank-subsets": "expected at least 3 corpora",
        "tune-split": "small.conllu: 3 sentences besides test; expected at least 30 for train, tune, dev and test",
        "test-size": "words besides test; expected at least 1,000",
    }
    for protocol, message in expected.items():
        assert message in commands.refused("init", "--protocol", protocol, small, "--out", out)
    assert "invalid choice: 'random'" in commands.refused("init", "--protocol", "random", treebanks[0], "--out", out)
    assert not out.exists()


def page(commands: Commands, study: Path, *overrides: str) -> str:
    """Run a study, and read its page without tags."""
    values = [word for override in overrides for word in ("--set", override)]
    ran = commands("run", study, "--quiet", *values)
    assert ran.code == 0, ran.err
    target = study.with_suffix(".html")
    reported = commands("report", study.with_suffix(".sqlite"), "--out", target)
    assert reported.code == 0, reported.err
    return html.unescape(re.sub(r"<[^>]+>", " ", target.read_text()))


@pytest.mark.slow
def test_the_page_of_random_splits_has_the_tables_of_the_paper(
    commands: Commands, treebanks: list[Path], tmp_path: Path
) -> None:
    study = written(commands, tmp_path, "random-splits", treebanks[:1])
    text = page(commands, study, "splits.1.times=3")
    assert "The study follows the experiment of Gorman and Bedrick (2019)" in text
    assert "on the standard split and on 3 random ones" in text  # figure 1
    assert re.search(r"McNemar's test \(mid-p\) on tokens.*Bonferroni's method for 3 splits", text)  # table 3
    assert re.search(r"[0-3] of 3", text)
    assert "Krippendorff's alpha" in text
    assert "some system right" in text


@pytest.mark.slow
def test_the_page_of_score_distributions_has_the_tables_of_the_paper(
    commands: Commands, treebanks: list[Path], tmp_path: Path
) -> None:
    study = written(commands, tmp_path, "score-distributions", treebanks[:1])
    text = page(commands, study, "seeds=4")
    assert "The study follows the experiment of Reimers and Gurevych (2017)" in text
    assert "Over runs" in text
    assert "p (KS)" in text
    assert "two random seeds" in text  # table 2
    assert "Dev against test" in text


@pytest.mark.slow
def test_the_page_of_treebank_subsets_has_the_tables_of_the_paper(
    commands: Commands, treebanks: list[Path], tmp_path: Path
) -> None:
    study = written(commands, tmp_path, "treebank-subsets", treebanks)
    text = page(commands, study, "seeds=2")
    assert "The study follows the experiment of Alonso-Alonso, Vilares and Gómez-Rodríguez (2022)" in text
    assert "Over data sets" in text
    assert "on all 3 subsets of 1" in text
    assert "mean rank" in text  # tables 3 and 4


@pytest.mark.slow
def test_the_pages_of_the_other_two_have_their_tables(
    commands: Commands, treebanks: list[Path], tmp_path: Path
) -> None:
    text = page(commands, written(commands, tmp_path, "tune-split", treebanks[:1]), "search.0.dictionary=5")
    assert "The study follows the experiment of van der Goot (2021)" in text
    assert "differing" in text  # table 1
    assert "test - dev of search" in text  # table 3
    text = page(commands, written(commands, tmp_path, "test-size", treebanks[:1]), "seeds=2")
    assert "The study follows the experiment of van der Goot, Liu and Müller-Eberstein (2024)" in text
    assert "How much test data is enough" in text
    assert "rand-seq" in text
