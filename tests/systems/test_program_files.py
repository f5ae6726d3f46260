"""What programs see of gold, in which rows and formats, and how trees and several columns come back."""

import gc
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deadheat.corpus import Corpus, read, to_bytes
from deadheat.errors import InputError
from deadheat.metrics import METRICS, align
from deadheat.systems import SYSTEMS, System
from tests.systems.programs import line, parser, script

# Gold is marked wherever it can be: if the program gets any of it, it gets the word.
GOLD = (
    "# newdoc id = d1\n# hush = hush\n# sent_id = 1\n# text = del mar sol\n"
    "1-2\tdel\thush\tHUSH\tHUSH\tHush=1\t_\t_\t_\tSpaceAfter=Yes|Hush=1\n"
    "1\tde\thush\tHUSH\tHUSH\tHush=1\t3\thush\t3:hush\tHush=1\n"
    "2\tel\thush2\tHUSH2\tHUSH2\tHush=2\t3\thush2\t3:hush2\t_\n"
    "2.1\thush\thush\tHUSH\tHUSH\tHush=1\t_\t_\t0:hush\tHush=1\n"
    "3\tmar\thush3\tHUSH3\tHUSH3\tHush=3\t0\troot\t0:hush\tHush=1|SpaceAfter=No\n"
    "4\tsol\thush\tHUSH\tHUSH\tHush=1\t3\thush\t3:hush\t_\n\n"
)
BLANK = "\t_" * 8
SPACED = "\t_" * 7
TEXT = (
    "# newdoc id = d1\n# sent_id = 1\n# text = del mar sol\n"
    f"1-2\tdel{SPACED}\tSpaceAfter=Yes\n1\tde{BLANK}\n2\tel{BLANK}\n3\tmar{SPACED}\tSpaceAfter=No\n4\tsol{BLANK}\n\n"
)
COLUMNS = ("lemma", "upos", "xpos", "feats", "deprel", "deps", "misc", "trees", "upos,feats,lemma,trees")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is left in the folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    gc.collect()
    assert list(folder.iterdir()) == []


def made(**settings: object) -> System:
    return SYSTEMS.make("command", **settings)


def corpus(text: str = GOLD) -> Corpus:
    return read(text=text)


def seen_by_program(folder: Path, text: str = GOLD, **settings: object) -> str:
    """All that a program gets to predict: its arguments, its environment and its file."""
    report = folder / "seen"
    code = f"""import json, os, sys
if len(sys.argv) > 1:
    everything = [sys.argv, dict(os.environ), open(sys.argv[1]).read()]
    print(json.dumps(everything), file=open({str(report)!r}, "w"))
sys.exit(1)
"""
    with pytest.raises(InputError, match="failed with exit code 1"):
        made(predict=line(script(folder, code), "{input}"), **settings).train(corpus(text), None, 0).predict(
            corpus(text)
        )
    arguments, environment, content = json.loads(report.read_text())
    assert "hush" not in json.dumps([arguments, environment]).lower()
    return str(content)


def predicted(system: System, text: str = GOLD) -> Corpus:
    return system.train(corpus(text), None, 0).predict(corpus(text))


def message(system: System) -> str:
    with pytest.raises(InputError) as caught:
        predicted(system)
    return str(caught.value)


def writer(folder: Path, code: str, **settings: object) -> System:
    """A system whose program makes of its input (`rows`, lists of fields) what some code makes of it."""
    before = "import sys\nrows = [line.split('\\t') for line in open(sys.argv[1]).read().split('\\n')]\n"
    after = "\nopen(sys.argv[2], 'w').write('\\n'.join('\\t'.join(row) for row in rows))\n"
    return made(predict=line(script(folder, before + code + after), "{input}", "{output}"), **settings)


def tree(heads: str, relation: str = "x") -> str:
    """Code that writes heads, and a relation for every word."""
    return f"""heads = iter({heads.split()!r})
for row in rows:
    if row[0].isdigit():
        row[6] = next(heads)
        row[7] = "root" if row[6] == "0" else {relation!r}"""


@pytest.mark.parametrize("column", COLUMNS)
def test_no_gold_reaches_the_program(tmp_path: Path, column: str) -> None:
    assert seen_by_program(tmp_path, column=column) == TEXT


