"""What was run for a study, what failed and why, and where systems agree, as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.pages.disagreement import disagreement
from deadheat.pages.search_told import failed_finals, trained_again
from deadheat.pages.section import Section, Table
from deadheat.pages.study_told import Row, Told, over, way
from deadheat.pages.wording import NONE, listed, shown
from deadheat.questions.search_names import failed_systems, searched
from deadheat.study.plan.cells import DONE
from deadheat.text import pluralize

MOST_SENTENCES = 4
MOST_ROWS = 20  # of a table that is not folded
MOST_FAILURES = 100  # that are listed
MOST_REASON = 300  # characters of why a cell failed
VERSIONS = ("deadheat", "python", "numpy", "scipy", "numba")


def agreement_section(told: Told) -> Section | None:
    """How far systems agree, and the sentences of the first test set on which they do not; None without systems."""
    blocks = [block for part in told.parts for block in told.blocks if block["part"] == part and block["agreement"]]
    if not blocks:
        return None
    rows, said = [], []
    for block in blocks:
        for labels, found in _by_labels(block).items():
            alpha, oracle, majority = (_mean(found, name) for name in ("alpha", "oracle", "majority"))
            shares = (shown(each, scale=100) for each in (oracle, majority))
            rows.append((block["corpus"], block["part"], way(block), labels, shown(alpha, decimals=3), *shares))
            if block is blocks[0]:
                said.append(
                    f"On {block['part']} of {block['corpus']}, {over(block)}, Krippendorff's alpha of all systems on "
                    f"{labels} is {shown(alpha, decimals=3)} (1: all say the same, 0: they agree as if by chance), and "
                    f"some system is right on {shown(oracle, scale=100)} % of the words."
                )
    first = blocks[0]["agreement"][0]
    figures = disagreement({**first, "sentences": first["sentences"][:MOST_SENTENCES]}).figures
    drawn = tuple(each.named(f"study-disagreement-{place}") for place, each in enumerate(figures, start=1))
    if drawn:
        where = f"{blocks[0]['corpus']}, {blocks[0]['part']}, split {blocks[0]['numbers'][0]}"
        said.append(
            f"The sentences are those of {where}, on which the systems agree least; labels that differ from gold are "
            "marked. They are no fair sample of the text."
        )
    header = ("corpus", "part", "split", "labels", "alpha", "some system right %", "vote right %")
    table = Table(header, tuple(rows), left=4, folded=len(rows) > MOST_ROWS, caption="Means over splits.")
    return Section(
        "Where the systems agree", tuple(said), drawn, (table,), ("First seeds are compared, over all words.",)
    )


def _by_labels(block: Row) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for each in block["agreement"]:
        found.setdefault(each["labels"], []).append(each)
    return found


def _mean(rows: Sequence[Row], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) / len(known) if known else None


def runs_section(told: Told) -> Section:
    """Corpora, splits, systems with their settings and seeds, what each took, and all that is missing."""
    document = told.document
    failures = _failures(told)
    said = [*_cells_text(told, failures), *_time_text(told)]
    damaged = len(document.get("damaged", ()))
    if damaged:
        said.append(f"The predictions of {pluralize(damaged, 'cell')} are gone or changed; they are left out of pairs.")
    tables = [*_corpora(told), *_strategies(told), _systems(told), *_failure_table(failures), *_machines(told)]
    signature = f"study {document.get('study', '')}" if document.get("study") else ""
    notes = (*(str(note) for note in document.get("notes", ())), *([signature] if signature else []))
    return Section("What was run", tuple(said), (), tuple(each for each in tables if each.rows), notes)


def _cells_text(told: Told, failures: Sequence[Mapping[str, Any]]) -> list[str]:
    cells, missing = told.document.get("cells"), told.document.get("missing", 0)
    if cells is None:
        done = 0 if told.runs is None else told.runs.filter(status=DONE).height
        text = f"The study did not come to its end: {pluralize(done, 'cell')} done" + (
            f", {len(failures):,} failed" if failures else ""
        )
        return [f"{text}. Nothing was tested."]
    searches = told.document.get("searches") or ()
    said = [_searched_text(each) for each in searches]
    if not cells and searches:
        return said
    failed = len(failed_systems({**told.document, "failed": failures}))
    never = max(missing - failed, 0)
    parts = [f"{cells - missing:,} are done", *([f"{failed:,} failed"] if failed else [])]
    parts += [f"{never:,} were not run"] if never else []
    return [f"Of {pluralize(cells, 'cell')}, each one training with its predictions, {listed(parts)}.", *said]


def _searched_text(search: Row) -> str:
    failed = f" ({search['failed']:,} more failed)" if search["failed"] else ""
    networks = f"{pluralize(search['trained'], 'network')}{failed} of {pluralize(search['settings'], 'setting')}"
    finals = f", and then those of its winners{failed_finals(search)}" if trained_again(search) else ""
    return f"The search of {search['label']} took {networks}{finals}."


def _time_text(told: Told) -> list[str]:
    if told.runs is None or not told.runs.height:
        return []
    hours = float(told.runs["cpu_s"].sum()) / 3600
    shown_hours = f"{hours:,.1f} hours" if hours >= 1 else f"{60 * hours:,.1f} minutes"
    start = told.runs["started"].min()
    when = f", the first begun {str(start)[:16]} (UTC)" if start is not None else ""
    return [f"All that ran took {shown_hours} of CPU{when}."]


def _failures(told: Told) -> list[Mapping[str, Any]]:
    """Cells that came to nothing: those that the document names or, where it names none, those of the store."""
    listed_ones = told.document.get("failed")
    if listed_ones is not None or told.runs is None:
        return list(listed_ones or ())
    import polars as pl

    failed = told.runs.filter(pl.col("status") != DONE)
    names = told.labels
    if names:
        failed = failed.filter(pl.col("system").is_in([*names, *names.values()]))
    return [row | {"system": names.get(row["system"], row["system"])} for row in failed.iter_rows(named=True)]


def _failure_table(failures: Sequence[Mapping[str, Any]]) -> list[Table]:
    rows = []
    for each in failures[:MOST_FAILURES]:
        reason = " ".join(str(each["error"]).split())
        reason = reason if len(reason) <= MOST_REASON else f"{reason[:MOST_REASON]}…"
        place = f"{way({'split': each['split'], 'seed': 0})} {each['number']}"
        rows.append((each["system"], each["corpus"], place, str(each["seed"]), each["status"], reason or NONE))
    few = f"The first {MOST_FAILURES} of {len(failures):,} cells that failed." if len(failures) > MOST_FAILURES else ""
    header = ("system", "corpus", "split", "seed", "how it ended", "why")
    caption = few or "Cells that failed."
    return [Table(header, tuple(rows), left=6, caption=caption, folded=len(rows) > MOST_ROWS)] if rows else []


def _corpora(told: Told) -> list[Table]:
    rows = [
        (each["corpus"], f"{each['sentences']:,}", f"{each['words']:,}") for each in told.document.get("corpora", ())
    ]
    rows = rows or [(corpus, NONE, NONE) for corpus in told.corpora]
    return [Table(("corpus", "sentences", "words"), tuple(rows), folded=len(rows) > MOST_ROWS)]


def _strategies(told: Told) -> list[Table]:
    rows = [(each["split"], f"{each['times']:,}", str(each["seed"])) for each in told.document.get("strategies", ())]
    return [Table(("split", "times", "seed"), tuple(rows))] if rows else []


def _systems(told: Told) -> Table:
    """Systems with their settings and seeds, and what a cell of each took."""
    took = _took(told)
    seeds = told.document.get("seeds") or {}
    known = {label: name for name, label in told.labels.items()} or {
        each["system"]: NONE for block in told.blocks for each in block["systems"]
    }
    rows = []
    for label, name in known.items():
        own = took.get(label, {})
        cells = [f"{own.get('done', 0):,}", f"{own.get('failed', 0):,}"] if took else []
        time = [shown(own.get("cpu_s"), decimals=1), shown(own.get("peak_mb"), decimals=0)] if took else []
        rows.append((label, name, _seeds(seeds.get(label, ())), *cells, *time))
    rows += [_searched_row(each, took) for each in told.document.get("searches") or ()]
    more = ("done", "failed", "CPU seconds a cell", "peak MB") if took else ()
    return Table(
        ("system", "name with settings", "seeds", *more), tuple(rows), left=3, folded=len(rows) > 2 * MOST_ROWS
    )


def _searched_row(search: Row, took: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """A system whose settings were searched, with what a network took."""
    label = searched(search["label"])
    settings = f"{pluralize(search['settings'], 'setting')} of {listed(search['varied'])}"
    if not took:
        return label, settings, _seeds(search["seeds"])
    own = took.get(label, {})
    spent = (shown(own.get("cpu_s"), decimals=1), shown(own.get("peak_mb"), decimals=0))
    return (label, settings, _seeds(search["seeds"]), f"{own.get('done', 0):,}", f"{own.get('failed', 0):,}", *spent)


def _seeds(seeds: Sequence[int]) -> str:
    """Seeds, as a range where they are one."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return listed(map(str, seeds), most=12) or NONE


