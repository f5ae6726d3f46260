"""The version of the package; part of what identifies a run."""

__version__ = "0.1.0"
