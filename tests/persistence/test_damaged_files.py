"""Files that are damaged or foreign do not come in."""

import pickle
import random

import pytest
from model_files import entries_of, zipped

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


def test_every_truncation_is_noticed(sample, refuses):
    content, _ = sample
    for n in [*range(0, 200), *range(200, len(content), 61), *range(len(content) - 150, len(content))]:
        refuses(content[:n], "is empty|is cut off|is not a textmargin model")


def test_every_flipped_bit_is_noticed(sample, refuses):
    content, _ = sample
    rng = random.Random(0)
    for place in {*range(0, len(content), 7), *range(len(content) - 200, len(content))}:
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        refuses(bytes(damaged))


def test_additions_and_gaps_are_noticed(sample, refuses):
    content, _ = sample
    refuses(content + b"\0")
    refuses(b"\0" + content)
    refuses(content[:500] + content[501:])
    refuses(content[:500] + bytes(4096) + content[500:])
    refuses(content + content, "is damaged")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; it was perhaps not written to the end"),
        (
            pickle.dumps({"a": 1}),
            "is not a textmargin model, but a pickle, which could run anything when opened",
        ),
        (b"\x78\x9c\x03\x00", "but a compressed pickle of joblib"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "but an image"),
        (b"\x1f\x8b\x08" + bytes(100), "but a gzip file"),
        (b"\x93NUMPY\x01\x00" + bytes(100), "but a NumPy array"),
        (b'{"format": 2}', "but perhaps JSON"),
        (
            b"text,label\nhello,ham\n",
            "is not a textmargin model; give a file that `textmargin train`, or save, wrote",
        ),
        (bytes(range(32, 256)) * 50, "is not a textmargin model"),
    ],
)
def test_foreign_files_are_called_by_name(content, message, refuses):
    refuses(content, message)


def test_random_zip_is_foreign(sample, refuses):
    refuses(zipped([("word/document.xml", b"<xml/>")]), "but a zip archive")
    refuses(zipped([]), "but an empty zip archive")
    refuses(zipped(entries_of(sample[0]).items()), "is cut off")
