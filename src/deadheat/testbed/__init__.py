"""Treebanks of invented languages and systems of known quality: a place to test statistics against the truth."""
