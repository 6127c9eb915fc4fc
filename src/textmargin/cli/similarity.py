"""The command that compares texts as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import OptionError, app, print_json, remark
from ._options import AsJson, FileOptions, check_writable, grouped, tell


@app.command()
@grouped
def similarity(
    texts: Annotated[
        list[str], typer.Argument(help="Two texts or more, or with --output one file of texts.")
    ],
    file: FileOptions,
    length: Annotated[int, typer.Option(help="Characters of a subsequence.")] = 5,
    decay: Annotated[
        float,
        typer.Option(
            help="0 to 1: what each skipped character multiplies a match by; the smaller, the more gaps cost."
        ),
    ] = 0.5,
    words: Annotated[bool, typer.Option("--words", help="Compare words instead of characters.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the matrix of all texts of a file here (.npy)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How alike texts are, by the subsequences they share: 1 for equal texts, 0 for nothing in common.

    A text shorter than --length has no subsequence to share.
    """
    import numpy as np

    from ..representations.strings import SubsequenceKernel
    from ..tables.reader import read_table

    kernel = SubsequenceKernel(length, decay, tokens="word" if words else "char")
    if output is not None:
        if len(texts) != 1:
            raise OptionError(f"--output takes one file of texts; got {len(texts)} arguments.")
        if as_json:
            raise OptionError("--json prints similarities, --output writes them to a file; choose one.")
        check_writable(output, texts[0])
        table = read_table(texts[0], text=file.text, dialect=file.dialect, labels="ignored")
        tell(table.notes, table.invalid, len(table.invalid))
        K = kernel(table.unlabelled.texts)
        _write_array(output, K)
        typer.echo(f"{len(K):,} × {len(K):,} similarities written to {output}")
        return
    for name in ["--text"] * (file.text is not None) + file.options:
        raise OptionError(f"{name} is for a file of texts and --output.")
    if len(texts) < 2:
        raise OptionError("give two texts to compare, or a file of texts and --output.")
    short = [one for one in texts if len(one.split() if words else one) < length]
    if short:
        unit = "words" if words else "characters"
        remark(
            f"{short[0]!r:.60} has fewer than --length {length} {unit}, so that it shares nothing; choose "
            "a smaller --length"
        )
    K = kernel(texts)
    if as_json:
        print_json({"length": length, "decay": decay, "texts": texts, "similarity": K.tolist()})
        return
    for i, j in zip(*np.triu_indices(len(texts), 1), strict=True):
        typer.echo(f"{K[i, j]:.6f}  {texts[i]!r}  {texts[j]!r}")


def _write_array(path: Path, K: object) -> None:
    from io import BytesIO

    import numpy as np

    from .._system.writing import write_whole

    content = BytesIO()
    np.save(content, np.asarray(K), allow_pickle=False)
    write_whole({path: content.getvalue()})
