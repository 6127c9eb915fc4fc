"""Manifests and arrays that somebody made up do not come in, and nothing in them is executed."""

import io
import json
import pickle
import random
import time
import tracemalloc

import numpy as np
import pytest
import sklearn
from model_files import HOSTILE, changed, entries_of, forge

import textmargin
from textmargin import KernelSVC, KeywordPrior, load, save
from textmargin.errors import ModelFileError
from textmargin.persistence._archive import pack

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


@pytest.mark.parametrize("kind", HOSTILE)
def test_made_up_manifests_are_refused(kind, sample, refuses, monkeypatch):
    monkeypatch.setattr("os.system", lambda command: pytest.fail("executed"))
    refuses(changed(sample[0], HOSTILE[kind]))


def test_newer_format_names_both(sample, refuses):
    def newer(manifest):
        manifest |= {"format": 7, "textmargin": "9.1.0", "layout": "other"}

    refuses(
        changed(sample[0], newer),
        "has format 7, written by textmargin '9.1.0', while this .* reads format 2; pip install -U",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"format": NaN}', "NaN is not a number of JSON"),
        (b'{"format": Infinity}', "Infinity is not a number"),
        (b'{"format": -Infinity}', "-Infinity is not a number"),
        (b'{"format": 2e999}', "beyond the range"),
        (b'{"format": 2, "format": 2}', "stands twice"),
        (b'{"format": 2', "is not JSON"),
        (b'{"format": "\xff\xfe"}', "is not JSON"),
        ('{"format": 2}'.encode("utf-16"), "is not JSON"),
        (b"", "is not JSON"),
        (b"[" * 100_000, "nested more than"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested more than"),
        (b'"' + b'\\"' * 500_000, "is not JSON"),
        (b'{"format": ' + b"9" * 10_000 + b"}", "is not JSON"),
        (pickle.dumps("model"), "is not JSON"),
    ],
)
def test_manifests_that_are_not_strict_json(text, message, sample, refuses):
    start = time.perf_counter()
    refuses(pack({**entries_of(sample[0]), "model.json": text}), message)
    assert time.perf_counter() - start < 2


class Trap:
    """What runs when a pickle is opened."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was opened",)


def npy_of(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize("dtype", ["|O", "<f8", "|S1", "|u1"])
def test_pickles_inside_arrays_are_not_opened(dtype, sample, refuses):
    entries = entries_of(sample[0])
    trap = npy_of(np.array([Trap()], dtype=object))
    manifest = json.loads(entries["model.json"])
    manifest["arrays"]["arrays/0.npy"] |= {"dtype": dtype, "shape": [1]}
    refuses(pack({**entries, "arrays/0.npy": trap, "model.json": json.dumps(manifest).encode()}))


@pytest.mark.parametrize(
    "array",
    [
        np.array([2], dtype=np.uint8).view(bool),
        np.array([0x110000], dtype="<u4").view("<U1"),
    ],
)
def test_values_that_a_type_does_not_have(array, tmp_path):
    forge(KeywordPrior(array), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=r"with values that its type .* does not have"):
        load(tmp_path / "model.tmm")


def test_lists_in_lists_without_end(sample, refuses):
    def change(manifest):
        manifest["values"] = [{"list": []}] + [{"list": [{"at": k}]} for k in range(5000)]
        manifest["values"].append({"object": "KeywordPrior", "state": {"keywords": {"at": 4999}}})

    refuses(changed(sample[0], change), "is nested deeper than any model")


def laughing(cls, attribute, n_levels, **state):
    """A file of some hundred bytes with a list that holds 2ⁿ others, as an attribute of a class."""
    tower = [{"list": []}] + [{"list": [{"at": k}, {"at": k}]} for k in range(n_levels)]
    part = {"object": cls, "state": {**state, attribute: {"at": n_levels}}}
    versions = {"textmargin": textmargin.__version__, "scikit-learn": sklearn.__version__}
    return pack(
        {"model.json": json.dumps({"format": 2, **versions, "arrays": {}, "values": [*tower, part]}).encode()}
    )


KERNEL = {name: value for name, value in KernelSVC().get_params(deep=False).items() if name != "cache"}


@pytest.mark.parametrize("n_levels", [12, 22, 48])
@pytest.mark.parametrize(
    ("cls", "attribute", "state"),
    [
        ("Utility", "tp", {"fp": -1.0, "fn": 0.0, "tn": 0.0, "ask": None}),
        ("FBeta", "beta", {}),
        ("ScaledUtility", "utility", {"floor": -0.5, "absolute": False}),
        ("KernelStore", "folder", {"max_bytes": 10**9}),
        ("KernelSVC", "cache", KERNEL),
    ],
)
def test_a_few_hundred_bytes_took_seconds_and_a_gigabyte(cls, attribute, state, n_levels, refuses):
    content = laughing(cls, attribute, n_levels, **state)
    assert len(content) < 2000
    tracemalloc.start()
    start = time.perf_counter()
    refuses(
        content,
        "so often that they would never end" if n_levels > 20 else f"has a {cls} whose {attribute} is a list",
    )
    assert time.perf_counter() - start < 1
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_what_would_not_be_loaded_is_not_saved(tmp_path):
    tower = []
    for _ in range(22):
        tower = [tower, tower]
    with pytest.raises(
        ModelFileError, match="is not written: it holds the same parts in one another too often"
    ):
        save(KeywordPrior(tower), tmp_path / "model.tmm")


def test_manifests_changed_at_random(sample, tmp_path, monkeypatch):
    """Whatever is in a manifest: it is refused in words, or it makes a model; nothing else happens."""
    monkeypatch.setattr("os.system", lambda command: pytest.fail("executed"))
    entries = entries_of(sample[0])
    text = entries["model.json"].decode()
    tokens = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "null",
        "true",
        "-1",
        "1e400",
        '"at"',
        '"object"',
        '"__init__"',
        '"KernelSVC"',
        "99",
        '""',
    ]
    rng = random.Random(2)
    n_refused = 0
    for _ in range(400):
        a = rng.randrange(len(text))
        new = text[:a] + rng.choice(tokens) + text[a + rng.choice([0, 1, 1, 2, 5, 40]) :]
        (tmp_path / "model.tmm").write_bytes(pack({**entries, "model.json": new.encode()}))
        try:
            load(tmp_path / "model.tmm")
        except ModelFileError:
            n_refused += 1
    assert n_refused > 300
