"""Power on a terminal."""

from __future__ import annotations

import math

from deadheat.stats.power import Power
from deadheat.terminal.tables import table


def power_text(found: Power) -> str:
    """What a test set of this size can show, and what it would take."""
    rows = [
        ["difference", f"{100 * found.difference:+.2f} points"],
        ["units", f"{found.units:,}"],
        [f"power at alpha {found.alpha:g}", f"{found.power:.3f}"],
        ["power, simulated", "-" if math.isnan(found.simulated) else f"{found.simulated:.3f}"],
        [
            f"smallest difference with power {found.target:g}",
            "none" if math.isnan(found.smallest) else f"{100 * found.smallest:.2f} points",
        ],
        [
            f"units needed for power {found.target:g}",
            "no number is enough" if math.isinf(found.needed) else f"{found.needed:,.0f}",
        ],
    ]
    return table(["", ""], rows).lstrip("\n")
