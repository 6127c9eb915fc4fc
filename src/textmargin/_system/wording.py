"""Numbers in sentences."""

from __future__ import annotations


def quantity(n: int, noun: str) -> str:
    """A number with what it counts, in the plural unless it is one.

    Examples
    --------
    >>> from textmargin._system.wording import quantity
    >>> quantity(1, "text"), quantity(2000, "blank line")
    ('1 text', '2,000 blank lines')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
