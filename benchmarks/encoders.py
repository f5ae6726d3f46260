"""Heads on a frozen encoder: many seeds at once on cached features, one seed, and the same heads in PyTorch.

    python -m benchmarks.encoders --data FOLDER [--encoder FOLDER] [--seeds 1,100] [--epochs 3] [--limit N]

FOLDER holds a treebank: files that end in train.conllu and dev.conllu. Without --encoder, a BERT with random weights is
made (--size 768 --layers 12, the size of BERT base): only times count here. The treebank is encoded once, which is
timed by itself. Then the linear tagger and the biaffine parser train on the cached features: so many seeds at once as
--seeds says, and in PyTorch one after the other, on the same batches with the same dropout. Every program runs for an
epoch before it is timed, so that compiling does not count; neither does labelling. With --out, results are also JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus import Corpus, read, take
from deadheat.encoders.source import EncoderFeatures
from deadheat.neural import batches
from deadheat.neural.config import (
    AttentionShape,
    HyperParams,
    NetworkConfig,
    ParserConfig,
    Shape,
    TaggerConfig,
    TrainJob,
    TrainSchedule,
)
from deadheat.neural.devices import on_accelerator
from deadheat.neural.stack import Splits
from deadheat.neural.tasks import make_task
from deadheat.neural.text import Encoding, Lexicon, distinct_forms
from deadheat.neural.training import train_jobs

RATE, DROP, NORM, BATCH = 0.002, 0.1, 5.0, 32
LEAK, FORBIDDEN, NO_WORD = 0.1, -1e9, -100
WITHOUT: dict[str, Any] = {
    "units": (), "word_size": 0, "case_size": 0, "characters": "none", "classifier": "softmax", "optimizer": "adam",
    "dropped": "outputs", "batch": BATCH,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--size", type=int, default=768)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--seeds", default="1,100")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=10**9, help="sentences of train")
    parser.add_argument("--heads", default="tagger,parser")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    corpus = read(sorted(given.data.glob("*train.conllu"))[:1])
    corpus = take(corpus, np.arange(min(given.limit, corpus.sentences)))
    results: dict[str, Any] = {"words": corpus.words, "sentences": corpus.sentences}
    with tempfile.TemporaryDirectory() as folder:
        encoder = given.encoder or random_encoder(Path(folder), corpus, given.size, given.layers)
        source = EncoderFeatures(str(encoder))
        source.features([take(corpus, np.arange(min(200, corpus.sentences)))])  # compiles some of the programs
        seconds = timed(lambda: source.features([corpus]))
        results["encoding"] = seconds
        print(f"encoding {corpus.words:,} words: {seconds:.1f} s, {corpus.words / seconds:,.0f} words per second")
        for name in given.heads.split(","):
            config = configs(source)[name]
            rows = {}
            for seeds in map(int, given.seeds.split(",")):
                rows[f"deadheat {seeds}"] = seconds = deadheat_epoch(config, corpus, seeds, given.epochs)
                report(name, f"{seeds} at once", seconds, seeds)
            if not given.no_torch:
                rows["torch 1"] = seconds = torch_epoch(config, corpus, given.epochs)
                report(name, "PyTorch, one", seconds, 1)
            results[name] = rows
    if given.out:
        given.out.write_text(json.dumps(results, indent=1))


def report(head: str, what: str, seconds: float, seeds: int) -> None:
    print(f"{head}: {what:14} {seconds:8.3f} s per epoch, {seconds / seeds:8.4f} s per seed and epoch", flush=True)


def configs(source: EncoderFeatures) -> dict[str, NetworkConfig]:
    """The two heads."""
    hyper, schedule = HyperParams(RATE, DROP, norm=NORM), TrainSchedule(1, 1)
    common: dict[str, Any] = {"features": source, "hyper": hyper, "schedule": schedule}
    return {
        "tagger": TaggerConfig(column="upos", scheme="as-is", shape=Shape(**WITHOUT), **common),
        "parser": ParserConfig(tags="", shape=AttentionShape(**WITHOUT), **common),
    }


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def deadheat_epoch(config: NetworkConfig, corpus: Corpus, seeds: int, epochs: int) -> float:
    """Seconds per epoch of so many networks that train at once."""
    sentences = np.arange(corpus.sentences)

    def train(epochs: int) -> None:
        given = type(config)(**{**as_fields(config), "schedule": TrainSchedule(epochs, epochs)})
        results = [
            result for _, result in train_jobs(corpus, [TrainJob(given, seed, sentences) for seed in range(seeds)])
        ]
        assert not any(result.failed for result in results), results[0].failed

    train(1)
    once = timed(lambda: train(1))
    return (timed(lambda: train(1 + epochs)) - once) / epochs


def as_fields(config: Any) -> dict[str, Any]:
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


def torch_epoch(config: NetworkConfig, corpus: Corpus, epochs: int) -> float:
    """Seconds per epoch of one head in PyTorch."""
    import torch

    sentences = np.arange(corpus.sentences)
    task = make_task(config, [corpus], Splits([sentences], [None]), Lexicon.of(distinct_forms([corpus])))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = TorchData(task.encoding, device)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")  # products as our programs have them on a GPU
    tagger, parser = torch_heads()
    make = parser if isinstance(config, ParserConfig) else tagger
    network = make(task.shape, len(task.encoding.labels)).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    groups = batches.group_by_length(data.lengths, sentences, BATCH)

    def train(epoch: int) -> None:
        losses = []
        for key, rows in batches.epoch_batches(groups, BATCH, 0, epoch).items():
            optimizer.zero_grad(set_to_none=True)
            loss = network(*data.batch(rows[rows >= 0], key.words))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), NORM)
            optimizer.step()
            losses.append(loss.detach())
        assert np.isfinite(float(torch.stack(losses).mean()))

    train(0)
    return timed(lambda: [train(1 + epoch) for epoch in range(epochs)]) / epochs


class TorchData:
    """Features, labels and heads of a text on a device."""

    def __init__(self, encoding: Encoding, device: str) -> None:
        import torch

        self.torch, self.device = torch, device
        self.starts, self.lengths = (np.asarray(encoding.arrays[name]) for name in ("starts", "lengths"))
        self.features = torch.as_tensor(np.array(encoding.extra["features"][:, 0])).to(device)
        self.labels = torch.as_tensor(np.asarray(encoding.arrays["labels"], np.int64)).to(device)
        heads = encoding.extra.get("heads", np.zeros(len(self.labels)))
        self.heads = torch.as_tensor(np.asarray(heads, np.int64)).to(device)

    def batch(self, sentences: np.ndarray, words: int) -> tuple[Any, ...]:
        """Features, labels and heads, padded, and lengths."""
        positions = self.torch.arange(words, device=self.device)
        starts, lengths = (
            self.torch.as_tensor(array[sentences].astype(np.int64)).to(self.device)
            for array in (self.starts, self.lengths)
        )
        inside = positions < lengths[:, None]
        at = self.torch.where(inside, starts[:, None] + positions, 0)
        labels, heads = (self.torch.where(inside, codes[at], NO_WORD) for codes in (self.labels, self.heads))
        return self.features[at].float(), labels, heads, lengths


def torch_heads() -> tuple[Any, Any]:
    """The heads as modules; made when they are needed, since PyTorch is not always there."""
    import torch
    from torch import nn

    def dropped(x: Any) -> Any:  # the same part in the whole sentence
        return x * nn.functional.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), DROP)

    class Tagger(nn.Module):
        def __init__(self, shape: Shape, labels: int) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))
            self.output = nn.Linear(shape.feature_size, labels)

        def forward(self, x: Any, gold: Any, _heads: Any, _lengths: Any) -> Any:
            scores = self.output(dropped(x * self.scale))
            return nn.functional.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=NO_WORD)

    class Parser(nn.Module):
        def __init__(self, shape: AttentionShape, labels: int) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))
            self.root = nn.Parameter(torch.zeros(shape.feature_size))
            self.sizes = [shape.arc_size, shape.arc_size, shape.relation_size, shape.relation_size]
            self.views = nn.Linear(shape.feature_size, sum(self.sizes))
            self.arcs = nn.Linear(shape.arc_size, shape.arc_size)
            self.relations = nn.Parameter(torch.zeros(labels, shape.relation_size + 1, shape.relation_size + 1))

        def forward(self, x: Any, gold: Any, heads: Any, lengths: Any) -> Any:
            x = dropped(torch.cat([self.root.expand(len(x), 1, -1), x * self.scale], dim=1))
            seen = dropped(nn.functional.leaky_relu(self.views(x), LEAK))
            dependents, governors, related, relating = torch.split(seen, self.sizes, dim=2)
            scores = self.arcs(dependents) @ governors.transpose(1, 2)
            position = torch.arange(x.shape[1], device=x.device)
            allowed = (position <= lengths[:, None])[:, None] & (position[:, None] != position)
            arcs = scores.masked_fill(~allowed, FORBIDDEN)[:, 1:]
            at = heads.clamp(min=0)[:, :, None].expand(-1, -1, relating.shape[2])
            one = x.new_ones(*at.shape[:2], 1)
            dependents = torch.cat([related[:, 1:], one], dim=2).flatten(0, 1)
            governors = torch.cat([relating.gather(1, at), one], dim=2).flatten(0, 1)
            side = self.relations.shape[1]
            products = (dependents @ self.relations.transpose(0, 1).reshape(side, -1)).view(len(dependents), -1, side)
            relations = (products @ governors[:, :, None])[:, :, 0]
            loss = nn.functional.cross_entropy
            of_heads = loss(arcs.flatten(0, 1), heads.flatten(), ignore_index=NO_WORD)
            return of_heads + loss(relations, gold.flatten(), ignore_index=NO_WORD)

    return Tagger, Parser


def random_encoder(folder: Path, corpus: Corpus, size: int, layers: int) -> Path:
    """A BERT with random weights and a WordPiece tokenizer that is trained on the treebank."""
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(lines(corpus), trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=size, num_hidden_layers=layers, intermediate_size=4 * size,
        num_attention_heads=size // 64,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def lines(corpus: Corpus) -> Sequence[str]:
    forms = corpus.column("form").strings()
    return [" ".join(forms[start:end]) for start, end in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]


if __name__ == "__main__":
    print("accelerator" if on_accelerator() else "CPU")
    main()
