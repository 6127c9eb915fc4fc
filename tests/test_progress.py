"""Progress where there is no terminal; bars are tried out with the kernels, on a pseudo-terminal."""

import re

import pytest

from textmargin._system import progress, row_counter
from textmargin._system.progress import progress_of
from textmargin._system.row_counter import RowCounter


def test_a_log_gets_a_line_a_minute(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress_of("Counting", True) as report:
        for seconds, share in ((1, 0.2), (3, 0.2), (30, 0.3), (61, 0.4), (100, 0.5), (121, 0.6), (122, 0.7)):
            now[0] = 100.0 + seconds
            report(share)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["Counting: 40.0%, about 3 minutes left", "Counting: 60.0%, about 2 minutes left"]


def test_short_work_is_silent(capsys):
    with progress_of("Counting", True) as report:
        report(0.5)
    assert capsys.readouterr().err == ""


def test_a_long_first_step_gives_no_estimate_from_nothing(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress_of("Counting", True) as report:
        for seconds, share in ((90, 0.1), (180, 0.2)):
            now[0] = float(seconds)
            report(share)
    assert capsys.readouterr().err.splitlines() == [
        "Counting: 10.0%",
        "Counting: 20.0%, about 12 minutes left",
    ]


def count_rows(monkeypatch, capsys, **settings):
    now = [0.0]
    monkeypatch.setattr(row_counter.time, "monotonic", lambda: now[0])
    with RowCounter(**settings) as counter:
        for seconds in (1, 4):
            now[0] = float(seconds)
            counter.add(10_000)
    assert counter.n_rows == 20_000
    return capsys.readouterr().err


def test_rows_are_counted_on_a_terminal_only(monkeypatch, capsys):
    assert count_rows(monkeypatch, capsys) == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes a terminal of any stream
    monkeypatch.setenv("TERM", "xterm")
    assert "20,000 rows, 5,000 a second" in count_rows(monkeypatch, capsys)
    assert count_rows(monkeypatch, capsys, enabled=False) == ""


@pytest.mark.parametrize("width", [40, 60, 80])
def test_numbers_are_whole_on_a_narrow_terminal(width, monkeypatch, capsys):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(width)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress_of("choosing among settings that have long names, for 1,234,567 texts", True) as report:
        report(0.25)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert re.search(r"\d% -:--:--", shown)
    assert "1,234,567" in shown
    assert "…" not in shown
    assert ("━" in shown) == (width >= 80)
