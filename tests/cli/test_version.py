"""What a bug report needs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import textmargin
from textmargin.cli import app


def describe(**environment):
    done = CliRunner().invoke(app, ["--version", "--json"], env=environment)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_a_report_names_no_folder():
    """It is made to be shown to others."""
    shown = json.dumps(describe(TEXTMARGIN_DATA=str(Path.home()), TEXTMARGIN_KEY="secret"))
    assert textmargin.__version__ in shown
    assert np.__version__ in shown
    assert str(Path.home()) + "/" not in shown
    assert "site-packages" not in shown
    assert "secret" not in shown


def test_the_plain_version_is_one_line_and_imports_nothing_for_it():
    code = (
        "import sys, textmargin.cli\n"
        "try: textmargin.cli.app(['--version'])\n"
        "except SystemExit: print([name for name in ('numpy', 'sklearn', 'textmargin.core') if name in "
        "sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [textmargin.__version__, "[]"]


def test_json_without_version_is_a_mistake():
    done = CliRunner().invoke(app, ["--json", "demo"])
    assert done.exit_code == 2
    assert (
        done.stderr
        == "textmargin: --json goes behind the command, as in textmargin train --json, or with --version.\n"
    )
