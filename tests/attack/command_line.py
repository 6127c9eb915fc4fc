"""Commands with hostile arguments, files and streams: done, or refused in words, with exit status 0, 1 or 2;
never a traceback. One case in twelve starts a process, with streams that are closed or full.
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
TABLE = "text,label\n" + "wheat and corn,x\nbank rates,y\noil price,x\nrates of banks,y\n" * 4
ARGUMENTS = {
    "train": ["a.csv"], "predict": ["m.tmm", "a.csv"], "evaluate": ["m.tmm", "a.csv"],
    "explain": ["m.tmm", "wheat"], "threshold": ["m.tmm"], "check": ["a.csv"], "suggest": ["a.csv"],
    "adapt": ["m.tmm", "a.csv"], "report": ["m.tmm", "a.csv"], "data": [], "feedback": [], "reproduce": [],
}  # fmt: skip
VALUES = [
    "", "-1", "0", "1e999", "nan", "9" * 400, "a=b", "=", ",", "--", "-", "text", "label", "x", "auto", "*",
    "0.5", "2-1", "../..", "/dev/null", "/dev", ".", "b.csv", "k.toml", "nothing.csv", "100", "\ud800",
    "a\nb", "\x1b[31m", "💥" * 20,
]  # fmt: skip


def case(seed):
    rng = random.Random(f"command_line/{seed}")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "one", "two")  # so that "../.." is no part of the machine
        work.mkdir(parents=True)
        with chdir(work):
            Path("a.csv").write_text(TABLE)
            Path("b.csv").write_bytes(damaged(rng, TABLE.encode()))
            Path("k.toml").write_bytes(some_toml(rng))
            Path("m.tmm").write_bytes(a_model() if rng.random() < 0.8 else damaged(rng, a_model(), 1))
            words = some_words(rng)
            stream = rng.choice(
                [b"", TABLE.encode(), damaged(rng, TABLE.encode()), b"\xff\xfe\x00", b"\0" * 1000]
            )
            (outside if rng.random() < 1 / 12 else inside)(rng, words, stream)


def some_words(rng):
    """A command with arguments and options, right ones and wrong ones."""
    command = get_command(app)
    name = rng.choice([one for one in ARGUMENTS if command.get_command(None, one)])
    words = [name] + [word if rng.random() < 0.8 else rng.choice(VALUES) for word in ARGUMENTS[name]]
    options = [one for one in command.get_command(None, name).params if one.opts[0].startswith("--")]
    for option in rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 3]))):
        if option.name != "cluster":
            words.append(rng.choice(option.opts))
            if not option.is_flag or rng.random() < 0.1:
                words.append(rng.choice(VALUES) if rng.random() < 0.8 else a_text(rng, 10, surrogates=True))
    return [re.sub("[\ud800-\udfff]", "\udcff", word.replace("\0", "")) for word in words]


@functools.cache
def a_model():
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("a.csv").write_text(TABLE)
        result = CliRunner().invoke(get_command(app), ["train", "a.csv", "-o", "m.tmm"])
        assert result.exit_code == 0, result.output
        return Path("m.tmm").read_bytes()


def inside(rng, words, stream):
    result = CliRunner().invoke(get_command(app), words, input=stream)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{words}: {type(result.exception).__name__}") from result.exception
    assert result.exit_code in (0, 1, 2), f"{words}: exit status {result.exit_code}"
    assert result.exit_code == 0 or result.output.strip(), (
        f"{words}: exit status {result.exit_code} without a word"
    )


def outside(rng, words, stream):
    closing = rng.choice(["", "<&-", ">&-", "2>&-", ">/dev/full", "| head -c 1", ">&- 2>&- <&-"])
    coding = rng.choice(
        [{}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"COLUMNS": "1"}]
    )
    command = [
        "bash",
        "-o",
        "pipefail",
        "-c",
        f'"$@" {closing}',
        "bash",
        sys.executable,
        "-m",
        "textmargin",
        *words,
    ]
    found = subprocess.run(
        list(map(os.fsencode, command)),
        input=stream,
        capture_output=True,
        env=os.environ | coding,
        timeout=300,
    )
    said = f"{words} {closing} {coding}: {found.stderr[-300:]!r}"
    assert b"Traceback" not in found.stderr, said
    assert found.returncode in (0, 1, 2), said
