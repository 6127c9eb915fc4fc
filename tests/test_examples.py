"""Every example of the gallery runs from top to bottom, prints, and draws."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))

# Runs a script as the gallery does. Plots that are there when it shows them, or ends, are drawn, and listed
# as the last line.
RUN = """
import json, runpy, sys
import matplotlib.pyplot as plt
figures = []
def show():
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.canvas.draw()
        figures.append([[ax.get_xlabel(), ax.get_ylabel(), ax.has_data()] for ax in figure.axes])
    plt.close("all")
plt.show = show
runpy.run_path(sys.argv[1], run_name="__main__")
show()
print()
print(json.dumps(figures))
"""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_draws(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN, path],
        capture_output=True,
        text=True,
        timeout=180,  # seconds on an idle machine
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr  # it would stand in the gallery
    *printed, figures = done.stdout.splitlines()
    assert any(printed)
    figures = json.loads(figures)
    assert figures
    assert all(has_data for figure in figures for *_, has_data in figure)
    assert all(any(x for x, _, _ in figure) for figure in figures), "a plot without a word of what it shows"
    assert not list(tmp_path.iterdir())
