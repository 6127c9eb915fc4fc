"""What people said of decisions (`store.py`), and what it says about thresholds (`retune.py`)."""
