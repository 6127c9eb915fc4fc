"""What the README shows, works."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_example_runs_and_prints_what_it_says(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, re.S))
    exec(compile(code, "README.md", "exec"), {})
    first, second, rest = capsys.readouterr().out.split("\n", 2)
    assert first == "['grain' 'money']"
    assert "barley" in second
    assert "[[0.93 0.91 0.37]]" in rest
