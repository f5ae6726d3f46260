"""Programs as systems: what they are given, what they must give back, and how they fail."""

import gc
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deadheat.corpus import Corpus, read, take, to_bytes
from deadheat.errors import InputError, NameUnknown
from deadheat.systems import SYSTEMS, System
from deadheat.systems.command import TrainedProgram
from tests.systems.programs import line, script, tagger

TEXT = (
    "# sent_id = 1\n1-2\tdel\t_\tMWT\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tE\tA=1\t2\tcase\t_\t_\n"
    "2\tel\tel\tDET\tA\t_\t0\troot\t_\tNo\n2.1\tx\t_\tGHOST\t_\t_\t_\t_\t_\t_\n\n# sent_id = 2\n"
    "1\tsol\tsol\tNOUN\tN\t_\t0\troot\t_\t_\n\n"
)
COPY = "import shutil, sys\nshutil.copy(sys.argv[1], sys.argv[2])\n"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files whose name would be several words and commands to a shell."""
    folder = tmp_path / "a b; touch 'broken' $HOME"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield folder
    gc.collect()
    assert list(folder.iterdir()) == []


def made(**settings: object) -> System:
    return SYSTEMS.make("command.v2", **settings)


def corpus() -> Corpus:
    return read(text=TEXT)


def predicted(system: System, train: Corpus | None = None, given: Corpus | None = None) -> Corpus:
    return system.train(train or corpus(), None, 0).predict(given or corpus())


def message(system: System) -> str:
    with pytest.raises(InputError) as caught:
        predicted(system)
    return str(caught.value)


def writer(folder: Path, code: str) -> System:
    """A system whose program makes of its input (`lines`, without their ends) what some code makes of it."""
    before = "import sys\nlines = open(sys.argv[1]).read().split('\\n')\n"
    after = "\nopen(sys.argv[2], 'w').write('\\n'.join(lines))\n"
    return made(predict=line(script(folder, before + code + after), "{input}", "{output}"))


@pytest.mark.parametrize("format", ["auto", "conllu", "columns", "tagged"])
def test_what_the_program_writes_is_the_prediction(tmp_path: Path, format: str) -> None:
    after = to_bytes(predicted(made(format=format, **tagger(tmp_path)))).decode()
    assert after == TEXT


def test_only_labels_are_taken_from_what_the_program_writes(tmp_path: Path) -> None:
    code = """lines = [l for l in lines if '#' not in l and '-' not in l[:3] and '.' not in l[:3]]
lines = ['\\t'.join([*l.split('\\t')[:2], 'l', 'X', 'x', 'B=2', '_', 'r', 'd', 'm']) if l else l for l in lines]"""
    after = to_bytes(predicted(writer(tmp_path, code))).decode()
    assert after == TEXT.replace("\tADP\t", "\tX\t").replace("\tDET\t", "\tX\t").replace("\tNOUN\t", "\tX\t")


@pytest.mark.parametrize("format", ["auto", "columns", "tagged"])
def test_the_program_does_not_see_labels_of_its_input(tmp_path: Path, format: str) -> None:
    copy = tmp_path / "seen"
    code = f"import shutil, sys\nshutil.copy(sys.argv[1], {str(copy)!r})\nsys.exit(1)\n"
    message(made(format=format, predict=line(script(tmp_path, code), "{input}")))
    seen = copy.read_text()
    assert {label for label in ("ADP", "DET", "NOUN", "MWT", "GHOST") if label in seen} == set()
    auto = (
        "# sent_id = 1\n1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\tel\t_\t_\t_\t_\t_\t_\t_\t_\n\n# sent_id = 2\n1\tsol\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    expected = {"auto": auto, "columns": "de\t_\nel\t_\n\nsol\t_\n\n", "tagged": "de_- el_-\nsol_-\n"}
    assert seen == expected[format]


def test_the_program_gets_training_and_tuning_files_a_model_and_a_seed(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code = f"""import json, os, sys
train, tune, model, seed = sys.argv[1:]
os.mkdir(model)
open(model + "/inside", "w").write(seed)
json.dump([open(train).read(), open(tune).read(), seed, os.environ["SEED"]], open({str(report)!r}, "w"))
"""
    check = """import shutil, sys
