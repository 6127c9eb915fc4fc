"""Projects of the reading desk beside tables: what a command takes from one, and where it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ._console import remark
from ._model_options import ModelOptions, UtilityOptions

if TYPE_CHECKING:
    from ..desk.project import Project


def is_project(data: str, file_format: str | None = None) -> bool:
    """Whether a file is a project, by what an option says or its name."""
    return file_format == "desk" or (file_format is None and Path(data).suffix.lower() == ".desk")


def with_project(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that learns, with what people said at the desk: keywords, marks and costs, where options do
    not say otherwise.
    """

    @wraps(command)
    def run(**given: Any) -> Any:
        if not is_project(given["data"], given["reading"].file_format):
            return command(**given)
        with _settings(given["data"], given["making"], given["utility"]) as (making, utility):
            return command(**{**given, "making": making, "utility": utility})

    return run


@contextmanager
def _settings(
    data: str, making: ModelOptions, utility: UtilityOptions
) -> Iterator[tuple[ModelOptions, UtilityOptions]]:
    """The options, and in place of those that were not given what the project has, as files for as long as
    the block lasts.
    """
    from ..desk.project import Project

    with TemporaryDirectory(prefix="textmargin-") as folder, Project.open(data) as project:
        taken: dict[str, str] = {}
        if making.features == "words":
            making, taken = _knowledge(project, making, Path(folder))
        valued = (utility.utility, utility.costs, utility.hit, utility.false_alarm, utility.miss)
        costs = _costs(project, making)
        if costs and all(value is None for value in valued):
            utility = replace(utility, costs=_write(project, "costs", costs, Path(folder)))
            taken["costs"] = "--costs"
        if taken:
            choose = "choose" if len(taken) > 1 else "chooses"
            remark(f"{_joined(taken)} are those of {data}; {_joined(taken.values())} {choose} others")
        yield making, utility


def _knowledge(project: Project, making: ModelOptions, folder: Path) -> tuple[ModelOptions, dict[str, str]]:
    """Keywords and marks of a project."""
    from ..desk.export import MARKS, usable_marks

    state, taken = project.state, {}
    if making.keywords is None and any(
        weight for words in state.keywords.values() for weight in words.values()
    ):
        making = replace(making, keywords=_write(project, "keywords", state.keywords, folder))
        taken["keywords"] = "--keywords"
    if making.rationales is None and any(usable_marks(state, text) for text in state.marks):
        making = replace(making, rationales=MARKS)
        taken["marks"] = "--rationales"
    return making, taken


def _joined(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _costs(project: Project, making: ModelOptions) -> Mapping[str, Mapping[str, float]]:
    """The costs of classes that will be learnt: of the others, which have neither a text nor a word, no
    decision is made.
    """
    from ..desk.acts import OTHERS

    state = project.state
    learnt = {OTHERS, *(name for labels in state.answers().values() for name in labels)}
    if making.keywords is not None:
        learnt |= state.keywords.keys()
    return {name: own for name, own in state.costs.items() if name in learnt}


def _write(project: Project, kind: str, content: Mapping[str, Mapping[str, float]], folder: Path) -> Path:
    from ..desk.export import toml_table

    path = folder / f"{project.path.stem}-{kind}.toml"
    path.write_bytes(toml_table(kind, content))
    return path
