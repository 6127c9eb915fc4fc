"""
Labels that look wrong
======================

Every table of labels has mistakes. ``check_data`` scores each text by a model that did not know it, and lists
the labels that these scores doubt, the most doubtful first. Here one label in ten is changed on purpose, so
that we know which ones it should find.
"""

import matplotlib.pyplot as plt
import numpy as np

from textmargin import check_data, load_dataset

desk = load_dataset("desk")
labels = np.array(desk.labels)
rng = np.random.default_rng(0)
changed = rng.choice(len(labels), len(labels) // 10, replace=False)
given = labels.copy()
for row in changed:
    given[row] = rng.choice([topic for topic in np.unique(labels) if topic != labels[row]])

check = check_data(desk.texts, given.tolist())
print(check)

# %%
# The list
# --------

doubts = check.of_kind("doubtful-label")
for doubt in doubts[:5]:
    row = doubt.rows[0]
    print(
        f"{given[row]} → {doubt.suggestion} ({'changed' if row in changed else 'as it was'}): "
        f"{desk.texts[row][:60]}"
    )

rows = np.array([doubt.rows[0] for doubt in doubts])
found = np.isin(rows, changed)
suggested = np.array([doubt.suggestion for doubt in doubts])
print(f"{len(rows)} of 480 labels are doubted, {found.sum()} of the {len(changed)} changed ones among them")
print(f"the first 20 of the list: {found[:20].sum()} were changed")
print(
    "of those found, the suggestion is the label that it was in "
    f"{np.mean(suggested[found] == labels[rows][found]):.0%}"
)
print(f"share of wrong labels, estimated: {check.noise:.1%}; changed: {len(changed) / len(labels):.1%}")

# %% How much reading does it save? Down the list most labels are wrong; in any other order one in ten is. The
# list ends where doubts do, so that some mistakes are not on it.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(range(len(rows) + 1), [0, *np.cumsum(found)], color="tab:green", label="read down the list")
ax.plot([0, len(rows)], [0, len(rows) / 10], color="tab:gray", linestyle="--", label="read in any order")
ax.axhline(len(changed), color="black", linewidth=0.8, linestyle=":", label="all that were changed")
ax.set(xlabel="messages read", ylabel="changed labels found", xlim=(0, None), ylim=(0, None))
ax.legend(loc="center right")
plt.show()

# %%
# Copies
# ------
#
# The same check finds texts that occur twice, nearly the same ones, and those that stand under two labels:
# here two are added to the messages.

texts = [*desk.texts, desk.texts[0], desk.texts[1] + "!"]
again = check_data(texts, [*labels.tolist(), labels[0], "billing"])
for kind in ("repeated", "contradiction"):
    for one in again.of_kind(kind):
        print(f"{kind}: rows {one.rows}, {one.reason}")