assert open(sys.argv[1] + "/inside").read() == "7"
shutil.copy(sys.argv[2], sys.argv[3])
"""
    system = made(
        train=line(script(tmp_path, code, "train.py"), "{train}", "{tune}", "{model}", "{seed}"),
        predict=line(script(tmp_path, check, "predict.py"), "{model}", "{input}", "{output}"),
        environment={"SEED": "s{seed}"},
        column="lemma",
    )
    tune = take(corpus(), [1])
    model = system.train(corpus(), tune, 7)
    with pytest.raises(InputError, match="no word has a label"):
        model.predict(corpus())
    without_node = "".join(row for row in TEXT.splitlines(keepends=True) if not row.startswith("2.1"))
    assert json.loads(report.read_text()) == [without_node, to_bytes(tune).decode(), "7", "s7"]


def test_a_system_is_seeded_if_a_command_has_the_seed() -> None:
    assert not made(predict="x {input}").seeded
    assert made(predict="x {input} {seed}").seeded
    assert made(predict="x {input}", train="y {seed}").seeded
    assert made(predict="x {input}", environment={"A": "{seed}"}).seeded


def test_without_places_for_them_input_and_output_are_the_standard_ones(tmp_path: Path) -> None:
    code = "import sys\nfor l in sys.stdin: print(l.replace('_-', '_X'), end='')\n"
    system = made(predict=line(script(tmp_path, code)), format="tagged")
    assert predicted(system).column("upos").strings() == ["X"] * 3


def test_names_with_spaces_and_semicolons_are_harmless(tmp_path: Path, temporary: Path) -> None:
    assert ";" in str(temporary)
    assert to_bytes(predicted(made(**tagger(tmp_path)))) == TEXT.encode()
    assert list(Path.cwd().iterdir()) == []


def test_a_shell_gets_no_names_that_mean_something_to_it() -> None:
    said = message(made(predict="cat {input} > {output}", shell=True))
    assert "means something to a shell; expected another $TMPDIR" in said


def plain_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def test_no_shell_is_involved_unless_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import json, sys\nprint(json.dumps(sys.argv[1:]), file=sys.stderr)\nsys.exit(1)\n"
    command = line(script(tmp_path, code)) + " $HOME ; echo '*' | cat > x {other}"
    said = message(made(predict=command))
    assert '["$HOME", ";", "echo", "*", "|", "cat", ">", "x", "{other}"]' in said
    plain_folder(tmp_path, monkeypatch)
    with_shell = made(predict="sed s/_-/_X/g {input} | cat > {output}", shell=True, format="tagged")
    assert predicted(with_shell).column("upos").strings() == ["X"] * 3


def test_a_program_that_fails_is_one_error_with_its_last_words(tmp_path: Path) -> None:
    code = "import sys\nfor i in range(30): print('line', i, file=sys.stderr)\nsys.exit(3)\n"
    path = script(tmp_path, code)
    system = made(train=line(path, "{train}"), predict="true")
    lines = message(system).split("\n")
    assert lines[0].startswith(f"command.v2: train command: {sys.executable} {path} ")
    assert lines[1] == "  failed with exit code 3"
    assert lines[2:] == [f"  | line {i}" for i in range(20, 30)]


def test_standard_output_is_shown_if_standard_error_is_empty(tmp_path: Path) -> None:
    said = message(made(predict=line(script(tmp_path, "print('oh no')\nraise SystemExit(2)\n"))))
    assert said.endswith("  failed with exit code 2\n  | oh no")
    said = message(made(predict=line(script(tmp_path, "raise SystemExit(2)\n"))))
    assert said.endswith("  failed with exit code 2, and printed nothing")


def test_a_program_ended_by_a_signal_says_so(tmp_path: Path) -> None:
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    assert "was ended by SIGKILL" in message(made(predict=line(script(tmp_path, code))))


def test_a_program_that_is_not_there_says_so() -> None:
    said = message(made(predict="no-such-program-anywhere {input}"))
    assert said.startswith("command.v2: predict command: no-such-program-anywhere ")
    assert said.endswith("cannot be started (no such file or directory)")


def test_a_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = script(tmp_path, f"sleep 600 & echo $! > {shlex.quote(str(note))}; wait\n", "script.sh")
    said = message(made(predict=shlex.join(["sh", str(program)]), limit=2))
    assert said.endswith("  took more than 2 s and was ended")
    child = int(note.read_text())
    deadline = time.monotonic() + 120
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def test_a_prediction_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.systems.command.MIN_OUTPUT", 1 << 20)
    said = message(made(predict="yes"))
    assert said.endswith("  printed more than 1 MB and was ended; expected the input with labels")


@pytest.mark.parametrize("which", ["train", "predict"])
def test_only_the_end_of_a_long_log_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    monkeypatch.setattr("deadheat.systems.process.LOG_LIMIT", 1 << 16)
    monkeypatch.setattr("deadheat.systems.process.KEPT", 1 << 10)
    program = script(
        tmp_path, "yes 'epoch after epoch' | head -c 3000000 >&2; sleep 0.3; echo oh no >&2; exit 1", "p.sh"
    )
    log = shlex.join(["sh", str(program)])
    said = message(made(train=log, predict="true") if which == "train" else made(predict=f"{log} {{output}}"))
    outcome, *lines = said.splitlines()[1:]
    dropped = re.fullmatch(
        r"  failed with exit code 1 \(([\d,]+) bytes of output before its end were dropped\)", outcome
    )
    assert dropped is not None
    assert int(dropped[1].replace(",", "")) > 2_500_000
    assert lines[-1].endswith("oh no")
    assert len(lines) == 10


def is_running(process: int) -> bool:
    """Whether a process is there and not only waiting to be forgotten."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_program_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    said = message(made(predict=line(script(tmp_path, ""), "{output}")))
    assert (
        "output.conllu: was not written; expected the words of the input with labels\n  written by command.v2" in said
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("lines[3] = lines[3].replace('el', 'la')", ":4: word 'la'; expected 'el' as in the input"),
        ("del lines[6:9]", "output.conllu: 1 sentence; expected 2 as in the input"),
        ("lines[-1:] = lines[6:]", "output.conllu: 3 sentences; expected 2 as in the input"),
        ("lines = lines[5:]", ":2: word 'sol'; expected 'de' as in the input"),
        ("lines[3] = 'nonsense'", ":4: 1 tab-separated column; expected 10"),
        ("lines = []", "output.conllu: 0 sentences; expected 2 as in the input"),
        ("pass", "output.conllu: no word has a label; expected one on every word"),
    ],
)
def test_a_program_that_writes_other_words_is_an_error_with_the_line(tmp_path: Path, code: str, expected: str) -> None:
    said = message(writer(tmp_path, code))
    assert expected in said
    assert f"written by command.v2: predict command: {sys.executable}" in said


