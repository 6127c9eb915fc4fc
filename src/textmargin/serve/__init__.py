"""A model behind HTTP: decisions as documents arrive, reasons for them, and a place to say what was wrong.

    request ── gate: token, load, size, time ──▶ app: JSON checked ──▶ _batching: texts of many requests at
    once ──▶ model

Extra `serve`.
"""

from .app import create_app

__all__ = ["create_app"]
