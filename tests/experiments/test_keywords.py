"""The keyword curve on one draw."""

import numpy as np
import pytest
from samples import needs_corpora

from textmargin import load_dataset
from textmargin.errors import UnknownTermWarning
from textmargin.experiments import keywords
from textmargin.experiments.catalogue import experiment
from textmargin.experiments.run import Run
from textmargin.experiments.table import published

pytestmark = [
    needs_corpora,
    # three keywords are in no training article
    pytest.mark.filterwarnings("ignore::textmargin.errors.UnknownTermWarning"),
]


def quick(tmp_path):
    return Run(quick=True, kernels=tmp_path, results=tmp_path, progress=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    with pytest.warns(UnknownTermWarning, match="'poem', 'disaster', 'volcano'"):
        return keywords.curve(quick(tmp_path_factory.mktemp("run")))


def test_curve_is_beside_the_targets(table):
    assert list(table.rows) == ["1", "4"]
    assert table.columns == list(keywords.COLUMNS)
    values = [value.ours for row in table.rows.values() for value in row.values()]
    assert len(values) == 2 * len(keywords.COLUMNS)
    assert np.isfinite(values).all()
    assert table.published_columns == ["plain", "fixed"]
    targets = published("keywords", "curve")
    assert [row["fixed"].published for row in table.rows.values()] == [
        targets[size]["fixed"] for size in ("1", "4")
    ]


def test_keywords_help_and_wrong_ones_are_seen(table):
    for row in table.rows.values():
        assert row["auto"].ours > row["plain"].ours
        assert row["auto"].ours > row["free"].ours
        assert row["wrong keywords, fixed"].ours < row["plain"].ours
        assert row["wrong keywords, auto"].ours == pytest.approx(row["plain"].ours, abs=0.01)


def test_more_examples_are_better(table):
    one, four = table.rows.values()
    assert four["plain"].ours > one["plain"].ours
    assert four["prior alone"].ours == one["prior alone"].ours


def test_every_size_has_a_target():
    assert list(published("keywords", "curve")) == list(map(str, keywords.SIZES))


def test_a_draw_has_so_many_of_each_category():
    articles = load_dataset("wikipedia25").part("train")
    Y, _ = articles.indicator()
    rows = keywords.positives_of_each(Y, 4, np.random.default_rng(0))
    assert (Y[rows].sum(axis=0) == 4).all()
    assert np.array_equal(rows, keywords.positives_of_each(Y, 4, np.random.default_rng(0)))


def test_same_numbers_twice(tmp_path, table):
    result = experiment("reading-keywords").run(quick(tmp_path))
    assert result.table.rows == table.rows
    assert "wikipedia25" in result.paper
    assert result.seeds == [0]
