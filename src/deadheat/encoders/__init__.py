"""Pretrained encoders such as BERT: their folders, their tokenizers, and the vectors that they give to words."""
