from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.item_files import labels
from tests.cli.running import Commands

GOLD = """\
# newdoc id = weblog-one
# sent_id = weblog-one-1
1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# newdoc id = email-two
# sent_id = email-two-1
1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_

# newdoc id = weblog-three
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

# newdoc id = email-four
1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_

# newdoc id = email-five
1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_

"""


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD, encoding="utf-8")
    return path


@pytest.fixture
def guess(tmp_path: Path) -> Path:
    """One wrong head (the full stop hangs from word 1) and one wrong tag of eight words."""
    path = tmp_path / "guess.conllu"
    text = GOLD.replace("2\tpunct", "1\tpunct").replace("sleep\tsleep\tVERB", "sleep\tsleep\tNOUN")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def classified(tmp_path: Path) -> list[object]:
    """Gold labels and the predictions of two systems."""
    rng = np.random.default_rng(0)
    gold = rng.choice(list("ABC"), 80)
    files: list[object] = [labels(tmp_path / "gold.csv", "label", gold.tolist())]
    for name, rate in {"a": 0.8, "b": 0.5}.items():
        guesses = np.where(rng.random(80) < rate, gold, rng.choice(list("ABC"), 80))
        files.append(f"{name}={labels(tmp_path / f'{name}.csv', 'prediction', guesses.tolist())}")
    return files
