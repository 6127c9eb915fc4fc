"""Model files altered by somebody who knows how they are made: parts that are whole, arrays and attributes
that are not.

A case is a kind of model and a seed. The digest is made anew over what was altered, as an attacker would.
From the command line:

    python tests/attack/model_file_mutations.py --cases 2000              every kind, with counts
    python tests/attack/model_file_mutations.py --kind default --seed 17  one case again, and what was altered
"""

import argparse
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from model_kinds import LABELS, MODELS, MULTILABEL, NEW, TEXTS, TWO

from textmargin import Corpus, Utility, export_onnx, load, save, write_report
from textmargin.decider import Decider, load_decider
from textmargin.errors import DeviceError, ModelFileError, TextmarginError
from textmargin.persistence._archive import pack
from textmargin.persistence._encoding import Encoder
from textmargin.persistence._manifest import write_manifest

SEVERAL = [tuple(np.array(["oil", "bank", "trade"])[row > 0]) for row in MULTILABEL]
KINDS = {name: (name, LABELS) for name in MODELS}
for name in (
    "default",
    "thresholds",
    "subsequences",
    "kernel and thresholds",
    "rocchio",
    "two views",
    "union",
):
    KINDS |= {f"{name}, two classes": (name, TWO), f"{name}, several labels": (name, SEVERAL)}

SECONDS_A_CASE = 20
MORE_MEMORY = 400_000  # kB beyond what the honest model took

SCALARS = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    10**6,
    10**12,
    -(2**63),
    0.0,
    0.5,
    -0.5,
    1e-300,
    1e76,
    1e308,
    "",
    "a",
    "l2",
    "word",
]
SCALARS += [
    "zero",
    "cuda",
    "x" * 100,
    "\ud800",
    "(",
    {"float": "nan"},
    {"float": "inf"},
    {"float": "-inf"},
    {"tuple": []},
]
SCALARS += [
    {"tuple": [1, 1]},
    {"tuple": [0, 10**9]},
    {"bytes": "AAAA"},
    {"numpy": ["<f8", 0.5]},
    {"type": "<f4"},
    {"path": "x"},
]
NUMBERS = [np.nan, np.inf, -np.inf, 0, -1, 1, 1e-308, 1e308, 1e40, -1e40, 2**31, 2**62, 3]


class Slow(BaseException):
    """A case took too long."""


def encoded(kind):
    """The values and arrays of a model of a kind, and the model."""
    name, labels = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name].fit(TEXTS, labels)
    encoder = Encoder()
    encoder.model(model)
    return json.dumps(encoder.values), encoder.arrays, model


def packed(values, arrays):
    """The file, sealed as if by `save`."""
    return pack(write_manifest(values, arrays))


# What is altered. Each takes (rng, values, arrays) and tells what it did, or None where there was nothing to
# alter.


def alter_numbers(rng, values, arrays):
    k = rng.randrange(len(arrays))
    array = arrays[k] = arrays[k].copy()
    if not array.size or array.dtype.kind not in "fiub":
        return None
    number = rng.choice(NUMBERS)
    places = [rng.randrange(array.size) for _ in range(rng.choice([1, 1, 3, array.size]))]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array.reshape(-1)[places] = np.asarray(number).astype(array.dtype)
    return f"array {k}: {len(places)} numbers are {number}"


def scale_numbers(rng, values, arrays):
    k = rng.randrange(len(arrays))
    if arrays[k].dtype.kind != "f":
        return None
    factor = rng.choice([0.0, -1.0, 1e-200, 1e60, 1e150, 0.5])
    with np.errstate(all="ignore"):
        arrays[k] = arrays[k] * factor
    return f"array {k}: times {factor}"


def reshape_array(rng, values, arrays):
    k = rng.randrange(len(arrays))
    array, side = arrays[k], rng.randrange(max(arrays[k].ndim, 1))
    way = rng.choice(["shorter", "longer", "empty", "transposed", "flat", "deeper", "turned", "twice"])
    if array.ndim == 0:
        return None
    n = array.shape[side]
    arrays[k] = {
        "shorter": lambda: np.take(array, range(max(n - 1, 0)), axis=side),
        "longer": lambda: np.concatenate([array, np.take(array, range(min(n, 1)), axis=side)], axis=side),
        "empty": lambda: np.take(array, [], axis=side),
        "transposed": lambda: np.ascontiguousarray(array.T),
        "flat": lambda: array.reshape(-1),
        "deeper": lambda: array[None],
        "turned": lambda: np.flip(array, side).copy(),
        "twice": lambda: np.repeat(array, 2, axis=side),
    }[way]()
    return f"array {k}: {way} along {side}"