def _took(told: Told) -> dict[str, dict[str, float]]:
    if told.runs is None or not told.runs.height:
        return {}
    import polars as pl

    done = pl.col("status") == DONE
    grouped = told.runs.group_by("system").agg(
        done.sum().alias("done"),
        (~done).sum().alias("failed"),
        pl.col("cpu_s").filter(done).mean(),
        pl.col("peak_mb").filter(done).max(),
    )
    rows = grouped.iter_rows(named=True)
    return {told.labels.get(row["system"], row["system"]): row for row in rows}


def _machines(told: Told) -> list[Table]:
    """What runs were made with, each way once."""
    rows = []
    for each in told.document.get("provenance", ()):
        versions = ", ".join(f"{name} {each[name]}" for name in VERSIONS if each.get(name))
        revision = str(each.get("revision", ""))[:12]
        changed = " (changed)" if each.get("changed") else ""
        machine = f"{each.get('platform', NONE)}, {pluralize(int(each.get('processors') or 0), 'processor')}"
        rows.append(
            (
                str(each.get("host", NONE)),
                str(each.get("user", NONE)),
                machine,
                versions,
                f"{revision}{changed}" or NONE,
            )
        )
    header = ("host", "user", "machine", "versions", "revision")
    return [Table(header, tuple(rows), left=5, caption="What it ran on.", folded=len(rows) > 3)] if rows else []
