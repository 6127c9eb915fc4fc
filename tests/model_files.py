"""Files of models for tests: kept, taken apart, and made up so that their seals hold."""

import hashlib
import io
import json
import struct
import warnings
import zipfile

import numpy as np

from textmargin import load, save
from textmargin.persistence import _seal
from textmargin.persistence._archive import pack
from textmargin.persistence._encoding import Encoder
from textmargin.persistence._manifest import write_manifest


def outcome(model, texts):
    """All that a model says of texts, to the bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(model, name)]
        found = [np.asarray(getattr(model, name)(texts)) for name in methods]
    return methods, [
        (array.dtype, array.shape, array.tolist() if array.dtype == object else array.tobytes())
        for array in found
    ]


def kept(model, folder):
    save(model, folder / "model.tmm")
    return load(folder / "model.tmm")


def forge(model, path):
    """Write a model that `save` refuses, as somebody might who does not use it."""
    encoder = Encoder()
    encoder.model(model)
    path.write_bytes(pack(write_manifest(encoder.values, encoder.arrays)))


def zipped(entries, method=zipfile.ZIP_DEFLATED):
    """A plain archive of (name or ZipInfo, content)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that stand twice
        for name, content in entries:
            archive.writestr(name, content)
    return stream.getvalue()


def sealed(archive):
    """An archive with a seal that holds."""
    end = archive.rindex(b"PK\x05\x06")
    body = archive[: end + 20] + struct.pack("<H", _seal._N_SEAL) + _seal._SEAL
    return body + hashlib.sha256(body).hexdigest().encode()


def entries_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def patched(content, name, offset, value):
    """The directory's line for an entry, with a number of four bytes changed."""
    content = bytearray(content[:-64])
    line = content.index(name, content.index(b"PK\x01\x02")) - 46
    struct.pack_into("<L", content, line + offset, value)
    return bytes(content) + hashlib.sha256(content).hexdigest().encode()


def changed(content, change):
    """The file with its manifest changed, and packed and sealed as if by `save`."""
    entries = entries_of(content)
    manifest = json.loads(entries["model.json"])
    new = change(manifest)
    return pack({**entries, "model.json": json.dumps(manifest if new is None else new).encode()})


def with_terms(*names, entry=None):
    """A change: the array that the terms of a vocabulary are is another value, called otherwise, or not
    there.
    """

    def change(manifest):
        state = next(own["state"] for own in manifest["values"] if own.get("object") == "BagOfWords")
        place = state.pop("_term_block")
        manifest["values"][place["at"]] = entry
        state |= dict.fromkeys(names, place)

    return change


def with_value(value):
    """A change: what is known is another value."""

    def change(manifest):
        prior = next(entry for entry in manifest["values"] if entry.get("object") == "KeywordPrior")
        prior["state"]["keywords"] = value

    return change


def with_entry(entry):
    """A change: the numbered value that keywords are is another one."""

    def change(manifest):
        prior = next(entry for entry in manifest["values"] if entry.get("object") == "KeywordPrior")
        manifest["values"][prior["state"]["keywords"]["at"]] = entry

    return change


def set_in(*path, value):
    def change(manifest):
        for step in path[:-1]:
            manifest = manifest[step]
        manifest[path[-1]] = value

    return change


def without(name):
    return lambda manifest: {key: value for key, value in manifest.items() if key != name}


def info(name, **attributes):
    found = zipfile.ZipInfo(name)
    for attribute, value in attributes.items():
        setattr(found, attribute, value)
    return found


# What somebody might put into a file.

NAMES = [
    "../model.json",
    "/etc/passwd",
    "arrays/../../x.npy",
    "C:\\x.npy",
    "arrays\\0.npy",
    "arrays/",
    "arrays/00.npy",
    "arrays/-1.npy",
]
NAMES += [
    "arrays/x.npy",
    "model.json/",
    "MODEL.JSON",
    "notes.txt",
    "ärrays/0.npy",
    "arrays/٣.npy",
    "arrays/9999999.npy",
]


