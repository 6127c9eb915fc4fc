"""The API reference, from docstrings: `python docs/api.py FOLDER` writes HTML for every public name."""

from __future__ import annotations

import sys
from pathlib import Path

import pdoc

import textmargin


def main(folder: str) -> None:
    """Write the pages."""
    for name in textmargin.__all__:  # public names are imported when they are asked for; the reference wants all of them
        setattr(textmargin, name, getattr(textmargin, name))
    pdoc.render.configure(docformat="numpy", show_source=False)
    pdoc.pdoc("textmargin", output_directory=Path(folder))
    print(f"Written to {Path(folder) / 'textmargin.html'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
