"""Files that are damaged, foreign or hostile do not come in, and nothing in them is executed."""

import hashlib
import io
import json
import pickle
import random
import time
import tracemalloc
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from model_files import HOSTILE, NAMES, changed, entries_of, forge, info, kept, outcome, patched, sealed, set_in, zipped
from samples import TOPICS, corpus
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

import textmargin
from textmargin import (
    T10U,
    BagOfWords,
    KernelSVC,
    KeywordPrior,
    SpectrumKernel,
    SubsequenceFeatures,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    load,
    save,
)
from textmargin.decider import load_decider
from textmargin.errors import ModelFileError, TextmarginWarning, TooLargeError
from textmargin.persistence import _archive, load_classifier
from textmargin.persistence._archive import pack
from textmargin.representations._vocabulary import Vocabulary

TEXTS, LABELS = corpus(80)
NEW = corpus(30, seed=1)[0]

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")

# First what comes by accident.


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A model's file, and what the model says."""
    path = tmp_path_factory.mktemp("sample") / "model.tmm"
    model = TextClassifier(knowledge=KeywordPrior(TOPICS), decision=ThresholdClassifier()).fit(TEXTS[:20], LABELS[:20])
    save(model, path)
    return path.read_bytes(), outcome(model, NEW)


@pytest.fixture
def refuses(tmp_path):
    """That a file is refused, in words that name it; by who loads it to decide and nothing else in the same words."""

    def check(content, message=None):
        path = tmp_path / "model.tmm"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert str(caught.value).endswith(".")
        with pytest.raises(ModelFileError) as other:
            load_decider(path)
        assert str(other.value) == str(caught.value)

    return check


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
        (pickle.dumps({"a": 1}), "is not a textmargin model, but a pickle, which could run anything when opened"),
        (b"\x78\x9c\x03\x00", "but a compressed pickle of joblib"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "but an image"),
        (b"\x1f\x8b\x08" + bytes(100), "but a gzip file"),
        (b"\x93NUMPY\x01\x00" + bytes(100), "but a NumPy array"),
        (b'{"format": 2}', "but perhaps JSON"),
        (b"text,label\nhello,ham\n", "is not a textmargin model; give a file that `textmargin train`, or save, wrote"),
        (bytes(range(32, 256)) * 50, "is not a textmargin model"),
    ],
)
def test_foreign_files_are_called_by_name(content, message, refuses):
    refuses(content, message)


def test_random_zip_is_foreign(sample, refuses):
    refuses(zipped([("word/document.xml", b"<xml/>")]), "but a zip archive")
    refuses(zipped([]), "but an empty zip archive")
    refuses(zipped(entries_of(sample[0]).items()), "is cut off")


# Then what somebody makes up, with a seal that holds.


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
    refuses(sealed(zipped([listed[0], (link, b"/etc/passwd"), *listed[2:]])), "is a link, encrypted or packed in an unknown way")
    refuses(sealed(zipped(listed, zipfile.ZIP_LZMA)), "packed in an unknown way")
    refuses(sealed(b"PK\x05\x06" + bytes(18)), "has no model.json")
    hidden = zipped([*listed[:-1], (f"arrays/{len(listed) - 2}.npy!.exe", b"x")]).replace(b".npy!.exe", b".npy\0.exe")
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
    with pytest.raises(TooLargeError, match=r"model.tmm is not written: .* terms and other values .*; use fewer terms"):
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
    with pytest.raises(ModelFileError, match=r"has [\d,]+ bytes, more than max_bytes=1,000; raise max_bytes if you trust it"):
        load(tmp_path / "model.tmm", max_bytes=1000)
    with pytest.raises(ModelFileError, match="unpacks to"):
        load(tmp_path / "model.tmm", max_bytes=len(sample[0]) + 1)


@pytest.mark.parametrize("kind", HOSTILE)
def test_made_up_manifests_are_refused(kind, sample, refuses, monkeypatch):
    monkeypatch.setattr("os.system", lambda command: pytest.fail("executed"))
    refuses(changed(sample[0], HOSTILE[kind]))


