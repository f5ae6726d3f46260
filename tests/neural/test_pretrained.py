"""Word vectors from a file: which word gets which, and what becomes of them in training and after it."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import deadheat
from deadheat.corpus import Corpus, take
from deadheat.errors import InputError
from deadheat.neural.text import Lexicon
from deadheat.neural.vectors import PretrainedVectors
from deadheat.systems import SYSTEMS
from tests.neural.tiny import TAGS, TINY, corpus_of, rows_of, split_of

FILE = """\
Paris 1 2
paris 3 4
dog 5 6
0000 7 8
b0b 9 10
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.vec"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize(
    ("form", "key", "row"),
    [
        ("Paris", "Paris", [1, 2]),  # as it stands
        ("paris", "paris", [3, 4]),
        ("PARIS", "paris", [3, 4]),  # in lower case
        ("Dog", "dog", [5, 6]),
        ("1984", "0000", [7, 8]),  # with digits made alike
        ("B2B", "b0b", [9, 10]),
        ("Zebra", "zebra", None),
        ("12", "00", None),
    ],
)
def test_a_form_is_looked_up_as_it_stands_then_lower_then_with_digits_alike(
    file: Path, form: str, key: str, row: list[int] | None
) -> None:
    found = PretrainedVectors.of(str(file), [form])
    assert found.keys == {form: key}
    lexicon = Lexicon.of([form], found.keys)
    assert lexicon.words == ("", key)
    assert lexicon.codes([form]).tolist() == [1]
    assert np.array_equal(found.rows(lexicon)[1], [np.nan] * 2 if row is None else row, equal_nan=True)
    assert np.isnan(found.rows(lexicon)[0]).all()


def test_forms_with_vectors_of_their_own_are_words_of_their_own(file: Path) -> None:
    forms = ["1984", "2001", "Dog", "PARIS", "Paris", "dog", "paris"]
    found = PretrainedVectors.of(str(file), forms)
    lexicon = Lexicon.of(forms, found.keys)
    assert [lexicon.words[code] for code in lexicon.codes(forms)] == [
        "0000", "0000", "dog", "paris", "Paris", "dog", "paris",
    ]  # fmt: skip
    assert found.rows(lexicon).tolist()[1:] == [[7, 8], [1, 2], [5, 6], [3, 4]]


def test_a_compressed_file_gives_the_same(file: Path) -> None:
    packed = file.with_suffix(".vec.gz")
    packed.write_bytes(gzip.compress(FILE.encode()))
    forms = ["Paris", "Dog", "77"]
    one, other = (PretrainedVectors.of(str(path), forms) for path in (file, packed))
    lexicon = Lexicon.of(forms, one.keys)
    assert one.keys == other.keys
    assert np.array_equal(one.rows(lexicon), other.rows(lexicon), equal_nan=True)


def test_a_wrong_line_is_named_before_anything_is_trained(tmp_path: Path) -> None:
    system = SYSTEMS.make("bilstm", **{**TINY, "vectors": str(tmp_path / "bad.vec")})
    with pytest.raises(InputError, match=r"bad\.vec: cannot be read \(no such file"):
        system.train(corpus_of(rows_of(10)), None, 0)
    (tmp_path / "bad.vec").write_text("the 1 2\ndog 3 4\nsaw 5\n")
    with pytest.raises(InputError, match=r"bad\.vec:3: 2 columns; expected 3"):
        system.train(corpus_of(rows_of(10)), None, 0)
    (tmp_path / "bad.vec").write_text("the 1 2\ndog 3 x\n")
    with pytest.raises(InputError, match=r"bad\.vec:2: number 2 of 'dog' is 'x'"):
        system.train(corpus_of(rows_of(10)), None, 0)


SIZE = TINY["word_size"]


ALIKE = {"dog": "wolf", "saw": "heard", "the": "an"}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """A file for all words but `run`, in which some have the vectors of others, and `fox` is nothing that occurs."""
    rng = np.random.default_rng(3)
    rows = {word.lower(): rng.normal(size=SIZE).round(3).astype(np.float32) for word in [*TAGS, "fox"]}
    rows |= {other: rows[word] for word, other in ALIKE.items()}
    path = tmp_path_factory.mktemp("vectors") / "words.vec"
    path.write_text("".join(" ".join([word, *map(str, row)]) + "\n" for word, row in rows.items()))
    return str(path), rows


def with_others(part: str, others: dict[str, str] = ALIKE) -> Corpus:
    """The corpus, with other words for some in one part of a split."""
    rows = rows_of()
    for sentence in split_of(1).parts[part].tolist():
        rows[sentence] = [(others.get(word, word), tag, chunk) for word, tag, chunk in rows[sentence]]
    return corpus_of(rows)


def table_of(model: Any) -> dict[str, np.ndarray]:
    return dict(zip(model.lexicon.words, np.asarray(model.weights["words"]), strict=False))


@pytest.mark.slow
def test_vectors_are_learned_on_unless_they_are_frozen(vectors: tuple[str, dict[str, Any]]) -> None:
    path, rows = vectors
    corpus, split = corpus_of(rows_of()), split_of(1)
    train, dev = (take(each, split.parts[part]) for each, part in ((corpus, "train"), (with_others("dev"), "dev")))
    # The file says how large vectors are, whatever the setting is.
    settings = {**TINY, "word_size": 100, "vectors": path, "epochs": 2}
    free = table_of(SYSTEMS.make("bilstm", **settings).train(train, dev, 0))
    frozen = table_of(SYSTEMS.make("bilstm", **settings, frozen=True).train(train, dev, 0))
    assert set(free) == {"", "run", *ALIKE.values(), *(word.lower() for word in TAGS)}
    given = [word for word in free if word in rows]
    assert {word for word in given if not np.array_equal(free[word], rows[word])} == {*given} - {*ALIKE.values()}
    assert all(np.array_equal(frozen[word], rows[word]) for word in given)
    # A word that has no vector in the file is drawn, and frozen like all others.
    assert frozen["run"].any()
    assert not np.array_equal(frozen["run"], free["run"])


@pytest.mark.slow
def test_a_word_that_only_the_file_knows_is_known_when_it_is_read(vectors: tuple[str, dict[str, Any]]) -> None:
    path, _ = vectors
    split = split_of(1)
    corpus, changed = corpus_of(rows_of()), with_others("test")
    system = SYSTEMS.make("bilstm", **{**TINY, "size": "full", "vectors": path, "frozen": True})
    train, dev, test = (take(corpus, split.parts[part]) for part in ("train", "dev", "test"))
    model = system.train(train, dev, 0)
    expected = model.predict(test).column("tag").strings()
    assert model.predict(take(changed, split.parts["test"])).column("tag").strings() == expected
    unknown = with_others("test", dict.fromkeys(ALIKE, "nowhere"))  # of which the file knows nothing
    assert model.predict(take(unknown, split.parts["test"])).column("tag").strings() != expected
    # And so are words of parts that are labelled when many are trained.
    settings = {**TINY, "size": "full", "vectors": path, "frozen": True}
    for own in (corpus, changed):
        [network] = deadheat.train_many(own, [split], [0], settings)
        assert network.predictions["test"].column("tag").strings() == expected
