"""A tagger with NLTK: its averaged perceptron, trained on the user's text."""

import argparse
import json
import random

from text_files import read_columns, write_columns


def train(arguments):
    from nltk.tag.perceptron import PerceptronTagger

    random.seed(arguments.seed)  # it shuffles the sentences with Python's own generator
    tagger = PerceptronTagger(load=False)
    tagger.train(read_columns(arguments.train), nr_iter=arguments.epochs)
    parts = {"weights": tagger.model.weights, "tagdict": tagger.tagdict, "classes": sorted(tagger.classes)}
    with open(arguments.model, "w", encoding="utf-8") as file:
        json.dump(parts, file)


def predict(arguments):
    from nltk.tag.perceptron import PerceptronTagger

    with open(arguments.model, encoding="utf-8") as file:
        parts = json.load(file)
    tagger = PerceptronTagger(load=False)
    tagger.model.weights, tagger.tagdict = parts["weights"], parts["tagdict"]
    tagger.classes = tagger.model.classes = set(parts["classes"])
    sentences = read_columns(arguments.input)
    write_columns(arguments.output, [tagger.tag([word for word, _ in sentence]) for sentence in sentences])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("train")
    command.set_defaults(run=train)
    command.add_argument("train")
    command.add_argument("model")
    command.add_argument("--epochs", type=int, required=True)
    command.add_argument("--seed", type=int, required=True)
    command = commands.add_parser("predict")
    command.set_defaults(run=predict)
    for name in ("model", "input", "output"):
        command.add_argument(name)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
