"""What has a record, which files are refused, and how a file comes to be."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from attack import damaged_models
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import textmargin
from textmargin import (
    BagOfWords,
    KernelSVC,
    KeywordPrior,
    PriorSVC,
    TextClassifier,
    ThresholdClassifier,
    load,
    save,
)
from textmargin.errors import ModelFileError
from textmargin.persistence.file import write_file
from textmargin.records import record


@record()
@dataclass
class Box:
    """Holds anything."""

    content: Any


def again(value, folder):
    save(Box(value), folder / "box.tmm")
    return load(folder / "box.tmm").content


def same(a, b):
    if isinstance(a, np.ndarray):
        ordered = b.flags.f_contiguous or not a.flags.f_contiguous or a.flags.c_contiguous
        return a.shape == b.shape and a.dtype == b.dtype and ordered and same(a.tolist(), b.tolist())
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(value, b[key]) for key, value in a.items())
    if sp.issparse(a):
        return type(a) is type(b) and a.shape == b.shape and (a != b).nnz == 0
    return type(a) is type(b) and (a == b or (a != a and b != b))


plain = st.characters(exclude_categories=["Cs"])
keys = st.none() | st.booleans() | st.integers() | st.text(plain) | st.floats(allow_nan=False)
keys = keys | st.tuples(keys, keys)
values = st.recursive(
    keys | st.floats(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner)
        | st.sets(keys)
        | st.frozensets(keys)
    ),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values)
def test_values_come_back_as_they_were(value, tmp_path):
    assert same(value, again(value, tmp_path))


CUBE = np.arange(24.0).reshape(2, 3, 4)
ARRAYS = [
    *(np.array(3.5), np.zeros((0, 5)), CUBE, np.asfortranarray(CUBE), CUBE[0].T, CUBE[:, ::2]),
    *(np.float16([1, 2]), np.arange(3, dtype=np.uint64), np.array([True, False]), np.array([], object)),
    *(
        np.array("abc"),
        np.array(["", "ü😡"]),
        np.array([["a"], ["bb"]]),
        np.array([["a", 1], [None, 2.5]], object),
    ),
    *(kind(np.eye(3)[:2]) for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array)),
    *([f"text {i} \ud800 ü" for i in range(1000)], {"a.b": CUBE, "a": {"b": CUBE[0]}, 5: [CUBE]}, {"$": 1}),
]


@pytest.mark.parametrize("value", ARRAYS, ids=range(len(ARRAYS)))
def test_arrays_and_long_lists_come_back_as_they_were(value, tmp_path):
    assert same(value, again(value, tmp_path))


def test_numbers_of_numpy_become_plain_ones_and_paths_strings(tmp_path):
    value = [
        np.float32(0.5),
        np.int8(-3),
        np.bool_(True),
        np.str_("ab"),
        Path("a/b"),
        np.array([1, 2], ">i4"),
    ]
    found = again(value, tmp_path)
    assert found[:5] == [0.5, -3, True, "ab", str(Path("a/b"))]
    assert [type(one) for one in found[:4]] == [float, int, bool, str]
    assert found[5].tolist() == [1, 2]


def circular():
    own = {}
    own["itself"] = [own]
    return own


class Mine(PriorSVC):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            TextClassifier(learner=LogisticRegression()),
            r"learner is a sklearn\.\S+LogisticRegression; model files hold textmargin's own classes\. "
            "Leave that part out, or save the model with skops or pickle",
        ),
        (TextClassifier(learner=Mine()), r"learner is a \S+\.Mine; "),
        (TextClassifier(BagOfWords(analyzer=len)), "representation.analyzer is the function len"),
        (TextClassifier(decision=ThresholdClassifier(rule=max)), "decision.rule is the function max"),
        (KernelSVC(prior_scores={"a": len}), "prior_scores.a is the function len"),
        (KeywordPrior(PriorSVC), "keywords is the class PriorSVC"),
        (KeywordPrior({"ü": 1j}), r"keywords.\\xfc is a complex"),
        (KeywordPrior(circular()), r"keywords.itself.0.* is nested more than 40 deep, or contains itself"),
        (KeywordPrior(np.array(["2020-01-01"], "M8[D]")), "keywords is an array of datetime64"),
        (KeywordPrior(["x"] * 1_100_000 + [1]), "MB. A file has room for 16 MB"),
        (len, "the model is the function len"),
    ],
)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(model, message, tmp_path):
    with pytest.raises(ModelFileError, match=f"model.tmm is not written: .*{message}"):
        save(model, tmp_path / "model.tmm")
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_or_read(tmp_path):
    with pytest.raises(
        ModelFileError, match=r"m\.tmm cannot be written: there is no folder .*there; make it"
    ):
        save(PriorSVC(), tmp_path / "not" / "there" / "m.tmm")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match="cannot be written"):
        save(PriorSVC(), tmp_path)
    with pytest.raises(ModelFileError, match="There is no file "):
        load(tmp_path / "nothing.tmm")
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "model.tmm is not a textmargin model; give a file"),
        (b"\x80\x04" + bytes(500), "model.tmm is a pickle, which could run anything"),
        (b"PK\x03\x04" + bytes(500), "model.tmm is a zip archive, not a textmargin model of this version"),
        (bytes(5000), "model.tmm is not a textmargin model; give a file"),
    ],
)
def test_other_files_are_named(content, message, tmp_path):
    (tmp_path / "model.tmm").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model.tmm")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    save(PriorSVC(), tmp_path / "model.tmm")
    before = (tmp_path / "model.tmm").read_bytes()

    def fail(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("textmargin._system.writing._sync", fail)
    with pytest.raises(ModelFileError, match="cannot be written: No space left"):
        save(PriorSVC(C=2.0), tmp_path / "model.tmm")
    assert [path.name for path in tmp_path.iterdir()] == ["model.tmm"]
    assert (tmp_path / "model.tmm").read_bytes() == before


def test_damaged_files_are_refused():
    """`python tests/attack/damaged_models.py --cases 2000` tries more of them."""
    assert len({damaged_models.damaged_case(seed) for seed in range(300)}) > 5


def test_made_up_files_run_nothing():
    assert sum(map(damaged_models.made_up_case, range(300))) > 30  # that load


@pytest.mark.parametrize(
    "name", ["os.system", "system", "core", "load", "LogisticRegression", ["x"], None, 1]
)
def test_a_file_names_no_class_but_those_with_a_record(name, tmp_path):
    write_file(tmp_path / "model.tmm", {"$": "record", "class": name, "fields": {"command": "true"}}, {})
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    "path", sorted(Path(textmargin.__file__).parent.rglob("*.py")), ids=lambda path: path.name
)
def test_no_file_of_the_package_can_open_pickles(path):
    tree = ast.parse(path.read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    forbidden = {"pickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"}
    if path.parts[-2:] == ("scale", "dask.py"):  # to a cluster's own workers; never a file
        forbidden -= {"cloudpickle"}
    assert not {name.split(".")[0] for name in imported} & forbidden
