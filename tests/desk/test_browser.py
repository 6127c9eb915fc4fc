"""The page in a real browser: labels, marks, words, costs, undo, conflicts, files, restarts, by keys alone and at both widths."""

import re
import tomllib
from itertools import pairwise
from types import SimpleNamespace

import pytest
from desk import axe
from desk.fake import FakeDesk
from desk.pages import CHROMIUM, KEYWORDS, chromium, messages, opened_desk, served

from textmargin.errors import DeskError

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")

WIDTHS = [1280, 390]
GONE = "Failed to load resource: net::ERR_CONNECTION_REFUSED"  # said of a desk that was closed before the page
HOSTILE = [
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'> \"quotes\" & 'apostrophes' </span>",
    "שלום עולם, המדפסת לא עובדת and some English",
    "打印机坏了，请帮忙。プリンターが壊れました。",
    "😡 the 👩‍💻 printer 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 again 🖨️ no toner",
    "word " * 200_000,
    "x" * 3000,
    "   \n\n\t",
    "javascript:alert(1) {{7*7}} ${7*7} %00 \u202e reversed \x00 \x07 nul",
    "lone \ud83d half",
]
HOSTILE_CLASSES = ["<b>bold</b>", "\"quoted' & class", "עברית", "😡", "a" * 150, "__proto__", "constructor"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def look(browser):
    """Open a desk's page; at the end nothing must have gone wrong in it, nor been asked for elsewhere."""
    troubles, contexts = [], []

    def open_page(url, width=1280, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 844}, accept_downloads=True, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        own = url.partition("?")[0]
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on(
            "request", lambda one: troubles.append(one.url) if not one.url.startswith((own, "data:", "blob:" + own)) else None
        )
        page.goto(url)
        page.wait_for_selector("body.ready")
        return page

    yield SimpleNamespace(at=open_page, troubles=troubles)
    for context in contexts:
        context.close()
    assert [one for one in troubles if one != GONE] == []


@pytest.fixture
def fake():
    texts, classes = messages()
    return FakeDesk(texts, classes, keywords=KEYWORDS, words=False)


def number(page):
    """Which text is shown, as the desk counts."""
    return int(re.search(r"text (\d+)", page.inner_text("#about .number"))[1]) - 1


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def until(page, expression, argument=None):
    page.wait_for_function(expression, arg=argument)


def noticed(page, words):
    """Wait until the page says that something is stored, or why it is not."""
    until(page, "(words) => document.getElementById('notice').textContent.includes(words)", words)


def on_word(page, k):
    """Go to the k-th word of the text by keys."""
    page.focus("#text")
    for _ in range(k + 1):
        page.keyboard.press("ArrowRight")


def tab_to(page, name):
    """Press Tab until what has this name has the focus."""
    here = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    for _ in range(120):
        if page.evaluate(here) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name!r}")


def show_tab(page, name):
    """Open a tab of the side by keys: from the text on to the tabs, and along them."""
    page.keyboard.press("Escape")
    for _ in range(120):
        if page.evaluate("document.activeElement.getAttribute('role')") == "tab":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Home")
    for _ in range(5):
        if page.evaluate("document.activeElement.id") == f"tab-{name}":
            assert page.is_visible(f"#panel-{name}")
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"no key reaches the tab {name}")


# One label, and on


