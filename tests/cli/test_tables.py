"""Tables lose no digit, whatever they are printed on."""

import json
import re

import pytest
from typer.testing import CliRunner

from textmargin import load_dataset
from textmargin.cli import app
from textmargin.cli._tables import print_table
from textmargin.tables.export import export_csv

HEADS = ["label", "texts", "false alarms", "precision", "utility"]
ROWS = [
    ["comp.os.ms-windows.misc", "12,345", "1,000,000", "0.123", "-1,234,567.89"],
    ["账单不对账单不对", "1", "2", "0.456", "+8.00"],
]
NUMBERS = [cell for row in ROWS for cell in row[1:]]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    export_csv(load_dataset("desk"), folder)
    assert (
        CliRunner()
        .invoke(app, ["train", str(folder / "desk-train.csv"), "-o", str(folder / "m.tmm")])
        .exit_code
        == 0
    )
    return folder


@pytest.mark.parametrize("columns", ["30", "60", "80", None])
def test_numbers_are_whole_at_any_width(columns, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    print_table(HEADS, ROWS)
    shown = capsys.readouterr().out
    assert set(NUMBERS) <= set(shown.split())
    assert "…" not in shown
    if columns in ("60", "80"):
        assert max(map(len, shown.splitlines())) <= int(columns)
    if columns is None:  # as wide as it needs: each row is a line
        assert re.search(r"comp\.os\.ms-windows\.misc +12,345 ", shown)
        assert "false alarms" in shown


def test_text_is_folded_and_not_lost(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    print_table(HEADS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    folded = "".join(
        line.split()[0] for line in lines if re.match(r" [a-z.-]+", line) and "label" not in line
    )
    assert "comp.os.ms-windows.misc" in folded


@pytest.mark.parametrize("columns", ["60", "80", None])
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "m.tmm", "desk-test.csv", "--hit", "1000000"],
        ["data"],
        ["reproduce"],
        ["explain", "m.tmm", "my screen is dark"],
    ],
)
def test_commands_cut_nothing_off(words, columns, desk, monkeypatch):
    monkeypatch.chdir(desk)
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "…" not in result.stdout
    if words[0] == "evaluate":
        summary = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
        assert {f"{one['utility']:,.0f}" for one in summary["classes"]} <= set(result.stdout.split())
