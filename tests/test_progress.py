"""Progress where there is no terminal; lines are tried out with the kernels, on a pseudo-terminal."""

import re
import time

import pytest

from textmargin._system import progress
from textmargin._system.progress import RowCounter, progress_of


def test_a_log_gets_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.05)
    with progress_of("Counting", True) as report:
        for share in (0.2, 0.4):
            time.sleep(0.02)
            report(share)
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert 1 <= len(lines) <= 4
    assert set(lines) == {"Counting: 40.0%, about 0 seconds left"}


def test_short_work_is_silent(capsys):
    with progress_of("Counting", True) as report, RowCounter() as counter:
        report(0.5)
        counter.add(10)
    assert capsys.readouterr().err == ""


def shown(monkeypatch, capsys, width=80):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(width)}.items():
        monkeypatch.setenv(name, value)  # which makes a terminal of any stream
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with RowCounter() as counter, progress_of("choosing settings, for 1,234,567 texts", True) as report:
        counter.add(20_000)
        report(0.25)
        time.sleep(0.4)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)


def test_rows_are_counted_on_a_terminal(monkeypatch, capsys):
    assert "20,000 rows, " in shown(monkeypatch, capsys)


@pytest.mark.parametrize("width", [40, 80])
def test_numbers_are_whole_on_a_narrow_terminal(width, monkeypatch, capsys):
    text = shown(monkeypatch, capsys, width)
    assert "25.0%" in text
    assert "1,234,567" in text
