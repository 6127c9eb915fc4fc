"""The project stays small: no total grows above the one that was reached last."""

import tomllib

from size import SETTINGS, packages, totals


def test_no_total_is_above_the_one_reached_last():
    """Whoever adds removes something first; `python tests/size.py --lower` keeps what was won."""
    settings = tomllib.loads(SETTINGS.read_text("utf-8"))["tool"]["textmargin"]["size"]
    now = totals(packages())
    assert now.keys() == settings["reached"].keys() == settings["goal"].keys()
    assert {name: value for name, value in now.items() if value > settings["reached"][name]} == {}
