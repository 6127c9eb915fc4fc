"""A model behind HTTP, for one machine or behind a proxy (extra `serve`).

request ─▶ limits: token, size, requests in flight ─▶ app: routes ─▶ batch: texts of many requests at once
"""

from .app import create_app

__all__ = ["create_app"]
