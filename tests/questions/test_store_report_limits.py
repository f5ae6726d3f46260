"""What a report leaves out because it is too much for a page, or for the time that it may take."""

from __future__ import annotations

from pathlib import Path

from deadheat.questions.store_report import store_report
from deadheat.results.rank import Ranking, SizeStudy
from deadheat.results.runs import Seeds
from tests.questions.report_cases import FakeCell, fake_store, grid
from tests.questions.test_store_report import result_of


def test_more_than_fits_on_a_page_is_left_out_with_a_note(tmp_path: Path) -> None:
    many = store_report(fake_store(tmp_path / "a", grid(2, 7, seeds=2)))
    assert [result.kind for result in many.results] == ["study", "rank", "compare"]
    assert many.notes == (
        "distributions over seeds are shown for at most 6 corpora, and there are 7; deadheat seeds has no such limit",
    )
    wide = store_report(fake_store(tmp_path / "b", grid(9, 1, seeds=2)))
    (block,) = result_of(wide, Seeds).blocks
    assert [row.system for row in block.systems] == [f"s{number:02}" for number in range(8)]
    assert wide.notes == (
        "over seeds, the 8 systems with the highest means of 9 are compared; p-values are corrected for their pairs "
        "alone; deadheat seeds has no such limit",
    )
    crowd = store_report(fake_store(tmp_path / "c", grid(41, 3)))
    assert len(result_of(crowd, Ranking).systems) == 40
    assert crowd.notes[0].startswith("over corpora, the 40 systems with the highest means of 41 are ranked and")


def test_more_than_can_be_sampled_in_time_is_left_out_with_a_note(tmp_path: Path) -> None:
    cells = [
        FakeCell(f"s{system}.v1", f"c{corpus}", 0.9, seed=seed, words=110)
        for system in range(9)
        for corpus in range(7)
        for seed in range(6 if system == corpus == 0 else 2 if corpus == 0 else 1)
    ]
    report = store_report(fake_store(tmp_path / "a", cells))
    assert [test_set.name for test_set in result_of(report, SizeStudy).sets] == [f"c{corpus}" for corpus in range(6)]
    assert [note for note in report.notes if note.startswith(("how much", "almost"))] == [
        "how much test data is enough is computed from 5 runs per system; deadheat size has no such limit",
        "how much test data is enough is computed for the first 6 of 7 corpora; deadheat size has no such limit",
        "almost stochastic order by size of the test set is left out: more than 8 systems",
    ]