def test_a_sentence_that_ends_elsewhere_is_an_error_with_the_line(tmp_path: Path) -> None:
    code = "text = open(__import__('sys').argv[1]).read()\nopen(__import__('sys').argv[2], 'w').write({})\n"
    for change, expected in (
        ("text.replace('_\\nel', '_\\n\\nel')", "output.tsv:1: sentence 1 has 1 word; expected 2 as in the input"),
        ("text.replace('\\n\\nsol', '\\nsol')", "output.tsv:1: sentence 1 has 3 words; expected 2 as in the input"),
    ):
        command = line(script(tmp_path, code.format(change)), "{input}", "{output}")
        assert expected in message(made(predict=command, format="columns"))


def test_a_program_may_leave_labels_blank_if_blank_is_a_label(tmp_path: Path) -> None:
    system = made(predict=line(script(tmp_path, COPY), "{input}", "{output}"), column="feats")
    assert predicted(system).column("feats").strings() == ["_"] * 3


def test_what_tagged_text_cannot_hold_is_refused(tmp_path: Path) -> None:
    system = made(format="tagged", **tagger(tmp_path))
    for text, what in (
        (TEXT.replace("\tsol\t", "\ts ol\t"), "form 's ol'"),
        (TEXT.replace("DET", "D_T"), "upos 'D_T'"),
    ):
        with pytest.raises(InputError, match=f"text:[0-9]+: {what}; expected no space in words and labels"):
            system.train(read(text=text), None, 0)


