"""The command that opens the reading desk."""

from __future__ import annotations

import socket
import sys
import webbrowser
from getpass import getuser
from pathlib import Path
from secrets import token_urlsafe
from socket import gethostname
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode, urlsplit

import typer

from .._system.wording import quantity
from ..errors import install_hint
from ._console import OptionError, app, remark
from ._options import ReadingOptions, grouped
from ._project import is_project

if TYPE_CHECKING:
    from ..desk.project import Project


@app.command()
@grouped
def desk(
    data: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Texts, with or without labels, in any format that train reads; or a project, .desk.",
        ),
    ],
    reading: ReadingOptions,
    project: Annotated[
        Path | None,
        typer.Option(help="Where what people do is stored.", show_default="beside FILE, with .desk"),
    ] = None,
    annotator: Annotated[str | None, typer.Option(help="Your name.", show_default="the page asks")] = None,
    classes: Annotated[
        str | None, typer.Option(help="Names of classes, with commas between; more can be added on the page.")
    ] = None,
    multilabel: Annotated[
        bool, typer.Option("--multilabel", help="A text may have several labels, or none of them.")
    ] = False,
    keywords: Annotated[
        Path | None, typer.Option(help="File of keywords by class, to begin with, as train takes it.")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(help="TOML file with costs by class, to begin with, as train takes it.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in that have the token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0 for the last one of this project, or any that is free.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
    export: Annotated[
        str | None,
        typer.Option(
            help="Open nothing: write all files of the project to this folder; csv, jsonl, keywords, "
            "costs or acts to stdout."
        ),
    ] = None,
) -> None:
    """Open a page on this machine to read, label, mark and name words, and to see the decisions change.

    What is done is stored at once, in one file beside the texts; given again, the command goes on where it
    was. That file is a table of labelled texts for train, evaluate, check and report. Stops at SIGTERM or
    Ctrl-C.
    """
    path = _project_path(data, reading, project)
    if export is not None:
        _export(path, export)
        return
    server = _import_server()
    start = _Start([name.strip() for name in (classes or "").split(",") if name.strip()], keywords, costs)
    listener, url = server.listen(host, port or _last_port(path, host))
    with listener, _open_project(data, path, reading, start.names, multilabel) as opened:
        opened.claim(url)
        _remark_on(opened)
        start.record(opened, annotator or _login())
        with server.Desk(opened) as session:
            token = token_urlsafe(24)
            hosts = ("*",) if host in ("0.0.0.0", "::") else (host, gethostname())
            application = server.create_desk_app(session, token=token, annotator=annotator, hosts=hosts)
            address = f"{url}/?{urlencode({'token': token})}"
            typer.echo(address)
            remark(f"what is done is stored in {path}; Ctrl-C stops")
            if not no_browser:
                webbrowser.open(address)
            server.run(application, listener)


def _import_server() -> Any:
    """What serves the page, before anything is made for it."""
    try:
        from ..desk.app import create_desk_app, listen, run
        from ..desk.session import Desk
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("textmargin"):
            raise
        raise OptionError(
            f"the desk needs {error.name}, which is not installed: {install_hint('serve')}"
        ) from error
    return SimpleNamespace(create_desk_app=create_desk_app, Desk=Desk, listen=listen, run=run)


def _last_port(path: Path, host: str) -> int:
    """The port of the project's last desk, where a browser keeps what is not stored yet; 0, for any, where it
    had none or somebody has it now.
    """
    from ..desk.project import last_address

    try:
        port = urlsplit(last_address(path)).port or 0
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except (OSError, ValueError):
        return 0
    return port


def _project_path(data: str, reading: ReadingOptions, project: Path | None) -> Path:
    from ..tables.paths import PACKED_SUFFIXES

    if is_project(data, reading.file_format):
        if project is not None:
            raise OptionError(f"{data} is a project itself; leave --project out.")
        return Path(data)
    if project is not None:
        if project.suffix.lower() != ".desk":
            raise OptionError(f"--project {project}: end its name with .desk, by which commands know it.")
        return project
    if data == "-":
        raise OptionError(
            "texts from standard input need a name for what is done with them: --project work.desk."
        )
    path = Path(data)
    return (path.with_suffix("") if path.suffix.lower() in PACKED_SUFFIXES else path).with_suffix(".desk")


def _open_project(
    data: str, path: Path, reading: ReadingOptions, classes: list[str], multilabel: bool
) -> Project:
    """The project that is there, if the texts are still those it was made from; else a new one."""
    from .._system.stages import stage
    from ..desk.project import Project

    if is_project(data, reading.file_format):
        if multilabel:
            raise OptionError(
                f"whether texts have several labels was said when {data} was made; leave --multilabel out."
            )
        return Project.open(path)
    with stage(f"reading {data}"):
        texts, given, several = _texts(data, reading, classes)
    if path.exists():
        opened = Project.open(path)
        what = opened.difference(texts, given)
        if what is None and multilabel and not opened.state.multilabel:
            what = "--multilabel says that texts have several labels, and in the project they have one"
        if what is not None:
            opened.close()
            raise OptionError(
                f"{data} is not what {path} was made from: {what}. Go on with the project alone, "
                f"textmargin desk {path}; or "
                f"begin another, --project NAME.desk."
            )
        return opened
    return Project.create(
        path,
        texts,
        given,
        classes=classes,
        multilabel=multilabel or several,
        source="standard input" if data == "-" else Path(data).name,
    )


def _remark_on(project: Project) -> None:
    """What there is, new or not."""
    state = project.state
    what = f"{quantity(state.n_texts, 'text')}, {len(state.answers()):,} with a label"
    remark(f"going on with {project.path}: {what}" if state.acts else f"{project.path} is new: {what}")


def _texts(
    data: str, reading: ReadingOptions, classes: list[str]
) -> tuple[list[str], list[tuple[str, ...] | None], bool]:
    """The texts of a table in its order, the labels of those that have some, and whether these are several.

    Beside labels with a separator an empty cell is a text that nobody has read yet, which a desk is for,
    unless an option says what is missing: taken for none of the labels, as elsewhere, it would never come up.
    """
    from ..tables.label_values import MISSING_LABELS

    origin = None if reading.label_separator is None else {"missing_labels": {*MISSING_LABELS, ""}}
    # a column is not labels because its values are few
    table = reading.read(data, origin=origin, labels="optional", known_labels=classes or [""])
    corpus, others = table.corpus, table.unlabelled
    several = any(isinstance(own, tuple) for own in corpus.labels)
    labelled = [(own,) if isinstance(own, str) else tuple(own) for own in corpus.labels]
    rows: list[tuple[str, str, tuple[str, ...] | None]] = [
        *zip(corpus.ids, corpus.texts, labelled, strict=True)
    ]
    rows += [(number, text, None) for number, text in zip(others.ids, others.texts, strict=True)]
    rows.sort(key=lambda row: int(row[0]))
    return [text for _, text, _ in rows], [own for _, _, own in rows], several


class _Start:
    """Classes, keywords and costs that options name, read before a project is made for them."""

    def __init__(self, classes: list[str], keywords: Path | None, costs: Path | None) -> None:
        from ..config import read_costs
        from ..knowledge.keywords import KeywordPrior

        self.keywords: dict[str, dict[str, float]] = {}
        self.costs: dict[str, dict[str, float]] | None = None
        if keywords is not None:
            prior = KeywordPrior.from_file(keywords)
            self.keywords = {str(name): {} for name in prior.classes()} | {
                str(k): own for k, own in prior.entries().items()
            }
        if costs is not None:
            self.costs = {
                name: {"hit": one.tp, "false_alarm": one.fp, "miss": one.fn}
                | ({} if one.ask is None else {"ask": one.ask})
                for name, one in read_costs(costs).items()
            }
        self.names = list(dict.fromkeys([*classes, *self.keywords]))
        if any(weight not in (1, -1, 0) for own in self.keywords.values() for weight in own.values()):
            remark(
                f"{keywords} has other weights than 1 and -1; at the desk a word speaks for a class or "
                "against it, and no more"
            )

    def record(self, project: Project, who: str) -> None:
        """Say it to a project, where it does not have it so."""
        from ..desk.acts import Act, new_id

        def do(kind: str, content: dict[str, Any]) -> None:
            project.record(Act(new_id(), who, kind, content))

        for name in self.names:
            if name not in project.state.classes:
                do("class", {"name": name})
        for name, own in self.keywords.items():
            for word, weight in own.items():
                sign = (weight > 0) - (weight < 0)
                if project.state.keywords.get(name, {}).get(word) != sign:
                    do("keyword", {"label": name, "word": word, "weight": sign, "source": "list"})
        state = project.state
        if self.costs is not None and self.costs != state.costs:
            reader = {"minute": state.minute, "currency": state.currency, "budget": state.budget}
            do("costs", {"costs": self.costs, **reader})


def _login() -> str:
    try:
        return getuser()
    except (OSError, KeyError):  # a user without a name
        return "desk"


def _export(path: Path, where: str) -> None:
    from ..desk.export import EXPORTS, export, export_all
    from ..desk.project import Project

    with Project.open(path) as project:
        if where in EXPORTS:
            _, content = export(project, where)
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
            return
        for written in export_all(project, where):
            typer.echo(f"Written to {written}")
