"""Mutated inputs of every reader and command: `python -m tests.fuzz --inputs 20000`."""
