"""What a paper should cite for the methods that were used, as short names in a text and as entries of BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deadheat.errors import NameUnknown


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication: how it is cited in a text, and its entry."""

    short: str  # as in `McNemar, 1947`
    kind: str
    fields: tuple[tuple[str, str], ...]

    def bibtex(self, key: str) -> str:
        """The entry."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields]
        return "\n".join([f"@{self.kind}{{{key},", *lines, "}"])


def _article(short: str, author: str, title: str, journal: str, year: int, **more: str) -> Reference:
    fields = {"author": author, "title": title, "journal": journal, "year": str(year), **more}
    return Reference(short, "article", tuple(fields.items()))


def _paper(short: str, author: str, title: str, booktitle: str, year: int, pages: str = "") -> Reference:
    fields = {"author": author, "title": title, "booktitle": booktitle, "year": str(year)}
    return Reference(short, "inproceedings", tuple((fields | ({"pages": pages} if pages else {})).items()))


_ACL = "Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics"
_EMNLP = "Proceedings of the {} Conference on Empirical Methods in Natural Language Processing"

REFERENCES = {
    "alonso-etal-2022": _paper(
        "Alonso-Alonso et al., 2022",
        r"Alonso-Alonso, Iago and Vilares, David and G{\'o}mez-Rodr{\'i}guez, Carlos",
        "The Fragility of Multi-Treebank Parsing Evaluation",
        "Proceedings of the 29th International Conference on Computational Linguistics",
        2022,
    ),
    "benjamini-hochberg-1995": _article(
        "Benjamini and Hochberg, 1995",
        "Benjamini, Yoav and Hochberg, Yosef",
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society: Series B",
        1995,
        volume="57",
        number="1",
        pages="289--300",
    ),
    "brants-2000": _paper(
        "Brants, 2000",
        "Brants, Thorsten",
        "{TnT}: A Statistical Part-of-Speech Tagger",
        "Sixth Applied Natural Language Processing Conference",
        2000,
        "224--231",
    ),
    "collins-2002": _paper(
        "Collins, 2002",
        "Collins, Michael",
        "Discriminative Training Methods for Hidden {M}arkov Models: Theory and Experiments with Perceptron Algorithms",
        _EMNLP.format(2002),
        2002,
        "1--8",
    ),
    "demsar-2006": _article(
        "Demšar, 2006",
        r"Dem{\v{s}}ar, Janez",
        "Statistical Comparisons of Classifiers over Multiple Data Sets",
        "Journal of Machine Learning Research",
        2006,
        volume="7",
        pages="1--30",
    ),
    "dror-etal-2019": _paper(
        "Dror et al., 2019",
        "Dror, Rotem and Shlomov, Segev and Reichart, Roi",
        "Deep Dominance: How to Properly Compare Deep Neural Models",
        _ACL,
        2019,
        "2773--2785",
    ),
    "efron-1979": _article(
        "Efron, 1979",
        "Efron, Bradley",
        "Bootstrap Methods: Another Look at the Jackknife",
        "The Annals of Statistics",
        1979,
        volume="7",
        number="1",
        pages="1--26",
    ),
    "fagerland-etal-2013": _article(
        "Fagerland et al., 2013",
        "Fagerland, Morten W. and Lydersen, Stian and Laake, Petter",
        "The {McNemar} Test for Binary Matched-Pairs Data: Mid-p and Asymptotic Are Better than Exact Conditional",
        "BMC Medical Research Methodology",
        2013,
        volume="13",
        pages="91",
    ),
    "gorman-bedrick-2019": _paper(
        "Gorman and Bedrick, 2019",
        "Gorman, Kyle and Bedrick, Steven",
        "We Need to Talk about Standard Splits",
        _ACL,
        2019,
        "2786--2791",
    ),
    "holm-1979": _article(
        "Holm, 1979",
        "Holm, Sture",
        "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics",
        1979,
        volume="6",
        number="2",
        pages="65--70",
    ),
    "kendall-1938": _article(
        "Kendall, 1938",
        "Kendall, Maurice G.",
        "A New Measure of Rank Correlation",
        "Biometrika",
        1938,
        volume="30",
        pages="81--93",
    ),
    "mann-whitney-1947": _article(
        "Mann and Whitney, 1947",
        "Mann, Henry B. and Whitney, Donald R.",
        "On a Test of Whether One of Two Random Variables Is Stochastically Larger than the Other",
        "The Annals of Mathematical Statistics",
        1947,
        volume="18",
        number="1",
        pages="50--60",
    ),
    "mcnemar-1947": _article(
        "McNemar, 1947",
        "McNemar, Quinn",
        "Note on the Sampling Error of the Difference between Correlated Proportions or Percentages",
        "Psychometrika",
        1947,
        volume="12",
        number="2",
        pages="153--157",
    ),
    "noreen-1989": Reference(
        "Noreen, 1989",
        "book",
        (
            ("author", "Noreen, Eric W."),
            ("title", "Computer-Intensive Methods for Testing Hypotheses: An Introduction"),
            ("publisher", "Wiley"),
            ("year", "1989"),
        ),
    ),
    "reimers-gurevych-2017": _paper(
        "Reimers and Gurevych, 2017",
        "Reimers, Nils and Gurevych, Iryna",
        "Reporting Score Distributions Makes a Difference: Performance Study of {LSTM}-networks for Sequence Tagging",
        _EMNLP.format(2017),
        2017,
        "338--348",
    ),
    "toutanova-etal-2003": _paper(
        "Toutanova et al., 2003",
        "Toutanova, Kristina and Klein, Dan and Manning, Christopher D. and Singer, Yoram",
        "Feature-Rich Part-of-Speech Tagging with a Cyclic Dependency Network",
        "Proceedings of the 2003 Human Language Technology Conference of the North American Chapter of the Association "
        "for Computational Linguistics",
        2003,
        "252--259",
    ),
    "tsuruoka-etal-2011": _paper(
        "Tsuruoka et al., 2011",
        "Tsuruoka, Yoshimasa and Miyao, Yusuke and Kazama, Jun'ichi",
        "Learning with Lookahead: Can History-Based Models Rival Globally Optimized Models?",
        "Proceedings of the Fifteenth Conference on Computational Natural Language Learning",
        2011,
        "238--246",
    ),
    "van-der-goot-2021": _paper(
        "van der Goot, 2021",
        "van der Goot, Rob",
        "We Need to Talk About train-dev-test Splits",
        _EMNLP.format(2021),
        2021,
        "4485--4494",
    ),
    "van-der-goot-etal-2024": _paper(
        "van der Goot et al., 2024",
        r"van der Goot, Rob and Liu, Zoey and M{\"u}ller-Eberstein, Max",
        "Enough Is Enough! A Case Study on the Effect of Data Size for Evaluation Using {Universal Dependencies}",
        "Proceedings of the 2024 Joint International Conference on Computational Linguistics, Language Resources and "
        "Evaluation (LREC-COLING 2024)",
        2024,
    ),
    "vigna-2015": _paper(
        "Vigna, 2015",
        "Vigna, Sebastiano",
        "A Weighted Correlation Index for Rankings with Ties",
        "Proceedings of the 24th International Conference on World Wide Web",
        2015,
        "1166--1176",
    ),
    "wilcoxon-1945": _article(
        "Wilcoxon, 1945",
        "Wilcoxon, Frank",
        "Individual Comparisons by Ranking Methods",
        "Biometrics Bulletin",
        1945,
        volume="1",
        number="6",
        pages="80--83",
    ),
    "wilson-1927": _article(
        "Wilson, 1927",
        "Wilson, Edwin B.",
        "Probable Inference, the Law of Succession, and Statistical Inference",
        "Journal of the American Statistical Association",
        1927,
        volume="22",
        pages="209--212",
    ),
    "zeman-etal-2018": _paper(
        "Zeman et al., 2018",
        r"Zeman, Daniel and Haji{\v{c}}, Jan and Popel, Martin and Potthast, Martin and Straka, Milan and "
        "Ginter, Filip and Nivre, Joakim and Petrov, Slav",
        "{CoNLL} 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies",
        "Proceedings of the CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies",
        2018,
        "1--21",
    ),
}

# What to cite for each method, by the names that documents use.
OF_TESTS = {
    "mcnemar-midp": ("mcnemar-1947", "fagerland-etal-2013"),
    "mcnemar-exact": ("mcnemar-1947",),
    "bootstrap": ("efron-1979",),
    "randomization": ("noreen-1989",),
    "wilcoxon": ("wilcoxon-1945",),
}
OF_CORRECTIONS = {"holm": ("holm-1979",), "bh": ("benjamini-hochberg-1995",)}
OF_SYSTEMS = {
    "hmm": "brants-2000",
    "perceptron": "collins-2002",
    "loglinear": "toutanova-etal-2003",
    "lookahead": "tsuruoka-etal-2011",
}


def bibtex(keys: Iterable[str]) -> str:
    """The entries of these publications, in order of their keys."""
    found = sorted(set(keys))
    for key in found:
        if key not in REFERENCES:
            raise NameUnknown("reference", key, REFERENCES)
    return "\n\n".join(REFERENCES[key].bibtex(key) for key in found) + "\n" if found else ""
