"""A tagger with python-crfsuite: a linear-chain CRF on words, affixes, shapes and neighbours, trained by L-BFGS."""

import re

from text_files import read_columns, run, write_columns


def shape(word):
    """Capitals, small letters and digits of a word, with repetitions shortened: Xx, X, d.d."""
    kinds = "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", kinds)


def features(words):
    """The features of every word of a sentence, as strings."""
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    rows = []
    for i, word in enumerate(words):
        small = word.lower()
        around = {offset: padded[i + 2 + offset].lower() for offset in (-2, -1, 1, 2)}
        row = ["bias", f"w={word}", f"l={small}", f"shape={shape(word)}"]
        row += [f"p{n}={small[:n]}" for n in (1, 2, 3) if len(small) > n]
        row += [f"s{n}={small[-n:]}" for n in (1, 2, 3, 4) if len(small) > n]
        row += [f"w{offset}={other}" for offset, other in around.items()]
        row += [f"w-1w={around[-1]}|{small}", f"ww+1={small}|{around[1]}", f"s-1={around[-1][-3:]}"]
        rows.append(row)
    return rows


def train(arguments):
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": arguments.c1, "c2": arguments.c2, "max_iterations": arguments.iterations})
    for sentence in read_columns(arguments.train):
        trainer.append(features([word for word, _ in sentence]), [label for _, label in sentence])
    trainer.train(arguments.model)


def predict(arguments):
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(arguments.model)
    sentences = [[word for word, _ in sentence] for sentence in read_columns(arguments.input)]
    labels = (tagger.tag(features(words)) for words in sentences)
    write_columns(arguments.output, [list(zip(*pair)) for pair in zip(sentences, labels)])


def main():
    training = {
        "train": {},
        "model": {},
        "--iterations": {"type": int, "required": True},
        "--c1": {"type": float, "required": True},
        "--c2": {"type": float, "required": True},
    }
    run(__doc__, train, predict, training)


if __name__ == "__main__":
    main()
