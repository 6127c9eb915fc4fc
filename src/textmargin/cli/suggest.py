"""The command that says which keywords to add, to strike and to split."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import OptionError, app, print_json, remark
from ._options import AsJson, FileOptions, check_writable, grouped, tell
from ._tables import print_table

if TYPE_CHECKING:
    from ..suggestions.findings import Suggestions, WordEvidence


@app.command()
@grouped
def suggest(
    files: Annotated[
        list[str],
        typer.Argument(
            help="A model and texts, with labels or without; with --keywords texts alone will do."
        ),
    ],
    file: FileOptions,
    keywords: Annotated[
        Path | None,
        typer.Option(help="Keywords to mend, instead of those of the model or, without one, to learn from."),
    ] = None,
    n: Annotated[int, typer.Option("-n", help="How many words to add to each class.")] = 10,
    write: Annotated[
        Path | None,
        typer.Option(
            help="New keyword file (.toml): your keywords, what is added, and weight 0 for what is struck."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which words to add to the keywords of each class, which to strike, and which two classes claim,
    with the evidence.

    Words to add are those that the texts given the class have far more often than others; to strike, those
    whose texts would be given another class without them, or of which training texts say the opposite.
    """
    from .._system.writing import write_whole
    from ..classifier import TextClassifier
    from ..knowledge.keywords import KeywordPrior
    from ..persistence import load_classifier
    from ..suggestions.suggest import suggest as find_suggestions
    from ..tables.reader import read_table

    if n < 1:
        raise OptionError(f"-n {n}: at least one.")
    if len(files) > 2 or (len(files) == 1 and keywords is None):
        raise OptionError(
            f"give a model and a file of texts, or --keywords and a file of texts; got {' '.join(files)}."
        )
    if len(files) == 2 and files[1].endswith(".tmm") and not files[0].endswith(".tmm"):
        raise OptionError(f"the model comes first: {shlex.join(['textmargin', 'suggest', *files[::-1]])}")
    if write is not None:
        check_writable(write, *files)
        if write.suffix.lower() != ".toml":
            raise OptionError(f"--write {write}: keywords are written as TOML, to a name that ends in .toml.")
        if write.exists():
            raise OptionError(f"--write {write}: this file is there already; choose a new name.")
    prior = None if keywords is None else KeywordPrior.from_file(keywords)
    model = load_classifier(files[0]) if len(files) == 2 else None
    usual = None if model is None else model.metadata_.get("text_column")
    table = read_table(files[-1], text=file.text, dialect=file.dialect, labels="ignored", usual=(usual, None))
    tell(table.notes, table.invalid, len(table.invalid))
    texts = table.unlabelled.texts
    found = find_suggestions(model or TextClassifier(knowledge=prior).fit(texts), texts, keywords=prior, n=n)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if write is not None:
        write_whole({write: found.to_toml().encode()})
        remark(f"{write} written; look it over, and train with --keywords {write}")


def _print(found: Suggestions) -> None:
    """All words in one table, class by class; then those of two classes, which a person has to decide on."""
    rows = []
    for name in found.counts:
        rows += [
            [name, "add", *_cells(one), f"{f'rather {one.other}: ' if one.other else ''}{one.lines[0]}"]
            for one in found.add[name]
        ]
        rows += [
            [name, "strike", *_cells(one.evidence), f"{one.reason}: {one.evidence.lines[0]}"]
            for one in found.strike[name]
        ]
    for word in found.split:
        for name, evidence in word.claims.items():
            beside = ", ".join(word.beside[name])
            rows.append(
                [
                    name,
                    "split",
                    *_cells(evidence),
                    f"{f'beside {beside}: ' if beside else ''}{evidence.lines[0]}",
                ]
            )
    if rows:
        heads = ["label", "", "word", "texts", "of the label", "times as often", "weight", "such as"]
        print_table(heads, rows, texts=(0, 1, 2, 7))
    else:
        typer.echo("Nothing to add, to strike or to split.")
    none = [name for name, count in found.counts.items() if not count]
    if none:
        typer.echo(f"No text is given {', '.join(none)}: nothing can be said of their words.")


def _cells(one: WordEvidence) -> list[str]:
    return [one.word, f"{one.n_texts:,}", f"{one.n_class:,}", f"{one.ratio:.1f}", f"{one.weight:+.2f}"]
