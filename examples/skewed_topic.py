"""
A skewed topic: one in a hundred
================================

Where one text in a hundred is of the topic, a support vector machine is careful: its threshold, 0, accepts
next to nothing. The ranking is better than the cut. Beta-gamma thresholds move the cut to near the best point
of the utility curve, towards its return to zero where few positives are known. Here on texts that are made
up, so that there are as many as it takes.
"""

import matplotlib.pyplot as plt
import numpy as np

from textmargin import T11SU, BagOfWords, PriorSVC, ThresholdClassifier, UtilityCurveDisplay, utility_score

# %% Texts of one topic among others: 25 words each from a vocabulary of 3,000, the frequent ones far more
# often (Zipf's law). A text of the topic takes a part of its words, more or less of them, from 60 words of
# its own, which other texts have as well, but less often.

WORDS = np.array([f"w{number}" for number in range(3000)])
COMMON = 1 / np.arange(1, 3001)
OWN = np.where((np.arange(3000) >= 100) & (np.arange(3000) % 10 == 0) & (np.arange(3000) < 700), COMMON, 0)


def make_texts(n_texts, n_positive, rng):
    """Texts and whether each is of the topic; the positives come first."""
    strength = np.where(np.arange(n_texts) < n_positive, rng.beta(2, 6, n_texts), 0)
    common, own = (rng.choice(3000, (n_texts, 25), p=weight / weight.sum()) for weight in (COMMON, OWN))
    words = WORDS[np.where(rng.random((n_texts, 25)) < strength[:, None], own, common)]
    return [" ".join(row) for row in words], strength > 0


# %%
# Four cuts through one ranking
# -----------------------------
#
# Utility is TREC's: 2 for a hit, −1 for a false alarm, scaled so that perfection is 1 and accepting nothing
# 1/3 (T11SU). The machine is the same throughout; what differs is the rule that sets its threshold, and the
# scores it is set on. ``scores="train"`` takes those of the training texts themselves, as the paper that
# beta-gamma thresholds come from does; the default takes scores of models that did not know the text.

rules = {
    "threshold 0": {"rule": "zero"},
    "best on training scores": {"rule": "best", "scores": "train"},
    "best on held-out scores": {"rule": "best"},
    "beta-gamma on held-out scores (default)": {},
}
positives, n_draws = (10, 20, 40, 80), 4
reached = {name: np.zeros((n_draws, len(positives))) for name in rules}
shown = None
for seed in range(n_draws):
    rng = np.random.default_rng(seed)
    new_texts, truth = make_texts(6000, 60, rng)
    for column, n_positive in enumerate(positives):
        texts, y = make_texts(100 * n_positive, n_positive, rng)
        words = BagOfWords(stop_words=None)
        X, X_new = words.fit_transform(texts), words.transform(new_texts)
        for name, settings in rules.items():
            model = ThresholdClassifier(PriorSVC(), utility=T11SU, pos_label=True, **settings).fit(X, y)
            reached[name][seed, column] = utility_score(
                truth, model.predict(X_new), T11SU, average="binary", pos_label=True
            )
        if seed == 0 and n_positive == 20:
            shown = model

print("positives among the training texts".ljust(42), *(f"{n:6}" for n in positives))
for name, values in reached.items():
    print(name.ljust(42), *(f"{value:6.3f}" for value in values.mean(axis=0)))

# %% With ten positives among a thousand texts threshold 0 is worth hardly more than accepting nothing.
# Held-out scores make most of the difference; beta and gamma add or take little here. The fewer positives
# there are, the more the scores of training flatter, and mislead.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(reached.items(), "sxo^", strict=True):
    ax.errorbar(
        positives, values.mean(axis=0), values.std(axis=0) / np.sqrt(n_draws), marker=marker, label=name
    )
ax.axhline(1 / 3, color="grey", linewidth=0.8, linestyle=":")
ax.annotate(
    "accepting nothing",
    (80, 1 / 3),
    xytext=(0, -4),
    textcoords="offset points",
    ha="right",
    va="top",
    color="grey",
)
ax.set(
    xscale="log",
    xlabel="positives among the training texts, one in a hundred",
    ylabel="T11SU on 6,000 new texts",
    ylim=(0.3, 0.85),
)
ax.set_xticks(positives, [str(n) for n in positives])
ax.minorticks_off()
ax.legend(loc="upper left", fontsize=8)
plt.show()

# %%
# The curve
# ---------
#
# Held-out scores of 2,000 texts with 20 positives, highest first. Utility rises while most of the texts
# accepted are of the topic, and comes back to that of accepting nothing where two of three are not. The
# threshold in use is a little to the left of the best point: folds of the held-out scores said so, and beta
# came out negative. Not one of the texts reaches 0, the machine's own threshold.

curve = shown.curve_[0]
print(
    f"texts with a held-out score of 0 or more: {int(np.sum(curve.scores >= 0))} of "
    f"{int(curve.tp[-1] + curve.fp[-1])}"
)
display = UtilityCurveDisplay(curve, threshold=float(shown.thresholds_[0]), name="one in a hundred").plot()
display.axes_[0].set(ylim=(-1, 0.1))
display.axes_[1].set(xlim=(0, 120), ylabel="utility (T11SU)")
plt.show()
