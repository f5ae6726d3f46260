"""How stable a ranking is: over data sets, sizes of test sets, configurations and seeds."""
