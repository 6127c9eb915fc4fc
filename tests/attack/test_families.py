"""Every family of the attack for some seconds, and all cases that once failed.

TEXTMARGIN_ATTACK_SECONDS sets how long for each, TEXTMARGIN_ATTACK_SEED the first seed; `make attack` has an
hour for all.
"""

import os

import pytest
from attack import families

SECONDS = float(os.environ.get("TEXTMARGIN_ATTACK_SECONDS", "5"))
FIRST = int(os.environ.get("TEXTMARGIN_ATTACK_SEED", "0"))


@pytest.mark.parametrize("name", families.without_tests())
def test_nothing_is_found(name):
    if (what := families.missing(name)) is not None:
        pytest.skip(what)
    print(f"{name}: seeds from {FIRST}; TEXTMARGIN_ATTACK_SEED sets another")
    ran = list(families.run(name, FIRST, SECONDS))
    print(f"{len(ran):,} cases")
    failures = [failure for _, failure in ran if failure]
    assert not failures, "\n".join(f"{name} --seed {one.seed}: {one.what}" for one in failures)


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(name, seed, id=f"{name}-{seed}")
        for name in families.names()
        for seed in families.examples(name)
    ],
)
def test_cases_that_once_failed(name, seed):
    failure = families.run_case(name, seed)
    assert failure is None, f"{families.examples(name)[seed]}: {failure.what}"


def test_a_case_that_is_wrong_or_slow_is_a_failure(monkeypatch):
    """The attack itself can fail."""
    from attack import decisions

    monkeypatch.setattr(decisions, "case", lambda seed: 1 / 0 if seed == 1 else None)
    assert families.run_case("decisions", 0) is None
    assert "ZeroDivisionError" in families.run_case("decisions", 1).what
    monkeypatch.setattr(decisions, "SECONDS_A_CASE", 1, raising=False)
    monkeypatch.setattr(decisions, "case", lambda seed: [None for _ in iter(int, 1)])
    assert "more than 1 s" in families.run_case("decisions", 0).what
