from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deadheat.cli.options import COMPILING, announce_compiling
from deadheat.corpus import read
from deadheat.kernels import native
from deadheat.metrics import METRICS
from tests.cli.running import Commands


def test_info_tells_what_is_in_a_corpus(commands: Commands, gold: Path) -> None:
    told = json.loads(commands("info", gold, "--json").out)
    assert (told["sentences"], told["words"], told["documents"], told["types"]) == (5, 8, 5, 7)
    assert "sentences" in commands("info", gold).out


def test_several_files_are_one_corpus(commands: Commands, gold: Path, guess: Path) -> None:
    assert json.loads(commands("info", gold, guess, "--json").out)["sentences"] == 10


def test_every_metric_is_listed(commands: Commands) -> None:
    listed = [each["name"] for each in json.loads(commands("metrics", "--json").out)["metrics"]]
    assert listed == list(METRICS)
    assert all(name in commands("metrics").out for name in METRICS)


def test_every_metric_says_what_it_counts(commands: Commands) -> None:
    assert all(each["counts"] for each in json.loads(commands("metrics", "--json").out)["metrics"])


def test_convert_writes_the_same_bytes(commands: Commands, gold: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conllu.gz"
    assert commands("convert", gold, out).code == 0
    assert gzip.decompress(out.read_bytes()) == gold.read_bytes()


def test_convert_mends_the_end_on_request_only(commands: Commands, tmp_path: Path) -> None:
    cut, out = tmp_path / "cut.conllu", tmp_path / "out.conllu"
    cut.write_text("1\tHi\t_\t_\t_\t_\t0\troot\t_\t_")
    refusal = commands("convert", cut, out)
    assert refusal.code == 2
    assert refusal.err.startswith(f"{cut}:1: no empty line at the end of the file")
    assert refusal.err.endswith("--final-newline accepts files without an empty line at the end\n")
    assert not out.exists()
    assert commands("convert", cut, out, "--final-newline").code == 0
    assert out.read_text() == cut.read_text()
    assert commands("convert", cut, out, "--mend").code == 0
    assert out.read_text() == cut.read_text() + "\n\n"


def test_what_cannot_be_written_is_told(commands: Commands, gold: Path, tmp_path: Path) -> None:
    target = tmp_path / "no such folder" / "out.conllu"
    assert commands.refused("convert", gold, target) == f"{target}: cannot be written (no such file or directory)"


def test_the_testbed_is_written_and_reads_back(commands: Commands, tmp_path: Path) -> None:
    out = tmp_path / "bed"
    assert commands("testbed", "--out", out, "--sentences", 60, "--language", "velani", "--seeds", 1).code == 0
    assert read(out / "velani" / "velani-ud-train.conllu").words > 100
    assert json.loads((out / "truth.json").read_text())["sentences"] == 60
    assert "not empty" in commands.refused("testbed", "--out", out)


def announcement(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False) -> str:
    """What stands on standard error after two kernels were compiled."""
    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(native, "announce", None)
    announce_compiling(quiet=quiet)
    for name in ("scan", "match") if native.announce else ():
        with native.announced(name):
            pass
    return written.getvalue()


def test_compiling_is_announced_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "distrust", lambda folder: "")
    assert announcement(monkeypatch, terminal=False) == f"{COMPILING}\n"
    assert announcement(monkeypatch, terminal=False, quiet=True) == ""
    # On a terminal, the line names the kernel and disappears.
    steps = [f"{COMPILING}: scan ... ", "", f"{COMPILING}: match ... ", ""]
    assert announcement(monkeypatch, terminal=True) == "".join(f"\r\x1b[K{step}" for step in steps)


def test_a_cache_that_is_not_used_is_announced_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "distrust", lambda folder: "/cache is writable by other users")
    expected = f"{COMPILING} (the cache is not used: /cache is writable by other users)\n"
    assert announcement(monkeypatch, terminal=False) == expected
    assert expected in announcement(monkeypatch, terminal=True)


def test_commands_that_read_corpora_announce_compiling(
    commands: Commands, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "announce", None)
    commands("info", gold)
    assert native.announce is not None


def test_convert_follows_links_keeps_modes_and_writes_into_pipes(
    commands: Commands, gold: Path, tmp_path: Path
) -> None:
    real, link = tmp_path / "real.conllu", tmp_path / "link.conllu"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert commands("convert", gold, link).code == 0
    assert link.is_symlink()
    assert real.read_bytes() == gold.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert commands("convert", gold, pipe).code == 0
    assert reader.communicate(timeout=120)[0] == gold.read_bytes()


def test_a_full_disk_is_told(gold: Path) -> None:
    command = f"{sys.executable} -m deadheat.cli.main score {gold} {gold} > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "deadheat score: the output cannot be written (no space left on device)\n"


def test_a_seed_below_zero_is_refused(commands: Commands, gold: Path) -> None:
    assert "'-1'; expected a whole number" in commands.refused("score", gold, gold, "--seed=-1")


def test_the_faults_of_all_files_are_told(commands: Commands, gold: Path, tmp_path: Path) -> None:
    bad, missing = tmp_path / "bad.conllu", tmp_path / "missing.conllu"
    bad.write_text("1\tHi\t_\t_\t_\t_\t0\troot\t_\t_")
    told = commands("score", gold, bad, missing)
    assert told.code == 2
    assert [line.split(":")[0] for line in told.err.splitlines()[:2]] == [str(bad), str(missing)]
    assert told.err.endswith("--final-newline accepts files without an empty line at the end\n")


def test_a_breakdown_that_is_not_defined_is_refused(commands: Commands, gold: Path) -> None:
    assert commands.refused("score", gold, gold, "-m", "las", "--by", "tag").startswith("las.v1 by tag; expected upos")
    assert commands.refused("score", gold, gold, "-m", "upos", "--by", "relation").startswith("upos.v1 by relation")


def test_columns_that_a_prediction_lacks_are_noted(commands: Commands, gold: Path, guess: Path) -> None:
    bare = re.sub(r"^(\d+\t\S+\t\S+\t\S+\t)\S+", r"\1_", guess.read_text(), flags=re.MULTILINE)
    guess.write_text(bare, encoding="utf-8")
    assert "no XPOS in the prediction; they count as wrong" in commands("score", gold, guess).err


def test_info_on_a_folder_of_treebanks_has_the_sizes_of_their_parts(commands: Commands, tmp_path: Path) -> None:
    for name in ("aa", "bb"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}-ud-test.conllu").write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    (tmp_path / "empty").mkdir()
    assert "Of 2 treebanks, 0 of 2 test sets have 10,000 words or more." in commands("info", tmp_path).out
    document = json.loads(commands("info", tmp_path, "--json").out)
    assert [(bank["name"], bank["parts"][0]["words"]) for bank in document["treebanks"]] == [("aa", 1), ("bb", 1)]
    assert "no corpus files in this folder" in commands.refused("info", tmp_path / "empty")
