"""A user's own files: which they are, their lines, rows and columns, in one piece or in parts."""

from typing import TYPE_CHECKING

from .._system.lazy_names import lazy_names

if TYPE_CHECKING:
    from .dialect import Dialect
    from .export import export_csv
    from .formats import file_dialect, read_rows
    from .holdout import split_at_random, split_by
    from .parts import PartedTable, open_parts
    from .reader import read_table, stream_texts
    from .record_stream import RecordBatch, RecordUse, stream_records
    from .record_writer import RecordWriter
    from .row_reader import LabelledTable, TextBatch
    from .rows import Blank, EmptyText, Header, InvalidLine, Row
    from .writer import TableWriter, open_writer, row_columns

__all__ = [
    "Blank",
    "Dialect",
    "EmptyText",
    "Header",
    "InvalidLine",
    "LabelledTable",
    "PartedTable",
    "RecordBatch",
    "RecordUse",
    "RecordWriter",
    "Row",
    "TableWriter",
    "TextBatch",
    "export_csv",
    "file_dialect",
    "open_parts",
    "open_writer",
    "read_rows",
    "read_table",
    "row_columns",
    "split_at_random",
    "split_by",
    "stream_records",
    "stream_texts",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Blank": "rows",
        "Dialect": "dialect",
        "EmptyText": "rows",
        "Header": "rows",
        "InvalidLine": "rows",
        "LabelledTable": "row_reader",
        "PartedTable": "parts",
        "RecordBatch": "record_stream",
        "RecordUse": "record_stream",
        "RecordWriter": "record_writer",
        "Row": "rows",
        "TableWriter": "writer",
        "TextBatch": "row_reader",
        "export_csv": "export",
        "file_dialect": "formats",
        "open_parts": "parts",
        "open_writer": "writer",
        "read_rows": "formats",
        "read_table": "reader",
        "row_columns": "writer",
        "split_at_random": "holdout",
        "split_by": "holdout",
        "stream_records": "record_stream",
        "stream_texts": "reader",
    },
)
