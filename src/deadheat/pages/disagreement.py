"""How far systems agree, and the sentences on which they do not, as a section of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.charts.chart import Figure
from deadheat.charts.sentences import DependencyTree, LabelledSentence, SystemLabels, TagRows
from deadheat.pages.section import Section
from deadheat.pages.wording import shown

MOST_SENTENCES = 5
MOST_SYSTEMS = 6  # under one sentence
TREES = ("head", "head and relation")  # kinds of labels

Sentence = Mapping[str, Any]


def disagreement(agreement: Mapping[str, Any]) -> Section:
    """Agreement, what the systems could reach together, and the sentences they disagree on most."""
    kind = agreement["labels"]
    said = [
        f"Krippendorff's alpha says how far the systems agree on the {kind} of each word: 1 if all say the same, 0 if "
        f"they agree no more often than by chance. Here it is {shown(agreement['alpha'], decimals=4)}.",
        f"At least one system is right on {shown(agreement['oracle'], scale=100)} % of the words: nobody reaches more "
        "by choosing between them.",
    ]
    if agreement["majority"] is not None:
        vote = shown(agreement["majority"], scale=100)
        said.append(f"If each word got the label that most systems give it, {vote} % of the words would be right.")
    sentences = agreement["sentences"][:MOST_SENTENCES]
    if sentences:
        said.append(
            "The sentences are those on which the systems agree least, with the labels of gold and of each system; "
            "labels that differ from gold are marked. They are no fair sample of the text."
        )
    shown_systems = min((len(each["labels"]) for each in sentences), default=0)
    notes = ["Agreement is over all words, also where the metric leaves some out."]
    if shown_systems > MOST_SYSTEMS:
        notes.append(f"Below each sentence are the first {MOST_SYSTEMS} of {shown_systems} systems.")
    figures = tuple(
        Figure(f"compare-disagreement-{i}", _drawn(each, kind)) for i, each in enumerate(sentences, start=1)
    )
    return Section("Where the systems disagree", tuple(said), figures, (), tuple(notes))


def _drawn(sentence: Sentence, kind: str) -> TagRows | DependencyTree:
    systems = tuple(
        SystemLabels(name, tuple(labels)) for name, labels in list(sentence["labels"].items())[:MOST_SYSTEMS]
    )
    title = f"{sentence['place']} (alpha {shown(sentence['alpha'], decimals=3)})"
    labelled = LabelledSentence(tuple(sentence["words"]), tuple(sentence["gold"]), systems)
    return DependencyTree(labelled, title) if kind in TREES else TagRows(labelled, title)
