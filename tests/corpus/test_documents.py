"""Ids of sentences, names of documents and genres, from comments."""

from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import Corpus, concatenate, read
from deadheat.corpus.documents import document_names, genres, sent_ids
from deadheat.errors import InputError
from tests.corpus.examples import ONE, row, sentence


def corpus_of(*comments: str) -> Corpus:
    """A sentence of one word under each of the comments, which may have several lines."""
    blocks = [comment.split("\n") if comment else [] for comment in comments]
    return read(text="".join(sentence(*lines, row(1)) for lines in blocks))


def genre_of_sentences(corpus: Corpus) -> list[str]:
    codes, names = genres(corpus)
    assert codes.dtype == np.int32
    assert list(names) == sorted(set(names))
    return [names[code] for code in codes]


def named_documents(*names: str) -> Corpus:
    return corpus_of(*(f"# newdoc id = {name}" for name in names))


def test_sentence_ids_are_found_where_they_are() -> None:
    corpus = corpus_of(
        "# sent_id = a-1", "", "# text = x\n#sent_id=b 2 \n# sent_id = c", "# text = sent_id = d", "# sent_id = "
    )
    assert sent_ids(corpus) == ("a-1", None, "b 2", None, None)


def test_sentence_ids_of_files_with_carriage_returns_and_odd_characters_are_found() -> None:
    text = sentence("# x\u2028# sent_id = no", "# sent_id = é\u0085日", row(1)).replace("\n", "\r\n")
    assert sent_ids(read(text=text)) == ("é\u0085日",)


def test_a_corpus_without_comments_has_no_ids() -> None:
    assert sent_ids(read(text=ONE * 3)) == (None, None, None)
    assert sent_ids(read(text="")) == ()
    assert sent_ids(read(text="a_X\n")) == (None,)


def test_documents_are_named_by_their_marks() -> None:
    corpus = corpus_of("# newdoc id = one", "", "#newdoc id=two", "# sent_id = 4\n# newdoc id = three ")
    assert document_names(corpus) == ("one", "two", "three")


@pytest.mark.parametrize(
    ("comment", "opens"),
    [
        ("# newdoc", True),
        ("#newdoc", True),
        ("#   newdoc id = x", True),
        ("# newdoc=x", True),
        ("# newdoc\tid = x", True),
        ("# newdocs", False),
        ("# newdoc_id = x", False),
        ("# newpar", False),
        ("# newdo", False),
        ("# text = newdoc", False),
        ("## newdoc", False),
    ],
)
def test_a_document_begins_at_its_mark_and_nowhere_else(comment: str, *, opens: bool) -> None:
    corpus = corpus_of("", comment, "")
    assert corpus.newdoc.tolist() == [False, opens, False]
    assert corpus.documents.tolist() == [0, int(opens), int(opens)]


def test_documents_without_a_name_are_called_by_their_number() -> None:
    corpus = corpus_of("", "# newdoc", "", "# newdoc id = x", "# newdoc id =", "# newdoc ")
    assert document_names(corpus) == ("document 1", "document 2", "x", "document 4", "document 5")


def test_no_two_documents_have_the_same_name() -> None:
    assert document_names(named_documents("x", "y", "x", "x (2)", "x")) == ("x", "y", "x (3)", "x (2)", "x (4)")
    assert document_names(corpus_of("# newdoc id = document 2", "# newdoc")) == ("document 2", "document 2 (2)")


def test_a_corpus_without_marks_is_one_document_a_file() -> None:
    one = read(text=ONE * 2)
    assert document_names(one) == ("document 1",)
    assert document_names(concatenate([one, one])) == ("document 1", "document 2")
    assert document_names(read(text="")) == ()


def test_documents_of_column_files_have_numbers() -> None:
    corpus = read(text="-DOCSTART- -X- O\n\na X Y\n\n-DOCSTART- -X- O\n\nb X Y\n\nc X Y\n\n")
    assert corpus.documents.tolist() == [0, 1, 1]
    assert document_names(corpus) == ("document 1", "document 2")


@pytest.mark.parametrize("key", ["genre", "meta::genre"])
def test_a_genre_on_a_sentence_counts_for_it(key: str) -> None:
    assert genre_of_sentences(corpus_of(f"# {key} = b", f"#{key}=a ", f"# {key} = b")) == ["b", "a", "b"]


