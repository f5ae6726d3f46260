"""What a paper should cite for the methods that were used."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deadheat.errors import NameUnknown
from deadheat.report.model import Citation, Text
from deadheat.results.format import NAME

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
