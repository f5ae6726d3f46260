"""UDPipe 1 by its Python package: its tagger or its parser alone, trained without a tokenizer."""

import sys

from text_files import run

NO = "none"  # leaves out a part of the pipeline


def sentences_of(path):
    from ufal.udpipe import InputFormat, ProcessingError, Sentence

    reader, error = InputFormat.newConlluInputFormat(), ProcessingError()
    with open(path, encoding="utf-8") as file:
        reader.setText(file.read())
    sentences = []
    while True:
        sentence = Sentence()
        if not reader.nextSentence(sentence, error):
            break
        sentences.append(sentence)
    if error.occurred():
        sys.exit(error.message)
    return sentences


def train(arguments):
    from ufal.udpipe import ProcessingError, Sentences, Trainer

    trained, heldout = Sentences(), Sentences()
    for sentence in sentences_of(arguments.train):
        trained.append(sentence)
    for sentence in sentences_of(arguments.tune) if arguments.tune else ():
        heldout.append(sentence)
    if arguments.predicts == "trees":
        # Without tags: the words are all that there is to see when it predicts.
        options = f"iterations={arguments.epochs};embedding_upostag=0;embedding_feats=0;run={arguments.run_number}"
        tagger, parser = NO, f"{options};{arguments.options}".rstrip(";")
    else:
        options = f"models=1;iterations={arguments.epochs};use_lemma=0;use_xpostag=0;use_feats=0"
        tagger, parser = f"{options};run={arguments.run_number};{arguments.options}".rstrip(";"), NO
    error = ProcessingError()
    model = Trainer.train("morphodita_parsito", trained, heldout, NO, tagger, parser, error)
    if error.occurred():
        sys.exit(error.message)
    with open(arguments.model, "wb") as file:
        file.write(model)


def predict(arguments):
    from ufal.udpipe import Model, OutputFormat, ProcessingError

    model, writer, error = Model.load(arguments.model), OutputFormat.newConlluOutputFormat(), ProcessingError()
    with open(arguments.output, "w", encoding="utf-8") as file:
        for sentence in sentences_of(arguments.input):
            method = model.parse if arguments.predicts == "trees" else model.tag
            if not method(sentence, Model.DEFAULT, error):
                sys.exit(error.message)
            file.write(writer.writeSentence(sentence))


def main():
    training = {
        "train": {},
        "model": {},
        "--tune": {"default": ""},
        "--epochs": {"type": int, "required": True},
        "--run-number": {"type": int, "required": True},
        "--options": {"default": ""},
    }
    both = {"--predicts": {"choices": ("upos", "trees"), "required": True}}
    run(__doc__, train, predict, training, both)


if __name__ == "__main__":
    main()
