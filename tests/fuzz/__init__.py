"""A fuzzer: damaged inputs of every reader and command."""
