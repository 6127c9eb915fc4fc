"""Reading mode in a real browser: a pointer that is moved by a script gives the fixations and measures worked
out by hand.
"""

import http.server
import json
import threading
from importlib.resources import files

import pytest
from desk.pages import CHROMIUM, opened_desk, served

from textmargin import reading_measures
from textmargin.desk.reading import pointer_reading, split_words

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")

# an emoji: two units of JavaScript, one code point
TEXT = "The invoice 😡 is wrong again. Please mend it before the month ends."
WORDS = TEXT.split()
TOLERANCE = 25.0  # ms: a sample; the clock of the page is moved by hand

HARNESS = """<!doctype html><html lang="en"><title>Reading</title><link rel="stylesheet" href="/reading.css">
<body><p id="text"></p><p><button id="after">After</button></p>
<script type="module" src="/harness.js"></script></body></html>"""
SCRIPT = """import * as reading from "/reading.js";
window.reading = reading; window.sent = [];
window.open_text = (text, words, consent) => {
  document.getElementById("text").textContent = text;
  return reading.startReading(document.getElementById("text"), {
    words, consent, onReading: (one) => sent.push(one) });
};"""


@pytest.fixture(scope="module")
def address():
    """The package's page folder, with a page around reading mode, under the desk's
    Content-Security-Policy.
    """
    own = {"/": ("text/html", HARNESS.encode()), "/harness.js": ("text/javascript", SCRIPT.encode())}
    folder = files("textmargin.desk") / "page"
    own["/reading.js"] = ("text/javascript", (folder / "reading.js").read_bytes())
    own["/reading.css"] = ("text/css", (folder / "reading.css").read_bytes())

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            kind, content = own.get(self.path, ("text/plain", b""))
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header(
                "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'"
            )
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def opened(browser, address):
    """A page with a text in reading mode; at the end nothing must have gone wrong."""
    contexts, troubles = [], []

    def open_page(text=TEXT, consent=True, **options):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 600}, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.clock.install(time=0)
        page.goto(address)
        page.wait_for_function("() => window.open_text !== undefined")
        page.clock.pause_at(10_000)
        assert page.evaluate(
            "([text, words, consent]) => open_text(text, words, consent)", [text, split_words(text), consent]
        )
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [one for one in troubles if "favicon" not in one] == []


def point(page, word):
    """Put the pointer on the middle of a word."""
    box = page.locator(f"[data-word='{word}']").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def rest(page, word, ms):
    """Put the pointer on a word and leave it there, by the clock that is moved by hand."""
    point(page, word)
    page.clock.run_for(ms)


def sharp(page):
    return [
        int(one)
        for one in page.eval_on_selector_all(".reading-sharp", "all => all.map(one => one.dataset.word)")
    ]


def stopped(page, options="{}"):
    page.evaluate(f"reading.stop({options})")
    return page.evaluate("sent")


