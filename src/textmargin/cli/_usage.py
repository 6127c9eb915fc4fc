"""Commands that are imported when they are asked for, and whose usage errors are one line that names what may
have been meant.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from ..errors import nearest

UsageError: Any = typer.BadParameter.__bases__[0]  # which typer does not name itself


COMMANDS = (  # in the order of `--help`
    "check", "desk", "train", "evaluate", "predict", "explain", "suggest", "threshold", "adapt",
    "report", "serve", "feedback", "demo", "reproduce", "data",
)  # fmt: skip


class Group(TyperGroup):
    """Commands under one name."""

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
    if type(error).__name__ == "NoSuchOption" and context is not None:
        known = [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
        near = nearest(error.option_name, [name for name in known if name.startswith("--")])
        meant = f"see {context.command_path} --help." if near is None else f"did you mean {near}?"
        return f"there is no option {error.option_name}; {meant}"
    if isinstance(error, typer.BadParameter) and error.param is None and error.param_hint is None:
        return str(error.message)
    line = str(error.format_message()).strip()
    hint = "" if context is None or "Did you mean" in line else f" See {context.command_path} --help."
    return f"{line if line.endswith(('.', '?')) else f'{line}.'}{hint}"
