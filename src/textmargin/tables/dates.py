"""Dates as people write them: ISO 8601, with or without a time, or as in 26-FEB-1987 15:01:01 or 26.02.1987
15:01.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# 26-FEB-1987 15:01:01.79, as Reuters has it; in some of its files control characters and a desk's letters
# follow.
_MONTH_NAMED = re.compile(rf"(\d{{1,2}})-({'|'.join(_MONTHS)})-(\d{{4}})( [\d:.]+)?(?:&#.*)?", re.IGNORECASE)
# the day first, as wherever dots are usual
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2})(:[\d:.]+))?")


def read_date(value: Any) -> datetime:
    """The moment that a value stands for, or a ValueError; a date without a time zone is taken for one of
    UTC.
    """
    text = value.isoformat() if isinstance(value, date) else " ".join(str(value).split())
    if named := _MONTH_NAMED.fullmatch(text):
        day, month, year, time = named.groups()
        text = f"{year}-{_MONTHS.index(month.lower()) + 1:02}-{int(day):02}{time or ''}"
    elif dotted := _DOTTED.fullmatch(text):
        day, month, year, hour, rest = dotted.groups()
        text = f"{year}-{int(month):02}-{int(day):02}" + (f" {int(hour):02}{rest}" if hour else "")
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
