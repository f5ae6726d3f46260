"""`python -m deadheat` is the command `deadheat`."""

import sys

from deadheat.cli.main import program

if __name__ == "__main__":
    sys.exit(program())
