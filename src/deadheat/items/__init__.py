"""Scores of systems on single items: one table inside, read from tables, DataFrames and logs of evaluations."""