def test_a_scripted_pointer_gives_the_fixations_and_measures_worked_out_by_hand(opened):
    """invoice, wrong, back to invoice, on to again., then mend; "is" and "Please" are swept over."""
    page = opened()
    boxes = [page.locator(f"[data-word='{word}']").first.bounding_box() for word in range(len(WORDS))]
    left = page.locator("#text").bounding_box()["x"]
    for word, ms in ((1, 500), (3, 40), (4, 400), (1, 300), (5, 350), (6, 40), (7, 600)):
        rest(page, word, ms)
    (sent,) = stopped(page)
    content = pointer_reading({"text": 0, **sent}, [TEXT])
    fixations = content["fixations"]
    assert fixations["word"] == [1, 4, 1, 5, 7]
    assert fixations["duration"] == pytest.approx([500, 400, 300, 350, 600], abs=TOLERANCE)
    middles = [box["x"] + box["width"] / 2 - left for box in boxes]
    assert fixations["x"] == pytest.approx([middles[word] for word in (1, 4, 1, 5, 7)], abs=1)
    assert content["word_starts"] == pytest.approx([box["x"] - left for box in boxes], abs=0.2)
    found = reading_measures(fixations, content["word_starts"], content["sentences"])
    assert found["fixcount"].tolist() == [0, 2, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    assert found["totalFixDur"].tolist() == pytest.approx(
        [0, 800, 0, 0, 400, 350, 0, 600, 0, 0, 0, 0, 0], abs=2 * TOLERANCE
    )
    assert found["nRegressFrom"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert found["regressLen"][4] == pytest.approx(300, abs=TOLERANCE)
    assert found["P1stFixation"].tolist() == [0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    assert found["landingPos"][4] == pytest.approx(boxes[4]["width"] / 2, abs=1)
    assert found["firstSaccLen"][4] == pytest.approx(middles[4] - middles[1], abs=2)


def test_only_words_around_the_pointer_are_sharp(opened):
    page = opened(reduced_motion="reduce")
    blur = "word => getComputedStyle(document.querySelector(`[data-word='${word}']`)).filter"
    assert sharp(page) == []
    assert "blur" in page.evaluate(blur, 0)
    rest(page, 5, 150)
    assert sharp(page) == [3, 4, 5, 6]
    assert page.evaluate(blur, 5) == "none"
    assert "blur" in page.evaluate(blur, 1)
    assert page.inner_text("#text") == TEXT
    page.mouse.move(600, 550)
    assert sharp(page) == []
    stopped(page)
    assert page.locator(".reading-word").count() == 0
    assert page.evaluate("document.getElementById('text').childNodes.length") == 1
    assert page.get_attribute("#text", "tabindex") is None


def test_without_consent_nothing_is_sampled_or_sent(opened):
    page = opened(consent=False)
    rest(page, 5, 400)
    assert sharp(page) == [3, 4, 5, 6]
    assert stopped(page) == []
    page = opened(consent="yes")  # nothing but true is consent
    rest(page, 5, 300)
    assert stopped(page) == []


def test_what_is_not_to_be_sent_is_not_and_what_nobody_read_neither(opened):
    page = opened()
    rest(page, 5, 300)
    assert stopped(page, "{send: false}") == []
    assert stopped(page) == []
    page = opened()
    page.mouse.move(600, 550)
    page.clock.run_for(200)
    assert stopped(page) == []


def test_arrow_keys_read_too(opened):
    page = opened()
    page.focus("#text")
    for key, ms in (
        ("Home", 300),
        ("ArrowRight", 400),
        ("ArrowRight", 20),
        ("ArrowRight", 300),
        ("ArrowLeft", 0),
        ("ArrowLeft", 300),
    ):
        page.keyboard.press(key)
        page.clock.run_for(ms)
    assert page.eval_on_selector_all(".reading-chosen", "all => all.map(one => one.textContent)") == [
        "invoice"
    ]
    page.keyboard.press("End")
    assert sharp(page)[-1] == len(WORDS) - 1
    page.keyboard.press("Tab")
    assert sharp(page) == []
    (sent,) = stopped(page)
    fixations = pointer_reading({"text": 0, **sent}, [TEXT])["fixations"]
    assert fixations["word"][:4] == [0, 1, 3, 1]
    assert fixations["duration"][:4] == pytest.approx([300, 400, 300, 300], abs=TOLERANCE)


def test_up_and_down_go_to_the_word_above_and_below(opened):
    text = " ".join(["word"] * 300)
    page = opened(text)
    page.focus("#text")
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    x = page.locator(".reading-chosen").bounding_box()["x"]
    page.keyboard.press("ArrowDown")
    below = page.locator(".reading-chosen").bounding_box()
    assert below["x"] == pytest.approx(x, abs=20)
    page.keyboard.press("ArrowUp")
    assert page.locator(".reading-chosen").get_attribute("data-word") == "4"
    page.keyboard.press("ArrowUp")
    assert page.locator(".reading-chosen").get_attribute("data-word") == "4"


def test_words_cut_by_tints_and_drawn_anew(opened):
    """The desk draws its own elements in the text, also in the middle of what is a word here, and a button
    behind it.
    """
    page = opened("well-known 😡 thing here")
    page.evaluate(
        """() => { const make =
          (name, inside) => Object.assign(document.createElement(name), { textContent: inside });
        document.getElementById("text").replaceChildren(make("b", "well"), "-", make("b", "known"), " 😡 ",
        make("i", "thing"), " ", "here", make("button", "Show more")); }"""
    )
    parts = page.eval_on_selector_all(
        ".reading-word", "all => all.map(one => [one.dataset.word, one.textContent])"
    )
    assert parts == [["0", "well"], ["0", "-"], ["0", "known"], ["1", "😡"], ["2", "thing"], ["3", "here"]]
    rest(page, 0, 50)
    assert sharp(page)[:3] == [0, 0, 0]
    stopped(page)
    assert (
        page.inner_html("#text") == "<b>well</b>-<b>known</b> 😡 <i>thing</i> here<button>Show more</button>"
    )


def test_right_to_left_counts_from_the_right(opened):
    text = "الفاتورة خاطئة مرة أخرى"
    page = opened(text)
    page.evaluate("document.getElementById('text').dir = 'rtl'")
    rest(page, 1, 400)
    width = page.locator("[data-word='1']").bounding_box()["width"]
    (sent,) = stopped(page)
    assert sent["word_starts"][0] == pytest.approx(0, abs=0.2)
    assert sent["word_starts"] == sorted(sent["word_starts"])
    found = reading_measures(pointer_reading({"text": 0, **sent}, [text])["fixations"], sent["word_starts"])
    assert found["landingPos"][1] == pytest.approx(width / 2, abs=1)


@pytest.mark.parametrize(("preference", "moves"), [("reduce", False), ("no-preference", True)])
def test_who_wants_no_motion_gets_none(opened, preference, moves):
    page = opened(reduced_motion=preference)
    duration = page.evaluate("getComputedStyle(document.querySelector('.reading-word')).transitionDuration")
    assert (float(duration.rstrip("s")) > 0) == moves


def test_too_many_words_are_not_blurred(opened):
    page = opened("short")
    many = "a " * 5001
    assert (
        page.evaluate("([text, words]) => open_text(text, words, true)", [many, split_words(many)]) is False
    )
    assert page.locator(".reading-word").count() == 0


def test_five_thousand_words_follow_the_pointer_at_once(opened):
    page = opened("lorem " * 5000)
    page.clock.resume()
    milliseconds = page.evaluate(
        """async () => { const at = performance.now();
        for (let k = 0; k < 20; k++) {
        document.dispatchEvent(new PointerEvent("pointermove", { clientX: 50 + 40 * k, clientY: 60 }));
        document.body.offsetHeight; } return (performance.now() - at) / 20; }"""
    )
    assert milliseconds < 200


def test_the_reader_is_told_what_is_stored_and_that_it_can_be_taken_back(opened):
    page = opened()
    consent = page.evaluate("reading.CONSENT")
    for promise in (
        "which word your pointer was on, when and for how long",
        "take this back at any time",
        "It may well not",
    ):
        assert promise in consent
    json.dumps(consent).encode("ascii")


def wait_until(page, condition):
    """Half a minute at most, while the page goes on."""
    for _ in range(300):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not happen within half a minute")


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_at_the_desk_what_was_read_is_stored_with_the_label_if_the_reader_agreed(browser, tmp_path, answer):
    with opened_desk(tmp_path / "work.desk", n=40) as desk, served(desk) as address:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        troubles = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        posts = []
        page.on(
            "request",
            lambda request: posts.append(request.url) if request.url.endswith("/api/reading") else None,
        )
        page.goto(address)
        page.wait_for_selector("#text .word")
        page.click("#reading-button")
        page.click(f"#consent button[data-close={answer}]")
        page.wait_for_selector(".reading-word")
        point(page, 1)
        assert page.locator("[data-word='1']").first.get_attribute("class") == "reading-word reading-sharp"
        tints = (
            "all => all.map(getComputedStyle).filter(one => one.backgroundImage + one.backgroundColor "
            "!== 'nonergba(0, 0, 0, 0)')"
        )
        assert page.eval_on_selector_all("#text .word", f"{tints}.length") == 0
        page.wait_for_timeout(600)
        point(page, 2)
        page.wait_for_timeout(600)
        page.keyboard.press("1")
        wait_until(page, lambda: any(act.kind == "label" for act in desk.project.acts()))
        if answer == "yes":
            wait_until(page, lambda: desk.project.state.readings)
        (label,) = (act for act in desk.project.acts() if act.kind == "label")
        stored = [act.content for act in desk.project.acts() if act.kind == "reading"]
        assert len(stored) == len(posts) == (answer == "yes")
        for content in stored:
            assert content["text"] == label.content["text"]
            assert [word for word in content["fixations"]["word"] if word >= 0] == [1, 2]
        assert troubles == []
        page.context.close()
