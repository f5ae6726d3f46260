"""A tagger with Flair: a BiLSTM-CRF on trained embeddings of words and characters, or on a transformer."""

import os

from text_files import read_columns, run, write_columns

FORM, LABEL = "text", "label"


def corpus_of(train, tune):
    from flair.data import Corpus, Sentence
    from flair.datasets import FlairDatapointDataset

    def dataset(path):
        sentences = []
        for pairs in read_columns(path):
            sentence = Sentence([word for word, _ in pairs])
            for token, (_, label) in zip(sentence, pairs):
                token.add_label(LABEL, label)
            sentences.append(sentence)
        return FlairDatapointDataset(sentences)

    return Corpus(train=dataset(train), dev=dataset(tune), test=None, sample_missing_splits=False)


def embeddings_of(arguments, corpus):
    from flair.data import Dictionary
    from flair.embeddings import CharacterEmbeddings, OneHotEmbeddings, StackedEmbeddings, TransformerWordEmbeddings

    if arguments.transformer:
        return TransformerWordEmbeddings(arguments.transformer, fine_tune=False, layers="-1")
    characters = Dictionary()
    for sentence in corpus.train:
        for character in sentence.to_original_text():
            characters.add_item(character)
    path = os.path.join(arguments.model, "characters")
    characters.save(path)
    return StackedEmbeddings([OneHotEmbeddings.from_corpus(corpus, min_freq=2), CharacterEmbeddings(path)])


def train(arguments):
    import flair
    from flair.models import SequenceTagger
    from flair.trainers import ModelTrainer

    flair.device = "cpu"
    flair.set_seed(arguments.seed)
    os.makedirs(arguments.model)
    corpus = corpus_of(arguments.train, arguments.tune)
    tagger = SequenceTagger(
        embeddings=embeddings_of(arguments, corpus),
        tag_dictionary=corpus.make_label_dictionary(LABEL, add_unk=True),  # for labels that only tune has
        tag_type=LABEL,
        hidden_size=arguments.units,
        use_crf=True,
        allow_unk_predictions=True,
    )
    ModelTrainer(tagger, corpus).train(
        arguments.model,
        learning_rate=0.1,
        mini_batch_size=32,
        max_epochs=arguments.epochs,
        train_with_dev=False,
        write_weights=False,
        create_loss_file=False,
    )


def predict(arguments):
    import flair
    from flair.data import Sentence
    from flair.models import SequenceTagger

    flair.device = "cpu"
    names = [name for name in ("best-model.pt", "final-model.pt") if os.path.exists(f"{arguments.model}/{name}")]
    tagger = SequenceTagger.load(os.path.join(arguments.model, names[0]))
    words = [[word for word, _ in sentence] for sentence in read_columns(arguments.input)]
    sentences = [Sentence(sentence) for sentence in words]
    tagger.predict(sentences, mini_batch_size=32)
    labels = [[token.get_label(LABEL).value for token in sentence] for sentence in sentences]
    write_columns(arguments.output, [list(zip(*pair)) for pair in zip(words, labels)])


def main():
    training = {
        "train": {},
        "tune": {},
        "model": {},
        "--units": {"type": int, "required": True},
        "--epochs": {"type": int, "required": True},
        "--transformer": {"default": ""},
        "--seed": {"type": int, "required": True},
    }
    run(__doc__, train, predict, training)


if __name__ == "__main__":
    main()
