"""Does knowing how words were read help? The pipeline of Parrado-Hernández and Hardoon on public recordings.

    python -m benchmarks.bench_reading                     # all of it, about 10 minutes on two cores
    python -m benchmarks.bench_reading webqamgaze zuco challenge

Tables in the shape of the paper's 2 (mean square error of the words' weights, beside their variance), 3 (average precision of the
prior alone) and 4 (average precision of classifiers), per category. Beside every gaze column stands one whose "measures" are the
word's length and idf alone: what reading adds is the difference. Documents with readings train, those without test (WebQAmGaze,
ZuCo relations); where all have readings, half of them test and their readings are not used (ZuCo sentiment). Ideal weights are
learnt on tf-idf as in the paper, classifiers on the same in rows of unit length; C = 1. SVM-2K has the mean measures of a
document as its second view. `challenge`: relevance of a word from its 22 measures alone, on the data of the 2005 challenge,
assignments held out.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from textmargin import SVM2K, BagOfWords, Corpus, GazePrior, PriorSVC, load_dataset
from textmargin.errors import UnknownTermWarning

from .measure import describe

TRUSTS = ("free", "nonneg", "ridge", "fixed", "auto")


def readings_of(corpus: Corpus) -> pd.DataFrame:
    """The rows whose word is known."""
    table = pd.DataFrame(dict(corpus.tables["words"]))
    return table[table.word != ""]


def length_and_idf(readings: pd.DataFrame, texts: dict[str, str]) -> pd.DataFrame:
    """The same rows, with nothing of how they were read."""
    words = readings.word.astype(str).str.lower().str.strip(".,;:!?\"'()[]")
    sets = [set(text.lower().split()) for text in texts.values()]
    df = {word: sum(word in other for other in sets) for word in words.unique()}
    idf = words.map(lambda word: np.log(len(sets) / max(1, df[word])))
    return pd.DataFrame({"doc_id": readings.doc_id, "word": readings.word, "length": words.str.len(), "idf": idf})


def tables(title: str, texts: dict[str, str], labels: dict[str, str], readings: pd.DataFrame, train: list, test: list) -> None:
    """The paper's three tables for one set of recordings."""
    readings = readings[readings.doc_id.isin(train)]
    train_texts, train_labels = {d: texts[d] for d in train}, {d: labels[d] for d in train}
    priors, seconds = {}, {}
    for name, table in (("gaze", readings), ("length, idf", length_and_idf(readings, train_texts))):
        start = time.perf_counter()
        priors[name] = GazePrior(table, train_texts, train_labels, n_jobs=2, progress=False).fit()
        seconds[name] = time.perf_counter() - start
    words = BagOfWords()
    X, X_test = words.fit_transform(train_texts.values()), words.transform([texts[d] for d in test])
    categories = sorted(set(train_labels.values()))
    Y, Y_test = (np.array([[labels[d] == c for c in categories] for d in part], dtype=int) for part in (train, test))
    terms = words.get_feature_names_out()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownTermWarning)
        V = {name: np.array([prior.coef(terms, categories)[c] for c in categories]) for name, prior in priors.items()}

    scores = {"plain": PriorSVC().fit(X, Y).decision_function(X_test)}
    for name, v in V.items():
        scores[f"{name}: prior"] = X_test @ v.T
        for trust in TRUSTS:
            scores[f"{name}: {trust}"] = PriorSVC(prior=v, trust=trust).fit(X, Y).decision_function(X_test)
    measures = readings.drop(columns=["word"]).groupby("doc_id").mean(numeric_only=True).reindex(train)
    second = StandardScaler().fit_transform(measures)
    scores["SVM-2K"] = SVM2K(coupling=1.0, predict_view="first").fit(X, Y, second=second).decision_function(X_test)

    print(
        f"\n{title}: {len(train)} documents to train on, {len(test)} to test; "
        + ", ".join(f"{name} prior in {s:.0f} s" for name, s in seconds.items())
    )
    print("\nTable 2, mean square error · 10⁶ of each category's weights")
    print(f"{'category':28}{'gaze':>9}{'length, idf':>13}{'variance':>10}")
    for c in categories:
        ideal = priors["gaze"].ideal_[c]
        variance = np.var([ideal[word] for word in priors["gaze"].weights_[c]])
        print(
            f"{c[:27]:28}{1e6 * priors['gaze'].mse_[c]:>9.2f}{1e6 * priors['length, idf'].mse_[c]:>13.2f}{1e6 * variance:>10.2f}"
        )
    found = {
        name: [average_precision_score(y, s) for y, s in zip(Y_test.T, column.T, strict=True)] for name, column in scores.items()
    }
    print("\nTables 3 and 4, average precision in percent (chance: share of the category)")
    print(f"{'':22}{'mean':>7}  " + "".join(f"{c[:9]:>10}" for c in categories))
    print(f"{'chance':22}{100 * Y_test.mean():>7.1f}  " + "".join(f"{100 * y.mean():>10.1f}" for y in Y_test.T))
    for name, values in found.items():
        print(f"{name:22}{100 * np.mean(values):>7.1f}  " + "".join(f"{100 * v:>10.1f}" for v in values), flush=True)


