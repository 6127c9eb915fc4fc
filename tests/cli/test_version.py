"""The version is printed without an import of what computes."""

import subprocess
import sys

import textmargin


def test_the_plain_version_is_one_line_and_imports_nothing_for_it():
    code = (
        "import sys, textmargin.cli\n"
        "try: textmargin.cli.app(['--version'])\n"
        "except SystemExit: print([name for name in ('numpy', 'sklearn', 'textmargin.core') if name in "
        "sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [textmargin.__version__, "[]"]
