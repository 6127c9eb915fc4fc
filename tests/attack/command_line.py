"""Commands with hostile arguments, files and streams: done, or refused in words, with exit status 0, 1 or 2;
never a traceback.

Most cases call the application in this process; one in twelve starts a process of its own, with streams that
are closed, full, or hold what is no text.
"""

import functools
import os
import random
import re
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from attack.hostile_texts import a_text
from attack.user_files import damaged, some_toml
from click.testing import CliRunner
from typer.main import get_command

from textmargin.cli import app

SECONDS_A_CASE = 60
COMMANDS = [
    "train",
    "predict",
    "evaluate",
    "explain",
    "threshold",
    "similarity",
    "check",
    "suggest",
    "init",
    "adapt",
    "report",
]
COMMANDS += ["data", "feedback", "reproduce"]
TABLE = "text,label\n" + "wheat and corn,x\nbank rates,y\noil price,x\nrates of banks,y\n" * 4
VALUES = [
    "",
    "-1",
    "0",
    "1e999",
    "nan",
    "9" * 400,
    "a=b",
    "=",
    ",",
    "--",
    "-",
    "text",
    "label",
    "x",
    "auto",
    "*",
    "0.5",
    "1-2",
    "2-1",
]
VALUES += [
    "\ud800",
    "a\nb",
    "\x1b[31m",
    "💥" * 20,
    "../..",
    "/dev/null",
    "/dev",
    ".",
    "a.csv",
    "b.csv",
    "m.tmm",
    "k.toml",
    "nothing.csv",
    "100",
]


def case(seed):
    rng = random.Random(f"command_line/{seed}")
    with tempfile.TemporaryDirectory() as folder, chdir(below(folder)):
        Path("a.csv").write_text(TABLE)
        Path("b.csv").write_bytes(damaged(rng, TABLE.encode()))
        Path("k.toml").write_bytes(some_toml(rng))
        Path("m.tmm").write_bytes(a_model() if rng.random() < 0.8 else damaged(rng, a_model(), 1))
        words = some_words(rng)
        stream = a_stream(rng)
        if rng.random() < 1 / 12:
            outside(rng, words, stream)
        else:
            inside(words, stream)


def below(folder):
    """So deep that "../.." is in it as well: what else is on a machine is no part of a case."""
    deep = Path(folder, "one", "two")
    deep.mkdir(parents=True)
    return deep


def options_of(name):
    command = get_command(app).get_command(None, name)
    return [
        one
        for one in getattr(command, "params", [])
        if one.name not in ("help", "install_completion", "show_completion")
    ]


def some_words(rng):
    """A command with arguments and options, right ones and wrong ones."""
    name = rng.choice(COMMANDS)
    words = [name]
    usual = {"train": ["a.csv"], "predict": ["m.tmm", "a.csv"], "evaluate": ["m.tmm", "a.csv"],
             "explain": ["m.tmm", "wheat"], "threshold": ["m.tmm"], "similarity": ["one", "two"],
             "check": ["a.csv"], "suggest": ["a.csv"], "adapt": ["m.tmm", "a.csv"],
             "report": ["m.tmm", "a.csv"]}.get(name, [])  # fmt: skip
    words += [word if rng.random() < 0.8 else rng.choice(VALUES) for word in usual]
    known = options_of(name)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        option = rng.choice([one for one in known if one.opts] or known) if known else None
        spelled = rng.choice(option.opts) if option else "--x"
        if not spelled.startswith("-") or spelled == "--cluster":
            continue
        words.append(spelled if rng.random() < 0.95 else spelled[:-1])
        if not getattr(option, "is_flag", False) or rng.random() < 0.1:
            words.append(rng.choice(VALUES) if rng.random() < 0.8 else a_text(rng, 10, surrogates=True))
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(VALUES))
    # what bytes become that are no UTF-8
    return [re.sub("[\ud800-\udfff]", "\udcff", word.replace("\0", "")) for word in words]


def a_stream(rng):
    return rng.choice(
        [
            b"",
            TABLE.encode(),
            damaged(rng, TABLE.encode()),
            b"\xff\xfe\x00",
            b"\0" * 1000,
            b"a\n" * 1000,
            b'"' * 5000,
        ]
    )


@functools.cache
def a_model():
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("a.csv").write_text(TABLE)
        result = CliRunner().invoke(get_command(app), ["train", "a.csv", "-o", "m.tmm"])
        assert result.exit_code == 0, result.output
        return Path("m.tmm").read_bytes()


def inside(words, stream):
    result = CliRunner().invoke(get_command(app), words, input=stream)
    known = result.exception is None or isinstance(result.exception, SystemExit)
    assert known, f"{words}: {type(result.exception).__name__}: {result.exception}"
    assert result.exit_code in (0, 1, 2), f"{words}: exit status {result.exit_code}"
    assert result.exit_code == 0 or result.output.strip(), (
        f"{words}: status {result.exit_code} without a word"
    )
    assert "Traceback" not in result.output, f"{words}: a traceback"


def outside(rng, words, stream):
    """A process with streams as they come: closed, full, gone, in another encoding."""
    closing = rng.choice(
        ["", "", "<&-", ">&-", "2>&-", ">/dev/full", "| head -c 1", "2>/dev/full", ">&- 2>&- <&-"]
    )
    coding = rng.choice(
        [
            {},
            {},
            {"PYTHONIOENCODING": "ascii"},
            {"LC_ALL": "C", "PYTHONUTF8": "0"},
            {"COLUMNS": "1"},
            {"TERM": "x"},
        ]
    )
    script = f'"$@" {closing}'
    command = ["bash", "-o", "pipefail", "-c", script, "bash", sys.executable, "-m", "textmargin"]
    arguments = [os.fsencode(word) for word in words]
    found = subprocess.run(
        [*command, *arguments], input=stream, capture_output=True, env=os.environ | coding, timeout=300
    )
    assert b"Traceback" not in found.stderr, f"{words} {closing} {coding}: {found.stderr[-300:]!r}"
    assert found.returncode in (0, 1, 2), (
        f"{words} {closing} {coding}: exit status {found.returncode}; {found.stderr[-200:]!r}"
    )
