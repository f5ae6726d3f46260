"""A tagger or parser with spaCy: a pipeline of one component with its default network, trained from nothing.

After every epoch the model is scored on tune, and the best one is kept.
"""

import random

from text_files import read_columns, read_conllu, run, write_columns, write_conllu

BATCH, DROPOUT = 32, 0.1  # sentences; share of units


def read(path, predicts):
    return read_conllu(path) if predicts == "trees" else read_columns(path)


def words_of(sentence, predicts):
    return [row[1] for row in sentence] if predicts == "trees" else [word for word, _ in sentence]


def blank_doc(vocabulary, words):
    """A sentence as spaCy gets it: the parser must not cut it in two."""
    from spacy.tokens import Doc

    return Doc(vocabulary, words, sent_starts=[i == 0 for i in range(len(words))])


def gold_doc(vocabulary, sentence, predicts):
    from spacy.tokens import Doc

    words = words_of(sentence, predicts)
    if predicts != "trees":
        return Doc(vocabulary, words, tags=[label for _, label in sentence])
    heads = [int(row[6]) - 1 if row[6] != "0" else i for i, row in enumerate(sentence)]
    labels = ["ROOT" if row[6] == "0" else row[7] for row in sentence]
    return Doc(vocabulary, words, heads=heads, deps=labels)


def train(arguments):
    import spacy
    from spacy.training import Example
    from spacy.util import fix_random_seed, minibatch

    fix_random_seed(arguments.seed)
    nlp = spacy.blank(arguments.language)
    if arguments.predicts == "trees":
        nlp.add_pipe("parser", config={"min_action_freq": 1})  # by default rare relations become `dep`
    else:
        nlp.add_pipe("tagger")

    def examples(path):
        sentences = read(path, arguments.predicts)
        gold = [gold_doc(nlp.vocab, sentence, arguments.predicts) for sentence in sentences]
        return [Example(blank_doc(nlp.vocab, [token.text for token in doc]), doc) for doc in gold]

    learned, tuned = examples(arguments.train), examples(arguments.tune)
    optimizer = nlp.initialize(lambda: learned)
    score = "dep_las" if arguments.predicts == "trees" else "tag_acc"
    best, best_score, rng = nlp.to_bytes(), -1.0, random.Random(arguments.seed)
    for epoch in range(1, arguments.epochs + 1):
        rng.shuffle(learned)
        for batch in minibatch(learned, BATCH):
            nlp.update(batch, sgd=optimizer, drop=DROPOUT)
        scores = nlp.evaluate([Example(blank_doc(nlp.vocab, words(item)), item.reference) for item in tuned])
        reached = scores[score] or 0.0
        print(f"epoch {epoch}: {score} {reached:.4f} on tune", flush=True)
        if reached > best_score:
            best, best_score = nlp.to_bytes(), reached
    nlp.from_bytes(best)
    nlp.to_disk(arguments.model)


def words(example):
    return [token.text for token in example.reference]


def predict(arguments):
    import spacy

    nlp = spacy.load(arguments.model)
    sentences = read(arguments.input, arguments.predicts)
    docs = list(nlp.pipe(blank_doc(nlp.vocab, words_of(sentence, arguments.predicts)) for sentence in sentences))
    if arguments.predicts != "trees":
        write_columns(arguments.output, [[(token.text, token.tag_) for token in doc] for doc in docs])
        return
    for sentence, doc in zip(sentences, docs):
        for row, token in zip(sentence, doc):
            is_root = token.head.i == token.i
            row[6], row[7] = ("0", "root") if is_root else (str(token.head.i + 1), token.dep_ or "dep")
    write_conllu(arguments.output, sentences)


def main():
    training = {
        "train": {},
        "tune": {},
        "model": {},
        "--language": {"required": True},
        "--epochs": {"type": int, "required": True},
        "--seed": {"type": int, "required": True},
    }
    both = {"--predicts": {"required": True}}
    run(__doc__, train, predict, training, both)


if __name__ == "__main__":
    main()
