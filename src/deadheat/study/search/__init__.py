"""Searches over the settings of a system."""
