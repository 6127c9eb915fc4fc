"""Model files that were damaged are refused, in one line; those that were made up run nothing.

A case is a seed: a file with bytes flipped, cut off, added, moved or swapped; and one whose document or
arrays are others, with the digest made anew. From the command line:

    python tests/attack/damaged_models.py --cases 2000
"""

import argparse
import copy
import random
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from samples import TOPICS, corpus

from textmargin import KernelSVC, SpectrumKernel, TextClassifier, ThresholdClassifier, Utility, load, save
from textmargin.decider import load_decider
from textmargin.errors import ModelFileError
from textmargin.persistence.file import read_file, write_file

TEXTS, LABELS = corpus(40)
NEW = [*corpus(5, seed=1)[0], "", "corn 1987 😡"]
ASKING = ThresholdClassifier(utility=Utility(tp=1, fp=-3, ask=-0.3))
MODELS = {
    "linear": TextClassifier(knowledge=TOPICS, decision=ASKING),
    "kernel": TextClassifier(learner=KernelSVC(SpectrumKernel(2))),
}
EVENTS = {"exec", "compile", "import", "open", "os.system", "os.remove", "os.mkdir", "subprocess.Popen"}
_watched = []  # what happens while a made-up file is loaded, once the hook is there


@cache
def sample(kind):
    """The content of a model's file, its document, and its arrays."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.tmm"
        model = MODELS[kind].fit(TEXTS, LABELS)
        save(model, path)
        for read in (load, load_decider):  # what is imported on first use
            read(path).decide(NEW, probabilities=True)
        return path.read_bytes(), *read_file(path)


@cache
def place():
    return Path(tempfile.mkdtemp(prefix="damaged-models-")) / "model.tmm"


def damaged(content, rng):
    """The file with one fault; and what that is."""
    own, size = bytearray(content), len(content)
    header = 8 + int.from_bytes(content[:8], "little")
    kind = rng.choice(["flipped", "flipped in the header", "cut", "longer", "swapped", "moved", "zeros"])
    at, other = (rng.randrange(size - 64) for _ in range(2))
    if kind.startswith("flipped"):
        for _ in range(rng.choice([1, 1, 1, 2, 8])):
            own[rng.randrange(header if "header" in kind else size)] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del own[rng.randrange(size) :]
    elif kind == "longer":
        own += rng.randbytes(rng.randrange(1, 100))
    elif kind == "swapped":
        own[at : at + 64], own[other : other + 64] = own[other : other + 64], own[at : at + 64]
    elif kind == "moved":
        own[at:at] = own[other : other + rng.randrange(1, 64)]
    else:
        own[at : at + 64] = bytes(64)
    return bytes(own), kind


def damaged_case(seed):
    """Refused by both who read it, in one line that names the file."""
    rng = random.Random(seed)
    content = sample(rng.choice(list(MODELS)))[0]
    found, kind = damaged(content, rng)
    if found == content:
        return "the same"
    place().write_bytes(found)
    for read in (load, load_decider):
        model, said = attempt(read)
        assert model is None, f"{read.__name__} took a file with something {kind}"
        assert str(place()) in said
    return kind


def attempt(read):
    """What is read of the file; or None, and in one line why not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(place()), ""
        except ModelFileError as error:
            said = str(error)
    assert "\n" not in said, said
    return None, said


def nodes(value, path=()):
    """Where values are in a document."""
    yield path
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from nodes(inner, (*path, key))


def made_up(document, arrays, rng):
    """Another document, or other arrays."""
    document, arrays = copy.deepcopy(document), {name: array.copy() for name, array in arrays.items()}
    if rng.random() < 0.5:
        name = rng.choice(list(arrays))
        old = arrays[name]
        with np.errstate(all="ignore"):
            arrays[name] = rng.choice(
                [
                    lambda: old.ravel(),
                    lambda: old[:-1] if old.ndim else old,
                    lambda: np.concatenate([old.ravel()] * 2),
                    lambda: old.astype(rng.choice(["f4", "f8", "i4", "i8", "u1"])),
                    lambda: np.frombuffer(rng.randbytes(old.nbytes), np.uint8)[: old.nbytes].copy(),
                    lambda: np.full_like(old, rng.choice([0, 1, -1, 100]) if old.dtype.kind in "fi" else 1),
                    lambda: arrays[rng.choice(list(arrays))],
                ]
            )()
        arrays[name] = np.ascontiguousarray(arrays[name])
        return document, arrays
    *path, last = rng.choice([one for one in nodes(document) if one])
    target = document
    for key in path:
        target = target[key]
    names = [name for name in arrays if rng.random() < 0.2] or list(arrays)
    others = [None, True, -1, 0, 2**70, 0.5, "corn", "", [], {}, [1, 2], {"a": 1}]
    others += [{"$": "array", "of": rng.choice(names), "turned": False}, {"$": "tuple", "items": []}]
    others += [{"$": "record", "class": name, "fields": {}} for name in ("Utility", "os.system")]
    target[last] = rng.choice([*others, {"$": "float", "value": "nan"}])
    return document, arrays


def made_up_case(seed):
    """Refused, or it decides or raises; nothing is run, no other file is touched. Whether it was loaded."""
    if not _watched:
        _watched.append([])
        sys.addaudithook(_hear)
    rng = random.Random(seed)
    _, document, arrays = sample(rng.choice(list(MODELS)))
    write_file(place(), *made_up(document, arrays, rng))
    loaded = False
    for read in (load, load_decider):
        _watched.append([])
        model, _ = attempt(read)
        heard, _watched[1:] = _watched[-1], []
        assert not heard, f"a file that was made up {heard[0]}"
        if model is not None:
            loaded = True
            _use(model)
    return loaded


def _use(model):
    """It may raise, but not end the process."""
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        model.predict(NEW)
        model.decide(NEW, probabilities=True)


def _hear(event, args):
    if len(_watched) > 1 and event in EVENTS and not (event == "open" and str(args[0]) == str(place())):
        _watched[-1].append(f"{event} {args[0]!s:.80}")


def case(seed):
    damaged_case(seed)
    made_up_case(seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.cases)
    refused = Counter(damaged_case(seed) for seed in seeds)
    n_same = refused.pop("the same", 0)
    print(
        f"{options.cases - n_same:,} damaged files, each refused in one line: {dict(refused.most_common())}"
    )
    n_loaded = sum(map(made_up_case, seeds))
    print(f"{options.cases:,} made-up files, of which {n_loaded:,} load; nothing was run, no file was opened")


if __name__ == "__main__":
    main()
