"""What a word is, in any script, and which language texts are in."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from textmargin import load_dataset
from textmargin.representations.languages import (
    LANGUAGES,
    function_words,
    guess_language,
    main_language,
    script_of,
)
from textmargin.representations.words import WordTokenizer

SPLIT = {
    "digits": ("x11 and 3d at 10am", ["x11", "and", "3d", "at", "10am"]),
    "numbers": ("1987 was 3.50 £5 $", ["####", "was", "#", "##", "£", "#", "$"]),
    "underscores": ("a_b file_name", ["file", "name"]),
    "single letters": ("a naïve b Straße", ["naïve", "Straße"]),
    "chinese": ("账单不对", ["账", "单", "不", "对", "账单", "单不", "不对"]),
    "chinese among others": ("iPhone手机2024年", ["iPhone", "手", "机", "手机", "####", "年"]),
    "japanese": ("テストの", ["テ", "ス", "ト", "の", "テス", "スト", "トの"]),
    "thai": ("ไม่ถูก ๑๒", ["ไม่", "ม่ถ", "่ถู", "ถูก", "##"]),
    "korean": ("한국어 문장", ["한국어", "문장"]),
    "vowel signs": ("हिन्दी में", ["हिन्दी", "में"]),
    "arabic": ("الفاتورةُ ١٢٣", ["الفاتورةُ", "###"]),
    "emoji": ("great 👍🏽 🇩🇪 ❤️☎", ["great", "👍", "🇩🇪", "❤", "☎"]),
}


@pytest.mark.parametrize(("text", "words"), SPLIT.values(), ids=SPLIT)
def test_words_of_any_script(text, words):
    assert WordTokenizer()(text) == words


@given(st.text())
@example("é́a½²Ⅷ")
def test_words_are_two_letters_or_digits_a_symbol_or_a_run_without_blanks(text):
    """The definition, character by character: nothing else is a word, and no letter or digit beside another
    is lost.
    """
    words = WordTokenizer(numbers="exact")(text)
    for word in words:
        kinds = {unicodedata.category(letter)[0] for letter in word}
        assert kinds <= {"L", "N", "M"} or len(word) <= 2
    for run in re.findall(r"[a-zA-Z0-9]{2,}", text):
        assert any(run in word for word in words)


@given(st.text(alphabet="ab1 .$é2"))
def test_texts_in_ascii_are_split_like_all_others(text):
    """They take a shorter way."""
    ascii_only = text.replace("é", "")
    longer = WordTokenizer()(ascii_only + " é")
    assert WordTokenizer()(ascii_only) == longer


SENTENCES = {
    "english": "I have not been able to log in since this morning, and the page does not tell me why",
    "german": "Ich kann mich seit heute Morgen nicht anmelden und die Seite sagt mir nicht, warum das so ist",
    "french": "Je ne peux plus me connecter depuis ce matin et la page ne me dit pas pourquoi",
    "spanish": "No puedo entrar desde esta mañana y la página no me dice por qué es así",
    "italian": "Non riesco a entrare da questa mattina e la pagina non mi dice perché",
    "portuguese": "Não consigo entrar desde esta manhã e a página não me diz por que isso é assim",
    "dutch": "Ik kan sinds vanmorgen niet meer inloggen en de pagina zegt mij niet waarom dat zo is",
    "swedish": "Jag kan inte logga in sedan i morse och sidan säger inte varför det är så",
    "danish": "Jeg kan ikke logge ind siden i morges, og siden siger ikke, hvorfor det er sådan, hvad "
    "skal jeg nu",
    "norwegian": "Jeg kan ikke logge inn siden i dag tidlig, og siden sier ikke hvorfor det er slik, hva "
    "skal jeg nå",
    "polish": "Nie mogę się zalogować od rana, a strona nie mówi mi, dlaczego tak jest",
    "russian": "Я не могу войти с утра, и на странице не написано, почему это так",
    "turkish": "Bu sabahtan beri giriş yapamıyorum ve sayfa bana neden böyle olduğunu söylemiyor çünkü "
    "bir şey yok",
    "arabic": "لا أستطيع الدخول منذ هذا الصباح ولا تقول لي الصفحة لماذا هذا",
    "chinese": "我从早上开始就无法登录，页面也没有说明原因",
    "japanese": "今朝からログインできませんし、理由も書いてありません",
    "thai": "ฉันเข้าสู่ระบบไม่ได้ตั้งแต่เช้านี้",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items(), ids=SENTENCES)
def test_languages_are_known_by_their_function_words(language, text):
    assert main_language([text]) == language
    assert guess_language(text) in (language, None)
    if language not in ("danish", "norwegian"):  # alike, so that one sentence may not tell
        assert guess_language(text) == language


def test_every_language_has_its_words_in_lower_case():
    for language in LANGUAGES:
        own = function_words(language)
        assert len(own) >= 80
        assert own == {word.lower() for word in own}


def test_words_that_say_nothing_tell_no_language():
    assert guess_language("wheat corn barley oats") is None
    assert main_language(["wheat corn", "barley 42", "x11"]) is None
    assert main_language(["", " "]) is None
    assert script_of("12 %") is None


def test_desk_is_in_english():
    assert main_language(load_dataset("desk").texts) == "english"
