"""The pictures of the concept pages: `python docs/concepts/pictures.py` writes them beside the pages, the
same bytes each time.

What can be computed is computed by the package. Grey text and no background, so that they can be read on
white and on black.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from textmargin import (
    PriorSVC,
    SubsequenceKernel,
    TextClassifier,
    beta_gamma_threshold,
    load_dataset,
    utility_curve,
)
from textmargin.errors import UnknownTermWarning
from textmargin.learners.self_training import ROUNDS

HERE = Path(__file__).parent
GREY, BLUE, ORANGE, GREEN, RED = "#808080", "#3b82c4", "#e07b28", "#2f9e5b", "#d0504f"
STYLE = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), GREY),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
    "svg.fonttype": "none",  # text stays text: small files, and the reader's own font
    "svg.hashsalt": "textmargin",
    "legend.frameon": False,
}


def one_equation() -> Any:
    """Text to label: four parts, and the symbol that each of them sets."""
    figure, ax = plt.subplots(figsize=(8.4, 2.6))
    ax.set(xlim=(0, 21), ylim=(0, 5.2))
    ax.axis("off")
    parts = [
        (2.4, "φ", "representation", "words, strings", BLUE),
        (8.6, "w, b", "learner", "C, margins", GREEN),
        (14.8, "θ", "decision", "what mistakes cost", RED),
    ]
    for x, symbol, name, what, color in parts:
        ax.add_patch(plt.Rectangle((x, 0.9), 3.2, 2.1, fill=False, edgecolor=color, linewidth=1.5))
        ax.text(x + 1.6, 2.3, symbol, ha="center", va="center", fontsize=15, color=color)
        ax.text(x + 1.6, 1.35, name, ha="center", va="center", fontsize=9)
        ax.text(x + 1.6, 0.4, what, ha="center", va="center", fontsize=8)
    ax.add_patch(plt.Rectangle((8.6, 3.8), 3.2, 1.1, fill=False, edgecolor=ORANGE, linewidth=1.5))
    ax.text(10.2, 4.35, "w₀: knowledge", ha="center", va="center", fontsize=9, color=ORANGE)
    arrow = {"arrowstyle": "->", "color": GREY}
    ax.annotate("", (10.2, 3.05), (10.2, 3.75), arrowprops=arrow)
    steps = [
        (1.3, 2.35, ""),
        (5.65, 8.55, "x = φ(text)"),
        (11.85, 14.75, "f = ⟨w, x⟩ + b"),
        (18.05, 19.2, ""),
    ]
    for start, end, name in steps:
        ax.annotate("", (end, 1.95), (start, 1.95), arrowprops=arrow)
        ax.text((start + end) / 2, 2.2, name, ha="center", va="bottom", fontsize=8)
    ax.text(0.7, 1.95, "text", ha="center", va="center")
    ax.text(19.9, 1.95, "label", ha="center", va="center")
    return figure


def prior_knowledge() -> Any:
    """Two words, a few texts: where the weights come to rest as the texts count more, from nothing and from
    what is known.
    """
    rng = np.random.default_rng(3)
    y = np.repeat([1, -1], 5)
    X = np.column_stack([0.9 * y + rng.normal(0, 0.9, 10), 0.2 * y + rng.normal(0, 0.9, 10)])
    known = np.array([1.0, 0.7])
    costs = np.logspace(-4, 2, 60)
    from_nothing = np.array([PriorSVC(C=C, trust="fixed").fit(X, y).coef_[0] for C in costs])
    from_known = np.array([PriorSVC(C=C, prior=known, trust="fixed").fit(X, y).coef_[0] for C in costs])

    figure, ax = plt.subplots(figsize=(5.6, 4))
    span = np.linspace(-0.8, 1.6, 81)
    loss = np.array([[_loss(np.array([a, b]), X, y) for a in span] for b in span])
    ax.contour(
        span,
        span,
        loss,
        levels=loss.min() + np.array([0.1, 0.5, 1.5, 3, 5, 8, 12]),
        colors=GREY,
        linewidths=0.5,
    )
    for path, color, name in ((from_nothing, BLUE, "w₀ = 0"), (from_known, ORANGE, "w₀ = what is known")):
        ax.plot(*path.T, color=color, label=name)
        ax.plot(*path[0], "o", color=color)
        for C in (0.01, 0.1):
            at = path[np.argmin(np.abs(np.log(costs / C)))]
            ax.plot(*at, ".", color=color)
            ax.annotate(f"C = {C}", at, xytext=(6, 3), textcoords="offset points", fontsize=7, color=color)
    ax.plot(*from_nothing[-1], "*", color=GREEN, markersize=13, label="what the texts alone want")
    ax.set(xlabel="weight of one word", ylabel="weight of another", xlim=(-0.15, 1.15), ylim=(-0.4, 1.15))
    ax.legend(loc="upper left", fontsize=8)
    return figure


def _loss(w: Any, X: Any, y: Any) -> float:
    """Squared hinge at the best intercept, which is looked for on a grid."""
    margins = 1 - y * (X @ w + np.linspace(-2, 2, 81)[:, None])
    return float(np.square(np.maximum(0, margins)).sum(axis=1).min())


def thresholds_and_utility() -> Any:
    """The worked example of the page: twelve texts, four of them wanted, 2 for a hit and −1 for a false
    alarm.
    """
    scores = np.array([2.0, 1.5, 1.0, 0.6, 0.2, -0.1, -0.4, -0.7, -1.0, -1.3, -1.6, -1.9])
    wanted = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0])
    curve = utility_curve(wanted, scores)
    theta = beta_gamma_threshold(wanted, scores, beta=0.1)
    lower = beta_gamma_threshold(wanted, scores, beta=0.1, gamma=0.05)
    figure, ax = plt.subplots(figsize=(6.5, 3.4))
    ax.plot(curve.scores, curve.utility[1:], color=GREY, zorder=1)
    for value, color, name in ((1, GREEN, "wanted"), (0, RED, "not wanted")):
        own = wanted == value
        ax.scatter(scores[own], curve.utility[1:][own], color=color, zorder=2, label=name)
    marks = (
        (curve.theta_max, "θ max", 6.6),
        (curve.theta_zero, "θ zero", 6.6),
        (theta, "β = 0.1", 5.9),
        (lower, "β = 0.1, γ = 0.05", 5.9),
    )
    for at, name, height in marks:
        ax.axvline(
            at,
            color=BLUE if "β" in name else GREY,
            linewidth=1,
            linestyle="-" if "β" in name else ":",
            ymax=0.82,
        )
        ax.text(at, height, name, ha="center", va="center", fontsize=8, color=BLUE if "β" in name else GREY)
    ax.set(xlabel="threshold: accept from this score on", ylabel="utility", ylim=(0, 7), xlim=(2.3, -2.3))
    ax.legend(loc="lower left", fontsize=8)
    return figure


def string_kernels() -> Any:
    """The subsequences of two letters that "car" and "cat" have, and what they weigh."""
    decay = 0.5
    pairs = ["c·a", "c·r", "a·r", "c·t", "a·t"]
    weights = {"car": [decay**2, decay**3, decay**2, 0, 0], "cat": [decay**2, 0, 0, decay**3, decay**2]}
    value = SubsequenceKernel(length=2, decay=decay)(["car"], ["cat"])[0, 0]
    figure, ax = plt.subplots(figsize=(6.5, 2.6))
    place = np.arange(len(pairs))
    for shift, (word, color) in zip((-0.19, 0.19), (("car", BLUE), ("cat", ORANGE)), strict=True):
        ax.bar(place + shift, weights[word], width=0.36, color=color, label=word)
        for x, height in zip(place + shift, weights[word], strict=True):
            if height:
                ax.text(x, height + 0.006, "λ²" if height == decay**2 else "λ³", ha="center", color=color)
    ax.set_xticks(place, pairs)
    ax.set(ylabel="weight, λ = 0.5", ylim=(0, 0.31))
    ax.set_title(f"shared: c·a alone.  λ²·λ² / (2λ⁴ + λ⁶) = 1 / (2 + λ²) = {value:.3f}", fontsize=10)
    ax.legend(loc="center", bbox_to_anchor=(0.62, 0.85), ncols=2, fontsize=8)
    return figure


def held_out_scores() -> Any:
    """Scores of the training texts of a topic by the model itself, by models without the text, and of texts
    that are new.
    """
    desk = load_dataset("desk")
    train, test = desk.part("train"), desk.part("test")
    topics = np.array(train.labels)
    model = TextClassifier().fit(train.texts, topics)
    own, k = topics == "network", model.classes_.tolist().index("network")
    new = np.array(test.labels) == "network"
    kinds = [
        ("by the model that was trained on them", model.decision_function(train.texts)[own, k], RED),
        ("held out: by models without the text", model.held_out_.scores[own, k], BLUE),
        ("the same, words left out that no other text has", model.held_out_.as_new()[own, k], ORANGE),
        ("texts that are new", model.decision_function(test.texts)[new, k], GREEN),
    ]
    figure, ax = plt.subplots(figsize=(6.5, 3.2))
    for name, values, color in kinds:
        ordered = np.sort(values)
        ax.step(ordered, np.arange(1, len(ordered) + 1) / len(ordered), where="post", color=color, label=name)
    ax.set(
        xlabel="score for network, of messages of network",
        ylabel="share with this score or less",
        ylim=(0, 1.5),
    )
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.legend(loc="upper left", fontsize=8)
    return figure


def unlabelled_texts() -> Any:
    """What words take of the weight of a keyword by how near they are to it, and how much a class learns from
    in each round.
    """
    warnings.simplefilter("ignore", UnknownTermWarning)
    desk = load_dataset("desk")
    train, test = desk.part("train"), desk.part("test")
    model = TextClassifier(knowledge=desk.keywords).fit(train.texts)
    near = dict(list(model.spread_["phishing"].items())[:8])
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    cosine = np.linspace(0, 1, 101)
    left.plot(cosine, 0.3 * np.maximum(0, cosine - 0.5) / 0.5, color=GREY)
    place = [0.5 + 0.5 * weight / 0.3 for weight in near.values()]
    left.plot(place, list(near.values()), "o", color=ORANGE)
    for number, (x, (word, weight)) in enumerate(zip(place, near.items(), strict=True)):
        side = {"xytext": (-6, 2), "ha": "right"} if number % 2 else {"xytext": (6, -5), "ha": "left"}
        if number in (0, 1, 4, 7):  # others would cover these
            left.annotate(word, (x, weight), textcoords="offset points", fontsize=8, color=ORANGE, **side)
    left.set(
        xlabel="cosine with the nearest keyword of phishing",
        ylabel="weight (a keyword has 1)",
        ylim=(-0.01, 0.31),
    )
    right.step(np.arange(1, len(ROUNDS) + 1), 100 * np.array(ROUNDS), where="mid", color=BLUE)
    right.set(
        xlabel="round",
        ylabel="of its share each\nclass learns from (%)",
        ylim=(0, 100),
        xticks=range(1, len(ROUNDS) + 1),
    )
    right.set_title(
        f"{model.score(test.texts, test.labels):.0%} right in the end, without a label", fontsize=9
    )
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "one-equation": one_equation,
    "prior-knowledge": prior_knowledge,
    "thresholds-and-utility": thresholds_and_utility,
    "string-kernels": string_kernels,
    "held-out-scores": held_out_scores,
    "unlabelled-texts": unlabelled_texts,
}


def write(folder: Path) -> None:
    """Draw them all into a folder."""
    plt.switch_backend("svg")
    with plt.rc_context(STYLE):
        for name, draw in PICTURES.items():
            figure = draw()
            figure.savefig(
                folder / f"{name}.svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
            )
            plt.close(figure)


if __name__ == "__main__":
    write(HERE)
