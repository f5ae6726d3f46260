"""A few hundred damaged inputs; `python -m tests.fuzz --inputs 20000` runs many."""

from __future__ import annotations

import pytest

from tests.fuzz.campaign import run_campaign


@pytest.mark.slow
def test_damaged_inputs_are_read_or_refused() -> None:
    campaign = run_campaign(600)
    assert campaign.inputs == 600
    assert not campaign.failures, str(campaign)
    assert 100 < campaign.refused < 550
