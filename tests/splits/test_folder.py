"""Folders of splits: the same sentences, byte for byte; written whole or not at all; checked."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deadheat
from deadheat.corpus import Corpus
from deadheat.corpus.documents import find_documents
from deadheat.corpus.vocabulary import Indices
from deadheat.corpus.writing import stream
from deadheat.errors import InputError, SplitError
from deadheat.splits import folder as folder_module
from deadheat.splits import split
from deadheat.splits.folder import check_folder, load_manifest, write_splits
from tests.corpus.examples import extra, row, sentence
from tests.splits.corpora import column_text, documents_text, tagged_text

CONLLU = "".join(
    [
        sentence("# newdoc id = a", "# sent_id = a-1", extra("1-2", "aux"), row(1, "à", 2), row(2, "les", 0)),
        sentence("# sent_id = a-2", "# text = é #", extra("0.1", "x"), row(1, "b"), extra("1.1", "y", "_")),
        sentence("# newdoc id = b", row(1, "c", 0), row(2, "d", 1, "dep", misc="SpaceAfter=No")),
        *(sentence(f"# sent_id = b-{i}", row(1, f"w{i}", 0)) for i in range(7)),
    ]
)
TAGGED = tagged_text([3, 1, 4, 2, 5, 2, 3, 1, 2, 6])
COLUMNS = column_text([3, 1, 4, 2, 5, 2, 3, 1, 2, 6])


def sentences_in(text: str, format: str) -> list[str]:
    """The sentences of a text as they stand in it; what is before one belongs to it."""
    if format == "tagged":
        return text.splitlines(keepends=True)
    result, current = [], ""
    for line in text.splitlines(keepends=True):
        current += line
        # In a column file an empty line follows -DOCSTART- too, which is no sentence yet.
        if not line.strip() and not current.rstrip().rpartition("\n")[2].startswith("-DOCSTART-"):
            result.append(current)
            current = ""
    return result


def written(target: Path) -> dict[str, bytes]:
    return {
        path.relative_to(target).as_posix(): path.read_bytes() for path in sorted(target.rglob("*")) if path.is_file()
    }


ROUND_TRIPS = [
    ("x.conllu", CONLLU, "conllu"),
    ("x.conllu", CONLLU.replace("\n", "\r\n"), "conllu"),
    ("x.pos", TAGGED, "tagged"),
    ("x.pos", TAGGED.replace("\n", "\r\n"), "tagged"),
    ("x.txt", COLUMNS, "columns"),
    ("x.txt", COLUMNS.replace("\n", "\r\n"), "columns"),
]


@pytest.mark.parametrize(("name", "text", "format"), ROUND_TRIPS)
@pytest.mark.parametrize("end", ["whole", "no empty line", "no newline"])
@pytest.mark.parametrize("packed", [False, True])
def test_all_parts_together_are_the_input(
    tmp_path: Path, name: str, text: str, format: str, end: str, *, packed: bool
) -> None:
    newline = "\r\n" if "\r\n" in text else "\n"
    cut = {"whole": 0, "no empty line": len(newline), "no newline": 2 * len(newline)}[end]
    if format == "tagged":
        cut = min(cut, len(newline))
    raw = text[: len(text) - cut].encode()
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    lenient = ["final-newline"] if format == "conllu" else []
    made = split(path, "random(sizes='60/20/20')", seed=1, lenient=lenient)
    write_splits(made, tmp_path / "out")
    expected = sentences_in(text, format)
    assert len(expected) == made.corpus.sentences == 10
    together = [""] * 10
    for part, numbers in made[0].parts.items():
        result = (tmp_path / f"out/0/{part}{Path(name).suffix}").read_bytes().decode()
        pieces = sentences_in(result, format)
        assert len(pieces) == len(numbers)
        for number, piece in zip(numbers.tolist(), pieces, strict=True):  # in the order of the input
            together[number] = piece
    assert "".join(together) == text
    assert check_folder(tmp_path / "out").verified == 3


def folder(tmp_path: Path, **options: Any) -> tuple[Path, dict[str, Any]]:
    source = tmp_path / "xx-all.conllu"
    source.write_text(documents_text([[3, 4], [5, 6, 2]] * 10), encoding="utf-8")
    made = split(source, **{"strategy": "random(unit='document')", "times": 2, "nested": ["test=5 words"], **options})
    target = tmp_path / "out"
    return target, write_splits(made, target)


def test_the_manifest_says_what_was_made_from_what(tmp_path: Path) -> None:
    target, manifest = folder(tmp_path)
    assert json.loads((target / "manifest.json").read_text("utf-8")) == manifest
    assert manifest["strategy"] == "random.v1(unit='document')"
    assert manifest["settings"] == {"sizes": "80/10/10", "unit": "document", "stratify": "", "block": 50}
    assert (manifest["seed"], manifest["times"], manifest["nested"]) == (0, 2, ["test=5 words"])
    assert manifest["documents"] == {"asked": "auto", "rule": "marked by # newdoc", "count": 20}
    source = tmp_path / "xx-all.conllu"
    assert manifest["inputs"] == [{"file": str(source), "sha256": sha(source), "sentences": 50, "words": 200}]
    for one in manifest["splits"]:
        assert set(one["parts"]) == {"train", "dev", "test"}
        assert set(one["nested"]) == {"test-5-words"}
        assert one["shared_documents"] == {"train/dev": 0, "train/test": 0, "dev/test": 0}
        assert sum(item["sentences"] for item in one["parts"].values()) == 50
        assert sum(item["words"] for item in one["parts"].values()) == 200
        for item in (*one["parts"].values(), *one["nested"].values()):
            path = target / item["file"]
            assert item["sha256"] == sha(path)
            corpus = deadheat.read(path)
            documents = find_documents(corpus)
            assert documents is not None
            assert (item["sentences"], item["words"], item["documents"]) == (
                corpus.sentences,
                corpus.words,
                len(documents),
            )
    assert sorted(written(target)) == sorted(
        [
            "manifest.json",
            *(f"{i}/{part}.conllu" for i in range(2) for part in ("train", "dev", "test", "test-5-words")),
        ]
    )


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_same_call_writes_the_same_bytes(tmp_path: Path) -> None:
    target, _ = folder(tmp_path)
    first = written(target)
    shutil.rmtree(target)
    assert written(folder(tmp_path)[0]) == first


def test_a_corpus_that_is_no_file_is_hashed_as_it_would_be_written(tmp_path: Path) -> None:
    manifest = write_splits(split(deadheat.read(text=TAGGED), "random(sizes='50/50')"), tmp_path / "out")
    assert manifest["inputs"] == [
        {"file": "text", "sha256": hashlib.sha256(TAGGED.encode()).hexdigest(), "sentences": 10, "words": 29}
    ]


def test_an_empty_folder_is_filled_and_stays_the_folder_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.mkdir(mode=0o750)
    monkeypatch.chdir(target)
    made = split(deadheat.read(text=TAGGED), "random(sizes='50/50')")
    write_splits(made, ".")
    assert sorted(written(Path("."))) == ["0/test.txt", "0/train.txt", "manifest.json"]  # seen from inside it
    assert target.stat().st_mode & 0o777 == 0o750
    with pytest.raises(SplitError, match=r"\.: the folder is not empty; expected a new or an empty one"):
        write_splits(made, ".")


def test_a_folder_through_a_link_and_in_new_folders_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    write_splits(split(deadheat.read(text=TAGGED), "random(sizes='50/50')"), tmp_path / "link")
    assert (tmp_path / "a/b/manifest.json").is_file()
    assert check_folder(tmp_path / "link").verified == 2


@pytest.mark.parametrize("existing", [False, True])
def test_what_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, existing: bool
) -> None:
    made = split(deadheat.read(text=TAGGED), "random(sizes='60/20/20')")
    parts = []

    def full(corpus: Corpus, sentences: Indices) -> Iterator[bytes]:
        parts.append(sentences)
        if len(parts) == 3:
            raise OSError(28, "No space left on device")
        return stream(corpus, sentences)

    monkeypatch.setattr(folder_module, "stream", full)
    target = tmp_path / "out"
    if existing:
        target.mkdir()
    with pytest.raises(SplitError, match=r"out: cannot be written \(no space left on device\)"):
        write_splits(made, target)
    assert list(tmp_path.rglob("*")) == ([target] if existing else [])


def test_a_folder_below_a_file_and_a_file_are_refused(tmp_path: Path) -> None:
    made = split(deadheat.read(text=TAGGED), "random(sizes='50/50')")
    file = tmp_path / "file"
    file.write_text("precious")
    with pytest.raises(SplitError, match=r"file/out: cannot be written \(not a directory\)"):
        write_splits(made, file / "out")
    with pytest.raises(SplitError, match="file: a file; expected a new or an empty folder"):
        write_splits(made, file)
    assert file.read_text() == "precious"


def test_names_that_are_not_utf8_are_written_and_checked(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/na\xefve.conllu"
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONLLU)
    made = split(os.fsdecode(path), "random(sizes='50/50')")
    write_splits(made, tmp_path / "out")
    assert b"na\xefve" in (tmp_path / "out/manifest.json").read_bytes()
    assert check_folder(tmp_path / "out").verified == 2


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("eng.train", ".txt"), ("wsj.00-18", ".txt"), ("eng.bio.gz", ".bio"), ("a.tsv", ".tsv"), ("noname", ".txt")],
)
def test_parts_of_column_files_are_named_as_corpora_are(tmp_path: Path, name: str, suffix: str) -> None:
    (tmp_path / name).write_text(COLUMNS, encoding="utf-8")
    write_splits(split(tmp_path / name, "random(sizes='50/50')"), tmp_path / "out")
    assert sorted(written(tmp_path / "out")) == [f"0/test{suffix}", f"0/train{suffix}", "manifest.json"]


def test_parts_are_checked_as_the_input_was_read(tmp_path: Path) -> None:
    """Whatever a part looks like by itself, and however lenient one had to be."""
    (tmp_path / "x.txt").write_text(TAGGED.replace("_", "/"), encoding="utf-8")
    made = split(tmp_path / "x.txt", "random(sizes='50/50')", format="tagged", separator="/")
    write_splits(made, tmp_path / "slash")
    assert check_folder(tmp_path / "slash").verified == 2
    (tmp_path / "y.txt").write_text("".join(f"{i}\t{i}_{i}\tX\n\n" for i in range(10)), encoding="utf-8")
    made = split(tmp_path / "y.txt", "random(sizes='50/50')", format="columns", columns=["number", "form", "tag"])
    write_splits(made, tmp_path / "columns")
    assert list(check_folder(tmp_path / "columns").leaks["0"][0].divergence) == ["length", "number"]
    (tmp_path / "z.conllu").write_text(sentence(row(1), row(2)) * 4, encoding="utf-8")
    made = split(tmp_path / "z.conllu", "random(sizes='50/50')", lenient=["multiple-roots"])
    write_splits(made, tmp_path / "roots")
    assert check_folder(tmp_path / "roots").leaks["0"][0].identical == 2


def test_a_folder_that_was_not_touched_is_verified_and_its_leaks_reported(tmp_path: Path) -> None:
    target, manifest = folder(tmp_path, strategy="random", times=3)
    checked = check_folder(target)
    assert checked.verified == 12
    assert checked.notes == ()
    assert list(checked.leaks) == ["0", "1", "2"]
    for one in manifest["splits"]:
        result = {f"{leak.within}/{leak.of}": leak for leak in checked.leaks[one["split"]]}
        assert {pair: leak.shared_documents for pair, leak in result.items()} == one["shared_documents"]
        assert result["train/test"].sentences == one["parts"]["test"]["sentences"]
    assert checked.verified == 12


def test_every_file_that_was_changed_or_removed_is_reported_on_a_line(tmp_path: Path) -> None:
    target, _ = folder(tmp_path)
    (target / "0/dev.conllu").write_text("changed", encoding="utf-8")
    (target / "1/test-5-words.conllu").unlink()
    with pytest.raises(SplitError) as caught:
        check_folder(target)
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"{target}/0/dev.conllu: was changed after it was written; expected the hash ")
    missing = f"{target}/1/test-5-words.conllu: cannot be read (no such file or directory)"
    assert second == f"{missing}; expected the file of the manifest"


def test_other_files_in_the_folder_are_reported(tmp_path: Path) -> None:
    target, _ = folder(tmp_path)
    (target / "1/more.conllu").write_text("", encoding="utf-8")
    assert check_folder(target).notes == (f"{target}/1/more.conllu: not in the manifest",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"seed": 0', '"seed": 1', "manifest.json: was changed after it was written; expected the hash "),
        ('"sentences": 50', '"sentences": 51', "manifest.json: was changed after it was written; expected the hash "),
        ('"format": "deadheat splits 1"', '"format": "0"', "manifest.json: not a manifest of splits; expected what"),
        ("{", "", "manifest.json: not a manifest (extra data: line 1 column 7 (char 6)); expected what deadheat"),
        ('"sha256"', '"sha257"', "manifest.json: was changed after it was written"),
    ],
)
def test_a_manifest_that_was_edited_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    target, _ = folder(tmp_path)
    path = target / "manifest.json"
    path.write_text(path.read_text("utf-8").replace(old, new, 1).lstrip(), encoding="utf-8")
    with pytest.raises(SplitError) as caught:
        check_folder(target)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_manifest_that_has_its_format_as_its_kind_is_still_read(tmp_path: Path) -> None:
    """So the first manifests were."""
    target, made = folder(tmp_path)
    expected = check_folder(target)
    kept = {key: value for key, value in made.items() if key not in ("kind", "format", "sha256")}
    old = {"kind": "deadheat splits 1"} | kept
    text = json.dumps(old, ensure_ascii=False, sort_keys=True)
    old["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (target / "manifest.json").write_text(json.dumps(old, ensure_ascii=False), encoding="utf-8")
    assert check_folder(target) == expected


def test_a_manifest_that_is_a_folder_or_a_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(SplitError, match=r"manifest.json: not a manifest of splits"):
        check_folder(tmp_path)
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(SplitError, match=r"manifest.json: cannot be read \(is a directory\)"):
        check_folder(tmp_path)


def test_a_treebank_without_a_manifest_is_checked_by_the_names_of_its_parts(tmp_path: Path) -> None:
    text = documents_text([[6, 7], [5, 8]])
    for part in ("test", "train"):
        (tmp_path / f"xx-{part}.conllu").write_text(text, encoding="utf-8")
    checked = check_folder(tmp_path)
    (leak,) = checked.leaks["0"]
    assert (checked.verified, leak.within, leak.of) == (0, "train", "test")
    assert (leak.identical, leak.identical_long, leak.shared_documents) == (4, 4, 2)
    assert checked.notes == (f"{tmp_path}: no manifest.json; checked for leaks only",)


def test_folders_that_are_no_splits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SplitError, match=r"nowhere: not a folder; expected one written by deadheat split"):
        check_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no corpus files in this folder"):
        check_folder(tmp_path)
    (tmp_path / "x.conllu").write_text(CONLLU, encoding="utf-8")
    with pytest.raises(InputError, match=r"no manifest.json, and file names without a part; expected one of the two"):
        check_folder(tmp_path)


def test_a_part_by_itself_has_no_leaks(tmp_path: Path) -> None:
    write_splits(split(deadheat.read(text=TAGGED), "ud"), tmp_path / "out")
    checked = check_folder(tmp_path / "out")
    assert (checked.verified, checked.leaks) == (1, {"0": []})


@pytest.mark.parametrize("manifest", ['{"format": "deadheat splits 1", "file": "\\ud800"}', "[" * 100_000])
def test_a_manifest_of_odd_text_is_refused(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(SplitError, match="not a manifest"):
        load_manifest(tmp_path)
