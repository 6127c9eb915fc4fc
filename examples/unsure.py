"""
Unsure: leave it to a person
============================

Probabilities that can be believed, and what they are good for: a message that is better left to a person gets
no label but a best guess. How many are left depends on what a person's look costs beside a mistake.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from textmargin import TextClassifier, ThresholdClassifier, Utility, load_dataset

desk = load_dataset("desk")
texts, topics = np.array(desk.texts, dtype=object), np.array(desk.labels)
folds = StratifiedKFold(5, shuffle=True, random_state=0)

# %%
# Are the probabilities right?
# ----------------------------
#
# They are fitted to held-out scores of the training messages. Each message is judged here by a model that did
# not learn from it: of messages with a probability of about 70 %, about 70 % should be right.

probability = cross_val_predict(TextClassifier(), texts, topics, cv=folds, method="predict_proba")
classes = np.unique(topics)
confidence, right = probability.max(axis=1), classes[probability.argmax(axis=1)] == topics
edges = np.quantile(confidence, np.linspace(0, 1, 7))
group = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, 5)
print(f"mean probability of the likeliest topic {confidence.mean():.3f}, right {right.mean():.3f}")
for k in range(6):
    own = group == k
    print(
        f"{np.sum(own):3} messages: probability {confidence[own].mean():.2f}, right {right[own].mean():.2f}"
    )

# %%
# The price of asking
# -------------------
#
# A right topic is worth 1 and a wrong one costs 5. A person who looks costs between 0.1 and 3, and decides
# rightly. ``predict`` gives ``None`` where it is better to ask.

prices, answered, correct, worth = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0), [], [], []
for price in prices:
    decision = ThresholdClassifier(utility=Utility(tp=1, fp=-5, ask=-price), unsure_label="unsure")
    predicted = cross_val_predict(TextClassifier(decision=decision), texts, topics, cv=folds)
    asked = predicted == "unsure"
    hits = predicted[~asked] == topics[~asked]
    answered.append(np.mean(~asked))
    correct.append(hits.mean())
    shares = f"{answered[-1]:.0%} answered, {correct[-1]:.1%} of these right"
    worth.append((hits.sum() - 5 * np.sum(~hits) + (1 - price) * asked.sum()) / len(texts) * 1000)
    print(f"price {price:4}: {shares}, worth {worth[-1]:+6.0f} per 1,000 messages")

# %% Where a look is cheap, only what is nearly certain is answered; where it is dear, nearly everything.
# Either way the answers that are given are right more often than all of them would be.

figure, (left, right_ax) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
shown = [(confidence[group == k].mean(), right[group == k].mean()) for k in range(6)]
left.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
left.plot(*zip(*shown, strict=True), "o-", color="tab:blue")
left.set(
    xlabel="mean probability of the likeliest topic",
    ylabel="share that is right",
    xlim=(0.4, 1.02),
    ylim=(0.4, 1.02),
)
left.set_title("80 messages a point")
right_ax.plot(prices, 100 * np.array(answered), "s-", color="tab:orange", label="answered")
right_ax.plot(prices, 100 * np.array(correct), "o-", color="tab:green", label="right, of those answered")
right_ax.axhline(100 * right.mean(), color="grey", linestyle=":", label="right, if all are answered")
right_ax.set(xlabel="price of a person's look (a mistake costs 5)", ylabel="messages (%)", ylim=(40, 101))
right_ax.legend(loc="lower right")
plt.show()
