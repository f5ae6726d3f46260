"""The options of `deadheat run` that make a job of Slurm."""

from __future__ import annotations

import argparse
import os

from deadheat.arguments import given_options, number_above_zero
from deadheat.cli.options import print_lines
from deadheat.errors import InputError
from deadheat.study.cluster.slurm import SlurmJob, submit
from deadheat.study.plan.plan import Plan

SLURM_OPTIONS = ("nodes", "time", "sbatch", "dry_run")
FILES = ("store", "ledger")  # options that are files: relative to where the command runs


def add_slurm_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Slurm")
    group.add_argument("--slurm", action="store_true", help="submit a job that starts Ray and runs the study on it")
    group.add_argument("--nodes", type=number_above_zero, metavar="N", help="nodes of the job (default: 1)")
    group.add_argument("--time", metavar="TIME", help="time limit of the job, such as 4:00:00")
    group.add_argument(
        "--sbatch", action="append", metavar="OPTION", help="another option: --sbatch=--partition=long (repeatable)"
    )
    group.add_argument("--dry-run", action="store_true", help="print the job script, and submit nothing")


def check_slurm_options(arguments: argparse.Namespace) -> None:
    """Refuse options of jobs without a job, and of other clusters with one."""
    if not arguments.slurm:
        for name in SLURM_OPTIONS:
            if getattr(arguments, name) not in (None, False):
                raise InputError(f"--{name.replace('_', '-')} without --slurm; expected both")
    elif arguments.address or arguments.engine:
        raise InputError("--slurm with --engine or --address; expected neither: the job starts a cluster of its own")


def run_on_slurm(plan: Plan, parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Submit a job for a study, or print its script."""
    options = arguments.sbatch or ()
    job = SlurmJob(plan.path, _passed_on(parser, arguments), arguments.nodes or 1, arguments.time or "", options)
    script = job.script()
    if arguments.dry_run:
        print_lines(*script.splitlines())
    else:
        print_lines(submit(script, plan.path.parent))
    return 0


def _passed_on(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[str]:
    """The options of this command that are not for Slurm; the job runs in the folder of the study."""
    absolute = {name: os.path.abspath(file) for name in FILES if (file := getattr(arguments, name))}
    there = argparse.Namespace(**vars(arguments) | absolute)
    return list(given_options(parser, there, without=("slurm", *SLURM_OPTIONS)))
