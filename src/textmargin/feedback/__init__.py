"""What people said of decisions: kept safely (`store.py`), and what it says about thresholds (`moving.py`)."""
