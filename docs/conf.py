"""How the site is built: `make docs`, or `python -m sphinx -W --keep-going docs build/site`. Nothing comes
from a network.
"""

from __future__ import annotations

import sys
from pathlib import Path

import textmargin

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "textmargin"
author = "the textmargin authors"
copyright = author  # noqa: A001 (Sphinx's name)
version = release = textmargin.__version__

extensions = [
    "command_reference",
    "api_reference",
    "docstrings",
    "gallery_links",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "results",
    "_extensions",
    "**.ipynb",
    "generated/gallery/sg_execution_times.rst",
    "sg_execution_times.rst",
]
smartquotes = False  # -- before an option stays two hyphens

# Pages are Markdown; what is generated, into docs/generated, is reStructuredText.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # the gallery's order is a function

default_role = "py:obj"  # `PriorSVC` in a docstring is a link where there is a page
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say what parameters are, in words
autodoc_default_options = {"members": True}
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["generated/gallery"],
    "filename_pattern": r"\.py$",  # every example is executed
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "textmargin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None  # the same sources give the same pages
html_theme_options = {
    "logo": {"text": "textmargin"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_exclude = ".linenos, .gp, .go"
