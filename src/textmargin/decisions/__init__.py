"""θ: labels, scores and a utility to a threshold."""
