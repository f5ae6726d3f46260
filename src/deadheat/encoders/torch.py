"""Encoders of other architectures than BERT's family, by torch and transformers if they are installed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError

ROWS, MORE_ROWS = 32, 128  # windows at once, on a CPU and on a GPU


class TorchEncoder:
    """An encoder as Hugging Face's AutoModel; code in its folder is not run, and weights are safetensors."""

    def __init__(self, folder: str, kind: str, *, every: bool) -> None:
        try:
            self.torch: Any = importlib.import_module("torch")
            library: Any = importlib.import_module("transformers")
        except ModuleNotFoundError as error:
            missing = f"an encoder of type {kind} needs the package {error.name}, which is not installed"
            raise InputError(f"{folder}: {missing}; expected pip install torch transformers") from error
        try:
            self.model = library.AutoModel.from_pretrained(
                folder, trust_remote_code=False, use_safetensors=True, local_files_only=True
            )
        except Exception as error:  # whatever the model's own code raises
            problem = (" ".join(str(error).split()) or type(error).__name__)[:200]
            raise InputError(f"{folder}: transformers cannot load it ({problem}); expected an encoder") from error
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.model = self.model.to(self.device).float().eval()
        self.every = every
        self.vocabulary = int(self.model.get_input_embeddings().weight.shape[0])

    def __call__(self, pieces: NDArray[np.int32], present: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The vectors of pieces (B, P) in every layer that is asked for: (B, P, layers, H)."""
        ids = self.torch.as_tensor(pieces.astype(np.int64), device=self.device)
        mask = self.torch.as_tensor(present.astype(np.int64), device=self.device)
        with self.torch.inference_mode():
            states = self.model(input_ids=ids, attention_mask=mask, output_hidden_states=self.every)
        chosen = states.hidden_states if self.every else [states.last_hidden_state]
        vectors: NDArray[np.float32] = self.torch.stack(list(chosen), dim=2).cpu().numpy()
        return vectors

    def rows(self) -> int:
        """Windows at once."""
        return ROWS if self.device == "cpu" else MORE_ROWS
