"""Small corpora in a short hand."""

from deadheat.corpus import Corpus, read
from deadheat.metrics import METRICS, Pair, align

# After the form, what stands between slashes; the rest is `_`.
FIELDS = ("head", "deprel", "upos", "xpos", "feats", "lemma", "deps")


def conllu(*sentences: str) -> str:
    """CoNLL-U from sentences such as `1-2=du de/3/case le/3/det chat/0/root/NOUN`.

    `1-2=du` is a multiword token, and `1.1=du` an empty node. A line that starts with `#` is a comment.
    """
    return "".join(_sentence(item) for item in sentences)


def _sentence(text: str) -> str:
    *comments, words = text.split("\n")
    lines, number = comments, 0
    for item in words.split(" "):
        if "=" in item.partition("/")[0]:
            position, _, form = item.partition("=")
            lines.append("\t".join([position, form, *"________"]))
            continue
        number += 1
        form, *given = item.split("/")
        has = dict.fromkeys(FIELDS, "_") | dict(zip(FIELDS, given, strict=False))
        middle = [has[name] for name in ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps")]
        lines.append("\t".join([str(number), form, *middle, "_"]))
    return "\n".join(lines) + "\n\n"


def corpus(*sentences: str) -> Corpus:
    return read(text=conllu(*sentences), format="conllu")


def tagged(text: str) -> Corpus:
    """A corpus of `word_TAG` lines."""
    return read(text=text, format="tagged")


def chunked(*sentences: str) -> Corpus:
    """A corpus of words that are all `w`, with these tags in the column `chunk`."""
    text = "\n".join("".join(f"w\t{tag}\n" for tag in item.split()) for item in sentences)
    return read(text=text, format="columns", columns=["form", "chunk"])


def total(pair: Pair, metric: str) -> list[int]:
    """The sums of a metric's counts."""
    return [int(item) for item in METRICS.make(metric).counts(pair).sum(axis=0)]


def value(pair: Pair, metric: str) -> float:
    made = METRICS.make(metric)
    return float(made.value(made.counts(pair).sum(axis=0)))


def pair_of(gold: str, predicted: str) -> Pair:
    """A pair of one sentence each."""
    return align(corpus(gold), corpus(predicted))
