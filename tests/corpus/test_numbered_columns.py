"""Column files with numbered words, with columns nobody needs, and with comments."""

from pathlib import Path

import pytest

from deadheat import compare, score
from deadheat.corpus import read, to_bytes
from deadheat.errors import CorpusError, InputError
from tests.cli.running import Commands

GERMEVAL = (
    "#\tn-tv.de vom 26.02.2005 [2005-02-26]\n1\tSchartau\tB-PER\tO\n2\tsagte\tO\tO\n3\tdem\tO\tO\n\n"
    "#\twelt.de\n1\tMünchen\tB-LOC\tO\n2\tam\tO\tO\n\n"
)
NAMES = ["_", "form", "ner", "_"]


def test_numbered_lines_with_other_columns_than_conllu_are_one_error_that_names_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "germeval.tsv"
    path.write_text(GERMEVAL)
    with pytest.raises(CorpusError) as caught:
        read(path)
    assert str(caught.value).split("\n") == [
        f"{path}:2: 4 columns; expected 10, or names for them",
        "columns=['_', 'form', 'tag', '_'] would read the words and one column of tags",
    ]
    assert caught.value.on_command_line().endswith(
        "\n--columns _,form,tag,_ would read the words and one column of tags"
    )


def test_conllu_with_one_short_line_is_still_conllu(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\n\n")
    with pytest.raises(CorpusError, match=r"some.txt:2: 3 tab-separated columns; expected 10"):
        read(path)


def test_columns_may_be_left_unnamed_and_comments_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "germeval.tsv"
    path.write_text(GERMEVAL)
    corpus = read(path, columns=NAMES)
    assert (corpus.sentences, corpus.words) == (2, 5)
    assert corpus.column("form").strings() == ["Schartau", "sagte", "dem", "München", "am"]
    assert corpus.column("ner").strings() == ["B-PER", "O", "O", "B-LOC", "O"]
    assert to_bytes(corpus).decode() == GERMEVAL
    assert not corpus.has_documents


def test_a_named_column_is_scored_and_not_one_that_is_not_needed(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.tsv", tmp_path / "predicted.tsv"
    gold.write_text(GERMEVAL)
    predicted.write_text(GERMEVAL.replace("B-LOC", "O"))
    scores = score(gold, predicted, columns=NAMES)
    assert (scores.rows[0].metric, scores.rows[0].correct, scores.rows[0].gold) == ("Chunk F1 (ner)", 1, 2)
    with pytest.raises(InputError, match="words alone"):
        score(gold, predicted, columns=["_", "form", "_", "_"])


def test_a_word_that_is_a_number_sign_is_no_comment() -> None:
    corpus = read(text="# NN\na DT\n\n# NN\n\n", format="columns")
    assert corpus.column("form").strings() == ["#", "a", "#"]


def test_documents_and_comments_before_a_sentence_are_both_kept() -> None:
    text = "-DOCSTART- -X-\n\n# one\n# two\na DT\n\n-DOCSTART- -X-\n\nb DT\n\n"
    corpus = read(text=text, format="columns")
    assert corpus.sentences == 2
    assert corpus.documents.tolist() == [0, 1]
    assert to_bytes(corpus).decode() == text


def test_an_empty_gold_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, other = tmp_path / "gold.conllu", tmp_path / "a.conllu"
    empty.write_text("")
    other.write_text("")
    commands = Commands(capsys)
    assert commands.refused("score", empty, other) == f"{empty}: no sentences; expected some to score"
    assert commands.refused("size", empty, f"A={other}", f"B={other}").startswith(f"{empty}: no sentences")
    with pytest.raises(InputError, match="no sentences"):
        compare(empty, {"A": other, "B": other})


ROW = "1\tHi\t_\tX\t_\t_\t0\troot\t{}\t_\n\n"


def test_enhanced_dependencies_that_gold_lacks_are_not_scored_as_zero() -> None:
    without, with_them = read(text=ROW.format("_")), read(text=ROW.format("0:root"))
    with pytest.raises(InputError, match=r"text: no enhanced dependencies; expected some in DEPS for ELAS"):
        score(without, with_them, metrics=["elas"])
    scores = score(with_them, without, metrics=["elas"])
    assert scores.rows[0].value == 0
    assert "text: no enhanced dependencies in the prediction; they count as wrong" in scores.notes


def test_a_score_of_nothing_is_noted() -> None:
    nothing = read(text="a O\nb O\n\n", format="columns", columns=["form", "ner"])
    notes = score(nothing, nothing, metrics=["chunks(column='ner')"]).notes
    assert notes == (
        "text: neither gold nor prediction has anything that Chunk F1 (ner) counts; its score says nothing",
    )


def test_notes_are_about_the_metric_that_was_asked_for() -> None:
    full = read(text="1\tHi\thi\tX\tY\tA=b\t0\troot\t_\t_\n\n")
    bare = read(text="1\tHi\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    assert score(full, bare, metrics=["las"]).notes == ()
    assert len(score(full, bare).notes) == 3


def test_documents_with_the_same_id_are_one(tmp_path: Path) -> None:
    from deadheat.corpus.info import info

    document = "# newdoc id = {}\n" + ROW.format("_")
    for part in ("train", "dev", "test"):
        (tmp_path / f"x-{part}.conllu").write_text("".join(document.format(name) for name in "abc"))
    summary = info(read(tmp_path))
    assert (summary.documents, summary.document_marks) == (3, 9)
    assert "3  in 9 pieces, by their ids" in str(summary)


def test_many_comments_before_the_first_word_do_not_hide_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("# a\n" * 30 + "1\ta\tO\n2\tb\tO\n\n")
    with pytest.raises(CorpusError, match="3 columns"):
        read(path)
