"""Keyword files, edited: what a person wrote stays."""

import pytest

from textmargin import KeywordPrior
from textmargin.errors import PriorError
from textmargin.suggestions.keyword_file import write_keywords

FILE = """\
# Words of the desk.
[costs]  # not ours
grain = { hit = 2 }

[keywords]  # ours
# what grows
grain = [
    "wheat",  # the most
    "corn",   # and [this]
]
'Mon.ey' = ['bank', "rates"]  # at the end
"the ship" = { vessel = 2.0, port = 2.0 }

[more]
x = 1
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "words.toml"
    path.write_text(FILE)
    return path


def entries(path):
    return KeywordPrior.from_file(path).entries()


def test_words_are_added_in_their_place(path):
    write_keywords(
        path,
        {
            "grain": {"wheat": 1.0, "corn": 1.0, 'a "b"\\': 1.0},
            "Mon.ey": {"bank": 1.0, "rates": 1.0, "yen": 1.0},
        },
    )
    assert path.read_text() == FILE.replace("[this]\n", '[this]\n"a \\"b\\"\\\\"').replace(
        '"rates"]', '"rates", "yen"]'
    )
    assert entries(path)["grain"] == {"wheat": 1.0, "corn": 1.0, 'a "b"\\': 1.0}


def test_what_is_struck_has_weight_0_and_comments_stay(path):
    write_keywords(
        path, {"grain": {"wheat": 1.0, "corn": 0.0}, "the ship": {"vessel": 2.0, "port": 0.0, "sea fog": 2.0}}
    )
    text = path.read_text()
    assert "grain = { wheat = 1, corn = 0 }\n" in text
    assert '"the ship" = { vessel = 2, port = 0, "sea fog" = 2 }\n' in text
    for line in FILE.splitlines():
        comment = line.partition("#")[2]
        assert comment in text
    assert "[costs]  # not ours\ngrain = { hit = 2 }" in text
    assert entries(path)["Mon.ey"] == {"bank": 1.0, "rates": 1.0}


def test_a_class_that_the_file_lacks(path):
    write_keywords(path, {"ärger": {"frust": 1.0}})
    assert '"ärger" = ["frust"]\n\n[more]' in path.read_text()
    assert path.read_text().replace('"ärger" = ["frust"]\n', "") == FILE


def test_a_file_without_a_table(path):
    path.write_text("grain = []\nmoney = ['bank']")
    with pytest.warns(UserWarning, match="no words for 'grain'"):
        write_keywords(path, {"grain": {"corn": 1.0}, "ship": {"port": 1.0}})
    assert path.read_text() == 'grain = ["corn"]\nmoney = [\'bank\']\nship = ["port"]\n'


def test_a_new_file(tmp_path):
    path = tmp_path / "new.toml"
    write_keywords(path, {"grain": {"wheat": 1.0}, "a b": {"x*": 0.5}})
    assert path.read_text() == '[keywords]\ngrain = ["wheat"]\n"a b" = { "x*" = 0.5 }\n'


def test_a_form_that_cannot_be_edited_is_left_alone(path):
    content = "[keywords.grain]\nwheat = 1.0\n"
    path.write_text(content)
    with pytest.raises(PriorError, match="cannot be changed without losing something"):
        write_keywords(path, {"grain": {"wheat": 1.0, "corn": 1.0}})
    assert path.read_text() == content
    with pytest.raises(PriorError, match=r"should end in \.toml"):
        write_keywords(path.with_suffix(".csv"), {"grain": {"wheat": 1.0}})
