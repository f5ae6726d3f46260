"""Reading all columns of a CoNLL-U file: megabytes a second of CPU time on one core, and memory."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path

import deadheat
from benchmarks.timing import ONE_WORD, corpus_file, cpu, peak_memory, table, ten_copies


def plain_python(path: Path) -> object:
    """What most readers do: an object a line."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line[0] != "#"]


def peers() -> dict[str, Callable[[Path], object]]:
    """Other readers, as far as they are installed here."""
    found: dict[str, Callable[[Path], object]] = {"python, split lines": plain_python}
    if importlib.util.find_spec("conllu"):
        conllu = importlib.import_module("conllu")
        found["conllu"] = lambda path: conllu.parse(path.read_text(encoding="utf-8"))
    if importlib.util.find_spec("ufal") and importlib.util.find_spec("ufal.udpipe"):
        found["UDPipe (C++)"] = _udpipe
    udeval = importlib.import_module("udtools.udeval")
    found["udtools"] = lambda path: udeval.load_conllu_file(str(path))
    return found


def _udpipe(path: Path) -> object:
    udpipe = importlib.import_module("ufal.udpipe")
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(path.read_text(encoding="utf-8"))
    sentence, sentences = udpipe.Sentence(), 0
    while reader.nextSentence(sentence):
        sentences += 1
    return sentences


def main() -> None:
    small = corpus_file()
    large = ten_copies(small)
    rows = []
    ours: dict[Path, float] = {}
    for name, call in {"deadheat": deadheat.read, **peers()}.items():
        speeds = []
        for path in (small, large):
            seconds = cpu(lambda call=call, path=path: call(path), repeats=7 if name == "deadheat" else 2)
            ours.setdefault(path, seconds)
            megabytes = path.stat().st_size / 1e6
            speeds += [f"{megabytes / seconds:.1f}", f"{seconds / ours[path]:.1f}"]
        rows.append([name, *speeds])
    print(table(["reader", "MB/s", "times ours", "MB/s, ten copies", "times ours"], rows))
    base = peak_memory(f"import deadheat; deadheat.read(text={ONE_WORD!r})")
    for path in (small, large):
        used = peak_memory(f"import deadheat; corpus = deadheat.read({str(path)!r})") - base
        print(f"memory to read {path.stat().st_size / 1e6:.1f} MB: {used / path.stat().st_size:.1f} times the file")
    large.unlink()


if __name__ == "__main__":
    main()
