"""Cells on the nodes of a Ray cluster: agents with our own worker processes, and the executor that directs them."""
