"""From results to readers: views turn a result into blocks, renderers turn blocks into what people read."""
