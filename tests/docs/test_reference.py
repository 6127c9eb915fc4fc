"""The reference has every public name, every command and every option; nothing on it is made up."""

import re
from importlib import import_module

import pytest
from docs._extensions import api_reference, command_reference
from docs.blocks import PAGES, ROOT
from public_names import MODULES

import textmargin

COMMANDS = command_reference.find_commands()


def test_every_public_name_has_a_page():
    pages = api_reference.pages()
    assert {f"textmargin.{name}" for name in textmargin.__all__} <= pages.keys()
    listed = {name for names in api_reference.public_names().values() for name in names}
    assert listed == {*textmargin.__all__}
    for name in textmargin.__all__:
        assert f"`~textmargin.{name}`" in pages["index"]


@pytest.mark.parametrize("module", [module for module in MODULES if module != "textmargin"])
def test_every_name_of_a_public_module_is_on_its_page(module):
    page = api_reference.pages()[module]
    for name in import_module(module).__all__:
        assert name in textmargin.__all__ or re.search(
            rf"^\.\. auto(class|exception|function|data):: {name}$", page, re.M
        ), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_pages_import_has_a_page(page):
    """Whoever copies an import from a page can look it up."""
    for module, names in re.findall(
        r"^ *from (textmargin[\w.]*) import ([\w, ]+)", page.read_text("utf-8"), re.M
    ):
        for name in re.findall(r"\w+", names):
            assert name in textmargin.__all__ or name in api_reference.module_names().get(module, ()), (
                f"from {module} import {name}"
            )


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_of_a_command_is_on_its_page(words):
    page = command_reference.pages()[words.split()[1]]
    section = page.split(f".. program:: {words}\n")[1].split(".. program::")[0]
    entries = re.findall(r"^\.\. option:: (.*)$", section, re.M)
    named = {name for entry in entries for name in re.findall(r"(?<!\S)-[\w-]+", entry)}
    wanted = {
        name
        for one in COMMANDS[words].params
        if one.param_type_name == "option" and not one.hidden
        for name in (*one.opts, *one.secondary_opts)
    } - {"--help"}
    assert named == wanted
    n_arguments = sum(one.param_type_name == "argument" for one in COMMANDS[words].params)
    assert len([entry for entry in entries if not entry.startswith("-")]) == n_arguments


def test_defaults_and_help_are_shown():
    page = command_reference.pages()["train"]
    assert ".. option:: -o, --output" in page
    assert "[default: model.tmm]" in page
    assert "Cost of missing the margin." in page
