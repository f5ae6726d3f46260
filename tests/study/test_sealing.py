from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from deadheat import compare, read, score, size
from deadheat.corpus import take, to_bytes
from deadheat.corpus.corpus import content_hash, text_hash
from deadheat.corpus.unlabelled import is_unlabelled, unlabelled
from deadheat.errors import CorpusError, InputError
from deadheat.questions.run import run_plan
from deadheat.ranking.size_samples import SizeSettings
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.study.ledger.sealing import seal
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import open_store
from deadheat.study.store.tables import sealed_counts, write_table
from tests.cli.running import Commands
from tests.study.store_outcomes import vouch
from tests.study.study_cases import corpus_text, in_this_process, study_file

TREE = """\
# newdoc id = web-1
# sent_id = one
# text = Vámonos, mar.
# text_en = Let us go, sea.
# genre = web
# newpar
1-2\tVámonos\t_\t_\t_\tTypo=Yes\t_\t_\t_\tSpaceAfter=No|Gloss=go
1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t0:root\tGloss=go
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t1:obj\t_
2.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_
3\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl\tLang=es|SpacesAfter=\\s\\s

1\tmar\tmar\tNOUN\tN\t_\t0\troot\t0:root\t_
1.1\tsí\tsí\tADV\t_\t_\t_\t_\t1:advmod\t_

# sent_id = three
1-2\tal\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\ta\tADP\tA\t_\t2\tcase\t2:case\t_
2\tel\tel\tDET\tD\t_\t0\troot\t0:root\t_

# the end
"""
BARE = """\
# newdoc id = web-1
# sent_id = one
# text = Vámonos, mar.
# newpar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tVamos\t_\t_\t_\t_\t_\t_\t_\t_
2\tnos\t_\t_\t_\t_\t_\t_\t_\t_
3\tmar\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\s

1\tmar\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = three
1-2\tal\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\t_\t_\t_\t_\t_\t_\t_\t_
2\tel\t_\t_\t_\t_\t_\t_\t_\t_

"""
GUESS = TREE.replace("1\tobl", "2\tobl")  # one wrong head of six


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return written(tmp_path / "es-test.conllu", TREE)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_a_copy_without_labels_has_the_text_and_nothing_else() -> None:
    corpus = read(text=TREE)
    assert to_bytes(unlabelled(corpus)).decode() == BARE
    assert text_hash(unlabelled(corpus)) == text_hash(corpus)


def test_line_ends_are_kept(tmp_path: Path) -> None:
    corpus = read(written(tmp_path / "a.conllu", TREE.replace("\n", "\r\n")))
    assert to_bytes(unlabelled(corpus)).decode() == BARE.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "bare", "reading"),
    [
        ("the_DT heat_NN\n", "the_- heat_-\n", {}),
        ("the/DT heat/NN\n", "the/_ heat/_\n", {"format": "tagged", "separator": "/"}),
        ("a X O\nb Y B-N\n\nc Z O\n\n", "a _ _\nb _ _\n\nc _ _\n\n", {"columns": ["form", "xpos", "misc"]}),
        ("X\ta\nY\tb\n\n", "_\ta\n_\tb\n\n", {"columns": ["tag", "form"]}),
        ("-DOCSTART- O\n\na O\n\n", "-DOCSTART- O\n\na _\n\n", {}),
    ],
)
def test_other_formats_lose_their_labels_too(text: str, bare: str, reading: dict[str, str]) -> None:
    corpus = read(text=text, **reading)
    copy = unlabelled(corpus)
    assert to_bytes(copy).decode() == bare
    again = read(text=bare, **reading)
    assert text_hash(again) == text_hash(corpus)
    assert is_unlabelled(again)
    assert not is_unlabelled(corpus)


def test_heads_alone_are_labels_and_spacing_is_none() -> None:
    assert is_unlabelled(read(text=BARE, lenient=["missing-heads"]))
    heads = "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    assert not is_unlabelled(read(text=heads))
    assert not is_unlabelled(read(text=heads.replace("0\t_", "_\troot"), lenient=["missing-heads"]))


def test_sealed_labels_are_their_owners_alone(ledger: Ledger, gold: Path) -> None:
    sealed = seal(ledger, read(gold))
    assert sealed.labels == ledger.path.parent / "sealed" / text_hash(read(gold))
    assert stat.S_IMODE(sealed.labels.stat().st_mode) == 0o600
    assert stat.S_IMODE(sealed.labels.parent.stat().st_mode) == 0o700
    assert sealed.labels.read_text() == TREE
    assert sealed.copy == gold.with_name("es-test.unlabelled.conllu")
    assert sealed.copy.read_text() == BARE
    assert [path.name for path in sealed.labels.parent.iterdir()] == [sealed.labels.name]
    tally = ledger.tally(sealed.test_set.hash)
    assert tally.sealed
    assert tally.guarded
    assert gold.read_text() == TREE


