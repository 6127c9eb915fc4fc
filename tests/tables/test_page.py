"""What docs/tables.md shows, works."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()


def test_the_examples_run_and_print_what_they_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.S))
    exec(compile(code, "docs/tables.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    shown = re.findall(r"  # ((?:Corpus|desk|\[|semicolons|text:).*)", code)
    left = iter(printed)
    assert [line for line in shown if line not in left] == []  # all of them, in their order
    assert "['win free cash now', 'see you at noon', 'claim your prize']" in printed
    names, first, *_ = (tmp_path / "decided.csv").read_text().splitlines()
    assert names == "id,body,topic,label,guess,score,confidence"
    assert first.startswith("1,win free cash now,Spam,spam,,0.9091,0.")
