"""Files as users have them."""

from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows

ROWS = [
    ("wifi is down", "network"),
    ("no toner, again", "printing"),
    ('says "no paper"\nsince monday', "printing"),
    ("vpn slow", "network"),
]


def read_flat(source, **dialect):
    """All rows of a file."""
    return [row for batch in read_rows(source, Dialect(**dialect)) for row in batch]
