"""
Why did it decide so?
=====================

A score is a sum: the intercept, and what each word adds. So a decision can be taken apart exactly, and what a
word adds split into what the messages taught and what somebody said beforehand.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from textmargin import SubsequenceKernel, TextClassifier, load_dataset
from textmargin.errors import UnknownTermWarning

warnings.simplefilter("ignore", UnknownTermWarning)  # some keywords occur in no training message
desk = load_dataset("desk")
train = desk.part("train")
model = TextClassifier(knowledge=desk.keywords).fit(train.texts, train.labels)

message = "mail from the boss with a link, wants gift cards, looks like a scam"
print(model.predict([message])[0])
print(model.explain(message))

# %%
# The parts add up
# ----------------
#
# Nothing is approximated: intercept and words together are the score. Words that no training message has,
# such as "gift", add nothing.

explanation = model.explain(message)
total = explanation.intercept + explanation.data.sum() + explanation.priors.sum()
score = model.decision_function([message])[0, model.classes_.tolist().index("phishing")]
print(f"intercept, data and prior: {total:.6f}; decision_function: {score:.6f}")

# %% Why this topic, and why not that one? Every topic has a score of its own, and the same words add other
# amounts to it.


def draw(ax, explanation):
    """What each word adds: learnt from the messages, and known before."""
    order = np.argsort(-np.abs(explanation.total), kind="stable")
    place = np.arange(len(order) + 1)
    data = np.append(explanation.data[order], explanation.intercept)
    prior = np.append(explanation.priors.sum(axis=0)[order], 0)
    ax.barh(place, prior, color="tab:orange", label="keywords")
    ax.barh(place, data, left=np.where(prior * data > 0, prior, 0), color="tab:blue", label="messages")
    ax.set_yticks(place, [*explanation.terms[order], "intercept"])
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(title=f"{explanation.target}: score {explanation.score:+.2f}", xlabel="added to the score")


figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharex=True, layout="constrained")
draw(axes[0], model.explain(message))
draw(axes[1], model.explain(message, "account"))
axes[0].legend(loc="lower right")
plt.show()

# %%
# Without words
# -------------
#
# A string kernel compares texts as they are. Its score is taken apart by the strings that a message shares
# with training messages; gaps are in brackets. There are far too many strings to list, so the last line sums
# up the others.

strings = TextClassifier(SubsequenceKernel(length=4, decay=0.5)).fit(train.texts, train.labels)
print(strings.explain("priner is jamed agian"))