@pytest.mark.parametrize("width", WIDTHS)
def test_a_digit_labels_and_goes_on_once_it_is_stored(look, fake, width):
    with served(fake) as url:
        page = look.at(url, width)
        assert number(page) == 0
        page.keyboard.press("5")
        noticed(page, "Saved: network")
        assert number(page) == 1
        assert fake.labels[0] == {"anna": ["network"]}
        content = fake.acts[0]["content"]
        assert content["source"] == "tie"
        assert 0 < content["seconds"] < 60
        assert page.inner_text("#progress-words") == "1 of 60 labelled"
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_space_skips_and_u_undoes_any_number_of_steps(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.keyboard.press("1")
        noticed(page, "Saved: accessibility")
        page.keyboard.press(" ")
        noticed(page, "Skipped")
        page.keyboard.press("2")
        noticed(page, "Saved: account")
        for back in (2, 1, 0):
            page.keyboard.press("u")
            until(page, "(n) => document.querySelector('#about .number').textContent.includes(`text ${n}`)", back + 1)
        assert fake.labels == {}
        assert fake.skips == {}
        assert page.is_disabled("#undo")
        page.keyboard.press("U")
        noticed(page, "Done again: ")
        assert 0 in fake.labels


def test_a_key_pressed_twice_is_one_label(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.evaluate("""() => { for (const k of [1, 2]) document.getElementById('text').dispatchEvent(
            new KeyboardEvent('keydown', { key: '3', bubbles: true })); }""")
        noticed(page, "Saved")
        page.wait_for_timeout(300)
        assert len(fake.acts) == 1


def test_keys_do_nothing_while_somebody_types_and_can_be_switched_off(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.fill("#new-class", "")
        page.focus("#new-class")
        page.keyboard.type("u2 ?/")
        assert page.input_value("#new-class") == "u2 ?/"
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        page.uncheck("#keys-on")
        page.keyboard.press("Escape")
        page.keyboard.press("2")
        page.wait_for_timeout(200)
        assert fake.acts == []


def test_several_labels_are_picked_and_confirmed(look):
    texts, classes = messages()
    fake = FakeDesk(texts, classes, multilabel=True, words=False)
    with served(fake) as url:
        page = look.at(url)
        press(page, "2", "5", "7", "5")
        assert page.locator("#labels [aria-pressed=true]").all_inner_texts()[0].split()[1] == "account"
        page.keyboard.press("Enter")
        noticed(page, "Saved: account, printing")
        page.keyboard.press("Enter")
        noticed(page, "none of these")
        assert fake.labels == {0: {"anna": ["account", "printing"]}, 1: {"anna": []}}


def test_more_than_nine_classes_are_found_by_name(look):
    texts, _ = messages()
    fake = FakeDesk(texts, [f"topic {k:02d}" for k in range(30)], words=False)
    with served(fake) as url:
        page = look.at(url)
        page.keyboard.press("c")
        page.keyboard.type("c 27")
        page.keyboard.press("Enter")
        noticed(page, "Saved: topic 27")
        assert fake.labels == {0: {"anna": ["topic 27"]}}


# Words and passages


@pytest.mark.parametrize("width", WIDTHS)
def test_a_passage_is_marked_by_keys_alone(look, fake, width):
    with served(fake) as url:
        page = look.at(url, width)
        on_word(page, 5)
        press(page, "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
        assert len(page.inner_text("#menu .phrase").split()) == 3
        press(page, "5", "m")
        noticed(page, "Marked for network")
        mark = fake.marks[0][0]
        phrase = fake.texts[0][mark["start"] : mark["end"]]
        assert len(phrase.split()) == 3
        assert fake.texts[0].split()[5] == phrase.split()[0]
        until(page, "() => document.querySelectorAll('#text .marked').length === 5")  # three words, two gaps
        on_word(page, 5)
        press(page, "Enter", "m")
        noticed(page, "Mark removed")
        assert fake.marks[0] == []


def test_a_passage_is_marked_by_the_pointer(look, fake):
    with served(fake) as url:
        page = look.at(url)
        first, last = page.locator("#text .word").nth(2).bounding_box(), page.locator("#text .word").nth(4).bounding_box()
        page.mouse.move(first["x"] + 2, first["y"] + 10)
        page.mouse.down()
        page.mouse.move(last["x"] + last["width"] - 2, last["y"] + 10, steps=5)
        page.mouse.up()
        page.get_by_role("button", name="Mark for").click()
        noticed(page, "Marked")
        mark = fake.marks[0][0]
        assert fake.texts[0][mark["start"] : mark["end"]] == " ".join(fake.texts[0].split()[2:5])


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_becomes_a_keyword_for_or_against_a_class_or_is_struck(look, fake, width):
    with served(fake) as url:
        page = look.at(url, width)
        word = page.locator("#text .word").nth(7)
        name = word.inner_text().lower()
        for key, weight, words in (
            ("f", 1, "speaks for hardware"),
            ("a", -1, "speaks against hardware"),
            ("x", 0, "struck for hardware"),
        ):
            word.click()
            press(page, "4", key)
            noticed(page, words)
            assert fake.keywords["hardware"] == {name: weight}
        until(page, "() => document.querySelector('.chip.struck') !== null")
        page.keyboard.press("u")
        until(page, "() => document.querySelector('.chip.struck') === null")
        assert fake.keywords["hardware"] == {name: -1}
        word.click()
        press(page, "4", "r")
        noticed(page, "no keyword any more")
        assert fake.keywords["hardware"] == {}


def test_offsets_are_code_points_behind_emoji(look):
    fake = FakeDesk(HOSTILE, ["a", "b"], words=False)
    with served(fake) as url:
        page = look.at(url)
        for _ in range(3):
            page.keyboard.press(" ")
            page.wait_for_timeout(150)
        page.locator("#text .word", has_text="toner").click()
        press(page, "1", "m")
        noticed(page, "Marked")
        mark = fake.marks[3][0]
        assert HOSTILE[3][mark["start"] : mark["end"]] == "toner"


def test_a_question_about_a_word_is_answered_by_a_key(look):
    texts, classes = messages()
    fake = FakeDesk(texts, classes)
    with served(fake) as url:
        page = look.at(url)
        for _ in range(3):
            noticed_before = len(fake.acts)
            press(page, " ")
            until(
                page,
                "() => document.getElementById('notice').textContent === 'Skipped' && !document.querySelector('[aria-busy]')",
            )
            assert len(fake.acts) == noticed_before + 1
            page.wait_for_timeout(100)
        page.wait_for_selector("#question:visible")
        for key, weight in (("y", 1), ("n", 0), ("a", -1)):
            word = page.inner_text("#question-words q").strip("“”")
            label = page.inner_text("#question-words b")
            page.keyboard.press(key)
            noticed(page, word)
            assert fake.keywords[label][word] == weight
            page.wait_for_timeout(100)


# The side


@pytest.mark.parametrize("width", WIDTHS)
def test_costs_are_typed_and_kept(look, fake, width):
    with served(fake) as url:
        page = look.at(url, width)
        page.click("#tab-costs")
        page.get_by_label("phishing: miss").fill("-400")
        page.keyboard.press("Tab")
        noticed(page, "Costs saved")
        assert fake.costs["costs"]["phishing"] == {"hit": 1, "false_alarm": -1, "miss": -400}
        assert fake.costs["costs"]["*"] == {"hit": 1, "false_alarm": -1, "miss": 0}
        for name, value in (("phishing: hit", "40"), ("phishing: false alarm", "−5"), ("What a minute of yours costs", "0,5")):
            page.get_by_label(name).fill(value)
        page.get_by_label("Texts a day that people can look at").fill("30")
        page.keyboard.press("Enter")
        until(page, "() => document.querySelector('[data-typed]') === null")
        assert fake.costs["costs"]["phishing"] == {"hit": 40, "false_alarm": -5, "miss": -400}
        assert all(one["content"] != other["content"] for one, other in pairwise(fake.acts))
        assert fake.costs["minute"] == 0.5
        assert fake.costs["budget"] == 30
        page.get_by_label("phishing: hit").fill("forty")
        page.keyboard.press("Enter")
        assert "phishing: hit should be a number" in page.inner_text("#costs-wrong")
        assert page.get_by_label("phishing: hit").get_attribute("aria-invalid") == "true"


def test_numbers_that_are_being_typed_outlast_what_others_do(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.click("#tab-costs")
        page.get_by_label("phishing: miss").fill("5")  # a miss that earns more than a hit: not stored
        page.get_by_label("billing: hit").fill("7")
        fake.act({"id": "o", "annotator": "ben", "kind": "skip", "content": {"text": 9, "source": "tie", "seconds": None}})
        page.wait_for_timeout(4000)
        assert page.get_by_label("phishing: miss").input_value() == "5"
        assert page.get_by_label("billing: hit").input_value() == "7"
        assert "a hit should be worth more than a miss" in page.inner_text("#costs-wrong")


def test_words_are_named_and_suggestions_taken_at_the_side(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.get_by_role("button", name="Add the suggested word router to accessibility").click()
        noticed(page, "router speaks for accessibility")
        page.get_by_role("button", name="Edit billing").click()
        page.keyboard.type("late fee")
        page.keyboard.press("Enter")
        noticed(page, "late fee speaks for billing")
        assert fake.keywords["billing"]["late fee"] == 1
        page.fill("#new-class", "travel")
        page.keyboard.press("Enter")
        noticed(page, "New class: travel")
        assert page.locator("#labels button").count() == 9


def test_the_curve_says_its_numbers_in_words(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.click("#tab-quality")
        assert "begins with the first labels" in page.inner_text("#panel-quality")
        for _ in range(8):
            press(page, "2")
            page.wait_for_timeout(150)
        label = page.get_by_role("img").first.get_attribute("aria-label")
        assert re.match(r"Expected .* from .* at 0 to .* at 8", label)
        assert page.locator("#panel-quality tbody tr").count() == 9


def test_a_conflict_is_settled(look, fake):
    for who, name in (("anna", "network"), ("ben", "billing")):
        content = {"text": 7, "labels": [name], "source": "tie", "seconds": 1.0}
        fake.act({"id": who, "annotator": who, "kind": "label", "content": content})
    with served(fake) as url:
        page = look.at(url)
        assert page.get_by_role("tab", name="Review").inner_text().split()[1] == "2"
        show_tab(page, "review")
        tab_to(page, "Settle text 8 as billing")
        page.keyboard.press("Enter")
        noticed(page, "Settled: billing")
        assert fake.settled == {7: ["billing"]}
        until(page, "() => document.getElementById('panel-review').textContent.includes('Nobody contradicts anybody')")


def test_search_and_similar_open_a_text(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.keyboard.press("/")
        page.keyboard.type("the")
        until(page, "() => document.querySelectorAll('#search-rows li').length > 0")
        press(page, "Enter")
        until(page, "() => document.activeElement.classList.contains('snippet')")
        press(page, "ArrowDown", "Enter")
        until(page, "() => document.querySelector('#about .source').textContent === 'Found by search'")
        assert "the" in page.inner_text("#text").lower()
        page.keyboard.press("s")
        until(page, "() => document.activeElement.classList.contains('snippet')")
        page.keyboard.press("Enter")
        until(page, "() => document.querySelector('#about .source').textContent === 'Like another'")
        page.keyboard.press("3")
        noticed(page, "Saved: billing")
        assert fake.acts[-1]["content"]["source"] == "similar"


def test_files_are_taken_away(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.keyboard.press("5")
        noticed(page, "Saved")
        show_tab(page, "project")
        tab_to(page, "Labels, CSV")
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert waiting.value.suggested_filename == "tickets.csv"
        assert waiting.value.path().read_text() == "text,labels\n0,network\n"


# Nothing lost


def test_an_act_is_done_only_when_the_desk_says_so_and_is_sent_again_with_its_id(look, fake):
    with served(fake) as url:
        page = look.at(url)
        fake.broken["act"] = DeskError("work.desk cannot be written: No space left on device.")
        fake.broken["act"].__cause__ = OSError(28, "No space left on device")
        page.keyboard.press("5")
        until(page, "() => document.getElementById('trouble').textContent.includes('No space left')")
        assert "Not saved yet." in page.inner_text("#trouble")
        assert "1 act is sent again until the desk has stored it." in page.inner_text("#trouble")
        assert number(page) == 0
        assert page.is_hidden("#notice")
        fake.broken.clear()
        noticed(page, "Saved: network")
        assert page.is_hidden("#trouble")
        assert number(page) == 1
        assert [one["kind"] for one in fake.acts] == ["label"]
    assert all("503" in one for one in look.troubles)
    look.troubles.clear()


def test_the_desk_goes_away_and_comes_back(look, fake):
    with served(fake) as url:
        port = int(re.search(r":(\d+)/", url)[1])
        page = look.at(url)
    page.keyboard.press("5")
    until(page, "() => document.getElementById('trouble').textContent.includes('does not answer')")
    with served(fake, port=port):
        noticed(page, "Saved: network")
        assert number(page) == 1


def test_an_act_that_was_on_its_way_when_the_page_was_reloaded_is_sent_again(look, fake):
    with served(fake) as url:
        page = look.at(url)
        lost = {
            "id": "f" * 32,
            "annotator": "anna",
            "kind": "label",
            "content": {"text": 0, "labels": ["billing"], "source": "tie", "seconds": 1},
        }
        page.evaluate(
            "(one) => sessionStorage.setItem('textmargin-desk-outbox', JSON.stringify([{path: '/api/acts', body: one}]))", lost
        )
        page.reload()
        page.wait_for_selector("body.ready")
        assert fake.labels == {0: {"anna": ["billing"]}}
        assert number(page) == 1
        assert page.evaluate("sessionStorage.getItem('textmargin-desk-outbox')") == "[]"


def test_a_refused_act_is_told_and_not_sent_again(look, fake):
    with served(fake) as url:
        page = look.at(url)
        fake.first_classes.remove("network")
        fake._fold()
        page.keyboard.press("5")
        until(page, "() => document.getElementById('notice').className === 'refused'")
        assert "not classes of this project" in page.inner_text("#notice")
        assert number(page) == 0
        assert page.is_hidden("#trouble")
    assert all("422" in one for one in look.troubles)
    look.troubles.clear()


def test_two_browsers_see_what_the_other_does(look, fake):
    with served(fake) as url:
        one, other = look.at(url), look.at(url)
        one.keyboard.press("5")
        noticed(one, "Saved")
        until(other, "() => document.getElementById('progress-words').textContent === '1 of 60 labelled'")
        assert number(other) == 0
        other.keyboard.press("5")
        noticed(other, "Saved")
        assert list(fake.labels) == [0]


def test_the_token_leaves_the_address_and_outlasts_a_reload(look, fake):
    with served(fake) as url:
        page = look.at(url)
        assert "token" not in page.url
        page.reload()
        page.wait_for_selector("body.ready")
        assert number(page) == 0


def test_without_the_token_the_page_says_what_to_do(browser, fake):
    with served(fake) as url:
        page = browser.new_page()
        page.goto(url.partition("?")[0])
        page.wait_for_selector("#trouble:visible")
        assert "Open the address that the desk printed" in page.inner_text("#trouble")
        page.close()


def test_a_desk_for_nobody_in_particular_asks_who_reads(browser, fake):
    with served(fake, annotator=None) as url:
        page, troubles = browser.new_page(), []
        page.on("console", lambda message: troubles.append(message.text))
        page.goto(url)
        page.wait_for_selector("#person[open]")
        press(page, "Escape", "Escape")
        page.wait_for_selector("#person[open]")
        page.focus("#name")
        page.keyboard.type("Zoë <b>")
        page.keyboard.press("Enter")
        page.wait_for_selector("body.ready")
        assert page.inner_text("#person-name") == "Zoë <b>"
        until(page, "() => document.activeElement.id === 'text'")
        page.keyboard.press("1")
        noticed(page, "Saved")
        assert fake.labels == {0: {"Zoë <b>": ["accessibility"]}}
        assert troubles == []  # the state was asked for before there was a name, and refused
        page.close()


# What others wrote


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_texts_and_names_are_text(look, width):
    fake = FakeDesk(HOSTILE, HOSTILE_CLASSES, words=False, keywords={"<b>bold</b>": {"<i>word</i>": 1}})
    fake.extra["worth"] = {"text": "<img src=x onerror=alert(1)>", "stop": True}
    with served(fake, annotator="<u>eve</u>") as url:
        page = look.at(url, width)
        for k, text in enumerate(HOSTILE):
            until(page, "(n) => document.querySelector('#about .number').textContent.includes(n)", f"text {k + 1}")
            shown = page.evaluate("[...document.querySelectorAll('#text > span')].map((one) => one.textContent).join('')")
            assert text.encode("utf-16", "surrogatepass").startswith(shown.encode("utf-16", "surrogatepass"))
            assert len(shown) > min(len(text), 15_000) - 1
            assert (
                page.evaluate("document.querySelectorAll('img, b:not(#question-words *), i, u, script:not([src])').length") == 0
            )
            assert page.evaluate("window.ran") is None
            assert page.evaluate("document.documentElement.scrollWidth") == width
            page.keyboard.press("1" if k % 2 else " ")
        page.wait_for_selector("#end:visible")
        assert page.locator("#labels .name").all_text_contents() == HOSTILE_CLASSES
        assert fake.labels[1] == {"<u>eve</u>": ["<b>bold</b>"]}
        page.click("#tab-project")
        assert "<u>eve</u>" in page.inner_text("#people")


def test_right_to_left_texts_run_from_right_to_left(look):
    fake = FakeDesk([HOSTILE[1]], ["a", "b"], words=False)
    with served(fake) as url:
        page = look.at(url)
        assert page.get_attribute("#text", "dir") == "rtl"
        page.focus("#text")
        press(page, "ArrowLeft", "ArrowLeft")
        assert page.evaluate("document.activeElement.textContent") == "עולם"


def test_a_script_that_got_in_would_not_run(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))")
        assert page.evaluate("window.ran") is None
        assert "Content Security Policy" in look.troubles.pop()


# For everybody


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(look, fake, width, scheme):
    if axe.source() is None:
        pytest.skip("axe-core is not in the cache, and the registry of npm cannot be reached")
    content = {"text": 7, "labels": ["network"], "source": "tie", "seconds": 1.0}
    fake.act({"id": "b", "annotator": "ben", "kind": "label", "content": content})
    fake.words_first = True
    with served(fake) as url:
        page = look.at(url, width, color_scheme=scheme, reduced_motion="reduce")
        for tab in ("classes", "costs", "quality", "review", "project"):
            page.click(f"#tab-{tab}")
            assert axe.findings(page) == []
        page.click("#tab-classes")
        page.get_by_role("button", name="Edit billing").click()
        assert axe.findings(page) == []
        page.locator("#text .word").nth(3).click()
        assert axe.findings(page) == []
        page.keyboard.press("Escape")
        on_word(page, 2)
        assert axe.findings(page) == []
        for opener in ("?", "/", "s", "r"):
            page.focus("#text")
            page.keyboard.press(opener)
            page.wait_for_selector("dialog[open]")
            page.wait_for_timeout(200)
            assert axe.findings(page) == []
            page.keyboard.press("Escape")
        for name in ("Saved: network", "Saved: network", "Saved: network"):
            page.keyboard.press("5")
            noticed(page, name)
            page.wait_for_timeout(150)
        assert page.is_visible("#question")
        assert axe.findings(page) == []


def test_the_keyboard_reaches_everything(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.focus(".jump")
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "document.activeElement.id || document.activeElement.dataset.focus || document.activeElement.className"
                )
            )
        assert {"search-button", "reading-button", "keys-button", "person-button", "text", "tint", "skip", "similar"} <= reached
        assert {"tab-classes", "label network", "edit network", "word network wifi", "new-class"} <= reached
        page.focus("#tab-classes")
        for panel in ("costs", "quality", "review", "project"):
            page.keyboard.press("ArrowRight")
            assert page.is_visible(f"#panel-{panel}")


def test_what_happens_is_said_to_screen_readers(look, fake):
    with served(fake) as url:
        page = look.at(url)
        assert page.get_attribute("#live", "role") == "status"
        until(page, "() => document.getElementById('live').textContent.startsWith('Text 1.')")
        page.keyboard.press("5")
        until(page, "() => document.getElementById('live').textContent.startsWith('Saved: network')")
        assert page.evaluate("document.activeElement.id") == "text"


# With the model


@pytest.mark.parametrize("width", WIDTHS)
def test_a_working_day_with_the_model(look, tmp_path, width):
    """First label, keyword, mark, cost, undo, conflict, export and restart, with a real project and by keys."""
    path = tmp_path / "tickets.desk"
    with opened_desk(path, n=120) as desk, served(desk) as url:
        page = look.at(url, width)
        page.keyboard.press("5")
        noticed(page, "Saved: network")
        page.keyboard.press("2")
        noticed(page, "Saved: account")
        until(page, "() => document.querySelectorAll('#text .word').length > 3")
        on_word(page, 2)
        press(page, "Shift+ArrowRight", "Enter", "4", "m")
        noticed(page, "Marked for hardware")
        on_word(page, 0)
        press(page, "Enter", "4", "f")
        noticed(page, "speaks for hardware")
        word = next(iter(desk.project.state.keywords["hardware"]))
        page.get_by_role("button", name=f"{word} speaks for hardware").wait_for()
        page.keyboard.press("u")
        noticed(page, "Undone")
        assert "hardware" not in desk.project.state.keywords
        show_tab(page, "costs")
        tab_to(page, "phishing: miss")
        page.keyboard.type("-400")
        page.keyboard.press("Enter")
        noticed(page, "Costs saved")
        first = next(iter(desk.project.state.labels))
        content = {"text": first, "labels": ["billing"], "source": "tie", "seconds": 2.0}
        desk.act({"id": "ben-1", "annotator": "ben", "kind": "label", "content": content})
        show_tab(page, "review")
        page.get_by_role("button", name=f"Settle text {first + 1} as billing").wait_for()
        tab_to(page, f"Settle text {first + 1} as billing")
        page.keyboard.press("Enter")
        noticed(page, "Settled: billing")
        show_tab(page, "project")
        tab_to(page, "Keywords, TOML")
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert set(tomllib.loads(waiting.value.path().read_text())["keywords"]) == set(KEYWORDS)
        before = desk.project.state.contents()
    with opened_desk(path) as again, served(again) as url:
        assert again.project.state.contents() == before
        page = look.at(url, width)
        assert page.inner_text("#progress-words") == "2 of 120 labelled"
        for what in ("settled", "Undone: costs"):
            assert not page.is_disabled("#undo")
            page.keyboard.press("u")
            noticed(page, what)
        assert again.project.state.costs == {}


def test_reading_mode_asks_first_and_stores_what_was_agreed(look, tmp_path):
    with opened_desk(tmp_path / "tickets.desk", n=60) as desk, served(desk) as url:
        page = look.at(url)
        page.keyboard.press("r")
        page.get_by_role("button", name="I agree").click()
        noticed(page, "You agreed")
        page.wait_for_selector(".reading-word")
        box = page.locator(".reading-word").first.bounding_box()
        page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
        page.wait_for_timeout(600)
        page.keyboard.press("5")
        noticed(page, "Saved: network")
        for _ in range(50):
            if desk.project.state.readings:
                break
            page.wait_for_timeout(100)
        assert set(desk.project.state.readings[0].content["fixations"]["word"]) == {0}
        page.click("#tab-project")
        page.get_by_role("button", name="Store it no more").click()
        noticed(page, "what was stored is deleted")
        n = len(desk.project.state.readings)
        assert n == 0
        page.mouse.move(box["x"] + 6, box["y"] + box["height"] / 2)
        page.wait_for_timeout(300)
        page.keyboard.press("2")
        noticed(page, "Saved: account")
        page.wait_for_timeout(300)
        assert len(desk.project.state.readings) == n
