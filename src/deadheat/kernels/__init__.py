"""Loops that numpy cannot express, compiled once and kept on disk.

A kernel is an ordinary Python function over one-dimensional arrays and integers that allocates nothing and
raises nothing: the caller allocates all arrays and reads the results from them. That is what lets `native` keep its
machine code in a file and call it without importing the compiler again.
"""

from deadheat.kernels.native import helper, kernel, precompile

__all__ = ["helper", "kernel", "precompile"]
