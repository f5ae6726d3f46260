"""Damaged files with predictions: tables of labels, columns side by side, answers to questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deadheat.cli.main import main
from tests.fuzz.mutations import mutate

ROWS = [(f"q{i}", "abc"[i % 3], "abc"[i * i % 3], "abc"[i % 2]) for i in range(24)]
FILES = {
    "gold.tsv": "id\tdocument\tlabel\n" + "".join(f"{row[0]}\td{i // 4}\t{row[1]}\n" for i, row in enumerate(ROWS)),
    "a.tsv": "id\tprediction\n" + "".join(f"{row[0]}\t{row[2]}\n" for row in ROWS),
    "b.csv": '"id","label"\n' + "".join(f'"{row[0]}","{row[3]}"\n' for row in ROWS),
    "c.jsonl": "".join(json.dumps({"id": row[0], "label": row[2]}) + "\n" for row in ROWS),
    "all.csv": "id,gold,A,B\n" + "".join(",".join(row) + "\n" for row in ROWS),
    "x.txt": "".join(f"w{i} N B-{row[1]} B-{row[2]}\n" + "\n" * (i % 4 == 3) for i, row in enumerate(ROWS)),
    "y.txt": "".join(f"w{i} N B-{row[1]} I-{row[3]}\n" + "\n" * (i % 4 == 3) for i, row in enumerate(ROWS)),
    "dev.json": json.dumps(
        {
            "data": [
                {"title": "T", "paragraphs": [{"qas": [{"id": row[0], "answers": [{"text": row[1]}]}]}]} for row in ROWS
            ]
        },
        indent=1,
    ),
    "p.json": json.dumps({row[0]: f"the {row[2]} {row[1]}" for row in ROWS}, indent=0),
    "q.json": json.dumps([{"id": row[0], "prediction_text": row[3]} for row in ROWS]),
}
COMMANDS = (
    "score gold.tsv a.tsv b.csv c.jsonl",
    "score gold.tsv a.tsv --errors zero --interval bootstrap --resamples 20",
    "score all.csv --predicted A --predicted B",
    "compare gold.tsv A=a.tsv B=b.csv C=c.jsonl -m macro-f1",
    "compare gold.tsv A=a.tsv B=c.jsonl -m mcc --unit item --errors zero",
    "score x.txt --predicted -1",
    "score x.txt y.txt --predicted 4 --gold 3",
    "score x.txt y.txt",
    "compare A=x.txt B=y.txt --predicted -1",
    "score dev.json p.json q.json",
    "compare dev.json A=p.json B=q.json --unit title",
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_damaged_predictions_are_read_or_refused(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    codes = []
    for number in range(100):
        rng = np.random.default_rng([seed, number])
        command = COMMANDS[number % len(COMMANDS)]
        used = [word.rpartition("=")[2] for word in command.split() if word.rpartition("=")[2] in FILES]
        damaged = str(rng.choice(used))
        for name in used:
            Path(name).write_text(FILES[name])
        Path(damaged).write_bytes(mutate(FILES[damaged].encode(), rng))
        capsys.readouterr()
        code = main(command.split())
        printed = capsys.readouterr()
        what = f"seed {seed}, input {number}, {damaged} of {command}: {printed.err[-1000:]}"
        assert code in (0, 2), what
        assert "bug in Deadheat" not in printed.err, what
        assert "Traceback" not in printed.err, what
        assert code == 0 or (not printed.out and printed.err.count("\n") <= 12), what
        codes.append(code)
    assert 10 < codes.count(2) < 90
