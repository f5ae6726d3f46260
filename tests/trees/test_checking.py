"""Problems of gold trees: by hand, over all small sentences, and with file and line."""

from itertools import product
from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.errors import CorpusError, InputError
from deadheat.trees import problems, require_trees
from deadheat.trees.checking import Problem
from tests.trees.enumeration import is_single_root_tree, together


def found(*trees: list[int]) -> list[Problem]:
    return problems(*together(trees))


def test_a_corpus_of_trees_has_no_problems() -> None:
    assert found([0], [2, 0], [3, 4, 0, 3]) == []


@pytest.mark.parametrize(
    ("heads", "words", "message"),
    [
        ([0, 0, 1], (1, 2), "words 1, 2 have head 0; expected one root"),
        ([0] * 7, (1, 2, 3, 4, 5, 6, 7), "words 1, 2, 3, 4, 5, ... have head 0; expected one root"),
        ([0, 4], (2,), "word 2 has head 4; the sentence has 2 words"),
        ([0, -1], (2,), "word 2 has no head; the sentence has 2 words"),
        ([3], (1,), "word 1 has head 3; the sentence has 1 word"),
        ([0, 2], (2,), "word 2 is on a cycle; expected a tree"),
        ([0, 3, 4, 2, 3], (2, 3, 4), "words 2, 3, 4 are on a cycle; expected a tree"),
    ],
)
def test_a_problem_is_described(heads: list[int], words: tuple[int, ...], message: str) -> None:
    assert found([0], heads, [2, 0]) == [Problem(1, words, message)]


def test_each_cycle_is_named_after_a_missing_root() -> None:
    assert [(problem.sentence, problem.words) for problem in found([2, 0], [5, 3, 2, 3, 1, 5])] == [
        (1, ()),
        (1, (1, 5)),
        (1, (2, 3)),
    ]


@pytest.mark.parametrize("words", range(1, 6))
def test_all_but_trees_have_problems(words: int) -> None:
    every = list(product(range(words + 1), repeat=words))
    faulty = {problem.sentence for problem in problems(*together(every))}
    assert faulty == {number for number, heads in enumerate(every) if not is_single_root_tree(heads)}


def test_a_corpus_with_two_roots_is_refused_with_file_and_line(tmp_path: Path) -> None:
    row = "{}\tx\t_\t_\t_\t_\t{}\tdep\t_\t_\n"
    good = row.format(1, 0) + "\n"
    bad = "# text = x x\n" + row.format(1, 2) + row.format(2, 0) + row.format(3, 0) + "\n"
    path = tmp_path / "some.conllu"
    path.write_text(good + bad)
    corpus = read(path, lenient=["multiple-roots"])
    with pytest.raises(CorpusError) as raised:
        require_trees(corpus)
    assert str(raised.value) == f"{path}:5: words 2, 3 have head 0; expected one root"
    path.write_text(good + bad * 25)
    with pytest.raises(CorpusError, match=r"22 more errors like that in line 5$") as raised:
        require_trees(read(path, lenient=["multiple-roots"]))
    assert len(raised.value.faults) == 3


def test_words_without_heads_are_named() -> None:
    row = "1\tx\t_\t_\t_\t_\t{}\t_\t_\t_\n\n"
    corpus = read(text=row.format(0) + row.format("_"), lenient=["missing-heads"])
    with pytest.raises(InputError, match=r"^text:3: word 1 has no head; the sentence has 1 word$"):
        require_trees(corpus)
    with pytest.raises(InputError, match="words without heads; expected a tree for every sentence"):
        require_trees(read(text="a_X b_Y\n", format="tagged"))


def test_the_heads_of_a_good_corpus_are_handed_out() -> None:
    corpus = read(text="1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert require_trees(corpus) is corpus.heads