def test_predictions_are_scored_against_the_sealed_labels(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    guess = written(tmp_path / "guess.conllu", GUESS)
    expected = score(gold, guess, metrics=["uas"])
    copy = seal(ledger, read(gold), tmp_path / "text.conllu").copy
    gold.unlink()
    result = score(copy, guess, metrics=["uas"], ledger_entry=LedgerEntry(ledger))
    assert (result.rows[0].correct, result.rows[0].gold) == (5, 6)
    assert str(result) == str(expected)
    assert result.notes[:2] == (
        "ledger: 1 evaluation of this test set so far, 1 system",
        f"{copy}: no labels; scored against the sealed labels of es-test.conllu",
    )
    assert ledger.events()[-1]["name"] == "es-test.conllu"
    better = compare(
        copy, {"guess": guess, "gold": sealed_copy(ledger)}, metric="uas", ledger_entry=LedgerEntry(ledger)
    )
    assert better.pairs[0].difference == pytest.approx(-1 / 6)
    assert f"{copy}: no labels; scored against the sealed labels of es-test.conllu" in better.notes


def sealed_copy(ledger: Ledger) -> Path:
    return next((ledger.path.parent / "sealed").iterdir())


def test_sealed_columns_are_found_too(ledger: Ledger, tmp_path: Path) -> None:
    gold, guess = written(tmp_path / "test.txt", "a_X b_Y\n"), written(tmp_path / "guess.txt", "a_X b_X\n")
    copy = seal(ledger, read(gold)).copy
    assert copy.read_text() == "a_- b_-\n"
    assert score(copy, guess, metrics=["accuracy(column='tag')"], ledger_entry=LedgerEntry(ledger)).rows[0].value == 0.5


def test_a_text_without_labels_or_seal_is_refused_as_ever(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    seal(ledger, read(gold))
    other = written(tmp_path / "other.conllu", BARE.replace("mar", "sol"))
    for ledger_entry in (None, LedgerEntry(ledger)):
        with pytest.raises(CorpusError, match="HEAD '_' of word '1'; expected 0"):
            score(other, other, ledger_entry=ledger_entry)
    with pytest.raises(CorpusError, match="HEAD '_'"):
        score(gold.with_name("es-test.unlabelled.conllu"), gold)  # no ledger, no sealed labels


def test_a_file_with_labels_of_its_own_is_scored_by_them(ledger: Ledger, gold: Path) -> None:
    seal(ledger, read(gold))
    result = score(gold, gold, metrics=["uas"], ledger_entry=LedgerEntry(ledger))
    assert not any("sealed" in note for note in result.notes)


def test_changed_or_missing_labels_are_noticed(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    sealed = seal(ledger, read(gold))
    sealed.labels.write_text(GUESS)
    guess = written(tmp_path / "guess.conllu", GUESS)
    with pytest.raises(InputError, match="not the labels that were sealed on 20"):
        score(sealed.copy, guess, ledger_entry=LedgerEntry(ledger))
    sealed.labels.write_text("no corpus\tat all\n")
    with pytest.raises(CorpusError, match=sealed.test_set.hash):
        score(sealed.copy, guess, ledger_entry=LedgerEntry(ledger))
    sealed.labels.unlink()
    with pytest.raises(InputError, match=r"its sealed labels cannot be read .*no such file"):
        score(sealed.copy, guess, ledger_entry=LedgerEntry(ledger))
    assert ledger.tally(sealed.test_set.hash).evaluations == 0


def test_what_cannot_be_sealed_is_refused_and_nothing_is_written(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no labels; expected a test set with labels"):
        seal(ledger, read(text=BARE, lenient=["missing-heads"]))
    with pytest.raises(InputError, match=r"es-test.conllu: exists already; expected a new name"):
        seal(ledger, read(gold), gold)
    with pytest.raises(InputError, match="cannot be written"):
        seal(ledger, read(gold), tmp_path / "no" / "folder.conllu")
    with pytest.raises(InputError, match="2 files; expected one to seal"):
        seal(ledger, read([gold, gold]))
    assert not ledger.path.parent.exists()


def test_a_copy_is_not_left_behind_where_labels_cannot_be_put_away(gold: Path, tmp_path: Path) -> None:
    written(tmp_path / "sealed", "in the way")
    with pytest.raises(InputError, match=r"the labels cannot be sealed \(file exists\)"):
        seal(Ledger.at(tmp_path / "ledger.jsonl"), read(gold))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["es-test.conllu", "sealed"]


def test_sealing_again_needs_the_same_labels(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    first = seal(ledger, read(gold))
    second = seal(ledger, read(gold), tmp_path / "second.conllu", budget=4)
    assert second.copy.read_text() == first.copy.read_text()
    assert [(event["event"], event.get("budget")) for event in ledger.events()] == [("seal", None), ("guard", 4)]
    with pytest.raises(InputError, match=r"sealed already on .*, with other labels"):
        seal(ledger, read(written(tmp_path / "other.conllu", GUESS)))
    assert content_hash(read(sealed_copy(ledger))) == content_hash(read(gold))


WORDS = "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_\n2\tel\tel\tDET\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("# sent_id = a-1", "# sent_id = a-1"),
        ("#sent_id=a-1", "#sent_id=a-1"),
        ("# newdoc id = web/1", "# newdoc id = web/1"),
        ("# newdoc", "# newdoc"),
        ("# newpar id = p1", "# newpar id = p1"),
        ("# text = Del", ""),  # other letters than the words have
        ("# text = del", "# text = del"),
        ("# text = «del».", "# text = «del»."),  # punctuation that is no word is no label
        ("# text = del\tADP DET", ""),
        ("# text = case root", ""),
        ("# text-gold = ADP DET", ""),
        ("# text.gold = ADP", ""),
        ("# text gold = ADP", ""),
        ("# text", ""),
        ("# sent_id = a-1 ADP DET", ""),
        ("# sent_id-gold = ADP", ""),
        ("# newdoc id = a ADP DET", "# newdoc"),  # the document begins here nevertheless
        ("# newdoc ADP DET", "# newdoc"),
        ("# newpar ADP DET", "# newpar"),
        ("# newdoc-gold = ADP", ""),
        ("# gold = ADP DET", ""),
        ("# parse = (ADP de)", ""),
    ],
)
def test_comments_keep_only_what_is_about_the_text(comment: str, kept: str) -> None:
    written_copy = to_bytes(unlabelled(read(text=comment + "\n" + WORDS))).decode()
    assert written_copy.partition("1-2")[0] == (kept + "\n" if kept else "")


@pytest.mark.parametrize(
    ("misc", "kept"),
    [
        ("SpaceAfter=No", "SpaceAfter=No"),
        ("SpaceAfter=ADP", "_"),
        ("SpacesAfter=\\s\\n\\u00A0", "SpacesAfter=\\s\\n\\u00A0"),
        ("SpacesBefore=ADP|SpaceAfter=No", "SpaceAfter=No"),
    ],
)
def test_spacing_is_white_space(misc: str, kept: str) -> None:
    text = f"1\ta\ta\tADP\t_\t_\t0\troot\t_\t{misc}\n\n"
    assert to_bytes(unlabelled(read(text=text))).decode().rstrip().rpartition("\t")[2] == kept


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("# gold = X Y\na\tX\nb\tY\n\n", "a\t_\nb\t_\n\n"),
        ("-DOCSTART- -X- X=Y\n\na X O\nb Y O\n\n", "-DOCSTART- -X- _\n\na _ _\nb _ _\n\n"),
    ],
)
def test_comments_of_other_formats_are_checked_too(text: str, bare: str) -> None:
    columns = ["form", "tag"] if "\t" in text else ["form", "xpos", "chunk"]
    assert to_bytes(unlabelled(read(text=text, columns=columns))).decode() == bare


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Three documents: ten sentences, ten, and one."""
    marks = {0, 10, 20}
    text = "".join(f"# newdoc id = {i}\n" * (i in marks) + WORDS.replace("de", f"de{i}") for i in range(21))
    return written(tmp_path / "es-test.conllu", text)


def test_scores_of_small_groups_of_sealed_sentences_are_refused(ledger: Ledger, documents: Path) -> None:
    gold, guess = read(documents), written(documents.with_name("guess.conllu"), documents.read_text())
    copy, entry = seal(ledger, gold).copy, LedgerEntry(ledger)
    for path in (copy, documents):
        with pytest.raises(InputError, match=r"by document: one with 1 sentence; .*sealed.* at least 10 sentences"):
            score(path, guess, metrics=["las"], by="document", ledger_entry=entry)
    assert ledger.tally(text_hash(gold)).evaluations == 0
    assert score(copy, guess, metrics=["las"], by="relation", ledger_entry=entry).rows
    larger = written(documents.with_name("larger-test.conllu"), documents.read_text().replace("# newdoc id = 20\n", ""))
    entry = LedgerEntry(Ledger.at(documents.with_name("other.jsonl")))
    assert (
        len(
            score(seal(entry.ledger, read(larger)).copy, guess, metrics=["las"], by="document", ledger_entry=entry).rows
        )
        == 2
    )


def test_counts_of_sealed_sentences_are_not_saved(ledger: Ledger, documents: Path) -> None:
    guess = written(documents.with_name("guess.conllu"), documents.read_text())
    copy, entry, saved = seal(ledger, read(documents)).copy, LedgerEntry(ledger), documents.with_name("a.npz")
    settings = SizeSettings(sizes=(5, 10))
    for gold in (copy, documents):
        with pytest.raises(InputError, match=r"counts of every sentence.* sealed; expected no --save"):
            size(gold, {"a": guess, "b": guess}, settings=settings, save=saved, ledger_entry=entry)
    assert not saved.exists()
    assert not ledger.tally(text_hash(read(documents))).evaluations
    assert size(copy, {"a": guess, "b": guess}, settings=settings, ledger_entry=entry).sets


def test_a_comparison_shows_no_sentences_of_a_test_set_that_is_sealed_in_part(ledger: Ledger, documents: Path) -> None:
    right = written(documents.with_name("right.conllu"), documents.read_text())
    wrong = written(documents.with_name("wrong.conllu"), documents.read_text().replace("ADP", "X"))
    part = written(documents.with_name("part.conllu"), documents.read_text() + WORDS)
    right.write_text(part.read_text())
    wrong.write_text(part.read_text().replace("ADP", "X"))
    seal(ledger, read(documents))
    systems, entry = {"a": right, "b": wrong}, LedgerEntry(ledger)
    agreement = compare(part, systems, metric="upos", ledger_entry=entry).agreement
    shown = compare(part, systems, metric="upos").agreement
    assert agreement is not None
    assert shown is not None
    assert shown.sentences
    assert not agreement.sentences


def exported_parts(store: Path, ledger: Ledger, out: Path) -> tuple[set[str], int]:
    """The parts in an exported table of counts, and how many runs and parts are left out."""
    with open_store(store) as opened:
        hidden = sealed_counts(opened, ledger)
        write_table(opened, "counts", "csv" if out.suffix == ".csv" else "parquet", str(out), hidden=hidden)
    table = pl.read_csv(out) if out.suffix == ".csv" else pl.read_parquet(out)
    return set(table["part"].to_list()), len(hidden)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(("strategy", "left"), [("standard", {"dev"}), ("random", set())])
def test_counts_on_a_sealed_test_set_are_not_exported(
    strategy: str, left: set[str], suffix: str, ledger: Ledger, tmp_path: Path
) -> None:
    for seed, part in enumerate(("train", "dev", "test")):
        written(tmp_path / "c" / f"x-ud-{part}.conllu", corpus_text(20, seed))
    study = study_file(tmp_path)
    study.write_text(
        "evaluate = ['dev', 'test']\n"
        + study.read_text().replace("'small.conllu'", "['c']").replace("'random'", f"'{strategy}'")
    )
    plan = Plan.of(study)
    run_plan(plan, ledger_entry=LedgerEntry(ledger), executor=in_this_process)
    out = tmp_path / f"counts{suffix}"
    assert exported_parts(plan.store_path, ledger, out) == ({"dev", "test"}, 0)
    sealed = tmp_path / "c" / "x-ud-test.conllu"
    if strategy == "random":
        test = plan.partition(plan.corpus_splits[0]).parts["test"]
        sealed = tmp_path / "split-test.conllu"
        sealed.write_bytes(to_bytes(take(plan.materials["small"].corpus, test)))
    seal(ledger, read(sealed))
    parts, hidden = exported_parts(plan.store_path, ledger, out)
    assert parts == left
    assert hidden == len(plan.cells) * (2 - len(left))
    assert exported_parts(plan.store_path, Ledger.at(tmp_path / "other.jsonl"), out) == ({"dev", "test"}, 0)
    with closing(sqlite3.connect(plan.store_path)) as connection, connection:  # as after a run that was interrupted
        connection.execute("DELETE FROM results")
        vouch(connection)
    if strategy == "standard":  # the ledger knows the predictions
        assert exported_parts(plan.store_path, ledger, out) == ({"dev"}, len(plan.cells))


def test_the_command_says_what_it_leaves_out(
    ledger: Ledger, ledger_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, part in enumerate(("train", "dev", "test")):
        written(tmp_path / "c" / f"x-ud-{part}.conllu", corpus_text(20, seed))
    study = study_file(tmp_path, "majority")
    study.write_text(study.read_text().replace("'small.conllu'", "['c']").replace("'random'", "'standard'"))
    plan = Plan.of(study)
    run_plan(plan, ledger_entry=LedgerEntry(ledger), executor=in_this_process)
    seal(ledger, read(tmp_path / "c" / "x-ud-test.conllu"))
    commands = Commands(capsys)
    done = commands("export", plan.store_path, "--table", "counts", "--ledger", ledger_path)
    note = "counts of 1 run on sealed test sets are left out: those of every sentence say much about its labels"
    assert (done.code, done.err) == (0, f"note: {note}\n")
    assert ",dev," in done.out
    assert ",test," not in done.out
    assert commands("export", plan.store_path, "--ledger", ledger_path).err == ""