def test_newer_format_names_both(sample, refuses):
    def newer(manifest):
        manifest |= {"format": 7, "textmargin": "9.1.0", "layout": "other"}

    refuses(
        changed(sample[0], newer), "has format 7, written by textmargin '9.1.0', while this .* reads format 2; pip install -U"
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


@pytest.mark.parametrize(
    ("block", "ends", "message"),
    [
        (b"corn", [[1, 4]], "no vector of int64"),
        (b"corn", [1.0, 4.0], "no vector of int64"),
        (b"corn", [3, 2, 4], "do not end one after the other"),
        (b"corn", [-1, 4], "do not end one after the other"),
        (b"corn", [2, 3], "do not end one after the other"),
        (b"corn", [2, 2**62], "do not end one after the other"),
        (b"", [], None),
        (b"corn\xff", [4, 5], "not UTF-8"),
        ("\ud800oat".encode("utf-8", "surrogatepass"), [3, 6], None),
        ("köln".encode(), [2, 5], "end within a character"),
        (b"cornoatcorn", [4, 7, 11], "stands twice"),
        (b"a\0a", [2, 3], None),
        (b"corn", [0, 0, 4], "stands twice"),
    ],
)
def test_vocabulary_that_is_no_list_of_terms(block, ends, message, tmp_path):
    ends = np.array(ends, dtype=None if ends else np.int64)
    model = BagOfWords()
    model._vocabulary = Vocabulary(np.frombuffer(block, dtype=np.uint8), ends)
    forge(model, tmp_path / "model.tmm")
    if message is None:
        assert [*load(tmp_path / "model.tmm").vocabulary_.values()] == [*range(len(ends))]
    else:
        with pytest.raises(ModelFileError, match=f"has a BagOfWords with a vocabulary .*{message}"):
            load(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("estimator", None, "has a ThresholdClassifier that cannot be: The 'estimator' parameter of ThresholdClassifier must be"),
        ("utility", SpectrumKernel(2), "has a ThresholdClassifier whose utility is a SpectrumKernel"),
    ],
)
def test_settings_of_a_fitted_threshold_classifier_failed_when_costs_came(setting, value, message, tmp_path):
    model = TextClassifier(decision=ThresholdClassifier()).fit(TEXTS[:20], LABELS[:20])
    setattr(model.model_, setting, value)
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("rule", np.float32, "rule is the type float32"),
        ("rule", T10U, "rule is Utility"),
        ("rule", chi2, "rule is <function chi2"),
        ("random_state", -1, "random_state"),
        ("utility", chi2, "utility is a function"),
    ],
)
def test_rules_that_cannot_set_a_threshold_failed_when_costs_came(setting, value, message, tmp_path):
    test_settings_of_a_fitted_threshold_classifier_failed_when_costs_came(setting, value, message, tmp_path)


def test_a_decision_that_is_none_failed_when_costs_came(tmp_path):
    model = TextClassifier(decision=ThresholdClassifier()).fit(TEXTS[:20], LABELS[:20])
    model.decision = model.learner_
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="decision is a PriorSVC, where it decides by a ThresholdClassifier"):
        load(tmp_path / "model.tmm")


def test_a_classifier_without_a_word_of_unlabelled_texts_failed_when_costs_came(fitted, refuses):
    refuses(
        changed(fitted["three"], forget("_unlabelled", "TextClassifier")), "has a TextClassifier whose _unlabelled is missing"
    )


