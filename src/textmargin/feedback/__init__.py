"""What people said of decisions: stored safely (`store.py`), what it says about thresholds (`retune.py`), and
a filter that learns from it as it goes (`adaptive_filter.py`).
"""
