"""A pretrained encoder with a head that is trained; needs deadheat[transformers], or deadheat[finetuning].

By default the encoder stays as it is. Its vectors of a text are computed once and cached, and any number of heads
trains on them, in stacks. With `finetune`, encoder and head are trained together, one network at a time, in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deadheat.encoders.source import EncoderFeatures
from deadheat.errors import InputError
from deadheat.finetuning.config import FinetuningConfig
from deadheat.neural import config as networks
from deadheat.systems.bilstm import network_tagger
from deadheat.systems.finetuned import finetuned
from deadheat.systems.parsers import ParserInput, network_parser
from deadheat.systems.system import SYSTEMS, System, check_at_least

TAGGER, PARSER = "transformer.v1", "transformer-parser.v1"
NO_LAYERS = "none"
FROZEN_ONLY = (
    "layers", "units", "word_size", "vectors", "frozen", "casing", "characters", "character_size", "filters", "dropout",
    "dropped", "optimizer", "decay", "clip", "replaced",
)  # fmt: skip
FINETUNED_ONLY = ("encoder_rate", "warmup", "weight_decay", "precision", "threads")
HEAD_RATE = 0.001  # where the encoder is trained too
RATES = {TAGGER: 0.002, PARSER: 0.002}


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Settings that heads on a pretrained encoder have.

    Parameters
    ----------
    encoder
        The folder of an encoder such as BERT in Hugging Face's layout (config.json, tokenizer, model.safetensors), or
        its name on the Hugging Face Hub, from where it is downloaded if huggingface_hub is installed.
    pieces
        The vector of a word: that of its `first` piece, or the `mean` of all its pieces.
    layers
        `all` layers of the encoder, mixed by weights that are learned, or the `last` one only.
    units
        Units of each direction of BiLSTM layers between encoder and head: `100`, `100,75`, ...; `none` for no layers.
    word_size, vectors, frozen
        Word vectors beside those of the encoder: their size, 0 for none; a file of them, which decides the size; and
        whether training leaves them as they are.
    casing, characters, character_size, filters
        Other vectors beside those of the encoder, as those of `bilstm.v2`: by default there are none.
    dropout, dropped, drop
        Dropout as that of `bilstm.v2`.
    optimizer, rate, decay, clip, norm, batch, replaced, epochs, patience
        Training as that of `bilstm.v2`; a rate of 0 is the default of the head, 0.002. After 1,000 updates `decay` of
        the rate is left.
    finetune
        Whether the encoder is trained further, together with the head. Its vectors are then the only ones, and
        `layers`, `units`, `word_size`, `vectors`, `frozen`, `casing`, `characters`, `character_size`, `filters`,
        `dropout`, `dropped`, `optimizer`, `decay`, `clip` and `replaced` have their defaults and no meaning. `rate` is
        that of the head, 0.001 by default, and the optimizer AdamW. The settings below are for fine-tuning only.
    encoder_rate
        The largest learning rate of the encoder. Both rates rise and fall in a slanted triangle.
    warmup
        The share of all updates in which learning rates rise.
    weight_decay
        The weight decay of AdamW, on matrices.
    precision
        Of products in the encoder: `float32`, `bfloat16`, or `auto`, which is `bfloat16` on a GPU, else `float32`.
    threads
        Threads on a CPU; another number may change the last digits.
    """

    encoder: str
    pieces: str = "first"
    layers: str = "all"
    units: str = NO_LAYERS
    word_size: int = 0
    vectors: str = ""
    frozen: bool = False
    casing: int = 0
    characters: str = "none"
    character_size: int = 30
    filters: int = 30
    dropout: str = "variational"
    dropped: str = "outputs"
    drop: float = 0.1
    optimizer: str = "adam"
    rate: float = 0.0
    decay: float = 0.85
    clip: float = 0.0
    norm: float = 5.0
    batch: int = 32
    replaced: float = 0.25
    epochs: int = 30
    patience: int = 5
    finetune: bool = False
    encoder_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    precision: str = "auto"
    threads: int = 1

    def check(self, name: str) -> None:
        """Refuse numbers that are too small, and an encoder without a name."""
        check_at_least(name, 0, word_size=self.word_size, casing=self.casing)
        check_at_least(
            name, 1, character_size=self.character_size, filters=self.filters, batch=self.batch, epochs=self.epochs,
            patience=self.patience,
        )  # fmt: skip
        if not self.encoder:
            raise InputError(f"{name}: encoder=''; expected the folder of an encoder, or its name")
        if self.finetune:
            refuse_settings(name, self, FROZEN_ONLY, "is for encoders that stay as they are; expected finetune=False")
        else:
            refuse_settings(name, self, FINETUNED_ONLY, "is for fine-tuning; expected finetune=True")

    @property
    def finetuning(self) -> dict[str, Any]:
        """The settings of fine-tuning."""
        names = ("encoder", "pieces", "drop", "norm", "batch", *FINETUNED_ONLY)
        schedule = networks.TrainSchedule(self.epochs, self.patience)
        return {**{name: getattr(self, name) for name in names}, "rate": self.rate or HEAD_RATE, "schedule": schedule}

    def network(self, name: str) -> dict[str, Any]:
        """Source of features, hyperparameters and schedule of the network's configuration."""
        hyper = networks.hyper_params(
            self.optimizer, self.rate or RATES[name], drop=self.drop, clip=self.clip, norm=self.norm,
            replaced=self.replaced,
        )  # fmt: skip
        if not 0 < self.decay <= 1:
            raise InputError(f"decay={self.decay:g}; expected a share above 0, at most 1")
        schedule = networks.TrainSchedule(self.epochs, self.patience, self.decay)
        source = EncoderFeatures(self.encoder, self.pieces, self.layers)
        return {"vectors": self.vectors, "features": source, "hyper": hyper, "schedule": schedule}

    @property
    def shape(self) -> dict[str, Any]:
        """Settings of the network's shape."""
        units = () if self.units == NO_LAYERS else networks.layer_sizes(self.units)
        return {
            "units": units, "word_size": self.word_size, "case_size": self.casing, "characters": self.characters,
            "character_size": self.character_size, "filters": self.filters, "optimizer": self.optimizer,
            "dropout": self.dropout, "dropped": self.dropped, "batch": self.batch, "fixed_words": self.frozen,
        }  # fmt: skip