def retype_array(rng, values, arrays):
    k = rng.randrange(len(arrays))
    new = rng.choice(["<f4", "<f2", "<f8", ">f8", "<i8", "<i4", "|i1", "<u8", "|b1", "<U3", "|S2"])
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[k] = arrays[k].astype(new)
    except (ValueError, UnicodeError):
        return None
    return f"array {k}: of type {new}"


def exchange_arrays(rng, values, arrays):
    a, b = rng.randrange(len(arrays)), rng.randrange(len(arrays))
    arrays[a] = arrays[b]
    return f"array {a}: is array {b}"


def repeat_entry(rng, values, arrays):
    k = rng.randrange(len(arrays))
    array = arrays[k] = arrays[k].copy()
    if array.ndim == 0 or len(array) < 2:
        return None
    a, b = rng.randrange(len(array)), rng.randrange(len(array))
    array[a] = array[b]
    return f"array {k}: entry {a} is entry {b}"


def _objects(values):
    return [k for k, entry in enumerate(values) if "object" in entry]


def set_attribute(rng, values, arrays):
    k = rng.choice(_objects(values))
    state = values[k]["state"]
    if not state:
        return None
    name, value = rng.choice(list(state)), rng.choice(SCALARS)
    state[name] = value
    return f"{values[k]['object']}.{name} = {value!r:.60}"


def refer_elsewhere(rng, values, arrays):
    k = rng.choice(_objects(values))
    state = values[k]["state"]
    if not state or not k:
        return None
    name, other = rng.choice(list(state)), rng.randrange(k)
    state[name] = {"at": other}
    return f"{values[k]['object']}.{name} is value {other}, {next(iter(values[other].items()))!r:.60}"


def drop_attribute(rng, values, arrays):
    k = rng.choice(_objects(values))
    state = values[k]["state"]
    if not state:
        return None
    name = rng.choice(list(state))
    del state[name]
    return f"{values[k]['object']} without {name}"


def exchange_attributes(rng, values, arrays):
    k = rng.choice(_objects(values))
    state = values[k]["state"]
    if len(state) < 2:
        return None
    a, b = rng.sample(list(state), 2)
    state[a], state[b] = state[b], state[a]
    return f"{values[k]['object']}: {a} and {b} exchanged"


def add_attribute(rng, values, arrays):
    k, other = rng.choice(_objects(values)), rng.choice(_objects(values))
    names = [name for name in values[other]["state"] if name not in values[k]["state"]]
    if not names:
        return None
    name = rng.choice(names)
    values[k]["state"][name] = rng.choice([rng.choice(SCALARS), {"at": rng.randrange(k)} if k else None])
    return f"{values[k]['object']} with {name}"


def rename_class(rng, values, arrays):
    k, other = rng.choice(_objects(values)), rng.choice(_objects(values))
    values[k]["object"] = values[other]["object"]
    if rng.random() < 0.5:
        values[k]["state"] = dict(values[other]["state"]) if other < k else values[k]["state"]
    return f"object {k} is a {values[other]['object']}"


def alter_collection(rng, values, arrays):
    found = [
        k
        for k, entry in enumerate(values)
        if next(iter(entry)) in ("list", "dict", "pairs", "set", "frozenset", "objects")
    ]
    if not found:
        return None
    k = rng.choice(found)
    kind = next(iter(values[k]))
    items = values[k][kind]
    way = rng.choice(["drop", "set", "repeat", "empty", "reverse", "refer"])
    if not items:
        return None
    new = {"at": rng.randrange(k)} if way == "refer" and k else rng.choice(SCALARS)
    if isinstance(items, dict):
        name = rng.choice(list(items))
        if way == "drop":
            del items[name]
        elif way == "empty":
            items.clear()
        elif way == "repeat":
            items[f"{name}x"] = items.pop(name)
        else:
            items[name] = new
    else:
        i = rng.randrange(len(items))
        if way == "drop":
            del items[i]
        elif way == "empty":
            items.clear()
        elif way == "repeat":
            items.append(items[i])
        elif way == "reverse":
            items.reverse()
        else:
            items[i] = new
    return f"{kind} {k}: {way}, {new!r:.40}"


