"""A desk without a model: it answers in the shapes that the page reads, and can be put into states that a
real one seldom has.

Scores are counts of keywords, the queue is the order of the texts; acts are folded as the project does it, in
memory alone.
"""

from __future__ import annotations

import re
import threading
from types import SimpleNamespace

from textmargin.errors import SettingError

SOURCES = ("tie", "balanced", "random")
WHY = {
    "tie": "The two best classes were nearest here when it was chosen.",
    "balanced": "A class with few labels so far, and unlike the others read.",
    "random": "Drawn at random: quality is measured on these.",
}


class FakeDesk:
    """The facade of a session, over lists and dicts."""

    def __init__(
        self, texts, classes, *, multilabel=False, keywords=None, words=True, conflicts=(), broken=None
    ):
        self.texts, self.multilabel = list(texts), multilabel
        self.project = SimpleNamespace(texts=self.texts, id="fake")
        self.first_classes, self.first_keywords = (
            list(classes),
            {name: dict(words) for name, words in (keywords or {}).items()},
        )
        self.acts, self.cancelled, self.words_first = [], set(), words
        self.more_conflicts = list(conflicts)
        self.broken = broken or {}  # route -> exception to raise, once each
        self.extra = {}  # what a test puts into the state
        self.lock = threading.RLock()
        self._fold()

    # acts
    def act(self, content):
        with self.lock:
            self._break("act")
            known = next((one for one in self.acts if one["id"] == content["id"]), None)
            if known is None:
                if content["kind"] == "label" and not set(content["content"]["labels"]) <= set(self.classes):
                    raise SettingError(
                        "labels",
                        f"has {content['content']['labels']}, which are not classes of this project.",
                    )
                self.acts.append({**content, "number": len(self.acts)})
                self._fold()
            advances = content["kind"] in ("label", "skip")
            who = content["annotator"]
            return {"act": content, "state": self.state(who), "next": self.next(who) if advances else None}

    def undo(self, annotator, id):  # noqa: A002
        with self.lock:
            self._break("undo")
            if not any(one["id"] == id for one in self.acts):
                last = self._last(annotator)
                if last is None:
                    raise SettingError("undo", "has nothing to take back.")
                self.acts.append(
                    {
                        "id": id,
                        "annotator": annotator,
                        "kind": "undo",
                        "content": {"act": last["id"]},
                        "number": len(self.acts),
                    }
                )
                self._fold()
            act = next(one for one in self.acts if one["id"] == id)
            before = next(one for one in self.acts if one["id"] == act["content"]["act"])
            number = before["content"].get("text")
            following = (
                self.text(number, annotator, source=before["content"].get("source", "list"))
                if number is not None
                else None
            )
            return {"act": act, "state": self.state(annotator), "next": following}

    def _last(self, annotator):
        own = [
            one
            for one in self.acts
            if one["annotator"] == annotator and one["kind"] != "undo" and one["id"] not in self.cancelled
        ]
        return own[-1] if own else None

    def _break(self, route):
        error = self.broken.get(route)
        if error:
            raise error

    def _fold(self):
        self.cancelled = set()
        for one in reversed(self.acts):  # an undo that was undone itself undoes nothing
            if one["kind"] == "undo" and one["id"] not in self.cancelled:
                self.cancelled.add(one["content"]["act"])
        self.classes, self.labels, self.skips, self.marks, self.settled = (
            list(self.first_classes),
            {},
            {},
            {},
            {},
        )
        self.keywords = {name: dict(words) for name, words in self.first_keywords.items()}
        self.costs = {"costs": {}, "minute": None, "currency": "€", "budget": None}
        self.judged = set()
        for one in self.acts:
            if one["id"] in self.cancelled:
                continue
            content, who = one["content"], one["annotator"]
            match one["kind"]:
                case "label":
                    self.labels.setdefault(content["text"], {})[who] = content["labels"]
                case "skip":
                    self.skips.setdefault(who, set()).add(content["text"])
                case "mark":
                    self.marks.setdefault(content["text"], []).append(
                        {key: content[key] for key in ("start", "end", "label")}
                    )
                case "unmark":
                    mark = {key: content[key] for key in ("start", "end", "label")}
                    self.marks[content["text"]] = [
                        other for other in self.marks.get(content["text"], []) if other != mark
                    ]
                case "keyword":
                    self.judged.add((content["label"], content["word"]))
                    words = self.keywords.setdefault(content["label"], {})
                    words.pop(content["word"], None)
                    if content["weight"] is not None:
                        words[content["word"]] = content["weight"]
                case "class":
                    self.classes.append(content["name"])
                case "rename":
                    self.classes[self.classes.index(content["name"])] = content["to"]
                case "costs":
                    self.costs = content
                case "settle":
                    self.settled[content["text"]] = content["labels"]

    # what the page shows
    def _scores(self, number, words=None):
        content = self.texts[number].lower()
        found = {
            name: sum(weight for word, weight in self.keywords.get(name, {}).items() if word in content)
            for name in self.classes
        }
        return sorted(found.items(), key=lambda pair: -pair[1])

    def state(self, annotator):
        with self.lock:
            self._break("state")
            n_labels = {
                name: sum(name in given for by in self.labels.values() for given in by.values())
                for name in self.classes
            }
            predicted = (
                [self._scores(k)[0][0] for k in range(min(len(self.texts), 300))] if self.classes else []
            )
            suggestions = ["router", "toner", "invoice"]
            classes = [
                {
                    "name": name,
                    "key": k + 1 if k < 9 else None,
                    "n_labels": n_labels[name],
                    "n_predicted": predicted.count(name),
                    "share": predicted.count(name) / max(1, len(predicted)),
                    "keywords": [
                        {
                            "word": word,
                            "weight": weight,
                            "n_texts": sum(word in text for text in self.texts[:300]),
                            "status": (
                                "adopted",
                                "supported",
                                "dropped",
                                "contradicted",
                                "unknown",
                                "absent",
                            )[len(word) % 6],
                            "why": "Texts with it that were held out lose 12 % less with it than without.",
                        }
                        for word, weight in self.keywords.get(name, {}).items()
                    ],
                    "suggestions": [
                        {"word": word, "why": "It goes with this class in 9 of 10 texts.", "n_texts": 10}
                        for word in suggestions[k % 3 : k % 3 + 2]
                        if word not in self.keywords.get(name, {})
                    ],
                    "threshold": 0.1 if self.costs["costs"] else None,
                    "costs": {"hit": 1, "false_alarm": -1, "miss": 0, "ask": None}
                    | self.costs["costs"].get("*", {})
                    | self.costs["costs"].get(name, {}),
                    "quality": {"f1": 0.8, "low": 0.7, "high": 0.88} if n_labels[name] > 2 else None,
                }
                for k, name in enumerate(self.classes)
            ]
            n = len(self.labels)
            last = self._last(annotator)
            conflicts = [
                {"text": number, "snippet": self.texts[number][:90], "labels": by}
                for number, by in [*self.labels.items(), *self.more_conflicts]
                if number not in self.settled and len({tuple(one) for one in by.values()}) > 1
            ]
            names = sorted({one["annotator"] for one in self.acts} | {annotator})
            money = bool(self.costs["costs"])
            return {
                "version": len(self.acts),
                "annotator": annotator,
                "project": {
                    "name": "tickets",
                    "n_texts": len(self.texts),
                    "n_labelled": n,
                    "n_random": n // 3,
                    "multilabel": self.multilabel,
                    "source": "tickets.csv",
                },
                "classes": classes,
                "quality": {
                    "accuracy": {"value": 0.81, "low": 0.72, "high": 0.88} if n > 5 else None,
                    "utility_per_1000": {"value": 5100.0, "low": 4300.0, "high": 5800.0}
                    if money and n > 5
                    else None,
                    "n": n // 3,
                    "note": f"From {n // 3} texts drawn at random.",
                },
                "decisions": {"decided": len(self.texts) - 40, "unsure": 30, "none": 10, "over_budget": None},
                "curve": [
                    {
                        "n_labels": k,
                        "value": 4000 + 60 * k**0.5,
                        "low": 3500 + 80 * k**0.5,
                        "high": 4600 + 40 * k**0.5,
                    }
                    for k in range(0, n + 1, max(1, n // 12))
                ],
                "curve_of": "utility" if money else "accuracy",
                "worth": {
                    "n": 20,
                    "gain": 12.0,
                    "low": 4.0,
                    "high": 21.0,
                    "minutes": 15.0,
                    "price": 9.0,
                    "stop": False,
                    "text": "The next 20 labels are worth about 12 €; they cost you 15 minutes.",
                },
                "disagreements": [
                    {
                        "text": k,
                        "snippet": self.texts[k][:90],
                        "label": next(iter(self.labels[k].values())),
                        "predicted": [self._scores(k)[0][0]],
                        "lead": 0.4,
                    }
                    for k in list(self.labels)[:20]
                    if [self._scores(k)[0][0]] != next(iter(self.labels[k].values()))
                ],
                "conflicts": conflicts,
                "people": [
                    {
                        "name": name,
                        "n_labels": sum(name in by for by in self.labels.values()),
                        "seconds_median": 4.2,
                        "last": None,
                    }
                    for name in names
                ],
                "agreement": [
                    {"class": name, "n_both": 6, "agreement": 0.83, "kappa": 0.6} for name in self.classes[:3]
                ]
                if len(names) > 1
                else [],
                "costs": self.costs,
                "undo": last and {"kind": last["kind"], "summary": f"{last['kind']} of {annotator}"},
                "busy": None,
                "fresh": True,
                **self.extra,
            }

    def next(self, annotator):
        with self.lock:
            self._break("next")
            shown = {k for k, by in self.labels.items() if annotator in by} | self.skips.get(annotator, set())
            if self.words_first and len(shown) % 4 == 3:
                for name in self.classes:
                    for word in ("router", "toner", "invoice"):
                        if (name, word) not in self.judged:
                            return self._question(word, name)
            rest = next((k for k in range(len(self.texts)) if k not in shown), None)
            if rest is None:
                return {"kind": "done", "why": "All texts are read."}
            return self.text(rest, annotator, source=SOURCES[rest % 3])

    def _question(self, word, name):
        examples = []
        for k, text in enumerate(self.texts):
            at = text.lower().find(word)
            if at >= 0 and len(examples) < 3:
                snippet = [
                    text[max(0, at - 40) : at],
                    text[at : at + len(word)],
                    text[at + len(word) : at + 60],
                ]
                examples.append({"text": k, "snippet": snippet})
        why = "Nobody has said so far; an answer decides on 14 texts."
        return {"kind": "word", "word": word, "label": name, "why": why, "n_texts": 14, "examples": examples}

    def text(self, number, annotator, label=None, source="list"):
        with self.lock:
            self._break("text")
            if not 0 <= number < len(self.texts):
                raise SettingError(
                    "text", f"is {number}; there are {len(self.texts)} texts, numbered from 0."
                )
            content, scores = self.texts[number], self._scores(number)
            label = label or (scores[0][0] if scores else None)
            tokens = []
            for k, word in enumerate(re.finditer(r"\w\w+", content[:5000])):
                weight = next(
                    (
                        w
                        for phrase, w in self.keywords.get(label, {}).items()
                        if word[0].lower() in phrase.split()
                    ),
                    0,
                )
                data = ((hash_of(word[0]) % 21) - 10) / 20 if k % 3 == 0 else 0.0
                if weight or data:
                    tokens.append([word.start(), word.end(), data, 0.6 * weight])
            own = self.labels.get(number, {}).get(annotator)
            rtl = bool(re.search("[\u0590-\u06ff]", content[:200]))
            return {
                "kind": "text",
                "text": number,
                "source": source,
                "why": WHY.get(source, "You asked for it."),
                "content": content,
                "direction": "rtl" if rtl else "ltr",
                "language": None,
                "tokens": tokens,
                "label": label,
                "scores": [
                    {"name": name, "score": score, "probability": (1 + score) / (3 + score)}
                    for name, score in scores
                ],
                "predicted": [scores[0][0]] if scores and scores[0][1] > 0 else [],
                "unsure": not scores or scores[0][1] <= 0,
                "marks": self.marks.get(number, []),
                "labels": own,
                "given": None,
                "n_similar": number % 3,
            }

    def search(self, query, n=20):
        rows = []
        for k, text in enumerate(self.texts):
            at = text.lower().find(query.lower())
            if query and at >= 0:
                snippet = [
                    text[max(0, at - 40) : at],
                    text[at : at + len(query)],
                    text[at + len(query) : at + len(query) + 60],
                ]
                rows.append(
                    {
                        "text": k,
                        "snippet": snippet,
                        "labels": next(iter(self.labels.get(k, {}).values()), None),
                    }
                )
        return {"texts": rows[:n], "n": len(rows)}

    def similar(self, number, n=10):
        rows = [
            {
                "text": k,
                "snippet": ["", "", self.texts[k][:90]],
                "labels": None,
                "similarity": 1 / (1 + abs(k - number)),
            }
            for k in range(len(self.texts))
            if k != number
        ]
        return {"texts": sorted(rows, key=lambda row: -row["similarity"])[:n], "n": len(rows)}

    def export(self, kind):
        if kind not in ("csv", "jsonl", "keywords", "costs"):
            raise SettingError("kind", f"is {kind!r}; there are csv, jsonl, keywords and costs.")
        names = {
            "csv": "tickets.csv",
            "jsonl": "tickets.jsonl",
            "keywords": "keywords.toml",
            "costs": "costs.toml",
        }
        rows = "".join(f"{k},{'|'.join(next(iter(by.values())))}\n" for k, by in self.labels.items())
        return names[kind], ("text,labels\n" + rows).encode()

    def wait(self):
        pass

    def close(self):
        pass


def hash_of(word):
    """A number of a word that is the same in every process."""
    return sum(ord(letter) * (k + 1) for k, letter in enumerate(word))
