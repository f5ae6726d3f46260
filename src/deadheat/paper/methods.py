"""What the paragraph says about methods and about the best system, and the publications it cites."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deadheat.errors import InputError, NameUnknown
from deadheat.report.model import Citation, Text, Words, count, join_text, name, names, p_value, points, text
from deadheat.results.format import NAME, Scale, correction_words, name_of_test
from deadheat.results.verdict import State

NOTHING = Text(())
OTHERS = 8  # systems that a sentence names

# What to cite for tests, corrections, strategies to split a corpus, and systems, by their names.
OF_TESTS = {
    "mcnemar-midp": ("mcnemar-1947", "fagerland-etal-2013"),
    "mcnemar-exact": ("mcnemar-1947",),
    "bootstrap": ("efron-1979",),
    "randomization": ("noreen-1989",),
    "wilcoxon": ("wilcoxon-1945",),
}
OF_CORRECTIONS = {"holm": ("holm-1979",), "bh": ("benjamini-hochberg-1995",)}
OF_STRATEGIES = {
    "random": "gorman-bedrick-2019",
    "tune": "van-der-goot-2021",
    "ud-tune": "van-der-goot-2021",
    "seq": "van-der-goot-etal-2024",
    "rand": "van-der-goot-etal-2024",
    "rand-seq": "van-der-goot-etal-2024",
}
OF_SYSTEMS = {
    "hmm": "brants-2000",
    "perceptron": "collins-2002",
    "loglinear": "toutanova-etal-2003",
    "lookahead": "tsuruoka-etal-2011",
}
BIBTEX = r"""
@inproceedings{alonso-etal-2022,
  author = {Alonso-Alonso, Iago and Vilares, David and G{\'o}mez-Rodr{\'i}guez, Carlos},
  title = {The Fragility of Multi-Treebank Parsing Evaluation},
  booktitle = {Proceedings of the 29th International Conference on Computational Linguistics}, year = {2022}}
@article{benjamini-hochberg-1995,
  author = {Benjamini, Yoav and Hochberg, Yosef},
  title = {Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing},
  journal = {Journal of the Royal Statistical Society: Series B},
  year = {1995}, volume = {57}, number = {1}, pages = {289--300}}
@inproceedings{brants-2000,
  author = {Brants, Thorsten},
  title = {{TnT}: A Statistical Part-of-Speech Tagger},
  booktitle = {Sixth Applied Natural Language Processing Conference}, year = {2000}, pages = {224--231}}
@inproceedings{collins-2002,
  author = {Collins, Michael},
  title = {Discriminative Training Methods for Hidden {M}arkov Models: Theory and Experiments with Perceptron
    Algorithms},
  booktitle = {Proceedings of the 2002 Conference on Empirical Methods in Natural Language Processing},
  year = {2002}, pages = {1--8}}
@article{demsar-2006,
  author = {Dem{\v{s}}ar, Janez},
  title = {Statistical Comparisons of Classifiers over Multiple Data Sets},
  journal = {Journal of Machine Learning Research}, year = {2006}, volume = {7}, pages = {1--30}}
@article{efron-1979,
  author = {Efron, Bradley},
  title = {Bootstrap Methods: Another Look at the Jackknife},
  journal = {The Annals of Statistics}, year = {1979}, volume = {7}, number = {1}, pages = {1--26}}
@article{fagerland-etal-2013,
  author = {Fagerland, Morten W. and Lydersen, Stian and Laake, Petter},
  title = {The {McNemar} Test for Binary Matched-Pairs Data: Mid-p and Asymptotic Are Better than Exact
    Conditional},
  journal = {BMC Medical Research Methodology}, year = {2013}, volume = {13}, pages = {91}}
@inproceedings{gorman-bedrick-2019,
  author = {Gorman, Kyle and Bedrick, Steven},
  title = {We Need to Talk about Standard Splits},
  booktitle = {Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics},
  year = {2019}, pages = {2786--2791}}
@article{holm-1979,
  author = {Holm, Sture},
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics}, year = {1979}, volume = {6}, number = {2}, pages = {65--70}}
@article{kendall-1938,
  author = {Kendall, Maurice G.},
  title = {A New Measure of Rank Correlation},
  journal = {Biometrika}, year = {1938}, volume = {30}, pages = {81--93}}
@article{mann-whitney-1947,
  author = {Mann, Henry B. and Whitney, Donald R.},
  title = {On a Test of Whether One of Two Random Variables Is Stochastically Larger than the Other},
  journal = {The Annals of Mathematical Statistics}, year = {1947}, volume = {18}, number = {1}, pages = {50--60}}
@article{mcnemar-1947,
  author = {McNemar, Quinn},
  title = {Note on the Sampling Error of the Difference between Correlated Proportions or Percentages},
  journal = {Psychometrika}, year = {1947}, volume = {12}, number = {2}, pages = {153--157}}
@article{nadeau-bengio-2003,
  author = {Nadeau, Claude and Bengio, Yoshua},
  title = {Inference for the Generalization Error},
  journal = {Machine Learning}, year = {2003}, volume = {52}, number = {3}, pages = {239--281}}
@book{noreen-1989,
  author = {Noreen, Eric W.},
  title = {Computer-Intensive Methods for Testing Hypotheses: An Introduction},
  publisher = {Wiley}, year = {1989}}
@inproceedings{reimers-gurevych-2017,
  author = {Reimers, Nils and Gurevych, Iryna},
  title = {Reporting Score Distributions Makes a Difference: Performance Study of {LSTM}-networks for Sequence
    Tagging},
  booktitle = {Proceedings of the 2017 Conference on Empirical Methods in Natural Language Processing},
  year = {2017}, pages = {338--348}}
@inproceedings{toutanova-etal-2003,
  author = {Toutanova, Kristina and Klein, Dan and Manning, Christopher D. and Singer, Yoram},
  title = {Feature-Rich Part-of-Speech Tagging with a Cyclic Dependency Network},
  booktitle = {Proceedings of the 2003 Human Language Technology Conference of the North American Chapter of
    the Association for Computational Linguistics},
  year = {2003}, pages = {252--259}}
@inproceedings{tsuruoka-etal-2011,
  author = {Tsuruoka, Yoshimasa and Miyao, Yusuke and Kazama, Jun'ichi},
  title = {Learning with Lookahead: Can History-Based Models Rival Globally Optimized Models?},
  booktitle = {Proceedings of the Fifteenth Conference on Computational Natural Language Learning},
  year = {2011}, pages = {238--246}}
@inproceedings{van-der-goot-2021,
  author = {van der Goot, Rob},
  title = {We Need to Talk About train-dev-test Splits},
  booktitle = {Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing},
  year = {2021}, pages = {4485--4494}}
@inproceedings{van-der-goot-etal-2024,
  author = {van der Goot, Rob and Liu, Zoey and M{\"u}ller-Eberstein, Max},
  title = {Enough Is Enough! A Case Study on the Effect of Data Size for Evaluation Using {Universal
    Dependencies}},
  booktitle = {Proceedings of the 2024 Joint International Conference on Computational Linguistics, Language
    Resources and Evaluation (LREC-COLING 2024)},
  year = {2024}}
@inproceedings{vigna-2015,
  author = {Vigna, Sebastiano},
  title = {A Weighted Correlation Index for Rankings with Ties},
  booktitle = {Proceedings of the 24th International Conference on World Wide Web},
  year = {2015}, pages = {1166--1176}}
@article{wilcoxon-1945,
  author = {Wilcoxon, Frank},
  title = {Individual Comparisons by Ranking Methods},
  journal = {Biometrics Bulletin}, year = {1945}, volume = {1}, number = {6}, pages = {80--83}}
@article{wilson-1927,
  author = {Wilson, Edwin B.},
  title = {Probable Inference, the Law of Succession, and Statistical Inference},
  journal = {Journal of the American Statistical Association}, year = {1927}, volume = {22}, pages = {209--212}}
"""
REFERENCES = {entry.partition("{")[2].partition(",")[0]: entry for entry in re.split(r"\n(?=@)", BIBTEX.strip())}


def cite(*keys: str) -> Text:
    """A citation, with the space before it; nothing where there is nothing to cite.

    Examples
    --------
    >>> print("Holm's method", cite("holm-1979", "mann-whitney-1947"), ".", sep="")
    Holm's method (Holm, 1979; Mann and Whitney, 1947).
    """
    unique = tuple(dict.fromkeys(keys))
    label = "; ".join(map(authors_and_year, unique))
    return Text((Citation(label, NAME, " (", ")", unique),)) if unique else Text(())


def authors_and_year(key: str) -> str:
    """How a publication is cited in plain text."""
    author = re.search(r"author = {(.*?)},\n", REFERENCES[key], re.DOTALL)
    year = re.search(r"year = {(\d+)}", REFERENCES[key])
    assert author is not None
    assert year is not None
    plain = author[1].replace(r"{\v{s}}", "š")
    names = [" ".join(name.split()).partition(",")[0] for name in re.split(r"\sand\s", plain)]
    return f"{names[0] + ' et al.' if len(names) > 2 else ' and '.join(names)}, {year[1]}"


def bibtex(keys: Iterable[str]) -> str:
    """The entries of these publications, in order of their keys."""
    wanted = sorted(set(keys))
    for key in wanted:
        if key not in REFERENCES:
            raise NameUnknown("reference", key, REFERENCES)
    return "\n\n".join(REFERENCES[key] for key in wanted) + "\n" if wanted else ""


def plain(words: str) -> Text:
    """Words of ours, as opposed to names from the data."""
    return Text((words,))


def cited_test(test: str, units: str) -> Text:
    """A test, or several of which the data decided, and what it treats as independent."""
    keys = [key for part in test.split("/") for key in OF_TESTS.get(part, ())]
    return Text((name_of_test(test),)) + cite(*keys) + f" on {units}"


def cited_correction(correction: str, tests: int | None, *, noun: str = "test") -> Text:
    """How p-values were corrected."""
    keys = OF_CORRECTIONS.get(correction, ()) if tests != 1 else ()
    return Text((correction_words(correction, tests, noun=noun),)) + cite(*keys)


def cited_splits(strategy: str, splits: Sequence[int], seed: int = 0) -> Text:
    """How a corpus was split, with what to cite; see `split_words`."""
    keys = [OF_STRATEGIES[base] for base in [strategy.partition(".v")[0]] if base in OF_STRATEGIES]
    return split_words(strategy, splits, seed) + cite(*keys)


def split_words(strategy: str, splits: Sequence[int], seed: int = 0) -> Text:
    """How a corpus was split; `splits` are the different numbers of splits that the strategy made.

    Examples
    --------
    >>> print(split_words("random.v1(unit='document', stratify='genre')", [20]))
    20 random splits by document (80/10/10 by words, stratified by genre; seed 0)
    >>> print(split_words("random.v1", [1], seed=3), split_words("mine.v1", [2, 3]), sep=", ")
    one random split by sentence (80/10/10 by sentences; seed 3), 2 to 3 splits by mine.v1 (seed 0)
    >>> print(split_words("tune.v1(tune=300, dev=300)", [1]))
    one split in order of the text (the last 1,600 sentences are tune, dev and test: 300, 300 and 1,000)
    """
    base, settings = strategy.partition(".v")[0], _settings(strategy)
    if base == "standard":
        return plain("the standard split")
    if base == "ud-tune":
        return plain("the standard split with a third of dev as tune")
    if base == "tune" and settings is not None:
        sizes = [settings[part] for part in ("tune", "dev", "test")]
        total = sum(settings[part] for part in ("tune", "dev", "test"))
        template = "one split in order of the text (the last {} are tune, dev and test: {}, {} and {})"
        return text(template, count(total, "sentence"), *sizes)
    if base not in ("random", "kfold") or settings is None:
        return text("{} by {} (seed {})", _number(splits, "split"), strategy, name(str(seed)))
    unit = f"blocks of {settings['block']} sentences" if settings["unit"] == "block" else settings["unit"]
    strata = text(", stratified by {}", settings["stratify"]) if settings["stratify"] else NOTHING
    if base == "kfold":
        folds = f" of {settings['folds']}-fold cross-validation by {unit} (seed {seed}"
        return _number(splits, "split") + folds + strata + ")"
    from deadheat.splits.strategy import measure_of, parse_sizes

    measure = measure_of(parse_sizes(settings["sizes"]), "sentences" if settings["unit"] == "sentence" else "words")
    made = _number(splits, "random split") + f" by {unit} ({settings['sizes']} by {measure}"
    return made + strata + f"; seed {seed})"


def _number(splits: Sequence[int], noun: str) -> Text:
    if list(splits) == [1]:
        return Text((f"one {noun}",))
    first = text("{} to ", splits[0]) if len(splits) > 1 else NOTHING
    return first + text("{}", count(splits[-1], noun))


def _settings(strategy: str) -> Mapping[str, Any] | None:
    """All settings of a strategy, defaults included; None if it is not registered."""
    from deadheat.splits import STRATEGIES

    try:
        return STRATEGIES.make(strategy).settings
    except InputError:
        return None


def evidence_text(
    opponent: str,
    difference: float,
    scale: Scale,
    p: float,
    *,
    statistic: str = "",
    interval_text: Text = NOTHING,
    remark: Text = NOTHING,
) -> Text:
    """An opponent with the evidence: `B (+1.00 points, p = 0.2000)`."""
    parts: list[Words] = []
    if not math.isnan(difference):
        parts.append(text("{}", points(difference, scale)) + (" points" if scale.is_percent else "") + statistic)
    parts += [interval_text] if interval_text else []
    if not math.isnan(p):
        parts.append(text("{}", p_value(p)))
    evidence = join_text(filter(None, [join_text(parts, ", "), remark]), "; ")
    return text("{} ({})", opponent, evidence) if evidence else text("{}", opponent)


def best_sentences(
    best: str, others: Sequence[tuple[State, Text]], units: str, *, where: Text = NOTHING
) -> Iterator[Text]:
    """What is shown about the best system and the others, one sentence for each state.

    Examples
    --------
    >>> others = [(State.SHOWN, text("B")), (State.TOO_FEW, text("C")), (State.SHOWN, text("D"))]
    >>> for sentence in best_sentences("A", others, "runs"):
    ...     print(sentence)
    A was significantly better than B and D.
    There were too few runs to tell whether A is better than C.
    """
    for state in State:
        conjunction = "and" if state in (State.SHOWN, State.OPPOSITE) else "or"
        opponents = listing([opponent for shown, opponent in others if shown is state], conjunction)
        if not opponents:
            continue
        match state:
            case State.SHOWN:
                yield text("{}{} was significantly better than {}.", where, best, opponents)
            case State.NOT_SHOWN:
                yield text("{}{} was not shown to be better than {}.", where, best, opponents)
            case State.OPPOSITE:
                yield text("{}{} had the higher score, but the test favours {}.", where, best, opponents)
            case State.TOO_FEW:
                there = where + _opening("there", where)
                template = "{} were too few {} to tell whether {} is better than {}."
                yield text(template, there, plain(units), best, opponents)


def pairs_sentences(states: Sequence[State], units: str, *, where: Text = NOTHING) -> Iterator[Text]:
    """How many of all pairs differ, where there are more than those of the best system."""
    if len(states) < 3:
        return
    shown, few = sum(state in (State.SHOWN, State.OPPOSITE) for state in states), states.count(State.TOO_FEW)
    all_pairs = count(len(states), "pair")
    if few == len(states):
        yield where + text("{} {}, there were too few {} to tell.", _opening("for all", where), all_pairs, plain(units))
        return
    if shown == len(states):
        yield where + text("{} {} differ significantly.", _opening("all", where), all_pairs)
        return
    more = text("; for {} there were too few {} to tell", few, plain(units)) if few else NOTHING
    number = text("{} differ", shown) + ("s" if shown == 1 else "") if shown else plain("none differs")
    yield where + text("{} {}, {} significantly{}.", _opening("of all", where), all_pairs, number, more)


def _opening(words: str, where: Text) -> Text:
    """Words that open a sentence, unless it says first where."""
    return Text((words if where else f"{words[:1].upper()}{words[1:]}",))


def listing(items: Sequence[Text], conjunction: str = "and") -> Text:
    """Items as a list: `A, B and C`, or `A, B and 7 more`."""
    if len(items) > OTHERS:
        items = [*items[:OTHERS], text("{} more", len(items) - OTHERS)]
    return (
        join_text([join_text(items[:-1], ", "), items[-1]], f" {conjunction} ") if len(items) > 1 else join_text(items)
    )


def system_list(systems: Sequence[str]) -> Text:
    """`3 systems (A, B and C)`."""
    return text("{} ({})", count(len(systems), "system"), names(systems))