def test_a_genre_on_the_first_sentence_of_a_document_counts_for_the_rest_of_it() -> None:
    corpus = corpus_of(
        "# newdoc id = x\n# meta::genre = news", "", "# genre = quotation", "", "# newdoc\n# genre = fiction", ""
    )
    assert genre_of_sentences(corpus) == ["news", "news", "quotation", "news", "fiction", "fiction"]


def test_a_genre_on_the_first_sentence_of_a_file_without_marks_counts_for_the_file() -> None:
    one, other = corpus_of("# genre = news", ""), corpus_of("# genre = mail", "")
    assert genre_of_sentences(concatenate([one, other])) == ["news", "news", "mail", "mail"]


def test_a_sentence_without_a_genre_among_others_with_one_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"^text:6: a sentence without a genre, the first of 2; expected a comment"):
        genres(corpus_of("# newdoc\n# genre = news", "# newdoc", ""))


def test_document_ids_that_begin_with_few_names_give_genres() -> None:
    corpus = named_documents("mail-1", "web-1", "mail-2-x", "web-2", "mail-3")
    assert genre_of_sentences(corpus) == ["mail", "web", "mail", "web", "mail"]


def test_sentence_ids_give_genres_where_documents_have_no_ids() -> None:
    corpus = corpus_of(
        *(
            comment
            for i, genre in enumerate(["web", "mail", "web", "mail", "mail"])
            for comment in (f"# newdoc\n# sent_id = {genre}-{i}-1", f"# sent_id = {genre}-{i}-2")
        )
    )
    assert genre_of_sentences(corpus) == ["web"] * 2 + ["mail"] * 2 + ["web"] * 2 + ["mail"] * 4


@pytest.mark.parametrize(
    "corpus",
    [
        pytest.param(corpus_of("", ""), id="no comments"),
        pytest.param(read(text=""), id="no sentences"),
        pytest.param(named_documents("a-1", "b-1", "a-2", "b-2"), id="half as many as documents"),
        pytest.param(named_documents("a-1", "b-1", "a-2", "b-2", "c"), id="a document without a dash"),
        pytest.param(named_documents("a-1", "b-1", "a-2", "b-2", "-c"), id="a document with nothing before it"),
        pytest.param(named_documents("a-1", "a-2", "a-3", "a-4"), id="the same everywhere"),
        pytest.param(named_documents("dev-1", "dev-2", "test-1", "test-2", "train-1"), id="names of parts"),
        pytest.param(named_documents(*(f"{i % 21}-{i}" for i in range(100))), id="more than twenty"),
        pytest.param(
            corpus_of(
                *(f"# newdoc\n# sent_id = {'ab'[i % 2]}-{i}" for i in range(5)), "# sent_id = a-6", "# sent_id = b-7"
            ),
            id="sentences of one document disagree",
        ),
        pytest.param(corpus_of(*(f"# sent_id = {'ab'[i % 2]}-{i}" for i in range(9))), id="no documents"),
    ],
)
def test_what_does_not_look_like_genres_is_refused_with_what_was_looked_for(corpus: Corpus) -> None:
    with pytest.raises(
        InputError, match=r"^text: no genres; looked for comments '# genre = \.\.\.' and '# meta::genre"
    ):
        genres(corpus)


def test_twenty_genres_are_not_too_many() -> None:
    _, names = genres(named_documents(*(f"{i % 20}-{i}" for i in range(41))))
    assert len(names) == 20


def test_the_five_genres_of_the_english_web_treebank_are_found(shared_data: Path) -> None:
    corpus = read(shared_data / "treebanks" / "en_ewt" / "en_ewt-ud-train.conllu")
    codes, names = genres(corpus)
    assert names == ("answers", "email", "newsgroup", "reviews", "weblog")
    result = [names[code] for code in codes]
    assert result == [item.partition("-")[0] for item in sent_ids(corpus) if item]
    assert len(document_names(corpus)) == 540


def test_documents_of_twenty_thousand_sentences() -> None:
    comments = (f"# newdoc id = {'abcde'[i % 5]}-{i}\n# sent_id = s-{i}\n# text = x" for i in range(20_000))
    corpus = corpus_of(*comments)
    assert len(genres(corpus)[1]) == 5
    assert len(set(document_names(corpus))) == 20_000
    assert len(set(sent_ids(corpus))) == 20_000
