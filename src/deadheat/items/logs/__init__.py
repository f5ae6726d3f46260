"""Readers of the logs that evaluation harnesses write, one module per harness. No harness is imported."""
