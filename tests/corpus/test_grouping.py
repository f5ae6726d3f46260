"""Documents by rule, parts by the names of files, strata."""

from __future__ import annotations

import re

import pytest

from deadheat.corpus import Corpus, concatenate, read
from deadheat.corpus.documents import find_documents, find_strata, part_from_name, sentence_parts, sort_by_part
from deadheat.errors import InputError
from tests.corpus.examples import ONE, row, sentence
from tests.corpus.test_several_files import named


def with_ids(*ids: str | None) -> Corpus:
    return read(text="".join((f"# sent_id = {name}\n" if name else "") + ONE for name in ids))


def names_of(corpus: Corpus, rule: str = "auto") -> list[str] | None:
    """The name of every sentence's document."""
    result = find_documents(corpus, rule)
    return None if result is None else [result.names[code] for code in result.codes.tolist()]


PATHS = [
    ("en_ewt-ud-train.conllu", "train"),
    ("folder-dev/en-ud-test.conllu.gz", "test"),
    ("ru_taiga-ud-train-a.conllu", "train"),
    ("validation.txt", "dev"),
    ("eng.devel", "dev"),
    ("Train.tsv", "train"),
    ("wsj_tune_1.pos", "tune"),
    ("train-dev.conllu", ""),
    ("training.conllu", ""),
    ("latest.conllu", ""),
    ("eng.testa", ""),
    ("-", ""),
]


@pytest.mark.parametrize(("path", "part"), PATHS)
def test_the_name_of_a_file_tells_its_part(path: str, part: str) -> None:
    assert part_from_name(path) == part


def test_files_are_put_in_the_order_of_parts_only_if_each_names_one() -> None:
    given = ["test.conllu", "b-train.conllu", "dev.conllu", "a-train.conllu", "tune.conllu"]
    assert sort_by_part(given) == ["b-train.conllu", "a-train.conllu", "tune.conllu", "dev.conllu", "test.conllu"]
    assert sort_by_part([*given, "other.conllu"]) == [*given, "other.conllu"]


def test_sentences_have_the_part_of_their_file_in_any_order_and_with_empty_files() -> None:
    corpus = concatenate([named(ONE * 2, "x-test.conllu"), named("", "x-dev.conllu"), named(ONE * 3, "x-train.conllu")])
    codes = sentence_parts(corpus)
    assert codes is not None
    assert codes.tolist() == [3, 3, 0, 0, 0]
    assert sentence_parts(concatenate([named(ONE, "x-test.conllu"), named(ONE, "x.conllu")])) is None
    assert sentence_parts(read(text=ONE)) is None


DOCUMENTS: list[tuple[list[str | None], list[str] | None]] = [
    (["a-1", "a-2", "b-1"], ["a", "a", "b"]),
    (["weblog-x_y-0001", "weblog-x_y-0002", "email-1-0001"], ["weblog-x_y", "weblog-x_y", "email-1"]),
    (["01_01J01:1", "01_01J01:2", "02_x:1"], ["01_01J01", "01_01J01", "02_x"]),
    (["a.s1", "a.s2", "b.s1"], ["a", "a", "b"]),
    (["a/7", "a/8", "b/1"], ["a", "a", "b"]),
    (["train-s1", "train-s2", "dev-s1"], None),  # names of parts are no documents
    (["a-1", "a-2", "a-3"], None),  # all of one document says nothing
    (["a-1", "b-1", "c-1"], None),  # as many documents as sentences
    (["1", "2", "3"], None),
    (["a-1", None, "b-1"], None),
]


@pytest.mark.parametrize(("ids", "expected"), DOCUMENTS)
def test_ids_of_sentences_name_documents_where_that_is_plausible(
    ids: list[str | None], expected: list[str] | None
) -> None:
    assert names_of(with_ids(*ids)) == expected


