"""Results on a terminal: what the commands print."""
