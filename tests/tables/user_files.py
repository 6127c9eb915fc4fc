"""Files as users have them."""

from textmargin.tables.formats import read_rows

ROWS = [
    ("wifi is down", "network"),
    ("no toner, again", "printing"),
    ('says "no paper"\nsince monday', "printing"),
    ("vpn slow", "network"),
]


def read_flat(source, **options):
    """All rows of a file."""
    return [row for batch in read_rows(source, **options) for row in batch]
