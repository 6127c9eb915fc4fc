"""Every family of the attack for some seconds (TEXTMARGIN_ATTACK_SECONDS, from TEXTMARGIN_ATTACK_SEED on),
and all cases that once failed.
"""

import os

import pytest
from attack import families

SECONDS = float(os.environ.get("TEXTMARGIN_ATTACK_SECONDS", "3"))
FIRST = int(os.environ.get("TEXTMARGIN_ATTACK_SEED", "0"))
OWN_TESTS = {name for name in families.names() if (families.FOLDER / f"test_{name}.py").exists()}


@pytest.mark.parametrize("name", sorted({*families.names()} - OWN_TESTS))
def test_nothing_is_found(name):
    n_cases, found = families.run(name, FIRST, SECONDS)
    print(f"{name}: {n_cases:,} cases from seed {FIRST}")
    assert not found


@pytest.mark.parametrize(
    ("name", "seed"), [(name, int(seed)) for name, cases in families.EXAMPLES.items() for seed in cases]
)
def test_cases_that_once_failed(name, seed):
    assert families.run_case(name, seed) is None, families.EXAMPLES[name][str(seed)]


def test_a_case_that_is_wrong_or_slow_is_a_failure(monkeypatch):
    from attack import decisions

    monkeypatch.setattr(decisions, "case", lambda seed: 1 / 0)
    assert "ZeroDivisionError" in families.run_case("decisions", 1)
    monkeypatch.setattr(decisions, "SECONDS_A_CASE", 1, raising=False)
    monkeypatch.setattr(decisions, "case", lambda seed: [None for _ in iter(int, 1)])
    assert "more than 1 s" in families.run_case("decisions", 0)
