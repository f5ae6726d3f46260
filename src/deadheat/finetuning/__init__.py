"""Pretrained encoders that are trained further together with a head, in PyTorch, one network at a time."""
