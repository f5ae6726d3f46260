"""A random tiny encoder with its tokenizer, as a folder; corpora that it can learn."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from deadheat.corpus import Corpus, read
from deadheat.finetuning.config import FinetuningConfig
from deadheat.neural.config import TrainSchedule

HIDDEN = 32
WORDS = {"the": "DET", "a": "DET", "dog": "NOUN", "cats": "NOUN", "big": "ADJ", "sees": "VERB", "runs": "VERB"}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Words as they are, and others in pieces of a letter.
VOCABULARY = (
    *SPECIAL,
    *WORDS,
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
)


def write_encoder(folder: Path, *, positions: int = 32, **changed: Any) -> Path:
    """A BERT of about 15,000 random weights and a WordPiece tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    tokenizer = transformers.BertTokenizer(vocab=str(folder / "vocab.txt"), model_max_length=positions)
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.BertConfig(
            vocab_size=len(VOCABULARY), hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64, max_position_embeddings=positions, **changed,
        )  # fmt: skip
        transformers.BertModel(config).save_pretrained(folder)
    return folder


def text_of(sentences: int, seed: int) -> str:
    """Sentences in CoNLL-U: `run` is a verb after a noun and a noun otherwise; words depend on the next."""
    rng = np.random.default_rng(seed)
    blocks = []
    for _ in range(sentences):
        words = [str(word) for word in rng.choice([*WORDS, "run"], size=rng.integers(2, 7))]
        tags = [WORDS.get(word, "") for word in words]
        for at, tag in enumerate(tags):
            tags[at] = tag or ("VERB" if at and tags[at - 1] == "NOUN" else "NOUN")
        last = len(words)
        rows = []
        for at, (word, tag) in enumerate(zip(words, tags, strict=True), 1):
            head = 0 if at == last else at + 1
            relation = "root" if not head else {"DET": "det", "ADJ": "amod"}.get(tag, "dep")
            rows.append(f"{at}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n")
        blocks.append("".join(rows) + "\n")
    return "".join(blocks)


@cache
def corpus_of(sentences: int, seed: int = 1) -> Corpus:
    return read(text=text_of(sentences, seed))


def config_of(folder: Path, **settings: Any) -> FinetuningConfig:
    """A quick training of the tiny encoder."""
    epochs = settings.pop("epochs", 8)
    defaults = {"encoder_rate": 2e-3, "rate": 1e-2, "batch": 8, "drop": 0.0, "arc_size": 16, "relation_size": 8}
    schedule = TrainSchedule(epochs, settings.pop("patience", epochs))
    return FinetuningConfig(encoder=str(folder), schedule=schedule, **{**defaults, **settings})
