"""Commands whose usage errors are one line, like all other mistakes, and name what may have been meant.

Their help is in panels where there is room for these; where there is not, panels would cut names of options
off.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from ..errors import nearest

UsageError: Any = typer.BadParameter.__bases__[0]  # which typer does not name itself


COMMANDS = (  # in the order of `--help`
    "check", "desk", "train", "evaluate", "predict", "explain", "suggest", "threshold", "adapt",
    "report", "serve", "sign", "feedback", "demo", "reproduce", "data",
)  # fmt: skip
_PANEL_WIDTH = 80  # columns of a terminal that panels have room in


def _fit_help(command: Any) -> None:
    """Plain help where the terminal is narrow."""
    if shutil.get_terminal_size().columns < _PANEL_WIDTH:
        command.rich_markup_mode = None
        for one in command.params:
            # which is markup's way to write a bracket
            one.help = (getattr(one, "help", None) or "").replace("\\[", "[")


class Command(TyperCommand):
    """A command that takes each option once: of two, nobody knows which was meant."""

    def format_help(self, context: Any, formatter: Any) -> None:
        """Show help that fits."""
        _fit_help(self)
        super().format_help(context, formatter)

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, unless it is made for it, and arguments that are too many."""
        if context.resilient_parsing:  # a shell asks what could come next
            return super().parse_args(context, args)
        _, rest, order = self.make_parser(context).parse_args(args=list(args))
        given = Counter(id(one) for one in order)
        for one in order:
            if given[id(one)] > 1 and one.param_type_name == "option" and not one.multiple:
                raise typer.BadParameter(
                    f"{max(one.opts, key=len)} is given {given[id(one)]} times; give it once."
                )
        if rest:
            raise typer.BadParameter(self._too_many(context, rest[0]))
        return super().parse_args(context, args)

    def _too_many(self, context: Any, argument: str) -> str:
        """What to say of an argument that nothing is left for, which most often is where the results are to
        go.
        """
        names = [one.name for one in self.params if one.param_type_name == "argument"]
        line = (
            f"{context.command_path} takes {' and '.join(names) or 'options'} only; {argument!r} is too much."
        )
        where = next(
            (one for one in ("--to", "--output") for param in self.params if one in param.opts), None
        )
        return line if where is None else f"{line} Where results go is an option: {where} {argument}"


class Group(TyperGroup):
    """Commands under one name."""

    def format_help(self, context: Any, formatter: Any) -> None:
        """Show help that fits."""
        _fit_help(self)
        super().format_help(context, formatter)

    def main(
        self,
        args: Any = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command that the words say."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except UsageError as error:
            code = error.exit_code
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                typer.echo(f"textmargin: {' '.join(_describe(error).split())}", err=True)
        except typer.Abort:
            code = 1
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


class Commands(Group):
    """All commands, each in a module of its name that is imported when the command is asked for."""

    def list_commands(self, context: Any) -> list[str]:
        """Their names, in the order of `--help`."""
        return [*COMMANDS]

    def get_command(self, context: Any, name: str) -> Any:
        """The command of this name; where there is none, all are there to be named."""
        missing = {name} & {*COMMANDS} or {*COMMANDS}
        if not missing <= self.commands.keys():
            self.commands = import_commands(missing)
        return super().get_command(context, name)


def import_commands(names: Iterable[str]) -> Any:
    """Commands by name, those that were imported earlier too."""
    from ._console import app

    for name in names:
        import_module(f".{name}", __package__)
    return get_group(app).commands


def _describe(error: Any) -> str:
    context = error.ctx
    known = (
        []
        if context is None
        else [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
    )
    if type(error).__name__ == "NoSuchOption" and context is not None:
        option = error.option_name
        near = nearest(option, [name for name in known if name.startswith("--")])
        meant = f"see {context.command_path} --help." if near is None else f"did you mean {near}?"
        return f"there is no option {option}; {meant}"
    if isinstance(error, typer.BadParameter) and error.param is None and error.param_hint is None:
        return str(error.message)
    line = str(error.format_message()).strip()
    hint = "" if context is None or "Did you mean" in line else f" See {context.command_path} --help."
    return f"{line if line.endswith(('.', '?')) else f'{line}.'}{hint}"
