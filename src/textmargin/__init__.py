"""Text classification with support vector machines that use what people know, what a mistake costs, and text
as it is.

The public names are in `__init__.pyi`. A name is imported when it is first asked for: the command line starts
at once, and what needs neither scikit-learn nor the compiled core works without them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.2.0"