def alter_inside(rng, values, arrays):
    """A scalar anywhere, of the same type: another number, another word."""
    k = rng.randrange(len(values))
    places = []

    def walk(x):
        for key, inner in (
            list(x.items()) if isinstance(x, dict) else list(enumerate(x)) if isinstance(x, list) else ()
        ):
            if isinstance(inner, dict | list):
                walk(inner)
            elif key not in ("object", "at", "array"):
                places.append((x, key))

    walk(values[k])
    if not places:
        return None
    x, key = rng.choice(places)
    old = x[key]
    if isinstance(old, bool):
        x[key] = not old
    elif isinstance(old, int | float):
        x[key] = rng.choice([-old, old + 1, old - 1, old * 1000, 0, 10**9, -(10**9), old / 2])
    elif isinstance(old, str):
        x[key] = rng.choice(["", old + "x", old[:-1], old.upper(), "a b", "0", "é" * 3])
    else:
        x[key] = rng.choice(SCALARS)
    return f"value {k}: {old!r:.40} is {x[key]!r:.40}"


ALTERATIONS = [
    alter_numbers,
    alter_numbers,
    alter_numbers,
    scale_numbers,
    reshape_array,
    reshape_array,
    retype_array,
]
ALTERATIONS += [
    exchange_arrays,
    repeat_entry,
    set_attribute,
    set_attribute,
    set_attribute,
    refer_elsewhere,
    refer_elsewhere,
]
ALTERATIONS += [
    drop_attribute,
    exchange_attributes,
    add_attribute,
    rename_class,
    alter_collection,
    alter_collection,
]
ALTERATIONS += [alter_inside, alter_inside]


def mutate(seed, values_text, arrays):
    """Values and arrays with one to three alterations, and what these are."""
    rng = random.Random(seed)
    values, arrays, told = json.loads(values_text), list(arrays), []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        alter = rng.choice(ALTERATIONS)
        told.append(alter(rng, values, arrays) if arrays else None)
    return values, arrays, [one for one in told if one]


# What must hold of a file that is not refused.


def check_finite(found, what):
    array = np.asarray(found)
    assert len(array) == len(NEW), f"{what} has {len(array)} rows"
    assert array.dtype.kind != "f" or np.isfinite(array).all(), f"{what} is not finite"


def takes_rows(model):
    """Whether a model is asked of rows of numbers, not of texts."""
    return getattr(model, "n_features_in_", None) is not None and not hasattr(model, "labels_")


def check_rows(model):
    """That it decides on those."""
    rows = np.random.default_rng(0).random((len(NEW), model.n_features_in_))
    for name in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, name):
            check_finite(getattr(model, name)(rows), name)


def use(model, folder, explain=True, thorough=True):
    """All that ordinary work asks of a model; the decisions, to be compared."""
    said = []
    for name in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, name) and not getattr(model, "_was_given_scores", False):
            found = getattr(model, name)(NEW)
            check_finite(found, name)
            said.append(np.asarray(found).tolist())
    if hasattr(model, "decide") and hasattr(model, "metadata_"):
        decisions = model.decide(NEW, probabilities=model.has_held_out)
        check_finite(decisions.scores, "decide")
        _may_decline(lambda: model.verdict_)
        _may_decline(lambda: model.trained_on(NEW))
        if explain:
            _may_decline(lambda: str(model.explain(NEW[0])))
            _may_decline(lambda: str(model.disagreements()))
            ask_all(model)
        if thorough:
            if model.has_held_out:
                _may_decline(lambda: model.with_utility(Utility(tp=5)).predict(NEW))
                _may_decline(lambda: str(model.estimate()))
            publish(model, folder)
    save(model, folder / "again.tmm")
    load(folder / "again.tmm")
    return said


def ask_all(model):
    """For everything that a model tells of itself."""
    for part in (model, model.model_, model.learner_, model.representation_):
        repr(part)
        # scikit-learn's tell by AttributeError what they have not
        ours = type(part).__module__.startswith("textmargin")
        for name in dir(type(part)) if ours else ():
            if isinstance(getattr(type(part), name), property) and not name.startswith("_"):
                with suppress(TextmarginError):
                    getattr(part, name)


def publish(model, folder):
    """As a page, and as an ONNX graph."""
    decided = model.decide(NEW).labels
    labels = decided if model.labels_.multilabel else [own[0] if own else "" for own in decided]
    _may_decline(
        lambda: write_report(model, Corpus("new", NEW, labels), folder / "report.html", n_bootstrap=0)
    )
    _may_decline(lambda: export_onnx(model, folder / "model.onnx"))


def _may_decline(work):
    """What not every model can, which it says in a word of ours."""
    with suppress(TextmarginError):
        work()


