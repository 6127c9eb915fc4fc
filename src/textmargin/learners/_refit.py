"""Scores of held-out texts by a model refitted without them, from where the fit of all texts ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import Floats
from .newton import newton
from .objective import Matrix, Objective, Point, Rows

FOLD_TOL = 1e-3


def refit(objective: Objective, start: Point, held_out: Rows, tol: float, max_iter: int) -> Point:
    costs = objective.costs.copy()
    costs[held_out] = 0.0
    rest = replace(objective, costs=costs)
    if np.unique(rest.y[costs > 0]).size < 2:
        return newton(rest, tol=tol, max_iter=max_iter).point
    shortfall = np.where(costs > 0, start.shortfall, -np.inf)
    return newton(rest, start=Point(start.w, start.q, shortfall), tol=tol, max_iter=max_iter).point
