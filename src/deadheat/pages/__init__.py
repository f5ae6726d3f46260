"""One page to read: results in, self-contained HTML out."""
