"""The reference: a page for every name in `textmargin.__all__`, by the folder that it lives in, and for
modules that pages name.

Runs when a build begins, and writes reStructuredText into `generated/api`; autodoc and numpydoc read the
docstrings.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import textmargin

FOLDER = "generated/api"

# Folders in the order of the site: texts to labels first. One that is not here comes after them, under its
# own name.
GROUPS = {
    "classifier": ("The classifier", "From texts to labels, with reasons."),
    "decider": ("Deciding alone", "A model from a file, without scikit-learn."),
    "labels": ("Labels and decisions", "What a text is given."),
    "representations": ("Representations", "Texts to a matrix, or to a matrix of kernel values."),
    "knowledge": ("Knowledge", "What people know of words, as weights before training."),
    "learners": ("Learners", "A matrix to scores."),
    "decisions": ("Decisions", "Scores to labels, by what a mistake costs."),
    "tuning": ("Tuning", "Settings, chosen on held-out scores."),
    "tables": ("Your own files", "Rows and columns to texts and labels."),
    "datasets": ("Datasets", "Texts, labels and a split."),
    "check": ("Checks", "What is wrong with labelled texts."),
    "suggestions": ("Suggestions", "Words to add to a list of keywords, and to strike from it."),
    "feedback": (
        "Feedback and filtering",
        "What people said of decisions, and texts that arrive one by one.",
    ),
    "report": ("Reports and plots", "What a model does, to be looked at."),
    "persistence": ("Files of models", "Written and read without pickle."),
    "config": ("Settings", "What a command line or a file says, as a model."),
}

# Public modules, whose `__all__` is shown, but for what the package itself has; and names of others that
# pages speak of.
MODULES = (
    "textmargin.tables",
    "textmargin.tables.decision_columns",
    "textmargin.persistence",
    "textmargin.serve",
    "textmargin.scale",
    "textmargin.desk",
    "textmargin.errors",
)
OTHERS = {
    "textmargin.datasets.reuters": ["modapte_topics"],
    "textmargin.decisions.budget": ["budget_outcome", "budget_threshold", "BudgetOutcome"],
    "textmargin.feedback.retune": ["feedback_threshold", "FeedbackThreshold"],
}


def module_names() -> dict[str, list[str]]:
    """Names by the module that they are imported from, those of the package itself left out."""
    shown = {
        module: [name for name in import_module(module).__all__ if name not in textmargin.__all__]
        for module in MODULES
    }
    return shown | OTHERS


def public_names() -> dict[str, list[str]]:
    """Names of the package by folder, in the order of the site."""
    folders: dict[str, list[str]] = {folder: [] for folder in GROUPS}
    for name in sorted(textmargin.__all__, key=str.lower):
        home = getattr(textmargin, name).__module__
        folders.setdefault(home.split(".")[1], []).append(name)
    return {folder: names for folder, names in folders.items() if names}


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    written, links = {}, []
    for folder, names in public_names().items():
        title, told = GROUPS.get(folder, (folder.capitalize(), ""))
        links.append(folder)
        written[folder] = _group(title, told, names)
        written |= {f"textmargin.{name}": _page("textmargin", name) for name in names}
    modules = module_names()
    for module, names in modules.items():
        written[module] = _module_page(module, names)
    written["modules"] = _modules(modules)
    written["index"] = _index([*links, "modules"])
    return written


def _first_line(thing: Any) -> str:
    """The first line of a docstring; of a value, which has none of its own, what it is."""
    if (
        not (inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing))
        or inspect.getdoc(thing) is None
    ):
        return f"``{thing!r}``"
    return " ".join(inspect.getdoc(thing).split("\n\n")[0].split()).replace("*", "\\*").replace("|", "\\|")


def _directive(thing: Any) -> str:
    if inspect.isclass(thing):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(thing) else "autodata"


def _heading(title: str, line: str = "=") -> str:
    return f"{title}\n{line * len(title)}"


def _page(module: str, name: str) -> str:
    thing = getattr(import_module(module), name)
    values = "\n   :no-value:" if _directive(thing) == "autodata" else ""
    shown = f"\n\n``{thing!r}``" if values else ""
    values += "\n   :inherited-members:" if _has_private_base(thing) else ""
    return (
        f"{_heading(name)}{shown}\n\n.. currentmodule:: {module}\n\n.. {_directive(thing)}:: {name}{values}\n"
    )


def _has_private_base(thing: Any) -> bool:
    """Whether a class has members of classes of ours that have no page of their own, and of no others."""
    bases = [one for one in thing.__mro__[1:] if one is not object] if inspect.isclass(thing) else []
    return bool(bases) and all(
        one.__module__.startswith("textmargin.") and one.__name__ not in textmargin.__all__ for one in bases
    )


def _group(title: str, told: str, names: list[str]) -> str:
    rows = "\n".join(
        f"   * - `~textmargin.{name}`\n     - {_first_line(getattr(textmargin, name))}" for name in names
    )
    entries = "\n".join(f"   {name} <textmargin.{name}>" for name in names)
    return (
        f"{_heading(title)}\n\n{told}\n\n.. list-table::\n   :widths: 35 65\n\n{rows}\n\n.. "
        f"toctree::\n   :hidden:\n\n{entries}\n"
    )


def _module_page(module: str, names: list[str]) -> str:
    home = import_module(module)
    directives = "\n\n".join(f".. {_directive(getattr(home, name))}:: {name}" for name in names)
    return f"{_heading(module)}\n\n{_first_line(home)}\n\n.. currentmodule:: {module}\n\n{directives}\n"


def _modules(modules: dict[str, list[str]]) -> str:
    rows = "\n".join(
        f"   * - :doc:`{module}`\n     - {', '.join(f'`~{module}.{name}`' for name in names)}"
        for module, names in modules.items()
    )
    entries = "\n".join(f"   {module}" for module in modules)
    told = "What is imported from where it lives: ``from textmargin.tables import read_table``."
    table = f".. list-table::\n   :widths: 40 60\n\n{rows}"
    return f"{_heading('Modules')}\n\n{told}\n\n{table}\n\n.. toctree::\n   :hidden:\n\n{entries}\n"


def _index(names: list[str]) -> str:
    sections = []
    for folder, members in public_names().items():
        title, told = GROUPS.get(folder, (folder.capitalize(), ""))
        linked = ", ".join(f"`~textmargin.{name}`" for name in members)
        sections.append(f"   * - :doc:`{title} <{folder}>`\n     - {told} {linked}")
    sections.append(
        "   * - :doc:`modules`\n     - What is imported from where it lives: files, cluster, service, "
        "feedback, desk, errors."
    )
    entries = "\n".join(f"   {name}" for name in names)
    return (
        f"{_heading('Python reference')}\n\nEvery public name, with its parameters, results and an example. "
        "All of them are imported from the top: ``from textmargin import TextClassifier``.\n\n"
        ".. list-table::\n   :widths: 25 75\n\n"
        + "\n".join(sections)
        + f"\n\n.. toctree::\n   :hidden:\n\n{entries}\n"
    )


def _write(sphinx: Any) -> None:
    folder = Path(sphinx.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    written = pages()
    for path in folder.glob("*.rst"):
        if path.stem not in written:
            path.unlink()
    for name, text in written.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:  # an unchanged page is not built again
            path.write_text(text, "utf-8")


def setup(sphinx: Any) -> dict[str, bool]:
    """Let Sphinx call it before it looks for pages."""
    sphinx.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
