"""Blocks of code in pages: what they are, and how they are run.

A page is run from top to bottom, in one namespace and one folder. Python is executed; in a block of `console`
every line that opens with `$ ` is a command. What a page takes for granted (a file of texts, a fitted model)
is made by a comment before the block, which readers do not see: `<!-- set up: ... -->`, in Python, where
`run(...)` is a command line, and `stop()` ends servers. A block that cannot run says why: `<!-- not run: ...
-->`.
"""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts),
]
LANGUAGES = {"python", "console", "text", "toml", "json", "csv", "nginx", "caddy"}  # the first two run


@dataclass
class Block:
    """Code on a page, or the set-up that stands before it."""

    line: int
    language: str
    text: str
    not_run: str | None = None


def blocks_of(page):
    """Every block of a page in order, set-ups among them; indented code has no language."""
    found, reason = [], None
    for token in MarkdownIt().enable("table").parse(page.read_text("utf-8")):
        if token.type == "html_block":
            if comment := re.search(r"<!-- set up:(.*?)-->", token.content, re.S):
                found.append(Block(token.map[0] + 1, "set up", textwrap.dedent(comment[1]).strip()))
            if comment := re.search(r"<!-- not run: (.*?)-->", token.content, re.S):
                reason = comment[1].strip()
        elif token.type in {"fence", "code_block"} and not token.info.startswith("{"):
            found.append(Block(token.map[0] + 1, token.info.strip(), token.content, reason))
            reason = None
    return found


def commands_of(text):
    """Commands of a block of `console`, without remarks and with lines that go on joined."""
    joined = text.replace("\\\n", " ")
    return [re.sub(r"\s+# .*$", "", line[2:]) for line in joined.splitlines() if line.startswith("$ ")]


LOOKED_UP = (
    "pip",
    "make",
)  # these, and benchmarks, take minutes or change the machine: it is only asked whether what they name exists


def look_up(words):
    """Hold a command that is not run to what it names: an extra, a target, a benchmark."""
    if words[0] == "pip":
        known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        named = [
            name for word in words for group in re.findall(r"\[(.*?)\]", word) for name in group.split(",")
        ]
        assert words[1] == "install"
        assert {*named} <= {*known}, words
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), words
    else:
        assert (ROOT / f"{words[2].replace('.', '/')}.py").exists(), words


class Session:
    """A reader who types what a page says."""

    def __init__(self, page):
        self.page = page
        self.names = {"__name__": "page", "run": self.run, "stop": self.close}
        self.servers = []
        self.port = None
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
        }

    def play(self, block):
        """Run one block; what it says of its output is held to."""
        if block.language == "console":
            for command in commands_of(block.text):
                self.run(command)
        else:
            self._execute(block)

    def run(self, command):
        """Run a command line: servers in the background, other commands of the package in this process, the
        rest in a shell.
        """
        words = shlex.split(command)
        if words[0] in LOOKED_UP or words[:2] == ["python", "-m"]:
            look_up(words)
        elif words[:2] in (["textmargin", "serve"], ["textmargin", "desk"]) and "--export" not in words:
            self._serve(words)
        elif words[0] == "textmargin" and not {"|", ">", "<", "&&", ";"} & {*words}:
            from textmargin.cli import app

            done = CliRunner().invoke(app, words[1:])
            assert done.exit_code == 0, f"{command}\n{done.output}"
        else:
            if self.port is not None:
                command = command.replace("localhost:8000", f"localhost:{self.port}")
            done = subprocess.run(
                command,
                shell=True,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def close(self):
        """End what was left running, as Ctrl-C does; a set-up calls it `stop`."""
        servers, self.servers = self.servers, []
        for server in servers:
            server.send_signal(signal.SIGINT)
        for server in servers:
            server.wait(20)

    def _serve(self, words):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        silent = ["--no-browser"] if words[1] == "desk" and "--no-browser" not in words else []
        said = Path(f"said-{self.port}.txt")
        with said.open("w") as stream:
            server = subprocess.Popen(
                [*words, "--port", str(self.port), *silent],
                env=self.environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
        self.servers.append(server)
        for _ in range(600):
            if f":{self.port}" in said.read_text():
                return
            assert server.poll() is None, f"{' '.join(words)}\n{said.read_text()}"
            time.sleep(0.1)
        raise AssertionError(f"{' '.join(words)} did not answer")

    def _execute(self, block):
        """Run Python a statement at a time; a value in a remark behind a statement is what it prints, or
        is.
        """
        source = block.text.replace('if __name__ == "__main__":', "if True:")
        lines = source.splitlines()
        for statement in ast.parse(source).body:
            code = ast.Module([statement], [])
            where = f"{self.page.name}:{block.line + statement.lineno}"
            printed = io.StringIO()
            try:
                with redirect_stdout(printed):
                    value = None
                    if isinstance(statement, ast.Expr):
                        value = eval(compile(ast.Expression(statement.value), where, "eval"), self.names)
                    else:
                        exec(compile(code, where, "exec"), self.names)
            except Exception as error:
                error.add_note(f"{where}: {lines[statement.lineno - 1]}")
                raise
            remark = re.search(r"\s{2}# (.*)$", lines[statement.end_lineno - 1])
            if remark and isinstance(statement, ast.Expr) and block.language == "python":
                shown = printed.getvalue().strip() if value is None else repr(value)
                if _is_value(remark[1]):
                    assert _agrees(shown, remark[1]), f"{where} says {remark[1]!r}, it is {shown!r}"


def _is_value(remark):
    """Whether a remark is a value rather than a sentence: it opens as Python's values do."""
    return bool(re.match(r"""[\[("'{\d]|[A-Z]\w*\(|None\b|True\b|False\b|\w+\(""", remark))


def _agrees(shown, remark):
    """Whether what was shown is what the remark says, up to a … in it or a sentence that follows."""
    shown, remark = " ".join(shown.split()), " ".join(remark.split())
    return remark.startswith(shown) or ("…" in remark and shown.startswith(remark.split("…")[0]))
