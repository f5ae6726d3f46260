"""Systems whose true quality is known, because it is a setting."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.testbed.chance import Chance
from deadheat.testbed.checks import not_a_name, not_shares, refuse, too_small

SHARES = (
    *("upos", "xpos", "feats", "lemma", "uas", "label"),
    *("correlation", "document_effect", "tokens", "sentences"),
)


@dataclass(frozen=True, slots=True)
class SimulatedSystem:
    """A system that makes as many mistakes as it is told to, and mostly where others make them too."""

    name: str
    upos: float = 0.95
    xpos: float = 0.94
    feats: float = 0.93
    lemma: float = 0.96
    uas: float = 0.88
    label: float = 0.94
    """Share of words with the right relation among those with the right head: LAS is `uas * label`."""
    correlation: float = 0.6
    """How much of a word's difficulty is shared by all systems (a correlation of latent normals)."""
    document_effect: float = 0.3
    """Standard deviation of the document's part in that difficulty, which has standard deviation 1."""
    seed_sd: float = 0.005
    """Standard deviation of the true accuracy over seeds."""
    tokens: float = 1.0
    """Share of the gold tokens that are found, with their words."""
    sentences: float = 1.0
    """Share of the gold sentences that are found."""
    multiple_roots: bool = False
    """Whether a sentence may get more than one root."""

    def __post_init__(self) -> None:
        where = f"system {self.name!r}"
        mistakes = [
            *not_a_name(where, self.name.replace("-", "_")),
            *not_shares(where, self, SHARES),
            *too_small(where, self, {"seed_sd": 0.0}),
        ]
        if self.document_effect**2 > self.correlation:
            mistakes.append(
                f"{where}: document_effect is {self.document_effect} and correlation {self.correlation}; "
                "expected document_effect**2 <= correlation, because documents are shared"
            )
        refuse(mistakes)


@dataclass(frozen=True, slots=True)
class Truth:
    """The expected accuracies of a system on one seed, given the gold tokens and sentences."""

    upos: float
    xpos: float
    feats: float
    lemma: float
    uas: float
    label: float

    @property
    def las(self) -> float:
        """Expected share of words with the right head and relation."""
        return self.uas * self.label


def truth(system: SimulatedSystem, *, seed: int) -> Truth:
    """What a system is worth on one seed: a lucky seed is better at everything.

    The label accuracy, which is conditional on the right head, stays, and so does what is exactly 0 or 1.

    Examples
    --------
    >>> truth(SimulatedSystem("steady", uas=0.9, seed_sd=0.0), seed=7).uas
    0.9
    """
    luck = system.seed_sd * Chance("seed", system.name, seed).normal()

    def on_this_seed(accuracy: float) -> float:
        return accuracy if accuracy in (0, 1) else min(max(accuracy + luck, 0.0), 1.0)

    return Truth(
        upos=on_this_seed(system.upos),
        xpos=on_this_seed(system.xpos),
        feats=on_this_seed(system.feats),
        lemma=on_this_seed(system.lemma),
        uas=on_this_seed(system.uas),
        label=system.label,
    )
