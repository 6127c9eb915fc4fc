"""Every block of code on every page runs, or says on the page why it does not."""

import re
import warnings

import pytest
from distributed import LocalCluster
from docs.blocks import LANGUAGES, PAGES, ROOT, Session, blocks_of, commands_of

RUN = {"python", "console", "set up"}


begin_cluster = LocalCluster.__init__


def workers_are_threads(self, *args, **settings):
    """A cluster in this process, as in other tests: the same tasks, less to wait for."""
    begin_cluster(self, *args, **{**settings, "processes": False})


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_what_language_they_are(page):
    assert [
        (block.line, block.language)
        for block in blocks_of(page)
        if block.language not in {*LANGUAGES, "set up"}
    ] == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if RUN & {block.language for block in blocks_of(page)}], ids=name_of
)
def test_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LocalCluster, "__init__", workers_are_threads)
    session = Session(page)
    try:
        for block in blocks_of(page):
            if block.language in RUN and block.not_run is None:
                if page.name == "tutorial.md" and block.language == "console":
                    continue  # tests/test_tutorial.py runs these, and compares all that they print
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # a page may show what is warned of
                    session.play(block)
    finally:
        session.close()


def test_blocks_that_are_not_run_are_few():
    """How many there are is said in CONTRIBUTING's words: a reason stands on the page."""
    blocks = [
        (name_of(page), block)
        for page in PAGES
        for block in blocks_of(page)
        if block.language in RUN - {"set up"}
    ]
    left_out = [
        f"{name}:{block.line}: {block.not_run}" for name, block in blocks if block.not_run is not None
    ]
    print(
        f"{len(blocks)} blocks of code on {len({name for name, _ in blocks})} pages; {len(left_out)} are "
        "not run:",
        *left_out,
        sep="\n",
    )
    assert all(len(one.split(": ")[-1]) > 10 for one in left_out)
    assert len(left_out) <= len(blocks) / 5


def test_commands_that_are_not_run_have_options_that_are_there():
    """Not run is not unread: every option of a command on a page is one that the command has."""
    from textmargin.cli._usage import COMMANDS, import_commands

    commands = import_commands(COMMANDS)
    for page in PAGES:
        for block in blocks_of(page):
            for line in commands_of(block.text) if block.language == "console" else ():
                for words in re.findall(r"\btextmargin ((?:[\w-]+ ?)[^|;]*)", line):
                    command = commands.get(words.split()[0])
                    if command is None:
                        continue
                    if hasattr(command, "commands"):
                        command = (
                            command.commands.get(words.split()[1], command)
                            if len(words.split()) > 1
                            else command
                        )
                    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {
                        "--help"
                    }
                    given = {word.split("=")[0] for word in re.findall(r"(?<!\S)--[a-z][\w-]*", words)}
                    assert given <= known, f"{name_of(page)}: {line}: {given - known}"
