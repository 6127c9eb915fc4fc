"""A user's own files: which they are, their lines, rows and columns, in one piece or in parts."""
