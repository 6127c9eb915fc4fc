"""`python -m textmargin` is the command line."""

from .cli import app

app()
