"""A tagger with NLTK: its averaged perceptron, trained on the user's text."""

import json
import random

from text_files import read_columns, run, write_columns


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
    training = {
        "train": {},
        "model": {},
        "--epochs": {"type": int, "required": True},
        "--seed": {"type": int, "required": True},
    }
    run(__doc__, train, predict, training)


if __name__ == "__main__":
    main()