@pytest.mark.parametrize("rows", ["words", "tokens", "all"])
def test_no_gold_is_in_any_row_but_the_words_of_empty_nodes(tmp_path: Path, rows: str) -> None:
    seen = seen_by_program(tmp_path, rows=rows, column="trees")
    assert re.findall(r"(?i).*hush.*", seen) == ([f"2.1\thush{BLANK}"] if rows == "all" else [])
    ids = {"words": "1 2 3 4", "tokens": "1-2 1 2 3 4", "all": "1-2 1 2 2.1 3 4"}
    assert re.findall(r"(?m)^[\d.-]+(?=\t)", seen) == ids[rows].split()
    assert "# text = del mar sol\n" in seen


@pytest.mark.parametrize(("format", "column"), [("columns", "upos"), ("columns", "upos,feats"), ("tagged", "lemma")])
@pytest.mark.parametrize("input", ["blank", "words"])
def test_no_gold_is_in_other_formats(tmp_path: Path, format: str, column: str, input: str) -> None:
    seen = seen_by_program(tmp_path, format=format, column=column, input=input)
    words = ["de", "el", "mar", "sol"]
    if format == "tagged":
        assert seen == " ".join(word + "_-" * (input == "blank") for word in words) + "\n"
    else:
        blanks = "\t_" * len(column.split(",")) * (input == "blank")
        assert seen == "".join(f"{word}{blanks}\n" for word in words) + "\n"


def test_column_files_hide_all_columns_that_are_not_read(tmp_path: Path) -> None:
    text = "de\tHUSH\thush\nsol\tHUSH2\thush2\n\n"
    assert seen_by_program(tmp_path, text, column="xpos") == "de\t_\t_\nsol\t_\t_\n\n"
    assert seen_by_program(tmp_path, text, column="chunk", reads="xpos") == "de\tHUSH\t_\nsol\tHUSH2\t_\n\n"


@pytest.mark.parametrize(
    ("reads", "columns"), [("upos", [3]), ("feats, lemma", [2, 5]), ("misc", [9]), ("all", [2, 3, 4, 5, 9])]
)
def test_a_parser_reads_the_gold_that_it_may_read(tmp_path: Path, reads: str, columns: list[int]) -> None:
    seen = seen_by_program(tmp_path, column="trees", reads=reads, rows="words")
    given, got = (
        [row.split("\t") for row in text.splitlines() if row[:1].isdigit() and row.partition("\t")[0].isdigit()]
        for text in (GOLD, seen)
    )
    kept = {1, *columns}
    for before, after in zip(given, got, strict=True):
        assert [after[i] for i in kept] == [before[i] for i in kept]
        assert {after[i] for i in range(2, 9) if i not in kept} <= {"_"}
    assert ("# hush = hush" in seen) == (reads == "all")


def test_trees_and_comments_are_read_where_that_is_allowed(tmp_path: Path) -> None:
    seen = seen_by_program(tmp_path, column="upos", reads="trees,comments", rows="words")
    assert "3\tmar\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n" in seen
    assert "# hush = hush\n" in seen
    relations = seen_by_program(tmp_path, column="deprel", reads="head", rows="words")
    assert "1\tde\t_\t_\t_\t_\t3\t_\t_\t_\n" in relations


def test_a_chain_stands_for_trees_that_a_program_insists_on(tmp_path: Path) -> None:
    seen = seen_by_program(tmp_path, column="trees", input="chain", rows="words")
    rows = [row.split("\t") for row in seen.splitlines() if row[:1].isdigit()]
    assert [(row[6], row[7]) for row in rows] == [("0", "root"), ("1", "dep"), ("2", "dep"), ("3", "dep")]
    assert "hush" not in seen.lower()
    assert read(text=seen).trees.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("rows", ["words", "tokens", "all"])
@pytest.mark.parametrize("input", ["blank", "chain"])
def test_trees_come_back_and_all_rows_stay(tmp_path: Path, rows: str, input: str) -> None:
    system = writer(tmp_path, tree("2 0 2 2"), column="trees", rows=rows, input=input)
    heads = iter("2022")

    def with_tree(row: str) -> str:
        fields = row.split("\t")
        if len(fields) == 10 and fields[0].isdigit():
            fields[6] = next(heads)
            fields[7] = "root" if fields[6] == "0" else "x"
        return "\t".join(fields)

    assert to_bytes(predicted(system)).decode() == "\n".join(map(with_tree, GOLD.split("\n")))


