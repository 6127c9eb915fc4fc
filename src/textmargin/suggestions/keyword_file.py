"""A file of keywords in TOML, edited: other classes, their order and all comments stay as a person wrote
them.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .._system.writing import write_whole
from ..errors import PriorError
from ..knowledge.keywords import KeywordPrior

Words = Mapping[str, float]
_TABLE = re.compile(r"^[ \t]*\[keywords\][^\n]*", re.MULTILINE)
_HEAD = re.compile(r"\n[ \t]*\[[\w.\x22' -]+\][ \t]*(?:#[^\n]*)?(?=\n|$)")  # of the next table
_PROBE = "a word that nobody has"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_keywords(path: Path, keywords: Mapping[str, Words]) -> None:
    """Write a list of keywords, or edit the file that is there.

    Parameters
    ----------
    path : Path, of a .toml file
    keywords : mapping class → mapping entry → weight
        Classes of the file that are not in it stay.
    """
    if path.suffix.lower() != ".toml":
        raise PriorError(f"Keywords are written as TOML; {path} should end in .toml.")
    if not path.exists():
        lines = [f"{_key(name)} = {_value(words)}" for name, words in keywords.items()]
        write_whole({path: "\n".join(["[keywords]", *lines, ""]).encode()})
        return
    write_whole({path: _edited(path, keywords).encode()})


def check_editable(path: Path) -> None:
    """Before words are looked for: that those of every class in a file can be changed."""
    _edited(
        path, {name: {**words, _PROBE: 0.0} for name, words in KeywordPrior.from_file(path).entries().items()}
    )


def _edited(path: Path, keywords: Mapping[str, Words]) -> str:
    """What the file is to hold."""
    old = KeywordPrior.from_file(path).entries()
    text = path.read_text(encoding="utf-8-sig")
    for name, words in keywords.items():
        if old.get(name) != words:
            text = _edit(text, name, words)
    if _read(text) != {**old, **keywords}:
        raise PriorError(
            f"{path} is written in a way that cannot be changed without losing something; write the "
            "keywords to another file."
        )
    return text


def _read(text: str) -> dict[str, dict[str, float]] | None:
    """What a file of this content says; None where it is not TOML any more."""
    try:
        table = tomllib.loads(text)
        return KeywordPrior(table.get("keywords", table)).entries()
    except (ValueError, PriorError, RecursionError):
        return None


def _edit(text: str, name: str, words: Words) -> str:
    """A file with other words for one class."""
    head = _TABLE.search(text)
    start = head.end() if head else 0
    following = _HEAD.search(text, start)
    end = following.start() if following else len(text)
    spellings = "|".join(map(re.escape, (_string(name), f"'{name}'", name)))
    found = re.compile(rf"^[ \t]*(?:{spellings})[ \t]*=[ \t]*", re.MULTILINE).search(text, start, end)
    if found is None:
        return f"{text[:end].rstrip()}\n{_key(name)} = {_value(words)}\n{text[end:]}"
    value = _Value.at(text, found.end())
    inside = text[found.end() : value.end]
    old = _read(f"x = {inside}") or {"x": {}}
    new = [word for word in words if word not in old["x"]]
    if (
        inside.startswith("[")
        and [*old["x"].items()] == [*words.items()][: len(old["x"])]
        and {*words.values()} == {1.0}
    ):
        added = ("" if value.ends_with_comma else ", ") + ", ".join(map(_string, new))
        return f"{text[: value.end - 1]}{added}{text[value.end - 1 :]}"
    comments = "".join(f"{one}\n" for one in value.comments)
    return f"{text[: found.start()]}{comments}{found[0]}{_value(words)}{text[value.end :]}"


@dataclass(frozen=True)
class _Value:
    """Where an array or inline table ends, the comments inside, and whether a comma (or nothing) precedes its
    last bracket.
    """

    end: int
    comments: list[str]
    ends_with_comma: bool

    @classmethod
    def at(cls, text: str, start: int) -> _Value:
        depth, comments, last = 0, [], ""
        for token in re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|#[^\n]*|\S|\s+').finditer(text, start):
            part = token[0]
            if part.startswith("#"):
                comments.append(part)
            elif not part.isspace():
                depth += (part in "[{") - (part in "]}")
                if depth <= 0:
                    return cls(token.end(), comments, last in (",", "["))
                last = part
        return cls(len(text), comments, ends_with_comma=False)


def _value(words: Words) -> str:
    """Words as a list, or with their weights where these differ from 1."""
    if all(weight == 1 for weight in words.values()):
        return f"[{', '.join(map(_string, words))}]"
    return f"{{ {', '.join(f'{_key(word)} = {weight:g}' for word, weight in words.items())} }}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)
