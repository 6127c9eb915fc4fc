"""The claims of Shanahan & Roma on a small part of Reuters-21578."""

from dataclasses import replace

import numpy as np
import pytest
from samples import needs_corpora

from textmargin.experiments import thresholds
from textmargin.experiments.catalogue import experiment
from textmargin.experiments.run import Run
from textmargin.experiments.table import Table, Value, published
from textmargin.experiments.thresholds import DEFAULT, ORACLE, RULES, ZERO

pytestmark = needs_corpora


def quick(tmp_path):
    return Run(quick=True, kernels=tmp_path, results=tmp_path, progress=False)


def ours(table, column):
    return {name: row[column].ours for name, row in table.rows.items() if column in row}


def assert_finite(table):
    values = [value.ours for row in table.rows.values() for value in row.values()]
    assert values
    assert np.isfinite(values).all()


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    return thresholds.claims(quick(tmp_path_factory.mktemp("run")))


def test_claims_are_beside_the_papers(claims):
    assert_finite(claims)
    assert list(claims.rows) == [ZERO, *RULES, ORACLE]
    (second,) = (row for name, row in claims.rows.items() if "2nd approach" in name)
    (claim,) = published("thresholds", "claims").values()
    assert {column: value.published for column, value in second.items() if value.published} == claim
    assert claims.published_columns == ["gain in T11SU", "topics not hurt"]


def test_no_rule_beats_the_oracle(claims):
    value = ours(claims, "T11SU")
    assert all(value[ORACLE] >= found for found in value.values())
    assert claims.rows[ORACLE]["topics not hurt"].ours == 1


def test_thresholds_help(claims):
    """The paper's main claim: over all topics better by every measure that counts recall."""
    for column in ("T11SU", "macro F1", "recall"):
        value = ours(claims, column)
        assert all(value[rule] > value[ZERO] for rule in RULES)


def test_shares_and_gains_are_those_of_the_columns(claims):
    value = ours(claims, "T11SU")
    assert claims.rows[DEFAULT]["gain in T11SU"].ours == pytest.approx(value[DEFAULT] / value[ZERO] - 1)
    assert "topics not hurt" not in claims.rows[ZERO]


def test_bins_of_positives_make_up_all_topics(tmp_path, claims):
    run = quick(tmp_path)
    table = thresholds.by_positives(run)
    assert_finite(table)
    topics = ours(table, "topics")
    few, many = topics.pop("1 to 49"), topics.pop("50 and more")
    assert sum(topics.values()) == few + many == run.parameters["topics"]
    mean = sum(n * table.rows[name]["default"].ours for name, n in topics.items()) / (few + many)
    assert mean == pytest.approx(claims.rows[DEFAULT]["T11SU"].ours)
    assert all(
        row["gain"].ours == pytest.approx(row["default"].ours - row["threshold 0"].ours)
        for row in table.rows.values()
    )


def test_the_note_on_few_positives_is_computed(tmp_path):
    table = thresholds.by_positives(quick(tmp_path))
    few, many = table.rows["1 to 49"]["gain"].ours, table.rows["50 and more"]["gain"].ours
    assert f"gain {few:+.3f}" in table.notes[0]
    assert table.notes[0].endswith("as in the paper." if few > many else "other than in the paper.")


def test_costs_are_compared_by_their_ratios(tmp_path):
    table = thresholds.costs(quick(tmp_path))
    assert_finite(table)
    printed = table.rows["thresholds, training scores"]
    ratios = ("time of costs over own", "precision of costs over own", "recall over that of costs")
    (theirs,) = published("thresholds", "costs").values()
    assert {name: printed[name].published for name in ratios} == theirs
    costly = table.rows["asymmetric costs"]
    assert [costly[name].ours for name in ratios] == [1, 1, 1]
    assert printed["time of costs over own"].ours > 1
    assert table.rows["both"]["seconds"].ours > costly["seconds"].ours


def test_same_numbers_twice_but_for_seconds(tmp_path, claims):
    assert thresholds.claims(quick(tmp_path)).rows == claims.rows
    first, second = (experiment("thresholds-costs").run(quick(tmp_path)) for _ in range(2))
    assert first.table.rows != second.table.rows  # seconds
    assert first.differences(second) == []


def test_only_measured_columns_may_differ(tmp_path):
    result = experiment("thresholds-positives").run(quick(tmp_path))

    def with_numbers(gain, seconds):
        rows = {"a": {"gain": Value(gain), "seconds": Value(seconds)}}
        return replace(result, table=Table(["gain", "seconds"], rows, details={"measured": ["seconds"]}))

    assert with_numbers(0.1, 1.0).differences(with_numbers(0.1, 2.0)) == []
    (found,) = with_numbers(0.1, 1.0).differences(with_numbers(0.2, 2.0))
    assert found.startswith("a, gain")
