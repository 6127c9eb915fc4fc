"""Spread of keywords over the words that keep their company: the formula, and what it leaves alone."""

import numpy as np
import scipy.sparse as sp

from textmargin.knowledge.spread import WordVectors, spread

ANGLES = np.deg2rad([0, 30, 60, 90])
VECTORS = WordVectors(np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]))


def test_a_word_takes_from_the_nearest_keyword_by_the_formula():
    found = spread(np.array([[1.0, 0, 0, 0]]), VECTORS)
    np.testing.assert_allclose(found, [[0, 0.3 * (np.cos(np.pi / 6) - 0.5) / 0.5, 0, 0]], atol=1e-12)


def test_the_keyword_that_gives_most_counts_and_named_words_take_nothing():
    weights = np.array([[1.0, 0, 0, 2.0]])
    found = spread(weights, VECTORS)
    np.testing.assert_allclose(found[0, 2], 0.3 * 2 * (np.cos(np.pi / 6) - 0.5) / 0.5)
    assert found[0, 0] == found[0, 3] == 0


def test_words_that_speak_against_a_class_do_not_spread():
    assert not spread(np.array([[-1.0, 0, 0, 0]]), VECTORS).any()


def test_a_word_that_is_named_without_weight_takes_nothing():
    named = np.array([[True, True, False, False]])
    np.testing.assert_allclose(spread(np.array([[1.0, 0, 0, 0]]), VECTORS, named), 0, atol=1e-12)


def test_words_of_too_few_texts_have_no_vector():
    X = sp.csr_array(np.array([[1.0, 1, 1], [1, 1, 0], [1, 1, 0], [1, 0, 0]]))
    assert (np.linalg.norm(WordVectors.of(X).vectors, axis=1) > 0).tolist() == [True, True, False]
