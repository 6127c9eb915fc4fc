"""
We can read 200 a day
=====================

How many texts a day can be read is often what is fixed, not what a mistake costs. Held-out scores tell which
threshold delivers so many, what part of the wanted texts will be among them, and what 50 more a day would
bring.
"""

import matplotlib.pyplot as plt
import numpy as np

from textmargin import Budget, TextClassifier
from textmargin.decisions.budget import budget_outcome

# %% A stream is made up: 4,000 texts a day, one in fifty of them wanted. A wanted text takes a part of its 25
# words from 60 words that others have less often.

WORDS = np.array([f"w{number}" for number in range(3000)])
COMMON = 1 / np.arange(1, 3001)
OWN = np.where((np.arange(3000) >= 100) & (np.arange(3000) % 10 == 0) & (np.arange(3000) < 700), COMMON, 0)


def make_texts(n_texts, rng):
    """Texts, and whether each is wanted."""
    wanted = rng.random(n_texts) < 0.02
    strength = np.where(wanted, rng.beta(2, 6, n_texts), 0)
    common, own = (rng.choice(3000, (n_texts, 25), p=weight / weight.sum()) for weight in (COMMON, OWN))
    words = WORDS[np.where(rng.random((n_texts, 25)) < strength[:, None], own, common)]
    return [" ".join(row) for row in words], wanted


rng = np.random.default_rng(0)
texts, wanted = make_texts(4000, rng)
model = TextClassifier(positive="wanted").fit(texts, np.where(wanted, "wanted", "other"))
print(f"{wanted.sum()} of {len(texts)} labelled texts are wanted")

# %%
# What to expect
# --------------
#
# Before a new text is seen, from the scores that the labelled texts have by models that did not know them.

held_out = model.held_out_
budgets = (25, 50, 100, 200, 400, 800)
outcomes = [budget_outcome(held_out.positive[:, 0], held_out.scores[:, 0], n, 4000) for n in budgets]
for outcome in outcomes:
    print(outcome)

# %%
# Ten days
# --------
#
# Of each day the highest are delivered, whatever their scores: what is taken off is the lowest score of all,
# so that every text counts as accepted and the budget alone cuts. With a threshold in its place, days with
# little to read would deliver fewer.

days = np.repeat(np.arange(10), 4000)
new_texts, new_wanted = make_texts(len(days), rng)
new_scores = model.decision_function(new_texts) * (1 if model.classes_[1] == "wanted" else -1)
found = np.zeros((len(budgets), 10))
for row, n in enumerate(budgets):
    delivered = Budget(n, by="day").select(new_scores - new_scores.min(), groups=days)
    found[row] = [
        np.sum(delivered & new_wanted & (days == day)) / np.sum(new_wanted & (days == day))
        for day in range(10)
    ]
for n, outcome, shares in zip(budgets, outcomes, found, strict=True):
    delivered = f"{shares.mean():.0%} delivered, {shares.min():.0%} on the worst day"
    print(f"{n:3} a day: {outcome.recall:.0%} of those wanted expected, {delivered}")

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(budgets, [100 * outcome.recall for outcome in outcomes], color="tab:blue", label="expected")
ax.plot(budgets, 100 * found.mean(axis=1), "o", color="black", label="delivered, mean of ten days")
ax.plot(budgets, 100 * np.array(budgets) / 4000, color="grey", linestyle=":", label="texts drawn at random")
ax.axvline(200, color="tab:red", linewidth=0.8)
ax.annotate("200 a day", (200, 3), xytext=(4, 0), textcoords="offset points", color="tab:red")
ax.set(
    xscale="log", xlabel="texts read a day, of 4,000", ylabel="of the wanted texts, read (%)", ylim=(0, 100)
)
ax.set_xticks(budgets, [str(n) for n in budgets])
ax.minorticks_off()
ax.legend(loc="center right", fontsize=8)
plt.show()
