"""Corpora as they are published, each read into a `Corpus`."""