def webqamgaze() -> None:
    """Paragraphs of Wikipedia, nine topics; documents without readings test."""
    corpus = load_dataset("webqamgaze")
    readings = readings_of(corpus).drop(columns=["in_asked_answer", "in_any_answer", "reader", "task"])
    texts, labels = (dict(zip(corpus.ids, values, strict=True)) for values in (corpus.texts, corpus.labels))
    tables("WebQAmGaze", texts, labels, readings, corpus.part("train").ids, corpus.part("test").ids)


def zuco() -> None:
    """Sentences: relations, and sentiment of film reviews."""
    corpus = load_dataset("zuco")
    readings = readings_of(corpus)
    texts, known = (dict(zip(corpus.ids, values, strict=True)) for values in (corpus.texts, corpus.labels))
    asked = [d for d, twice in zip(*members(corpus, "Z2TSR", "also_in_gaze_set"), strict=True) if known[d] and not twice]
    relations = sorted({known[d][0] for d in asked})
    read = [d for d, gaze in zip(*members(corpus, "Z1NR", "has_gaze"), strict=True) if gaze and set(known[d]) & set(relations)]
    labels = {d: next(label for label in known[d] if label in relations) for d in (*read, *asked)}
    tables("ZuCo relations", texts, labels, readings, read, asked)
    reviews = [d for d, gaze in zip(*members(corpus, "Z1SR", "has_gaze"), strict=True) if gaze and known[d]]
    labels = {d: known[d][0] for d in reviews}
    names = np.random.default_rng(0).permutation(reviews).tolist()
    tables("ZuCo sentiment", texts, labels, readings, names[: len(names) // 2], names[len(names) // 2 :])


def members(corpus: Corpus, part: str, field: str) -> tuple[list, list]:
    """Ids and one field of a part."""
    chosen = corpus.part(part)
    return chosen.ids, chosen.fields[field]


def challenge() -> None:
    """Relevance from gaze features."""
    table = pd.DataFrame(dict(load_dataset("eye_movements").tables["words"]))
    measures = table.columns[table.columns.get_loc("fixcount") : table.columns.get_loc("timePrtctg") + 1]
    X, y, groups = table[measures].to_numpy(float), table.label.to_numpy(), table.assgNo.to_numpy()
    print(f"\n2005 challenge: {len(y)} words, {X.shape[1]} measures; accuracy on assignments held out")
    majority = np.bincount(y).max() / len(y)
    print(f"{'majority class':34}{majority:>7.3f}")
    models = {
        "PriorSVC on standardised measures": make_pipeline(StandardScaler(), PriorSVC(C=0.01)),
        "boosted trees": HistGradientBoostingClassifier(random_state=0),
    }
    for name, model in models.items():
        found = cross_val_score(model, X, y, groups=groups, cv=GroupKFold(5))
        print(f"{name:34}{found.mean():>7.3f} ± {found.std():.3f}", flush=True)


def main() -> None:
    """The parts that were asked for."""
    print(describe("textmargin", "scikit-learn", "numpy"))
    for part in sys.argv[1:] or ["webqamgaze", "zuco", "challenge"]:
        {"webqamgaze": webqamgaze, "zuco": zuco, "challenge": challenge}[part]()


if __name__ == "__main__":
    main()