ARRAY = ("arrays", "arrays/0.npy")
HOSTILE = {
    "object os.system": with_entry({"object": "os.system", "state": {}}),
    "object builtins.eval": with_entry({"object": "builtins.eval", "state": {}}),
    "object posix.system": with_entry({"object": "system", "state": {}}),
    "class of scikit-learn that is not listed": with_entry({"object": "SVC", "state": {}}),
    "class by its module": with_entry({"object": "textmargin.learners.primal.PriorSVC", "state": {}}),
    "class that is no name": with_entry({"object": ["PriorSVC"], "state": {}}),
    "class without attributes": with_entry({"object": "PriorSVC"}),
    "class with more": with_entry({"object": "PriorSVC", "state": {}, "reduce": "os.system"}),
    "parameters missing": with_entry({"object": "PriorSVC", "state": {}}),
    "strange parameter": with_entry(
        {"object": "Rocchio", "state": {"positive": 1.0, "negative": 1.0, "command": "rm"}}
    ),
    "__class__": with_entry(
        {"object": "Rocchio", "state": {"positive": 1.0, "negative": 1.0, "__class__": "x"}}
    ),
    "__reduce__": with_entry(
        {"object": "Rocchio", "state": {"positive": 1.0, "negative": 1.0, "__reduce__": "x"}}
    ),
    "__dict__": with_entry(
        {"object": "Utility", "state": {"tp": 1.0, "fp": -1.0, "fn": 0.0, "tn": 0.0, "__dict__": None}}
    ),
    "method hidden": with_entry(
        {"object": "Rocchio", "state": {"positive": 1.0, "negative": 1.0, "predict": 3}}
    ),
    "property hidden": with_entry(
        {"object": "KernelStore", "state": {"folder": "x", "max_bytes": 1, "_tiles": 3}}
    ),
    "class attribute hidden": set_in("values", -1, "state", "score", value=1),
    "attribute that is no name": with_entry(
        {"object": "Rocchio", "state": {"positive": 1.0, "negative": 1.0, "a b": 1}}
    ),
    "utility that makes no sense": with_entry(
        {"object": "Utility", "state": {"tp": -1.0, "fp": 1.0, "fn": 0.0, "tn": 0.0}}
    ),
    "utility of strings": with_entry(
        {"object": "Utility", "state": {"tp": "a", "fp": "b", "fn": "c", "tn": "d"}}
    ),
    "function os.system": with_value({"function": "os.system"}),
    "function eval": with_value({"function": "eval"}),
    "function str.format": with_value({"function": "str.format"}),
    "method that nobody asks for": with_entry({"method": [{"at": 0}, "__init__"]}),
    "method of a string": with_entry({"method": ["text", "predict"]}),
    "method of an array": with_entry({"method": [{"at": 0}, "predict"]}),
    "analyzer of nothing": with_entry({"analyzer": "text"}),
    "itself": with_value({"at": 10**6}),
    "negative number": with_value({"at": -1}),
    "number that is true": with_value({"at": True}),
    "number that is a fraction": with_value({"at": 0.5}),
    "cycle": lambda manifest: manifest["values"].insert(0, {"list": [{"at": 0}]}),
    "unknown kind in place": with_value({"pickle": "gASVAA=="}),
    "two kinds in place": with_value({"float": "nan", "bytes": ""}),
    "list in place": with_value([1, 2]),
    "unknown kind": with_entry({"pickle": "gASVAA=="}),
    "nothing": with_entry({}),
    "no value": with_entry(None),
    "list of nothing": with_entry({"list": 3}),
    "dict of nothing": with_entry({"dict": [1]}),
    "pairs that are none": with_entry({"pairs": [[1, 2, 3]]}),
    "key twice": with_entry({"pairs": [[1, 2], [1, 3]]}),
    "key that is a part": with_entry({"pairs": [[{"at": 0}, 1]]}),
    "key with a part inside": with_entry({"set": [{"tuple": [1, {"tuple": [{"at": 0}]}]}]}),
    "float that is none": with_value({"float": "1; import os"}),
    "bytes that are none": with_value({"bytes": "***"}),
    "path of nothing": with_value({"path": 3}),
    "type object": with_value({"type": "|O"}),
    "type of a record": with_value({"dtype": "i4,O"}),
    "number of objects": with_value({"numpy": ["|O", "x"]}),
    "number that does not fit": with_value({"numpy": ["|i1", 1000]}),
    "array that is not there": with_entry({"array": 10**6}),
    "shape that does not fit": with_entry({"objects": [1, 2], "shape": [10**12]}),
    "sparse without numbers": with_entry({"csr_matrix": ["a", "b", "c"], "shape": [1, 1]}),
    "object array as dtype": set_in(*ARRAY, "dtype", value="|O"),
    "record as dtype": set_in(*ARRAY, "dtype", value="[('a', 'O')]"),
    "dates as dtype": set_in(*ARRAY, "dtype", value="<M8[D]"),
    "strings of no length": set_in(*ARRAY, "dtype", value="<U0"),
    "huge strings": set_in(*ARRAY, "dtype", value="<U999999999"),
    "huge shape": set_in(*ARRAY, "shape", value=[10**12, 10**12]),
    "huge shape of nothing": set_in(*ARRAY, "shape", value=[10**15, 0]),
    "negative shape": set_in(*ARRAY, "shape", value=[-1]),
    "shape of fractions": set_in(*ARRAY, "shape", value=[1.5]),
    "shape that is no list": set_in(*ARRAY, "shape", value="3"),
    "too many dimensions": set_in(*ARRAY, "shape", value=[1] * 100),
    "other order": set_in(*ARRAY, "fortran", value=True),
    "digest of something else": set_in(*ARRAY, "sha256", value="0" * 64),
    "no digest": set_in(*ARRAY, "sha256", value=None),
    "array under another name": lambda manifest: manifest["arrays"].update(
        {"../0.npy": manifest["arrays"].pop("arrays/0.npy")}
    ),
    "arrays that are none": set_in("arrays", value=[]),
    "values that are none": set_in("values", value={}),
    "no values": set_in("values", value=[]),
    "ends in a list": lambda manifest: manifest["values"].append({"list": []}),
    "newer format": set_in("format", value=3),
    "older format": set_in("format", value=1),
    "format 0": set_in("format", value=0),
    "format that is no number": set_in("format", value="1"),
    "format that is true": set_in("format", value=True),
    "version that is none": set_in("textmargin", value=1),
    "no version": without("scikit-learn"),
    "something more": set_in("execute", value="os.system('true')"),
    "manifest that is a list": lambda manifest: [1],
    "manifest that is a word": lambda manifest: "model",
    "vocabulary beyond the matrix": with_terms("_vocabulary", entry={"dict": {"corn": 10**9}}),
    "vocabulary of a list": with_terms("_vocabulary", entry={"list": ["corn"]}),
    "vocabulary in place of a property": with_terms("vocabulary_", entry={"dict": {"corn": 0}}),
    "terms in a list": with_terms("_term_block", entry={"list": ["corn"]}),
    "terms in two ways": with_terms("_vocabulary", "_term_block", entry={"dict": {"corn": 0}}),
}


def part_of(manifest, cls):
    """The attributes of the first object of a class."""
    return next(entry for entry in manifest["values"] if entry.get("object") == cls)["state"]


def set_of(cls, name, value):
    """A change: an attribute of the first object of a class is another."""

    def change(manifest):
        part_of(manifest, cls)[name] = value

    return change


def drop_of(cls, name):
    """A change: an attribute of the first object of a class is missing."""

    def change(manifest):
        part_of(manifest, cls).pop(name)

    return change
