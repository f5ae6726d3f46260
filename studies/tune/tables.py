"""What the searches found, as Markdown: tables 1 and 3 of the paper with our systems, and the winners.

python -m studies.tune.tables [STUDY.json ...]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from studies.markdown import table

FOLDER = Path(__file__).parent
Found = Mapping[str, Any]


def compared(found: Found) -> str:
    """Table 1: in how many settings winners differ, and how they do on test."""
    setups, several = found["setups"], len(found["varied"])
    rows = [
        [each["corpus"], f"{each['differing']} of {several}", *_of(each, setups, "test", "{:.2f}"), f"{each['p']:.2f}",
         f"{each['p_corrected']:.2f}"]
        for each in found["datasets"]
    ]  # fmt: skip
    test = _between(found, "test")
    rows.append(["mean", "", *(f"{test[name]:.2f}" for name in ("first", "second")), f"{test['p']:.2f}", ""])
    return table(["data set", "differ", *(f"test, epoch by {name}" for name in setups), "p", "corrected"], rows)


def gaps(found: Found) -> str:
    """Table 3: test less dev of the search; and dev less test of the final network."""
    setups = found["setups"]
    names = [*(f"test - dev, epoch by {name}" for name in setups), *(f"optimism, {name}" for name in setups)]
    rows = [
        [each["corpus"], *_of(each, setups, "gap", "{:+.2f}"), *_of(each, setups, "optimism", "{:+.2f}")]
        for each in found["datasets"]
    ]
    ends = [_between(found, "gap"), _between(found, "optimism")]
    rows.append(["mean", *(f"{end[name]:+.2f}" for end in ends for name in ("first", "second"))])
    for name, kind in (("p by swaps", "p"), ("p by bootstrap", "p_bootstrap")):
        rows.append([name, *(cell for end in ends for cell in (f"{end[kind]:.4f}", ""))])
    return table(["data set", *names], rows)


def winners(found: Found) -> str:
    """Which settings won in each setup, with their score on dev in the search."""
    rows = []
    for each in found["datasets"]:
        told = []
        for winner in _winners(each, found["setups"]):
            settings = ", ".join(f"{name} {value}" for name, value in winner["settings"].items())
            told.append(f"{settings} ({100 * winner['searched']:.2f})")
        rows.append([each["corpus"], *told])
    return table(["data set", *(f"epoch by {name}" for name in found["setups"])], rows)


def _winners(each: Found, setups: Iterable[str]) -> list[Found]:
    own = {winner["setup"]: winner for winner in each["winners"]}
    return [own[name] for name in setups]


def _of(each: Found, setups: Iterable[str], what: str, shown: str) -> list[str]:
    return [shown.format(100 * winner[what]) for winner in _winners(each, setups)]


def _between(found: Found, what: str) -> Found:
    return next(each for each in found["between"] if each["what"] == what)


def main() -> None:
    """Print them."""
    paths = [Path(each) for each in sys.argv[1:]] or [FOLDER / "tagger.json", FOLDER / "parser.json"]
    for path in paths:
        found = json.loads(path.read_text())
        asked = f"{found['settings']} settings, {found['trained']} networks, {found['looks']} looks at test"
        print(f"\n## {path.stem}: {asked}\n\n{compared(found)}\n\n{gaps(found)}\n\n{winners(found)}")


if __name__ == "__main__":
    main()
