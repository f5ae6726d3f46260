"""An encoder with a head in PyTorch: loaded from a folder, without code or pickles from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import torch
import transformers
from torch import nn

from deadheat.corpus.vocabulary import Indices
from deadheat.encoders.pieces import PieceText, Tokenizer
from deadheat.errors import InputError
from deadheat.finetuning.batches import prediction_batches
from deadheat.finetuning.config import FinetuningConfig
from deadheat.finetuning.devices import uses_bfloat16
from deadheat.finetuning.heads import ParserHead, TaggerHead
from deadheat.finetuning.rows import make_rows, piece_counts

Tensor: TypeAlias = Any
NOT_NEEDED = ("pooler.", "cls.", "lm_head.")  # weights that vectors of words do not depend on


class Network(nn.Module):
    """An encoder, which gives a vector for every piece, and a head on the vectors of words."""

    def __init__(self, config: FinetuningConfig, encoder: Any, known: Tensor) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        size = encoder.config.hidden_size
        self.head = (ParserHead if config.parses else TaggerHead)(config, size, known)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def vectors(self, text: PieceText, tokenizer: Tokenizer, sentences: Indices) -> tuple[Tensor, Tensor]:
        """The vectors (B, T, H) of the words of some sentences, and the lengths of the sentences."""
        rows = make_rows(text, tokenizer, sentences, mean=self.config.pieces == "mean")
        device = self.device
        pieces, mask, sources, words, counts = (torch.as_tensor(array, device=device) for array in rows)
        with torch.autocast(device.type, torch.bfloat16, enabled=uses_bfloat16(self.config, device)):
            states = self.encoder(input_ids=pieces, attention_mask=mask).last_hidden_state
        states = states.float().flatten(0, 1)
        sums = torch.zeros(len(counts), states.shape[1], device=device).index_add(0, words, states[sources])
        lengths = torch.as_tensor(text.offsets[sentences + 1] - text.offsets[sentences], device=device)
        return (sums / counts[:, None]).unflatten(0, (len(sentences), -1)), lengths

    def weights(self) -> dict[str, Tensor]:
        """All weights by name, each once."""
        return {name: weight.detach() for name, weight in self.named_parameters()}

    def set_weights(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.named_parameters():
                weight.copy_(weights[name])

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Weights of the encoder and of the head with their learning rates; only matrices decay."""
        groups = []
        for part, rate in ((self.encoder, self.config.encoder_rate), (self.head, self.config.rate)):
            for decays in (True, False):
                weights = [w for w in part.parameters() if w.requires_grad and (w.ndim > 1) == decays]
                decay = self.config.weight_decay if decays else 0.0
                groups.append({"params": weights, "lr": rate, "rate": rate, "weight_decay": decay})
        return [group for group in groups if group["params"]]


def load_encoder(folder: str) -> Any:
    """The encoder in a folder, with all its weights."""
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with _quiet():
        try:
            config = transformers.AutoConfig.from_pretrained(folder, **options)
            model, report = transformers.AutoModel.from_pretrained(
                folder, config=config, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
            )
        except Exception as error:  # of transformers, safetensors, or the model's own code
            raise InputError(f"{folder}: the encoder cannot be loaded: {_first_line(error)}") from error
    missing = sorted(name for name in report["missing_keys"] if not name.startswith(NOT_NEEDED))
    missing += sorted(str(key[0]) for key in report.get("mismatched_keys", ()))
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(f"{folder}: its weights lack {missing[0]}{more}; expected those of its config.json")
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


def check_pieces(text: PieceText, encoder: Any, folder: str) -> None:
    """Refuse pieces that the encoder has no vectors for."""
    highest, vectors = int(text.pieces.max(initial=0)), len(encoder.get_input_embeddings().weight)
    if highest >= vectors:
        problem = f"piece {highest} of its tokenizer has no vector, of {vectors:,}"
        raise InputError(f"{folder}: {problem}; expected the tokenizer that belongs to the weights")


def longest_input(encoder: Any) -> int:
    """The number of pieces that an encoder takes, those around the sentence included; 0 if there is no limit."""
    for name, module in encoder.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa's numbers begin after that of padding.
            return int(module.num_embeddings) - (0 if module.padding_idx is None else int(module.padding_idx) + 1)
    return int(getattr(encoder.config, "max_position_embeddings", 0) or 0)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the reports and progress bars of transformers."""
    logging = transformers.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def predict(network: Network, text: PieceText, tokenizer: Tokenizer, sentences: Indices) -> np.ndarray:
    """Predictions for all words of some sentences, in their order; one row per word."""
    words = text.offsets[sentences + 1] - text.offsets[sentences]
    real = np.flatnonzero(words)
    columns = 2 if network.config.parses else 1
    rows: list[np.ndarray] = [np.zeros((0, columns), np.int32)] * len(sentences)
    network.eval()
    with torch.no_grad():
        for batch in prediction_batches(piece_counts(text, sentences[real])):
            chosen = real[batch]
            vectors, lengths = network.vectors(text, tokenizer, sentences[chosen])
            labels = network.head.decode(vectors, lengths)
            for row, piece in zip(chosen.tolist(), np.split(labels, np.cumsum(words[chosen])[:-1]), strict=True):
                rows[row] = piece
    return np.concatenate([np.zeros((0, columns), np.int32), *rows])
