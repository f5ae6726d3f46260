"""What `info` says of a corpus, counted by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from deadheat.corpus import concatenate, read
from deadheat.corpus.info import info
from tests.corpus.examples import ONE, extra, official, row, sentence

FULL = sentence(
    "# newdoc id = mail-1",
    "# genre = mail",
    "# sent_id = 1",
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
    "1\tde\tde\tADP\tE\tA=B\t4\tcase\t_\t_",
    "2\tle\tle\tDET\tE\tA=B\t4\tdet\t_\t_",
    "2.1\tx\tx\tNOUN\tS\tA=B\t_\t_\t_\t_",
    "3\tbon\tbon\tADJ\tS\t_\t4\tamod\t_\t_",
    "4\tpain\tpain\tNOUN\tS\t_\t0\troot\t_\t_",
) + sentence("# newdoc", "# genre = news", "1\tbon\tbon\tADJ\t_\t_\t0\troot\t_\t_")
# Word 1 hangs from 3 over the root, 2; and 4 from 2 over 3, which hangs from it: one arc of four.
CROSSING = sentence(row(1, head=3), row(2, "b", 0), row(3, "c", 2), row(4, "d", 2))


def test_everything_in_a_small_treebank_is_counted() -> None:
    result = info(read(text=FULL))
    assert (result.name, result.files, result.format) == ("text", ("text",), "conllu")
    assert (result.sentences, result.words, result.tokens) == (2, 5, 4)
    assert (result.multiword_tokens, result.empty_nodes, result.documents) == (1, 1, 2)
    assert result.genres == {"mail": 4, "news": 1}
    assert result.types == 4
    assert result.tags == {"upos": 3 + 1, "xpos": 2}
    assert result.relations == 4
    assert (result.nonprojective_sentences, result.nonprojective_words) == (0, 0)
    assert (result.longest, result.longest_at, result.mean_length) == (4, "text:5", 2.5)
    assert result.missing == ()


def test_it_prints_as_an_aligned_listing() -> None:
    assert str(info(read(text=FULL))).split("\n") == [
        "text (conllu)",
        "  documents            2",
        "  sentences            2  2.5 words on average",
        "  longest sentence     4  words, at text:5",
        "  words                5",
        "  tokens               4  of which 1 of several words",
        "  empty nodes          1",
        "  types                4",
        "  UPOS tags            4",
        "  XPOS tags            2",
        "  relations            4",
        "  non-projective    0.0%  of sentences, 0.0% of words",
        "  genres               2",
        "    mail               4  words",
        "    news               1  words",
    ]


def test_a_multiword_token_is_one_token_however_many_words_it_has() -> None:
    words = [row(i, head=min(i - 1, 1)) for i in range(1, 6)]
    result = info(read(text=sentence(extra("1-3"), *words[:3], extra("4-4"), *words[3:])))
    assert (result.words, result.tokens, result.multiword_tokens) == (5, 3, 2)


def test_tokens_and_words_are_as_many_as_the_official_evaluator_counts(shared_data: Path) -> None:
    path = shared_data / "treebanks" / "kk_ktb" / "kk_ktb-ud-test.conllu"
    result, expected = info(read(path)), official(path.read_text())
    assert result.multiword_tokens > 30
    assert (result.tokens, result.words) == (len(expected.tokens), len(expected.words))
    assert result.sentences == len(expected.sentences)


def test_missing_annotation_is_reported() -> None:
    bare = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"
    result = info(read(text=bare, lenient=["missing-heads", "final-newline"]))
    assert result.missing == (
        "no lemmas",
        "no UPOS",
        "no XPOS",
        "no features",
        "no relations",
        "no heads",
        "no sentence ids",
        "no document marks",
        "final empty line missing",
    )
    assert (result.nonprojective_sentences, result.nonprojective_words, result.documents) == (None, None, None)
    assert str(result).split("\n")[-1].startswith("  missing: no lemmas, no UPOS, ")


def test_sentences_without_heads_are_counted_and_left_out_of_the_shares() -> None:
    headless = sentence(row(1, head="_"), row(2, "b", "_"))
    result = info(read(text=headless + CROSSING + headless + ONE, lenient=["missing-heads"]))
    assert "no heads in 2 sentences" in result.missing
    assert result.nonprojective_sentences == 1 / 2
    assert result.nonprojective_words == 1 / 5


def test_a_treebank_without_text_is_reported_to_have_no_forms() -> None:
    assert "no forms" in info(read(text=sentence(row(1, "_"), row(2, "_", 1)))).missing


@pytest.mark.parametrize(
    ("text", "missing"),
    [("a_X", ("final newline missing",)), ("a_X\n", ()), ("a X\n", ("no document marks", "final empty line missing"))],
)
def test_other_formats_miss_only_what_they_could_have(text: str, missing: tuple[str, ...]) -> None:
    assert info(read(text=text)).missing == missing


def test_a_last_comment_without_a_newline_is_reported() -> None:
    assert "final newline missing" in info(read(text=ONE + "# end")).missing


def test_an_empty_corpus_has_no_mean() -> None:
    result = info(read(text=""))
    assert np.isnan(result.mean_length)
    assert (result.longest, result.longest_at, result.missing) == (0, "", ("no words",))
    assert result.to_dict()["mean_length"] is None
    assert str(result).split("\n")[1] == "  sentences  0"


def test_tags_of_column_files_are_counted() -> None:
    result = info(read(text="-DOCSTART- -X- O\n\na DT B-NP\nb NN I-NP\nc NN _\n\n"))
    assert (result.tags, result.documents, result.relations) == ({"xpos": 2, "chunk": 2}, 1, 0)
    assert "tags" in str(info(read(text="a_X\n")))
    assert "tag tags" not in str(info(read(text="a_X\n")))


def test_values_of_empty_nodes_and_multiword_tokens_alone_do_not_count() -> None:
    text = sentence(row(1), "1.1\tx\tx\tNOUN\tS\tA=B\t_\t_\t_\t_")
    result = info(read(text=text))
    assert (result.types, result.tags) == (1, {"upos": 1})
    assert "no lemmas" in result.missing


def test_the_longest_sentence_of_several_files_has_its_file_and_line(tmp_path: Path) -> None:
    for name, text in (
        ("a.conllu", ONE * 2),
        ("b.conllu", ONE + sentence("# x", extra("0.1"), row(1), row(2, "b", 1))),
    ):
        (tmp_path / name).write_text(text)
    result = info(read(tmp_path))
    assert (result.longest, result.longest_at) == (2, f"{tmp_path}/b.conllu:5")
    assert result.files == (f"{tmp_path}/a.conllu", f"{tmp_path}/b.conllu")
    assert str(result).split("\n")[1].split() == ["files", "2"]


def test_shares_are_of_all_sentences_and_words() -> None:
    result = info(concatenate([read(text=CROSSING), read(text=ONE * 4)]))
    assert result.nonprojective_sentences == 1 / 5
    assert result.nonprojective_words == 1 / 8


def test_it_can_be_stored_as_json() -> None:
    stored = json.loads(json.dumps(info(read(text=FULL)).to_dict(), allow_nan=False))
    assert stored["genres"] == {"mail": 4, "news": 1}
    assert stored["files"] == ["text"]
    assert list(stored)[:4] == ["name", "files", "format", "sentences"]


def test_the_english_web_treebank_is_as_large_as_its_makers_say(shared_data: Path) -> None:
    folder = shared_data / "treebanks" / "en_ewt"
    sizes = {part: info(read(folder / f"en_ewt-ud-{part}.conllu")) for part in ("train", "dev", "test")}
    assert {part: result.words for part, result in sizes.items()} == {"train": 204_577, "dev": 25_147, "test": 25_094}
    assert {part: result.documents for part, result in sizes.items()} == {"train": 540, "dev": 318, "test": 316}
    assert sum(sizes["train"].genres.values()) == 204_577
    assert sizes["train"].tags["upos"] == 17
    assert sizes["train"].missing == ()
