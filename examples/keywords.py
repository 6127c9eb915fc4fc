"""A handful of labelled messages and a list of words per topic: what the words are worth, and which of them are wrong."""

from textmargin import BagOfWords, KeywordPrior, TextClassifier

messages = [
    ("printer on the second floor jams with every page", "printing"),
    ("no toner left, pages come out grey", "printing"),
    ("wifi drops every ten minutes in meeting room four", "network"),
    ("the shared drive does not show up over the tunnel", "network"),
    ("was charged twice for the october subscription", "billing"),
    ("the invoice has the wrong number on it", "billing"),
    ("please reset my password, locked out after three tries", "account"),
    ("new colleague starts monday and needs a login", "account"),
]
new = ["paper tray is empty", "router blinks red", "payment by card is refused", "forgot my pin"]
texts, topics = zip(*messages, strict=True)

known = KeywordPrior(
    {
        "printing": ["print*", "paper", "toner", "page", "pages"],
        "network": ["wifi", "router", "cable", "vpn", "number"],  # "number" is a slip
        "billing": ["invoice", "payment", "refund", "charged"],
        "account": ["login", "password", "pin", "usernam"],  # so is "usernam"
    }
)
# Words that are only in the list are worth knowing too: the vocabulary is that of the messages and the list.
words = BagOfWords(vocabulary=sorted({*" ".join([*texts, *new]).replace(",", "").split(), "username", "cable", "vpn", "refund"}))

plain = TextClassifier(words).fit(texts, topics)
informed = TextClassifier(words, knowledge=known).fit(texts, topics)
for text in new:
    print(f"{text:30} without: {plain.predict([text])[0]:10} with: {informed.predict([text])[0]}")

print("\nwhich keywords are in the vocabulary:")
for match in known.match_vocabulary(words.vocabulary, informed.classes_):
    missing = f", not: {', '.join(match.unknown)} (nearest: {', '.join(match.nearest.values())})" if match.unknown else ""
    print(f"  {match.target}: {match.share:.0%}{missing}")

print("\nverdicts:")
for verdict in informed.verdict_:
    print(f"  {verdict.target}: {verdict.status}, evidence {verdict.evidence:+.1f}")

print("\nwords of which the data say the opposite:")
for one in informed.disagreements(2):
    print(f"  {one.term!r} for {one.target}: {one.known:+.1f} in the prior, the data add {one.data:+.2f}")
