"""
A grid search over a kernel's parameters
========================================

A string kernel is an object with parameters, so scikit-learn's ``GridSearchCV`` can look for its length and
decay as it does for ``C``. Comparing texts is what takes the time, and a search compares the same texts again
and again: with ``cache=`` a ``KernelSVC`` keeps what it compared in a file per kernel and list of texts.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from textmargin import KernelSVC, SubsequenceKernel, load_dataset

desk = load_dataset("desk")
train, test = desk.part("train"), desk.part("test")
large = ("account", "hardware", "network", "software")  # and 120 messages of these, so that it takes seconds
texts, topics = zip(
    *[pair for pair in zip(train.texts, train.labels, strict=True) if pair[1] in large][:120], strict=True
)
new_texts, new_topics = zip(
    *[pair for pair in zip(test.texts, test.labels, strict=True) if pair[1] in large], strict=True
)
lengths, decays, costs = [3, 4, 5], [0.1, 0.3, 0.5, 0.7, 0.9], [1, 10]
grid = {"kernel__length": lengths, "kernel__decay": decays, "C": costs}

with tempfile.TemporaryDirectory() as folder:
    model = KernelSVC(SubsequenceKernel(), cache=folder)
    search = GridSearchCV(model, grid, cv=StratifiedKFold(3, shuffle=True, random_state=0)).fit(texts, topics)
    print("best:", search.best_params_)
    print(
        f"accuracy: {search.best_score_:.3f} in the search, {search.score(new_texts, new_topics):.3f} on "
        "new messages"
    )

# %% 15 kernels, two values of ``C`` and three folds are 90 fits, and one more with the best of them. For each
# kernel and fold a pair of messages is compared once: what is searched for besides, such as ``C``, costs next
# to nothing.

n_fits = len(lengths) * len(decays) * len(costs) * 3 + 1
print(f"{n_fits} fits over {len(lengths) * len(decays)} kernels")

# %%
# The surface
# -----------
#
# Mean accuracy over the three folds, at the better of the two ``C``. A small decay is best here, at every
# length: near 1 gaps cost nothing, subsequences match anywhere in a message, and messages all look alike.

results = search.cv_results_
surface = np.zeros((len(lengths), len(decays)))
for length, decay, score in zip(
    results["param_kernel__length"], results["param_kernel__decay"], results["mean_test_score"], strict=True
):
    place = lengths.index(length), decays.index(decay)
    surface[place] = max(surface[place], score)

figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
image = ax.imshow(surface, cmap="viridis", origin="lower", aspect="auto")
for (i, j), value in np.ndenumerate(surface):
    ax.text(
        j, i, f"{value:.2f}", ha="center", va="center", color="white" if value < surface.mean() else "black"
    )
ax.set_xticks(range(len(decays)), [str(decay) for decay in decays])
ax.set_yticks(range(len(lengths)), [str(length) for length in lengths])
ax.set(xlabel="decay", ylabel="length", title="accuracy on held-out folds")
figure.colorbar(image, ax=ax)
plt.show()
