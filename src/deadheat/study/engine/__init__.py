"""Training and scoring cells: in worker processes, or stacked on an accelerator."""
