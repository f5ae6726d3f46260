from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.corpus import Column, Corpus, Vocabulary, concatenate, read
from deadheat.corpus.corpus import content_hash, text_hash

TREE = """\
# sent_id = one
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_
3\tmar\tmar\tNOUN\t_\t_\t1\tobl\t1:obl\tSpaceAfter=No

1\tmar\tmar\tNOUN\t_\t_\t0\troot\t_\t_

"""
TEXT = "Vamos\nnos\nmar\n\nmar\n\n"  # a word a line, an empty line after each sentence


def renumbered(corpus: Corpus) -> Corpus:
    """The same corpus with the strings of every column numbered backwards, and one more that never occurs."""
    columns = {}
    codes = corpus.extras.codes.copy()
    for i, (name, column) in enumerate(corpus.columns.items()):
        strings = ["never", *reversed(column.vocabulary.strings)]
        columns[name] = Column(np.int32(len(strings) - 1) - column.codes, Vocabulary.of(strings))
        codes[:, i] = len(strings) - 1 - codes[:, i]
    return replace(corpus, columns=columns, extras=replace(corpus.extras, codes=codes))


def test_the_hash_of_a_text_is_that_of_its_words_and_sentence_ends() -> None:
    assert text_hash(read(text=TREE)) == hashlib.sha256(TEXT.encode()).hexdigest()


def test_labels_comments_formats_and_files_do_not_matter(tmp_path: Path) -> None:
    packed, returns = tmp_path / "a.conllu.gz", tmp_path / "b.conllu"
    packed.write_bytes(gzip.compress(TREE.encode()))
    returns.write_bytes(TREE.replace("\n", "\r\n").encode())
    same = [
        read(packed),
        read(returns),
        read(text=TREE.replace("NOUN", "VERB").replace("# sent_id = one\n", "# genre = web\n")),
        read(text="Vamos_A nos_B mar_C\nmar_D\n"),
        read(text="Vamos X\nnos X\nmar X\n\nmar X\n\n", columns=["form", "tag"]),
        renumbered(read(text=TREE)),
    ]
    assert {text_hash(item) for item in same} == {hashlib.sha256(TEXT.encode()).hexdigest()}


sentences = st.lists(st.lists(st.sampled_from(["a", "b", "ab", "ä"]), min_size=1, max_size=3), min_size=1, max_size=4)


@given(sentences)
def test_the_hash_of_a_text_follows_its_definition(words: list[list[str]]) -> None:
    corpus = read(text="".join(" ".join(f"{word}/X" for word in line) + "\n" for line in words), separator="/",
                  format="tagged")  # fmt: skip
    plain = "".join("".join(f"{word}\n" for word in line) + "\n" for line in words)
    assert text_hash(corpus) == hashlib.sha256(plain.encode()).hexdigest()


def test_sentences_of_a_part_have_the_hash_of_the_part() -> None:
    one, two = read(text=TREE), read(text=TREE.replace("mar", "cine"))
    both = concatenate([one, two])
    assert text_hash(both, first=0, last=2) == text_hash(one)
    assert text_hash(both, first=2, last=4) == text_hash(both, first=2) == text_hash(two)


def test_how_a_corpus_is_numbered_and_commented_does_not_change_its_content(tmp_path: Path) -> None:
    returns = tmp_path / "b.conllu"
    returns.write_bytes(TREE.replace("\n", "\r\n").encode())
    same = [
        read(text=TREE),
        renumbered(read(text=TREE)),
        read(returns),
        read(text=TREE.replace("# sent_id = one\n", "")),
    ]
    assert len({content_hash(item) for item in same}) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1\tobj", "1\tiobj"),
        ("1\tobj", "3\tobj"),
        ("Mood=Imp", "_"),
        ("nosotros", "nos"),
        ("PRON\t_", "PRON\tP"),
        ("1:obl", "2:obl"),
        ("SpaceAfter=No", "_"),
        ("1-2\tVámonos", "1-2\tVámonoz"),
        ("1-2\tVámonos", "1-3\tVámonos"),
        ("2.1\tya", "2.1\tno"),
        ("ADV", "X"),
        ("\n\n1\tmar\tmar\tNOUN\t_\t_\t0\troot", "\n4\tmar\tmar\tNOUN\t_\t_\t1\troot"),
    ],
)
def test_whatever_is_predicted_changes_the_content(old: str, new: str) -> None:
    assert TREE.count(old) == 1
    assert content_hash(read(text=TREE.replace(old, new))) != content_hash(read(text=TREE))


def test_a_real_treebank_hashes_as_a_plain_reading_of_its_lines_does(shared_data: Path) -> None:
    path = shared_data / "treebanks" / "kk_ktb" / "kk_ktb-ud-test.conllu"
    lines = [line.split("\t") for line in path.read_text().split("\n")[:-1] if not line.startswith("#")]
    words = [line[1] if len(line) > 1 else "" for line in lines if line[0].isdigit() or line == [""]]
    assert text_hash(read(path)) == hashlib.sha256("".join(f"{word}\n" for word in words).encode()).hexdigest()
