"""Tables from documents: numbers of the results, bold, ties and marks as worked out by hand."""

import re
from typing import Any

import pytest

import deadheat
from deadheat.errors import InputError, NameUnknown
from deadheat.paper.tables import MAKERS
from deadheat.paper.kit import latex_tables
from tests.paper import documents
from tests.paper.checker import cell_of, check
from tests.paper.documents import HOSTILE, Document

DOCUMENTS: dict[str, Document] = {
    "score": documents.scores({"a_b": 0.8, "c": 0.75}),
    "compare": documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.01}, tied=["A"]),
    "rank": documents.ranking(),
    "seeds": documents.seeds({"A": (5, 0.9, 0.01), "B": (5, 0.8, 0.01)}, {("A", "B"): 0.01}),
    "contrast": documents.contrasts(),
    "size": documents.sizes(),
    "study": documents.study(
        [
            documents.block(
                [documents.standing("A", 0.9, 5, sd=0.01), documents.standing("B", 0.8, 5, sd=0.01)], [], splits=5
            )
        ]
    ),
    "search": documents.two_setups(label="a_b"),
}


def rows_of(source: str) -> list[list[str]]:
    (table,) = check(source).tables
    return table


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_has_a_table_that_floats_with_caption_and_label(kind: str) -> None:
    made = latex_tables(DOCUMENTS[kind])
    assert made
    for name, source in made.items():
        check(source)
        assert re.search(r"\\begin\{(table\*?)\}\n\\centering\n\\\w+\n\\begin\{tabular\}", source)
        assert source.count(r"\caption{") == source.count(rf"\label{{tab:{name}}}") == 1
        assert r"\usepackage{booktabs}" in source