@contextmanager
def time_limit(seconds):
    def ring(*_):
        raise Slow(f"more than {seconds} s")

    old = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


class Attack:
    """All cases of a kind."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, Path(folder)
        self.values, self.arrays, _ = encoded(kind)
        self.path = self.folder / "model.tmm"
        self.path.write_bytes(packed(json.loads(self.values), self.arrays))
        with self._quiet():
            model = load(self.path)
            self.type, self.takes_rows, self.honest = type(model), takes_rows(model), use(model, self.folder)
        self.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.counts, self.failures = Counter(), []

    @contextmanager
    def _quiet(self):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield

    def case(self, seed):
        """Try one; "refused", "same", "other" (another model, which decides), or what went wrong."""
        values, arrays, told = mutate(f"{self.kind}/{seed}", self.values, self.arrays)
        return self.outcome(values, arrays, explain=seed % 4 == 0, thorough=seed % 20 == 0), told

    def outcome(self, values, arrays, explain=True, thorough=True):
        """What becomes of a file of these."""
        try:
            content = packed(values, arrays)
        except (ValueError, UnicodeError):  # what JSON cannot write
            return "not written"
        self.path.write_bytes(content)
        try:
            with time_limit(SECONDS_A_CASE), self._quiet():
                outcome = self._tried(explain, thorough)
        except DeviceError:  # it asks for a GPU by name, which is its right, and there is none
            outcome = "other"
        except (Exception, Slow) as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            outcome = f"{type(error).__name__}: {error!s:.150} ({Path(place.filename).name}:{place.lineno})"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if peak > self.peak + MORE_MEMORY:
            outcome, self.peak = f"took {(peak - self.peak) / 1000:.0f} MB more", peak
        return outcome

    def _tried(self, explain, thorough):
        try:
            model = load(self.path)
        except ModelFileError as error:
            decider = None
            with suppress(ModelFileError):
                decider = load_decider(self.path)
            if isinstance(decider, Decider):  # which does without what is wrong
                check_finite(decider.decide(NEW).scores, "Decider.decide")
            return "refused for want of memory" if "MemoryError" in str(error) else "refused"
        if type(model) is not self.type:  # a part of it, saved by itself
            save(model, self.folder / "again.tmm")
            return "other"
        # a pipeline without its vectoriser, which is a model of numbers
        if takes_rows(model) and not self.takes_rows:
            check_rows(model)
            save(model, self.folder / "again.tmm")
            return "other"
        said = use(model, self.folder, explain, thorough)
        if hasattr(model, "metadata_"):
            decider = load_decider(self.path)
            check_finite(decider.decide(NEW).scores, "load_decider")
        return "same" if said == self.honest else "other"

    def run(self, seeds, until=None):
        for seed in seeds:
            if until is not None and time.monotonic() > until:
                break
            outcome, told = self.case(seed)
            known = outcome if outcome in ("refused", "same", "other", "not written") else "FAILED"
            self.counts[known] += 1
            if known == "FAILED":
                self.failures.append(f"--kind {self.kind!r} --seed {seed}: {outcome}; {'; '.join(told)}")
        return self


@cache
def _attack(kind):
    folder = tempfile.TemporaryDirectory()
    attack = Attack(kind, folder.name)
    attack.temporary = folder  # which is there as long as the attack
    return attack


def case(seed):
    """All kinds by turns."""
    kinds = list(KINDS)
    kind, own = kinds[seed % len(kinds)], seed // len(kinds)
    outcome, told = _attack(kind).case(own)
    assert outcome in ("refused", "same", "other", "not written"), (
        f"--kind {kind!r} --seed {own}: {outcome}; {'; '.join(told)}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed to begin with")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--share", default="0/1", help="k/n: every n-th kind from the k-th")
    options = parser.parse_args()
    k, n = map(int, options.share.split("/"))
    total, failed = Counter(), 0
    for kind in (options.kind or list(KINDS))[k::n]:
        with tempfile.TemporaryDirectory() as folder:
            attack = Attack(kind, folder)
            if options.seed is not None:
                print(attack.case(options.seed))
                continue
            start = time.perf_counter()
            attack.run(range(options.first, options.first + options.cases))
        print(f"{kind}: {dict(attack.counts)} in {time.perf_counter() - start:.0f} s", flush=True)
        for failure in attack.failures:
            print("   ", failure, flush=True)
        total += attack.counts
        failed += len(attack.failures)
    print(f"all: {dict(total)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
