"""How much does reading tell of a word? Relevance from its 22 measures alone, on the data of the 2005
challenge.

    python -m benchmarks.bench_reading

Accuracy on assignments held out. What reading does for classifiers is `textmargin reproduce reading-2
reading-3 reading-4`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from textmargin import PriorSVC, load_dataset

from .measure import describe


def main() -> None:
    """Majority, linear, boosted trees."""
    print(describe("textmargin", "scikit-learn", "numpy"))
    table = pd.DataFrame(dict(load_dataset("eye_movements").tables["words"]))
    measures = table.columns[table.columns.get_loc("fixcount") : table.columns.get_loc("timePrtctg") + 1]
    X, y, groups = table[measures].to_numpy(float), table.label.to_numpy(), table.assgNo.to_numpy()
    print(f"\n2005 challenge: {len(y)} words, {X.shape[1]} measures; accuracy on assignments held out")
    majority = np.bincount(y).max() / len(y)
    print(f"{'majority class':34}{majority:>7.3f}")
    models = {
        "PriorSVC on standardised measures": make_pipeline(StandardScaler(), PriorSVC(C=0.01)),
        "boosted trees": HistGradientBoostingClassifier(random_state=0),
    }
    for name, model in models.items():
        found = cross_val_score(model, X, y, groups=groups, cv=GroupKFold(5))
        print(f"{name:34}{found.mean():>7.3f} ± {found.std():.3f}", flush=True)


if __name__ == "__main__":
    main()