def test_training_sees_all_gold_columns_in_the_chosen_rows(tmp_path: Path) -> None:
    for rows, without in (("words", r"(?m)^\d+[-.].*\n"), ("tokens", r"(?m)^\d+\..*\n"), ("all", "NOTHING")):
        copies = [tmp_path / f"{rows}.{part}" for part in ("train", "tune")]
        code = "import shutil, sys\nfor a, b in zip(sys.argv[1:3], sys.argv[3:]): shutil.copy(a, b)\n"
        train = line(script(tmp_path, code), "{train}", "{tune}", *copies)
        made(column="trees", rows=rows, train=train, predict="true").train(corpus(), corpus(), 0)
        assert [copy.read_text() for copy in copies] == [re.sub(without, "", GOLD)] * 2


def test_tags_and_trees_are_predicted_together(tmp_path: Path) -> None:
    system = made(column="upos,trees", **parser(tmp_path))
    assert system.predicts == ("upos", "trees")
    after = predicted(system)
    assert after.column("upos").strings() == ["PRED"] * 4
    assert after.trees.tolist() == [0, 1, 1, 1]
    assert after.column("deprel").strings() == ["root", "hush2", "dep", "hush"]
    assert after.column("xpos").strings() == corpus().column("xpos").strings()
    pair = align(corpus(), after)
    for metric, score in (("uas", 0.0), ("upos", 0.0), ("xpos", 1.0)):
        made_metric = METRICS.make(metric)
        assert float(made_metric.value(made_metric.counts(pair).sum(axis=0))) == score


def test_only_what_is_asked_for_is_taken(tmp_path: Path) -> None:
    after = predicted(made(column="trees", **parser(tmp_path)))
    assert after.column("upos").strings() == corpus().column("upos").strings()
    after = predicted(made(column="upos", **parser(tmp_path)))
    assert after.trees.tolist() == corpus().trees.tolist()


def test_several_columns_come_back_from_a_column_file(tmp_path: Path) -> None:
    code = "rows = [[row[0], row[0].upper(), 'F=' + row[0]] if len(row) > 1 else row for row in rows]"
    after = predicted(writer(tmp_path, code, column="upos,feats", format="columns"))
    assert after.column("upos").strings() == ["DE", "EL", "MAR", "SOL"]
    assert after.column("feats").strings() == ["F=de", "F=el", "F=mar", "F=sol"]


def test_words_alone_are_tagged(tmp_path: Path) -> None:
    tag = "for l in sys.stdin: print(*(w + '_T' for w in l.split()))"
    system = made(predict=line(script(tmp_path, f"import sys\n{tag}\n")), format="tagged", input="words")
    assert predicted(system).column("upos").strings() == ["T"] * 4
    tag = "for l in sys.stdin: print(l.strip() and l.strip() + '\\tT')"
    system = made(predict=line(script(tmp_path, f"import sys\n{tag}\n")), format="columns", input="words")
    assert predicted(system).column("upos").strings() == ["T"] * 4


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (tree("2 0 2 9"), r"output.conllu:8: word 4 has head 9; the sentence has 4 words"),
        (tree("2 1 0 3"), r"output.conllu:\d: word 1 \(head 2\) is on a cycle; expected a tree"),
        (tree("2 0 0 3"), r"output.conllu:6: words 2, 3 have head 0; expected one root"),
        (tree("2 0 _ 3"), r"output.conllu:7: HEAD '_' of word '3'; expected 0 or the number of a word"),
        (tree("2 0 2 -1"), r"output.conllu:8: HEAD '-1' of word '4'; expected 0 or the number of a word"),
        (tree("2 0 2 2", "_").replace('"root"', '"_"'), r"output.conllu: no word has a label; expected one on every"),
        ("pass", r"output.conllu:5: HEAD '_' of word '1'; .*more error"),
        (tree("2 0 2 2") + "\nrows[5][1] = 'la'", r"output.conllu:6: word 'la'; expected 'el' as in the input"),
        (tree("2 0 2 2") + "\ndel rows[7]", r"output.conllu:5: sentence 1 has 3 words; expected 4 as in the input"),
    ],
)
def test_what_is_no_tree_of_the_words_is_refused_with_its_line(tmp_path: Path, code: str, expected: str) -> None:
    first, second = message(writer(tmp_path, code, column="trees")).split("\n")
    assert re.search(expected, first)
    assert second.startswith("  written by command.v2: predict command: ")


def test_a_chain_that_comes_back_is_no_prediction(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="every tree is the chain of the input; expected predicted trees"):
        predicted(writer(tmp_path, "pass", column="trees", input="chain"))