def renamed(value: Any, names: dict[str, str]) -> Any:
    """The same document with other names, wherever they stand."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("kind", MAKERS)
def test_hostile_names_do_no_harm_in_any_table(kind: str, hostile: str) -> None:
    used = ("A", "a_b", "graph", "Soft_max", "velani", "velani-test", "decoder", "LAS", "ner")
    for source in latex_tables(renamed(DOCUMENTS[kind], dict.fromkeys(used, hostile))).values():
        check(source)


def test_scores_have_the_best_in_bold_and_their_intervals() -> None:
    (source,) = latex_tables(documents.scores({"a_b": 0.8, "c": 0.75, "d": None})).values()
    assert rows_of(source) == [
        ["file", "LAS", "95 % interval"],
        ["a_b", "80.00", "[70.00, 90.00]"],
        ["c", "75.00", "[65.00, 85.00]"],
        ["d", "-", "-"],
    ]
    assert cell_of(source, "80.00") == r"\textbf{80.00}"
    assert cell_of(source, "75.00") == "75.00"
    assert "differences were not tested" in source


def test_scores_by_group_have_the_best_of_every_group_in_bold() -> None:
    rows = [
        {"file": file, "metric": "UPOS", "group": group, "value": value, "low": 0.1, "high": 0.9}
        for file, group, value in (("x", "web", 0.9), ("x", "news", 0.7), ("y", "web", 0.8), ("y", "news", 0.75))
    ]
    (source,) = latex_tables({"kind": "score", "scores": rows, "by": "genre"}).values()
    assert rows_of(source)[0] == ["file", "genre", "UPOS"]
    bold = [cell_of(source, value).startswith(r"\textbf") for value in ("90.00", "70.00", "80.00", "75.00")]
    assert bold == [True, False, False, True]


def test_numbers_of_a_comparison_are_those_of_the_result() -> None:
    gold = deadheat.read(text="a_X b_Y c_Z d_W\n" * 30)
    good = deadheat.read(text="a_X b_Y c_Z d_X\n" * 30)
    bad = deadheat.read(text="a_X b_Y c_X d_X\n" * 20 + "a_X b_Y c_Z d_X\n" * 10)
    found = deadheat.compare(gold, {"good": good, "bad": bad})
    systems, pairs = check(found.to_latex()).tables
    assert systems[1][:2] == ["good", f"{100 * found.systems[0].value:.2f}"]
    assert systems[2][:2] == ["bad", f"{100 * found.systems[1].value:.2f}"]
    (pair,) = found.pairs
    low, high = (f"{100 * bound:.2f}" for bound in pair.interval.bounds)
    assert pairs[1] == ["good vs. bad", f"{100 * pair.difference:+.2f}", f"[{low}, {high}]", "<0.0001", "<0.0001"]
    assert pair.p_corrected < 0.0001


def test_who_is_tied_with_the_best_is_marked_and_the_mark_explained() -> None:
    """A is best; B is not told from it (p 0.2), C is (p 0.01). Only B gets a dagger, only A is bold."""
    p = {("A", "B"): 0.2, ("A", "C"): 0.01, ("B", "C"): 0.03}
    systems, pairs = latex_tables(documents.comparison({"C": 0.7, "B": 0.89, "A": 0.9}, p, tied=["A", "B"])).values()
    assert [row[0] for row in rows_of(systems)] == ["system", "A", "B", "C"]
    assert cell_of(systems, "90.00") == r"\textbf{90.00}"
    assert cell_of(systems, "89.00") == r"89.00\rlap{$^{\dagger}$}"
    assert cell_of(systems, "70.00") == "70.00"
    assert r"$^{\dagger}$: not significantly different from it" in systems
    assert "exact permutation test by sentence, p-values corrected by Holm's method for 3 tests, alpha 0.05" in systems
    assert cell_of(pairs, "0.2000") == "0.2000"
    assert cell_of(pairs, "0.0100") == r"0.0100\rlap{$^{*}$}"
    assert "$^{*}$: significant at alpha 0.05" in pairs


def test_what_reads_the_same_as_the_best_is_bold_too() -> None:
    scores = {"A": 0.90004, "B": 0.90001, "C": 0.8}
    p = {("A", "B"): 0.9, ("A", "C"): 0.01, ("B", "C"): 0.01}
    systems = latex_tables(documents.comparison(scores, p, tied=["A", "B"]))["systems"]
    assert systems.count(r"\textbf{90.00}") == 2
    assert systems.count(r"\textbf{90.00}\rlap{$^{\dagger}$}") == 1


def test_a_best_that_is_tied_with_nobody_has_no_dagger_to_explain() -> None:
    systems = latex_tables(documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.01}, tied=["A"]))["systems"]
    assert "dagger" not in systems
    assert "every other is significantly different from it" in systems


def test_nothing_significant_is_said() -> None:
    pairs = latex_tables(documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.5}, tied=["A", "B"]))["pairs"]
    assert "None is significant at alpha 0.05" in pairs
    assert "*}" not in pairs.partition(r"\caption")[0].replace("table*}", "")


def test_a_test_that_speaks_for_the_lower_score_is_marked_otherwise() -> None:
    found = documents.comparison({"A": 0.9, "B": 0.8}, {("A", "B"): 0.01}, tied=["A"])
    found["pairs"][0]["winner"] = "B"
    pairs = latex_tables(found)["pairs"]
    assert cell_of(pairs, "0.0100") == r"0.0100\rlap{$^{\ddagger}$}"
    assert "in favour of the one with the lower score" in pairs


def test_scores_of_a_table_stay_on_their_scale() -> None:
    more = {"scale": 1.0, "unit": "data set", "metric": "mean score"}
    p = {("A", "B"): 0.5}
    points = documents.comparison({"A": 78.0125, "B": 77.4}, p, tied=["A", "B"], **more)
    assert rows_of(latex_tables(points)["systems"])[1][1] == "78.01"
    shares = documents.comparison({"A": 0.780125, "B": 0.774}, p, tied=["A", "B"], **more)
    assert rows_of(latex_tables(shares)["systems"])[1][1] == "0.7801"


def test_ranks_have_the_highest_score_and_the_lowest_mean_rank_in_bold() -> None:
    (source,) = latex_tables(documents.ranking()).values()
    assert rows_of(source)[1:] == [
        ["graph", "80.10", "1", "2", "1.20", "1.0", "0.40", "80.0"],
        ["labels", "79.00", "1", "2", "1.80", "2.0", "0.40", "100.0"],
        ["rules", "60.50", "3", "3", "3.00", "3.0", "0.00", "-"],
    ]
    assert cell_of(source, "80.10").startswith(r"\textbf")
    assert cell_of(source, "1.20").startswith(r"\textbf")
    assert source.count(r"\textbf") == 2
    assert "over all subsets of 2 of 5 data sets" in source


def test_ranks_that_were_proved_take_the_place_of_those_that_were_seen() -> None:
    def extreme(rank: int, *, proved: bool = True) -> Document:
        return {"rank": rank, "bound": rank, "proved": proved, "gap": 0, "subset": []}

    rows = [("graph", 1, 3), ("labels", 1, 2), ("rules", 2, 3)]
    extremes = [{"system": name, "best": extreme(a), "worst": extreme(b, proved=b < 3)} for name, a, b in rows]
    (source,) = latex_tables(documents.ranking(design="free", exact={"subsets": 10, "extremes": extremes})).values()
    assert [row[2:4] for row in rows_of(source)[1:]] == [["1", "3"], ["1", "2"], ["2", "3"]]
    assert source.count(r"3\rlap{$^{*}$}") == 2
    assert "not proved" in source
    assert "10 subsets of 2" in source


def test_numbers_of_a_ranking_are_those_of_the_result() -> None:
    table = {"A": {"en": 90, "de": 80, "fi": 70}, "B": {"en": 80, "de": 80, "fi": 71}}
    found = deadheat.rank(table, subset_size=2)
    (rows,) = check(found.to_latex()).tables
    # Of the three pairs of data sets A is ahead on en+de and en+fi, and B on de+fi.
    assert rows[1] == ["A", "80.00", "1", "2", "1.33", "1.0", "0.47", "66.7"]
    assert rows[2] == ["B", "77.00", "1", "2", "1.67", "2.0", "0.47", "-"]


def test_seeds_have_the_best_mean_in_bold_and_ties_by_the_test() -> None:
    runs = {"B": (5, 0.890, 0.01), "A": (5, 0.900, 0.02), "C": (4, 0.850, 0.01), "D": (1, 0.840, None)}
    p = {("B", "A"): 0.3, ("A", "C"): 0.02, ("A", "D"): 0.4, ("B", "C"): 0.02, ("B", "D"): 0.4, ("C", "D"): 0.4}
    systems, pairs = latex_tables(documents.seeds(runs, p)).values()
    assert rows_of(systems)[1:] == [
        ["A", "5", "89.00", "90.00", "91.00", "90.00", "2.00"],
        ["B", "5", "88.00", "89.00", "90.00", "89.00", "1.00"],
        ["C", "4", "84.00", "85.00", "86.00", "85.00", "1.00"],
        ["D", "1", "83.00", "84.00", "85.00", "84.00", "-"],
    ]
    assert systems.count(r"\textbf{90.00}") == systems.count(r"\textbf") == 1
    assert r"89.00\rlap{$^{\dagger}$} & 1.00" in systems
    assert r"84.00\rlap{$^{\dagger}$} & -" in systems
    assert systems.count(r"\rlap") == 2
    assert "Mann-Whitney's test, p-values corrected by Holm's method for 6 tests, alpha 0.05" in systems
    assert r"0.0200\rlap{$^{*}$}" in pairs
    assert "too few runs" in pairs


def test_contrasts_mark_options_that_are_not_told_from_the_best() -> None:
    (source,) = latex_tables(documents.contrasts()).values()
    assert rows_of(source) == [
        ["task", "configurations", "CRF", "Soft_max", "none"],
        ["ner", "20", "55.0%", "35.0%", "10.0%"],
        ["", "", "", "-0.12", "-2.00"],
    ]
    assert cell_of(source, "55.0%") == r"\textbf{55.0\%}"
    assert cell_of(source, "35.0%") == r"35.0\%\rlap{$^{\dagger}$}"
    assert cell_of(source, "10.0%") == r"10.0\%"
    assert "p-values corrected for all pairs of options" in source


def test_that_p_values_of_options_were_corrected_is_said_only_if_they_were() -> None:
    found = documents.contrasts()
    for pair in found["blocks"][0]["pairs"]:
        pair["sign_p"] = pair["sign_p_corrected"]
    (source,) = latex_tables(found).values()
    assert "corrected" not in source


def test_the_smallest_size_that_is_enough_is_in_bold() -> None:
    (source,) = latex_tables(documents.sizes()).values()
    assert rows_of(source) == [
        ["test set", "way", "100", "500"],
        ["velani-test", "seq", "0.500", "0.900"],
        ["velani-test", "rand", "0.800", "0.950"],
    ]
    assert cell_of(source, "0.950") == r"\textbf{0.950}"
    assert source.count(r"\textbf") == 1
    assert "mean of 1 draw of seq, 100 draws of rand" in source


def over(splits: int, **more: Any) -> Document:
    systems = [documents.standing("A", 0.9312, splits, sd=0.004), documents.standing("B", 0.93, splits, sd=0.003)]
    systems += [documents.standing("C", 0.8, splits, sd=0.01)]
    systems += [documents.standing(name, 0.5, splits, metric="unknown.v1") for name in ("B", "A", "C")]
    pairs = [
        documents.over_splits("A", "B", 0.0012, splits=splits, ahead=splits - 1, **more),
        documents.over_splits("A", "C", 0.1312, splits=splits, ahead=splits, significant=splits, p=0.0001),
        documents.over_splits("B", "C", 0.13, splits=splits, ahead=splits, significant=splits, p=0.0001),
    ]
    return documents.study([documents.block(systems, pairs, splits=splits)])


def test_a_study_counts_the_splits_on_which_the_best_is_significantly_better() -> None:
    systems, pairs = latex_tables(over(20, significant=13, reversed=1)).values()
    assert rows_of(systems) == [
        ["system", "Accuracy (upos)", "SD", "Unknown words (upos)", "worse"],
        ["A", "93.12", "0.40", "50.00", ""],
        ["B", "93.00", "0.30", "50.00", "13 of 20"],
        ["C", "80.00", "1.00", "50.00", "20 of 20"],
    ]
    assert cell_of(systems, "93.12") == r"\textbf{93.12}"
    assert cell_of(systems, "93.00") == r"93.00\rlap{$^{\ddagger}$}"
    assert cell_of(systems, "80.00") == "80.00"
    assert rows_of(pairs)[1] == ["A vs. B", "+0.12", "19 of 20", "13 of 20", "1 of 20", "0.5000", "0.5000"]
    assert "corrected by Bonferroni's method for 20 splits, not for the 3 pairs" in pairs


def test_a_system_that_no_split_tells_from_the_best_is_marked() -> None:
    systems = latex_tables(over(20))["study-velani-random-test"]
    assert cell_of(systems, "93.00") == r"93.00\rlap{$^{\dagger}$}"
    assert "on no split significantly different from the best" in systems


def test_a_system_that_is_better_than_the_best_on_some_split_is_not_called_tied() -> None:
    systems = latex_tables(over(20, significant=0, reversed=2))["study-velani-random-test"]
    assert cell_of(systems, "93.00") == r"93.00\rlap{$^{\ddagger}$}"
    assert r"$^{\dagger}$" not in systems
    assert r"$^{\ddagger}$: on some split significantly better than the best by mean." in systems


def test_a_system_whose_first_seed_is_better_than_the_best_and_one_without_a_test_have_marks_of_their_own() -> None:
    systems = [documents.standing(name, mean, 3, sd=0.01) for name, mean in (("A", 0.9), ("B", 0.8), ("C", 0.7))]
    pairs = [documents.over_splits("B", "A", 0.02, splits=1, ahead=1, significant=1, p=0.001)]
    found = documents.study([documents.block(systems, pairs, splits=1, split="standard.v1")])
    source = latex_tables(found)["study-velani-standard-test"]
    assert [cell_of(source, each) for each in ("90.00", "80.00", "70.00")] == [
        r"\textbf{90.00}", r"80.00\rlap{$^{\ddagger}$}", r"70.00\rlap{$^{\circ}$}"
    ]  # fmt: skip
    assert r"$^{\ddagger}$: significantly better than the best by mean by its first seed." in source
    assert r"$^{\circ}$: not tested against the best." in source
    assert r"$^{\dagger}$" not in source


def test_blocks_that_differ_only_in_the_seed_of_the_split_have_captions_that_differ() -> None:
    systems = [documents.standing("A", 0.9, 2, sd=0.01), documents.standing("B", 0.8, 2, sd=0.01)]
    pair = documents.over_splits("A", "B", 0.1, splits=2, ahead=2)
    tables = latex_tables(documents.study([documents.block(systems, [pair], splits=2, seed=seed) for seed in (0, 1)]))
    captions = [re.search(r"\\caption\{.*", source)[0] for source in tables.values()]  # type: ignore[index]
    assert len(set(captions)) == len(captions) == 4
    assert ["(seed 0)" in each for each in captions] == [True, True, False, False]
    assert ["(seed 1)" in each for each in captions] == [False, False, True, True]


def test_systems_of_different_first_metrics_have_tables_of_their_own() -> None:
    taggers = [documents.standing("T1", 0.95, 1), documents.standing("T2", 0.94, 1)]
    parsers = [documents.standing("P1", 0.85, 1, metric="las.v1"), documents.standing("P2", 0.84, 1, metric="las.v1")]
    pairs = [documents.over_splits(a, b, 0.01, splits=1, ahead=1) for a, b in (("T1", "T2"), ("P1", "P2"))]
    pairs[1]["test"] = "randomization"
    found = documents.study([documents.block([*taggers, *parsers], pairs, splits=1, split="standard.v1")])
    tables = latex_tables(found)
    assert [[row[0] for row in rows_of(each)[1:]] for each in tables.values()] == [
        ["T1", "T2"], ["T1 vs. T2"], ["P1", "P2"], ["P1 vs. P2"]
    ]  # fmt: skip
    assert rows_of(tables["study-velani-standard-test-las"])[0] == ["system", "LAS", "95 % interval"]
    pairs_of_parsers = tables["study-pairs-velani-standard-test-las"]
    assert "differences in LAS" in pairs_of_parsers
    assert "Accuracy" not in pairs_of_parsers
    assert "Approximate randomization on sentences, p-values of a single test" in pairs_of_parsers
    assert "McNemar's test (mid-p) on words" in tables["study-pairs-velani-standard-test-accuracy-upos"]


def test_nearly_all_subsets_are_not_all() -> None:
    found = documents.ranking()
    found["pairs"][0] |= {"p_a": 0.9996, "p_b": 0.0004}
    found["pairs"][2] |= {"p_a": 0.0004}
    (source,) = latex_tables(found).values()
    assert [row[-1] for row in rows_of(source)[1:]] == [">99.9", "<0.1", "-"]


def test_one_split_has_intervals_and_one_p_value() -> None:
    pair = documents.over_splits("A", "B", 0.02, splits=1, ahead=1, p=0.7)
    systems = [documents.standing("A", 0.92, 1), documents.standing("B", 0.90, 1)]
    found = documents.study([documents.block(systems, [pair], splits=1, split="standard.v1")])
    standings, pairs = latex_tables(found).values()
    assert rows_of(standings)[1:] == [["A", "92.00", "[90.00, 94.00]"], ["B", "90.00", "[88.00, 92.00]"]]
    assert cell_of(standings, "90.00") == r"90.00\rlap{$^{\dagger}$}"
    assert r"The 95 \% interval is Wilson's, which takes words for independent." in standings
    assert rows_of(pairs) == [["systems", "difference", "p"], ["A vs. B", "+2.00", "0.7000"]]
    assert "None is significant" in pairs


def test_a_study_without_a_score_shows_a_dash() -> None:
    systems = [documents.standing("A", 0.92, 1), documents.standing("B", None, 0)]
    (source,) = latex_tables(documents.study([documents.block(systems, [], splits=1)])).values()
    assert rows_of(source)[2] == ["B", "-", "-"]


def test_a_part_that_was_trained_on_is_told_in_the_caption() -> None:
    note = "dev was used in training A, so that scores on it are too good to compare by"
    found = documents.study(
        [documents.block([documents.standing("A", 0.9, 1)], [], splits=1, part="dev")], notes=[note]
    )
    (source,) = latex_tables(found).values()
    assert "Dev was used in training A" in source


def test_wide_tables_take_both_columns() -> None:
    (narrow,) = latex_tables(documents.scores({"a": 0.8, "b": 0.7})).values()
    (wide,) = latex_tables(documents.scores({"a" * 60: 0.8, "b": 0.7})).values()
    (wider,) = latex_tables(documents.scores({"a" * 200: 0.8, "b": 0.7})).values()
    assert r"\begin{table}" in narrow
    assert r"\begin{table*}" in wide
    assert "wider than a page" not in wide
    assert "wider than a page" in wider


def test_names_from_right_to_left_are_told_in_a_comment() -> None:
    (source,) = latex_tables(documents.scores({"שלום": 0.8, "b": 0.7})).values()
    assert "% Has names written from right to left" in source
    assert "right to left" not in next(iter(latex_tables(documents.scores({"汉字": 0.8, "b": 0.7})).values()))


def test_tables_of_one_name_get_numbers_in_files_and_labels() -> None:
    found = documents.scores({"a": 0.8, "b": 0.7})
    made = latex_tables(found, found)
    assert list(made) == ["scores", "scores-2"]
    assert r"\label{tab:scores-2}" in made["scores-2"]


def test_what_the_numbers_depend_on_is_quoted_in_one_line() -> None:
    found = documents.scores({"a": 0.8, "b": 0.7}) | {"signature": "deadheat 0.1.0 | evil\n\\input{x} | seed 0"}
    (source,) = latex_tables(found).values()
    assert source.startswith("% deadheat 0.1.0 | evil \\input{x} | seed 0\n% Needs")


@pytest.mark.parametrize("kind", ["power", "split", "ledger"])
def test_some_kinds_have_no_table(kind: str) -> None:
    keys = {"difference": 0.1, "units": 3, "alpha": 0.05, "power": 0.8}
    assert latex_tables({"kind": kind, **keys}) == {}


def test_a_document_of_unknown_kind_is_refused() -> None:
    with pytest.raises(NameUnknown, match=r"kind of document 'scores' is unknown; did you mean 'score'\?"):
        latex_tables({"kind": "scores", "scores": []})
    with pytest.raises(InputError, match="a document without a kind; expected what a command prints with --json"):
        latex_tables({"scores": []})
    with pytest.raises(InputError, match="a document of kind study without blocks, alpha; expected what deadheat run"):
        latex_tables({"kind": "study", "correction": "holm"})
