"""What a bug report needs to say of a machine and what is installed on it: `textmargin --version --json`.

No paths, no names of people or machines: it can be shown to anybody. What cannot be imported is said, not
raised: a broken installation is what such a report is about.
"""

from __future__ import annotations

import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import __version__
from .._system.threads import n_threads

# Settings that change how things are computed, and are no secrets.
_VARIABLES = (
    "TEXTMARGIN_LEVEL",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
)
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?[^;]*(?:;.*\bextra\s*==\s*[\"']([\w-]+)[\"'])?")
_POOL = ("user_api", "internal_api", "version", "architecture", "threading_layer", "num_threads")


def describe_installation() -> dict[str, Any]:
    """Versions, the machine, and what of it is used.

    Examples
    --------
    >>> from textmargin.cli._installation import describe_installation
    >>> sorted(describe_installation())  # doctest: +NORMALIZE_WHITESPACE
    ['core', 'data_folder', 'environment', 'extras', 'gpu', 'implementation', 'machine', 'n_threads',
     'packages', 'platform', 'pools', 'python', 'textmargin']
    """
    packages, extras = _requirements()
    return {
        "textmargin": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "n_threads": n_threads(None),
        "core": _core(),
        "pools": _pools(),
        "packages": {name: _version(name) for name in packages},
        "extras": {extra: {name: _version(name) for name in names} for extra, names in extras.items()},
        "gpu": _gpu(),
        "data_folder": _data_folder(),
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """What this package needs, and what each of its extras adds, as its own metadata has it; without the
    developers' extras.
    """
    packages: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in metadata.requires("textmargin") or []:
        found = _REQUIREMENT.match(line)
        assert found is not None, line
        name, extra = found.groups()
        if extra is None:
            packages.append(name)
        elif extra not in ("dev", "docs"):
            extras.setdefault(extra, []).append(name)
    return packages, extras


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _failure(error: Exception) -> dict[str, str]:
    return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}


def _core() -> dict[str, Any]:
    """The vector levels of the compiled core that this processor has, the one in use, and what compiled
    it.
    """
    try:
        from .. import core
        from .._system.levels import vector_level

        return {"levels": core.levels(), "level": vector_level(), "compiler": getattr(core, "COMPILER", None)}
    except Exception as error:  # built for another Python or processor, or a level that is not there
        return _failure(error)


def _pools() -> list[dict[str, Any]] | dict[str, str]:
    """BLAS and OpenMP as NumPy, SciPy and scikit-learn bring them, and their threads."""
    try:
        import numpy  # noqa: F401  # pools are seen once they are loaded
        import sklearn.svm  # noqa: F401
        from threadpoolctl import threadpool_info

        pools = sorted(threadpool_info(), key=lambda pool: (pool["user_api"], str(pool["version"])))
        return [{key: pool[key] for key in _POOL if key in pool} for pool in pools]
    except Exception as error:
        return _failure(error)


def _gpu() -> dict[str, Any] | None:
    """GPUs that CuPy sees; None where CuPy is not installed, which is then not looked for any further."""
    from importlib.util import find_spec

    if find_spec("cupy") is None:
        return None
    try:
        import cupy

        devices = [
            cupy.cuda.runtime.getDeviceProperties(k) for k in range(cupy.cuda.runtime.getDeviceCount())
        ]
        return {"cupy": cupy.__version__, "devices": [device["name"].decode() for device in devices]}
    except Exception as error:
        return _failure(error)


def _data_folder() -> str:
    """Of TEXTMARGIN_DATA, where corpora lie: not the path, which may name somebody."""
    folder = os.environ.get("TEXTMARGIN_DATA")
    if not folder:
        return "not set"
    return "set" if Path(folder).is_dir() else "set, but no folder is there"
