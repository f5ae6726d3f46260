"""One call per question: corpora and settings in, one result out. The command line is a thin layer over these."""
