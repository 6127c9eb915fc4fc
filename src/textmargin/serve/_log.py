"""Lines of the log: when, how grave, which request, what. They go to standard error."""

from __future__ import annotations

import logging
import sys

from .gate import Log
from .shield import REQUEST_ID

_FORM = "%(asctime)s %(levelname)s [%(request_id)s] %(message)s"


def start_log(log: Log = "errors") -> None:
    """Have what is logged here, by uvicorn and by asyncio, written; of texts only where they are asked
    for.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(_FORM))
    handler.addFilter(_add_request_id)
    for name in ("textmargin", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "textmargin" and log != "errors" else logging.WARNING)


def _add_request_id(record: logging.LogRecord) -> bool:
    record.request_id = REQUEST_ID.get()
    return True
