"""Damaged inputs of every reader and command: `python -m tests.fuzz --inputs 20000 --processes 2`."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.campaign import run_campaign


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    campaign = run_campaign(
        arguments.inputs, seed=arguments.seed, start=arguments.start, processes=arguments.processes, log=sys.stderr
    )
    print(campaign)  # noqa: T201
    raise SystemExit(1 if campaign.failures else 0)


if __name__ == "__main__":
    main()