def test_several_roots_are_accepted_if_training_has_them(tmp_path: Path) -> None:
    train = GOLD.replace("4\tsol\thush\tHUSH\tHUSH\tHush=1\t3\t", "4\tsol\thush\tHUSH\tHUSH\tHush=1\t0\t")
    system = writer(tmp_path, tree("2 0 0 3"), column="trees")
    model = system.train(read(text=train, lenient=["multiple-roots"]), None, 0)
    assert model.predict(corpus()).trees.tolist() == [2, 0, 0, 3]


def test_a_column_that_nobody_labelled_is_named(tmp_path: Path) -> None:
    code = "for row in rows:\n    if row[0].isdigit(): row[3] = 'X'"
    with pytest.raises(InputError, match="no word has a label in feats; expected one on every word"):
        predicted(writer(tmp_path, code, column="upos,feats"))


def test_a_folder_and_threads_are_filled_in(tmp_path: Path) -> None:
    train = "import os, sys\nassert os.listdir(sys.argv[1]) == []\nopen(sys.argv[1] + '/' + sys.argv[2], 'w')\n"
    check = "import os, shutil, sys\nassert os.listdir(sys.argv[1]) == [os.environ['N']]\nshutil.copy(*sys.argv[2:])\n"
    system = made(
        train=line(script(tmp_path, train, "train.py"), "{folder}", "{threads}"),
        predict=line(script(tmp_path, check), "{folder}", "{train}", "{output}"),
        environment={"N": "{threads}"},
        threads=3,
        rows="all",
    )
    assert to_bytes(predicted(system)).decode() == GOLD


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"column": ""}, "column=''; expected each name once"),
        ({"column": "upos,upos"}, "column='upos,upos'; expected each name once"),
        ({"column": "form"}, "column='form'; expected each name once"),
        ({"column": "head"}, "'trees' for heads"),
        ({"column": "trees,deprel"}, "column='trees,deprel'; expected each name once"),
        ({"column": "trees", "format": "tagged"}, "format='tagged'; expected CoNLL-U for trees"),
        ({"column": "trees", "format": "columns"}, "format='columns'; expected CoNLL-U for trees"),
        ({"column": "upos,xpos", "format": "tagged"}, "expected one column in tagged text"),
        ({"reads": "upos"}, "reads: upos shows what is predicted (column='upos'); expected other columns"),
        ({"column": "trees", "reads": "upos,deps"}, "reads: deps shows what is predicted (column='trees')"),
        ({"column": "trees", "reads": "trees"}, "reads: head shows what is predicted"),
        ({"column": "deprel", "reads": "deps"}, "reads: deps shows what is predicted"),
        ({"rows": "word"}, "rows 'word' is unknown; did you mean 'words'?"),
        ({"input": "chains"}, "input 'chains' is unknown; did you mean 'chain'?"),
        ({"input": "chain", "format": "tagged"}, "input='chain', format='tagged'; expected CoNLL-U"),
        ({"input": "words", "format": "conllu"}, "input='words', format='conllu'; expected columns or tagged text"),
        ({"input": "words", "format": "columns", "reads": "lemma"}, "reads='lemma', which input='words' does not show"),
        ({"input": "chain", "reads": "head"}, "reads='head', which input='chain' does not show"),
        ({"threads": 0}, "threads=0; expected at least 1"),
        ({"threads": 2}, "threads=2, and no command has {threads}; expected one to have it"),
    ],
)
def test_settings_that_contradict_each_other_stop_at_the_door(settings: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError, match=re.escape(expected)) as caught:
        made(predict="x {input}", **settings)
    assert str(caught.value).startswith("command.v2: ")


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        (GOLD, {"reads": "tag"}, "column 'tag' is unknown"),
        (GOLD, {"input": "words"}, "input='words' for files in format conllu; expected columns or tagged text"),
        ("a_X\n", {"column": "tag", "input": "chain"}, "input='chain' for files in format tagged; expected CoNLL-U"),
        ("a_X\n", {"column": "trees"}, "column 'deprel' is unknown"),
        (re.sub(r"\t[03]\t", "\t_\t", GOLD), {"column": "trees"}, "words without heads; expected a tree for every"),
    ],
)
def test_corpora_that_do_not_fit_are_refused(text: str, settings: dict[str, object], expected: str) -> None:
    given = read(text=text, lenient=["missing-heads"] if "_\troot" in text else [])
    with pytest.raises(InputError, match=re.escape(expected)):
        made(predict="x {input}", **settings).train(given, None, 0)


def test_version_1_is_refused_with_its_successor() -> None:
    with pytest.raises(InputError, match=r"'command.v1' is unknown; did you mean 'command.v2'"):
        SYSTEMS.make("command.v1", predict="x")
