"""What a model decides and why, for people to look at."""
