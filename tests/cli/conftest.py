from __future__ import annotations

from pathlib import Path

import pytest

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
