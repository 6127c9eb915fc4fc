"""How much memory this machine has."""

from __future__ import annotations

import os
import sys


def machine_memory() -> int:
    """In bytes; more than anybody asks for where the system does not tell."""
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
