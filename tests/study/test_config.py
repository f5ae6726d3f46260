"""Study files: every mistake is told at once, with its line."""

from pathlib import Path

import pytest

from deadheat.errors import InputError, StudyError
from deadheat.metrics import METRICS
from deadheat.study.plan.study_file import read_study
from deadheat.study.plan.toml_lines import line_of
from tests.cli.running import Commands

GOOD = """\
name = "taggers"
seeds = 2
metrics = ["accuracy(column='upos')"]

[corpora.small]
files = "small.conllu"

[splits]
strategy = "random"
times = 3
unit = "sentence"

[[systems]]
name = "unigram"

[[systems]]
name = "majority"
column = ["upos", "xpos"]
seeds = [7]

[compare]
correction = "holm"

[engine]
workers = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.conllu").write_text("1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n\n")
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text)
    return path


def faults(folder: Path, text: str, *overrides: str) -> list[str]:
    path = written(folder, text)
    with pytest.raises(StudyError) as caught:
        read_study(path, overrides)
    return [str(fault).replace(str(path), "study.toml") for fault in caught.value.faults]


def test_a_study_file_is_read(folder: Path) -> None:
    study, text = read_study(written(folder, GOOD))
    assert text == GOOD
    assert study.name == "taggers"
    assert [(entry.strategy, entry.times, entry.settings) for entry in study.splits] == [
        ("random", 3, {"unit": "sentence"})
    ]
    assert [study.seeds_of(system) for system in study.systems] == [[0, 1], [7]]
    assert study.compare.correction == "holm"


def test_all_mistakes_are_told_with_their_lines(folder: Path) -> None:
    text = (
        GOOD.replace("times = 3", 'times = "3"').replace("workers = 1", "wokers = 1").replace("seeds = 2", "seeds = 0")
    )
    text = text.replace('files = "small.conllu"', "files = 3")
    assert faults(folder, text) == [
        "study.toml:6: corpora.small.files: input should be a valid string, not 3",
        "study.toml:10: splits.times: input should be a valid integer, not '3'",
        "study.toml:2: seeds: input should be greater than or equal to 1, not 0",
        "study.toml:25: engine.wokers is unknown; did you mean 'workers'?",
    ]


def test_names_and_settings_that_do_not_exist_are_told_together(folder: Path) -> None:
    text = GOOD.replace('"unigram"', '"unigramm"').replace('"random"', '"randm"').replace("accuracy(", "acuracy(")
    text = text.replace("column = [", "colum = [").replace('"holm"', '"hlm"').replace("small.conllu", "smal.conllu")
    messages = faults(folder, text)
    assert [message.split(": ")[0] for message in messages] == [f"study.toml:{line}" for line in (3, 6, 9, 14, 18, 22)]
    assert "smal.conllu: no such file or folder" in messages[1]
    assert all("did you mean" in message for i, message in enumerate(messages) if i != 1)


def test_wrong_values_and_wrong_names_are_told_together(folder: Path) -> None:
    text = (
        GOOD.replace('"unigram"', '"unigramm"').replace("workers = 1", "wokers = 1").replace("times = 3", "times = 0")
    )
    messages = faults(folder, text)
    assert [message.split(": ")[0] for message in messages] == [f"study.toml:{line}" for line in (10, 14, 25)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'x'\n", "corpora is missing; expected it"),
        (GOOD.replace("[[systems]]", "[[system]]"), "system is unknown; did you mean 'systems'?"),
        (GOOD + "[[splits]]\nstrategy='random'\n", "not valid TOML"),
        ("a = [", "not valid TOML"),
    ],
)
def test_what_is_no_study_is_told(folder: Path, text: str, message: str) -> None:
    assert any(message in fault for fault in faults(folder, text))


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"nothing\.toml: cannot be read \(no such file or directory\)"):
        read_study(tmp_path / "nothing.toml")


def test_values_can_be_overridden(folder: Path) -> None:
    path = written(folder, GOOD)
    study, _ = read_study(path, ["systems.1.column=feats", "splits.times=5", "compare.alpha=0.01", "engine.limit=2.5"])
    assert study.systems[1].settings == {"column": "feats"}
    assert study.splits[0].times == 5
    assert (study.compare.alpha, study.engine.limit) == (0.01, 2.5)
    for wrong, message in [
        ("systems.2.column=x", "no entry '2'; expected 0 to 1"),
        ("seeds", "expected as systems.0.epochs=5"),
        ("name.x=3", "'x' is not inside a table"),
    ]:
        with pytest.raises(InputError, match=message):
            read_study(path, [wrong])


def test_a_place_that_may_be_of_two_kinds_is_told_once_and_where_it_is_wrong(folder: Path) -> None:
    text = GOOD.replace("seeds = 2", "seeds = [1, -1]").replace("seeds = [7]", "seeds = ['a']")
    text = text.replace('files = "small.conllu"', 'files = ["small.conllu", 3]')
    assert faults(folder, text) == [
        "study.toml:6: corpora.small.files.1: input should be a valid string, not 3",
        "study.toml:19: systems.1.seeds.0: input should be a valid integer, not 'a'",
        "study.toml:2: seeds.1: input should be greater than or equal to 0, not -1",
    ]


def test_what_is_missing_is_told_by_its_place_in_the_file(folder: Path) -> None:
    text = GOOD.replace('strategy = "random"\n', "").replace('name = "unigram"\n', "")
    assert faults(folder, text) == [
        "study.toml:8: splits.strategy is missing; expected it",
        "study.toml:12: systems.0.name is missing; expected it",
    ]
    several = GOOD.replace("[splits]", "[[splits]]").replace('strategy = "random"\n', "")
    assert faults(folder, several) == ["study.toml:8: splits.0.strategy is missing; expected it"]


def test_several_ways_to_split_are_read(folder: Path) -> None:
    text = GOOD.replace("[splits]", "[[splits]]\nstrategy = 'kfold'\nfolds = 5\n[[splits]]")
    study, _ = read_study(written(folder, text))
    assert [(entry.strategy, entry.settings) for entry in study.splits] == [
        ("kfold", {"folds": 5}),
        ("random", {"unit": "sentence"}),
    ]
    wrong = faults(folder, text.replace("folds = 5", "fold = 5").replace('unit = "sentence"', "unit = 3"))
    assert wrong == [
        "study.toml:10: setting of kfold.v1 'fold' is unknown; did you mean 'folds'?",
        "study.toml:14: random.v1: unit=3; expected a value like 'sentence'",
    ]


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('column = ["upos", "xpos"]', "column = []", "study.toml:18: column has no values; expected at least one"),
        ("seeds = [7]", "seeds = []", "study.toml:19: no seeds; expected at least one"),
        ('[corpora.small]\nfiles = "small.conllu"', "[corpora]", "study.toml:5: no corpora; expected at least one"),
    ],
)
def test_empty_lists_are_refused(folder: Path, before: str, after: str, fault: str) -> None:
    assert before in GOOD
    assert faults(folder, GOOD.replace(before, after)) == [fault]


def test_overrides_reach_every_place(folder: Path) -> None:
    path = written(folder, GOOD)
    study, _ = read_study(
        path, ["systems.0={name = 'hmm', beam = 10}", "corpora.more.files=small.conllu", "seeds=[4, 4, 2]"]
    )
    assert (study.systems[0].name, study.systems[0].settings) == ("hmm", {"beam": 10})
    assert list(study.corpora) == ["small", "more"]
    assert study.seeds_of(study.systems[0]) == [4, 2]
    with pytest.raises(StudyError, match="sytems is unknown; did you mean 'systems'"):
        read_study(path, ["sytems.x=1"])


def test_places_are_found_behind_headers_comments_and_dots() -> None:
    text = "# a comment = 1\na = 1\n[b]\nc.d = 2\n\n[b.e] # why\nf = 3\n[[g]]\nh = 1\n[[g]]\nh = 2\n[[g.i]]\nj = 3\n"
    assert line_of("[corpora.'en.ewt']\n\"a b\" . c = 1\nd=2\n", ["corpora", "en.ewt", "a b", "c"]) == 2
    paths: list[list[str | int]] = [
        ["a"], ["b", "c", "d"], ["b", "e", "f"], ["g", 0, "h"], ["g", 1, "h"], ["g", 1], ["x"],
    ]  # fmt: skip
    assert [line_of(text, path) for path in paths] == [2, 4, 7, 9, 11, 10, 0]


def hypothesis(lines: str) -> str:
    return f"{GOOD}\n[hypothesis]\n{lines}\n"


def test_a_hypothesis_names_two_systems_and_a_margin(folder: Path) -> None:
    study, _ = read_study(written(folder, hypothesis('primary = "unigram > majority column=upos"\nmargin = 1')))
    assert study.hypothesis.systems == ("unigram", "majority column=upos")
    assert study.hypothesis.margin == 1
    study, _ = read_study(written(folder, hypothesis("margin = 0.0")))
    assert (study.hypothesis.systems, study.hypothesis.margin) == (None, 0)
    study, _ = read_study(written(folder, GOOD))
    assert (study.hypothesis.systems, study.hypothesis.margin) == (None, None)


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        ("primary = 'unigram'", 28, "primary = 'unigram'; expected two systems, as \"A > B\""),
        ("primary = 'A > B > C'", 28, "primary = 'A > B > C'; expected two systems, as \"A > B\""),
        ("primary = ' > B'", 28, "expected two systems"),
        ("primary = 'A < B'", 28, "expected two systems"),
        ("primary = 'A > A'", 28, "hypothesis: A twice; expected two systems"),
        ("margin = -1", 28, "hypothesis.margin: input should be greater than or equal to 0, not -1"),
        ("margin = nan", 28, "hypothesis.margin: input should be a finite number, not nan"),
        ("margin = '1'", 28, "hypothesis.margin: input should be a valid number, not '1'"),
        ("metric = 'las'", 28, 'hypothesis: a metric without primary; expected as primary = "A > B"'),
        ("primry = 'A > B'\nmargin = 1", 28, "hypothesis.primry is unknown; did you mean 'primary'?"),
    ],
)
def test_mistakes_in_a_hypothesis_are_one_line(folder: Path, lines: str, line: int, message: str) -> None:
    [fault] = faults(folder, hypothesis(lines))
    assert fault.startswith(f"study.toml:{line}: ")
    assert message in fault


def test_a_protocol_is_one_of_those_that_there_are(folder: Path) -> None:
    study, _ = read_study(written(folder, f"protocol = 'tune-split'\n{GOOD}"))
    assert study.protocol == "tune-split"
    assert faults(folder, f"protocol = 'tune-splits'\n{GOOD}") == [
        "study.toml:1: protocol 'tune-splits' is unknown; did you mean 'tune-split'?"
    ]


def test_corpora_to_develop_on_leave_no_choice_of_parts_and_no_search(folder: Path) -> None:
    text = GOOD.replace('files = "small.conllu"', 'files = "small.conllu"\nrole = "develop"')
    study, _ = read_study(written(folder, text))
    assert study.develops
    assert not read_study(written(folder, GOOD))[0].develops
    [fault] = faults(folder, f"evaluate = ['dev']\n{text}")
    assert fault.startswith('study.toml:1: evaluate: corpora with role = "develop" are scored on dev')
    [fault] = faults(folder, f"{text}\n[search]\nsystem = 'perceptron'\norder = [2, 3]\n")
    assert fault.startswith('study.toml:28: search: corpora with role = "develop" cannot be searched apart')
    [fault] = faults(folder, text.replace('"develop"', '"dev"'))
    assert fault == "study.toml:7: corpora.small.role: input should be 'evaluate' or 'develop', not 'dev'"


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ("'small.conllu'", ["small.conllu"]),
        ("['b-train.conllu', 'small.conllu']", ["b-train.conllu", "small.conllu"]),
        ("'b-*.conllu'", ["b-dev.conllu", "b-test.conllu", "b-train.conllu"]),
        ("{ files = 'b-*.conllu' }", ["b-dev.conllu", "b-test.conllu", "b-train.conllu"]),
        ("['small.conllu', 'b-t*']", ["small.conllu", "b-test.conllu", "b-train.conllu"]),
        ("'**/b-dev.conllu'", ["b-dev.conllu", "inner/b-dev.conllu"]),
        ("'odd[1].conllu'", ["odd[1].conllu"]),
    ],
)
def test_a_corpus_is_a_file_a_list_or_a_pattern(folder: Path, files: str, read: list[str]) -> None:
    (folder / "inner").mkdir()
    for name in ("b-train", "b-test", "b-dev", "inner/b-dev", "odd[1]"):
        (folder / f"{name}.conllu").write_text((folder / "small.conllu").read_text())
    study, _ = read_study(
        written(folder, GOOD.replace('[corpora.small]\nfiles = "small.conllu"', f"[corpora]\nb = {files}"))
    )
    paths = [path for _, paths in study.corpora["b"].paths(folder) for path in paths]
    assert [str(path.relative_to(folder)) for path in paths] == read


@pytest.mark.parametrize("files", ["'c-*.conllu'", "['small.conllu', 'c-*.conllu']"])
def test_a_pattern_that_matches_nothing_is_an_error(folder: Path, files: str) -> None:
    (line,) = faults(folder, GOOD.replace('"small.conllu"', files))
    assert line == "study.toml:6: c-*.conllu: no file matches this pattern; expected it beside the study file"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = 2", f"x = {'[' * 2000}{']' * 2000}", "study.toml: nested too deeply; expected a study file"),
        ("seeds = 2", "x." * 3000 + "y = 1", "study.toml: a key of more than 20 parts in line 2"),
        ("seeds = 2", "seeds = " + "9" * 5000, "study.toml: not valid TOML (exceeds the limit (4300 digits) for"),
        ("seeds = 2", "seeds = 0x" + "f" * 5000, "study.toml:2: seeds: a number beyond 64 bits; expected less than"),
        ("seeds = [7]", f"seeds = [{2**64}]", "study.toml:19: systems.1.seeds.0: a number beyond 64 bits"),
        ("seeds = [7]", f"beam = {10**30}", "study.toml:19: systems.1.beam: a number beyond 64 bits; expected less"),
        ('"small.conllu"', f'"{"a" * 100_000}"', f"study.toml:6: {'a' * 80}... (100,000 characters): no such file"),
        ('"small.conllu"', f'"{"a" * 100_000}*"', f"study.toml:6: {'a' * 80}... (100,001 characters): no file matches"),
        ('"small.conllu"', '"a\\u0000b"', "study.toml:6: a\0b: no such file or folder"),
        ("seeds = 2", f'seeds = "{"a" * 100_000}"', "study.toml:2: seeds: input should be"),
        ("times = 3", "times = 100000", "study.toml:10: 100,000 splits of corpora; expected at most 10,000"),
        ("times = 3", "times = 9000000000000000000", "study.toml:10: more than 10^15 splits of corpora; expected at"),
        ("seeds = 2", "seeds = 90000", None),
        ("seeds = 2", "seeds = 9000000000000", "27,000,000,000,006 cells (3 splits of corpora, 9,000,000,000,002 runs"),
        ('name = "unigram"', f'name = "perceptron"\norder = {[2] * 2000}\nepochs = {[1] * 100}', "1,200,006 cells"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_line(folder: Path, old: str, new: str, message: str | None) -> None:
    text = GOOD.replace(old, new, 1)
    if message is None:  # seeds of systems that are not seeded do not count
        read_study(written(folder, text))
        return
    (line,) = faults(folder, text)
    assert message in line
    assert "\n" not in line
    assert len(line) < 400


def test_overrides_that_cannot_be_meant_are_one_line(folder: Path) -> None:
    for override in (f"seeds={'[' * 5000}", f"seeds={'9' * 5000}", f"seeds={2**70}", "splits.times=100000"):
        (line,) = faults(folder, GOOD, override)
        assert len(line) < 400


@pytest.mark.parametrize("deep", ["[" * 100_000, "(" * 300 + ")" * 300, "-" * 100_000 + "1", "1" + "+1" * 100_000])
def test_settings_that_are_nested_too_deeply_are_one_line(folder: Path, deep: str, commands: Commands) -> None:
    (folder / "study.toml").write_text(
        GOOD.replace("'random'", f"'random(sizes={deep})'").replace('"random"', f'"random(sizes={deep})"')
    )
    message = commands.refused("run", folder / "study.toml", "--plan")
    assert "bug" not in message
    with pytest.raises(InputError, match="invalid settings") as caught:
        METRICS.make(f"las(subtypes={deep})")
    assert len(str(caught.value)) < 300


def test_patterns_longer_than_paths_match_nothing(folder: Path, commands: Commands, tmp_path: Path) -> None:
    for name in ("[" * 100_000, "*a" * 50_000):
        (line, *_) = faults(folder, GOOD.replace('"small.conllu"', f"'{name}'"))
        assert "no file matches this pattern" in line
        gold = tmp_path / "gold.conllu"
        gold.touch()
        for command in (["score", gold, name], ["compare", gold, f"A={name}", f"B={name}"], ["compare", name, name]):
            assert commands(*command).code == 2


def test_thousands_of_mistakes_have_their_lines(folder: Path, commands: Commands) -> None:
    text = GOOD + "".join(f"unknown{number} = 1\n" for number in range(3000))
    lines = faults(folder, text)
    start = GOOD.count("\n") + 1
    assert [int(line.split(":")[1]) for line in lines] == list(range(start, start + 3000))
    assert commands("run", folder / "study.toml", "--plan").err.count("\n") < 60


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("systems.0.needs=3", "systems.0.needs: expected a table of keys and values, not 3"),
        ("engine=3", "engine: expected a table of keys and values, not 3"),
        ("compare='holm'", "compare: expected a table of keys and values, not 'holm'"),
        ("engine.address=bad address", "engine.address 'bad address'; expected auto, HOST:PORT or ray://HOST:PORT"),
        ("engine.address=desk1:99999", "engine.address 'desk1:99999'; expected auto, HOST:PORT or ray://HOST:PORT"),
    ],
)
def test_messages_are_in_words_of_study_files(folder: Path, override: str, message: str) -> None:
    (fault,) = faults(folder, GOOD, override)
    assert fault.partition(" ")[2] == message


@pytest.mark.parametrize("value", ['[{ name = "hmm", name = "unigram" }]', "{ a = 1, a = 2 }", "[1, 2" + " 3]"])
def test_a_list_or_table_that_is_no_toml_is_refused_as_such(folder: Path, value: str) -> None:
    with pytest.raises(InputError) as caught:
        read_study(written(folder, GOOD), [f"systems={value}"])
    assert str(caught.value).startswith(f"--set systems={value}: not valid TOML (")
    assert str(caught.value).endswith("); expected a value of TOML")
