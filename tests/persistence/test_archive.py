"""Archives that somebody made up, with a seal that holds, do not come in."""

import hashlib
import random
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from model_files import NAMES, entries_of, info, kept, outcome, patched, sealed, zipped
from samples import corpus

from textmargin import KeywordPrior, load, save
from textmargin.errors import ModelFileError, TooLargeError
from textmargin.persistence import _archive
from textmargin.persistence._archive import pack

NEW = corpus(30, seed=1)[0]

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


def test_seal_made_anew_over_flipped_bits(sample, tmp_path):
    """Refused, or, where zip does not care, the same model."""
    content, expected = sample
    rng = random.Random(1)
    n_refused = 0
    for place in {*range(0, len(content) - 90, 29), *range(len(content) - 1500, len(content) - 90, 11)}:
        damaged = bytearray(content[:-64])
        damaged[place] ^= 1 << rng.randrange(8)
        (tmp_path / "model.tmm").write_bytes(bytes(damaged) + hashlib.sha256(damaged).hexdigest().encode())
        try:
            assert outcome(load(tmp_path / "model.tmm"), NEW) == expected
        except ModelFileError:
            n_refused += 1
    assert n_refused > 100


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_not_part_of_a_model(name, sample, refuses):
    refuses(pack({**entries_of(sample[0]), name: b"x"}), "which is not part of a model|unknown way")


def test_entries_out_of_order(sample, refuses):
    entries = entries_of(sample[0])
    listed = list(entries.items())
    refuses(sealed(zipped([*listed, listed[1]])), "has two entries named 'arrays/0.npy'")
    refuses(sealed(zipped([*listed, ("model.json", b"{}")])), "has two entries named 'model.json'")
    refuses(sealed(zipped([*listed, (f"arrays/{len(listed) - 1}.npy", b"")])), "does not know, or lacks")
    refuses(sealed(zipped(listed[:-1])), "does not know, or lacks")
    refuses(sealed(zipped(listed[1:])), "has no model.json")
    refuses(sealed(zipped([])), "has no model.json")
    link = info("arrays/0.npy", external_attr=(0o120777 << 16), create_system=3)
    refuses(
        sealed(zipped([listed[0], (link, b"/etc/passwd"), *listed[2:]])),
        "is a link, encrypted or packed in an unknown way",
    )
    refuses(sealed(zipped(listed, zipfile.ZIP_LZMA)), "packed in an unknown way")
    refuses(sealed(b"PK\x05\x06" + bytes(18)), "has no model.json")
    hidden = zipped([*listed[:-1], (f"arrays/{len(listed) - 2}.npy!.exe", b"x")]).replace(
        b".npy!.exe", b".npy\0.exe"
    )
    refuses(sealed(hidden), "which is not part of a model")


@pytest.mark.parametrize("declared", [0, 10, 2**20, 2**28, 2**31, 2**32 - 1])
def test_sizes_that_are_not_so(declared, sample, refuses):
    refuses(patched(sample[0], b"arrays/0.npy", 24, declared))
    refuses(patched(sample[0], b"model.json", 24, declared))
    refuses(patched(sample[0], b"arrays/0.npy", 20, declared))
    refuses(patched(sample[0], b"arrays/0.npy", 42, declared))


def test_bombs_are_refused_before_they_go_off(sample, tmp_path):
    entries = entries_of(sample[0])
    zeros = bytes(100_000_000)
    many = {**entries, **{f"arrays/{k}.npy": zeros for k in range(100, 103)}}
    packed = _archive._zipped(many, many)
    assert len(packed) < 3_000_000
    small = patched(pack({**entries, "arrays/100.npy": bytes(1000)}), b"arrays/100.npy", 24, 3_900_000_000)
    for content in (packed, small):
        (tmp_path / "model.tmm").write_bytes(content)
        tracemalloc.start()
        start = time.perf_counter()
        with pytest.raises(ModelFileError, match="as no model does"):
            load(tmp_path / "model.tmm")
        assert time.perf_counter() - start < 1
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        tracemalloc.stop()


def test_manifest_that_would_fill_the_memory_is_not_parsed(sample, refuses, monkeypatch):
    monkeypatch.setattr("json.loads", lambda *args, **kwargs: pytest.fail("parsed"))
    text = b'{"format":2,"values":[' + b"[]," * 20_000_000 + b"[]]}"
    refuses(_archive._zipped({"model.json": text}, ["model.json"]), "as no model does")


@pytest.mark.parametrize("values", [b"[],", b"{},", b"0,", b'"",', b'{"a":0},'])
def test_small_file_of_many_values_took_seconds_and_hundreds_of_megabytes(values, sample, tmp_path):
    text = b'{"format":2,"values":[' + values * (15_000_000 // len(values)) + b"[]]}"
    content = _archive._zipped({**entries_of(sample[0]), "model.json": text}, ["model.json"])
    assert len(content) < 100_000
    (tmp_path / "model.tmm").write_bytes(content)
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(ModelFileError, match=r"has a model\.json of more values than a model of its size"):
        load(tmp_path / "model.tmm")
    assert time.perf_counter() - start < 2
    assert tracemalloc.get_traced_memory()[1] < 80_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("value", [[0] * 500_000, [""] * 400_000, {f"{k:07d}": 0 for k in range(500_000)}])
def test_honest_values_may_be_many(value, tmp_path):
    assert kept(KeywordPrior(value), tmp_path).keywords == value


def test_more_values_than_can_be_read_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(_archive, "MAX_VALUES", 1000)
    with pytest.raises(
        TooLargeError, match=r"model.tmm is not written: .* terms and other values .*; use fewer terms"
    ):
        save(KeywordPrior([0] * 2000), tmp_path / "model.tmm")
    assert not list(tmp_path.iterdir())


def test_what_gets_large_is_packed_so_that_it_comes_out_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_archive, "_SMALL", 100_000)
    monkeypatch.setattr(_archive, "_RATIO", 20)
    model = KeywordPrior(np.zeros(50_000))
    assert (kept(model, tmp_path).keywords == 0).all()
    assert (tmp_path / "model.tmm").stat().st_size > 400_000


def test_more_than_asked_for_is_refused(sample, tmp_path):
    (tmp_path / "model.tmm").write_bytes(sample[0])
    with pytest.raises(
        ModelFileError, match=r"has [\d,]+ bytes, more than max_bytes=1,000; raise max_bytes if you trust it"
    ):
        load(tmp_path / "model.tmm", max_bytes=1000)
    with pytest.raises(ModelFileError, match="unpacks to"):
        load(tmp_path / "model.tmm", max_bytes=len(sample[0]) + 1)