def test_a_column_that_conllu_does_not_have_is_refused(tmp_path: Path) -> None:
    system = made(format="conllu", column="tag", **tagger(tmp_path))
    with pytest.raises(NameUnknown, match="column of format='conllu' 'tag' is unknown"):
        system.train(read(text="a_X\n"), None, 0)


def test_tagged_text_can_be_given_as_columns_and_the_other_way_round(tmp_path: Path) -> None:
    for text, format in (("a_X b_Y\na_X\n", "columns"), ("a\tX\nb\tY\n\na\tX\n\n", "tagged")):
        system = made(column="tag", format=format, **tagger(tmp_path))
        assert to_bytes(predicted(system, read(text=text), read(text=text))) == text.encode()


def test_a_file_without_its_last_newline_is_given_whole_and_comes_back_as_it_was(tmp_path: Path) -> None:
    text = "a\tX\nb\tY"
    system = made(column="tag", **tagger(tmp_path))
    assert to_bytes(predicted(system, read(text=text), read(text=text))) == text.encode()


def test_a_model_keeps_its_folder_until_it_is_closed_or_forgotten(tmp_path: Path, temporary: Path) -> None:
    system = made(**tagger(tmp_path))
    first, second = (system.train(corpus(), None, 0) for _ in range(2))
    assert len(list(temporary.iterdir())) == 2
    assert isinstance(first, TrainedProgram)
    first.close()
    first.close()
    assert len(list(temporary.iterdir())) == 1
    with pytest.raises(InputError, match="the model was closed"):
        first.predict(corpus())
    assert second.predict(corpus()).words == 3
    del second
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_a_forked_process_does_not_remove_the_folder(tmp_path: Path) -> None:
    model = made(**tagger(tmp_path)).train(corpus(), None, 0)
    assert isinstance(model, TrainedProgram)
    child = os.fork()
    if not child:
        model.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert to_bytes(model.predict(corpus())) == TEXT.encode()


def test_tuning_is_asked_for_where_a_command_has_it() -> None:
    with pytest.raises(InputError, match=r"a command has \{tune\}, but there is no corpus to tune on"):
        made(train="x {tune}", predict="y").train(corpus(), None, 0)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "no predict command; expected one such as"),
        ({"predict": "x {inputs}"}, "placeholder of the predict command 'inputs' is unknown; did you mean 'input'?"),
        ({"predict": "x", "train": "y {modle}"}, "placeholder of the train command 'modle' is unknown; did you mean"),
        ({"predict": "x", "train": "y {output}"}, "placeholder of the train command 'output' is unknown"),
        ({"predict": "x 'y"}, 'predict="x \'y": no closing quotation; expected a command line'),
        ({"predict": "x", "limit": -1}, "limit=-1; expected seconds, or 0 for no limit"),
        ({"predict": "x", "limit": 1.5}, "limit=1.5; expected a value like 0"),
        ({"predict": "x", "format": "conlu"}, "format 'conlu' is unknown; did you mean 'conllu'?"),
        ({"predict": "x", "environment": {"A": 1}}, "environment={'A': 1}; expected names and values as strings"),
    ],
)
def test_settings_that_are_wrong_stop_at_the_door(settings: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        made(**settings)
    assert expected in str(caught.value)


def test_braces_that_are_not_ours_are_left_alone() -> None:
    program = made(predict="awk '{print}' {input}")
    assert program.name == "command.v2(predict=\"awk '{print}' {input}\")"
