"""w₀: what is known of the terms to a weight per term and class."""
