"""Treebanks of invented languages, and systems of known quality: statistics meet the truth here."""
