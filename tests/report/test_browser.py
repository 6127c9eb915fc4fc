"""The page in a real browser: it draws, follows the keyboard, fits a phone, and neither fetches nor runs
anything else.
"""

import pytest
from desk.pages import CHROMIUM, chromium
from report.reports import made

from textmargin import write_report
from textmargin.report.summary import measures_of_labels
from textmargin.report.topic import leads

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")

KINDS = ["desk", "binary", "multilabel", "strings", "hostile", "large"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Where the page of each kind of model is, written once."""
    folder, written = tmp_path_factory.mktemp("pages"), {}

    def path(kind):
        if kind not in written:
            model, corpus, utility = made(kind)
            written[kind] = folder / f"{kind}.html"
            write_report(model, corpus, written[kind], utility, n_bootstrap=20)
        return written[kind]

    return path


@pytest.fixture
def troubles():
    """Messages, errors, dialogs and requests of the pages opened."""
    return []


@pytest.fixture
def opened(browser, pages, troubles):
    """Open a page; at the end nothing must have gone wrong, and nothing been asked for but the page."""
    contexts = []

    def open_page(kind, width=1280, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 844}, **options))
        page = contexts[-1].new_page()
        address = pages(kind).as_uri()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: troubles.append(request.url) if request.url != address else None)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def readout(page):
    names = ("hits", "false-alarms", "misses", "precision", "recall", "utility")
    return {name: page.inner_text(f"#now-{name}") for name in names}


def computed(kind, k, theta):
    """What Python says of a topic at a threshold."""
    model, corpus, utility = made(kind)
    accepted = leads(model, model.decide(corpus.texts))[:, k] >= theta
    truth = corpus.indicator(model.classes_.tolist())[0][:, k] > 0
    tp, fp, fn = int((accepted & truth).sum()), int((accepted & ~truth).sum()), int((~accepted & truth).sum())
    measure = measures_of_labels(model, utility)[model.classes_[k]]
    value = measure and float(measure(tp, fp, fn, len(corpus) - tp - fp - fn))
    shown = "–" if value is None else f"{value:,.2f}".rstrip("0").rstrip(".").replace("-", "−")
    precision, recall = (f"{tp / n:.2f}" if n else "–" for n in (tp + fp, tp + fn))
    return {
        "hits": str(tp),
        "false-alarms": str(fp),
        "misses": str(fn),
        "precision": precision,
        "recall": recall,
        "utility": shown,
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_it_fits_the_screen_and_draws_one_topic(opened, kind, width):
    page = opened(kind, width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("svg").count() == 3
    assert page.locator("#borderline li").count() > 2


@pytest.mark.parametrize(
    ("kind", "k"),
    [("desk", 1), ("binary", 0), ("binary", 1), ("multilabel", 0), ("strings", 2), ("large", 5)],
)
def test_the_slider_moved_by_keys_shows_what_python_computes(opened, kind, k):
    page = opened(kind)
    page.select_option("#chosen", str(k))
    page.focus("#cut")
    seen = [readout(page)]
    assert seen[0] == computed(kind, k, 0.0)
    for key in (
        "ArrowLeft",
        "ArrowLeft",
        "ArrowDown",
        "PageDown",
        "ArrowRight",
        "PageUp",
        "Home",
        "End",
        "ArrowLeft",
    ):
        page.keyboard.press(key)
        theta = page.evaluate("state(at).threshold")
        assert float(page.input_value("#cut")) == pytest.approx(theta)
        seen.append(readout(page))
        assert seen[-1] == computed(kind, k, theta)
        for item in page.locator("#borderline li[data-score]").all():
            accepted = item.get_attribute("class") in ("hit", "false-alarm")
            assert accepted == (float(item.get_attribute("data-score")) >= theta)
    assert len({tuple(one.values()) for one in seen}) > 3
    page.click("#to-use")
    assert readout(page) == seen[0]


def test_of_two_topics_the_one_that_is_looked_for_is_shown_first(opened):
    """The other has no utility of its own, so the page opened on a chart that was not there."""
    assert made("binary")[0].labels_.positive == 0
    page = opened("binary")
    assert page.inner_text("#topic-name") == "grain"
    page.select_option("#chosen", "1")
    assert "There is no utility to draw" in page.inner_text("#utility")


def test_keys_alone_reach_everything(opened):
    page = opened("large")
    reached = []
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.dataset.topic || ''")
        )
    assert {str(k) for k in range(90)} <= set(reached)
    assert [one for one in reached if one and not one.isdigit()][:6] == [
        "chosen",
        "filter",
        "cut",
        "budget",
        "to-use",
        "to-best",
    ]
    page.locator("button[data-topic='7']").focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#topic-name") == "topic 07"
    assert page.evaluate("document.activeElement.id") == "topic-heading"


def test_a_budget_is_the_best_texts_of_so_many(opened):
    page = opened("binary")
    page.fill("#budget", "20")
    points = page.evaluate("topic.points")
    k = max(k for k in range(len(points["tp"])) if points["tp"][k] + points["fp"][k] <= 20)
    shown = (
        f"{points['tp'][k] + points['fp'][k]}: precision {points['precision'][k]:.2f}, "
        f"{points['recall'][k]:.0%} of all hits"
    )
    assert page.inner_text("#budget-note") == shown.replace("%", " %")
    assert page.locator("#utility path.budget").count() == 1
    page.fill("#budget", "")
    assert page.inner_text("#budget-note") == ""


def test_controls_have_names(opened):
    page = opened("large")
    for role, name in (
        ("slider", "Threshold"),
        ("combobox", "Topic"),
        ("searchbox", "Show only topics with"),
    ):
        assert page.get_by_role(role, name=name).count() == 1
    assert page.get_by_role("img", name="Utility by threshold").count() == 1
    page.focus("#cut")
    page.keyboard.press("ArrowLeft")
    assert "false alarms" in page.get_attribute("#cut", "aria-valuetext")


def test_hostile_texts_are_shown_as_they_are(opened):
    page = opened("hostile")
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.evaluate("document.querySelectorAll('img, b, i').length") == 0
    assert "<i>hostile</i>" in page.inner_text("h1")
    for k in range(3):
        page.select_option("#chosen", str(k))
        shown = page.evaluate(
            "[...document.querySelectorAll('#borderline .text')].map((one) => one.textContent)"
        )
        assert shown == page.evaluate("topic.borderline.map(({ row }) => report.texts[row])")
        assert page.inner_text("#topic-name") == page.evaluate("topic.label")
    assert page.evaluate("document.querySelectorAll('img, b, i').length") == 0


def test_a_script_that_got_in_would_not_run(opened, troubles):
    page = opened("desk")
    page.evaluate("document.body.append(make('script', {}, 'window.ran = 1'))")
    assert page.evaluate("window.ran") is None
    assert "Content Security Policy" in troubles.pop()


def test_without_scripts_the_numbers_are_there(opened):
    page = opened("desk", java_script_enabled=False)
    assert page.locator("tbody tr").count() == 8
    assert page.locator("noscript p").is_visible()
    assert page.get_by_text("taken for").first.is_visible()