def refuse_settings(system: str, settings: EncoderSettings, names: Sequence[str], problem: str) -> None:
    """Refuse settings that have another value than by default, and that would have no effect."""
    default = EncoderSettings(settings.encoder)
    for name in names:
        if (value := getattr(settings, name)) != getattr(default, name):
            raise InputError(f"{system}: {name}={value!r} {problem}")


@SYSTEMS.add(TAGGER, shared=EncoderSettings)
def transformer(
    settings: EncoderSettings, *, column: str = "upos", scheme: str = "as-is", classifier: str = "softmax"
) -> System:
    """A tagger on a pretrained encoder, which stays as it is or is trained too. The best epoch is picked on tune.

    Parameters
    ----------
    settings
        Those of all heads on encoders, by name.
    column, scheme
        What to learn, and the scheme in which chunks are learned, as those of `bilstm.v2`.
    classifier
        `softmax` (labels are chosen one by one) or `crf` (jointly for a sentence).
    """
    settings.check(TAGGER)
    try:
        if settings.finetune:
            tuned = FinetuningConfig(column=column, scheme=scheme, classifier=classifier, **settings.finetuning)
            return finetuned(TAGGER, tuned)
        networks.check_choices({"scheme": scheme})
        config = networks.TaggerConfig(
            column=column, scheme=scheme, shape=networks.Shape(**settings.shape, classifier=classifier),
            **settings.network(TAGGER),
        )  # fmt: skip
    except InputError as error:
        raise InputError(f"{TAGGER}: {error}") from error
    return replace(network_tagger(TAGGER, config), encoder=settings.encoder)


@SYSTEMS.add(PARSER, shared=EncoderSettings)
def transformer_parser(  # noqa: PLR0913 (a parser's settings beside those of encoders)
    settings: EncoderSettings,
    *,
    tags: str = "none",
    tag_column: str = "upos",
    tag_size: int = 50,
    tagger: str = "perceptron.v2",
    bad_trees: str = "refuse",
    trees: str = "any",
    arc_size: int = 300,
    relation_size: int = 100,
) -> System:
    """A biaffine parser on a pretrained encoder, frozen or trained too. The best epoch is picked by LAS on tune.

    Parameters
    ----------
    settings
        Those of all heads on encoders, by name.
    tags, tag_column, tag_size, tagger, bad_trees
        Tags beside the vectors of the encoder, by default none, and sentences that are no trees, as those of
        `biaffine.v1`.
    trees, arc_size, relation_size
        As those of `biaffine.v1`.
    """
    settings.check(PARSER)
    check_at_least(PARSER, 1, tag_size=tag_size, arc_size=arc_size, relation_size=relation_size)
    try:
        parser_input = ParserInput(tags, tag_column, tagger, bad_trees)
        if settings.finetune:
            if parser_input.column:
                raise InputError(f"tags={tags!r} is for encoders that stay as they are; expected tags='none'")
            tuned = FinetuningConfig(
                task="trees", trees=trees, arc_size=arc_size, relation_size=relation_size, **settings.finetuning
            )
            return finetuned(PARSER, tuned, bad_trees)
        shape = networks.AttentionShape(
            **settings.shape, classifier="softmax", tag_size=tag_size if parser_input.column else 0, trees=trees,
            arc_size=arc_size, relation_size=relation_size,
        )  # fmt: skip
        config = networks.ParserConfig(tags=parser_input.column, shape=shape, **settings.network(PARSER))
    except InputError as error:
        raise InputError(f"{PARSER}: {error}") from error
    return replace(network_parser(PARSER, config, parser_input), encoder=settings.encoder)
