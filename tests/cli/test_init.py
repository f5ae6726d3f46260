"""`deadheat init`: what it writes is valid, and runs as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadheat.study.plan.plan import Plan
from tests.cli.running import Commands
from tests.study.study_cases import corpus_text


def corpus(path: Path, sentences: int = 30, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(corpus_text(sentences, seed))
    return path


def test_what_is_written_runs_as_it_is(commands: Commands, tmp_path: Path) -> None:
    file, out = corpus(tmp_path / "data" / "xx-ud-all.conllu"), tmp_path / "study.toml"
    done = commands("init", file, "--out", out)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{out}: edit it, then run: deadheat run {out} --plan\n"
    planned = commands("run", out, "--plan", "--json")
    assert planned.code == 0, planned.err
    assert json.loads(planned.out)["cells"] == 20 * 3
    ran = commands("run", out, "--quiet", "--set", "splits.times=2")
    assert ran.code == 0, ran.err
    for system in ("unigram", "hmm", "perceptron"):
        assert system in ran.out
    plan = Plan.of(out)
    assert list(plan.materials) == ["xx-all"]
    assert plan.study.corpora["xx-all"].files == "data/xx-ud-all.conllu"


def test_every_line_of_it_that_is_a_comment_says_something_true(commands: Commands, tmp_path: Path) -> None:
    """What stands behind comment signs can be used as it stands."""
    for number, part in enumerate(("train", "dev", "test")):
        corpus(tmp_path / "xx" / f"xx-ud-{part}.conllu", 20, number)
    out = tmp_path / "study.toml"
    assert commands("init", tmp_path / "xx", "--out", out).code == 0
    text = out.read_text()
    lines = ["# strategy = 'standard'", "# seeds = 5", "# limit = 3600"]
    assert all(line in text for line in lines)
    for line in lines[1:]:
        text = text.replace(line, line.removeprefix("# "))
    text = text.replace('strategy = "random"\ntimes = 20\nsizes = "80/10/10"\n# ', "")
    out.write_text(text)
    plan = Plan.of(out)
    assert [strategy.name for strategy, _, _ in plan.strategies] == ["standard.v1"]
    assert plan.systems["perceptron.v2"] == [0, 1, 2, 3, 4]
    assert plan.study.engine.limit == 3600


def test_names_that_it_lists_exist(commands: Commands, tmp_path: Path) -> None:
    from deadheat.splits import STRATEGIES
    from deadheat.systems import SYSTEMS

    out = tmp_path / "study.toml"
    commands("init", corpus(tmp_path / "a.conllu"), "--out", out)
    text = " ".join(line.lstrip("# ") for line in out.read_text().split("\n"))
    splits = text.split("--help'): ")[1].split(". For several")[0].split(", ")
    systems = text.split("Systems: ")[1].split(";")[0].split(", ")
    assert {"standard", "random", "kfold", "ud"} <= set(splits)
    assert {"majority", "unigram", "hmm", "perceptron"} <= set(systems)
    for name in splits:
        assert STRATEGIES.make(name).name == f"{name}.v1"
    for name in systems:
        assert any(known.startswith(f"{name}.v") for known in SYSTEMS)


@pytest.mark.parametrize(
    "name",
    ['a "quoted" \\ name.conllu', "été 北.conllu", "[x].conllu", "a'b.conllu", ".conllu", "{0}.conllu", "a=b#c.conllu"],
)
def test_any_file_name_will_do(commands: Commands, tmp_path: Path, name: str) -> None:
    out = tmp_path / f"study of {name}.toml"
    assert commands("init", corpus(tmp_path / name), "--out", out).code == 0
    plan = Plan.of(out)
    assert plan.study.name == out.stem
    [entry] = plan.study.corpora.values()
    assert entry.files == name


def test_corpora_of_one_name_are_told_apart(commands: Commands, tmp_path: Path) -> None:
    files = [corpus(tmp_path / folder / "same.conllu", seed=seed) for seed, folder in enumerate("abc")]
    out = tmp_path / "elsewhere" / "study.toml"
    out.parent.mkdir()
    assert commands("init", *files, "--out", out).code == 0
    plan = Plan.of(out)
    assert {name: entry.files for name, entry in plan.study.corpora.items()} == {
        "same": "../a/same.conllu",
        "same-2": "../b/same.conllu",
        "same-3": "../c/same.conllu",
    }
    assert len(plan.cells) == 3 * 20 * 3


def test_how_files_are_read_is_written_down(commands: Commands, tmp_path: Path) -> None:
    file, out = tmp_path / "c.tsv", tmp_path / "study.toml"
    file.write_text("a|X|1\nb|Y|1\nc|X|1\n\n" * 20)
    options = ["--format", "columns", "--columns", "form,kind,same", "--separator", "|"]
    assert commands("init", file, *options, "--out", out).code == 0
    plan = Plan.of(out)
    assert list(plan.materials["c"].corpus.columns) == ["form", "kind", "same"]
    assert set(plan.systems) == {f"{name}(column='kind')" for name in ("unigram.v1", "hmm.v1", "perceptron.v2")}


def test_tagged_text_is_learned_by_its_tags(commands: Commands, tmp_path: Path) -> None:
    file, out = tmp_path / "t.pos", tmp_path / "study.toml"
    file.write_text("the_DT heat_NN\nthe_DT dead_JJ heat_NN\n" * 10)
    assert commands("init", file, "--out", out).code == 0
    ran = commands("run", out, "--quiet", "--set", "splits.times=1", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["missing"] == 0


def test_documents_are_kept_whole_where_there_are_enough(commands: Commands, tmp_path: Path) -> None:
    texts = [corpus_text(3, seed).replace("# sent_id", f"# newdoc id = d{seed}\n# sent_id", 1) for seed in range(12)]
    for name, several, wanted in (("many", 12, "document"), ("two", 2, "sentence")):
        (tmp_path / f"{name}.conllu").write_text("".join(texts[:several]) + corpus_text(20).replace("s", "t", 1))
        out = tmp_path / f"{name}.toml"
        assert commands("init", tmp_path / f"{name}.conllu", "--out", out).code == 0
        [(strategy, _, _)] = Plan.of(out).strategies
        assert strategy.settings["unit"] == wanted


def test_a_corpus_without_documents_does_not_split_up_those_of_the_others(commands: Commands, tmp_path: Path) -> None:
    texts = [corpus_text(3, seed).replace("# sent_id", f"# newdoc id = d{seed}\n# sent_id", 1) for seed in range(12)]
    (tmp_path / "many.conllu").write_text("".join(texts))
    corpus(tmp_path / "plain.conllu")
    out = tmp_path / "study.toml"
    assert commands("init", tmp_path / "many.conllu", tmp_path / "plain.conllu", "--out", out).code == 0
    plan = Plan.of(out)
    units = {
        name: [strategy.settings["unit"] for strategy, _, _ in plan.strategies_of(name)] for name in plan.materials
    }
    assert units == {"many": ["document"], "plain": ["sentence"]}
    assert "# By sentences: " in out.read_text()


def test_what_cannot_be_a_study_is_refused_and_nothing_is_written(commands: Commands, tmp_path: Path) -> None:
    out = tmp_path / "study.toml"
    small, plain = corpus(tmp_path / "small.conllu", 3), tmp_path / "plain.conllu"
    plain.write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n" * 30)
    refused: list[tuple[list[object], str]] = [
        ([small], "expected a corpus that is large enough to be split"),
        ([plain, "--missing-heads"], "no column with several labels; expected one to predict"),
        ([tmp_path / "none.conllu"], "cannot be read"),
        (["-"], "standard input cannot be read again"),
    ]
    for arguments, told in refused:
        assert told in commands.refused("init", *arguments, "--out", out)
        assert not out.exists()
    good = corpus(tmp_path / "good.conllu")
    assert "cannot be written" in commands.refused("init", good, "--out", tmp_path / "no folder" / "study.toml")
    out.write_text("mine\n")
    assert "exists already" in commands.refused("init", good, "--out", out)
    assert out.read_text() == "mine\n"
