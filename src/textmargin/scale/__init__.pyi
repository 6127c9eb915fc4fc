from .blocks import Blocks
from .dask import DaskTexts, connect
from .predict import predict_parquet
from .texts import TextFiles
from .workers import WorkerBlocks

__all__ = ["Blocks", "DaskTexts", "TextFiles", "WorkerBlocks", "connect", "predict_parquet"]
