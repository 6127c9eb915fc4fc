"""Reuters-21578 from the 22 SGML files of its original distribution.

ModApte (README of Distribution 1.0, Sec. VIII.B): TOPICS="YES" with LEWISSPLIT="TRAIN" trains, with
LEWISSPLIT="TEST" tests; everything else is unused. Of the text types NORM has title, dateline and body, BRIEF
a title alone, and UNPROC no mark-up: all of it is the body. Entities are decoded and control characters
removed. Blank lines before a body and space after it go; titles and datelines lose both. Dates stay as they
are: some carry codes of the wire (`&#5;&#5;&#5;RM`).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._system.progress import Report, progress_of
from .._system.writing import write_whole
from ..errors import DatasetError
from ._catalogue import catalogue
from .files import cache_folder, side_file
from .reuters import shared_topics

NAMES = [f"reut2-{number:03}.sgm" for number in range(22)]
N_TEXTS = 21_578
LISTS = ("topics", "places", "people", "orgs", "exchanges")

STORY = re.compile(r"<REUTERS\s([^>]*)>(.*?)</REUTERS>", re.S)
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
TEXT = re.compile(r"<TEXT([^>]*)>(.*?)</TEXT>", re.S)
ENTITY = re.compile(r"&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|(lt|gt|amp|quot|apos));")
NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and newline


def import_reuters(
    folder: str | os.PathLike[str], to: str | os.PathLike[str] | None = None, progress: bool | Report = True
) -> Path:
    """Convert an original distribution, so that `load_dataset("reuters21578")` finds it.

    The same distribution always gives the same file. It is written whole or not at all, with its digest
    beside it.

    Parameters
    ----------
    folder : str or path
        With reut2-000.sgm to reut2-021.sgm.
    to : str or path, default=None
        Where the converted file goes; by default the user's cache.
    progress : bool or callable, default=True
        A bar on standard error, or a function that takes the share done.

    Returns
    -------
    path : Path of the converted file
    """
    rows: list[dict[str, Any]] = []
    with progress_of("Reading Reuters-21578", progress) as report:
        for done, path in enumerate(_sources(Path(folder)), start=1):
            rows += stories(path)
            if report is not None:
                report(0.7 * done / len(NAMES))  # the rest of the time goes into writing
        content = _pack(_with_apte90(_check(rows, Path(folder))))
        target = (cache_folder() if to is None else Path(to)) / catalogue()["reuters21578"].files[0].name
        digest = f"{hashlib.sha256(content).hexdigest()}  {target.name}\n".encode()
        try:
            write_whole({side_file(target): digest, target: content})  # alone, the first does no harm
        except OSError as error:
            raise DatasetError(
                f"{target} cannot be written: {error.strerror or error}. Nothing was left behind."
            ) from error
    return target


def stories(path: Path) -> Iterator[dict[str, Any]]:
    """The texts of one SGML file, without `apte90`, which depends on all of them."""
    try:
        sgml = path.read_bytes().decode("latin-1").replace("\r\n", "\n")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from error
    ends = 0
    for story in STORY.finditer(sgml):
        try:
            yield _story(dict(ATTRIBUTE.findall(story[1])), story[2])
        except (KeyError, ValueError, OverflowError) as error:
            line = sgml.count("\n", 0, story.start()) + 1
            raise DatasetError(
                f"The story at line {line:,} of {path} cannot be read: {error!r}. {_AGAIN}"
            ) from error
        ends = story.end()
    if "<REUTERS" in sgml[ends:] or not ends:
        line = sgml.count("\n", 0, ends) + 1
        raise DatasetError(
            f"{path} breaks off after line {line:,}: no whole <REUTERS> … </REUTERS> follows. {_AGAIN}"
        )


_AGAIN = "Unpack the distribution anew."


def _story(attributes: dict[str, str], inside: str) -> dict[str, Any]:
    text = TEXT.search(inside)
    if text is None:
        raise ValueError("no <TEXT>")
    head = inside[: text.start()]
    kind = dict(ATTRIBUTE.findall(text[1])).get("TYPE", "NORM")
    lists = {name: re.findall(r"<D>(.*?)</D>", _element(head, name.upper()), re.S) for name in LISTS}
    return {
        "id": int(attributes["NEWID"]),
        "oldid": int(attributes["OLDID"]),
        "split": _modapte(attributes["LEWISSPLIT"], attributes["TOPICS"]),
        "lewissplit": attributes["LEWISSPLIT"],
        "cgisplit": attributes["CGISPLIT"],
        "topics_attr": attributes["TOPICS"],
        "text_type": kind,
        "date": _element(head, "DATE").strip(),
        **{name: [_decode(value).strip() for value in values] for name, values in lists.items()},
        "title": _decode(_element(text[2], "TITLE")).strip(),
        "dateline": _decode(_element(text[2], "DATELINE")).strip(),
        "body": _decode(text[2] if kind == "UNPROC" else _element(text[2], "BODY")).lstrip("\n").rstrip(),
    }


def _modapte(lewissplit: str, topics: str) -> str:
    return {"TRAIN": "train", "TEST": "test"}.get(lewissplit, "unused") if topics == "YES" else "unused"


def _element(text: str, tag: str) -> str:
    """What stands between a tag and its end; nothing if it is not there."""
    _, opened, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    if opened and not closed:
        raise ValueError(f"no </{tag}>")
    return inside


def _decode(text: str) -> str:
    return CONTROL.sub("", ENTITY.sub(_character, text))


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, named = entity.groups()
    point = 0 if named else int(decimal) if decimal else int(hexadecimal, 16)
    if 0xD800 <= point < 0xE000:
        raise ValueError(f"{entity[0]} is half a character")
    return NAMED[named] if named else chr(point)


def _sources(folder: Path) -> list[Path]:
    missing = [name for name in NAMES if not (folder / name).is_file()]
    if missing:
        named = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise DatasetError(
            f"{folder} lacks {len(missing)} of the {len(NAMES)} files of Reuters-21578: {named}. "
            "Name the folder into which the distribution was unpacked "
            f"({catalogue()['reuters21578'].source})."
        )
    return [folder / name for name in NAMES]


def _check(rows: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """In the order of their numbers, all of them, none twice."""
    rows = sorted(rows, key=lambda row: row["id"])
    if [row["id"] for row in rows] != list(range(1, N_TEXTS + 1)):
        n_distinct = len({row["id"] for row in rows})
        raise DatasetError(
            f"The files in {folder} have {len(rows):,} texts with {n_distinct:,} numbers; expected "
            f"{N_TEXTS:,}, "
            f"numbered from 1. {_AGAIN}"
        )
    return rows


def _with_apte90(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Marked where a training or test text has one of the 90 topics."""
    topics = set(shared_topics((row["split"], row["topics"]) for row in rows))
    return [
        {**row, "apte90": row["split"] != "unused" and not topics.isdisjoint(row["topics"])} for row in rows
    ]


def _pack(rows: list[dict[str, Any]]) -> bytes:
    """Gzipped JSON lines, the same bytes for the same rows."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=packed, mtime=0) as stream,
        io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as lines,
    ):
        lines.writelines(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    return packed.getvalue()
