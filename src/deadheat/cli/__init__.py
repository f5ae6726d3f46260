"""The command line: arguments, one call, print."""
