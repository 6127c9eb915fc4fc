"""The tables of Parrado-Hernández & Hardoon on a few documents of public recordings."""

import re

import numpy as np
import pytest
from samples import needs_corpora

from textmargin.experiments import _recordings, reading_priors
from textmargin.experiments._recordings import SETS, learn_priors
from textmargin.experiments.run import Run
from textmargin.experiments.table import published

pytestmark = needs_corpora


@pytest.fixture
def run(tmp_path):
    return Run(quick=True, kernels=tmp_path, results=tmp_path, progress=False)


def papers_mean(table, column):
    return np.mean([row[column] for row in published("reading", table).values()])


def assert_finite(table):
    values = [value.ours for row in table.rows.values() for value in row.values()]
    assert values
    assert np.isfinite(values).all()


def assert_means(table, column):
    """Every set has its mean, and the last row is that of all categories, beside the paper's."""
    for name in SETS:
        own = [
            row[column].ours
            for key, row in table.rows.items()
            if key.startswith(f"{name}: ") and key != f"{name}: mean"
        ]
        assert table.rows[f"{name}: mean"][column].ours == pytest.approx(np.mean(own))
    single = [row[column].ours for key, row in table.rows.items() if not key.endswith("mean")]
    assert list(table.rows)[-1] == "mean"
    assert table.rows["mean"][column].ours == pytest.approx(np.mean(single))
    assert all(
        value.published is None for key, row in table.rows.items() for value in row.values() if key != "mean"
    )


def test_documents_of_the_papers_categories(run):
    rows = reading_priors.table_1(run).rows
    assert list(rows)[:25] == list(published("reading", "1"))
    both = [name for name, row in rows.items() if name != "all" and row["documents"].gap is not None]
    assert len(both) == 19
    assert sum("(ours)" in name for name in rows) == 6
    assert rows["all"]["documents"].published == published("reading", "all")["all"]["documents"]
    assert rows["all"]["documents"].ours == 533


def test_error_of_weights(run):
    table = reading_priors.table_2(run)
    assert_finite(table)
    assert_means(table, "MSE")
    assert table.columns == ["MSE", "length and idf", "variance"]
    assert table.rows["mean"]["MSE"].published == pytest.approx(papers_mean("2", "MSE"))
    assert all(value.ours > 0 for row in table.rows.values() for value in row.values())
    mean = table.rows["mean"]
    assert f"has {mean['MSE'].ours / mean['variance'].ours:.2f} times" in table.notes[0]


def test_prior_alone(run):
    table = reading_priors.table_3(run)
    assert_finite(table)
    assert_means(table, "prior")
    assert table.rows["mean"]["prior"].published == pytest.approx(papers_mean("3", "prior"))
    for name in SETS:  # three categories are left, and every document has one
        assert table.rows[f"{name}: mean"]["chance"].ours == pytest.approx(100 / 3)
    assert table.rows["mean"]["prior"].ours > table.rows["mean"]["chance"].ours


def test_classifiers(run):
    table = reading_priors.table_4(run)
    assert_finite(table)
    assert_means(table, "plain SVM")
    theirs = {column: value.published for column, value in table.rows["mean"].items() if value.published}
    columns = ["baseline", "prior SVM", "plain SVM", "SVM-2K"]
    assert theirs == pytest.approx({column: papers_mean("4", column) for column in columns})
    assert all(0 < value.ours <= 100 for row in table.rows.values() for value in row.values())
    assert re.search(r"in \d of 9 categories it ranks all their positives first", table.notes[1])
    assert {*table.details["other trusts"]["mean"]} >= {"nonneg", "ridge", "fixed", "length and idf: fixed"}


def test_baseline_is_the_prior_of_the_table_before(run):
    alone, beside = reading_priors.table_3(run), reading_priors.table_4(run)
    assert all(row["prior"].ours == beside.rows[name]["baseline"].ours for name, row in alone.rows.items())


def test_priors_are_learnt_once(run):
    reading_priors.table_2(run)
    first_priors = learn_priors("ZuCo sentiment", True)
    reading_priors.table_3(run)
    assert learn_priors("ZuCo sentiment", True) is first_priors


def test_same_numbers_twice(run):
    first = reading_priors.table_4(run)
    first_priors = learn_priors("ZuCo sentiment", True)
    again = learn_priors.__wrapped__("ZuCo sentiment", True)
    assert again.gaze.weights_ == first_priors.gaze.weights_
    assert again.without_gaze.mse_ == first_priors.without_gaze.mse_
    assert reading_priors.table_4(run).rows == first.rows


@pytest.mark.parametrize("name", SETS)
def test_what_tests_was_not_read(name):
    """No reading of a document that tests, and no document on both sides."""
    recordings = SETS[name]()
    assert {*recordings.readings["doc_id"]} == {*recordings.train}
    assert not {*recordings.train} & {*recordings.test}
    assert {label for document in recordings.test for label in recordings.labels[document]} == {
        *recordings.categories
    }
    # the last two would tell
    assert not {"reader", "task", "in_asked_answer", "in_any_answer"} & {*recordings.readings}


def test_length_and_idf_know_nothing_of_reading():
    readings = {
        "doc_id": np.array(["a", "b"], dtype=object),
        "word": np.array(["Corn,", "rose"], dtype=object),
    }
    found = _recordings._length_and_idf(
        {**readings, "fixcount": np.array([1, 2])}, {"a": '"Corn" fell.', "b": "corn, rose"}
    )
    assert list(found) == ["doc_id", "word", "length", "idf"]
    assert found["length"].tolist() == [4, 4]
    assert found["idf"] == pytest.approx([0, np.log(2)])


def test_measures_of_a_document_are_means():
    recordings = _recordings.Recordings(
        "few",
        texts={"a": "corn fell", "b": "oil"},
        labels={"a": ("x",), "b": ("y",)},
        train=["b", "a"],
        test=[],
        readings={
            "doc_id": np.array(["a", "a", "b"], dtype=object),
            "word": np.array(["corn", "fell", "oil"], dtype=object),
            "word_index": np.array([0, 1, 0]),  # a place, not a measure
            "fixcount": np.array([1, 2, 5]),
        },
    )
    assert recordings.document_measures().tolist() == [[5.0], [1.5]]


def test_a_sentence_with_two_relations_counts_for_both():
    recordings = SETS["ZuCo relations"]()
    several = [name for name in recordings.train if len(recordings.labels[name]) > 1]
    assert len(several) == 54
    assert recordings.indicator(several).sum() == sum(len(recordings.labels[name]) for name in several)
    sizes = recordings.indicator(recordings.train).sum(axis=0)
    column = recordings.categories.index(recordings.rarest(several[0]))
    assert sizes[column] == min(
        sizes[recordings.categories.index(label)] for label in recordings.labels[several[0]]
    )
