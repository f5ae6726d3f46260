"""What scripts share: their command line, and the files between Deadheat and them, of words with labels or CoNLL-U."""

import argparse


def run(description, train, predict, training, both=None):
    """Call one of two functions with the arguments of its command: those of training, and those that both take."""
    parser = argparse.ArgumentParser(description=description)
    commands = parser.add_subparsers(required=True)
    predicting = {name: {} for name in ("model", "input", "output")}
    for function, own in ((train, training), (predict, predicting)):
        command = commands.add_parser(function.__name__)
        command.set_defaults(run=function)
        for name, options in {**own, **(both or {})}.items():
            command.add_argument(name, **options)
    arguments = parser.parse_args()
    arguments.run(arguments)


def read_columns(path):
    """Sentences as lists of (word, label); the label is empty where a line has the word alone."""
    sentences, current = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields != [""]:
                current.append((fields[0], fields[-1] if len(fields) > 1 else ""))
            elif current:
                sentences.append(current)
                current = []
    return sentences + ([current] if current else [])


def write_columns(path, sentences):
    """Write sentences of (word, label), with an empty line after each."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            file.writelines(f"{word}\t{label}\n" for word, label in sentence)
            file.write("\n")


def read_conllu(path):
    """Sentences as lists of rows of ten fields; comments, multiword tokens and empty nodes are left out."""
    sentences, current = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0].isdigit():
                current.append(fields)
            elif fields == [""] and current:
                sentences.append(current)
                current = []
    return sentences + ([current] if current else [])


def write_conllu(path, sentences):
    """Write sentences of rows of ten fields, with an empty line after each."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            file.writelines("\t".join(row) + "\n" for row in sentence)
            file.write("\n")
