"""A small tagger as a program of its own, for the system that runs programs."""

import shlex
import sys
from pathlib import Path

# Learns the commonest label of each word; `_` where there is no rule for a column. It knows nothing of Deadheat.
TAGGER = '''
import collections, json, sys

COLUMN = {"conllu": (1, 3), "tsv": (0, 1), "tagged": (0, 1)}


def rows(path):
    """Lines as lists of fields with where the word and its label are, or None for other lines."""
    kind = path.rpartition(".")[2]
    word, label = COLUMN[kind]
    for line in open(path, encoding="utf-8", newline=""):
        line = line.rstrip("\\r\\n")
        if kind == "tagged":
            yield [token.rsplit("_", 1) for token in line.split(" ")]
        elif not line or line.startswith("#") and kind == "conllu":
            yield line
        else:
            fields = line.split("\\t")
            yield (fields, word, label) if kind != "conllu" or fields[0].isdigit() else line


def pairs(path):
    for row in rows(path):
        if isinstance(row, list):
            yield from row
        elif isinstance(row, tuple):
            yield row[0][row[1]], row[0][row[2]]


def train(source, model):
    found, every = collections.defaultdict(collections.Counter), collections.Counter()
    for word, label in pairs(source):
        found[word][label] += 1
        every[label] += 1
    first = lambda counts: min(counts, key=lambda label: (-counts[label], label))
    learned = {"words": {word: first(counts) for word, counts in found.items()}, "other": first(every)}
    json.dump(learned, open(model, "w"))


def predict(model, source, target):
    learned = json.load(open(model))
    label_of = lambda word: learned["words"].get(word, learned["other"])
    with open(target, "w", encoding="utf-8", newline="") as into:
        for row in rows(source):
            if isinstance(row, list):
                row = " ".join(f"{word}_{label_of(word)}" for word, _ in row)
            elif isinstance(row, tuple):
                fields, word, label = row
                fields[label] = label_of(fields[word])
                row = "\\t".join(fields)
            into.write(row + "\\n")


{"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
'''


def line(*arguments: object) -> str:
    """A command line that runs Python; placeholders are written as they are."""
    return shlex.join([sys.executable, *map(str, arguments)])


def tagger(folder: Path) -> dict[str, str]:
    """Settings of `command.v1` for the tagger."""
    script = folder / "tagger.py"
    script.write_text(TAGGER, encoding="utf-8")
    return {
        "train": line(script, "train", "{train}", "{model}"),
        "predict": line(script, "predict", "{model}", "{input}", "{output}"),
    }


def script(folder: Path, code: str, name: str = "script.py") -> Path:
    """A file with some Python in it."""
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return path


# Learns the commonest relation of each word. In its trees, all words hang from the first. It knows nothing of Deadheat.
PARSER = """
import collections, json, sys


def rows(path):
    for line in open(path, encoding="utf-8", newline=""):
        yield line.rstrip("\\n").split("\\t")


def train(source, model):
    found = collections.defaultdict(collections.Counter)
    for fields in rows(source):
        if len(fields) == 10 and fields[0].isdigit():
            found[fields[1]][fields[7]] += 1
    best = {word: min(counts, key=lambda label: (-counts[label], label)) for word, counts in found.items()}
    json.dump(best, open(model, "w"))


def predict(model, source, target):
    best = json.load(open(model))
    with open(target, "w", encoding="utf-8", newline="") as into:
        for fields in rows(source):
            if len(fields) == 10 and fields[0].isdigit():
                first = fields[0] == "1"
                relation = best.get(fields[1], "dep")
                fields[3] = "PRED"
                fields[6:8] = ["0", "root"] if first else ["1", "dep" if relation == "root" else relation]
            into.write("\\t".join(fields) + "\\n")


{"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
"""


def parser(folder: Path) -> dict[str, str]:
    """Settings of `command` for the parser, which tags every word as PRED, too."""
    path = script(folder, PARSER, "parser.py")
    return {
        "train": line(path, "train", "{train}", "{model}"),
        "predict": line(path, "predict", "{model}", "{input}", "{output}"),
    }
