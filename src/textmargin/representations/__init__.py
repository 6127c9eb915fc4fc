"""φ: texts to a sparse matrix."""
