"""How many threads compiled code may use."""

from __future__ import annotations

import os

_MOST = 1024  # whoever asks for more, a file that was made up among them, gets no faster


def n_threads(n_jobs: int | None) -> int:
    """Of `n_jobs`: None is all cores, or as many as OMP_NUM_THREADS allows, which joblib sets in its workers;
    −1 is all cores.

    Examples
    --------
    >>> from textmargin._system.threads import n_threads
    >>> n_threads(3), n_threads(-1) >= 1
    (3, True)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None or -1 for all cores, 1 for one thread.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
        return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores
    return min(n_jobs, _MOST) if n_jobs > 0 else max(1, cores + 1 + n_jobs)