def test_ids_that_are_asked_for_must_name_a_document() -> None:
    assert names_of(with_ids("a-1", "b-1", "c-1"), "sent_id") == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"text:4: no sent_id; expected one that names its document \(name-1\)"):
        find_documents(with_ids("a-1", None), "sent_id")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"^(\w)", ["a", "a", "b"]),
        (r"\d", ["1", "2", "1"]),
        (r"(?:x|a|b):?(-)", ["-", "-", "-"]),
        (r"^.", ["a", "a", "b"]),
    ],
)
def test_an_expression_finds_documents_by_its_group_or_by_all_of_it(expression: str, expected: list[str]) -> None:
    result = find_documents(with_ids("a-1", "a-2", "b-1"), f"sent_id:{expression}")
    assert result is not None
    assert [result.names[code] for code in result.codes] == expected
    assert result.rule == f"sent_id matched by {expression}"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("sent_id:(", "documents 'sent_id:(': missing ), unterminated subpattern at position 0; expected a regular"),
        ("sent_id:z", "text:2: sent_id 'a-1'; expected one that names its document (z)"),
        ("sent_id:z*", "text:2: sent_id 'a-1'; expected one that names its document (z*)"),
        ("sent_id:(z)?a", "text:2: sent_id 'a-1'; expected one that names its document ((z)?a)"),
        ("newdoc", "text: no '# newdoc' marks; expected some, or another rule for documents"),
        ("newdocs", "documents 'newdocs'; expected newdoc, sent_id, sent_id:REGEX, none or auto"),
        ("none:", "documents 'none:'; expected newdoc"),
        ("", "documents ''; expected newdoc"),
    ],
)
def test_rules_that_find_nothing_are_refused(rule: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        find_documents(with_ids("a-1", "a-2"), rule)


def test_marks_come_before_ids_and_none_is_none() -> None:
    corpus = read(
        text=f"# newdoc id = one\n# sent_id = a-1\n{ONE}# sent_id = b-1\n{ONE}# newdoc\n# sent_id = b-2\n{ONE}"
    )
    assert names_of(corpus) == ["one", "one", "document 2"]
    assert names_of(corpus, "newdoc") == ["one", "one", "document 2"]
    assert names_of(corpus, "sent_id") == ["a", "b", "b"]
    assert names_of(corpus, "none") is None


def test_a_document_of_one_id_is_one_in_all_files() -> None:
    text = f"# newdoc id = one\n{ONE}{ONE}# newdoc id = two\n{ONE}"
    corpus = concatenate([named(text, "x-train.conllu"), named(ONE + text, "x-test.conllu")])
    result = find_documents(corpus)
    assert result is not None
    # The first sentence of the second file stands before any mark, and is a document of its own.
    assert result.codes.tolist() == [0, 0, 1, 2, 0, 0, 1]
    assert str(result) == "3 documents: marked by # newdoc (5 marks; one id is one document)"


def test_column_files_mark_documents_too() -> None:
    corpus = read(text="-DOCSTART- O\n\na X\n\nb X\n\n-DOCSTART- O\n\nc X\n\n")
    result = find_documents(corpus)
    assert result is not None
    assert result.codes.tolist() == [0, 0, 1]


def test_strata_come_from_comments_columns_files_and_genres() -> None:
    text = "".join(
        f"# newdoc id = {genre}-{i}\n# kind = {'xy'[i % 2]}\n" + sentence(row(1, f"w{i // 3}"))
        for i, genre in enumerate(["web", "news", "web", "news", "web", "news"])
    )
    corpus = concatenate([named(text, "b.conllu"), named(text, "a.conllu")])
    codes, names = find_strata(corpus, "kind")
    assert (codes.tolist(), names) == ([0, 1] * 6, ("x", "y"))
    codes, names = find_strata(corpus, "genre")
    assert [names[code] for code in codes[:3]] == ["web", "news", "web"]
    codes, names = find_strata(corpus, "form")
    assert [names[code] for code in codes] == ["w0"] * 3 + ["w1"] * 3 + ["w0"] * 3 + ["w1"] * 3
    codes, names = find_strata(corpus, "file")
    assert (codes.tolist(), names) == ([0] * 6 + [1] * 6, ("b.conllu", "a.conllu"))
    with pytest.raises(InputError, match="cannot stratify by 'knd'; expected genre, file, form, "):
        find_strata(corpus, "knd")
    with pytest.raises(InputError, match=r"no genres; looked for comments"):
        find_strata(read(text=ONE), "genre")


def test_a_name_with_special_characters_is_taken_as_it_is() -> None:
    corpus = read(text="# a.b = 1\n" + ONE + "# a.b = 2\n# axb = 1\n" + ONE)
    assert find_strata(corpus, "a.b")[1] == ("1", "2")
