"""The vector level that compiled loops run at."""

from __future__ import annotations

import os

from ..errors import DeviceError


def vector_level() -> str:
    """The widest level, unless the environment variable TEXTMARGIN_LEVEL asks for that of another machine."""
    from .. import core  # a GPU does without

    levels, wanted = core.levels(), os.environ.get("TEXTMARGIN_LEVEL")
    if wanted and wanted not in levels:
        raise DeviceError(
            f"TEXTMARGIN_LEVEL is {wanted!r}, but this processor has {', '.join(levels)}; set it to one "
            "of these."
        )
    return wanted or levels[0]
