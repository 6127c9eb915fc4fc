"""Texts that nobody writes and every program gets: combining marks, lone surrogates, ZWJ, right to left, NUL,
long runs.
"""

ALPHABETS = [
    "ab",
    "aA àÀ",
    "e\u0301\u0300\u0323o\u0308\u034f",  # letters and marks that combine
    "\U0001f468\u200d\U0001f469\U0001f466\U0001f3fd\ufe0f\u2764",  # families, skin tones, variation selectors
    "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7",  # letters of flags
    "שלום مرحبا \u202e\u202c\u200f٠١٢",  # right to left, with its marks and digits
    "\x00\x01\x1f\x7f \t\r\n\x0b\x0c\x85\u2028\u2029\ufeff",
    "账单 テスト 한국어 ภาษาไทย",
    "हिन्दी বাংলা தமிழ்",
    "ıİIißẞſKÅΣσς",  # whose lower case is another length, or nobody's
    "ﬁﬃⅣ①²½٣７x1",  # ligatures, numbers that are no digits, digits of other scripts
    "\U0010ffff\ufffe\uffff\ue000\U000e0041\ufffd",
    "abc 123 $£€☎☃ x11 3d _-'’",
]
SURROGATES = "\ud800\udc00\udfff\udbffa"


def a_text(rng, most=40, surrogates=False):
    kind = rng.random()
    if kind < 0.05:
        return ""
    if kind < 0.1:
        return rng.choice(rng.choice(ALPHABETS))
    if kind < 0.15:
        return rng.choice(rng.choice(ALPHABETS)) * rng.randrange(1, 3 * most)
    if surrogates and kind < 0.2:
        return "".join(rng.choice(SURROGATES) for _ in range(rng.randrange(1, most)))
    letters = "".join(rng.sample(ALPHABETS, rng.choice([1, 1, 1, 2, 3])))
    text = "".join(rng.choice(letters + " ") for _ in range(rng.randrange(1, most)))
    return text if kind < 0.8 else text * 2
