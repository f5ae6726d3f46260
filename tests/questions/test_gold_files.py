"""Several gold files of one data set may differ, but not in what is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.questions.compare import compare
from deadheat.questions.designs import Prediction
from deadheat.results.compare import Comparison

TREE = """\
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_

1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj:x\t_\t_
2\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_
3\thome\thome\tNOUN\t_\t_\t2\tobl\t_\t_

"""


def of_two_golds(tmp_path: Path, *changes: tuple[str, str], metric: str = "las") -> Comparison:
    """A comparison of two systems, each with a gold file; that of b is changed."""
    changed = TREE
    for before, after in changes:
        assert before in changed
        changed = changed.replace(before, after)
    rows = []
    for system, gold in (("a", TREE), ("b", changed)):
        (tmp_path / f"gold.{system}.conllu").write_text(gold * 6)
        wrong = TREE.replace("obl", "nmod") if system == "b" else TREE
        (tmp_path / f"{system}.conllu").write_text(wrong * 3 + TREE * 3)
        files = tmp_path / f"gold.{system}.conllu", tmp_path / f"{system}.conllu"
        rows.append(Prediction("x", str(files[0]), system, "1", str(files[1])))
    return compare("", rows, metric=metric, align="position")


@pytest.mark.parametrize(
    ("change", "metric", "problem"),
    [
        (("obl", "nmod"), "las", r"6: relation 'nmod', and 'obl' in \S*gold\.a\.conllu:6"),
        (("\t2\tobl", "\t1\tobl"), "uas", r"6: head 1, and 2 in \S*gold\.a\.conllu:6"),
        (("VERB", "NOUN"), "upos", r"2: tag 'NOUN', and 'VERB' in \S*gold\.a\.conllu:2"),
        (("cat\tNOUN", "cat\tPROPN"), "mlas", r"4: tag 'PROPN', and 'NOUN' in \S*gold\.a\.conllu:4"),
        (("nsubj:x", "nsubj"), "las(subtypes=True)", r"4: relation 'nsubj', and 'nsubj:x' in \S*gold\.a\.conllu:4"),
    ],
)
def test_gold_files_that_differ_in_what_is_compared_are_refused(
    tmp_path: Path, change: tuple[str, str], metric: str, problem: str
) -> None:
    with pytest.raises(InputError, match=rf"gold\.b\.conllu:{problem}; expected the same annotation for all systems"):
        of_two_golds(tmp_path, change, metric=metric)


def test_gold_files_may_differ_in_what_is_not_compared(tmp_path: Path) -> None:
    same = of_two_golds(tmp_path)
    assert not any("gold" in note for note in same.notes)
    other = of_two_golds(tmp_path, ("VERB", "X"), ("nsubj:x", "nsubj:y"), ("Dogs", "dogs"))
    assert [row.value for row in other.systems] == [row.value for row in same.systems]
    assert "the gold files of b have other word forms than those of a" in other.notes
