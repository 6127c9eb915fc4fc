"""What the README shows, works."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_example_runs_and_prints_what_it_says(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, re.S))
    exec(compile(code, "README.md", "exec"), {})
    first, score, contribution, rest = capsys.readouterr().out.split("\n", 3)
    assert first == "['grain' 'money']"
    assert score.startswith("score of grain: +")
    assert "barley" in contribution
    assert "[[0.93 0.91 0.37]]" in rest
