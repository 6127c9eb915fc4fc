"""What one would use instead: scikit-learn's usual pipelines and fastText, on the same texts, by how many
labels there are.

    python -m benchmarks.bench_peers                       # wikipedia25, desk and SMS, ten draws
    python -m benchmarks.bench_peers --only desk --draws 3

Per class so many labelled texts at random (SMS: in all twice that); judged on the test part, of SMS on 2,000
other texts. fastText (supervised; its defaults are for many more texts, so 100 epochs at rate 0.5 as well)
runs where the package is installed. Keywords are those of the corpus, five or six a class; texts without
labels are the others of the training part, and of wikipedia25 its part `extra`.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from textmargin import Corpus, KeywordPrior, TextClassifier, load_dataset

from .measure import describe

ALL = 10**9
SIZES = (0, 1, 4, 20, ALL)  # labelled texts of a class
# of labelled texts, texts to judge by, and texts without labels
Method = Callable[[Corpus, Corpus, list[str]], Any]


def scikit_learn(classifier: Any) -> Method:
    def answer(train: Corpus, test: Corpus, unlabelled: list[str]) -> Any:
        return (
            make_pipeline(TfidfVectorizer(sublinear_tf=True), classifier)
            .fit(train.texts, train.labels)
            .predict(test.texts)
        )

    return answer


def fast_text(**settings: Any) -> Method | None:
    try:
        import fasttext
    except ImportError:
        return None

    def answer(train: Corpus, test: Corpus, unlabelled: list[str]) -> Any:
        names = train.classes
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            lines = (
                f"__label__{names.index(own)} {_one_line(text)}"
                for text, own in zip(train.texts, train.labels, strict=True)
            )
            path.write_text("\n".join(lines))
            model = fasttext.train_supervised(str(path), thread=1, seed=0, verbose=0, **settings)
        # its own predict() of many texts does not go with NumPy 2
        found = [model.f.predict(_one_line(text) + "\n", 1, 0.0, "strict") for text in test.texts]
        return [names[int(one[0][1].removeprefix("__label__"))] if one else names[0] for one in found]

    return answer


def _one_line(text: str) -> str:
    return " ".join(text.lower().split())


def ours(keywords: Any = None) -> Method:
    def answer(train: Corpus, test: Corpus, unlabelled: list[str]) -> Any:
        knowledge = None if keywords is None else KeywordPrior(keywords)
        return TextClassifier(knowledge=knowledge).fit(train.texts, train.labels).predict(test.texts)

    return answer


def ours_with_unlabelled(keywords: Any) -> Method:
    def answer(train: Corpus, test: Corpus, unlabelled: list[str]) -> Any:
        model = TextClassifier(knowledge=KeywordPrior(keywords))
        return model.fit(train.texts, train.labels, unlabelled=unlabelled or None).predict(test.texts)

    return answer


def draws(name: str, size: int, n: int) -> list[tuple[Corpus, Corpus, list[str]]]:
    """Labelled texts, texts to judge by, and the other texts without their labels."""
    corpus = load_dataset(name)
    extra = list(corpus.part("extra").texts) if name == "wikipedia25" else []
    found = []
    for draw in range(1 if size in (0, ALL) and name != "sms_spam" else n):
        rng = np.random.default_rng(draw)
        if name == "sms_spam":
            order = rng.permutation(len(corpus))
            test, rest = corpus.take(order[:2000].tolist()), corpus.take(order[2000:].tolist())
        else:
            test, rest = corpus.part("test"), corpus.part("train")
        labels = np.array(rest.labels)
        rows = np.concatenate(
            [rng.permutation(np.flatnonzero(labels == label))[:size] for label in rest.classes]
        )
        others = [rest.texts[row] for row in np.setdiff1d(np.arange(len(rest)), rows).tolist()]
        # fastText does not shuffle
        found.append((rest.take(rng.permutation(rows).tolist()), test, [*others, *extra]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=["wikipedia25", "desk", "sms_spam"])
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe("textmargin", "scikit-learn"))
    for name in options.only:
        keywords = load_dataset(name).keywords
        methods: dict[str, Method | None] = {
            "TfidfVectorizer, LogisticRegression": scikit_learn(LogisticRegression(max_iter=1000)),
            "TfidfVectorizer, LinearSVC": scikit_learn(LinearSVC()),
            "fastText": fast_text(),
            "fastText, 100 epochs, rate 0.5": fast_text(epoch=100, lr=0.5),
            "textmargin": ours(),
            "textmargin with keywords": ours(keywords) if keywords else None,
            "with keywords and unlabelled texts": ours_with_unlabelled(keywords) if keywords else None,
        }
        sizes = ", ".join("all" if size == ALL else str(size) for size in SIZES)
        print(f"\n{name}: share of texts decided rightly, by labelled texts a class: {sizes}")
        for what, method in methods.items():
            if method is None:
                continue
            row = []
            for size in SIZES:
                if not size and "unlabelled" not in what:
                    row.append("–".center(13))
                    continue
                right = [
                    np.mean(np.array(method(labelled, test, rest)) == np.array(test.labels))
                    for labelled, test, rest in draws(name, size, options.draws)
                ]
                error = np.std(right, ddof=1) / np.sqrt(len(right)) if len(right) > 1 else 0.0
                row.append(f"{np.mean(right):.3f} ± {error:.3f}")
            print(f"{what:>38}  " + "   ".join(row), flush=True)


if __name__ == "__main__":
    main()
