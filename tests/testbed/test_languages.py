"""The languages have the properties that their parameters promise."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from statistics import fmean

import pytest

from deadheat.testbed import LANGUAGES, Genre, Language, generate, treebank
from tests.testbed.checker import Block, Row, crossings, read

# Few words, because every change of a language makes a new lexicon.
DEFAULT = Language(name="plain", lexicon=2000)


def rows_of(blocks: list[Block]) -> list[Row]:
    return [row for block in blocks for row in block.rows]


def sample(language: Language, sentences: int = 400) -> list[Block]:
    return read(generate(language, sentences=sentences, seed=1))


def side_share(blocks: list[Block], relation: str) -> float:
    """How often a dependent with this relation stands before its head."""
    return fmean(row.number < row.head for row in rows_of(blocks) if row.relation == relation)


FIRST, *OTHERS = LANGUAGES
SOME_SLOW = [FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]


@pytest.mark.parametrize("language", SOME_SLOW)
def test_a_treebank_is_like_a_real_one(language: str) -> None:
    parts = treebank(language, sentences=2500, seed=2)
    train, dev, test = (read(part) for part in (parts.train, parts.dev, parts.test))
    known = {row.form for row in rows_of(train)}
    assert 0.05 < fmean(row.form not in known for row in rows_of(test)) < 0.115
    sizes = [len(block.rows) for block in (*train, *dev, *test)]
    assert abs(len(rows_of(train)) / sum(sizes) - 0.8) < 0.04
    assert abs(len(rows_of(test)) / sum(sizes) - 0.1) < 0.04
    assert 13 < fmean(sizes) < 17
    assert 0.02 < fmean(size <= 3 for size in sizes) < 0.08
    assert 0.005 < fmean(size > 50 for size in sizes) < 0.05
    assert max(sizes) > 60


def test_frequencies_of_words_follow_a_power_law() -> None:
    counts = sorted(Counter(row.lemma for row in rows_of(sample(DEFAULT))).values(), reverse=True)
    assert counts[0] > 5 * counts[10] ** 0.5
    assert fmean(count == 1 for count in counts) > 0.3
    steeper = sample(replace(DEFAULT, zipf=3.0))
    assert len({row.lemma for row in rows_of(steeper)}) < 0.65 * len(counts)


def test_words_are_ambiguous_as_asked() -> None:
    result = []
    for ambiguity in (0.0, 0.5):
        classes = defaultdict(set)
        rows = rows_of(sample(replace(DEFAULT, ambiguity=ambiguity)))
        for row in rows:
            classes[row.form].add(row.upos)
        result.append(fmean(len(classes[row.form]) > 1 for row in rows))
    assert result[0] < 0.05
    assert result[1] > 0.3


@pytest.mark.parametrize("language", ["ostrevan", "elisque", "morelle", "dzari"])
def test_determiners_and_adjectives_agree_with_their_noun(language: str, blocks: dict[str, list[Block]]) -> None:
    checked = 0
    for block in blocks[language]:
        for row in block.rows:
            if row.relation in ("det", "amod"):
                noun = block.rows[row.head - 1]
                for feature in ("Case", "Gender", "Number"):
                    assert row.feats.get(feature) == noun.feats.get(feature), (block.comments, row.form)
                checked += 1
    assert checked > 50


@pytest.mark.parametrize("language", LANGUAGES)
def test_verbs_agree_with_their_subject(language: str, blocks: dict[str, list[Block]]) -> None:
    checked = 0
    for block in blocks[language]:
        for row in block.rows:
            if row.relation in ("nsubj", "nsubj:pass") and row.feats.get("PronType") != "Rel":
                helpers = [child for child in block.rows if child.head == row.head and child.upos == "AUX"]
                finite = [block.rows[row.head - 1], *helpers]
                (verb,) = [word for word in finite if word.feats.get("Mood") == "Ind"]
                assert verb.feats["Person"] == row.feats.get("Person", "3")
                if row.upos in ("NOUN", "PRON"):
                    assert verb.feats["Number"] == row.feats["Number"]
                checked += 1
    assert checked > 50


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_lemma_and_features_have_the_same_form(language: str, blocks: dict[str, list[Block]]) -> None:
    forms = defaultdict(set)
    for block in blocks[language]:
        for row in block.rows:
            forms[row.lemma, row.upos, tuple(row.feats.items())].add(row.form.lower())
    assert {len(result) for result in forms.values()} == {1}


@pytest.mark.parametrize("language", LANGUAGES)
def test_trees_cross_as_often_as_asked(language: str) -> None:
    result = []
    for share in (0.0, 0.3, 0.9):
        changed = replace(LANGUAGES[language], nonprojectivity=share, lexicon=500)
        blocks = sample(changed, 60)
        result.append(fmean(crossings(block.heads) for block in blocks))
    assert result[0] == 0
    assert 0.08 < result[1] < 0.4
    assert result[2] > result[1] + 0.1


def test_arrangement_and_sides_decide_the_order() -> None:
    for arrangement in ("SVO", "SOV", "VSO", "OVS"):
        blocks = sample(replace(DEFAULT, arrangements=((arrangement, 1.0),), nonprojectivity=0.0), 150)
        subject = arrangement.index("S") < arrangement.index("V")
        plain = [block for block in blocks if not any("Rel" in row.feats.values() for row in block.rows)]
        assert side_share(plain, "nsubj") == subject
        assert side_share(plain, "obj") == (arrangement.index("O") < arrangement.index("V"))
    language = replace(DEFAULT, adposition="after", adjective="after", subordinator="after", auxiliary="after")
    blocks = sample(replace(language, nonprojectivity=0.0), 150)
    assert [side_share(blocks, relation) for relation in ("case", "amod", "mark", "aux", "cop")] == [0] * 5


def test_there_are_no_clauses_within_clauses_without_embedding() -> None:
    flat = sample(replace(DEFAULT, embedding=0.0, genres=(Genre(name="plain"),)))
    relations = Counter(row.relation for row in rows_of(flat))
    assert not relations.keys() & {"acl", "acl:relcl", "advcl", "xcomp"}
    assert relations["conj"] > 0


def test_length_of_sentences_and_documents_is_a_parameter() -> None:
    short = sample(replace(DEFAULT, mean_length=6.0, longest=12, document_length=3.0))
    assert 5 < fmean(len(block.rows) for block in short) < 7.5
    assert max(len(block.rows) for block in short) <= 16
    assert 80 < sum("newdoc id" in block.comments for block in short) < 200


def test_genres_are_named_where_documents_and_sentences_are() -> None:
    genre, document, seen = "", "", set()
    for block in sample(replace(DEFAULT, document_length=4.0), 60):
        if "newdoc id" in block.comments:
            document, genre = block.comments["newdoc id"], block.comments["genre"]
            seen.add(genre)
        assert document.split("-")[0] == genre
        assert block.comments["sent_id"].startswith(f"{document}-")
    assert len(seen) > 1


def test_content_words_cluster_in_documents() -> None:
    def clustering(topicality: float) -> float:
        """How much likelier two nouns are the same within a document than anywhere."""
        documents: list[Counter[str]] = []
        for block in sample(replace(DEFAULT, topicality=topicality, document_length=30.0)):
            if "newdoc id" in block.comments:
                documents.append(Counter())
            documents[-1].update(row.lemma for row in block.rows if row.upos == "NOUN")
        whole: Counter[str] = sum(documents, Counter())
        within = sum(sum(n * (n - 1) for n in nouns.values()) for nouns in documents)
        pairs = sum(nouns.total() * (nouns.total() - 1) for nouns in documents)
        anywhere = sum((n / whole.total()) ** 2 for n in whole.values())
        return within / pairs / anywhere

    assert 0.8 < clustering(0.0) < 1.3
    assert clustering(0.9) > 3


def test_contractions_and_clitics_are_multiword_tokens() -> None:
    language = LANGUAGES["morelle"]
    result = Counter(len(words) for block in sample(language) for _, words, _ in block.tokens)
    assert 0.01 < result[2] / result.total() < 0.1
    none = sample(replace(language, contractions=0.0, clitics=0.0, lexicon=500), 100)
    assert all(len(words) == 1 for block in none for _, words, _ in block.tokens)


def test_one_language_has_another_script_and_forms_with_spaces(blocks: dict[str, list[Block]]) -> None:
    rows = rows_of(blocks["dzari"])
    assert all("ა" <= letter <= "ჰ" for row in rows for letter in row.lemma if letter.isalpha())
    assert any(" " in row.form for row in rows)
    assert {row.upos for row in rows if " " in row.form} == {"NUM"}


def test_one_language_has_enhanced_dependencies_and_empty_nodes(blocks: dict[str, list[Block]]) -> None:
    result = blocks["elisque"] + sample(LANGUAGES["elisque"])
    assert all(row.deps != "_" for row in rows_of(result))
    assert sum(len(block.empty) for block in result) > 3
    edges = Counter(edge.split(":", 1)[1] for row in rows_of(result) for edge in row.deps.split("|"))
    assert edges["ref"] > 0
    assert edges["nsubj:xsubj"] > 0
    assert edges["orphan"] == 0
    for block in result:
        targets = {edge.split(":")[0] for row in block.rows for edge in row.deps.split("|")}
        assert {target for target in targets if "." in target} <= set(block.empty)
    assert all(row.deps == "_" for row in rows_of(blocks["velani"]))


def test_all_parts_of_speech_and_most_relations_occur() -> None:
    rows = [row for language in LANGUAGES.values() for row in rows_of(sample(language, 150))]
    assert len({row.upos for row in rows}) == 17
    assert len({row.relation.split(":")[0] for row in rows}) >= 27
    assert {"nsubj:pass", "aux:pass", "acl:relcl", "obl:tmod", "obl:agent", "flat:foreign"} <= {
        row.relation for row in rows
    }
