"""
Passages that a person marked
=============================

Who labels a text has read it, and can mark the words that gave the label away at little extra cost. From a
marked passage two things can be learnt: its words speak for the label (``RationalePrior``), and without the
passage the text would be less clearly what it is (``RationaleContrasts``).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from textmargin import RationaleContrasts, RationalePrior, TextClassifier, load_dataset
from textmargin.errors import UnknownTermWarning

# passages hold articles and the like, which are no terms of the model
warnings.simplefilter("ignore", UnknownTermWarning)
desk = load_dataset("desk")
print(desk.texts[0])
print([desk.texts[0][start:end] for start, end in desk.fields["marks"][0]])

# %% A third of the messages are marked. The models learn from some of these; all messages without marks are
# there to try them on.

texts, topics = np.array(desk.texts, dtype=object), np.array(desk.labels)
marked = np.array([row for row, marks in enumerate(desk.fields["marks"]) if marks])
others = np.setdiff1d(np.arange(len(texts)), marked)
print(f"{len(marked)} messages with marked passages, {len(others)} without")


def passages(rows):
    """What `RationalePrior` takes: texts, each with (start, end, class)."""
    return [
        (texts[row], [(start, end, topics[row]) for start, end in desk.fields["marks"][row]]) for row in rows
    ]


kinds = {
    "labels alone": lambda rows: None,
    "with a prior from passages": lambda rows: RationalePrior(passages(rows)),
    "with contrasts": lambda rows: RationaleContrasts(passages(rows)),
    "with both": lambda rows: [RationalePrior(passages(rows)), RationaleContrasts(passages(rows))],
}
counts, n_draws = (40, 80, 160), 4
accuracy = {name: np.zeros((n_draws, len(counts))) for name in kinds}
for seed in range(n_draws):
    order = np.random.default_rng(seed).permutation(marked)
    for column, n in enumerate(counts):
        rows = order[:n]
        for name, knowledge in kinds.items():
            model = TextClassifier(knowledge=knowledge(rows)).fit(texts[rows], topics[rows])
            accuracy[name][seed, column] = model.score(texts[others], topics[others])

print("messages to learn from".ljust(28), *(f"{n:5}" for n in counts))
for name, values in accuracy.items():
    print(name.ljust(28), *(f"{value:5.3f}" for value in values.mean(axis=0)))

# %% Passages help, contrasts a little more than the prior, and with both little or nothing is lost beside the
# better one. Neither is taken on trust: where held-out messages do not speak for it, it is left out of that
# topic. Verdicts say what became of each.

rows = np.random.default_rng(0).permutation(marked)[:80]
model = TextClassifier(knowledge=kinds["with both"](rows)).fit(texts[rows], topics[rows])
for verdict in model.verdict_:
    if verdict.target in ("account", "network"):
        print(f"{verdict.target}: {verdict.knowledge}, {verdict.status}, evidence {verdict.evidence:+.1f}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "s^ox", strict=True):
    gain = 100 * (values - accuracy["labels alone"])
    ax.errorbar(
        counts, gain.mean(axis=0), gain.std(axis=0) / np.sqrt(n_draws), marker=marker, label=name, capsize=3
    )
ax.set(
    xscale="log",
    xlabel="messages to learn from, all of them marked",
    ylabel="messages decided rightly beside\nlabels alone (percentage points)",
)
ax.set_xticks(counts, [str(n) for n in counts])
ax.minorticks_off()
ax.legend(loc="upper left")
plt.show()
