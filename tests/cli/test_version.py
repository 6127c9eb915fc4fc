"""What a bug report needs."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import textmargin
from textmargin import core
from textmargin.cli import app

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def describe(**environment):
    done = CliRunner().invoke(app, ["--version", "--json"], env=environment)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_versions_of_all_that_counts():
    about = describe()
    assert about["textmargin"] == textmargin.__version__
    assert about["python"] == ".".join(map(str, sys.version_info[:3]))
    assert about["packages"]["numpy"] == np.__version__
    assert len(about["packages"]) == len(PROJECT["dependencies"])
    assert {*about["extras"]} == {*PROJECT["optional-dependencies"]} - {"dev", "docs"}
    assert {*about["extras"]["excel"]} == {"openpyxl", "python-calamine"}
    assert about["core"]["levels"] == core.levels()
    assert "blas" in {pool["user_api"] for pool in about["pools"]}


def test_a_report_names_no_folder():
    """It is made to be shown to others."""
    shown = json.dumps(describe(TEXTMARGIN_DATA=str(Path.home()), TEXTMARGIN_KEY="secret"))
    assert str(Path.home()) + "/" not in shown
    assert "site-packages" not in shown
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("folder", "told"),
    [("", "not set"), (os.curdir, "set"), ("no such folder", "set, but no folder is there")],
)
def test_whether_there_is_a_folder_of_data(folder, told):
    assert describe(TEXTMARGIN_DATA=folder)["data_folder"] == told


def test_a_part_that_does_not_work_is_told_not_raised():
    about = describe(TEXTMARGIN_LEVEL="mmx")
    assert about["core"]["error"].startswith("DeviceError: TEXTMARGIN_LEVEL is 'mmx'")
    assert about["environment"]["TEXTMARGIN_LEVEL"] == "mmx"
    code = (
        "import sys; sys.modules['scipy.linalg'] = None; from textmargin.cli import app; "
        "app(['--version', '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert json.loads(done.stdout)["pools"]["error"].startswith("ModuleNotFoundError")


CUPY = """
__version__ = "14.1"
class cuda:
    class runtime:
        getDeviceCount = staticmethod(lambda: 1)
        getDeviceProperties = staticmethod(lambda k: {"name": b"NVIDIA H200"})
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (CUPY, {"cupy": "14.1", "devices": ["NVIDIA H200"]}),
        ("raise ImportError('libcuda.so.1: not found')", {"error": "ImportError: libcuda.so.1: not found"}),
    ],
)
def test_gpus_are_those_that_cupy_sees(source, told, tmp_path):
    (tmp_path / "cupy.py").write_text(source)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "textmargin", "--version", "--json"]
    assert (
        json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)["gpu"]
        == told
    )


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
