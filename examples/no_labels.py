"""
Texts without labels
====================

Nobody has labelled anything yet: there are messages, and a few words for each topic. Both together are a
classifier, which says how sure it is of each message and where a person should begin to read.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from textmargin import TextClassifier, load_dataset
from textmargin.errors import UnknownTermWarning

# four of the keywords occur nowhere, which is no news here
warnings.simplefilter("ignore", UnknownTermWarning)
desk = load_dataset("desk")
train, test = desk.part("train"), desk.part("test")
truth = np.array(test.labels)

model = TextClassifier(knowledge=desk.keywords).fit(train.texts)  # no label at all
supervised = TextClassifier().fit(train.texts, train.labels)  # all 313 labels, no keywords
print(f"no labels, keywords:       {model.score(test.texts, test.labels):.1%} right")
print(f"313 labels, no keywords:   {supervised.score(test.texts, test.labels):.1%} right")

# %%
# Counting keywords
# -----------------
#
# The obvious way is to count: a message belongs to the topic that most of its keywords are from. Many
# messages have none of them.

counter = CountVectorizer(ngram_range=(1, 2))
counts = counter.fit_transform([*train.texts, *test.texts])[len(train.texts) :].toarray()
columns = {
    topic: [counter.vocabulary_[word] for word in words if word in counter.vocabulary_]
    for topic, words in desk.keywords.items()
}
found = np.column_stack([counts[:, column].sum(axis=1) for column in columns.values()])
counted = np.array(list(columns))[found.argmax(axis=1)]
some = found.max(axis=1) > 0
print(
    f"counting keywords:         {np.mean((counted == truth) & some):.1%} right, {np.mean(~some):.0%} "
    "have none of them"
)

# %% Learning from the same words goes further, because the messages at hand tell which other words keep their
# company. Some of these are noise ("hi"); naming one with weight 0 strikes it out.

for topic in ("phishing", "billing", "network"):
    print(f"{topic}: {', '.join(list(model.spread_[topic])[:6])}")

# %%
# How sure is it?
# ---------------
#
# Without a label confidence is a guess: how far two models agree that each know half of the words. Its size
# should not be believed, but its order is worth having: messages it is sure of are right more often. Begin to
# read with the others. Where a message has a keyword, counting is right as often; what is gained is an answer
# for the third that have none.

decisions = model.decide(test.texts, probabilities=True)
confidence = decisions.confidence
right = model.predict(test.texts) == truth
order = np.argsort(-confidence, kind="stable")
surest = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
for part in (0.25, 0.5, 0.75, 1.0):
    n = round(part * len(order))
    print(
        f"the surest {part:4.0%}: {surest[n - 1]:.1%} right, confidence from "
        f"{confidence[order[n - 1]]:.2f} on"
    )

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
share = 100 * np.arange(1, len(order) + 1) / len(order)
ax.plot(share[9:], 100 * surest[9:], color="tab:green", label="keywords and messages, no label")
ax.axhline(
    100 * supervised.score(test.texts, test.labels),
    color="tab:blue",
    linestyle="--",
    label="313 labels, no keywords: all messages",
)
ax.plot(
    100 * some.mean(),
    100 * np.mean(counted[some] == truth[some]),
    "s",
    color="tab:gray",
    label="counting keywords: messages that have one",
)
ax.set(
    xlabel="messages decided on, the surest first (%)",
    ylabel="of these decided rightly (%)",
    ylim=(50, 101),
    xlim=(0, 101),
)
ax.legend(loc="lower left")
plt.show()
