"""A user's own files: which they are, their lines, rows and columns, in one piece or in parts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
