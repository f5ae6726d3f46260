"""The trigram tagger again, slow and plain: dictionaries, exact fractions, and every sequence tried."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

Word = tuple[str, str]  # form and label
State = tuple[str, bool]  # label, and whether the word begins with a capital
BOUNDARY: State = ("boundary", False)
IMPOSSIBLE = -1e5


def ratio(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


@dataclass(frozen=True)
class PlainHmm:
    """A trigram tagger as its definition reads."""

    sentences: list[list[Word]]
    capitals: bool = True
    rare: int = 10
    longest: int = 10

    def state(self, form: str, label: str) -> State:
        return label, self.capitals and form[0].isupper()

    def padded(self) -> Iterator[list[State]]:
        for sentence in self.sentences:
            yield [BOUNDARY, BOUNDARY, *(self.state(*word) for word in sentence), BOUNDARY]

    @cached_property
    def words(self) -> Counter[tuple[str, str]]:
        return Counter(word for sentence in self.sentences for word in sentence)

    @cached_property
    def states(self) -> Counter[State]:
        return Counter(self.state(*word) for sentence in self.sentences for word in sentence)

    @cached_property
    def grams(self) -> tuple[Counter[State], Counter[tuple[State, ...]], Counter[tuple[State, ...]]]:
        """Unigrams, bigrams and trigrams that end in a word or in the boundary after the last one."""
        ends = [(row, i) for row in self.padded() for i in range(2, len(row))]
        return (
            Counter(row[i] for row, i in ends),
            Counter(tuple(row[i - 1 : i + 1]) for row, i in ends),
            Counter(tuple(row[i - 2 : i + 1]) for row, i in ends),
        )

    @cached_property
    def contexts(self) -> tuple[int, Counter[State], Counter[tuple[State, ...]]]:
        """How often something followed nothing, a state, a pair of states."""
        before = [(row[i - 2], row[i - 1]) for row in self.padded() for i in range(2, len(row))]
        return len(before), Counter(pair[1] for pair in before), Counter(before)

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        given = [Fraction(0)] * 3
        total, of_state, of_pair = self.contexts
        unigrams, bigrams, trigrams = self.grams
        for (a, b, c), count in trigrams.items():
            estimates = [
                ratio(unigrams[c] - 1, total - 1),
                ratio(bigrams[b, c] - 1, of_state[b] - 1),
                ratio(count - 1, of_pair[a, b] - 1),
            ]
            best = [i for i in range(3) if estimates[i] == max(estimates)]
            for i in best:
                given[i] += Fraction(count, len(best))
        return tuple(each / sum(given) for each in given)

    def follows(self, a: State, b: State, c: State) -> Fraction:
        """P(c | a, b)."""
        total, of_state, of_pair = self.contexts
        unigrams, bigrams, trigrams = self.grams
        shares = (ratio(unigrams[c], total), ratio(bigrams[b, c], of_state[b]), ratio(trigrams[a, b, c], of_pair[a, b]))
        return sum((weight * share for weight, share in zip(self.weights, shares, strict=True)), Fraction(0))

    @cached_property
    def labels(self) -> Counter[str]:
        return Counter(label for sentence in self.sentences for _, label in sentence)

    @cached_property
    def theta(self) -> float:
        shares = [count / self.labels.total() for count in self.labels.values()]
        mean = sum(shares) / len(shares)
        return math.sqrt(sum((share - mean) ** 2 for share in shares) / (len(shares) - 1)) if len(shares) > 1 else 0.0

    @cached_property
    def suffixes(self) -> dict[tuple[bool, str], Counter[str]]:
        found: dict[tuple[bool, str], Counter[str]] = {}
        frequency: Counter[str] = Counter()
        for (form, _), count in self.words.items():
            frequency[form] += count
        for (form, label), count in self.words.items():
            if frequency[form] <= self.rare:
                for length in range(1, min(self.longest, len(form)) + 1):
                    found.setdefault((form[0].isupper(), form[-length:]), Counter())[label] += count
        return found

    def guess(self, form: str) -> dict[str, float]:
        """P(label | suffixes of the form)."""
        chances = {label: count / self.labels.total() for label, count in self.labels.items()}
        for length in range(1, min(self.longest, len(form)) + 1):
            seen = self.suffixes.get((form[0].isupper(), form[-length:]))
            if seen is None:
                break
            chances = {
                label: (seen[label] / seen.total() + self.theta * before) / (1 + self.theta)
                for label, before in chances.items()
            }
        return chances

    def emissions(self, form: str) -> dict[State, float]:
        """The states a form can have, with log P(form | state)."""
        known = {self.state(*word): count for word, count in self.words.items() if word[0] == form}
        if known:
            return {state: log(count / self.states[state]) for state, count in known.items()}
        capital = self.capitals and form[0].isupper()
        allowed = [state for state in self.states if state[1] == capital] or list(self.states)
        chances = self.guess(form)
        return {state: log(chances[state[0]] * self.labels.total() / self.labels[state[0]]) for state in allowed}

    def score(self, forms: list[str], states: tuple[State, ...]) -> float:
        """The logarithm of the chance of a sentence with these states."""
        row = [BOUNDARY, BOUNDARY, *states, BOUNDARY]
        steps = sum(log(self.follows(*row[i - 2 : i + 1])) for i in range(2, len(row)))
        return steps + sum(self.emissions(form)[state] for form, state in zip(forms, states, strict=True))

    def best_score(self, forms: list[str]) -> float:
        """The best of all sequences."""
        return max(self.score(forms, states) for states in itertools.product(*map(self.emissions, forms)))

    def beam_score(self, forms: list[str], beam: float) -> float:
        """The best sequence of those that a beam lets through, among pairs of states after each word."""
        pairs = {(BOUNDARY, BOUNDARY): 0.0}
        for form in forms:
            new: dict[tuple[State, State], float] = {}
            for (a, b), score in pairs.items():
                for c, emission in self.emissions(form).items():
                    reached = score + log(self.follows(a, b, c)) + emission
                    new[b, c] = max(new.get((b, c), -math.inf), reached)
            bound = max(new.values()) - math.log(beam)
            pairs = {pair: score for pair, score in new.items() if score >= bound - 1e-9}
        return max(score + log(self.follows(*pair, BOUNDARY)) for pair, score in pairs.items())


def log(chance: Fraction | float) -> float:
    return math.log(chance) if chance > 0 else IMPOSSIBLE
