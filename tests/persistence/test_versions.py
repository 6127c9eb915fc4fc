"""Files of other versions."""

import warnings

import pytest
from model_files import changed, drop_of, outcome, set_in, set_of
from samples import corpus

from textmargin import load
from textmargin.errors import TextmarginWarning

NEW = corpus(30, seed=1)[0]

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


def of_version(package, version, change):
    def both(manifest):
        manifest[package] = version
        change(manifest)

    return both


def test_other_version_that_fits_loads_in_silence(sample, tmp_path):
    for package in ("textmargin", "scikit-learn"):
        (tmp_path / "model.tmm").write_bytes(changed(sample[0], set_in(package, value="0.0.1")))
        with warnings.catch_warnings():
            warnings.simplefilter("error", TextmarginWarning)
            model = load(tmp_path / "model.tmm")
        assert outcome(model, NEW) == sample[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            drop_of("PriorSVC", "max_iter"),
            "saved with textmargin 0.0.1 and has a PriorSVC without 'max_iter'; .* uses its default",
        ),
        (set_of("PriorSVC", "speed", 1), "has a PriorSVC with 'speed'; .* does not use it"),
    ],
)
def test_other_version_whose_parameters_differ_warns(change, message, sample, tmp_path):
    (tmp_path / "model.tmm").write_bytes(changed(sample[0], of_version("textmargin", "0.0.1", change)))
    with pytest.warns(TextmarginWarning, match=message):
        model = load(tmp_path / "model.tmm")
    assert outcome(model, NEW) == sample[1]


def test_parameter_without_default_must_be_there(sample, refuses):
    change = of_version("textmargin", "0.0.1", drop_of("KeywordPrior", "keywords"))
    refuses(
        changed(sample[0], change), "has a KeywordPrior without 'keywords', which does not fit textmargin"
    )