@pytest.mark.parametrize("analyzer", ["word", str.split])
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("strip_accents", np.float32, "strip_accents is the type float32"),
        ("strip_accents", T10U, "strip_accents is Utility.* which fails on a text"),
        ("preprocessor", str.split, "preprocessor is <method 'split' .* no function from a text to str"),
        ("preprocessor", chi2, "preprocessor is <function chi2 .* which fails on a text"),
        ("tokenizer", str.upper, "tokenizer is <method 'upper' .* no function from a text to list or tuple"),
        ("analyzer", T10U, "analyzer is Utility.* which fails on a text"),
    ],
)
def test_functions_of_something_else_failed_on_texts(setting, value, message, analyzer, tmp_path):
    words = BagOfWords(analyzer=analyzer).fit(TEXTS[:20])
    setattr(words, setting, value)
    forge(words, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a BagOfWords whose {message}"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("progress", [T10U, "yes", 3])
@pytest.mark.parametrize("kind", [SubsequenceKernel, SpectrumKernel, SubsequenceFeatures])
def test_a_progress_that_nobody_can_be_told_failed_after_two_seconds(kind, progress, tmp_path):
    forge(kind(progress=progress), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a {kind.__name__} whose progress is a"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("classes", [np.array(["grain", "money"]), ["grain", "money", "oil"], np.array(["grain"] * 3)])
@pytest.mark.parametrize("learner", [ComplementNB(), LogisticRegression()])
def test_classes_of_scikit_learn_that_are_not_those_of_its_weights_failed_in_predict(learner, classes, tmp_path):
    model = TextClassifier(learner=learner).fit(TEXTS, LABELS)
    model.model_.classes_ = classes
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a {type(learner).__name__} whose .*(classes_|feature_log_prob_|coef_)"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("n_jobs", [0, False])
def test_no_thread_at_all_failed_in_predict(n_jobs, tmp_path):
    forge(SubsequenceKernel(3, n_jobs=n_jobs), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a SubsequenceKernel whose n_jobs is {n_jobs}"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_sparse_matrices_that_point_outside(part, tmp_path):
    X = sp.csr_matrix(np.eye(3))
    getattr(X, part)[-1] = 10**6
    forge(KeywordPrior(X), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="cannot be built"):
        load(tmp_path / "model.tmm")


def test_a_sparse_matrix_without_numbers_whose_rows_end_before_they_begin_crashed_the_process(tmp_path):
    """What scipy takes for empty, by the end of the last row, it does not look at further."""
    X = sp.csr_matrix(np.eye(3))
    X.indptr[1:] = 10**8, 2, 0
    forge(KeywordPrior(X), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="a sparse matrix whose rows end before they begin"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("n_features", [0, -5, 2**40])
def test_numbers_that_compiled_code_would_trip_over(n_features, tmp_path):
    forge(HashingVectorizer(n_features=n_features), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="The 'n_features' parameter of HashingVectorizer must be"):
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
    return pack({"model.json": json.dumps({"format": 2, **versions, "arrays": {}, "values": [*tower, part]}).encode()})


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
    refuses(content, "so often that they would never end" if n_levels > 20 else f"has a {cls} whose {attribute} is a list")
    assert time.perf_counter() - start < 1
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("value", [None, "1", {"tuple": [1, 2]}])
def test_utility_of_something_else_than_numbers(value, sample, refuses):
    def change(manifest):
        next(entry for entry in manifest["values"] if entry.get("object") == "Utility")["state"]["tp"] = value

    refuses(changed(sample[0], change), "has a Utility whose tp is a (NoneType|str|tuple)")


def test_what_would_not_be_loaded_is_not_saved(tmp_path):
    tower = []
    for _ in range(22):
        tower = [tower, tower]
    with pytest.raises(ModelFileError, match="is not written: it holds the same parts in one another too often"):
        save(KeywordPrior(tower), tmp_path / "model.tmm")


# What `textmargin train` writes.


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Files of models with three labels, two, and several a text."""
    folder, found = tmp_path_factory.mktemp("fitted"), {}
    several = [(label, "long") if len(text) > 45 else (label,) for text, label in zip(TEXTS, LABELS.tolist(), strict=True)]
    for name, labels in (("three", LABELS), ("two", LABELS == "oil"), ("several", several)):
        TextClassifier().fit(TEXTS, labels).save(folder / name)
        found[name] = (folder / name).read_bytes()
    return found


def part_of(manifest, cls):
    return next(entry for entry in manifest["values"] if entry.get("object") == cls)["state"]


def array_of(values, *classes, of="names"):
    """A change: an attribute of objects of these classes is another array."""

    def change(manifest):
        manifest["values"].insert(0, {"objects": values, "shape": [len(values)]})
        _count_up(manifest["values"][1:])
        for cls in classes:
            part_of(manifest, cls)[of] = {"at": 0}

    return change


def _count_up(value):
    """All numbers of values, when one comes before them."""
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inside, dict) and set(inside) == {"at"}:
            inside["at"] += 1
        else:
            _count_up(inside)


def set_of(cls, name, value):
    def change(manifest):
        part_of(manifest, cls)[name] = value

    return change


def drop_of(cls, name):
    def change(manifest):
        part_of(manifest, cls).pop(name)

    return change


@pytest.mark.parametrize(
    ("cls", "name", "value", "message"),
    [
        ("TextClassifier", "labels_", None, "has a TextClassifier whose labels_ is a NoneType"),
        ("TextClassifier", "labels_", "labels", "has a TextClassifier whose labels_ is a str"),
        ("TextClassifier", "classes_", None, "has a TextClassifier whose classes_ is a NoneType"),
        ("TextClassifier", "classes_", {"tuple": ["grain", "money", "oil"]}, "has a TextClassifier whose classes_ is a tuple"),
        ("TextClassifier", "metadata_", "me", "has a TextClassifier whose metadata_ is a str"),
        ("TextClassifier", "text_digests_", "me", "has a TextClassifier whose text_digests_ is a str"),
        ("ClassLabels", "names", {"tuple": ["grain", "money", "oil"]}, "has a ClassLabels whose names is a tuple"),
        ("ClassLabels", "kind", 3, "has a ClassLabels whose kind is a int"),
        ("ClassLabels", "positive", "oil", "has a ClassLabels whose positive is a str"),
        ("ClassLabels", "form", None, "has a ClassLabels whose form is a NoneType"),
        ("ClassLabels", "kind", "many", "has labels of kind 'many', given as 'names'"),
        ("ClassLabels", "form", "words", "has labels of kind 'multiclass', given as 'words'"),
        ("ClassLabels", "kind", "binary", "has labels that are not its classes"),
        ("ClassLabels", "kind", "multilabel", "has 3 names of classes, where its model decides on others"),
        ("ThresholdClassifier", "multilabel_", True, "whose _calibration is of kind multiclass, where labels are multilabel"),
    ],
)
def test_classifier_of_the_wrong_parts_failed_in_predict(cls, name, value, message, fitted, refuses):
    refuses(changed(fitted["three"], set_of(cls, name, value)), message)


@pytest.mark.parametrize("positive", [-1, 2, 10**6])
def test_positive_that_is_none_of_two_classes(positive, fitted, refuses):
    refuses(changed(fitted["two"], set_of("ClassLabels", "positive", positive)), "has labels that are not its classes")


@pytest.mark.parametrize("names", [["grain"], ["grain", "money"], ["a", "b", "c", "d"], ["a", "b", 3]])
@pytest.mark.parametrize("kind", ["three", "several"])
def test_classifier_with_other_names_than_its_classes_failed_in_predict(names, kind, fitted, refuses):
    refuses(changed(fitted[kind], array_of(names, "ClassLabels")), "has labels that are not its classes")


def test_classifier_with_other_classes_than_its_model_failed_in_predict(fitted, tmp_path, refuses):
    for labels in (["a", "b", "c"], ["grain", "money"]):
        model = TextClassifier().fit(TEXTS, LABELS)
        model.classes_ = np.array(labels)
        model.labels_ = replace(model.labels_, names=model.classes_, kind="multiclass")
        forge(model, tmp_path / "other.tmm")
        message = f"has {len(labels)} names of classes, where its model decides on others"
        refuses((tmp_path / "other.tmm").read_bytes(), message)


def test_classifier_with_another_number_of_classes_than_a_learner_of_scikit_learn(tmp_path, refuses):
    model = TextClassifier(learner=LinearSVC()).fit(TEXTS, LABELS)
    model.classes_ = np.array(["grain", "money", "oil", "zinc"])
    model.labels_ = replace(model.labels_, names=model.classes_)
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), "has 4 names of classes, where its model decides on 3")


@pytest.mark.parametrize("names", [np.array([["grain"], ["money"], ["oil"]]), np.array([b"a", b"b", b"c"])])
def test_names_of_classes_that_are_no_list_of_names(names, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.classes_ = names
    model.labels_ = replace(model.labels_, names=names)
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), "has (labels that are not its classes|a ClassLabels whose names has 2 sides)")


@pytest.mark.parametrize("name", ["model_", "labels_", "classes_", "metadata_", "representation_", "text_digests_"])
def test_classifier_that_is_half_fitted_failed_in_predict(name, fitted, refuses):
    refuses(changed(fitted["three"], drop_of("TextClassifier", name)), f"has a TextClassifier whose {name} is missing")


@pytest.mark.parametrize(
    "metadata", [{}, {"n_texts": "many", "label_counts": {}}, {"n_texts": 3}, {"n_texts": 3, "label_counts": ["oil"]}]
)
def test_metadata_that_do_not_say_what_a_model_was_trained_on(metadata, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.metadata_ = metadata
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), "metadata does not say what it was trained on")


@pytest.mark.parametrize("digests", [np.zeros(3), np.zeros((2, 2), dtype=np.uint64), np.array(["a"])])
def test_digests_that_are_no_list_of_numbers(digests, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.text_digests_ = digests
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), "has a TextClassifier whose text_digests_ (is an array|has 2 sides)")


@pytest.mark.parametrize("name", ["text_column", "label_column", "label_separator"])
def test_a_column_that_is_not_a_name_failed_in_predict(name, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.metadata_[name] = ["text"]
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), f"has a TextClassifier whose {name} is a list")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TextClassifier(), "holds a TextClassifier that is not fitted, not a fitted TextClassifier"),
        (KeywordPrior(TOPICS), "holds a KeywordPrior, not a fitted TextClassifier"),
    ],
)
def test_files_of_other_parts_are_not_taken_for_a_classifier(model, message, tmp_path):
    save(model, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=message):
        load_classifier(tmp_path / "model.tmm")


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


# Versions.


def of_version(package, version, change):
    def both(manifest):
        manifest[package] = version
        change(manifest)

    return both


def forget(name, cls):
    def change(manifest):
        next(entry for entry in manifest["values"] if entry.get("object") == cls)["state"].pop(name)

    return change


def add(name, cls):
    def change(manifest):
        next(entry for entry in manifest["values"] if entry.get("object") == cls)["state"][name] = 1

    return change


def test_other_version_that_fits_loads_in_silence(sample, tmp_path):
    for package in ("textmargin", "scikit-learn"):
        (tmp_path / "model.tmm").write_bytes(changed(sample[0], set_in(package, value="0.0.1")))
        with warnings.catch_warnings():
            warnings.simplefilter("error", TextmarginWarning)
            model = load(tmp_path / "model.tmm")
        assert outcome(model, NEW) == sample[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            forget("max_iter", "PriorSVC"),
            "saved with textmargin 0.0.1 and has a PriorSVC without 'max_iter'; .* uses its default",
        ),
        (add("speed", "PriorSVC"), "has a PriorSVC with 'speed'; .* does not use it"),
    ],
)
def test_other_version_whose_parameters_differ_warns(change, message, sample, tmp_path):
    (tmp_path / "model.tmm").write_bytes(changed(sample[0], of_version("textmargin", "0.0.1", change)))
    with pytest.warns(TextmarginWarning, match=message):
        model = load(tmp_path / "model.tmm")
    assert outcome(model, NEW) == sample[1]


def test_parameter_without_default_must_be_there(sample, refuses):
    change = of_version("textmargin", "0.0.1", forget("keywords", "KeywordPrior"))
    refuses(changed(sample[0], change), "has a KeywordPrior without 'keywords', which does not fit textmargin")


def test_saving_made_folders_that_nobody_asked_for(tmp_path):
    with pytest.raises(ModelFileError, match=r"m\.tmm cannot be written: there is no folder .*there; choose another place"):
        TextClassifier().save(tmp_path / "not" / "there" / "m.tmm")
    assert list(tmp_path.iterdir()) == []
