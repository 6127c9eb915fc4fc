"""
Misspelt words, compared as they are
====================================

To a bag of words "acommodation" is a word like any other, and has nothing to do with "accommodation". A
string kernel compares texts by the characters they share in order, gaps allowed, so that a slip of the
keyboard changes a comparison a little instead of altogether.
"""

import matplotlib.pyplot as plt
import numpy as np

from textmargin import BagOfWords, SubsequenceKernel, TextClassifier, load_dataset

words = [
    "accommodation",
    "acommodation",
    "accomodation",
    "acco mmodation",
    "password",
    "passwort",
    "pasword",
    "communication",
]
kernel = SubsequenceKernel(length=3, decay=0.5)
similarity = kernel(words)
print(
    f"accommodation and accomodation: {similarity[0, 2]:.2f}; accommodation and communication: "
    f"{similarity[0, 7]:.2f}"
)

# %%
# What decay does
# ---------------
#
# Every symbol that a shared subsequence spans multiplies its weight by the decay. Near 0 only unbroken runs
# count, as with n-grams; at 1 a gap costs nothing. In between, a misspelling and another word are furthest
# apart.

decays = np.linspace(0.02, 1, 50)
pairs = {
    ("accommodation", "accomodation"): "o-",
    ("password", "passwort"): "s-",
    ("accommodation", "communication"): "x--",
}
curves = {
    pair: [SubsequenceKernel(length=3, decay=decay)([pair[0]], [pair[1]])[0, 0] for decay in decays]
    for pair in pairs
}
misspelt, other = curves["accommodation", "accomodation"], curves["accommodation", "communication"]
print(f"furthest apart at a decay of {decays[np.argmax(np.subtract(misspelt, other))]:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
image = left.imshow(similarity, vmin=0, vmax=1, cmap="viridis")
left.set_xticks(range(len(words)), words, rotation=60, ha="right", rotation_mode="anchor")
left.set_yticks(range(len(words)), words)
for i, row in enumerate(similarity):
    for j, value in enumerate(row):
        left.text(
            j,
            i,
            f"{value:.1f}",
            ha="center",
            va="center",
            fontsize=7,
            color="black" if value > 0.6 else "white",
        )
left.set_title("length 3, decay 0.5")
for pair, style in pairs.items():
    right.plot(decays, curves[pair], style, markevery=7, label=" / ".join(pair))
right.set(xlabel="decay", ylabel="similarity", ylim=(0, 1), title="length 3")
right.legend(loc="lower right", fontsize=8)
plt.show()

# %%
# Messages with more and more slips
# ---------------------------------
#
# 313 helpdesk messages to learn from, as they are, and 167 to decide on, into which slips are typed: two
# letters swapped, one left out, doubled or replaced by another.


def with_slips(text, rate, rng):
    """The text with about so many slips a letter."""
    letters = list(text)
    for i in np.flatnonzero(rng.random(len(letters)) < rate):
        kind = rng.integers(4)
        if kind == 0 and i + 1 < len(letters):
            letters[i], letters[i + 1] = letters[i + 1], letters[i]
        else:
            letters[i] = ("", letters[i] * 2, chr(97 + rng.integers(26)))[kind - 1]
    return "".join(letters)


desk = load_dataset("desk")
train, test = desk.part("train"), desk.part("test")
models = {
    "words": TextClassifier().fit(train.texts, train.labels),
    "2 to 4 characters in a row": TextClassifier(BagOfWords(analyzer="char_wb", ngram_range=(2, 4))).fit(
        train.texts, train.labels
    ),
    "4 characters, gaps allowed": TextClassifier(SubsequenceKernel(length=4, decay=0.5)).fit(
        train.texts, train.labels
    ),
}
rates = (0, 0.05, 0.1, 0.15, 0.2, 0.25)
accuracy = {name: [] for name in models}
for rate in rates:
    rng = np.random.default_rng(0)
    messages = [with_slips(text, rate, rng) for text in test.texts]
    for name, model in models.items():
        accuracy[name].append(model.score(messages, test.labels))

print(messages[0])
print("slips a letter".ljust(30), *(f"{rate:5.0%}" for rate in rates))
for name, values in accuracy.items():
    print(name.ljust(30), *(f"{value:5.2f}" for value in values))

# %% Where one letter in ten is wrong, words are lost, and characters still tell. Which kind of characters
# matters less: runs within words are ahead of subsequences here, since slips are rare enough to leave some
# runs whole. Where texts are clean, words are best.

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "so^", strict=True):
    ax.plot(rates, values, marker=marker, label=name)
ax.set(xlabel="slips a letter", ylabel="share of messages decided rightly", ylim=(0, 1))
ax.xaxis.set_major_formatter("{x:.0%}")
ax.legend(loc="lower left")
plt.show()
