"""The tutorial's commands print what the tutorial says. `python tests/test_tutorial.py` writes down what they
print.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.S)


def played(page, folder):
    """The page with every command run, in order, in one folder, and what it printed below it."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }

    def block(found):
        lines = []
        for command in (line[2:] for line in found[1].splitlines() if line.startswith("$ ")):
            done = subprocess.run(
                command,
                shell=True,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=120,
            )
            printed = [line.rstrip() for line in done.stdout.decode().splitlines()]
            lines += [f"$ {command}", *(line for line in printed if line)]
        return "```console\n" + "\n".join(lines) + "\n```"

    return BLOCK.sub(block, page)


def test_the_tutorial_prints_what_it_says(tmp_path):
    assert played(PAGE.read_text(), tmp_path) == PAGE.read_text()


@pytest.mark.parametrize("word", ["Traceback", "Error"])
def test_the_tutorial_shows_no_traceback(word):
    assert word not in PAGE.read_text()


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(played(PAGE.read_text(), folder))
