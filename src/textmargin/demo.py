"""The smallest complete road: a handful of messages, a few keywords, and what they change."""

from __future__ import annotations

from dataclasses import dataclass

from .classifier import TextClassifier
from .learners.primal import PriorSVC
from .representations.bow import BagOfWords

_TRAIN = [
    ("I cannot log in since this morning, it says wrong password", "account"),
    ("please reset my passwort, locked out after 3 tries", "account"),
    ("new colleague starts monday and needs an account", "account"),
    ("printer on the second floor jams with every page", "printing"),
    ("no toner left, pages come out grey", "printing"),
    ("scanned letters never reach my mailbox", "printing"),
    ("wifi drops every ten minutes in meeting room 4", "network"),
    ("vpn connects but no shared drive shows up", "network"),
    ("internet at home office is slow only over the tunnel", "network"),
    ("was charged twice for the october subscription", "billing"),
    ("the invoice has the wrong vat number on it", "billing"),
    ("when do we get the refund for the cancelled order", "billing"),
]

_TEST = [
    ("forgot my pin and the login page is stuck", "account"),
    ("username changed after the wedding, can you update it", "account"),
    ("paper tray 2 is always empty according to the display", "printing"),
    ("duplex printing turns every second page upside down", "printing"),
    ("router in the lobby blinks red, nobody gets online", "network"),
    ("cable in room 12 is dead, no connection", "network"),
    ("payment by credit card is refused", "billing"),
    ("can I pay by bank transfer instead", "billing"),
]

_KEYWORDS = {
    "account": ["login", "password", "pin", "username", "account"],
    "printing": ["printer", "printing", "paper", "toner", "page"],
    "network": ["wifi", "router", "cable", "connection", "online", "vpn"],
    "billing": ["invoice", "payment", "pay", "refund", "charged"],
}


@dataclass(frozen=True)
class Message:
    """One test message: the truth, what two models say, and the words that moved the second one most."""

    text: str
    truth: str
    plain: str
    informed: str
    decided_by: list[tuple[str, float]]


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    topics: list[str]
    n_train: int
    n_test: int
    plain_right: int
    informed_right: int
    trust: dict[str, float]
    messages: list[Message]


def run() -> Demo:
    """Train twice, on words alone and with keywords, and compare on the test messages."""
    texts, topics = map(list, zip(*_TRAIN, strict=True))
    tests, truth = map(list, zip(*_TEST, strict=True))
    keywords = {topic: dict.fromkeys(words, 1.0) for topic, words in _KEYWORDS.items()}
    # A keyword may well be missing from so few messages; as a term of its own it still counts in new ones.
    words = BagOfWords(vocabulary=sorted({*BagOfWords().fit(texts).vocabulary_, *(w for ws in _KEYWORDS.values() for w in ws)}))
    plain = TextClassifier(words).fit(texts, topics)
    informed = TextClassifier(words, knowledge=keywords, learner=PriorSVC(trust="fixed")).fit(texts, topics)
    messages = [
        Message(text, label, str(before), str(after), informed.explain(text).top(3))
        for text, label, before, after in zip(tests, truth, plain.predict(tests), informed.predict(tests), strict=True)
    ]
    return Demo(
        topics=[str(topic) for topic in informed.classes_],
        n_train=len(texts),
        n_test=len(tests),
        plain_right=sum(message.plain == message.truth for message in messages),
        informed_right=sum(message.informed == message.truth for message in messages),
        trust={str(t): float(eta[0]) for t, eta in zip(informed.classes_, informed.model_.trust_, strict=True)},
        messages=messages,
    )
