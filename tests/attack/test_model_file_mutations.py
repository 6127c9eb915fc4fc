"""Model files whose parts are whole but altered, under a digest that holds: refused, or a model that decides.

A short run of all kinds by turns; TEXTMARGIN_ATTACK_SECONDS sets how long. A case that fails is named by kind
and seed, and tried again with `python tests/attack/model_file_mutations.py --kind KIND --seed SEED`.
"""

import json
import os
import time
from itertools import islice

import pytest
from attack.model_file_mutations import KINDS, Attack
from attack.model_file_sweep import alterations

SECONDS = float(os.environ.get("TEXTMARGIN_ATTACK_SECONDS", "8"))
FIRST = int(os.environ.get("TEXTMARGIN_ATTACK_SEED", "0"))
QUICK = ("default", "keywords", "tf-idf", "two views", "default, several labels")

# Found by this attack, or by those before it.
FOUND = [
    ("balanced", 5, "metadata of -inf ended in json.dumps when a report was written"),
    ("log-tf-idf", 472, "a type of NumPy's in place of a preprocessor failed on texts"),
    ("compiled tf-idf", 33, "classes of two sides failed in explain"),
    ("union", 49, "one against the rest of nobody had no scores"),
    ("two views", 5162, "a classifier without verdicts failed in verdict_"),
    ("shares", 437, "a probability of 1 in naive Bayes had no finite complement"),
    ("shares", 1080, "a part of a pipeline that was not fitted failed in explain"),
    ("two views, two classes", 45, "counts of labels that were vectorisers failed in a report"),
]


def test_altered_files_are_refused_or_decide(tmp_path):
    kinds = list(KINDS) if "TEXTMARGIN_ATTACK_SECONDS" in os.environ else list(QUICK)
    print(f"seeds from {FIRST}, TEXTMARGIN_ATTACK_SEED sets another")
    failures, n_refused, n_cases = [], 0, 0
    for kind in kinds:
        attack = Attack(kind, tmp_path)
        seeds = range(FIRST, FIRST + 10**6)
        attack.run(seeds, until=time.monotonic() + SECONDS / len(kinds))
        print(f"{kind}: {dict(attack.counts)}")
        failures += attack.failures
        n_refused += attack.counts["refused"]
        n_cases += attack.counts.total()
    assert not failures, "\n".join(failures)
    assert n_cases >= len(kinds)
    assert n_refused > 0.3 * n_cases


@pytest.mark.parametrize(("kind", "seed", "why"), FOUND)
def test_cases_that_once_failed(kind, seed, why, tmp_path):
    outcome, _ = Attack(kind, tmp_path).case(seed)
    assert outcome in ("refused", "same", "other")


def test_each_attribute_without_and_with_another_value_is_refused_or_decides(tmp_path):
    """One alteration of thirty of the sweep; TEXTMARGIN_ATTACK_SEED sets others."""
    attack = Attack("default", tmp_path)
    few = islice(alterations(json.loads(attack.values), attack.arrays), FIRST % 30, None, 30)
    found = [
        (where, what, attack.outcome(values, arrays, explain=False)) for where, what, values, arrays in few
    ]
    assert len(found) > 100
    assert [one for one in found if one[2] not in ("refused", "same", "other", "not written")] == []
