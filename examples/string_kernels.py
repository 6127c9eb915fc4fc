"""Messages full of typing errors, told apart by the strings they are made of; with a rule of thumb, a cache and reasons."""

import tempfile

import numpy as np
from sklearn.model_selection import GridSearchCV

from textmargin import KernelStore, KernelSVC, SubsequenceKernel

spam = [
    "CHEAP pi11s here, no presciption",
    "ch3ap pils shipped 2day",
    "win a fr33 phone now!!",
    "you have w0n a free iphone, claim now",
    "claim your price: free phnoe",
    "lowest prices on pilsl and watches",
]
ham = [
    "lunch at noon? the usual place",
    "cant make it to lunhc, sorry",
    "the meetign is moved to three",
    "could you send the slides from the meeting",
    "phone me when you get home",
    "is there a free seat in your car tomorow",
]
texts, labels = spam + ham, ["spam"] * len(spam) + ["ham"] * len(ham)
new = ["free pillls and phones, cliam now", "meeting over lunch tomorrow?"]

with tempfile.TemporaryDirectory() as folder:
    # Every comparison is made once, whatever the search tries.
    model = KernelSVC(SubsequenceKernel(3), cache=KernelStore(folder))
    search = GridSearchCV(model, {"kernel__decay": [0.3, 0.7], "C": [0.1, 1, 10]}, cv=3).fit(texts, labels)
    print("best:", search.best_params_, f"accuracy {search.best_score_:.2f} on held-out folds")
    print(dict(zip(new, search.predict(new).tolist(), strict=True)))


def shouting(texts):
    """A rule of thumb: exclamation marks, digits inside words, capitals."""
    return np.array([sum(c in "!0123456789" or c.isupper() for c in text) / len(text) for text in texts])


informed = KernelSVC(SubsequenceKernel(3), prior_scores=shouting).fit(texts, labels)
print(f"the rule of thumb is {'trusted' if informed.trust_[0] else 'not used'}: {informed.trust_mode_[0]}")

explanation = informed.explain(new[0], "spam")
print(f"\n{new[0]!r} is {explanation.target} with score {explanation.score:.2f}:")
print(
    f"{explanation.intercept:+.2f} intercept, {explanation.prior:+.2f} rule of thumb, {explanation.data.sum():+.2f} by comparison"
)
for match in explanation.matches[:5]:
    print(f"{match.value:+.3f}  {match.shown!r} as {match.other_shown!r} in {texts[match.other]!r}")
print(f"{explanation.rest:+.3f}  all other subsequences")
