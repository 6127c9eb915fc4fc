"""Random linear problems with every option, each held to the minimum that slow least squares find.

    python tests/learners/long_run_primal.py            # 500 problems, about two minutes
    python tests/learners/long_run_primal.py 100 --first 300
    python tests/learners/long_run_primal.py --in-step  # by the core's steps for all classes

Prints each problem whose objective is off by more than 1e-6 of itself, how many these are, the worst, and how
many decisions on new texts differ from the reference's.
"""

import argparse
import sys
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

sys.path.insert(0, str(Path(__file__).parents[1]))
from reference import primal_svm_by_least_squares

from textmargin import PriorSVC
from textmargin.learners import _batch

GAP = 1e-6
FLOOR = 1e-6  # of the objective of all zeros: what is below it counts as that much, or rounding would decide
# PriorSVC's own pull on a free η, beside the typical size of its scores; without it some have no minimum
GUARD = 1e-10


@dataclass
class RandomProblem:
    """What a seed stands for; its columns may have scales from 1e-6 to 1e6."""

    seed: int
    rescale: bool = True

    def __post_init__(self):
        rng = self.rng = np.random.default_rng([22, self.seed])
        self.n, self.d = int(rng.integers(8, 80)), int(rng.integers(1, 60))
        self.X = rng.standard_normal((self.n, self.d)) * (
            rng.random((self.n, self.d)) < rng.uniform(0.1, 1.0)
        )
        self.Y, self.y = self.labels()
        # learnable, or not
        self.X += rng.choice([0.0, 0.5, 2.0]) * self.Y @ rng.standard_normal((self.Y.shape[1], self.d))
        self.traits = [f"{self.n} × {self.d}", self.kind, *self.distort()]
        self.weight = self.weights()
        self.options = self.draw_options()

    def labels(self):
        """Which problem each text is positive in, and y as `fit` takes it; of some classes one text is
        positive.
        """
        rng = self.rng
        self.kind = rng.choice(["two classes", "several classes", "several labels"])
        n_classes = 2 if self.kind == "two classes" else int(rng.integers(3, min(12, self.n // 2) + 1))
        if self.kind == "several labels":
            Y = (rng.random((self.n, n_classes)) < rng.uniform(0.05, 0.6)).astype(float)
            Y[:, rng.random(n_classes) < 0.2] = 0.0  # of these, one text
            Y[np.arange(n_classes), np.arange(n_classes)] = 1.0
            Y[np.arange(n_classes) + n_classes, np.arange(n_classes)] = 0.0
            return Y, Y.astype(int)
        lone = rng.random() < 0.3
        y = rng.integers(0, n_classes - lone, self.n)
        y[:n_classes] = np.arange(n_classes)  # the last has one text where it is lone
        Y = np.eye(n_classes)[y]
        return (Y[:, 1:] if n_classes == 2 else Y), y

    def distort(self):
        """Duplicate rows, constant columns, scales; and what these are called."""
        rng, found = self.rng, []
        self.scales = np.ones(self.d)
        if rng.random() < 0.3:
            copies = rng.integers(0, self.n, self.n // 2)
            self.X[self.n - copies.size :] = self.X[copies]
            found.append("duplicates")
        if rng.random() < 0.3:
            self.X[:, rng.integers(self.d)] = rng.choice([0.0, 1.0])
            found.append("constant column")
        if rng.random() < 0.4 and self.rescale:
            spread = rng.choice(["columns 1e±6", "all 1e6", "all 1e-6"])
            self.scales = {"all 1e6": 1e6, "all 1e-6": 1e-6}.get(
                spread, 10 ** rng.uniform(-6, 6, self.d)
            ) * np.ones(self.d)
            self.X *= self.scales
            found.append(spread)
        self.sparse = rng.random() < 0.5
        return [*found, "sparse" if self.sparse else "dense"]

    def weights(self):
        """Of texts, or None; texts of weight 0 leave each class an example for and one against it."""
        rng = self.rng
        if rng.random() < 0.5:
            return None
        weight = 10 ** rng.uniform(-2, 2, self.n) * (rng.random(self.n) < 0.7)
        for column in self.Y.T:
            for side in (0.0, 1.0):
                weight[np.flatnonzero(column == side)[0]] += 0.5
        self.traits.append("weights")
        return weight

    def draw_options(self):
        """Of PriorSVC."""
        rng = self.rng
        options = {"C": 10 ** rng.uniform(-3, 3), "fit_intercept": bool(rng.random() < 0.6)}
        options["margins"] = tuple(10 ** rng.uniform(-0.5, 0.5, 2)) if rng.random() < 0.3 else (1.0, 1.0)
        names = range(self.Y.shape[1] if self.kind != "two classes" else 2)
        options["class_weight"] = [None, "balanced", {k: 10 ** rng.uniform(-1, 1) for k in names}][
            rng.integers(3)
        ]
        if rng.random() < 0.6:
            n_priors = int(rng.integers(1, 4))
            V = rng.standard_normal((self.Y.shape[1], n_priors, self.d)) * (
                rng.random((self.Y.shape[1], n_priors, self.d)) < 0.4
            )
            V = V / self.scales if rng.random() < 0.7 else V
            options["prior"] = V[0] if self.kind == "two classes" else V
            options["trust"] = [0.3, "fixed", "ridge", "free", "nonneg"][rng.integers(5)]
            options["trust_strength"] = 10 ** rng.uniform(-1, 1)
        options["warm_start"] = bool(rng.random() < 0.3)
        return options

    def fit(self):
        """The learner, fitted; a warm start is from three times the C."""
        model = PriorSVC(**self.options)
        X = sp.csr_matrix(self.X) if self.sparse else self.X
        if model.warm_start:
            model.set_params(C=3 * self.options["C"]).fit(X, self.y, self.weight)
        return model.set_params(C=self.options["C"]).fit(X, self.y, self.weight)

    def costs(self, k):
        """Of each text in a problem."""
        weight = np.ones(self.n) if self.weight is None else self.weight
        positive, given = self.Y[:, k] > 0, self.options["class_weight"]
        if given == "balanced":
            own = weight[positive].sum()
            return weight * np.where(
                positive, weight.sum() / (2 * own), weight.sum() / (2 * (weight.sum() - own))
            )
        if given is None:
            return weight
        return weight * (
            np.where(positive, given[1], given[0])
            if self.kind == "two classes"
            else np.where(positive, given[k], 1.0)
        )

    def reference(self, k, V):
        """The minimum of a problem, as (coef, intercept, J); and J of any other w, η and b."""
        signs, costs, C = 2 * self.Y[:, k] - 1, self.costs(k), self.options["C"]
        margins, trust = np.where(signs > 0, *self.options["margins"]), self.options.get("trust")
        Z, n_priors = self.X @ V.T, len(V)
        squares = (self.X[(costs > 0) & self.X.any(axis=1)] ** 2).sum(axis=1)
        size = np.sqrt(np.median(squares)) * np.linalg.norm(V, axis=1) if squares.size else np.zeros(n_priors)
        pull, target = np.zeros(n_priors), np.zeros(n_priors)
        if trust == "ridge":
            used = size > 0
            target[used] = sum(self.options["margins"]) / size[used]
            pull[used] = self.options["trust_strength"] / target[used] ** 2
        if trust in ("free", "nonneg"):
            counted = Z[costs > 0]
            pull = np.array(
                [GUARD * costs.sum() * np.median(z[z != 0] ** 2) if z.any() else 1.0 for z in counted.T]
            )
        if trust in ("fixed", 0.3):
            target += 1.0 if trust == "fixed" else trust

        def value(w, eta, b):
            missed = np.maximum(0, margins - signs * (self.X @ w + Z @ eta + b))
            return w @ w / (4 * C) + 0.5 * costs @ missed**2 + 0.5 * pull @ (eta - target) ** 2

        best = (np.inf, None, None)
        for moves in moving(trust, n_priors, target):
            w, found, b, _ = primal_svm_by_least_squares(
                self.X, signs, margins, costs, C=C, offset=Z[:, ~moves] @ target[~moves], Z=Z[:, moves],
                pull=pull[moves], target=target[moves], intercept=self.options["fit_intercept"],
            )  # fmt: skip
            eta = target.copy()
            eta[moves] = found
            if trust != "nonneg" or (eta >= 0).all():
                best = min(best, (value(w, eta, b), w + eta @ V, b), key=lambda one: one[0])
        return best, value


def moving(trust, n_priors, target):
    """Which priors may move: those of `nonneg` are tried in all ways, the others being 0."""
    if trust == "nonneg":
        return [np.array(moves, dtype=bool) for moves in product([False, True], repeat=n_priors)]
    return [np.full(n_priors, trust == "free") if trust != "ridge" else target > 0]


def force_steps_of_all_classes(set_attribute=setattr):
    """Sparse problems however small are learnt in step; `set_attribute` may be a monkeypatch's."""
    set_attribute(_batch, "LEAST_ENTRIES", 0)
    set_attribute(_batch, "EXACT_SIZE", 0)


def examine(seed, rescale=True):
    """Of a random problem: the largest gap, decisions on new texts, how many differ from the reference's, and
    its traits.
    """
    problem = RandomProblem(seed, rescale)
    model = problem.fit()
    new = problem.rng.standard_normal((200, problem.d)) * problem.scales
    gaps, scores = [], []
    for k, V in enumerate(model.prior_):
        (best, coef, intercept), value = problem.reference(k, V)
        reached = value(model.coef_[k] - model.trust_[k] @ V, model.trust_[k], model.intercept_[k])
        zero = value(np.zeros(problem.d), np.zeros(len(V)), 0.0)
        gaps.append((reached - best) / max(best, FLOOR * zero))
        scores.append(new @ coef + intercept)
    expected = model._labels.decide(np.column_stack(scores))
    differ = int((model.predict(new) != expected).sum())
    shown = {
        name: option for name, option in problem.options.items() if name not in ("prior", "class_weight")
    }
    return max(gaps), expected.size, differ, f"{', '.join(problem.traits)}, {shown}"


def main():
    """Examine so many problems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n_problems", type=int, nargs="?", default=500)
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument(
        "--in-step", action="store_true", help="learn sparse problems in step however small they are"
    )
    arguments = parser.parse_args()
    if arguments.in_step:
        force_steps_of_all_classes()
    failed, worst, n_decisions, n_differ, n_warned = 0, (0.0, -1), 0, 0, 0
    for seed in range(arguments.first, arguments.first + arguments.n_problems):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            gap, n, differ, traits = examine(seed)
        warned = any(issubclass(one.category, ConvergenceWarning) for one in caught)
        worst, n_decisions, n_differ, n_warned = (
            max(worst, (gap, seed)),
            n_decisions + n,
            n_differ + differ,
            n_warned + warned,
        )
        if not gap <= GAP:
            failed += 1
            shown = (
                f"off by {gap:.1e}{', with a warning' if warned else ''}; {differ} of {n} decisions differ"
            )
            print(f"seed {seed}: {shown}; {traits}", flush=True)
    print(
        f"{failed} of {arguments.n_problems} problems are off by more than {GAP:.0e}, the worst by "
        f"{worst[0]:.1e}",
        end="",
    )
    print(f" (seed {worst[1]}); {n_warned} warned; {n_differ} of {n_decisions} decisions differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
