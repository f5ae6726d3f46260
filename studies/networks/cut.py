"""Cut the corpora of the study to its size: the first sentences of train and dev, and all of test.

python -m studies.networks.cut FOLDER      with chunking/conll2000 and treebanks/en_ewt in it; writes to .data/networks
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from deadheat.corpus import read, take, write

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "conll2000": ("chunking/conll2000", "{}.txt"),
    "en_ewt": ("treebanks/en_ewt", "en_ewt-ud-{}.conllu"),
}
SENTENCES = 500  # of train, as many as the paper took for tagging; and of dev


def cut(data: Path, out: Path, *, train: int = SENTENCES, dev: int = SENTENCES) -> None:
    """Write both corpora with so many sentences of train and dev; 0 is all of them."""
    for name, (folder, pattern) in FILES.items():
        target = out / name
        target.mkdir(parents=True, exist_ok=True)
        for part, wanted in (("train", train), ("dev", dev), ("test", 0)):
            file = pattern.format(part)
            corpus = read(data / folder / file)
            kept = min(wanted or corpus.sentences, corpus.sentences)
            write(take(corpus, np.arange(kept)), target / file, mend=True)


def main() -> None:
    """Cut what the command line names."""
    parser = argparse.ArgumentParser(description="Cut the corpora of studies/networks to size.")
    parser.add_argument("data", type=Path, help="a folder with chunking/conll2000 and treebanks/en_ewt in it")
    parser.add_argument("--train", type=int, default=SENTENCES, help="sentences of train; 0 is all")
    parser.add_argument("--dev", type=int, default=SENTENCES, help="sentences of dev; 0 is all")
    parser.add_argument("--out", type=Path, default=ROOT / ".data" / "networks")
    given = parser.parse_args()
    cut(given.data, given.out, train=given.train, dev=given.dev)


if __name__ == "__main__":
    main()
