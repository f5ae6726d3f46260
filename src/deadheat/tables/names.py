"""Names by which columns are recognised, whatever their case."""

SYSTEMS = ("system", "model", "parser", "tagger", "team", "method", "classifier")
DATASETS = ("dataset", "data set", "data_set", "treebank", "corpus", "task")
SCORES = ("score", "value")
METRICS = ("metric", "measure")
SUBSETS = ("subset", "sample", "selection", "paper", "study")
