"""Corpora as columns of integers; the only place that reads or writes corpus files."""

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.reading import read
from deadheat.corpus.transforms import concatenate, take
from deadheat.corpus.vocabulary import Column, Vocabulary
from deadheat.corpus.writing import to_bytes, write

__all__ = ["Column", "Corpus", "Vocabulary", "concatenate", "read", "take", "to_bytes", "write"]
