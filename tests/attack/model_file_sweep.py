"""Model files with one alteration, every one that there is: each attribute is each value of a list, is
missing, is another part.

`model_file_mutations.py` draws its alterations; of those that a rare one would find, this one leaves none to
chance. What stands in one place of a kind of model stands in the same of others: an attribute of a class is
altered in the first kind that has it there, below a class of the same name, and `--all` alters it in every
one.

    python tests/attack/model_file_sweep.py  every kind, with counts; a quarter of an hour
    python tests/attack/model_file_sweep.py --kind default --all
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from attack.model_file_mutations import KINDS, SCALARS, Attack

NUMBERS = (np.nan, np.inf, 0, -1, 1e-308, 1e308, 1e40, 2**31, 2**62)
DTYPES = ("<f4", "<f2", "<f8", ">f8", "<i8", "<i4", "|i1", "<u8", "|b1", "<U3")
FUNCTIONS = [
    {"function": name}
    for name in ("str.upper", "str.split", "strip_accents_ascii", "chi2", "beta_gamma_threshold")
]
REPLACEMENTS = [*SCALARS, *FUNCTIONS]
MISSING = object()


def alterations(values, arrays):
    """Each as where it is, what it does there, and the values and arrays that come of it."""
    yield from of_attributes(values, arrays)
    yield from of_collections(values, arrays)
    yield from of_arrays(values, arrays)


def owners(values):
    """Of each value the classes and attributes that refer to it, the first one that does."""
    found = {}

    def look(owner, written):
        if isinstance(written, dict):
            if type(written.get("at")) is int:
                found.setdefault(written["at"], owner)
            for key, inner in written.items():
                look(f"{owner}[{key}]" if isinstance(inner, dict) else owner, inner)
        elif isinstance(written, list):
            for number, inner in enumerate(written):
                look(f"{owner}[{number}]", inner)

    for k, entry in reversed(list(enumerate(values))):
        if "object" in entry:
            for name, written in entry["state"].items():
                look(f"{entry['object']}.{name}", written)
        else:
            look(found.get(k, ""), list(entry.values()))
    return found


def of_attributes(values, arrays):
    parts = one_of_each(values)
    above = owners(values)
    for k, entry in enumerate(values):
        if "object" not in entry:
            continue
        where = f"{above.get(k, '')} {entry['object']}"
        for name, old in entry["state"].items():
            others = [{"at": part} for part in parts if part < k and {"at": part} != old]
            for new in [MISSING, *REPLACEMENTS, *others]:
                if new == old and type(new) is type(old):
                    continue
                own = json.loads(json.dumps(values))
                own[k]["state"][name] = new
                if new is MISSING:
                    del own[k]["state"][name]
                what = "missing" if new is MISSING else told(new, values)
                yield f"{where}.{name}", what, own, arrays


def one_of_each(values):
    """The number of one value of each class and kind."""
    return list(
        {entry.get("object", next(iter(entry))): k for k, entry in reversed(list(enumerate(values)))}.values()
    )


def told(new, values):
    if isinstance(new, dict) and "at" in new:
        entry = values[new["at"]]
        return f"the part {entry.get('object', next(iter(entry)))}"
    return f"{new!r:.60}"


def of_collections(values, arrays):
    above = owners(values)
    for k, entry in enumerate(values):
        kind = next(iter(entry))
        items = entry[kind]
        if kind not in ("list", "dict", "pairs", "set", "frozenset", "objects") or not items:
            continue
        places = (
            list(items)[:2] + list(items)[-1:] if isinstance(items, dict) else sorted({0, len(items) - 1})
        )
        parts = [{"at": part} for part in one_of_each(values) if part < k]
        for place in dict.fromkeys(places):
            for new in [MISSING, *REPLACEMENTS, *parts]:
                own = json.loads(json.dumps(values))
                own[k][kind][place] = new
                if new is MISSING:
                    del own[k][kind][place]
                what = "missing" if new is MISSING else told(new, values)
                at = place if isinstance(items, dict) else "first" if place == 0 else "last"
                yield f"{above.get(k, '')} {kind}[{at}]", what, own, arrays
        own = json.loads(json.dumps(values))
        own[k][kind].clear()
        yield f"{above.get(k, '')} {kind}", "empty", own, arrays


def of_arrays(values, arrays):
    above = owners(values)
    numbers = {entry["array"]: k for k, entry in enumerate(values) if "array" in entry}
    for k, array in enumerate(arrays):
        where = f"{above.get(numbers.get(k), '')} array"
        for what, new in altered(array):
            yield where, what, values, [*arrays[:k], new, *arrays[k + 1 :]]


def altered(array):
    """An array with other numbers, of another shape, of another type."""
    with np.errstate(all="ignore"):
        if array.dtype.kind in "fiub" and array.size:
            for number in NUMBERS:
                for place in sorted({0, array.size - 1}):
                    own = array.copy()
                    try:
                        own.reshape(-1)[place] = np.asarray(number).astype(array.dtype)
                    except (ValueError, OverflowError):
                        continue
                    yield f"entry {place and 'last'} is {number}", own
                yield f"all {number}", np.full_like(array, np.asarray(number).astype(array.dtype))
        for side in range(array.ndim):
            n = array.shape[side]
            yield f"shorter along {side}", np.take(array, range(max(n - 1, 0)), axis=side)
            yield (
                f"longer along {side}",
                np.concatenate([array, np.take(array, range(min(n, 1)), axis=side)], axis=side),
            )
            yield f"empty along {side}", np.take(array, [], axis=side)
            yield f"turned along {side}", np.flip(array, side).copy()
        yield "deeper", array[None]
        if array.ndim > 1:
            yield "transposed", np.ascontiguousarray(array.T)
            yield "flat", array.reshape(-1)
        for dtype in DTYPES:
            try:
                yield f"of type {dtype}", array.astype(dtype)
            except (ValueError, UnicodeError, OverflowError):
                continue


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--all", action="store_true", help="also what was altered in a kind before")
    parser.add_argument("--share", default="0/1", help="k/n: every n-th kind from the k-th")
    options = parser.parse_args()
    k, n = map(int, options.share.split("/"))
    seen, total, failed = set(), Counter(), 0
    for kind in (options.kind or list(KINDS))[k::n]:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            attack = Attack(kind, folder)
            for where, what, values, arrays in alterations(json.loads(attack.values), attack.arrays):
                if (where, what) in seen and not options.all:
                    continue
                seen.add((where, what))
                outcome = attack.outcome(values, arrays)
                fine = outcome in ("refused", "same", "other", "not written")
                attack.counts[outcome if fine else "FAILED"] += 1
                if not fine:
                    failed += 1
                    print(f"    {kind}: {where} is {what}: {outcome}", flush=True)
        print(f"{kind}: {dict(attack.counts)} in {time.perf_counter() - start:.0f} s", flush=True)
        total += attack.counts
    print(f"all: {dict(total)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
