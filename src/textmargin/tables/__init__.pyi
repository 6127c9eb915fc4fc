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
