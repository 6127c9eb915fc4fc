"""w: a matrix and labels to a score per text."""
