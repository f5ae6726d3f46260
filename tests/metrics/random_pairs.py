"""Random pairs of CoNLL-U files over one text, made to differ in every way that the official evaluation knows.

What both sides say of a word is drawn from its place in the text, so that they often agree; and each side departs
from that now and then.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

LETTERS = "aaabbAB1.éßİ中\u2028\u200b"  # the last two are no spaces to the evaluation
PIECES = ("a", "A", "b", "le", "Le", "LE", "à", "ab", "İ", "b c", "1", ".")
SPACES = (" ", "\u00a0", "\u3000", "\u2009")
TAGS = ("NOUN", "VERB", "_")
CHUNK_TAGS = ("B-X", "I-X", "B-Y", "I-Y", "O")  # in XPOS, so that there are chunks, too
LEMMAS = ("_", "a", "A", "a b")
FEATURES = (
    "Number=Sing", "Number=Plur", "Case=Nom", "Gender=Fem,Masc", "Gender=Masc,Fem", "Gender[psor]=Masc", "Typo=Yes",
    "Degree", "NumType=Card", "Foo=Bar=Baz", "ExtPos=ADV",
)  # fmt: skip
RELATIONS = (
    "nsubj", "nsubj:pass", "obj", "nmod:of", "nmod:in", "root", "conj", "det", "det:poss", "case", "aux", "aux:pass",
    "cc", "mark", "punct", "foo", "_", "flat:",
)  # fmt: skip


@dataclass
class Word:
    place: int  # in the text; words of one multiword token lie between two places of it
    form: str
    columns: list[str] = field(default_factory=list)
    head: int = 0
    deps: str = "_"


@dataclass
class Token:
    form: str
    words: list[Word]
    multiword: bool


@dataclass
class Maker:
    """Draws one pair. A side departs from what the text has in store as often as these say."""

    rng: Random
    noise: float  # in what is said of words
    cutting: float  # in what the words are

    def pair(self) -> tuple[str, str]:
        rng = self.rng
        self.text = "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 30)))
        size = len(self.text)
        self.sentence_ends = {place for place in range(1, size) if rng.random() < 0.15}
        self.token_ends = {place for place in range(1, size) if rng.random() < 0.6}
        self.multiword = [rng.random() < 0.3 for _ in range(size)]
        self.pieces = [[self._piece(start) for _ in range(rng.randint(1, 4))] for start in range(size)]
        self.spelled = [rng.choice((0, 0, 0, 1, 2)) for _ in range(size)]
        self.columns = [[self._column(i) for i in range(5)] for _ in range(9 * size)]
        self.heads = [rng.randrange(9 * size) for _ in range(9 * size)]
        self.rank = [rng.random() for _ in range(9 * size)]
        return self._side(), self._side()

    def _piece(self, start: int) -> str:
        """A word of a multiword token: any, or one that the text has there or a little further on."""
        first = start + self.rng.randint(0, 2)
        near = self.text[first : first + self.rng.randint(1, 3)]
        return near if near and self.rng.random() < 0.5 else self.rng.choice(PIECES)

    def _strays(self) -> bool:
        return self.rng.random() < self.noise

    def _cuts_otherwise(self) -> bool:
        return self.rng.random() < self.cutting

    def _column(self, i: int) -> str:
        rng = self.rng
        if i == 3:
            chosen = [rng.choice(FEATURES) for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
            return "|".join(chosen) or "_"
        return rng.choice((LEMMAS, TAGS, CHUNK_TAGS, (), RELATIONS)[i])

    def _cuts(self, common: set[int], allowed: set[int] | None = None) -> set[int]:
        """Places to cut at: the common ones, some left out and some added."""
        places = range(1, len(self.text)) if allowed is None else sorted(allowed)
        return {place for place in places if (place in common) != (self.rng.random() < self.cutting / 2)}

    def _side(self) -> str:
        tokens = self._cuts(self.token_ends)
        sentences = sorted({*self._cuts(self.sentence_ends, tokens), len(self.text)})
        made = []
        for start, end in pairwise([0, *sentences]):
            cuts = [start, *sorted(cut for cut in tokens if start < cut < end), end]
            sentence = [self._token(a, b) for a, b in pairwise(cuts)]
            self._attach([word for token in sentence for word in token.words])
            made.append(self._written(sentence))
        newline = "\r\n" if self.rng.random() < 0.1 else "\n"
        return newline.join(line for sentence in made for line in sentence) + newline

    def _token(self, start: int, end: int) -> Token:
        rng = self.rng
        form = self.text[start:end]
        if self.multiword[start] == self._cuts_otherwise():
            return Token("", [Word(9 * start, self._spaced(form))], multiword=False)
        pieces = list(self.pieces[start])
        if middle := self.spelled[start]:  # spelled out, as most multiword tokens are
            pieces = [each for each in (form[:middle], form[middle:]) if each]
        for _ in range(3):
            if self._cuts_otherwise():
                pieces.insert(rng.randint(0, len(pieces)), rng.choice(PIECES))
            if self._cuts_otherwise() and len(pieces) > 1:
                pieces.pop(rng.randrange(len(pieces)))
            if self._cuts_otherwise():
                at = rng.randrange(len(pieces))
                pieces[at] = pieces[at].swapcase()
        words = [Word(9 * start + min(i, 8), piece) for i, piece in enumerate(pieces)]
        return Token(self._spaced(form), words, multiword=True)

    def _spaced(self, form: str) -> str:
        while self.cutting and self.rng.random() < 0.05:
            at = self.rng.randint(0, len(form))
            form = form[:at] + self.rng.choice(SPACES) + form[at:]
        return form

    def _attach(self, words: list[Word]) -> None:
        """Give the words of a sentence their columns and a tree."""
        rng = self.rng
        root = min(range(len(words)), key=lambda i: self.rank[words[i].place])
        for i, word in enumerate(words):
            stored = self.columns[word.place]
            word.columns = [self._column(c) if self._strays() else stored[c] for c in range(5)]
            if self._strays():
                features = word.columns[3].split("|")
                rng.shuffle(features)
                word.columns[3] = "|".join(features)
            target = rng.randrange(9 * len(self.text)) if self._strays() else self.heads[word.place]
            word.head = 0 if i == root else min(range(len(words)), key=lambda j: abs(words[j].place - target)) + 1
        for i in range(len(words)):
            if _on_a_cycle(words, i):
                words[i].head = root + 1
            if rng.random() < 0.02:
                words[i].head = 0
        for word in words:
            word.deps = self._deps(word, len(words))

    def _deps(self, word: Word, size: int) -> str:
        rng = self.rng
        relation = word.columns[4]
        edges = [f"{word.head}:{relation}"] if rng.random() < 0.7 else []
        while rng.random() < 0.4:
            head = rng.choice((str(rng.randint(0, size)), str(word.head), f"{rng.randint(0, size)}.1"))
            edges.append(f"{head}:{rng.choice((relation, *RELATIONS))}")
        if edges and rng.random() < 0.25:
            edges.append(rng.choice(edges))
        return "|".join(edges) or "_"

    def _written(self, sentence: list[Token]) -> list[str]:
        lines = ["# text"] * (self.rng.random() < 0.2) + self._empty_nodes(0)
        number = 0
        for token in sentence:
            if token.multiword:
                ends = f"{number + 1}-{number + len(token.words)}"
                lines.append("\t".join([ends, token.form, *self._ignored(), "_", "_", "_", "_"]))
            for word in token.words:
                number += 1
                lemma, upos, xpos, feats, relation = word.columns
                row = [str(number), word.form, lemma, upos, xpos, feats, str(word.head), relation, word.deps, "_"]
                lines += ["\t".join(row), *self._empty_nodes(number)]
        return [*lines, ""]

    def _ignored(self) -> list[str]:
        """Columns of a multiword token, which count for nothing."""
        return [self._column(i) for i in range(4)] if self.rng.random() < 0.3 else ["_"] * 4

    def _empty_nodes(self, after: int) -> list[str]:
        many = self.rng.choice((0,) * 12 + (1, 2))
        return [f"{after}.{i}\tz\t_\tVERB\t_\t_\t_\t_\t{after}:conj\t_" for i in range(1, many + 1)]


def _on_a_cycle(words: list[Word], start: int) -> bool:
    at = start
    for _ in range(len(words) + 1):
        if words[at].head == 0:
            return False
        at = words[at].head - 1
    return True


def random_pair(seed: int, *, same_words: bool = False) -> tuple[str, str]:
    """Gold and prediction number `seed`; they differ in what they say of words, and in what the words are."""
    rng = Random(seed)
    noise, cutting = rng.choice((0.0, 0.05, 0.15, 0.3)), rng.choice((0.0, 0.0, 0.03, 0.1, 0.2, 0.4))
    return Maker(rng, noise, 0.0 if same_words else cutting).pair()
