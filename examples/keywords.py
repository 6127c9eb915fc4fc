"""
Keywords in place of labels
===========================

Labels are dear; words that give a topic away come to mind in a minute. Here both are given to a helpdesk's
eight topics: a few labelled messages each, and the five to seven words that come with the data. How much are
the words worth, and what happens if they are wrong?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from textmargin import PriorDisplay, TextClassifier, load_dataset
from textmargin.errors import UnknownTermWarning

desk = load_dataset("desk")
train, test = desk.part("train"), desk.part("test")
for topic, words in desk.keywords.items():
    print(f"{topic:14} {', '.join(words)}")

# %%
# With 1 to 20 labelled messages a topic
# --------------------------------------
#
# A keyword that no training message has is named in a warning, in case it is misspelt. With so few messages
# that is most of them, and is expected here. The last model is told the keywords of the *next* topic, all of
# them wrong.

warnings.simplefilter("ignore", UnknownTermWarning)
names = list(desk.keywords)
wrong = {name: desk.keywords[other] for name, other in zip(names, names[1:] + names[:1], strict=True)}
models = {
    "scikit-learn: TfidfVectorizer, LinearSVC": make_pipeline(TfidfVectorizer(), LinearSVC()),
    "textmargin": TextClassifier(),
    "textmargin with keywords": TextClassifier(knowledge=desk.keywords),
    "textmargin with wrong keywords": TextClassifier(knowledge=wrong),
}
texts, labels = np.array(train.texts, dtype=object), np.array(train.labels)
counts, n_draws = (1, 2, 4, 8, 20), 5


def draw(n_each, seed):
    """Rows with at most so many messages of each topic."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.permutation(np.flatnonzero(labels == topic))[:n_each] for topic in np.unique(labels)]
    )


accuracy = {name: np.zeros((n_draws, len(counts))) for name in models}
for column, n_each in enumerate(counts):
    for seed in range(n_draws):
        rows = draw(n_each, seed)
        for name, model in models.items():
            accuracy[name][seed, column] = model.fit(texts[rows], labels[rows]).score(test.texts, test.labels)

print("messages a topic".ljust(42), *(f"{n:5}" for n in counts))
for name, values in accuracy.items():
    print(name.ljust(42), *(f"{value:5.2f}" for value in values.mean(axis=0)))

# %% One message a topic and a handful of words decide better than twenty messages without the words do in
# scikit-learn. Wrong words are seen through: messages held out of training speak against them, and the line
# stays near that of no words at all.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
styles = {"color": ["tab:gray", "tab:blue", "tab:green", "tab:red"], "marker": ["s", "o", "^", "x"]}
for (name, values), color, marker in zip(accuracy.items(), *styles.values(), strict=True):
    ax.errorbar(
        counts,
        values.mean(axis=0),
        values.std(axis=0) / np.sqrt(n_draws),
        label=name,
        color=color,
        marker=marker,
    )
ax.set(
    xscale="log",
    xlabel="labelled messages a topic",
    ylabel="share of test messages decided rightly",
    ylim=(0, 1),
)
ax.set_xticks(counts, [str(n) for n in counts], minor=False)
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# What became of the words
# ------------------------
#
# A verdict a topic says whether its words were used, and what spoke for them: *supported* where held-out
# messages clearly do better with them, *adopted* where they lean that way only or the words of other topics
# proved right.

rows = draw(8, seed=0)
model = TextClassifier(knowledge=desk.keywords).fit(texts[rows], labels[rows])
for verdict in model.verdict_:
    print(f"{verdict.target:14} {verdict.status:12} evidence {verdict.evidence:+.1f}")

# %% A keyword is where learning starts, not where it ends. Above the grey line the messages gave a word more
# weight than the keywords did, below it less; on the line is what the messages say nothing about.

PriorDisplay.from_estimator(model, target="network")
plt.show()
