"""The splits and systems of each paper's experiment, for the corpora at hand and at the size of a laptop."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deadheat.errors import InputError
from deadheat.splits import STRATEGIES, Partition
from deadheat.splits.strategy import Material

WIDTH = 118  # of comments
TIMES, SIZES = 20, "80/10/10"  # of random splits
PAPER_PART = 1_000  # sentences of tune, dev and test in van der Goot (2021)
PAPER_WORDS = 50_000  # of train in van der Goot et al. (2024)
FEWEST_TREEBANKS = 3  # that a ranking over subsets needs
FEWEST_SENTENCES, FEWEST_WORDS = 30, 1_000
NEURAL = 'they need pip install "deadheat[neural]", and take minutes to hours without an accelerator'
Materials = Mapping[str, Material]


@dataclass(frozen=True, slots=True)
class Design:
    """What a study file says besides its corpora."""

    enlarge: str  # how to come closer to the paper
    tables: Sequence[str]
    top: Sequence[str] = ()  # keys before the first table
    about_corpora: str = ""


def quote_toml(value: str | Sequence[str]) -> str:
    """Write a string, or a list of strings, as TOML."""
    if not isinstance(value, str):
        return f"[{', '.join(map(quote_toml, value))}]"
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{value!r}: a name that is not valid Unicode; expected one that a study file can hold"
        ) from None
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def comment(text: str) -> str:
    """A text as lines of comment."""
    lines = textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"# {line}" for line in lines)


def split_problem(materials: Iterable[Material], unit: str, times: int = TIMES) -> str:
    """Why the corpora cannot be split at random by this unit; empty if they can."""
    strategy = STRATEGIES.make("random", sizes=SIZES, unit=unit)
    for material in materials:
        corpus = material.corpus
        try:
            for number in range(times):
                Partition(str(number), strategy.draw(material, 0, number).parts, corpus.sentences)
        except InputError as error:
            return f"{corpus.name}: {error}" if corpus.name not in str(error) else str(error)
    return ""


def _random_splits(materials: Materials, column: str) -> Design:
    """Gorman and Bedrick (2019)."""
    if problem := split_problem(materials.values(), "sentence"):
        raise InputError(f"{problem}; expected a corpus that is large enough to be split")
    random = ['strategy = "random"', f"times = {TIMES}         # more splits keep the first ones", f'sizes = "{SIZES}"']
    if not split_problem(materials.values(), "document"):
        random.append('# unit = "document"     # whole documents: harder than the sentences of the paper')
    standard = [name for name, material in materials.items() if _has_standard_split(material)]
    tables = [_standard_table(materials, standard)] if standard else []
    systems = (
        "After taggers of the paper: TnT, Collins' perceptron, LAPOS and Stanford's tagger. NLP4J and Flair can be run "
        "by their commands."
    )
    tests = "McNemar's test (mid-p) on each split, with p-values corrected for the number of splits, as in the paper."
    return Design(
        "add treebanks, and other taggers by their commands (docs/howto/my-own-system.md).",
        [
            *tables,
            _table("splits", random, "Random splits of sentences, as in the paper."),
            _systems(column, "hmm", "perceptron", "lookahead", "loglinear", about=systems),
            _table(
                "compare", ['test = "mcnemar-midp"', 'correction = "bonferroni"', "alpha = 0.05"], tests, array=False
            ),
        ],
        ['evaluate = ["test"]'],
    )


def _score_distributions(materials: Materials, column: str) -> Design:
    """Reimers and Gurevych (2017)."""
    shared = [f"column = {column}", 'size = "full"', 'units = "50"', "epochs = 15"]
    networks = [
        _table("systems", ['name = "bilstm"', f'label = "{classifier}"', f'classifier = "{classifier}"', *shared])
        for classifier in ("crf", "softmax")
    ]
    return Design(
        "raise seeds, and uncomment the networks.",
        [
            *_one_split(materials),
            _two_perceptrons(column, "Systems whose training depends on the seed."),
            _systems(column, "lookahead"),
            _in_comments(networks, f"Networks, as in the paper; {NEURAL}."),
        ],
        ["seeds = 10         # of every system"],
    )


def _treebank_subsets(materials: Materials, column: str) -> Design:
    """Alonso-Alonso, Vilares and Gómez-Rodríguez (2022)."""
    if len(materials) < FEWEST_TREEBANKS:
        problem = f"treebank-subsets: a ranking over subsets of {len(materials)}"
        raise InputError(f"{problem}; expected at least {FEWEST_TREEBANKS} corpora")
    advice = (
        'The paper advises to develop on some treebanks and to evaluate on others: with role = "develop" in its table, '
        "a corpus is scored on dev alone, and the others on test alone."
    )
    return Design(
        "add treebanks (a test over treebanks needs six or more) and parsers.",
        [
            *_one_split(materials),
            _systems(column, "hmm", "perceptron", "lookahead"),
            *_parsers(materials, "biaffine", "pointer", "bracketing"),
        ],
        ["seeds = 3          # of systems whose training is random; rankings are by means over seeds"],
        advice,
    )


def _tune_split(materials: Materials, column: str) -> Design:
    """Van der Goot (2021)."""
    by_size: dict[int, list[str]] = {}
    for name, material in materials.items():
        sentences = len(material.without_test())
        if sentences < FEWEST_SENTENCES:
            problem = f"{material.corpus.name}: {sentences} sentences besides test"
            raise InputError(f"{problem}; expected at least {FEWEST_SENTENCES} for train, tune, dev and test")
        by_size.setdefault(PAPER_PART if sentences > 4 * PAPER_PART else sentences // 6, []).append(name)
    about = (
        f"The last sentences of train and dev are tune, dev and test: {PAPER_PART:,} each in the paper, a sixth of all "
        "each where there are few. Files of test are not used."
    )
    splits = _splits_by_size(by_size, 'strategy = "tune"\ntune = {size}\ndev = {size}\ntest = {size}', about)
    setups = 'epoch = ["dev", "tune"]     # the two setups of the paper: which part picks the epoch'
    grid = ['system = "perceptron"', f"column = {column}", setups, "order = [2, 3]", "dictionary = [0, 2, 5, 20]"]
    networks = ['system = "bilstm"', f"column = {column}", 'epoch = ["dev", "tune"]', 'size = "full"', 'units = "50"',
                "epochs = 15", "rate = [0.001, 0.002, 0.004]", "drop = [0.1, 0.25, 0.4]"]  # fmt: skip
    about = (
        "Every combination of the lists is trained in both setups. Dev picks the best, which is then evaluated on test."
    )
    return Design(
        "add treebanks (a test over treebanks needs six or more), and uncomment the search of networks.",
        [*splits, _table("search", grid, about), _in_comments([_table("search", networks)], f"Networks; {NEURAL}.")],
    )


def _test_size(materials: Materials, column: str) -> Design:
    """Van der Goot, Liu and Müller-Eberstein (2024)."""
    by_size: dict[int, list[str]] = {}
    for name, material in materials.items():
        words = int(material.lengths[material.without_test()].sum())
        if words < FEWEST_WORDS:
            problem = f"{material.corpus.name}: {words:,} words besides test"
            raise InputError(f"{problem}; expected at least {FEWEST_WORDS:,}")
        by_size.setdefault(min(PAPER_WORDS, words // 200 * 100), []).append(name)
    about = (
        f"Train is the first words ({PAPER_WORDS:,} in the paper, half where there are few), and what comes after is "
        "the test set that samples are drawn from. Files of test are not used."
    )
    lines = 'strategy = "seq"\ntrain = {size}\nwords = 0          # all that is left\npart = "test"'
    splits = _splits_by_size(by_size, lines, about)
    return Design(
        f"add treebanks and systems, raise train to {PAPER_WORDS:,} words.",
        [
            *splits,
            _systems(
                column, "unigram", "hmm", "lookahead", about="The more alike the systems, the more data it takes."
            ),
            _two_perceptrons(column),
            *_parsers(materials, "biaffine", "bracketing"),
        ],
        ["seeds = 5          # of systems whose training is random; five in the paper"],
    )


DESIGNS: Mapping[str, Callable[[Materials, str], Design]] = {
    "random-splits": _random_splits,
    "score-distributions": _score_distributions,
    "treebank-subsets": _treebank_subsets,
    "tune-split": _tune_split,
    "test-size": _test_size,
}


def _table(name: str, lines: Sequence[str], about: str = "", *, array: bool = True) -> str:
    """A table of TOML, with a comment above it."""
    header = f"[[{name}]]" if array else f"[{name}]"
    return "\n".join([*([comment(about)] if about else []), header, *lines])


def _systems(column: str, *names: str, about: str = "") -> str:
    """Systems with their default settings."""
    tables = [_table("systems", [f"name = {quote_toml(name)}", f"column = {column}"]) for name in names]
    return "\n\n".join([f"{comment(about)}\n{tables[0]}" if about else tables[0], *tables[1:]])


def _two_perceptrons(column: str, about: str = "") -> str:
    lines = ['name = "perceptron"', f"column = {column}", "order = [2, 3]     # a system for each value"]
    return _table("systems", lines, about)


def _splits_by_size(by_size: Mapping[int, Sequence[str]], lines: str, about: str) -> list[str]:
    """Splits whose sizes depend on the corpora, which are named where sizes differ."""
    tables: list[str] = []
    for size, names in by_size.items():
        only = [f"corpora = {quote_toml(names)}"] if len(by_size) > 1 else []
        tables.append(_table("splits", [lines.format(size=size), *only], "" if tables else about))
    return tables


def _in_comments(tables: Sequence[str], about: str) -> str:
    """Tables as comments, to be uncommented."""
    lines = "\n\n".join(tables).split("\n")
    return "\n".join([comment(f"{about[:1].upper()}{about[1:]}"), *(f"# {line}".rstrip() for line in lines)])


def _parsers(materials: Materials, *names: str) -> list[str]:
    """Small parsers as comments, where all corpora have trees."""
    if any(material.corpus.heads is None for material in materials.values()):
        return []
    tables = [_table("systems", [f"name = {quote_toml(name)}", 'size = "small"', "epochs = 15"]) for name in names]
    return [_in_comments(tables, f"Parsers, as in the paper; {NEURAL}.")]


def _has_standard_split(material: Material) -> bool:
    """Whether files name their parts, among them train and test."""
    try:
        return {"train", "test"} <= set(STRATEGIES.make("standard").draw(material, 0, 0).parts)
    except InputError:
        return False


def _standard_table(materials: Materials, names: Sequence[str]) -> str:
    only = [f"corpora = {quote_toml(names)}"] if len(names) < len(materials) else []
    return _table("splits", ['strategy = "standard"', *only], "The parts that the names of files tell.")


def _one_split(materials: Materials) -> list[str]:
    """The standard split of each corpus, or else a random one."""
    standard = [name for name, material in materials.items() if _has_standard_split(material)]
    others = [name for name in materials if name not in standard]
    if problem := split_problem((materials[name] for name in others), "sentence", times=1):
        raise InputError(f"{problem}; expected a corpus that is large enough to be split")
    tables = [_standard_table(materials, standard)] if standard else []
    if others:
        only = [f"corpora = {quote_toml(others)}"] if standard else []
        about = "One random split, because file names tell no parts train and test."
        tables.append(_table("splits", ['strategy = "random"', f'sizes = "{SIZES}"', *only], about))
    return tables
