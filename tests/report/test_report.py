"""A report says what `evaluate` says, and its page holds texts as data only."""

import json
import re
from copy import copy
from html.parser import HTMLParser

import numpy as np
import pytest
from report.reports import FORMS, HOSTILE, any_labels, in_form, made, one_label
from typer.testing import CliRunner

from textmargin import T11SU, Corpus, write_report
from textmargin.cli import app
from textmargin.config import ModelConfig
from textmargin.errors import LabelError, TableError
from textmargin.report.content import report_content
from textmargin.report.html import as_block, to_html
from textmargin.report.summary import summarise
from textmargin.report.topic import leads

KINDS = ["desk", "plain", "costs", "binary", "multilabel", "strings", "ngrams", "hostile"]


def content(kind, **sizes):
    model, corpus, utility = made(kind)
    return report_content(model, corpus, utility, **{"n_bootstrap": 5, **sizes})


class Page(HTMLParser):
    """What a browser would make of a page: its elements, its scripts, its words."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.scripts, self.words, self._inside = [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        (self.scripts if self._inside == "script" else self.words).append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_evaluate(kind):
    model, corpus, utility = made(kind)
    report, summary = content(kind), summarise(model, corpus, utility)
    assert report.summary == summary
    for topic, one in zip(report.topics, summary.classes, strict=True):
        at, points = topic.in_use, topic.points
        assert points.threshold[at] == 0
        assert (points.tp[at], points.fp[at], topic.n_texts - points.tp[at]) == (
            one.tp,
            one.fp,
            one.fn + one.unsure,
        )
        assert points.utility[at] == (
            one.utility if one.utility is None else pytest.approx(one.utility, rel=1e-5)
        )
        assert points.recall[at] == pytest.approx(one.recall, abs=1e-4)
        if one.precision is not None:
            assert points.precision[at] == pytest.approx(one.precision, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_is_what_its_threshold_would_decide(kind):
    model, corpus, _ = made(kind)
    report = content(kind, n_points=40)
    lead = leads(model, model.decide(corpus.texts))
    truth, _ = corpus.indicator(model.classes_.tolist())
    for k, topic in enumerate(report.topics):
        assert topic.points.threshold == sorted(set(topic.points.threshold), reverse=True)
        for theta, tp, fp in zip(topic.points.threshold, topic.points.tp, topic.points.fp, strict=True):
            accepted = lead[:, k] >= theta
            assert (tp, fp) == ((accepted & (truth[:, k] > 0)).sum(), (accepted & (truth[:, k] == 0)).sum())


@pytest.mark.parametrize("kind", ["costs", "dear", "asked"])
def test_moving_a_threshold_moves_decisions_as_the_points_say(kind):
    """With one label a text: as if the model had that threshold, the others staying where they are."""
    model, corpus, _ = made(kind)
    columns = model.learner_.decision_function(model.representation_.transform(corpus.texts))
    assert model.decide(corpus.texts).unsure.any() == (kind != "costs")
    for k, topic in enumerate(content(kind).topics):
        if len(model.classes_) == 2 and k != model.labels_.positive:
            continue  # its end of the band is the other threshold
        for at in (topic.in_use - 5, topic.in_use, topic.in_use + 5):
            moved = copy(model.model_)
            moved.thresholds_ = model.model_.thresholds_.copy()
            moved.thresholds_[k if len(model.classes_) > 2 else 0] += topic.points.threshold[at]
            given = moved.decide_scores(columns if columns.ndim == 2 else columns[:, None]).accepted[:, k]
            assert given.sum() == topic.points.tp[at] + topic.points.fp[at]


@pytest.mark.parametrize("kind", ["costs", "dear", "asked", "binary"])
def test_a_text_has_a_lead_exactly_where_it_is_accepted(kind):
    model, corpus, _ = made(kind)
    decisions = model.decide(corpus.texts)
    np.testing.assert_array_equal(leads(model, decisions) >= 0, decisions.accepted)


def test_reliability_is_scikit_learns_calibration_curve():
    from sklearn.calibration import calibration_curve

    model, corpus, _ = made("binary")
    proba = model.predict_proba(corpus.texts)
    for k, topic in enumerate(content("binary").topics):
        true, predicted = calibration_curve(
            np.array(corpus.labels) == topic.label, proba[:, k], n_bins=10, strategy="quantile"
        )
        np.testing.assert_allclose(topic.reliability.prob_true, true, atol=1e-5)
        np.testing.assert_allclose(topic.reliability.prob_pred, predicted, atol=1e-5)
        assert sum(topic.reliability.n_texts) == len(corpus)


def test_the_page_says_what_training_expected():
    report = content("dear")
    assert report.estimate == made("dear")[0].estimate(n_new=report.summary.n_texts)
    page = to_html(report)
    assert "Training expected of 90 new texts" in page
    assert f"<dd>{report.summary.answered:.1%}</dd>" in page


def test_borderline_texts_are_the_nearest_on_both_sides():
    model, corpus, _ = made("desk")
    lead = leads(model, model.decide(corpus.texts))
    for k, topic in enumerate(content("desk", n_borderline=3).topics):
        scores = [one.score for one in topic.borderline]
        assert scores == sorted(scores, reverse=True)
        assert [s for s in scores if s >= 0] == sorted(lead[lead[:, k] >= 0, k])[:3][::-1]
        assert [s for s in scores if s < 0] == sorted(lead[lead[:, k] < 0, k])[::-1][:3]
        assert all(one.truth == (corpus.labels[one.row] == topic.label) for one in topic.borderline)


def test_words_are_weights_taken_apart():
    model = made("desk")[0]
    learner, names = model.learner_, model.representation_.get_feature_names_out().tolist()
    report = content("desk")
    assert any(word.from_prior for topic in report.topics for word in topic.words)
    for k, topic in enumerate(report.topics):
        for word in topic.words:
            j = names.index(word.word)
            assert word.data + word.from_prior == pytest.approx(learner.coef_[k, j], rel=1e-3, abs=1e-3)
            assert word.from_prior == pytest.approx(learner.trust_[k] @ learner.prior_[k, :, j], rel=1e-3)
        assert topic.verdicts == [one for one in model.verdict_ if one.target == topic.label]


@pytest.mark.parametrize("kind", ["strings", "ngrams"])
def test_matches_stand_in_their_texts(kind):
    corpus = made(kind)[1]
    found = [one for topic in content(kind).topics for one in topic.matched]
    assert found
    for one in found:
        assert "".join(piece for piece, _ in one.pieces) == corpus.texts[one.row]
        assert any(weight for _, weight in one.pieces)
        assert one.shared == sorted(one.shared, key=lambda shared: -abs(shared.value))


def test_confusions_are_those_of_the_summary_and_what_is_right():
    for kind in ("desk", "multilabel"):
        report = content(kind)
        wrong = {(a, b): n for a, b, n in report.confusions if a != b}
        assert all(wrong[a, b] == n for a, b, n in report.summary.confusions)
        right = {a: n for a, b, n in report.confusions if a == b != ""}
        assert right == {one.label: one.tp for one in report.summary.classes if one.tp}


@pytest.mark.parametrize("kind", KINDS)
def test_json_comes_back_as_it_was(kind):
    report = content(kind)
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert plain["summary"] == json.loads(json.dumps(report.summary.to_dict()))
    assert json.loads(as_block(report.to_dict())) == plain


@pytest.mark.parametrize("text", HOSTILE)
def test_a_block_of_data_holds_nothing_that_is_markup(text):
    block = as_block({"text": text})
    assert json.loads(block) == {"text": text}
    assert not set("<>&\u2028\u2029\x00") & set(block)
    block.encode()


def test_hostile_texts_are_in_the_page_only_as_data():
    page = to_html(content("hostile", n_borderline=60))
    harmless, seen = Page(to_html(content("plain"))), Page(page)
    kinds = {tag for tag, _ in seen.elements}
    assert kinds <= {tag for tag, _ in harmless.elements}
    assert sum(tag == "script" for tag, _ in seen.elements) == len(seen.scripts) == 2
    assert not any(name.startswith("on") for _, attributes in seen.elements for name in attributes)
    data = json.loads(seen.scripts[0])
    shown = set(data["texts"].values())
    assert all(any(text in own for own in shown) for text in HOSTILE)
    assert "<i>hostile</i>" in seen.words
    assert str(1111**2) not in "".join(seen.words)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", page)


def test_the_page_fetches_nothing_and_lets_no_other_script_run():
    page = to_html(content("plain"))
    assert not re.search(r"""(src|href|action)=["'](?!data:,)""", page)
    assert not re.search(
        r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(",
        page,
    )
    assert re.search(r"default-src 'none'; .*script-src 'sha256-[\w+/=]+'", page)


def test_ninety_topics_and_three_thousand_texts_are_less_than_five_megabytes():
    page = to_html(content("large", n_bootstrap=0)).encode()
    assert len(page) < 5e6
    model, corpus, _ = made("large")
    # each becomes six characters
    worst = Corpus("worst", [f"{'<' * 300} {text}" for text in corpus.texts], corpus.labels)
    assert len(to_html(report_content(model, worst, n_bootstrap=0)).encode()) < 5e6


def test_a_topic_without_a_text_has_no_utility_to_draw():
    model, _, _ = made("multilabel")
    own = any_labels()
    few = Corpus(
        "few", own.texts[:30], [tuple(x for x in labels if x != "oil") for labels in own.labels[:30]]
    )
    report = report_content(model, few, T11SU, n_bootstrap=5)
    oil = next(topic for topic in report.topics if topic.label == "oil")
    assert (oil.n_texts, oil.best, oil.interval, oil.average_precision) == (0, None, None, None)
    assert set(oil.points.utility) == set(oil.points.recall) == {None}
    assert json.loads(as_block(report.to_dict()))


def test_texts_without_the_models_labels_are_refused():
    model, _, _ = made("plain")
    with pytest.raises(
        LabelError,
        match="No text of tin has a label that the model knows: 1 have 'tin', and it knows 'grain'",
    ):
        report_content(model, Corpus("tin", ["tin"], ["tin"]))
    with pytest.raises(TableError, match="no texts to report on"):
        report_content(model, Corpus("none", [], []))


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    model, corpus, _ = made("plain")
    path = tmp_path / "report.html"
    report = write_report(model, corpus, path, n_bootstrap=5)
    assert path.read_text(encoding="utf-8") == to_html(report)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(made("costs")[0], corpus, path, n_bootstrap=0)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("form", FORMS)
def test_labels_may_have_been_given_in_any_form(form, tmp_path):
    model, corpus = in_form(form)
    report = write_report(model, corpus, tmp_path / "report.html", n_bootstrap=0)
    assert [topic.label for topic in report.topics] == [str(name) for name in model.classes_.tolist()]
    assert report.summary.multilabel == (form in ("tuples", "indicator"))
    assert report.summary.macro_f1 > 0.5
    assert all(topic.words for topic in report.topics)
    shown = json.loads(Page((tmp_path / "report.html").read_text(encoding="utf-8")).scripts[0])
    assert [one["label"] for one in shown["summary"]["classes"]] == [topic.label for topic in report.topics]


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def files(tmp_path):
    """Labelled texts to learn from and others to report on."""
    for name, seed in (("train", 1), ("test", 0)):
        own = one_label(seed=seed)
        lines = (
            json.dumps({"text": text, "label": label})
            for text, label in zip(own.texts, own.labels, strict=True)
        )
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    ModelConfig().fit(one_label(seed=1)).save(tmp_path / "model.tmm")
    return tmp_path


def test_report_command_writes_the_page_and_prints_its_content(files, monkeypatch):
    monkeypatch.chdir(files)
    done = call("report", "model.tmm", "test.jsonl", "-o", "page.html", "--hit", "3")
    assert done.exit_code == 0, done.output
    assert "Written to page.html" in done.stdout
    shown = call("report", "model.tmm", "test.jsonl", "--hit", "3", "--json")
    assert json.loads(shown.stdout) == json.loads(Page((files / "page.html").read_text()).scripts[0])
    assert not (files / "report.html").exists()
    assert call("report", "model.tmm", "test.jsonl").exit_code == 0
    assert (files / "report.html").exists()


def test_report_command_says_what_is_wrong_in_one_line(files):
    done = call("report", files / "model.tmm", files / "test.jsonl", "-o", files / "nowhere" / "page.html")
    assert done.exit_code == 2
    assert "nowhere/page.html cannot be written" in done.stderr
    assert call("report", files / "test.jsonl", files / "test.jsonl").exit_code == 2


def test_demo_ends_with_a_page(tmp_path):
    done = call("demo", "--report", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    assert "page.html" in done.stdout.replace("\n", "")
    assert "phishing" in (tmp_path / "page.html").read_text()
