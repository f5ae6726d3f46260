"""Tables of scores and of runs: CSV, TSV, JSONL or Parquet, plain or compressed."""
