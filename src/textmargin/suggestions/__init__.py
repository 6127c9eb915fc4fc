"""Which words to add to a list of keywords, to strike from it, and to split between classes."""
