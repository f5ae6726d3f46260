"""Tables of LaTeX from a search: the winners on test, and how far dev was from it."""

from __future__ import annotations

from deadheat.documents import Document
from deadheat.pages.search_told import between_of, mean_of, names_of, settings_text, winner_of
from deadheat.questions.latex import NONE, Cell, Tabular, escape, fixed, numbers, p_fixed, slug
from deadheat.questions.method_words import metric_words


def search_tables(document: Document) -> list[Tabular]:
    """As tables 1 and 3 of van der Goot (2021); of one setup, the winners alone."""
    if not any(each["winners"] for each in document["datasets"]):
        return []
    return [_compared(document), _gaps(document)] if len(document["setups"]) > 1 else [_winners(document)]


def _winners(document: Document) -> Tabular:
    (setup,) = document["setups"]
    rows: list[tuple[str | Cell, ...]] = []
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        winner = winner_of(each, setup)
        settings = settings_text(winner["settings"]) if winner else NONE
        cells = [fixed(winner[what] if winner else None, scale=100) for what in ("searched", "test")]
        rows.append((name, settings, *numbers(cells)))
    caption = (
        f"The settings of {document['label']} that had the highest {metric_words(document['metric'])} (in percent) on "
        f"{document['setting']}, of {document['settings']}; dev is that of the search. Epochs were picked by {setup}."
    )
    header = ("data set", "winner", "dev", "test")
    return Tabular(slug("search", document["label"]), header, tuple(rows), escape(caption), left=2)


def _compared(document: Document) -> Tabular:
    setups, searched = document["setups"], len(document["varied"])
    rows: list[tuple[str | Cell, ...]] = []
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        shown = [fixed((winner_of(each, setup) or {}).get("test"), scale=100) for setup in setups]
        differ = NONE if each["differing"] is None else f"{each['differing']}/{searched}"
        p = numbers([p_fixed(each[key]) for key in ("p", "p_corrected")])
        rows.append((name, *numbers([differ]), *numbers(shown), *p))
    caption = (
        f"{metric_words(document['metric'])} (in percent) on test of the settings of {document['label']} that won with "
        f"epochs picked by {setups[0]} and by {setups[1]}. Differ: in how many of the searched settings. "
        f"p: paired bootstrap over sentences, and the same corrected by {document['correction']}."
    )
    header = ("data set", "differ", *setups, "p", "corrected")
    return Tabular(slug("search", document["label"]), header, tuple(rows), escape(caption))


def _gaps(document: Document) -> Tabular:
    setups = document["setups"]
    rows: list[tuple[str | Cell, ...]] = []
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        gaps = [(winner_of(each, setup) or {}).get("gap") for setup in setups]
        rows.append((name, *numbers([fixed(gap, scale=100, sign="+") for gap in gaps])))
    if len(rows) > 1:
        means = [fixed(mean_of(document, setup, "gap"), scale=100, sign="+") for setup in setups]
        rows.append(("mean", *numbers(means)))
    over = between_of(document, "gap") or {}
    tested = f" The difference has p = {p_fixed(over['p'])} over data sets." if over.get("p") is not None else ""
    caption = (
        f"Points that test of the final network has above dev of the search, {document['label']} with epochs picked by "
        f"{setups[0]} and by {setups[1]}.{tested}"
    )
    return Tabular(slug("search", document["label"], "gaps"), ("data set", *setups), tuple(rows), escape(caption))
